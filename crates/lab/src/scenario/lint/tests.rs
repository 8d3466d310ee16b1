use super::*;
use crate::scenario::plan::Plan;
use std::path::Path;

const GOOD: &str = "goodqueue = 1\nwarmup = \"5 s\"\nduration = \"60 s\"\nreplications = 5\n\
    [access]\nrate = \"1 Gbit/s\"\n\
    [link.b]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"20 packets\"\nqueue = { kind = \"codel\" }\n\
    [[traffic]]\nkind = \"bulk\"\nflows = 4\nstart = \"uniform 0 s .. 5 s\"\n";

fn warned(text: &str) -> Vec<String> {
    let plan = Plan::parse("scenario.toml", text, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()));
    plan.points().expect("good").iter().flat_map(warnings).map(|warning| warning.to_string()).collect()
}

/// The one warning about the good scenario with a piece replaced.
fn one(old: &str, new: &str) -> String {
    assert_eq!(GOOD.matches(old).count(), 1, "{old}");
    let mut found = warned(&GOOD.replace(old, new));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn nothing_to_say_about_a_good_scenario() {
    assert_eq!(warned(GOOD), Vec::<String>::new());
}

#[test]
fn a_rate_that_falls_below_what_is_offered_makes_a_queue() {
    let call = GOOD.replace("kind = \"bulk\"\nflows = 4\nstart = \"uniform 0 s .. 5 s\"", "kind = \"voip\"");
    let falling = call.replace("rate = \"10 Mbit/s\"", "rate = { steps = [[\"0 s\", \"10 Mbit/s\"], [\"9 s\", \"40 kbit/s\"]] }");
    let empty = |text: &str| warned(text).iter().filter(|warning| warning.contains("is offered to a link")).count();
    assert_eq!((empty(&call), empty(&falling)), (1, 0));
}

#[test]
fn a_queue_that_marks_by_default_is_no_request_for_ecn() {
    for queue in ["{ kind = \"cake\" }", "\"cake\""] {
        assert_eq!(warned(&GOOD.replace("{ kind = \"codel\" }", queue)), Vec::<String>::new(), "{queue}");
    }
}

#[test]
fn target_below_one_packet_is_harmless_where_the_last_is_spared() {
    for queue in ["codel", "cobalt", "fq-codel", "cake"] {
        let slow = GOOD.replace("rate = \"10 Mbit/s\"", "rate = \"1 Mbit/s\"").replace("\"codel\"", &format!("\"{queue}\""));
        assert_eq!(warned(&slow), Vec::<String>::new(), "{queue}");
    }
}

#[test]
fn a_queue_that_cannot_mark_is_named_as_that() {
    let text =
        GOOD.replace("{ kind = \"codel\" }", "\"tail-drop\"").replace("kind = \"bulk\"\n", "kind = \"bulk\"\necn = true\n");
    assert_eq!(warned(&text), ["link.b.queue: senders use ecn, but `tail-drop` cannot mark; its drops are what they get"]);
}

#[test]
fn a_sender_that_no_mark_slows_is_named() {
    let text = GOOD.replace("kind = \"codel\" }", "kind = \"codel\", ecn = true }");
    for (control, named) in [("bbr3", true), ("bbr", true), ("cubic", false)] {
        let text = text.replace("kind = \"bulk\"\n", &format!("kind = \"bulk\"\necn = true\ncc = \"{control}\"\n"));
        let found = warned(&text);
        assert_eq!(found.iter().any(|warning| warning.contains("does not respond to marks")), named, "{control}: {found:?}");
        assert_eq!(found.len(), usize::from(named), "{control}: {found:?}");
    }
}

#[test]
fn each_oddity_is_named() {
    let cases = [
        (
            "\"1 Gbit/s\"",
            "\"2 Mbit/s\"",
            "access.rate: 4 access links of 2 Mbit/s are not faster than the bottleneck's 10 Mbit/s",
        ),
        ("kind = \"bulk\"\n", "kind = \"cbr\"\nrate = \"1 Mbit/s\"\n", "link.b.rate: at most 4 Mbit/s is offered"),
        ("kind = \"bulk\"\n", "kind = \"bulk\"\nsize = \"1 MB\"\n", "link.b.rate: at most 552.486 kbit/s is offered"),
        ("kind = \"bulk\"\n", "kind = \"bulk\"\nmax_window = \"2 kB\"\n", "link.b.rate: at most 6.374"),
        ("\"20 packets\"", "\"8 packets\"", "link.b.buffer: holds 12000 B, less than one bandwidth-delay product (13000 B)"),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"codel\", ecn = true }",
            "link.b.queue.ecn: `codel` is asked for ecn, but no sender uses it",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"tail-drop\", ecn = true }",
            "link.b.queue.ecn: ecn is asked for, but `tail-drop` never marks",
        ),
        ("kind = \"bulk\"\n", "kind = \"bulk\"\necn = true\n", "link.b.queue.ecn: senders use ecn, but `codel` does not mark"),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"cp-aqm\", threshold = \"20 packets\" }",
            "link.b.queue.threshold: cp-aqm's threshold of 30000 B is not below the buffer (30000 B)",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"pie\", target = \"1 ms\" }",
            "link.b.queue.target: pie's target of 1 ms is shorter than one full packet",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"codel\", target = \"30 ms\" }",
            "link.b.queue.target: codel's target of 30 ms is not below the time a full",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"fair\", of = { kind = \"pie\", target = \"1 ms\" } }",
            "link.b.queue.of.target: pie's target of 1 ms is shorter than one full packet",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"pi\" }",
            "link.b.queue.q_ref: pi's q_ref of 75000 B is not below the buffer (30000 B)",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"rem\" }",
            "link.b.queue.b_star: rem's b_star of 30000 B is not below the buffer (30000 B)",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"phantom-queue\" }",
            "link.b.queue: `phantom-queue` only marks: without ecn it is a tail drop",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"fair\", of = \"tail-drop\", ecn = true }",
            "link.b.queue.ecn: ecn is asked for, but `fair:tail-drop` never marks",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"jobs\", ecn = true }",
            "link.b.queue.ecn: ecn is asked for, but `jobs` marks by projection only",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"jobs\", projection = true }",
            "link.b.queue.projection: `jobs` only marks by projection: without ecn it does nothing",
        ),
        ("flows = 4\n", "flows = 4\nweight = 2\n", "traffic.0.weight: 2 has no effect: no queue on the path weighs flows"),
        ("{ kind = \"codel\" }", "{ kind = \"htb\" }", "link.b.queue.class: has no classes: all packets leave in order"),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"htb\", class.a = { rate = \"5 Mbit/s\" } }",
            "traffic.0.leaf: `bulk` belongs to no class of link.b.queue: it leaves before all others",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"htb\", class.a = { rate = \"9 Mbit/s\" }, class.b = { parent = \"a\", rate = \"5 Mbit/s\", default = true }, \
             class.c = { parent = \"a\", rate = \"5 Mbit/s\" } }",
            "link.b.queue.class.a.rate: the classes below it are promised 10 Mbit/s, and it has 9 Mbit/s; lower their rates",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"htb\", class.a = { rate = \"9 Mbit/s\" }, \
             class.b = { parent = \"a\", rate = \"40 kbit/s\", ceil = \"8 Mbit/s\", default = true }, \
             class.c = { parent = \"a\", rate = \"40 kbit/s\", ceil = \"9 Mbit/s\" } }",
            "link.b.queue.class.b.quantum: a turn of 1000 B (500 B of 40 kbit/s by r2q 10, within 1000 B and 200000 B) lasts 1 ms at \
             8 Mbit/s (the first of 2 such classes); leaves that borrow take turns",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"htb\", class.a = { rate = \"9 Mbit/s\" }, \
             class.b = { parent = \"a\", rate = \"4 Mbit/s\", ceil = \"8 Mbit/s\", quantum = \"400 kB\", default = true }, \
             class.c = { parent = \"a\", rate = \"4 Mbit/s\", ceil = \"9 Mbit/s\" } }",
            "link.b.queue.class.b.quantum: a turn of 400000 B lasts 400 ms at 8 Mbit/s; leaves that borrow take turns",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"htb\", class.a = { rate = \"9 Mbit/s\", default = true, of = \"fq-codel\" }, \
             class.b = { rate = \"1 Mbit/s\", of = \"codel\" } }",
            "link.b.queue.class.b.of: `codel` marks here: all leaves share `ecn`, which others have by default; on a router",
        ),
        (
            "{ kind = \"codel\" }",
            "{ kind = \"htb\", class.a = { rate = \"11 Mbit/s\", default = true } }",
            "link.b.queue.class: the classes may send 11 Mbit/s, and the link 10 Mbit/s: packets wait where no class sorts them",
        ),
        ("warmup = \"5 s\"", "warmup = \"4 s\"", "warmup: 4 s ends before the last flow may start, at 5 s"),
        ("\"60 s\"", "\"1 s\"", "duration: 1 s is 96 round trips of 10.4 ms"),
        ("replications = 5", "replications = 1", "replications: one replication gives no confidence interval"),
        ("buffer =", "rate_up = \"100 kbit/s\"\nbuffer =", "link.b.rate_up: 100 kbit/s is too slow for the acknowledgements"),
        ("buffer =", "buffer_up = \"20 packets\"\nbuffer =", "link.b.queue_up: no data goes in this direction"),
        (
            "rate = \"10 Mbit/s\"",
            "rate = { steps = [[\"0 s\", \"10 Mbit/s\"], [\"65 s\", \"5 Mbit/s\"]] }",
            "link.b.rate: the step at 65 s never happens: the run ends at 65 s",
        ),
    ];
    for (old, new, expected) in cases {
        let found = one(old, new);
        assert!(found.starts_with(expected), "{new}:\n  expected {expected}\n  found    {found}");
    }
}

#[test]
fn sessions_fill_buffers_and_get_acks_as_plain_flows_do() {
    for kind in ["kind = \"page\"", "kind = \"web\"\nrate = 5", "kind = \"short\"\nsize = \"1 MB\"\ninterval = \"1 s\""] {
        let good = GOOD.replace("kind = \"bulk\"", kind);
        assert_eq!(warned(&good), Vec::<String>::new());
        let small = warned(&good.replace("\"20 packets\"", "\"8 packets\""));
        assert!(small[0].starts_with("link.b.buffer: holds 12000 B, less than one"), "{small:?}");
        let slow = warned(&good.replace("buffer =", "rate_up = \"100 kbit/s\"\nbuffer ="));
        assert!(slow[0].starts_with("link.b.rate_up: 100 kbit/s is too slow for the acknowledgements"), "{slow:?}");
    }
}

#[test]
fn calls_of_two_load_both_directions() {
    let both = GOOD
        .replace("kind = \"bulk\"", "kind = \"voip\"\ndirection = \"both\"")
        .replace("buffer =", "buffer_up = \"20 packets\"\nbuffer =");
    let found = warned(&both);
    let expected = ["link.b.rate: at most 208 kbit/s is offered", "link.b.rate_up: at most 208 kbit/s is offered"];
    assert!(found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected)), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn a_list_that_goes_on_after_the_end_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("flows.csv"), "start,size\n1 s,1 kB\n59 s,1 kB\n60 s,1 kB\n").expect("a file");
    let text = GOOD.replace("kind = \"bulk\"", "kind = \"flow-list\"\nfile = \"flows.csv\"");
    let plan = Plan::parse("scenario.toml", &text, folder.path()).unwrap_or_else(|error| panic!("{}", error.text()));
    let found: Vec<String> = plan.points().expect("good").iter().flat_map(warnings).map(|warning| warning.to_string()).collect();
    assert_eq!(found, ["traffic.0.file: 1 of its 3 flows never begin: the run ends at 65 s; lengthen the duration"]);
}

#[test]
fn weights_are_for_queues_that_weigh_flows() {
    let weighed = GOOD.replace("flows = 4", "flows = 4\nweight = 2");
    for queue in ["{ kind = \"nfq-codel\" }", "{ kind = \"shaper\", rate = \"5 Mbit/s\", of = \"nfq-codel\" }"] {
        assert_eq!(warned(&weighed.replace("{ kind = \"codel\" }", queue)), Vec::<String>::new());
    }
}

#[test]
fn a_start_after_the_end_is_named() {
    let found = warned(&GOOD.replace("uniform 0 s .. 5 s", "70 s"));
    assert_eq!(
        found[0],
        "traffic.0.start: flows may start at 70 s, but the run ends at 65 s; lengthen the duration or start earlier"
    );
}
