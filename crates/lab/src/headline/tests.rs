use super::*;
use crate::experience::GroupExperience;
use crate::metrics::{LINK_METRICS, LinkFigures};
use crate::plan::Plan;
use crate::runner::Replication;
use serde_json::{Value, json};
use std::path::Path;

const LINK: &str = "bottleneck";
/// A group, what it does, its deciding figures in their order, and its goodput.
type Got<'a> = (&'a str, Activity, &'a [f64], f64);

fn link(name: &str, used: f64, p95: f64) -> LinkFigures {
    let value = |name: &str| match name {
        "utilization" => Some(used),
        "sojourn_s.p95" => Some(p95),
        "sojourn_s.mean" => Some(p95 / 2.0),
        _ => None,
    };
    let values = LINK_METRICS.iter().map(|metric| value(metric.about.name)).collect();
    LinkFigures { name: name.to_owned(), values, group_share: vec![Some(1.0)] }
}

fn group(&(name, activity, deciding, goodput): &Got<'_>) -> GroupExperience {
    let mut values = vec![None; activity.metrics().len()];
    for ((place, _), value) in activity.deciding().zip(deciding) {
        values[place] = Some(*value);
    }
    GroupExperience { group: name.to_owned(), activity, values, goodput_bit_s: Some(goodput) }
}

/// A replication for each entry: utilization, 95th percentile in the queue, and what groups got.
fn point(runs: &[(f64, f64, &[Got<'_>])]) -> PointResult {
    let run = |(number, (used, p95, got)): (usize, &(f64, f64, &[Got<'_>]))| Replication {
        number: number as u32,
        links: vec![link(LINK, *used, *p95)],
        experience: got.iter().map(group).collect(),
        groups: Vec::new(),
        jain: Vec::new(),
        goodput_bit_s: 0.0,
    };
    let runs = runs.iter().enumerate().map(run).collect();
    PointResult { summary: None, runs, cdfs: Vec::new(), rtt_cdfs: Vec::new(), series: Vec::new() }
}

/// Only bulk flows.
fn bulk(runs: &[(f64, f64)]) -> PointResult {
    let got: &[Got<'_>] = &[("bulk", Activity::Bulk, &[], 9e6)];
    let runs: Vec<(f64, f64, &[Got<'_>])> = runs.iter().map(|&(used, p95)| (used, p95, got)).collect();
    point(&runs)
}

fn labels(sets: &[Vec<(&str, Value)>]) -> Labels {
    let sets: Vec<Vec<(String, Value)>> =
        sets.iter().map(|set| set.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()).collect();
    let sets: Vec<&[(String, Value)]> = sets.iter().map(Vec::as_slice).collect();
    Labels::new(&sets, "home")
}

fn queues(names: &[&str]) -> Labels {
    labels(&names.iter().map(|name| vec![("link.bottleneck.queue", json!(name))]).collect::<Vec<_>>())
}

/// Any scenario with the link.
fn headline(results: &[PointResult], labels: &Labels) -> Headline {
    let text = "goodqueue = 1\nduration = \"1 s\"\n[link.bottleneck]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"9 kB\"\n\
                [[traffic]]\nkind = \"bulk\"\n";
    let points = Plan::parse("test", text, Path::new("")).expect("a plan").points().expect("a point");
    Headline::of(&points, results, labels, &Policy::default())
}

#[test]
fn without_interactive_groups_the_delay_of_the_bulk_packets_decides_and_is_called_so() {
    let points = [
        bulk(&[(0.999, 0.2), (0.999, 0.21), (0.999, 0.19)]),
        bulk(&[(0.98, 0.012), (0.981, 0.013), (0.979, 0.011)]),
        // Differs from the one before by 0, +1 and -0.4 ms: not significant.
        bulk(&[(0.99, 0.012), (0.99, 0.014), (0.99, 0.0106)]),
    ];
    let said = headline(&points, &queues(&["tail-drop", "codel", "pie"]));
    assert_eq!(
        said.text,
        "codel has the lowest queueing delay of the bulk packets: 95 % of them waited at most 12.0 ± 2.5 ms, at 98.0 % utilization; \
         not significantly different: pie (paired 95 % intervals, 3 replications)."
    );
    assert_eq!((said.best.as_deref(), said.not_significantly_different), (Some("codel"), vec!["pie".to_owned()]));
    let fair = headline(&points, &queues(&["tail-drop", "codel", "fq-codel"]));
    assert!(fair.text.contains("Nothing here is interactive"), "{}", fair.text);
}

#[test]
fn pairs_show_what_overlapping_intervals_hide() {
    // Both swing widely with the replication, but one is always 1 ms longer.
    let points = [bulk(&[(0.9, 0.010), (0.9, 0.030), (0.9, 0.020)]), bulk(&[(0.9, 0.011), (0.9, 0.031), (0.9, 0.021)])];
    let said = headline(&points, &queues(&["codel", "pie"]));
    assert!(said.text.contains("; the other is significantly worse"), "{}", said.text);
}

#[test]
fn the_call_comes_before_the_delay_of_the_link() {
    let got = |mos, lost, rtt| -> [Got<'static>; 2] {
        let call: &[f64] = Box::leak(Box::new([mos]));
        let ping: &[f64] = Box::leak(Box::new([lost, rtt]));
        [("voip", Activity::Call, call, 64e3), ("echo", Activity::Ping, ping, 1e3)]
    };
    let (ared, fq, cp) = (got(3.1, 0.12, 0.042), got(4.33, 0.0, 0.023), got(4.32, 0.001, 0.044));
    let points = [
        point(&[(1.0, 0.021, &ared), (1.0, 0.021, &ared)]),
        point(&[(1.0, 0.051, &fq), (1.0, 0.051, &fq)]),
        // A hundredth of MOS is not noticed; twice the round-trip time is.
        point(&[(1.0, 0.023, &cp), (1.0, 0.023, &cp)]),
    ];
    let said = headline(&points, &queues(&["ared", "fq-codel", "cp-aqm"]));
    assert_eq!(
        said.text,
        "fq-codel is best for the call and the ping: call MOS 4.33 ± 0.00, ping 0 % lost, RTT p95 23.0 ± 0.0 ms, at 100.0 % \
         utilization; every other is significantly worse (paired 95 % intervals, 2 replications)."
    );
    // What nobody notices is no difference. The one nearest to the best of every figure is named,
    // whatever the delay of the link.
    let alike = got(4.31, 0.002, 0.0235);
    let nearly = [points[1].clone(), point(&[(1.0, 0.023, &alike), (1.0, 0.023, &alike)])];
    let said = headline(&nearly, &queues(&["fq-codel", "cp-aqm"]));
    assert_eq!((said.best.as_deref(), said.not_significantly_different), (Some("fq-codel"), vec!["cp-aqm".to_owned()]));
    // Between equals the delay of the link names one.
    let equal = [points[1].clone(), point(&[(1.0, 0.023, &fq), (1.0, 0.023, &fq)])];
    let said = headline(&equal, &queues(&["fq-codel", "cp-aqm"]));
    assert_eq!((said.best.as_deref(), said.not_significantly_different), (Some("cp-aqm"), vec!["fq-codel".to_owned()]));
}

#[test]
fn nobody_is_said_to_have_the_best_who_has_not() {
    let (pie, fq, red) = (call_and_ping(3.2, 0.116), call_and_ping(2.7, 0.065), call_and_ping(2.6, 0.080));
    let points = [
        point(&[(0.92, 0.05, &pie), (0.92, 0.05, &pie)]),
        point(&[(0.92, 0.04, &fq), (0.92, 0.04, &fq)]),
        point(&[(0.93, 0.09, &red), (0.93, 0.09, &red)]),
    ];
    let said = headline(&points, &queues(&["pie", "fq-codel", "red"]));
    assert_eq!(
        said.text,
        "pie is best for the call: call MOS 3.20 ± 0.00, ping 0 % lost, RTT p95 116 ± 0 ms, at 92.0 % utilization; every other is \
         significantly worse in one of these figures (paired 95 % intervals, 2 replications). The ping is better under fq-codel: \
         0 % lost, RTT p95 65.0 ± 0.0 ms."
    );
    // With one replication no difference is significant.
    let once = [point(&[(0.92, 0.05, &pie)]), point(&[(0.92, 0.04, &fq)]), point(&[(0.93, 0.09, &red)])];
    assert!(!headline(&once, &queues(&["pie", "fq-codel", "red"])).text.contains("better under"));
}

/// A call's MOS and what a ping gets.
fn call_and_ping(mos: f64, rtt: f64) -> [Got<'static>; 2] {
    let call: &[f64] = Box::leak(Box::new([mos]));
    let ping: &[f64] = Box::leak(Box::new([0.0, rtt]));
    [("voip", Activity::Call, call, 64e3), ("echo", Activity::Ping, ping, 1e3)]
}

#[test]
fn a_full_line_with_an_unusable_call_is_not_best() {
    let (deep, short, fair) = (call_and_ping(1.34, 1.9), call_and_ping(3.9, 0.12), call_and_ping(4.2, 0.08));
    let points = [
        point(&[(0.99, 1.7, &deep), (0.99, 1.7, &deep)]),
        point(&[(0.93, 0.08, &short), (0.93, 0.08, &short)]),
        point(&[(0.87, 0.2, &fair), (0.87, 0.2, &fair)]),
    ];
    let said = headline(&points, &queues(&["cp-aqm", "codel", "fq-codel"]));
    // The first step that leaves the call usable, not the queue with the best call of all.
    assert_eq!((said.best.as_deref(), said.outside_policy.as_slice()), (Some("codel"), &["fq-codel".to_owned()][..]));
    assert!(said.policy.starts_with("utilization at least 90 % of the best"), "{}", said.policy);
    assert_eq!(
        said.text,
        "codel is best for the call and the ping: call MOS 3.90 ± 0.00, ping 0 % lost, RTT p95 120 ± 0 ms, at 93.0 % utilization; \
         the other is significantly worse (paired 95 % intervals, 2 replications). For this the policy asks for 90 % of the best \
         utilization instead of 95 %: cp-aqm uses more of the line and leaves the call unusable (MOS 1.34; usable from MOS 2.58). \
         Outside the policy (utilization at least 90 % of the best, no group below 10 % of its best goodput): fq-codel (87.0 % used)."
    );
    // Where nothing helps, the policy stands.
    let said = headline(&points[..1], &queues(&["cp-aqm"]));
    assert!(!said.text.contains("usable"), "one point is not ranked: {}", said.text);
    let worse = call_and_ping(1.2, 1.95);
    let hopeless = [points[0].clone(), point(&[(0.92, 1.0, &worse), (0.92, 1.0, &worse)])];
    let said = headline(&hopeless, &queues(&["cp-aqm", "codel"]));
    assert_eq!(said.best.as_deref(), Some("cp-aqm"));
    assert!(said.text.contains(" The call remains unusable (usable from MOS 2.58)."), "{}", said.text);
    assert!(said.policy.starts_with("utilization at least 95 %"), "{}", said.policy);
}

#[test]
fn over_several_loads_the_policy_gives_way_as_well() {
    let set = |queue, flows| vec![("link.bottleneck.queue", json!(queue)), ("traffic.0.flows", json!(flows))];
    let labels = labels(&[set("cp-aqm", 1), set("cp-aqm", 2), set("codel", 1), set("codel", 2)]);
    let (deep, short) = (call_and_ping(1.34, 1.9), call_and_ping(3.9, 0.12));
    let (full, open) = (point(&[(0.99, 1.7, &deep), (0.99, 1.7, &deep)]), point(&[(0.93, 0.08, &short), (0.93, 0.08, &short)]));
    let said = headline(&[full.clone(), full, open.clone(), open], &labels);
    assert_eq!((said.best.as_deref(), said.outside_policy.len()), (Some("codel"), 0));
    assert!(
        said.text.contains(" For this the policy asks for 90 % of the best utilization instead of 95 %: cp-aqm "),
        "{}",
        said.text
    );
}

#[test]
fn a_call_of_which_nothing_arrived_is_the_worst() {
    let dead: [Got<'_>; 1] = [("voip", Activity::Call, &[], 64e3)];
    let bad: [Got<'_>; 1] = [("voip", Activity::Call, &[1.2], 64e3)];
    let points = [point(&[(1.0, 0.001, &dead), (1.0, 0.001, &dead)]), point(&[(1.0, 0.2, &bad), (1.0, 0.2, &bad)])];
    assert_eq!(headline(&points, &queues(&["red", "pie"])).best.as_deref(), Some("pie"));
}

#[test]
fn queues_outside_the_policy_are_named_and_not_ranked() {
    let fair: [Got<'_>; 2] = [("cubic", Activity::Bulk, &[], 5e6), ("bbr", Activity::Bulk, &[], 5e6)];
    let unfair: [Got<'_>; 2] = [("cubic", Activity::Bulk, &[], 0.2e6), ("bbr", Activity::Bulk, &[], 9e6)];
    let points = [
        point(&[(0.90, 0.001, &fair), (0.90, 0.001, &fair)]),
        point(&[(1.0, 0.002, &unfair), (1.0, 0.002, &unfair)]),
        point(&[(1.0, 0.020, &fair), (1.0, 0.020, &fair)]),
    ];
    let said = headline(&points, &queues(&["red", "blue", "codel"]));
    assert_eq!(
        (said.best.as_deref(), said.outside_policy.as_slice()),
        (Some("codel"), &["red".to_owned(), "blue".to_owned()][..])
    );
    assert!(
        said.text.ends_with(
            "Outside the policy (utilization at least 95 % of the best, no group below 10 % of its best goodput): red (90.0 % used) \
             and blue (cubic gets 200 kbit/s of 5.00 Mbit/s)."
        ),
        "{}",
        said.text
    );
}

#[test]
fn one_replication_proves_nothing() {
    let points = [bulk(&[(0.999, 0.2)]), bulk(&[(0.98, 0.012)])];
    let said = headline(&points, &queues(&["tail-drop", "codel"]));
    assert!(
        said.text.ends_with("; one replication gives no confidence interval, so no difference is significant."),
        "{}",
        said.text
    );
    assert_eq!((said.best.as_deref(), said.not_significantly_different.len()), (Some("codel"), 1));
}

#[test]
fn of_two_directions_the_one_that_matters_is_named() {
    let mut results = Vec::new();
    let mut sets = Vec::new();
    for (down, down_s) in [("fq-codel", 0.0), ("codel", 0.0001)] {
        for (up, up_s) in [("cake", 0.0), ("tail-drop", 0.5)] {
            let ping: &[f64] = Box::leak(Box::new([0.0, 0.02 + down_s + up_s]));
            let got: [Got<'_>; 1] = [("echo", Activity::Ping, ping, 1e3)];
            results.push(point(&[(1.0, 0.01 + down_s, &got), (1.0, 0.01 + down_s, &got)]));
            sets.push(vec![("link.bottleneck.queue", json!(down)), ("link.bottleneck.queue_up", json!(up))]);
        }
    }
    let said = headline(&results, &labels(&sets));
    assert_eq!(said.best.as_deref(), Some("fq-codel down + cake up"));
    assert_eq!(said.not_significantly_different, ["codel down + cake up"]);
    assert!(said.text.contains("The queue down matters less: no choice there is significantly different."), "{}", said.text);
}

#[test]
fn different_loads_are_not_ranked() {
    let labels = labels(&[vec![("traffic.0.flows", json!(1))], vec![("traffic.0.flows", json!(16))]]);
    let said = headline(&[bulk(&[(0.9, 0.01)]), bulk(&[(0.99, 0.03)])], &labels);
    assert_eq!(
        said.text,
        "The 95th percentile of queueing delay of the bulk packets goes from 10.0 ms (flows=1) to 30.0 ms (flows=16), at \
         utilizations from 90.0 % to 99.0 %."
    );
    assert_eq!(said.best, None);
}

#[test]
fn queues_over_several_loads_are_counted() {
    let set = |queue, flows| vec![("link.bottleneck.queue", json!(queue)), ("traffic.0.flows", json!(flows))];
    let labels = labels(&[set("pie", 1), set("pie", 2), set("codel", 1), set("codel", 2)]);
    let points = [
        bulk(&[(0.9, 0.010), (0.9, 0.011)]),
        bulk(&[(0.9, 0.030), (0.9, 0.031)]),
        bulk(&[(0.9, 0.020), (0.9, 0.021)]),
        bulk(&[(0.9, 0.029), (0.9, 0.035)]),
    ];
    let said = headline(&points, &labels);
    assert_eq!(
        said.text,
        "Averaged over 2 settings, pie has the lowest queueing delay of the bulk packets: 95 % of them waited at most 20.5 ± 6.4 ms, at \
         90.0 % utilization; not significantly different: codel (paired 95 % intervals, 2 replications). It is best or not significantly \
         different from the best in each of them."
    );
    assert_eq!((said.best.as_deref(), said.not_significantly_different), (Some("pie"), vec!["codel".to_owned()]));
}

#[test]
fn of_two_directions_and_several_loads_the_best_pair_is_named() {
    let mut results = Vec::new();
    let mut sets = Vec::new();
    for flows in [1, 16] {
        for (down, down_s) in [("fq-codel", 0.0), ("codel", 0.0001)] {
            for (up, up_s) in [("cake", 0.0), ("tail-drop", 0.5)] {
                // Under many flows the queue down counts a little; under one flow nothing of it is
                // seen.
                let rtt = |number: f64| 0.02 + up_s + f64::from(flows) * down_s + 0.0001 * number;
                let runs: Vec<[Got<'_>; 1]> = [0.0, 1.0, 2.0]
                    .map(|number| [("echo", Activity::Ping, &*Box::leak(Box::new([0.0, rtt(number)])) as &[f64], 1e3)])
                    .to_vec();
                let runs: Vec<(f64, f64, &[Got<'_>])> = runs.iter().map(|got| (1.0, 0.01 + down_s, got.as_slice())).collect();
                results.push(point(&runs));
                sets.push(vec![
                    ("link.bottleneck.queue", json!(down)),
                    ("link.bottleneck.queue_up", json!(up)),
                    ("traffic.0.flows", json!(flows)),
                ]);
            }
        }
    }
    let said = headline(&results, &labels(&sets));
    assert_eq!(said.best.as_deref(), Some("fq-codel down + cake up"));
    assert_eq!(said.not_significantly_different, ["codel down + cake up"]);
    assert_eq!(
        said.text,
        "Averaged over 2 settings, fq-codel down + cake up is best for the ping: ping 0 % lost, RTT p95 20.1 ± 0.2 ms, at 100.0 % \
         utilization; not significantly different: codel down + cake up (paired 95 % intervals, 3 replications). It is best or not \
         significantly different from the best in each of them. The queue down matters less: no choice there is significantly different."
    );
}

#[test]
fn what_fails_the_policy_in_one_setting_is_not_best_over_all() {
    let set = |queue, flows| vec![("link.bottleneck.queue", json!(queue)), ("traffic.0.flows", json!(flows))];
    let all = labels(&[set("red", 1), set("red", 2), set("codel", 1), set("codel", 2)]);
    let points = [
        bulk(&[(0.5, 0.001), (0.5, 0.001)]),
        bulk(&[(0.99, 0.001), (0.99, 0.001)]),
        bulk(&[(0.99, 0.02), (0.99, 0.02)]),
        bulk(&[(0.99, 0.02), (0.99, 0.02)]),
    ];
    let said = headline(&points, &all);
    assert_eq!((said.best.as_deref(), said.outside_policy.as_slice()), (Some("codel"), &["red, flows=1".to_owned()][..]));
    assert!(said.text.contains("is best or not significantly different from the best in 1 of them."), "{}", said.text);
    assert!(said.text.contains(" in some setting: red (flows=1: 50.0 % used)."), "{}", said.text);
    // Each fails somewhere: nothing is named, and the settings are counted.
    let each = [points[0].clone(), points[1].clone(), points[2].clone(), bulk(&[(0.5, 0.02), (0.5, 0.02)])];
    let said = headline(&each, &all);
    assert_eq!(said.best, None);
    assert!(said.text.starts_with("No queue can be called best over all of 2 settings. "), "{}", said.text);
}

#[test]
fn a_parameter_of_the_queue_is_called_by_its_name() {
    let set = |queue, target| vec![("link.bottleneck.queue", json!(queue)), ("link.bottleneck.queue.target", json!(target))];
    let all = labels(&[set("pie", "5 ms"), set("pie", "20 ms"), set("codel", "5 ms"), set("codel", "20 ms")]);
    let points = [0.010, 0.010, 0.030, 0.030].map(|p95| bulk(&[(0.9, p95), (0.9, p95)]));
    let said = headline(&points, &all);
    assert!(said.text.contains(" Target matters less: no choice there is significantly different."), "{}", said.text);
}

#[test]
fn nothing_finished_and_a_single_point() {
    let none = PointResult { summary: None, runs: Vec::new(), cdfs: Vec::new(), rtt_cdfs: Vec::new(), series: Vec::new() };
    assert!(headline(&[none], &queues(&["codel"])).text.starts_with("No run finished"));
    let said = headline(&[bulk(&[(0.9, 0.0005)])], &labels(&[Vec::new()]));
    assert_eq!(
        said.text,
        "At bottleneck, 95 % of the bulk packets waited at most 500 µs, and the link was 90.0 % used; one replication gives no \
         confidence interval."
    );
}
