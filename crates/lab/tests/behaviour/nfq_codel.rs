//! nfqCoDel: shares follow weights, and with adaptive parameters each flow also fills its share
//! (Kushwaha and Gupta 2018, table 3); packet sizes do not matter (table 5).

use super::lab::{Run, run, table};

/// Jain's index of goodput over weight.
fn weighted_fairness(run: &Run, weights: &[f64]) -> f64 {
    let shares: Vec<f64> = weights.iter().enumerate().map(|(group, weight)| run.goodput(group) / weight).collect();
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    sum * sum / (shares.len() as f64 * squares)
}

#[test]
fn shares_follow_weights() {
    let runs = run(r#"
        goodqueue = 1
        warmup = "20 s"
        duration = "40 s"

        [link.bottleneck]
        rate = "70 Mbit/s"
        delay = "48 ms"
        buffer = "8 bdp"

        [[traffic]]
        name = "one"
        kind = "bulk"
        mss = "948 B"

        [[traffic]]
        name = "two"
        kind = "bulk"
        mss = "948 B"
        weight = 2

        [[traffic]]
        name = "four"
        kind = "bulk"
        mss = "948 B"
        weight = 4

        [sweep]
        "link.bottleneck.queue" = [
          { kind = "nfq-codel" },
          { kind = "nfq-codel", adaptive = false },
          { kind = "nfq-codel", unit = "milliseconds" },
          { kind = "fq-codel" },
        ]
    "#);
    let weights = [1.0, 2.0, 4.0];
    let fair = |run: &Run| weighted_fairness(run, &weights);
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("w1 Mbit/s", &|run| run.goodput(0) / 1e6),
            ("w2 Mbit/s", &|run| run.goodput(1) / 1e6),
            ("w4 Mbit/s", &|run| run.goodput(2) / 1e6),
            ("fairness", &fair),
            ("w1 ms", &|run| 1e3 * run.group(0, "sojourn_s.mean")),
            ("w4 ms", &|run| 1e3 * run.group(2, "sojourn_s.mean")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [adaptive, fixed, millis, fq_codel] = runs.as_slice() else { panic!("four queues") };
    for (group, weight) in weights.iter().enumerate() {
        let share = adaptive.goodput(group) / (adaptive.goodput(0) + adaptive.goodput(1) + adaptive.goodput(2));
        assert!((share * 7.0 / weight - 1.0).abs() < 0.1, "weight {weight} gets {share}\n{shown}");
    }
    assert!(fair(adaptive) > 0.995 && fair(fq_codel) < 0.9, "{shown}");
    // A target of 5 ms leaves a flow whose rate is its own too little to get over its back-off; one
    // of 35 ms at weight 4 does not.
    let used = |run: &Run| run.link("utilization");
    assert!(used(adaptive) > 0.995 && used(fixed) < 0.99, "{shown}");
    // Counted in milliseconds the adaptive parameters are the fixed ones within 1 %; a run's use of
    // the link differs by more from chance.
    assert!((used(fixed) - used(millis)).abs() < 0.02 && (fair(fixed) - fair(millis)).abs() < 0.01, "{shown}");
}

#[test]
fn packet_sizes_do_not_matter() {
    let runs = run(r#"
        goodqueue = 1
        warmup = "5 s"
        duration = "20 s"

        [link.bottleneck]
        rate = "20 Mbit/s"
        delay = "20 ms"
        buffer = "8 bdp"
        queue = { kind = "nfq-codel", adaptive = false }

        [[traffic]]
        name = "large"
        kind = "bulk"
        mss = "948 B"

        [[traffic]]
        name = "small"
        kind = "bulk"
        mss = "448 B"
    "#);
    let [run] = runs.as_slice() else { panic!("one point") };
    // Shares of the link: goodput and headers, 1000 and 500 bytes per packet.
    let ratio = run.goodput(0) * 1000.0 / 948.0 / (run.goodput(1) * 500.0 / 448.0);
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}
