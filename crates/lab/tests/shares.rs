//! Shares are parts of a whole: no figure that is one exceeds 1, whatever the scenario.

use goodqueue_base::units::Rng;
use goodqueue_lab::results::metrics::{GROUP_METRICS, LINK_METRICS, Quantity, RunFigures};
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::{Plan, Point};
use goodqueue_sim::{Continue, Outcome, World};
use std::path::Path;

fn point(text: &str, folder: &Path) -> Point {
    let plan = Plan::parse("scenario.toml", text, folder).unwrap_or_else(|error| panic!("{}\n{text}", error.text()));
    plan.points().expect("one point").remove(0)
}

fn run(point: &Point) -> (Outcome, RunFigures) {
    let outcome = World::new(&build::world(point, 0)).expect("a world").run(&mut |_| Continue::Yes);
    let figures = RunFigures::of(&outcome, point.plan.duration, &point.plan.base_rtts());
    (outcome, figures)
}

/// One of these.
fn pick<'a>(rng: &mut Rng, all: &[&'a str]) -> &'a str {
    all[(rng.next_u64() % all.len() as u64) as usize]
}

/// A link with its keys, whichever of them go together.
fn link(rng: &mut Rng, number: usize, is_last: bool) -> String {
    let rate = pick(rng, &["1 Mbit/s", "5 Mbit/s", "20 Mbit/s", "STEPS", "TRACE"]);
    let queue = pick(rng, &["tail-drop", "codel", "fq-codel", "pie", "red", "cake", "sfb", "dualpi2", "gsp"]);
    let mut text = format!(
        "[link.l{number}]\nfrom = \"n{number}\"\nto = \"n{}\"\ndelay = \"{}\"\nbuffer = \"{}\"\nbuffer_up = \"20 packets\"\nqueue = {{ kind = \"{queue}\" }}\n",
        number + 1,
        pick(rng, &["1 ms", "10 ms", "100 ms"]),
        pick(rng, &["5 packets", "30 packets", "100 kB"]),
    );
    match rate {
        "STEPS" => {
            text += "rate = { steps = [[\"0 s\", \"5 Mbit/s\"], [\"700 ms\", \"200 kbit/s\"], [\"1.2 s\", \"8 Mbit/s\"]] }\n"
        }
        "TRACE" => text += "rate = { trace = \"line.down\" }\nrate_up = \"2 Mbit/s\"\n",
        rate => {
            let burst = pick(rng, &["", "burst = \"20 kB\"\n", "burst = \"2 MB\"\n"]);
            text += &format!("rate = \"{rate}\"\n{burst}");
        }
    }
    text += pick(rng, &["", "loss = 0.02\n", "loss = 0.3\n", "loss_up = 0.2\n"]);
    if is_last {
        text += pick(rng, &["", "one_way = false\n"]);
    }
    text
}

fn traffic(rng: &mut Rng, links: usize) -> String {
    let kind = pick(
        rng,
        &[
            "kind = \"bulk\"\nflows = 3\n",
            "kind = \"bulk\"\ncc = \"bbr\"\n",
            "kind = \"bulk\"\nsize = \"30 kB\"\nflows = 5\nstart = \"uniform 0 s .. 1 s\"\n",
            "kind = \"cbr\"\nrate = \"3 Mbit/s\"\n",
            "kind = \"voip\"\nflows = 2\n",
            "kind = \"gaming\"\n",
            "kind = \"echo\"\n",
            "kind = \"video\"\n",
            "kind = \"page\"\n",
        ],
    );
    let direction = pick(rng, &["", "direction = \"up\"\n"]);
    let path: Vec<String> = (0..=links).map(|node| format!("\"n{node}\"")).collect();
    format!("[[traffic]]\n{kind}{direction}path = [{}]\n", path.join(", "))
}

fn scenario(rng: &mut Rng) -> String {
    let warmup = pick(rng, &["0 s", "5 ms", "500 ms"]);
    let duration = pick(rng, &["1 ms", "7 ms", "150 ms", "1.5 s"]);
    let links = 1 + (rng.next_u64() % 3) as usize;
    let mut text = format!("goodqueue = 1\nwarmup = \"{warmup}\"\nduration = \"{duration}\"\nseed = {}\n", rng.next_u64() % 1000);
    text.extend((0..links).map(|number| link(rng, number, number + 1 == links)));
    text.extend((0..1 + rng.next_u64() % 3).map(|_| traffic(rng, links)));
    text
}

#[test]
fn no_share_of_a_random_scenario_exceeds_the_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("line.down"), "2\n3\n3\n9\n40\n").expect("a recording");
    let mut rng = Rng::new(6);
    for _ in 0..300 {
        let text = scenario(&mut rng);
        let (outcome, figures) = run(&point(&text, folder.path()));
        for link in &outcome.links {
            // A part of the packet that is under way when measuring begins was sent before.
            assert!(
                link.sent_bits <= link.capacity_bits + 8.0 * 2000.0,
                "{}: {} of {}\n{text}",
                link.name,
                link.sent_bits,
                link.capacity_bits
            );
        }
        let links =
            figures.links.iter().flat_map(|link| LINK_METRICS.iter().map(|metric| (metric.about, link.value(metric.about.name))));
        let groups = figures
            .groups
            .iter()
            .flat_map(|group| GROUP_METRICS.iter().map(|metric| (metric.about, group.value(metric.about.name))));
        for (about, value) in links.chain(groups) {
            let is_share = about.quantity != Quantity::Ratio || value.is_none_or(|value| (0.0..=1.0).contains(&value));
            assert!(is_share, "{}: {value:?}\n{text}", about.name);
        }
    }
}

#[test]
fn a_bucket_that_was_full_is_part_of_what_a_link_could_carry() {
    let text = |traffic: &str| {
        format!(
            "goodqueue = 1\nwarmup = \"0 s\"\nduration = \"20 s\"\n[link.line]\nrate = \"12 Mbit/s\"\ndelay = \"2 ms\"\nburst = \"10 MB\"\n\
             buffer = \"200 kB\"\n[access]\nrate = \"1 Gbit/s\"\n[[traffic]]\n{traffic}"
        )
    };
    let utilization = |traffic: &str| {
        let (outcome, figures) = run(&point(&text(traffic), Path::new("")));
        assert!((outcome.links[0].capacity_bits - 320e6).abs() < 1.0, "240 by the rate and 80 in the bucket");
        figures.links[0].value("utilization").expect("a rate")
    };
    assert!((0.95..=1.0).contains(&utilization("kind = \"bulk\"\n")));
    let half = utilization("kind = \"cbr\"\nrate = \"8 Mbit/s\"\n");
    assert!((0.49..=0.51).contains(&half), "160 of 320 Mbit: {half}");
}

#[test]
fn packets_that_the_wire_loses_count_as_lost() {
    let text = "goodqueue = 1\nduration = \"60 s\"\n[link.line]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nloss = 0.25\nbuffer = \"1 bdp\"\n\
                [[traffic]]\nname = \"stream\"\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n[[traffic]]\nname = \"call\"\nkind = \"voip\"\n\
                [[traffic]]\nname = \"game\"\nkind = \"gaming\"\n[[traffic]]\nname = \"data\"\nkind = \"bulk\"\n";
    let (_, figures) = run(&point(text, Path::new("")));
    for group in &figures.groups {
        let lost = group.value("loss_ratio").expect("a share");
        assert!((0.2..0.3).contains(&lost), "{}: {lost}", group.name);
    }
    let dropped = figures.links[0].value("drop_ratio").expect("a share");
    assert!(dropped < 0.01, "the queue itself drops next to nothing: {dropped}");
    assert_eq!(figures.groups[0].value("loss_run_packets.mean").map(|mean| (mean * 10.0).round()), Some(13.0), "1 / (1 - 0.25)");
}
