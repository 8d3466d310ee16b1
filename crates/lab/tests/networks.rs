//! Networks of several links, from the text of a scenario to figures.

use goodqueue_base::units::Duration;
use goodqueue_lab::results::metrics::RunFigures;
use goodqueue_lab::scenario::plan::{Direction, Plan, Point};
use goodqueue_lab::scenario::{build, lint};
use goodqueue_sim::{Continue, World};
use std::fs;
use std::path::Path;

fn point(text: &str) -> Point {
    let text = format!("goodqueue = 1\nwarmup = \"5 s\"\nduration = \"20 s\"\n{text}");
    let plan = Plan::parse("scenario.toml", &text, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()));
    plan.points().expect("one point").remove(0)
}

fn run(point: &Point) -> RunFigures {
    let outcome = World::new(&build::world(point, 0)).expect("a world").run(&mut |_| Continue::Yes);
    RunFigures::of(&outcome, point.plan.duration, &point.plan.base_rtts())
}

fn goodput(figures: &RunFigures, group: &str) -> f64 {
    let group = figures.groups.iter().find(|known| known.name == group).expect("a group");
    group.value("goodput_bit_s").expect("goodput")
}

/// `from-to` for each link of a group's way, backwards ones in parentheses.
fn way(point: &Point, group: usize) -> String {
    let path = &point.plan.traffic[group].main.path;
    let shown = |steps: &[goodqueue_lab::scenario::plan::Step]| {
        let names: Vec<String> = steps
            .iter()
            .map(|step| {
                let name = point.plan.links[step.link].name.clone();
                if step.heading == Direction::Up { format!("({name})") } else { name }
            })
            .collect();
        names.join(" ")
    };
    format!("{} | {}", shown(&path.forward), shown(&path.reverse))
}

const SQUARE: &str = "[link]\n\
    ab = { from = \"a\", to = \"b\", rate = \"10 Mbit/s\", delay = \"1 ms\", buffer = \"1 bdp\" }\n\
    bc = { from = \"b\", to = \"c\", rate = \"10 Mbit/s\", delay = \"2 ms\", buffer = \"1 bdp\" }\n\
    cd = { from = \"c\", to = \"d\", rate = \"10 Mbit/s\", delay = \"4 ms\", buffer = \"1 bdp\" }\n\
    da = { from = \"d\", to = \"a\", rate = \"10 Mbit/s\", delay = \"8 ms\", buffer = \"1 bdp\", one_way = true }\n";

#[test]
fn a_path_takes_the_fewest_links_between_the_nodes_it_names() {
    let bulk = |keys: &str| format!("{SQUARE}[[traffic]]\nkind = \"bulk\"\n{keys}");
    let cases = [
        ("path = [\"a\", \"b\"]", "ab | (ab)"),
        ("path = [\"a\", \"c\"]", "ab bc | (bc) (ab)"),
        ("path = [\"a\", \"d\"]", "ab bc cd | (cd) (bc) (ab)"),
        ("path = [\"d\", \"c\", \"b\", \"a\"]", "(cd) (bc) (ab) | ab bc cd"),
        ("path = [\"d\", \"a\"]\nreturn_path = [\"a\", \"d\"]", "da | ab bc cd"),
        ("path = [\"d\", \"a\"]\nreturn_path = [\"a\", \"d\"]\ndirection = \"up\"", "ab bc cd | da"),
        ("path = [\"c\", \"b\"]\ndirection = \"up\"", "bc | (bc)"),
    ];
    for (keys, expected) in cases {
        assert_eq!(way(&point(&bulk(keys)), 0), expected, "{keys}");
    }
}

#[test]
fn buffer_in_round_trips_follows_the_longest_path() {
    let text = format!(
        "{SQUARE}[[traffic]]\nkind = \"bulk\"\npath = [\"a\", \"d\"]\n[[traffic]]\nkind = \"bulk\"\npath = [\"c\", \"d\"]\nrtt_extra = \"20 ms\"\n"
    );
    let plan = point(&text).plan;
    // Access links add 0.4 ms to each round trip.
    let rtts: Vec<Duration> = plan.traffic.iter().map(|group| plan.rtt_of(group)).collect();
    assert_eq!(rtts, [Duration::us(14_400), Duration::us(28_400)]);
    let held: Vec<u64> = plan.links.iter().map(|link| link.down.queue.as_ref().expect("a queue").limit.bytes.get()).collect();
    // Nothing crosses the last link: its own two delays and those of the access links.
    assert_eq!(held, [18_000, 18_000, 35_500, 20_500]);
}

#[test]
fn over_fair_queues_each_flow_gets_its_max_min_fair_share() {
    // The long flow meets one flow at the first link and three at the second.
    let text = "[link]\n\
        one = { from = \"a\", to = \"b\", rate = \"12 Mbit/s\", delay = \"2 ms\", buffer = \"100 packets\", queue = \"fq-codel\" }\n\
        two = { from = \"b\", to = \"c\", rate = \"12 Mbit/s\", delay = \"2 ms\", buffer = \"100 packets\", queue = \"fq-codel\" }\n\
        [[traffic]]\nname = \"long\"\nkind = \"bulk\"\npath = [\"a\", \"c\"]\n\
        [[traffic]]\nname = \"first\"\nkind = \"bulk\"\npath = [\"a\", \"b\"]\n\
        [[traffic]]\nname = \"second\"\nkind = \"bulk\"\nflows = 3\npath = [\"b\", \"c\"]\n";
    let figures = run(&point(text));
    let payload = 1448.0 / 1500.0;
    for (group, share) in [("long", 3e6), ("first", 9e6), ("second", 9e6)] {
        let measured = goodput(&figures, group) / (share * payload);
        assert!((measured - 1.0).abs() < 0.05, "{group}: {measured:.3} of its share");
    }
    let names: Vec<&str> = figures.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
}

/// A home router with CoDel before a modem with 256 kB.
fn modem(router: &str, flow_control: &str) -> Point {
    point(&format!(
        "[link.router]\nfrom = \"home\"\nto = \"modem\"\nrate = \"1 Gbit/s\"\ndelay = \"10 us\"\nbuffer = \"1000 packets\"\n\
         queue = {router}\n[link.modem]\nfrom = \"modem\"\nto = \"isp\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         buffer = \"256 kB\"\nflow_control = \"{flow_control}\"\n[[traffic]]\nkind = \"bulk\"\nflows = 4\npath = [\"home\", \"isp\"]\n"
    ))
}

#[test]
fn a_hidden_queue_is_emptied_by_shaping_or_by_flow_control() {
    let shaper = "{ kind = \"shaper\", rate = \"9.5 Mbit/s\", of = \"codel\" }";
    // (settings, least utilization of the modem's link, least and most p95 sojourn there in ms)
    let cases = [
        (modem("\"codel\"", "none"), 0.999, 150.0, 205.0),
        (modem("\"codel\"", "2 packets"), 0.999, 0.0, 5.0),
        (modem(shaper, "none"), 0.945, 0.0, 1.3),
    ];
    for (point, least_used, least, most) in cases {
        let figures = run(&point);
        let modem = figures.links.iter().find(|link| link.name == "modem").expect("the modem");
        let used = modem.value("utilization").expect("a figure");
        let p95_ms = modem.value("sojourn_s.p95").expect("a figure") * 1e3;
        assert!(used >= least_used, "{used}");
        assert!((least..=most).contains(&p95_ms), "{p95_ms} ms is not within {least} to {most}");
    }
}

#[test]
fn a_managed_queue_before_a_slower_link_is_warned_of() {
    let messages = |point: &Point| lint::warnings(point).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let hidden = messages(&modem("\"codel\"", "none"));
    assert!(hidden.contains("link.router.queue: the slower link `modem` comes behind it"), "{hidden}");
    assert!(!messages(&modem("\"codel\"", "2 packets")).contains("comes behind it"));
    assert!(!messages(&modem("\"tail-drop\"", "none")).contains("comes behind it"));
}

#[test]
fn both_directions_of_a_link_follow_recordings_of_their_own() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("networks-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    // One packet every 2 ms down, every 5 ms up.
    fs::write(folder.join("down"), "2\n").expect("a recording");
    fs::write(folder.join("up"), "5\n").expect("a recording");
    let text = "goodqueue = 1\nwarmup = \"2 s\"\nduration = \"10 s\"\n[link.lte]\nrate = { trace = \"down\" }\n\
        rate_up = { trace = \"up\" }\ndelay = \"20 ms\"\nbuffer = \"100 packets\"\nbuffer_up = \"100 packets\"\n\
        [[traffic]]\nkind = \"cbr\"\nrate = \"20 Mbit/s\"\n[[traffic]]\nkind = \"cbr\"\nrate = \"20 Mbit/s\"\ndirection = \"up\"\n";
    let plan = Plan::parse("scenario.toml", text, &folder).unwrap_or_else(|error| panic!("{}", error.text()));
    fs::remove_dir_all(&folder).expect("the folder");
    let figures = run(&plan.points().expect("one point")[0]);
    for (group, rate) in [("cbr", 6e6), ("cbr-2", 2.4e6)] {
        let measured = goodput(&figures, group) / rate;
        assert!((measured - 1.0).abs() < 0.001, "{group}: {measured}");
    }
}

/// Transfers of a list take the ways that the list says, under its controls, and their completion
/// is measured.
#[test]
fn a_list_of_flows_is_played_over_its_paths() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("flow-list-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for test files");
    let list = "start,size,control,path\n3 s,100 kB,reno,a > b\n1 s,100 kB,,a>b\n2 s,100 kB,,\n1 s,20 MB,bbr,b > c\n";
    fs::write(folder.join("flows.csv"), list).expect("a list");
    let text = "goodqueue = 1\nduration = \"10 s\"\n[link]\n\
        ab = { from = \"a\", to = \"b\", rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"1 bdp\" }\n\
        bc = { from = \"b\", to = \"c\", rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"1 bdp\" }\n\
        [[traffic]]\nkind = \"flow-list\"\nfile = \"flows.csv\"\npath = [\"a\", \"c\"]\n";
    let plan = Plan::parse("test", text, &folder).unwrap_or_else(|error| panic!("{}", error.text()));
    let point = plan.points().expect("good").remove(0);
    let ways: Vec<String> = point.plan.traffic[0]
        .parts()
        .map(|part| part.path.forward.iter().map(|step| point.plan.links[step.link].name.as_str()).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(ways, ["ab", "ab", "ab bc", "bc"]);
    let figures = run(&point);
    let value = |name: &str| figures.groups[0].value(name);
    assert_eq!(value("transfers.begun"), Some(4.0));
    assert_eq!(value("completed_flows"), Some(3.0), "20 MB take longer than the run");
    // A handshake, then 72 segments in 5 round trips of 10.4 ms or more and 80 ms of transmission.
    let median = value("completion_by_size.from_100_kB.p50").expect("three are complete");
    assert!((0.09..0.25).contains(&median), "{median}");
    let hash = plan.sha256();
    fs::write(folder.join("flows.csv"), list.replace("3 s", "4 s")).expect("a list");
    let other = Plan::parse("test", text, &folder).unwrap_or_else(|error| panic!("{}", error.text()));
    assert_ne!(hash, other.sha256(), "the list is part of the scenario");
    fs::remove_dir_all(&folder).expect("the test folder");
}
