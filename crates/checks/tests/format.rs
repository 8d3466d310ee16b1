//! The file format: what is rejected with which message; and that the JSON schema names the same
//! fields as the reader.

use goodqueue_aqm::Reason;
use goodqueue_checks::conformance::Vector;
use serde_json::{Value as Json, json};

fn good() -> Json {
    json!({
        "vector": 1, "origin": "by hand", "kind": "codel", "params": {"target": 5_000_000}, "ecn": false,
        "link": {"rate": 10_000_000, "delay": 0, "mtu": 1500, "overhead": 0, "limit_packets": 10, "limit_bytes": 10_000},
        "seed": 1, "random": [],
        "operations": [["enqueue", 1, 1500, 0, 0, []], ["dequeue", 2, [["depart", 0]]]],
    })
}

/// Message for the valid vector with one field replaced.
fn message(pointer: &str, value: Json) -> String {
    let mut vector = good();
    *vector.pointer_mut(pointer).expect("a field") = value;
    Vector::parse("v", &vector.to_string()).expect_err("refused").to_string()
}

#[test]
fn a_good_vector_is_read() {
    let vector = Vector::parse("v", &good().to_string()).expect("good");
    assert_eq!((vector.queue.kind.kind, vector.steps.len(), vector.queue.params.len()), ("codel", 2, 1));
    assert!(goodqueue_checks::conformance::replay(&vector).expect("good").passed());
}

#[test]
fn what_is_wrong_is_named() {
    let cases = [
        ("/vector", json!(2), "v: vector: is 2, but this program reads version 1"),
        ("/origin", json!(" "), "origin: is empty"),
        ("/kind", json!("cordial"), "kind: `cordial` is not a queue algorithm of this version; `gq list aqm` names"),
        ("/params", json!({"aim": 1}), "params.aim: `codel` has no such parameter"),
        ("/params", json!({"target": "5 ms"}), "params.target: `\"5 ms\"` is not a time in ns"),
        ("/params", json!({"target": 60_000_000_000u64}), "params.target: 60 s is out of range: allowed 1 us to 10 s"),
        ("/link/mtu", json!(0), "link.mtu: 0 is out of range: allowed from 1 B"),
        ("/link/rate", json!(0), "link.rate: 0 is out of range: allowed from 1 bit/s, or null"),
        ("/random", json!(["0x12"]), "random: `0x12` is not 0x and sixteen hexadecimal digits"),
        ("/operations/0", json!(["enqueue", 1, 1500, 0, 4, []]), "codepoint: `4` is not a whole number from 0 to 3"),
        ("/operations/0", json!(["enqueue", 1, 1500, 0, []]), "codepoint: `[]` is not a whole number"),
        ("/operations/0", json!(["flush", 1, []]), "`flush` is not enqueue, dequeue, timer or rate"),
        ("/operations/1", json!(["dequeue", 2, 0, [], []]), "operation 1 ([\"dequeue\",2,0,[],[]]): `[]` is one field too many"),
        ("/operations/1", json!(["dequeue", 2, [], []]), "queue: `[]` is not a whole number from 0 to 4294967295"),
        ("/operations/1", json!(["dequeue", 0, []]), "operation 1: its time lies before that of the one before"),
        ("/operations/1/2", json!([["depart", 1]]), "packet 1 has not been offered"),
        ("/operations/1/2", json!([["drop", 0, "bored"]]), "`bored` is not a reason: allowed overflow, early"),
        ("/operations/1/2", json!([["vanish", 0]]), "`vanish` is not drop, mark or depart"),
    ];
    for (pointer, value, expected) in cases {
        let found = message(pointer, value);
        assert!(found.contains(expected), "said `{found}`, not `{expected}`");
    }
}

#[test]
fn what_is_wrong_with_a_tree_is_named() {
    let tree = |classes: Json, kind: &str| {
        let mut vector = good();
        (vector["kind"], vector["params"], vector["tree"]) = (json!(kind), json!({}), classes);
        let vector = Vector::parse("v", &vector.to_string()).map_err(|error| error.to_string())?;
        goodqueue_checks::conformance::replay(&vector).map_err(|fault| fault.to_string())
    };
    let rate = |id: u32, parent: Option<u32>| json!({"id": id, "parent": parent, "params": {"rate": 1_000_000}});
    let good = json!([rate(0, Some(7)), rate(7, None)]);
    assert!(tree(good.clone(), "htb").expect("good").passed());
    let with = |field: &str, value: Json| {
        let mut class = rate(7, None);
        class[field] = value;
        json!([rate(0, Some(7)), class])
    };
    let cases = [
        (tree(good, "codel"), "tree: `codel` has no classes"),
        (tree(json!([rate(7, None), rate(7, None)]), "htb"), "tree[1]: id: 7 does not come after those before it"),
        (tree(json!([rate(7, Some(8))]), "htb"), "tree[0]: parent: there is no class 8"),
        (tree(json!([rate(1, Some(2)), rate(2, Some(1))]), "htb"), "parent: of class `1`: the classes above it lead back to it"),
        (tree(with("params", json!({"speed": 1})), "htb"), "tree[1]: params.speed: `class of htb` has no such parameter"),
        (tree(with("params", json!({})), "htb"), "rate: of class `7`: is missing"),
        (tree(with("params", json!({"rate": 9, "ceil": 8})), "htb"), "ceil: of class `7`: 8 bit/s is below rate (9 bit/s)"),
        (
            tree(with("params", json!({"rate": 8, "limit": 9})), "htb"),
            "limit: of class `7`: belongs to classes without others below",
        ),
        (
            tree(with("of", json!({"kind": "pie", "params": {}})), "htb"),
            "of: of class `7`: belongs to classes without others below",
        ),
    ];
    for (found, expected) in cases {
        let found = found.expect_err("refused");
        assert!(found.contains(expected), "said `{found}`, not `{expected}`");
    }
}

#[test]
fn a_transmit_queue_must_be_one_of_those_there_are() {
    let mut vector = good();
    vector["operations"] = json!([["dequeue", 2, 1, []]]);
    let ask =
        |vector: &Json| goodqueue_checks::conformance::replay(&Vector::parse("v", &vector.to_string()).expect("well-formed"));
    assert_eq!(
        ask(&vector).expect_err("refused").to_string(),
        "operations: transmit queue 1 is asked: there are 0, numbered from 0"
    );
    (vector["kind"], vector["params"]) = (json!("cake-mq"), json!({"queues": 2}));
    assert!(ask(&vector).expect("good").passed());
}

#[test]
fn other_random_numbers_than_the_seeds_are_noticed() {
    let mut vector = good();
    vector["random"] = json!(["0x0000000000000001"]);
    let vector = Vector::parse("v", &vector.to_string()).expect("well-formed");
    let message = goodqueue_checks::conformance::replay(&vector).expect_err("another generator").to_string();
    assert!(message.starts_with("random: number 0 is 0x0000000000000001, but the seed gives 0x"), "{message}");
}

#[test]
fn the_schema_names_what_the_reader_reads() {
    let schema: Json = serde_json::from_str(include_str!("../../aqm/vectors/vector.schema.json")).expect("JSON");
    let reasons = &schema["$defs"]["reason"]["enum"];
    assert_eq!(*reasons, json!(Reason::ALL.map(Reason::name)));
    let required = schema["required"].as_array().expect("a list");
    for field in required {
        let mut vector = good();
        vector.as_object_mut().expect("an object").remove(field.as_str().expect("a name"));
        assert!(Vector::parse("v", &vector.to_string()).is_err(), "{field} is not required");
    }
    assert_eq!(required.len() + 1, good().as_object().expect("an object").len(), "and operations");
    let mut vector = good();
    vector.as_object_mut().expect("an object").remove("operations");
    let message = Vector::parse("v", &vector.to_string()).expect_err("refused").to_string();
    assert_eq!(message, "v: needs either `operations` or `packed`");
}
