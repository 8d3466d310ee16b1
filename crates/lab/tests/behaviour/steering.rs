//! Bless, Hock and Zitterbart: a steered queue uses the link as its policy says, with few flows and
//! many, and has no more delay than that takes. Their set-ups with a hundredth of the rate and
//! shorter: 100 Mbit/s, a base RTT of 50 ms, CUBIC.

use super::lab::{Run, run, table};

/// The study's link and memories of the averages; `policy` and `sweep` are TOML.
fn scenario(seconds: (u32, u32), traffic: &str, sweep: &str) -> String {
    let (warmup, duration) = seconds;
    format!(
        r#"
        goodqueue = 1
        warmup = "{warmup} s"
        duration = "{duration} s"

        [link.bottleneck]
        rate = "100 Mbit/s"
        delay = "24.8 ms"
        buffer = "100 ms"

        {traffic}

        [sweep]
        {sweep}
        "#
    )
}

fn bulk(flows: u32, start: &str, stop: &str) -> String {
    format!("[[traffic]]\nkind = \"bulk\"\nflows = {flows}\nstart = \"{start}\"\n{stop}\n")
}

fn figures(runs: &[Run]) -> String {
    table(
        runs,
        &[
            ("used %", &|run| 100.0 * run.link("utilization")),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("dropped %", &|run| 100.0 * run.link("drop_ratio")),
            ("fairness", &Run::fairness),
        ],
    )
}

/// The policy's 99 % (the study's runs: within one) whatever the number of flows, where a fixed
/// setpoint loses throughput with two; no less than the same algorithm unsteered; more flows, less
/// delay.
#[test]
fn the_link_is_used_with_few_flows_and_many() {
    let sweep = r#"
        "link.bottleneck.queue" = [
          { kind = "gsp-as", mem_delta = "10 s", mem_rate = "5 s" },
          { kind = "gsp" },
          { kind = "codel-as", mem_delta = "10 s", mem_rate = "5 s" },
          { kind = "codel", target = "2.5 ms", interval = "50 ms" },
          { kind = "pie-as", mem_delta = "10 s", mem_rate = "5 s" },
          { kind = "pie", active_inactive = true, target = "2.5 ms" },
          { kind = "tail-drop", limit = "30 ms" },
        ]
        "traffic.0.flows" = [2, 36]"#;
    let runs = run(&scenario((30, 30), &bulk(2, "uniform 0 s .. 2 s", ""), sweep));
    let shown = figures(&runs);
    insta::assert_snapshot!(shown);
    let [gsp_as, gsp, codel_as, codel, pie_as, pie, tail_drop] = runs.as_chunks::<2>().0 else { panic!("seven queues") };
    for (steered, fixed) in [(gsp_as, gsp), (codel_as, codel), (pie_as, pie)] {
        let [few, many] = steered;
        for (steered, fixed) in steered.iter().zip(fixed) {
            assert!(steered.link("utilization") > fixed.link("utilization") - 0.005, "{shown}");
        }
        assert!(many.link("sojourn_s.p95") < few.link("sojourn_s.p95"), "{shown}");
        assert!(few.link("sojourn_s.mean") < tail_drop[0].link("sojourn_s.mean"), "{shown}");
        assert!(many.link("sojourn_s.mean") < 0.3 * tail_drop[1].link("sojourn_s.mean"), "{shown}");
    }
    for fixed in [gsp, codel] {
        assert!(gsp_as[0].link("utilization") > fixed[0].link("utilization") + 0.01, "{shown}");
    }
    // With two flows PIE signals now and then, by chance, so steering it takes longer than this
    // run.
    for run in gsp_as.iter().chain(codel_as).chain(&pie_as[1..]) {
        assert!(run.link("utilization") > 0.98, "{shown}");
    }
}

/// With a ceiling of 95 % and at most 2.5 ms: 94 to 95 % used (the study's runs: within 0.7), by
/// low setpoints and the virtual queue.
#[test]
fn a_ceiling_keeps_the_link_just_below_full() {
    let policy = r#"u_low = 0.94, u_target = 0.95, target_max = "2.5 ms", mem_delta = "10 s", mem_rate = "5 s""#;
    let sweep = format!(
        r#"
        "link.bottleneck.queue" = [
          {{ kind = "gsp-as", {policy} }}, {{ kind = "codel-as", {policy} }}, {{ kind = "pie-as", {policy} }},
        ]
        "traffic.0.flows" = [6, 24]"#
    );
    let runs = run(&scenario((40, 30), &bulk(2, "uniform 0 s .. 2 s", ""), &sweep));
    let virtual_rate = |run: &Run| run.samples("gauge:virtual_rate_bit_s", 0.0..70.0);
    let shown = table(
        &runs,
        &[
            ("used %", &|run| 100.0 * run.link("utilization")),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("p95 ms", &|run| 1e3 * run.link("sojourn_s.p95")),
            ("virtual ms", &|run| 1e3 * run.mean("gauge:virtual_delay_s", 40.0..70.0)),
            ("virtual Mbit/s", &|run| run.mean("gauge:virtual_rate_bit_s", 40.0..70.0) / 1e6),
            ("setpoint ms", &|run| 1e3 * run.mean("gauge:setpoint_s", 40.0..70.0)),
        ],
    );
    insta::assert_snapshot!(shown);
    for run in &runs {
        assert!((0.93..0.957).contains(&run.link("utilization")), "{shown}");
        assert!(run.samples("gauge:setpoint_s", 0.0..70.0).iter().all(|setpoint| (0.2e-3..=2.5e-3).contains(setpoint)));
        let bounds = 95e6 - 1.0..=100e6 + 1.0;
        assert!(virtual_rate(run).iter().all(|rate| bounds.contains(rate)), "outside of its bounds");
    }
}

/// 34 flows join two for 40 s: the setpoint goes down; once they are gone nothing is learned until
/// the queue is back, and then it goes up again.
#[test]
fn the_setpoint_follows_the_number_of_flows() {
    let traffic = bulk(2, "uniform 0 s .. 2 s", "") + &bulk(34, "uniform 60 s .. 61 s", "stop = \"100 s\"");
    let sweep = r#""link.bottleneck.queue" = [
          { kind = "gsp-as", mem_delta = "10 s", mem_rate = "5 s" },
          { kind = "codel-as", mem_delta = "10 s", mem_rate = "5 s" },
          { kind = "pie-as", mem_delta = "10 s", mem_rate = "5 s" },
        ]"#;
    let runs = run(&scenario((0, 180), &traffic, sweep));
    let setpoint = |run: &Run, seconds| 1e3 * run.mean("gauge:setpoint_s", seconds);
    let shown = table(
        &runs,
        &[
            ("40-60 s", &|run| setpoint(run, 40.0..60.0)),
            ("80-100 s", &|run| setpoint(run, 80.0..100.0)),
            ("100-110 s", &|run| setpoint(run, 100.0..110.0)),
            ("160-180 s", &|run| setpoint(run, 160.0..180.0)),
            ("used %", &|run| 100.0 * run.link("utilization")),
        ],
    );
    insta::assert_snapshot!(format!("setpoint in ms\n{shown}"));
    for run in &runs {
        assert!(setpoint(run, 80.0..100.0) < 0.7 * setpoint(run, 40.0..60.0), "{shown}");
        assert!(setpoint(run, 160.0..180.0) > setpoint(run, 80.0..100.0), "{shown}");
    }
}

/// Load that does not respond: half the link's rate, which is no bottleneck, and more than the
/// algorithms inside can signal away, so that they do not converge. The setpoint stands still. (PIE
/// does converge on such load.)
#[test]
fn load_that_does_not_respond_moves_nothing() {
    for (kinds, rate) in [(r#"["gsp-as", "codel-as", "pie-as"]"#, 50), (r#"["gsp-as", "codel-as"]"#, 120)] {
        let traffic = format!("[[traffic]]\nkind = \"poisson\"\nrate = \"{rate} Mbit/s\"\n");
        let runs = run(&scenario((0, 20), &traffic, &format!("\"link.bottleneck.queue\" = {kinds}")));
        for run in &runs {
            let setpoints = run.samples("gauge:setpoint_s", 0.0..20.0);
            assert!(setpoints.iter().all(|setpoint| *setpoint == 0.0025), "{} at {rate} Mbit/s", run.label);
            assert_eq!(run.link("drops.early") > 0.0, rate > 100, "{} at {rate} Mbit/s", run.label);
        }
    }
}
