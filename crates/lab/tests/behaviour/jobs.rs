//! JoBS: delays and losses of classes stand in the promised relation, bounds hold, and the
//! projection keeps ECN senders from overflow (Liebeherr and Christin 2001; Koo, Ahn and Chung
//! §4.2).

use super::lab::{Run, run, table};

/// Four classes of Poisson packets of 800 bytes, `rate` Mbit/s each, on 10 Mbit/s; the group's
/// number is its class. Sizes are fixed since losses are promised in bytes and reported in packets.
fn four_classes(rate: f64, buffer: &str, queues: &str) -> Vec<Run> {
    let group = |class| {
        format!(
            "[[traffic]]\nkind = \"poisson\"\nname = \"class {class}\"\nclass = {class}\nrate = \"{rate} Mbit/s\"\npacket_size = \"800 B\"\n"
        )
    };
    let traffic: String = (0..4).map(group).collect();
    run(&format!(
        "goodqueue = 1\nwarmup = \"10 s\"\nduration = \"120 s\"\n[access]\nrate = \"1 Gbit/s\"\n[link.bottleneck]\nrate = \"10 Mbit/s\"\n\
         delay = \"1 ms\"\nbuffer = \"{buffer}\"\n{traffic}[sweep]\n\"link.bottleneck.queue\" = [{queues}]\n"
    ))
}

fn delay(run: &Run, class: usize) -> f64 {
    1e3 * run.group(class, "sojourn_s.mean")
}

fn loss(run: &Run, class: usize) -> f64 {
    run.group(class, "loss_ratio")
}

#[test]
fn delays_stand_in_the_relation_of_their_shares() {
    let shares = "kind = \"jobs\", delay_share_0 = 8, delay_share_1 = 4, delay_share_2 = 2, delay_share_3 = 1";
    let runs = four_classes(2.6, "250 kB", &format!("{{ kind = \"jobs\" }}, {{ {shares} }}, {{ {shares}, sampling = 10 }}"));
    let shown = table(
        &runs,
        &[
            ("class 0 ms", &|run| delay(run, 0)),
            ("class 1 ms", &|run| delay(run, 1)),
            ("class 2 ms", &|run| delay(run, 2)),
            ("class 3 ms", &|run| delay(run, 3)),
            ("used", &|run| run.link("utilization")),
        ],
    );
    insta::assert_snapshot!(shown);
    for class in 0..3 {
        let ratio = delay(&runs[1], class) / delay(&runs[1], class + 1);
        assert!((ratio / 2.0 - 1.0).abs() < 0.1, "class {class} waits {ratio} times as long as the next\n{shown}");
    }
}

#[test]
fn losses_stand_in_the_relation_of_their_shares() {
    let queues = "{ kind = \"jobs\" }, { kind = \"jobs\", loss_share_0 = 8, loss_share_1 = 4, loss_share_2 = 2, loss_share_3 = 1 }, \
                  { kind = \"jobs\", loss_share_0 = 1, loss_share_1 = 1, loss_bound_2 = 0.05, loss_bound_3 = 0.0 }, \
                  { kind = \"jobs\", loss_share_0 = 1, loss_share_1 = 1, loss_bound_2 = 0.05, loss_bound_3 = 0.0, \
                    rate_2 = \"3.2 Mbit/s\", rate_3 = \"3.2 Mbit/s\" }";
    let runs = four_classes(3.0, "100 kB", queues);
    let shown = table(
        &runs,
        &[
            ("class 0 %", &|run| 100.0 * loss(run, 0)),
            ("class 1 %", &|run| 100.0 * loss(run, 1)),
            ("class 2 %", &|run| 100.0 * loss(run, 2)),
            ("class 3 %", &|run| 100.0 * loss(run, 3)),
            ("used", &|run| run.link("utilization")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [_, shares, _, bounds] = runs.as_slice() else { panic!("four queues") };
    for class in 0..3 {
        let ratio = loss(shares, class) / loss(shares, class + 1);
        assert!((ratio / 2.0 - 1.0).abs() < 0.1, "class {class} loses {ratio} times as much as the next\n{shown}");
    }
    // Without a rate of their own the bounded classes fill the buffer, and the others have nothing
    // left to lose.
    assert!(loss(bounds, 2) < 0.055 && loss(bounds, 3) == 0.0, "{shown}");
    assert!((loss(bounds, 0) / loss(bounds, 1) - 1.0).abs() < 0.1, "{shown}");
}

#[test]
fn bounds_hold_beside_shares() {
    let queues = "{ kind = \"jobs\", delay_share_0 = 2, delay_share_1 = 1, rate_2 = \"2.8 Mbit/s\", delay_bound_3 = \"5 ms\" }";
    let runs = four_classes(2.7, "100 kB", queues);
    let [run] = runs.as_slice() else { panic!("one queue") };
    let shown = table(
        &runs,
        &[
            ("class 0 ms", &|run| delay(run, 0)),
            ("class 1 ms", &|run| delay(run, 1)),
            ("class 2 ms", &|run| delay(run, 2)),
            ("class 3 ms", &|run| delay(run, 3)),
            ("class 3 p95", &|run| 1e3 * run.group(3, "sojourn_s.p95")),
            ("class 3 lost", &|run| loss(run, 3)),
        ],
    );
    insta::assert_snapshot!(shown);
    // One packet in transmission may stand in the way: 800 B on average take 0.64 ms.
    assert!(run.group(3, "sojourn_s.p95") < 5.7e-3, "{shown}");
    assert!((delay(run, 0) / delay(run, 1) / 2.0 - 1.0).abs() < 0.1, "{shown}");
}

/// Koo, Ahn and Chung §4.2: losses are avoided, at the price of utilization.
#[test]
fn the_projection_avoids_losses_of_senders_that_heed_marks() {
    let runs = run(r#"
        goodqueue = 1
        warmup = "5 s"
        duration = "30 s"

        [link.bottleneck]
        rate = "20 Mbit/s"
        delay = "40 ms"
        buffer = "100 kB"

        [[traffic]]
        kind = "bulk"
        flows = 8
        ecn = true
        slow_start_exit = "hystart++"

        [sweep]
        "link.bottleneck.queue" = [
          { kind = "jobs", ecn = true },
          { kind = "jobs", ecn = true, projection = true },
          { kind = "jobs", ecn = true, projection = true, b_lim = 0.5 },
        ]
    "#);
    let shown = table(
        &runs,
        &[
            ("used", &|run| run.link("utilization")),
            ("mean ms", &|run| 1e3 * run.link("sojourn_s.mean")),
            ("loss %", &|run| 100.0 * run.link("drop_ratio")),
            ("marks %", &|run| 100.0 * run.link("mark_ratio")),
        ],
    );
    insta::assert_snapshot!(shown);
    let [without, with, half] = runs.as_slice() else { panic!("three queues") };
    assert!(without.link("drop_ratio") > 0.0, "{shown}");
    // With the whole buffer as the limit there is no room for bursts.
    assert!(with.link("drop_ratio") < 0.5 * without.link("drop_ratio"), "{shown}");
    assert!(half.link("drop_ratio") == 0.0 && half.link("sojourn_s.mean") < with.link("sojourn_s.mean"), "{shown}");
}
