//! What there is to choose from, made from the descriptions that scenarios are read with.

use goodqueue_aqm::sched;
use goodqueue_aqm::spec::{Default as ParamDefault, ParamSpec, Value as ParamValue};
use goodqueue_lab::traffic_kinds::{COMMON_KEYS, KINDS};
use goodqueue_tcp::cc;
use serde_json::{Value, json};

/// All kinds of queues, congestion controls and traffic.
pub fn all() -> Value {
    let aqm = sched::kinds().map(|spec| {
        let parameters = spec.params.iter().map(parameter);
        json!({
            "kind": spec.kind, "title": spec.kind, "summary": spec.summary, "signal": spec.signal, "marks": spec.marks,
            "source": spec.source, "parameters": parameters.collect::<Vec<_>>(),
        })
    });
    let cc = cc::kinds().iter().map(|spec| {
        let parameters = spec.params.iter().map(|param| {
            json!({
                "key": param.name, "unit": param.unit, "default": param.default, "min": param.range.0, "max": param.range.1,
                "about": param.doc,
            })
        });
        json!({
            "kind": spec.kind, "title": spec.kind, "summary": spec.summary, "source": spec.source,
            "parameters": parameters.collect::<Vec<_>>(),
        })
    });
    let traffic = KINDS.iter().map(|kind| {
        let parameters = kind.keys().chain(COMMON_KEYS).map(|key| {
            json!({ "key": key.name, "unit": format!("for instance {}", key.example), "default": key.default, "about": key.doc })
        });
        json!({ "kind": kind.kind, "title": kind.kind, "summary": kind.summary, "parameters": parameters.collect::<Vec<_>>() })
    });
    json!({ "aqm": aqm.collect::<Vec<_>>(), "cc": cc.collect::<Vec<_>>(), "traffic": traffic.collect::<Vec<_>>() })
}

fn parameter(param: &ParamSpec) -> Value {
    let default = match param.default {
        ParamDefault::Value(ParamValue::Number(number)) => json!(number),
        ParamDefault::Value(ParamValue::Switch(on)) => json!(on),
        _ => json!(param.default_text()),
    };
    let [min, max] = match param.range_text() {
        // Ranges of plain numbers are numbers, others have units.
        Some(texts) => texts.map(|text| text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number))),
        None => [Value::Null, Value::Null],
    };
    json!({ "key": param.name, "unit": param.unit.to_string(), "default": default, "min": min, "max": max, "about": param.doc })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_with_its_parameters() {
        let all = all();
        let codel = all["aqm"].as_array().unwrap().iter().find(|kind| kind["kind"] == "codel").expect("codel");
        let target = codel["parameters"].as_array().unwrap().iter().find(|param| param["key"] == "target").expect("target");
        assert_eq!((&target["unit"], &target["default"]), (&json!("time"), &json!("5 ms")));
        assert!(all["cc"].as_array().unwrap().iter().any(|kind| kind["kind"] == "cubic"));
        assert!(all["traffic"].as_array().unwrap().iter().any(|kind| kind["kind"] == "bulk"));
    }
}
