//! `gq list`: what there is, made from the same descriptions that scenarios are read with.

use crate::failure::Failure;
use crate::output::{json, print, say};
use clap::{Args, ValueEnum};
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{KindSpec, Marking};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::spec::{Kind, Param, is_same_name, nearest};
use goodqueue_lab::results::metrics::{Description, FLOW_METRICS, GROUP_METRICS, JAIN_METRICS, LINK_METRICS};
use goodqueue_lab::scenario::mix::{MIXES, Mix, Part, note_on_name};
use goodqueue_lab::scenario::schema::access::ACCESS;
use goodqueue_lab::scenario::schema::link::LINK;
use goodqueue_lab::scenario::schema::scenario::SCENARIO;
use goodqueue_lab::scenario::schema::traffic::{KINDS, TrafficSpec};
use goodqueue_tcp::cc;
use serde::Serialize;
use std::fmt::Write as _;

/// Arguments of `gq list`.
#[derive(Args)]
pub struct Arguments {
    /// Kind of thing to list
    #[arg(value_enum)]
    what: What,
    /// Only this one, for instance gq list aqm codel; of metrics, those whose names contain it
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
    /// Mixes of traffic for gq compare and gq recommend
    Mix,
    /// Figures in results
    Metric,
}

/// One thing that can be named.
#[derive(Serialize)]
struct Item {
    name: String,
    /// Other names that are accepted.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    aliases: &'static [&'static str],
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
        What::Mix => MIXES.iter().map(mix).collect(),
        What::Metric => metrics(),
    };
    if let Some(name) = &arguments.name {
        items = named(items, name, arguments.what)?;
        if let (What::Mix, Some(note)) = (arguments.what, note_on_name(name)) {
            say(&format!("note: {note}"));
        }
    }
    let text = if arguments.json { json(&items)? } else { listing(&items, arguments.name.is_none()) };
    Ok(print(&text)?)
}

/// The item called `name`; of metrics, which have long names, all that contain it.
fn named(items: Vec<Item>, name: &str, what: What) -> Result<Vec<Item>, Failure> {
    if let What::Aqm = what {
        sched::find(name).map_err(|unknown| Failure::Input(unknown.to_string()))?;
    }
    let near = nearest(name, items.iter().map(|item| item.name.as_str()));
    let help = match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None if matches!(what, What::Metric) => "; gq list metric names all".to_owned(),
        None => format!(": allowed {}", items.iter().map(|item| item.name.as_str()).collect::<Vec<_>>().join(", ")),
    };
    let called = |item: &Item| is_same_name(&item.name, name) || item.aliases.iter().any(|alias| is_same_name(alias, name));
    let unknown = Failure::Input(format!("`{}` is not known{help}", excerpt(name)));
    if let Some(at) = items.iter().position(called) {
        return Ok(items.into_iter().skip(at).take(1).collect());
    }
    let found: Vec<Item> = items.into_iter().filter(|item| matches!(what, What::Metric) && item.name.contains(name)).collect();
    if found.is_empty() { Err(unknown) } else { Ok(found) }
}

fn aqm(spec: &KindSpec) -> Item {
    let marks = match spec.marks {
        Marking::Never => "drops only",
        Marking::Possible => "can mark (ecn = true)",
        Marking::Only => "marks only (ecn = true)",
    };
    let colour = goodqueue_figure::plot::palette::hue(spec.family).name();
    let facts = [("family", spec.family.name()), ("color in charts", colour), ("signal", spec.signal), ("ecn", marks)];
    item(spec, facts.map(|(name, fact)| (name, fact.to_owned())).to_vec())
}

/// Builds the item of a kind from its description and from `facts` known besides.
fn item(kind: &Kind, mut facts: Vec<(&'static str, String)>) -> Item {
    if !kind.source.is_empty() {
        facts.push(("source", kind.source.to_owned()));
    }
    Item {
        name: kind.kind.to_owned(),
        aliases: kind.aliases,
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

fn mix(mix: &'static Mix) -> Item {
    let group = |part: &'static Part| Parameter {
        name: part.name,
        unit: "flows".to_owned(),
        default: part.flows.to_string(),
        range: None,
        example: None,
        doc: part.about.to_owned(),
        source: None,
    };
    Item {
        name: mix.name.to_owned(),
        summary: mix.summary.to_owned(),
        facts: vec![("source", mix.source.to_owned())],
        aliases: mix.former_names(),
        parameters: mix.parts.iter().map(group).collect(),
    }
}

fn metrics() -> Vec<Item> {
    let of = |place: &'static str, about: &Description| Item {
        name: format!("{place}.{}", about.name),
        aliases: &[],
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

/// Several items on a line each; one with all that is known of it.
fn listing(items: &[Item], is_all: bool) -> String {
    let is_brief = is_all && items.len() > 1;
    if is_brief { items.iter().map(|item| brief(item, items)).collect() } else { items.iter().map(details).collect() }
}

/// The name, what is said of things without parameters, and the summary.
fn brief(item: &Item, items: &[Item]) -> String {
    let widest = items.iter().map(|item| item.name.len()).max().unwrap_or(0);
    let facts: Vec<&str> = item.facts.iter().map(|(_, fact)| fact.as_str()).collect();
    let is_plain = items.iter().all(|item| item.parameters.is_empty());
    let facts = if is_plain { format!("[{}] ", facts.join(", ")) } else { String::new() };
    format!("{:widest$}  {facts}{}\n", item.name, item.summary)
}

fn details(item: &Item) -> String {
    let mut text = format!("{}: {}\n", item.name, item.summary);
    if !item.aliases.is_empty() {
        let _ = writeln!(text, "    also called: {}", item.aliases.join(", "));
    }
    for (name, fact) in &item.facts {
        let _ = writeln!(text, "    {name}: {fact}");
    }
    let names = item.parameters.iter().map(|param| param.name.len()).max().unwrap_or(0);
    for param in &item.parameters {
        let range = param.range.as_ref().map_or_else(String::new, |[low, high]| format!(", {low} to {high}"));
        let source = param.source.map_or_else(String::new, |source| format!(" [{source}]"));
        let _ =
            writeln!(text, "    {:names$}  {} (default {}; {}{range}){source}", param.name, param.doc, param.default, param.unit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_found_by_a_part_of_their_names() {
        let names = |name: &str| {
            named(metrics(), name, What::Metric).map(|items| items.into_iter().map(|item| item.name).collect::<Vec<_>>())
        };
        let found = names("links.*.sojourn_s").expect("several");
        assert!(found.len() > 3 && found.iter().all(|name| name.contains("sojourn_s")), "{found:?}");
        assert_eq!(names("links.*.utilization").expect("a name of its own"), ["links.*.utilization"]);
        let error = names("parsecs").expect_err("none has it").to_string();
        assert_eq!(error, "`parsecs` is not known; gq list metric names all");
    }
}
