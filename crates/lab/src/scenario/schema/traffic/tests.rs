//! The table held against the reader.

use super::*;
use crate::scenario::plan::{Plan, PlanError};
use goodqueue_base::spec::ParamValues;
use goodqueue_tcp::{ReceiverConfig, SenderConfig};

fn read(traffic: &str) -> Result<Plan, PlanError> {
    let text = format!(
        "goodqueue = 1\nduration = \"10 s\"\n[link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\n\
         buffer_up = \"1 bdp\"\n\
         [link.ab.queue]\nkind = \"htb\"\nclass.gold.rate = \"1 Mbit/s\"\n[[traffic]]\n{traffic}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("flows.csv"), "start,size\n0 s,1 kB\n").expect("a file");
    Plan::parse("test", &text, folder.path())
}

#[test]
fn every_key_is_read_and_no_key_is_missing() {
    for kind in KINDS {
        let all: Vec<&Param> = kind.keys().collect();
        let mut text = format!("kind = \"{}\"\n", kind.kind);
        // `stop` must lie after the latest start; the run's end is no limit to it.
        // `header` contradicts `timestamps`.
        let given = all.iter().filter(|key| key.name != "header");
        given.for_each(|key| text.push_str(&format!("{} = {}\n", key.name, key.written().expect("an example or a default"))));
        read(&text).unwrap_or_else(|error| panic!("{}", error.text()));
        // An unknown key is answered with the list of known ones.
        let error = read(&format!("{text}xxxxxxxxxxxxxxxxxxxx = 1\n")).expect_err("no such key").text();
        let known = error.split(" has ").nth(1).expect("the list of known keys").split('\n').next().unwrap_or_default();
        for name in known.split(", ").map(|name| name.trim_matches('`')) {
            assert!(name == "kind" || all.iter().any(|key| key.name == name), "{} lacks the key {name}", kind.kind);
        }
    }
}

#[test]
fn required_keys_are_required_and_every_kind_is_listed() {
    for kind in KINDS {
        let required = kind.keys().filter(|key| key.is_required()).count();
        let faults = read(&format!("kind = \"{}\"\n", kind.kind)).map_or_else(|error| error.faults().count(), |_| 0);
        assert_eq!(faults, required, "{}", kind.kind);
    }
    let error = read("kind = \"zzz\"\n").expect_err("no such kind").text();
    let listed: Vec<String> = KINDS.iter().map(|kind| format!("`{}`", kind.kind)).collect();
    assert!(error.contains(&format!("allowed {}", listed.join(", "))), "{error}");
}

#[test]
fn each_kind_finds_its_own_description() {
    for spec in KINDS {
        assert_eq!(spec.of.spec().kind, spec.kind);
    }
}

#[test]
fn defaults_are_those_of_the_tcp_crate() {
    let (sender, receiver) = (SenderConfig::default(), ReceiverConfig::default());
    let given = ParamValues::new(&TCP, &[]).expect("no values");
    assert_eq!(given.number("initial_window"), Some(f64::from(sender.initial_window)));
    assert_eq!(given.duration("rto_min"), Some(sender.rto_min));
    assert_eq!(given.duration("max_ack_delay"), Some(receiver.max_ack_delay));
    let list = LADDER.map(|rate| (rate.as_bit_s() as f64 / 1e6).to_string()).join(", ");
    let ladder = TrafficKind::Video.spec().param("ladder").expect("a key").default;
    assert_eq!(ladder, Default::Auto(Box::leak(format!("{list} Mbit/s").into_boxed_str())));
}
