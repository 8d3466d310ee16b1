//! Hoeiland-Joergensen, Taht and Morton: COBALT holds senders that listen as CoDel does, and BLUE
//! drains what CoDel cannot when they do not.

use super::lab::{Run, run, table};

fn scenario(traffic: &str) -> String {
    format!(
        r#"
        goodqueue = 1
        warmup = "5 s"
        duration = "20 s"

        [link.bottleneck]
        rate = "10 Mbit/s"
        delay = "9.8 ms"
        buffer = "250 ms"

        {traffic}

        [sweep]
        "link.bottleneck.queue" = ["codel", "cobalt"]
        "#
    )
}

fn figures(runs: &[Run]) -> String {
    table(
        runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("early", &|run| run.link("drops.early")),
            ("overflow", &|run| run.link("drops.overflow")),
            ("fairness", &Run::fairness),
        ],
    )
}

#[test]
fn senders_that_listen_are_held_at_least_as_well() {
    let runs = run(&scenario("[[traffic]]\nkind = \"bulk\"\ncc = \"cubic\"\nflows = 4\nstart = \"uniform 0 s .. 2 s\""));
    let shown = figures(&runs);
    insta::assert_snapshot!(shown);
    let [codel, cobalt] = runs.as_slice() else { panic!("two queues") };
    assert_eq!(cobalt.link("drops.overflow"), 0.0, "{shown}");
    assert!(cobalt.link("utilization") > codel.link("utilization") - 0.01, "{shown}");
    // Its memory fades where CoDel's resets, so that it is rarely out of step with the load.
    assert!(cobalt.link("sojourn_s.mean") < codel.link("sojourn_s.mean"), "{shown}");
    assert_eq!(cobalt.mean("gauge:drop_probability", 5.0..25.0), 0.0, "{shown}");
}

#[test]
fn a_flood_fills_the_buffer_of_codel_and_not_of_cobalt() {
    let runs = run(&scenario("[[traffic]]\nkind = \"cbr\"\nrate = \"15 Mbit/s\""));
    let shown = figures(&runs);
    insta::assert_snapshot!(shown);
    let [codel, cobalt] = runs.as_slice() else { panic!("two queues") };
    assert!(codel.link("drops.overflow") > 0.0 && codel.link("sojourn_s.p95") > 0.2, "{shown}");
    assert!(cobalt.link("sojourn_s.mean") < 0.1 * codel.link("sojourn_s.mean"), "{shown}");
    assert!(cobalt.link("utilization") > 0.95, "{shown}");
    // Capacity for two thirds of the load: the drop probability settles near the third that is too
    // much.
    assert!((0.25..0.45).contains(&cobalt.mean("gauge:drop_probability", 10.0..25.0)), "{shown}");
}
