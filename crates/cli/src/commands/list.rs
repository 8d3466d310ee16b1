//! `gq list`: what there is, made from the same descriptions that scenarios are read with.

use crate::failure::Failure;
use crate::output::print;
use clap::{Args, ValueEnum};
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{KindSpec, Marking};
use goodqueue_lab::metrics::{Description, FLOW_METRICS, GROUP_METRICS, JAIN_METRICS, LINK_METRICS};
use goodqueue_lab::schema::access::ACCESS;
use goodqueue_lab::schema::link::LINK;
use goodqueue_lab::schema::scenario::SCENARIO;
use goodqueue_lab::schema::traffic::{KINDS, TrafficSpec};
use goodqueue_spec::{Kind, Param};
use goodqueue_tcp::cc;
use serde::Serialize;
use std::fmt::Write as _;

/// Arguments of `gq list`.
#[derive(Args)]
pub struct Arguments {
    /// What to list
    #[arg(value_enum)]
    what: What,
    /// Only this one, for instance gq list aqm codel
    name: Option<String>,
    /// For programs
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Queue algorithms
    Aqm,
    /// Congestion controls
    Cc,
    /// Kinds of traffic
    Traffic,
    /// Keys of a scenario file
    Scenario,
    /// Keys of a link
    Link,
    /// Keys of the links of the hosts
    Access,
    /// Figures in results
    Metric,
}

/// One thing that can be named.
#[derive(Serialize)]
struct Item {
    name: String,
    summary: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    facts: Vec<(&'static str, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    unit: String,
    default: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[String; 2]>,
    /// A value as written in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<&'static str>,
    doc: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut items = match arguments.what {
        What::Aqm => sched::kinds().map(aqm).collect(),
        What::Cc => cc::kinds().iter().map(|spec| item(spec, Vec::new())).collect(),
        What::Traffic => KINDS.iter().map(traffic).collect(),
        What::Scenario => vec![item(&SCENARIO, Vec::new())],
        What::Link => vec![item(&LINK, Vec::new())],
        What::Access => vec![item(&ACCESS, Vec::new())],
        What::Metric => metrics(),
    };
    if let Some(name) = &arguments.name {
        let known = items.iter().map(|item| item.name.clone()).collect::<Vec<_>>().join(", ");
        items.retain(|item| item.name == *name);
        if items.is_empty() {
            return Err(Failure::Input(format!("`{name}` is not known: allowed {known}")));
        }
    }
    let text = if arguments.json {
        let json = serde_json::to_string_pretty(&items).map_err(std::io::Error::from)?;
        format!("{json}\n")
    } else {
        listing(&items)
    };
    Ok(print(&text)?)
}

fn aqm(spec: &KindSpec) -> Item {
    let marks = match spec.marks {
        Marking::Never => "drops only",
        Marking::Possible => "can mark (ecn = true)",
        Marking::Only => "marks only (ecn = true)",
    };
    item(spec, vec![("family", spec.family.name().to_owned()), ("signal", spec.signal.to_owned()), ("ecn", marks.to_owned())])
}

/// What the description of a kind says, with what else is known of it.
fn item(kind: &Kind, mut facts: Vec<(&'static str, String)>) -> Item {
    if !kind.source.is_empty() {
        facts.push(("source", kind.source.to_owned()));
    }
    Item {
        name: kind.kind.to_owned(),
        summary: kind.summary.to_owned(),
        facts,
        parameters: kind.params.iter().map(parameter).collect(),
    }
}

fn parameter(param: &Param) -> Parameter {
    Parameter {
        name: param.name,
        unit: param.unit.to_string(),
        default: param.default_text(),
        range: param.range_text(),
        example: Some(param.example).filter(|example| !example.is_empty()),
        doc: param.doc.to_owned(),
        source: Some(param.source).filter(|source| !source.is_empty()),
    }
}

fn traffic(spec: &'static TrafficSpec) -> Item {
    Item { parameters: spec.keys().map(parameter).collect(), ..item(spec, Vec::new()) }
}

fn metrics() -> Vec<Item> {
    let of = |place: &'static str, about: &Description| Item {
        name: format!("{place}.{}", about.name),
        summary: about.doc.to_owned(),
        facts: vec![("unit", about.quantity.unit().to_owned())],
        parameters: Vec::new(),
    };
    let links = LINK_METRICS.iter().map(|metric| of("links.*", &metric.about));
    let groups = GROUP_METRICS.iter().map(|metric| of("groups.*", &metric.about));
    let flows = FLOW_METRICS.iter().map(|metric| of("flows.*", &metric.about));
    let fairness = JAIN_METRICS.iter().map(|metric| of("jain", &metric.about));
    links.chain(groups).chain(flows).chain(fairness).collect()
}

/// Items one below the other; those without parameters on a line each.
fn listing(items: &[Item]) -> String {
    let mut text = String::new();
    let brief = items.iter().all(|item| item.parameters.is_empty());
    let widest = items.iter().map(|item| item.name.len()).max().unwrap_or(0);
    for item in items {
        if brief {
            let facts: Vec<&str> = item.facts.iter().map(|(_, fact)| fact.as_str()).collect();
            let _ = writeln!(text, "{:widest$}  [{}] {}", item.name, facts.join(", "), item.summary);
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}: {}", item.name, item.summary);
        for (name, fact) in &item.facts {
            let _ = writeln!(text, "    {name}: {fact}");
        }
        let names = item.parameters.iter().map(|param| param.name.len()).max().unwrap_or(0);
        for param in &item.parameters {
            let range = param.range.as_ref().map_or_else(String::new, |[low, high]| format!(", {low} to {high}"));
            let source = param.source.map_or_else(String::new, |source| format!(" [{source}]"));
            let _ = writeln!(
                text,
                "    {:names$}  {} (default {}; {}{range}){source}",
                param.name, param.doc, param.default, param.unit
            );
        }
    }
    text
}
