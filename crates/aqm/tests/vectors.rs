//! Verdicts recorded from reference models that share no code with this crate: `vectors/<algorithm>/*.json`, written by
//! `vectors/reference/*.py`, which also describes the format.

use goodqueue_aqm::sched::kind;
use goodqueue_aqm::spec::{KindSpec, LinkFacts, Size, Unit, Value};
use goodqueue_aqm::{AnyQdisc, Dropped, Ecn, EcnPolicy, Limit, Qdisc, Reason, Rng, SimplePacket, Sink};
use goodqueue_units::{Bytes, Class, Duration, Instant, Packets, Rate};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Json = serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    vector: u32,
    origin: String,
    kind: String,
    params: BTreeMap<String, Json>,
    ecn: bool,
    link: Link,
    seed: u64,
    /// What the model drew, so that a vector can be used without this project's generator.
    random: Vec<String>,
    operations: Vec<Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    rate: u64,
    delay: u64,
    mtu: u64,
    overhead: u64,
    limit_packets: u64,
    limit_bytes: u64,
}

impl Link {
    fn facts(&self) -> LinkFacts {
        LinkFacts {
            rate: Some(Rate::bit_s(self.rate)),
            delay: Duration::ns(self.delay),
            mtu: Bytes::new(self.mtu),
            overhead: Bytes::new(self.overhead),
            limit: Limit { packets: Packets::new(self.limit_packets), bytes: Bytes::new(self.limit_bytes) },
        }
    }
}

fn param(spec: &'static KindSpec, name: &str, json: &Json) -> (&'static str, Value) {
    let param = spec.params.iter().find(|param| param.name == name).unwrap_or_else(|| panic!("{} has no {name}", spec.kind));
    let value = match param.unit {
        Unit::Duration => Value::Duration(Duration::ns(json.as_u64().expect("a time in ns"))),
        Unit::Rate => Value::Rate(Rate::bit_s(json.as_u64().expect("a rate in bit/s"))),
        Unit::Number | Unit::Count | Unit::Ratio => Value::Number(json.as_f64().expect("a number")),
        Unit::Switch => Value::Switch(json.as_bool().expect("true or false")),
        Unit::Choice(words) => {
            let word = json.as_str().expect("a word");
            Value::Choice(words.iter().find(|known| **known == word).expect("a known word"))
        }
        Unit::Size => match json.as_object() {
            Some(size) if size.contains_key("packets") => Value::Size(Size::Packets(size["packets"].as_f64().unwrap())),
            Some(size) if size.contains_key("time") => {
                Value::Size(Size::Time(Duration::ns(size["time"].as_u64().expect("a time in ns"))))
            }
            Some(size) => Value::Size(Size::Bytes(size["bytes"].as_f64().unwrap())),
            None => Value::Size(Size::Bytes(json.as_f64().expect("a size in bytes"))),
        },
        Unit::Algorithm => panic!("vectors hold no nested algorithms"),
    };
    (param.name, value)
}

#[derive(Default)]
struct Log(Vec<(&'static str, u64, &'static str)>);

impl Sink<SimplePacket> for Log {
    fn dropped(&mut self, packet: SimplePacket, drop: Dropped) {
        self.0.push(("drop", packet.id, drop.reason.name()));
    }
    fn marked(&mut self, packet: &SimplePacket, reason: Reason) {
        self.0.push(("mark", packet.id, reason.name()));
    }
}

fn expected(events: &Json) -> Vec<(&str, u64, &str)> {
    let event = |event: &Json| {
        let reason = |json: &Json| json.as_str().map_or("", |text| Box::leak(text.to_owned().into_boxed_str()));
        let what = ["drop", "mark", "depart"].into_iter().find(|word| event[0] == *word).expect("a known event");
        (what, event[1].as_u64().expect("a packet"), reason(&event[2]))
    };
    events.as_array().expect("a list of events").iter().map(event).collect()
}

fn replay(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a readable vector");
    let vector: Vector = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(vector.vector, 1, "{}: another version of the format", path.display());
    assert!(!vector.origin.is_empty());
    let mut rng = Rng::new(vector.seed);
    for number in &vector.random {
        assert_eq!(format!("{:#018x}", rng.next_u64()), *number, "the generator gives other numbers");
    }
    let spec = kind(&vector.kind).expect("a known kind");
    let params: Vec<_> = vector.params.iter().map(|(name, json)| param(spec, name, json)).collect();
    let policy = if vector.ecn { EcnPolicy::Mark } else { EcnPolicy::Drop };
    let mut queue =
        AnyQdisc::build(spec, &params, &vector.link.facts(), policy, Rng::new(vector.seed)).expect("valid parameters");
    let (mut log, mut next_id) = (Log::default(), 0);
    for (line, operation) in vector.operations.iter().enumerate() {
        let now = Instant::from_nanos(operation[1].as_u64().expect("a time"));
        let number = |at: usize| operation[at].as_u64().expect("a number");
        let due = queue.next_timer().filter(|&due| due <= now);
        let wanted = (operation[0] == "timer").then_some(now);
        assert_eq!(due, wanted, "{}, operation {line}: the time of the update differs", path.display());
        match operation[0].as_str().expect("a name") {
            "enqueue" => {
                let ecn = Ecn::from_bits(number(4) as u8);
                let (flow, class) = (number(3) as u32, Class::new(number(3) as u8));
                let packet = SimplePacket { id: next_id, len: number(2) as u32, flow, ecn, class };
                next_id += 1;
                queue.enqueue(now, packet, &mut log);
            }
            "dequeue" => {
                if let Some(departure) = queue.dequeue(now, &mut log) {
                    log.0.push(("depart", departure.packet.id, ""));
                }
            }
            "timer" => queue.handle_timer(now),
            "rate" => queue.set_link_rate(now, operation[2].as_u64().map(Rate::bit_s)),
            other => panic!("{}: unknown operation {other}", path.display()),
        }
        let events = operation.as_array().and_then(|fields| fields.last()).expect("a list of events");
        assert_eq!(log.0, expected(events), "{}, operation {line}: {operation}", path.display());
        log.0.clear();
    }
}

fn vectors(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of an algorithm's vectors")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

macro_rules! vectors {
    ($($test:ident: $folder:literal),+ $(,)?) => {
        $(#[test] fn $test() { vectors($folder).iter().for_each(|path| replay(path)); })+

        #[test]
        fn every_folder_of_vectors_is_replayed() {
            let folders = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")).expect("vectors");
            for folder in folders {
                let name = folder.expect("a readable folder").file_name();
                assert!([$($folder,)+ "reference", "README.md"].iter().any(|known| name == *known), "{name:?} is not replayed");
            }
        }
    };
}

vectors! {
    codel: "codel",
    fq_codel: "fq-codel",
    cp_aqm: "cp-aqm",
    red: "red",
    ared: "ared",
    pie: "pie",
    gsp: "gsp",
}
