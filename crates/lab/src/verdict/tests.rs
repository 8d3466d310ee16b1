use super::*;
use crate::results::experience::{Activity, GroupExperience};
use crate::results::metrics::{LINK_METRICS, LinkFigures};
use crate::scenario::plan::Plan;
use serde_json::{Value, json};
use std::path::Path;

const LINK: &str = "bottleneck";
/// The averages of a queue: the call's opinion score; the ping's late share and 95th percentile, s;
/// the goodput of downloads, bit/s; the utilization of the line.
type Means = (f64, f64, f64, f64, f64);

fn link(used: f64, p95: f64) -> LinkFigures {
    let value = |name: &str| match name {
        "utilization" => Some(used),
        "sojourn_s.p95" => Some(p95),
        "sojourn_s.mean" => Some(p95 / 2.0),
        _ => None,
    };
    let values = LINK_METRICS.iter().map(|metric| value(metric.about.name)).collect();
    LinkFigures { name: LINK.to_owned(), values, group_share: vec![Some(1.0)] }
}

fn group(name: &str, activity: Activity, deciding: &[f64], goodput: f64) -> GroupExperience {
    let mut values = vec![None; activity.metrics().len()];
    for ((place, _), value) in activity.deciding().zip(deciding) {
        values[place] = Some(*value);
    }
    let median = activity.metrics().iter().position(|metric| metric.about.name == "rtt_s.p50");
    if let Some(median) = median {
        values[median] = deciding.last().map(|p95| p95 * 0.99);
    }
    GroupExperience {
        group: name.to_owned(),
        activity,
        heading: Direction::Down,
        is_l4s: false,
        base_rtt_s: 0.02,
        values,
        goodput_bit_s: Some(goodput),
    }
}

fn run(number: u32, used: f64, p95: f64, experience: Vec<GroupExperience>) -> Replication {
    let links = vec![link(used, p95)];
    Replication { number, links, experience, groups: Vec::new(), jain: Vec::new(), goodput_bit_s: 0.0 }
}

fn point(runs: Vec<Replication>) -> PointResult {
    PointResult { summary: None, runs, cdfs: Vec::new(), rtt_cdfs: Vec::new(), series: Vec::new() }
}

/// Five replications around means, all queues with the same luck in each.
fn queue((mos, late, rtt, goodput, used): Means) -> PointResult {
    let luck = [0.0, 1.0, -1.0, 0.5, -0.5];
    let one = |(number, luck): (u32, f64)| {
        let groups = vec![
            group("call", Activity::Call, &[(3.6 - mos).clamp(0.0, 1.0), mos + 0.01 * luck], 64e3),
            group("ping", Activity::Ping, &[(late * (1.0 + 0.05 * luck)).min(1.0), rtt * (1.0 + 0.01 * luck)], 7e3),
            group("bulk", Activity::Bulk, &[], goodput * (1.0 + 0.002 * luck)),
        ];
        run(number, used, rtt, groups)
    };
    point((0..).zip(luck).map(one).collect())
}

fn bulk(goodput: f64, p95: f64) -> PointResult {
    let luck = [0.0, 1.0, -1.0];
    let one = |(number, luck): (u32, f64)| {
        run(number, 0.99, p95 * (1.0 + 0.01 * luck), vec![group("bulk", Activity::Bulk, &[], goodput)])
    };
    point((0..).zip(luck).map(one).collect())
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

fn judged(results: &[PointResult], labels: &Labels, policy: &str) -> Headline {
    let text = "goodqueue = 1\nduration = \"1 s\"\n[link.bottleneck]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"9 kB\"\n\
                [[traffic]]\nkind = \"bulk\"\n";
    let points = Plan::parse("test", text, Path::new("")).expect("a plan").points().expect("a point");
    let policy = if policy.is_empty() { Policy::default() } else { Policy::parse(policy).expect("a policy") };
    Headline::of(&points, results, labels, &Criteria { policy, ..Criteria::default() })
}

fn headline(queues_of: &[(&str, Means)]) -> Headline {
    let names: Vec<&str> = queues_of.iter().map(|(name, _)| *name).collect();
    let results: Vec<PointResult> = queues_of.iter().map(|(_, means)| queue(*means)).collect();
    judged(&results, &queues(&names), "")
}

const TAIL: Means = (3.65, 0.6, 0.219, 9.5e6, 1.0);
const FQ: Means = (4.33, 0.0, 0.0214, 9.4e6, 0.99);
const PIE: Means = (3.15, 0.122, 0.043, 9.4e6, 0.99);

#[test]
fn two_sentences_say_what_to_do_and_what_changes() {
    let said = headline(&[("tail-drop", TAIL), ("pie", PIE), ("fq-codel", FQ)]);
    let (sentences, details) = said.text.split_once("\n\n").expect("details after a blank line");
    assert_eq!(
        sentences,
        "Use fq-codel. Compared with tail-drop, calls are clear instead of fair and pings nearly always return within 21 instead of \
         220 ms."
    );
    assert!(details.contains("Every other queue is significantly worse (paired 95 % intervals, 5 replications)."), "{details}");
    assert!(details.contains("Latency added under load: tail-drop 200 ms, pie 23 ms, fq-codel 1.2 ms."), "{details}");
    assert_eq!(said.price, "It leaves 1 % of the line unused (tail-drop 0 %).");
    assert_eq!((said.best.as_deref(), said.not_significantly_different, said.unusable), (Some("fq-codel"), vec![], vec![]));
}

/// Lines on which utilization as a gate named the wrong queue, and the queue to be named.
#[test]
fn people_come_before_utilization() {
    let lines: &[(&str, &[(&str, Means)])] = &[
        // A recorded LTE link.
        (
            "fq-codel",
            &[
                ("tail-drop", (1.0, 0.99, 3.71, 9e6, 1.0)),
                ("pie", (1.2, 0.23, 0.28, 7e6, 0.8)),
                ("fq-codel", (2.47, 0.1, 0.284, 6.9e6, 0.75)),
            ],
        ),
        // 5 Mbit/s, 200 ms.
        ("fq-codel", &[("cp-aqm", (2.64, 0.99, 0.692, 4.9e6, 0.99)), ("fq-codel", (4.33, 0.0, 0.203, 3.9e6, 0.79))]),
        // 1 Mbit/s without fair queues.
        (
            "pie",
            &[
                ("tail-drop", (2.0, 1.0, 1.037, 1e6, 1.0)),
                ("codel", (2.0, 0.2, 0.117, 0.96e6, 0.97)),
                ("pie", (2.0, 0.21, 0.083, 0.95e6, 0.96)),
            ],
        ),
    ];
    for (expected, queues) in lines {
        let said = headline(queues);
        assert_eq!(said.best.as_deref(), Some(*expected), "{}", said.text);
    }
}

#[test]
fn twins_are_equal_and_the_wider_deployed_is_named() {
    let nearly = (4.335, 0.0, 0.0216, 9.35e6, 0.985);
    let said = headline(&[("cake", nearly), ("tail-drop", TAIL), ("fq-codel", FQ)]);
    assert_eq!((said.best.as_deref(), said.not_significantly_different.as_slice()), (Some("fq-codel"), &["cake".to_owned()][..]));
    assert!(said.text.starts_with("Use fq-codel (cake does as well; choose whichever is easier to set)."), "{}", said.text);
}

#[test]
fn order_of_input_and_a_worse_queue_change_no_name() {
    let all = [("tail-drop", TAIL), ("pie", PIE), ("fq-codel", FQ), ("cake", FQ), ("ared", PIE)];
    let best = headline(&all).best;
    for shift in 1..all.len() {
        let mut turned = all;
        turned.rotate_left(shift);
        assert_eq!(headline(&turned).best, best);
    }
    let worse = [&all[..], &[("red", (1.0, 1.0, 4.0, 1e6, 0.5))]].concat();
    assert_eq!(headline(&worse).best, best);
}

#[test]
fn equal_queues_under_two_labels_are_equal() {
    let (a, b) = (json!({"kind": "fq-codel", "target": "5 ms"}), json!({"kind": "fq-codel", "target": "5.0 ms"}));
    let labels = labels(&[vec![("link.bottleneck.queue", a)], vec![("link.bottleneck.queue", b)]]);
    let said = judged(&[queue(FQ), queue(FQ)], &labels, "");
    assert_eq!(said.not_significantly_different.len(), 1, "{}", said.text);
    assert!(said.text.contains("does as well"), "{}", said.text);
}

#[test]
fn tail_drop_that_is_as_good_means_leave_it() {
    let said = headline(&[("tail-drop", (4.32, 0.0, 0.0235, 9.5e6, 1.0)), ("fq-codel", FQ)]);
    assert_eq!(said.best.as_deref(), Some("tail-drop"));
    let sentences = said.text.split("\n\n").next().expect("sentences");
    assert_eq!(
        sentences,
        "Leave it as it is: no queue does noticeably better than tail-drop here. Calls are clear and pings nearly always return \
         within 24 ms."
    );
}

#[test]
fn nothing_is_called_good_that_is_unusable() {
    let said = headline(&[("tail-drop", (1.0, 0.99, 3.0, 9e6, 1.0)), ("codel", (1.5, 0.2, 0.2, 8e6, 0.9))]);
    assert!(said.text.starts_with("No queue makes this line carry a call; codel is the least bad overall."), "{}", said.text);
    assert_eq!(said.unusable, ["call"]);
}

#[test]
fn calls_that_are_clear_leave_the_choice_to_the_ping() {
    // A call of 4.08 is as clear as one of 4.33, and the ping waits a third of the time.
    let said = headline(&[
        ("tail-drop", (4.33, 0.0, 0.0995, 9.6e6, 1.0)),
        ("codel", (4.08, 0.0, 0.036, 9.5e6, 0.99)),
        ("pie", (4.18, 0.0, 0.041, 9.5e6, 0.99)),
    ]);
    assert_eq!((said.best.as_deref(), said.not_significantly_different.as_slice()), (Some("pie"), &["codel".to_owned()][..]));
}

#[test]
fn tail_drop_is_not_named_for_a_call_that_is_only_just_clear() {
    let call = |mos| {
        let groups = vec![group("call", Activity::Call, &[0.0, mos], 64e3)];
        point((0..3).map(|number| run(number, 1.0, 0.2, groups.clone())).collect())
    };
    let said = judged(&[call(4.05), call(4.33)], &queues(&["tail-drop", "fq-codel"]), "");
    assert_eq!(said.best.as_deref(), Some("fq-codel"), "{}", said.text);
}

#[test]
fn calls_of_like_score_are_told_by_their_bad_share() {
    let call = |bad, mos| {
        let groups = vec![group("call", Activity::Call, &[bad, mos], 64e3)];
        point((0..3).map(|number| run(number, 1.0, 0.2, groups.clone())).collect())
    };
    let said = |old, new| judged(&[call(0.43, old), call(0.14, new)], &queues(&["pie", "fq-codel"]), "").text;
    let share = said(3.7, 3.75);
    assert!(share.starts_with("Use fq-codel. Compared with pie, calls are bad 14 instead of 43 % of the time.\n"), "{share}");
    let score = said(3.07, 3.92);
    assert!(score.starts_with("Use fq-codel. Compared with pie, calls are poor instead of unusable.\n"), "{score}");
}

#[test]
fn loss_of_goodput_is_said() {
    let said = headline(&[("tail-drop", TAIL), ("fq-codel", (4.33, 0.0, 0.0214, 6.9e6, 0.75))]);
    assert_eq!(
        said.price,
        "It leaves 25 % of the line unused (tail-drop 0 %); downloads get 6.9 instead of 9.5 Mbit/s under tail-drop."
    );
    assert!(said.text.contains(", but downloads get 6.9 instead of 9.5 Mbit/s."), "{}", said.text);
}

#[test]
fn policy_excludes_only_significantly_lower_points() {
    let all = [queue(TAIL), queue((4.33, 0.0, 0.0214, 6.9e6, 0.75)), queue((4.32, 0.0, 0.022, 9.4e6, 0.94))];
    let labels = queues(&["tail-drop", "cake", "fq-codel"]);
    let said = judged(&all, &labels, "of_best=0.9");
    assert_eq!((said.best.as_deref(), said.outside_policy.as_slice()), (Some("fq-codel"), &["cake".to_owned()][..]));
    assert!(
        said.text.contains("Not ranked, since the policy asks for utilization at least 90 % of the best: cake (75.0 % used).")
    );
    let nobody = judged(&all, &labels, "target_max=1ms");
    assert_eq!((nobody.best, nobody.outside_policy.len()), (None, 3));
    assert!(nobody.text.starts_with("No queue satisfies the policy (mean queueing delay at most 1 ms): "), "{}", nobody.text);
}

#[test]
fn bulk_delay_decides_without_interactive_groups() {
    let points = [bulk(9.5e6, 0.2), bulk(9.3e6, 0.012), bulk(6.0e6, 0.003)];
    let said = judged(&points, &queues(&["tail-drop", "codel", "pie"]), "");
    assert_eq!(said.best.as_deref(), Some("codel"), "{}", said.text);
    assert!(said.text.contains("packets nearly always wait at most 12 instead of 200 ms"), "{}", said.text);
    let fair = judged(&points, &queues(&["tail-drop", "codel", "fq-codel"]), "");
    assert!(fair.text.contains("Nobody waits here"), "{}", fair.text);
}

#[test]
fn one_run_gives_no_certainty() {
    let one = |means| PointResult { runs: queue(means).runs.into_iter().take(1).collect(), ..queue(means) };
    let said = judged(&[one(TAIL), one(FQ)], &queues(&["tail-drop", "fq-codel"]), "");
    assert_eq!(said.best.as_deref(), Some("fq-codel"));
    assert!(said.text.contains("One run of each: a difference may be luck."), "{}", said.text);
}

#[test]
fn settings_count_each_and_figures_are_averages() {
    let set = |queue: &str, flows: u32| vec![("link.bottleneck.queue", json!(queue)), ("traffic.bulk.flows", json!(flows))];
    let labels = labels(&[set("codel", 1), set("codel", 16), set("fq-codel", 1), set("fq-codel", 16)]);
    // One is better with few flows, the other with many, where it matters.
    let results = [queue(FQ), queue(PIE), queue((4.2, 0.0, 0.08, 9.4e6, 0.99)), queue(FQ)];
    let said = judged(&results, &labels, "");
    assert_eq!(said.best.as_deref(), Some("fq-codel"), "{}", said.text);
    assert!(said.text.contains("averages over 2 settings; it is among the best in 1 of them"), "{}", said.text);
}

#[test]
fn points_without_queues_have_a_range_and_no_verdict() {
    let set = |flows: u32| vec![("traffic.bulk.flows", json!(flows))];
    let said = judged(&[queue(FQ), queue(TAIL)], &labels(&[set(1), set(16)]), "");
    assert_eq!(said.best, None);
    assert!(said.text.ends_with("\n\nCall MOS goes from 3.65 (flows=16) to 4.33 (flows=1)."), "{}", said.text);
}

#[test]
fn one_point_is_described() {
    let said = judged(&[queue(FQ)], &labels(&[vec![]]), "");
    assert!(
        said.text.starts_with("Calls are clear and pings nearly always return within 21 ms. 99.0 % of the line is used."),
        "{}",
        said.text
    );
}

#[test]
fn a_call_without_figures_is_not_judged() {
    let with = |p95: f64| {
        let groups = vec![group("call", Activity::Call, &[], 1e4), group("bulk", Activity::Bulk, &[], 9e6)];
        point((0..3).map(|number| run(number, 1.0, p95, groups.clone())).collect())
    };
    let alone = judged(&[with(0.02)], &labels(&[vec![]]), "");
    assert!(alone.text.starts_with("Downloads get 9.0 Mbit/s. 100.0 % of the line is used."), "{}", alone.text);
    let all = judged(&[with(0.4), with(0.01)], &queues(&["tail-drop", "fq-codel"]), "");
    for said in [alone, all] {
        assert!(said.text.ends_with("\nNot judged, since these runs have no figures of it: call."), "{}", said.text);
    }
}

#[test]
fn what_waits_in_two_directions_is_no_sum() {
    let both = |waits: [Option<f64>; 2]| {
        let links = waits.map(|wait| rule::LinkUse { wait_p95_s: wait, ..LinkUse::default() }).to_vec();
        rule::Key::wait().value(&Sample { number: 0, groups: &[], links })
    };
    assert_eq!(both([Some(0.05), Some(0.09)]), Some(0.09));
    assert_eq!((both([Some(0.05), None]), both([None, None])), (Some(0.05), None));
}

#[test]
fn what_classes_leave_unused_is_not_the_lines() {
    let text = "goodqueue = 1\nduration = \"1 s\"\n[link.bottleneck]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\nbuffer = \"9 kB\"\n\
                queue = { kind = \"htb\", class.a = { rate = \"100 Mbit/s\", default = true } }\n[[traffic]]\nkind = \"bulk\"\n";
    let points = Plan::parse("test", text, Path::new("")).expect("a plan").points().expect("a point");
    let runs = (0..3).map(|number| run(number, 0.098, 0.02, vec![group("bulk", Activity::Bulk, &[], 9e7)])).collect();
    let said = Headline::of(&points, &[point(runs)], &labels(&[vec![]]), &Criteria::default());
    assert!(said.text.contains(" 98.0 % of the 100 Mbit/s of the classes of the line is used."), "{}", said.text);
}

#[test]
fn distance_is_not_graded() {
    let far = |p95: f64| {
        let game = GroupExperience { base_rtt_s: 0.6, ..group("game", Activity::Game, &[0.0, p95], 1e5) };
        point((0..3).map(|number| run(number, 1.0, 0.1, vec![game.clone()])).collect())
    };
    let said = judged(&[far(0.32), far(0.9)], &queues(&["fq-codel", "tail-drop"]), "");
    assert_eq!(said.grades[0].grades, [("game", Grade::Good)]);
    assert_eq!(said.grades[1].grades, [("game", Grade::Unusable)]);
}

#[test]
fn l4s_pings_decide_on_their_own() {
    let with = |classic: f64, l4s: f64| {
        let fast = GroupExperience { is_l4s: true, ..group("l4s", Activity::Ping, &[0.0, l4s], 7e3) };
        let groups = vec![group("ping", Activity::Ping, &[0.0, classic], 7e3), fast];
        point((0..3).map(|number| run(number, 1.0, 0.02, groups.clone())).collect())
    };
    let said = judged(&[with(0.04, 0.021), with(0.04, 0.041)], &queues(&["dualpi2", "pie"]), "");
    assert_eq!(said.best.as_deref(), Some("dualpi2"), "{}", said.text);
    assert!(said.text.contains("L4S pings nearly always return within 21 instead of 41 ms"), "{}", said.text);
}

#[test]
fn keys_that_are_looked_up_exist() {
    assert_eq!(rule::Key::wait().about.name, "sojourn_s.p95");
    let bulk = [group("bulk", Activity::Bulk, &[], 1.0)];
    assert_eq!(rule::Key::all(&bulk).iter().map(rule::Key::who).collect::<Vec<_>>(), ["downloads", "packets"]);
}

#[test]
fn settings_with_the_same_seeds_are_no_samples_of_their_own() {
    // What the first setting gains by luck, the second one loses.
    let runs = || [Some(vec![0.0, 1.0]), None, Some(vec![1.0, 0.0]), Some(vec![0.5, 0.5])].into_iter();
    let [shared, own] = [rule::Seeds::Shared, rule::Seeds::Own].map(|seeds| seeds.figure(runs()));
    assert_eq!((shared.mean, shared.ci95, shared.n), (Some(0.5), Some(0.0), 3));
    // Variances of the means of 1/12 with two degrees of freedom each: four for both.
    let half = crate::results::statistics::student_t_975(4) * (2.0_f64 / 12.0).sqrt() / 2.0;
    assert!(own.mean == Some(0.5) && own.n == 3 && (own.ci95.unwrap_or_default() - half).abs() < 1e-12, "{own:?}");
}
