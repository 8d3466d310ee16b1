//! `gq list`: what there is, made from the same descriptions that scenarios are read with.

use crate::failure::Failure;
use crate::output::print;
use clap::{Args, ValueEnum};
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{KindSpec, ParamSpec};
use goodqueue_lab::metrics::{FLOW_METRICS, GROUP_METRICS, JAIN_METRICS, LINK_METRICS, Metric};
use goodqueue_lab::traffic_kinds::{COMMON_KEYS, KINDS, TrafficKey};
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
    doc: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut items = match arguments.what {
        What::Aqm => sched::kinds().map(aqm).collect(),
        What::Cc => cc::kinds().iter().map(control).collect(),
        What::Traffic => traffic(),
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
    let marks = if spec.marks { "can mark (ecn = true)" } else { "drops only" };
    Item {
        name: spec.kind.to_owned(),
        summary: spec.summary.to_owned(),
        facts: vec![("signal", spec.signal.to_owned()), ("ecn", marks.to_owned()), ("source", spec.source.to_owned())],
        parameters: spec.params.iter().map(aqm_parameter).collect(),
    }
}

fn aqm_parameter(param: &ParamSpec) -> Parameter {
    Parameter {
        name: param.name,
        unit: param.unit.to_string(),
        default: param.default_text(),
        range: param.range_text(),
        doc: param.doc.to_owned(),
        source: Some(param.source),
    }
}

fn control(spec: &cc::ControlSpec) -> Item {
    let parameter = |param: &cc::ControlParam| Parameter {
        name: param.name,
        unit: param.unit.to_owned(),
        default: param.default.to_string(),
        range: Some([param.range.0.to_string(), param.range.1.to_string()]),
        doc: param.doc.to_owned(),
        source: None,
    };
    Item {
        name: spec.kind.to_owned(),
        summary: spec.summary.to_owned(),
        facts: vec![("source", spec.source.to_owned())],
        parameters: spec.params.iter().map(parameter).collect(),
    }
}

fn traffic() -> Vec<Item> {
    let parameter = |key: &TrafficKey| Parameter {
        name: key.name,
        unit: format!("for instance {}", key.example),
        default: key.default.to_owned(),
        range: None,
        doc: key.doc.to_owned(),
        source: None,
    };
    KINDS
        .iter()
        .map(|kind| Item {
            name: kind.kind.to_owned(),
            summary: kind.summary.to_owned(),
            facts: Vec::new(),
            parameters: kind.keys().chain(COMMON_KEYS).map(parameter).collect(),
        })
        .collect()
}

fn metrics() -> Vec<Item> {
    let of = |place: &'static str, metrics: &'static [Metric]| {
        metrics.iter().map(move |metric| Item {
            name: format!("{place}.{}", metric.name),
            summary: metric.doc.to_owned(),
            facts: vec![("unit", metric.unit.to_owned())],
            parameters: Vec::new(),
        })
    };
    of("links.*", LINK_METRICS)
        .chain(of("groups.*", GROUP_METRICS))
        .chain(of("flows.*", FLOW_METRICS))
        .chain(of("jain", JAIN_METRICS))
        .collect()
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
