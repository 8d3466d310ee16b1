use super::*;
use crate::scenario::build;
use crate::scenario::plan::Plan;
use goodqueue_sim::{Continue, World};
use std::path::Path;

fn point(traffic: &str) -> Point {
    let text = format!(
        "goodqueue = 1\nduration = \"4 s\"\n[link.line]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"100 ms\"\n{traffic}"
    );
    let plan = Plan::parse("test", &text, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()));
    plan.points().expect("a point").remove(0)
}

fn experience(point: &Point) -> Vec<GroupExperience> {
    let outcome = World::new(&build::world(point, 0)).expect("a world").run(&mut |_| Continue::Yes);
    GroupExperience::of(point, &RunFigures::of(&outcome, point.plan.duration, &point.plan.base_rtts()))
}

fn value(group: &GroupExperience, name: &str) -> Option<f64> {
    let place = group.activity.metrics().iter().position(|metric| metric.about.name == name);
    group.values[place.unwrap_or_else(|| panic!("{} has no {name}", group.activity.name()))]
}

#[test]
fn every_kind_of_traffic_is_some_activity() {
    let kind = |text: &str| {
        let point = point(&format!("[[traffic]]\n{text}"));
        Activity::of(&point.plan.traffic[0])
    };
    let expected = [
        ("kind = \"voip\"", Activity::Call),
        ("kind = \"gaming\"", Activity::Game),
        ("kind = \"echo\"", Activity::Ping),
        ("kind = \"page\"", Activity::Page),
        ("kind = \"video\"", Activity::Video),
        ("kind = \"web\"\nrate = 1", Activity::Transfer),
        ("kind = \"short\"\nsize = \"64 kB\"\ninterval = \"1 s\"", Activity::Transfer),
        ("kind = \"bulk-with-pauses\"", Activity::Transfer),
        ("kind = \"bulk\"\nsize = \"1 MB\"", Activity::Transfer),
        ("kind = \"bulk\"", Activity::Bulk),
        ("kind = \"cbr\"\nrate = \"1 Mbit/s\"", Activity::Stream),
        ("kind = \"video-frames\"", Activity::Stream),
    ];
    for (text, activity) in expected {
        assert_eq!(kind(text), activity, "{text}");
    }
}

#[test]
fn names_are_distinct_and_every_deciding_figure_has_a_direction() {
    for activity in Activity::ALL {
        let mut names: Vec<&str> = activity.metrics().iter().map(|metric| metric.about.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(activity.deciding().all(|(_, metric)| metric.about.better != Better::Neither && metric.about.printed.is_some()));
    }
    let interactive: Vec<bool> = Activity::ALL.map(Activity::is_interactive).to_vec();
    assert_eq!(interactive, [true, true, true, true, true, true, false, false]);
}

#[test]
fn a_full_buffer_is_felt_by_the_ping_and_the_call() {
    let traffic = "[[traffic]]\nkind = \"bulk\"\nflows = 3\n[[traffic]]\nkind = \"voip\"\n[[traffic]]\nkind = \"echo\"\n";
    let point = point(traffic);
    let groups = experience(&point);
    let [bulk, call, ping] = groups.as_slice() else { panic!("three groups") };
    // 100 ms of buffer and a round trip of 20 ms.
    let p99 = value(ping, "rtt_s.p99").expect("answers came");
    assert!((0.10..0.125).contains(&p99), "{p99}");
    let above = value(ping, "above_50_ms_ratio").expect("answers came");
    assert!(above > 0.8 && above <= 1.0, "{above}");
    let mos = value(call, "mos").expect("a call");
    assert!((3.0..4.4).contains(&mos), "{mos}");
    let share = value(bulk, "share_of_line").expect("the line is reported");
    assert!((0.98..1.0).contains(&share), "{share}");
    let jain = value(bulk, "jain").expect("three flows");
    assert!((1.0 / 3.0..=1.0).contains(&jain), "{jain}");
    assert_eq!(value(call, "loss_ratio").map(|lost| (0.0..0.2).contains(&lost)), Some(true));
}

#[test]
fn margins_are_absolute_or_parts_of_the_better_value() {
    assert_eq!(Margin::Absolute(0.1).around(4.3), 0.1);
    assert_eq!(Margin::Relative(0.1).around(0.02), 0.002);
    let [mos, rtt] = [&CALL[1].about, &PING[2].about];
    assert!(advantage(mos, 4.3, 3.1) > 0.0 && advantage(rtt, 0.02, 0.2) > 0.0);
}

#[test]
fn sessions_that_do_not_end_take_the_measured_part() {
    let point = point("[[traffic]]\nkind = \"short\"\nsize = \"9 MB\"\ninterval = \"1 s\"\n");
    assert_eq!(value(&experience(&point)[0], "completion_s.p95"), Some(4.0));
}

#[test]
fn what_nobody_waits_for_is_no_experience() {
    let point = point("[[traffic]]\nkind = \"echo\"\n[[traffic]]\nkind = \"bulk\"\nbackground = true\n");
    assert_eq!(experience(&point).iter().map(|group| group.activity).collect::<Vec<_>>(), [Activity::Ping]);
}
