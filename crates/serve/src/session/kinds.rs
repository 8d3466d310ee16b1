//! Kinds to choose from, made from the descriptions that scenarios are read with.

use goodqueue_aqm::sched;
use goodqueue_base::spec::{Kind, Param, Value as ParamValue};
use goodqueue_lab::scenario::schema::traffic::KINDS;
use goodqueue_tcp::cc;
use serde_json::{Value, json};

/// All kinds of queues, congestion controls and traffic.
pub fn all() -> Value {
    let aqm = sched::kinds().map(|spec| {
        let mut all = kind(spec);
        all["family"] = json!(spec.family.name());
        all["signal"] = json!(spec.signal);
        all["marks"] = json!(spec.marks.is_possible());
        all
    });
    let cc = cc::kinds().iter().map(|spec| kind(spec));
    // Traffic that needs a file cannot be played from a page.
    let traffic = KINDS.iter().filter(|spec| !spec.needs_file).map(|spec| {
        let mut all = kind(spec);
        all["parameters"] = spec.keys().map(parameter).collect();
        all["usual"] = json!(spec.usual);
        all
    });
    json!({ "aqm": aqm.collect::<Vec<_>>(), "cc": cc.collect::<Vec<_>>(), "traffic": traffic.collect::<Vec<_>>() })
}

fn kind(kind: &Kind) -> Value {
    let parameters: Vec<Value> = kind.params.iter().map(parameter).collect();
    json!({ "kind": kind.kind, "aliases": kind.aliases, "title": kind.title, "summary": kind.summary, "source": kind.source, "parameters": parameters })
}

fn parameter(param: &Param) -> Value {
    let default = match param.default_value() {
        Some(ParamValue::Number(number)) => json!(number),
        Some(ParamValue::Switch(on)) => json!(on),
        _ => json!(param.default_text()),
    };
    let [min, max] = match param.range_text() {
        // Ranges of plain numbers are numbers, others have units.
        Some(texts) => texts.map(|text| text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number))),
        None => [Value::Null, Value::Null],
    };
    json!({ "key": param.name, "unit": param.unit.to_string(), "default": default, "min": min, "max": max, "about": param.doc,
        "required": param.is_required(), "example": example(param) })
}

/// A value as a file has it: text without its quotes.
fn example(param: &Param) -> Value {
    param.written().map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or_else(|_| json!(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_lab::scenario::plan::Plan;

    #[test]
    fn every_kind_is_listed_with_its_parameters() {
        let all = all();
        let codel = all["aqm"].as_array().unwrap().iter().find(|kind| kind["kind"] == "codel").expect("codel");
        let target = codel["parameters"].as_array().unwrap().iter().find(|param| param["key"] == "target").expect("target");
        assert_eq!((&target["unit"], &target["default"]), (&json!("time"), &json!("5 ms")));
        assert!(all["cc"].as_array().unwrap().iter().any(|kind| kind["kind"] == "cubic"));
        assert!(all["traffic"].as_array().unwrap().iter().any(|kind| kind["kind"] == "bulk"));
    }

    #[test]
    fn traffic_kinds_start_with_examples_of_required_keys() {
        for kind in all()["traffic"].as_array().unwrap() {
            let mut text =
                "goodqueue = 1\nduration = \"10 s\"\n[link.a]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\n\
                [[traffic]]\n"
                    .to_owned();
            text.push_str(&format!("kind = {}\n", kind["kind"]));
            let parameters = kind["parameters"].as_array().unwrap();
            for parameter in parameters.iter().filter(|parameter| parameter["required"] == true) {
                text.push_str(&format!("{} = {}\n", parameter["key"].as_str().unwrap(), parameter["example"]));
            }
            Plan::parse_without_files("page", &text).unwrap_or_else(|error| panic!("{}", error.text()));
        }
    }
}
