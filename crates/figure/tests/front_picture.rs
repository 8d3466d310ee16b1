//! The picture of README.md, `docs/images/call.svg`: the queueing delay of a call's packets while
//! photos are uploaded, made from `examples/scenarios/call.toml`.
//!
//! When it is stale: `cargo test -p goodqueue-figure --test front_picture -- --ignored`
//! (`make picture`).

use goodqueue_figure::{Axis, Curve, Figure, Font, Hue, Look, Panel, Point, Series, Shape, Size, Theme};
use goodqueue_lab::results::experience::{Activity, GroupExperience};
use goodqueue_lab::results::metrics::RunFigures;
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_sim::trace::PacketEventKind;
use goodqueue_sim::{Continue, Outcome, Recording, World};
use std::fs;
use std::path::{Path, PathBuf};

/// Queues of the scenario with their names and looks in the picture.
const QUEUES: [(&str, Hue, usize); 3] = [("Tail drop", Hue::Slate, 0), ("CoDel", Hue::Blue, 0), ("FQ-CoDel", Hue::Green, 0)];
/// Length of the runs.
const SECONDS: f64 = 30.0;
/// Time that one point of a curve stands for: the longest delay in it is shown.
const BIN_S: f64 = 0.1;
/// When photos are uploaded, in seconds.
const UPLOAD: (f64, f64) = (5.0, 27.0);
/// The flow of the call.
const CALL: u32 = 0;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn picture() -> String {
    let plan = Plan::load(&root().join("examples/scenarios/call.toml")).unwrap_or_else(|error| panic!("{}", error.text()));
    let points = plan.points().unwrap_or_else(|error| panic!("{}", error.text()));
    assert_eq!(points.len(), QUEUES.len());
    let mut curves = Vec::new();
    let mut series = Vec::new();
    for (number, (point, (name, hue, dash))) in points.iter().zip(QUEUES).enumerate() {
        let mut spec = build::world(point, 0);
        spec.recording = Recording { sample_every: None, packets: true };
        let outcome = World::new(&spec).expect("a scenario that was checked").run(&mut |_| Continue::Yes);
        let groups = GroupExperience::of(point, &RunFigures::of(&outcome, spec.duration, &point.plan.base_rtts()));
        let place = Activity::Call.metrics().iter().position(|metric| metric.about.name == "mos").expect("calls have it");
        let mos = groups[0].values[place].expect("a call is judged");
        curves.push(Curve { name: format!("{name}: MOS {mos:.1}"), look: Look { dash, ..Look::solid(hue) } });
        series.push(Series { curve: number, shape: Shape::Line, points: delays(&outcome) });
    }
    let panel = Panel {
        height: 190.0,
        x: Axis { label: "time".into(), unit: "s".into(), min: Some(0.0), max: Some(SECONDS), ..Axis::default() },
        y: Axis { label: "queueing delay of the call".into(), unit: "ms".into(), min: Some(0.0), ..Axis::default() },
        shaded: vec![UPLOAD],
        series,
        ..Panel::default()
    };
    let title = "Queueing delay of a call's packets while photos are uploaded".to_owned();
    let size = Size { width: 720.0, columns: 1 };
    Figure { id: "call".to_owned(), title, size, panels: vec![panel], curves }.to_svg(Theme::Page, Font::Sans)
}

/// The longest sojourn time of the call's packets in each bin, in milliseconds.
fn delays(outcome: &Outcome) -> Vec<Point> {
    let mut longest = vec![f64::NAN; (SECONDS / BIN_S).round() as usize];
    for event in outcome.packets.iter().filter(|event| event.flow == CALL) {
        if let PacketEventKind::Departed { sojourn } = event.kind {
            let bin = (event.at.as_nanos() as f64 / 1e9 / BIN_S) as usize;
            if let Some(longest) = longest.get_mut(bin) {
                *longest = longest.max(sojourn.as_secs_f64() * 1e3);
            }
        }
    }
    assert!(longest.iter().any(|delay| delay.is_finite()), "the call crosses the uplink");
    let point = |(bin, y): (usize, f64)| Point { x: (bin as f64 + 0.5) * BIN_S, y, ..Point::default() };
    longest.into_iter().enumerate().map(point).collect()
}

fn path() -> PathBuf {
    root().join("docs/images/call.svg")
}

#[test]
fn the_picture_is_what_the_scenario_gives() {
    assert!(
        fs::read_to_string(path()).expect("docs/images/call.svg") == picture(),
        "docs/images/call.svg is stale (make picture)"
    );
}

#[test]
#[ignore = "writes docs/images/call.svg"]
fn writes_the_picture() {
    fs::write(path(), picture()).expect("docs/images/call.svg");
}
