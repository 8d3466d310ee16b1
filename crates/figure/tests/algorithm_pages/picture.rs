//! One picture per kind: queueing delay, signals and a gauge over time, on a link that slows down
//! and recovers.

use goodqueue_aqm::sched;
use goodqueue_aqm::spec::KindSpec;
use goodqueue_base::units::{Duration, Instant};
use goodqueue_figure::{Axis, Curve, Figure, Font, Hue, Look, Panel, Point, Shape, Size, Theme};
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_sim::{Continue, Recording, Series, World};
use std::collections::BTreeMap;
use std::path::Path;

/// The scenario on which every kind is shown. It is stored next to the pages, for readers to vary.
pub const SCENARIO: &str = r#"# The scenario of the pictures: eight CUBIC flows; the link is a quarter as fast between 8 and 16 s.
#   gq run docs/algorithms/picture.toml --set link.bottleneck.queue=pie
goodqueue = 1
name = "picture"
warmup = "0 s"
duration = "24 s"
replications = 1
seed = 1

[link.bottleneck]
rate = { steps = [["0 s", "20 Mbit/s"], ["8 s", "5 Mbit/s"], ["16 s", "20 Mbit/s"]] }
delay = "20 ms"
buffer = "250 kB"
queue = "codel"

[[traffic]]
kind = "bulk"
cc = "cubic"
flows = 8
start = "uniform 0 s .. 1 s"
"#;

const SECONDS: f64 = 24.0;
const SAMPLE: Duration = Duration::ms(40);

/// The setting `queue` of a kind's picture.
fn queue(spec: &KindSpec) -> String {
    match spec.kind {
        // At the link's own rate it would have nothing to do, and a bucket of one packet is always
        // empty after a packet.
        "shaper" => "{ kind = \"shaper\", rate = \"16 Mbit/s\", burst = \"50 kB\", of = \"codel\" }".to_owned(),
        "htb" => "{ kind = \"htb\", class.all = { rate = \"16 Mbit/s\", default = true, of = \"codel\" } }".to_owned(),
        kind if spec.is_over_another() => format!("{{ kind = \"{kind}\", of = \"codel\" }}"),
        kind => format!("\"{kind}\""),
    }
}

/// The caption: what the picture shows, and how to make it.
pub fn caption(spec: &KindSpec) -> String {
    let (dotted, bottom) = match spec.kind {
        // It is what the others are compared with, and has no gauge.
        "tail-drop" => ("", ""),
        _ => (" Dotted: tail drop.", " Bottom: one gauge, internal state of the algorithm."),
    };
    format!(
        "*Eight CUBIC flows over 20 Mbit/s with a base RTT of 40 ms; the rate is 5 Mbit/s from 8 to 16 s (`docs/algorithms/picture.toml`). \
         `queue = {}`, a buffer of 250 kB, defaults otherwise, senders without ECN. Blue: sojourn time of departing packets, on a \
         logarithmic scale that begins at {MIN_MS} ms.{dotted} Red strokes: dropped packets. Shaded: the slow link.{bottom}*",
        queue(spec)
    )
}

/// The pictures of all kinds by file name.
pub fn all() -> BTreeMap<String, String> {
    let reference = run("\"tail-drop\"");
    sched::kinds().map(|spec| (format!("{}.svg", spec.kind), draw(spec.kind, &run(&queue(spec)), &reference))).collect()
}

fn run(queue: &str) -> Series {
    let text = SCENARIO.replace("queue = \"codel\"", &format!("queue = {queue}"));
    let plan = Plan::parse("picture.toml", &text, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()));
    let points = plan.points().unwrap_or_else(|error| panic!("{}", error.text()));
    let mut spec = build::world(&points[0], 0);
    spec.recording = Recording { sample_every: Some(SAMPLE), packets: false };
    let outcome = World::new(&spec).expect("a scenario that was checked").run(&mut |_| Continue::Yes);
    outcome.series.into_iter().find(|series| series.subject == "link:bottleneck").expect("the bottleneck is sampled")
}

fn column<'a>(series: &'a Series, name: &str) -> Option<&'a [f64]> {
    series.columns.iter().find(|column| column.name == name).map(|column| column.values.as_slice())
}

/// Size of the plots in pixels: the delay's and the gauge's.
const WIDTH: f64 = 720.0;
const HEIGHTS: (f64, f64) = (150.0, 70.0);
/// The foot of the logarithmic scale: less than a packet takes at the fast rate.
const MIN_MS: f64 = 0.1;
/// When the link is slow.
const SLOW: (f64, f64) = (8.0, 16.0);

fn draw(kind: &str, series: &Series, reference: &Series) -> String {
    let gauge = series.columns.iter().find(|column| column.name.starts_with("gauge:"));
    let mut curves = vec![curve("", Hue::Slate, 2), curve("drops", Hue::Red, 0), curve(kind, Hue::Blue, 0)];
    if kind != "tail-drop" {
        curves[0].name = "tail-drop".to_owned();
    }
    let delay = |series| points(series, column(series, "sojourn_s").expect("sampled"), 1e3);
    let label = if gauge.is_some() { "" } else { "time" };
    let mut panels = vec![Panel {
        x: time(label),
        y: Axis {
            label: "sojourn time".into(),
            unit: "ms".into(),
            log: true,
            min: Some(MIN_MS),
            max: Some(1000.0),
            ..Axis::default()
        },
        series: vec![
            line(0, Shape::Line, delay(reference)),
            line(1, Shape::Strokes, drops(series)),
            line(2, Shape::Line, delay(series)),
        ],
        ..panel(HEIGHTS.0)
    }];
    if let Some(gauge) = gauge {
        curves.push(curve("", Hue::Green, 0));
        let highest = gauge.values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let max = if highest > 0.0 { None } else { Some(1.0) };
        panels.push(Panel {
            title: format!("internal state: {}", words(&gauge.name)),
            x: time("time"),
            y: Axis { min: Some(0.0), max, ..Axis::default() },
            series: vec![line(3, Shape::Line, points(series, &gauge.values, 1.0))],
            ..panel(HEIGHTS.1)
        });
    }
    let size = Size { width: WIDTH, columns: 1 };
    let title = format!("{kind} on a changing link");
    Figure { id: kind.to_owned(), title, size, panels, curves }.to_svg(Theme::Page, Font::Sans)
}

/// A gauge's name with its unit: `gauge:tokens_bytes` is "tokens (bytes)".
fn words(gauge: &str) -> String {
    let name = gauge.trim_start_matches("gauge:");
    let units = [("_bit_s", "bit/s"), ("_s", "s"), ("_bytes", "bytes"), ("_packets", "packets")];
    let split = units.iter().find_map(|(ending, unit)| Some((name.strip_suffix(ending)?, *unit)));
    match split {
        Some((name, unit)) => format!("{} ({unit})", name.replace('_', " ")),
        None => name.replace('_', " "),
    }
}

fn curve(name: &str, hue: Hue, dash: usize) -> Curve {
    Curve { name: name.to_owned(), look: Look { dash, ..Look::solid(hue) } }
}

fn panel(height: f64) -> Panel {
    Panel { height, shaded: vec![SLOW], ..Panel::default() }
}

fn time(label: &str) -> Axis {
    let unit = if label.is_empty() { "" } else { "s" };
    Axis { label: label.to_owned(), unit: unit.to_owned(), min: Some(0.0), max: Some(SECONDS), ..Axis::default() }
}

fn line(curve: usize, shape: Shape, points: Vec<Point>) -> goodqueue_figure::Series {
    goodqueue_figure::Series { curve, shape, points }
}

/// Samples over time; what is not a number breaks the line.
fn points(series: &Series, values: &[f64], scale: f64) -> Vec<Point> {
    let point = |(time, value): (&Instant, &f64)| Point { x: seconds(*time), y: value * scale, ..Point::default() };
    series.times.iter().zip(values).map(point).collect()
}

/// The number of packets dropped between two samples, where there were any.
fn drops(series: &Series) -> Vec<Point> {
    let totals = column(series, "drops").expect("sampled");
    let counts = totals.windows(2).map(|pair| pair[1] - pair[0]);
    let dropped = series.times.iter().skip(1).zip(counts).filter(|(_, count)| *count > 0.0);
    dropped.map(|(time, count)| Point { x: seconds(*time), y: count, ..Point::default() }).collect()
}

fn seconds(time: Instant) -> f64 {
    time.as_nanos() as f64 / 1e9
}
