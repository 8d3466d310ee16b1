//! One picture a kind: queue delay, signals and a gauge over time, on a link that slows down and recovers.

use goodqueue_aqm::sched;
use goodqueue_aqm::spec::KindSpec;
use goodqueue_lab::build;
use goodqueue_lab::plan::Plan;
use goodqueue_sim::{Continue, Recording, Series, World};
use goodqueue_units::Duration;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// What every kind is shown on. Lies beside the pages, for those who want to go on from there.
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
/// The delays of the upper panel, from its lower to its upper edge: each 50 pixels stand for a factor of ten.
const MILLIS: [u32; 4] = [1, 10, 100, 1000];

/// The setting `queue` of a kind's picture.
fn queue(spec: &KindSpec) -> String {
    if spec.is_over_another() { format!("{{ kind = \"{}\", of = \"codel\" }}", spec.kind) } else { format!("\"{}\"", spec.kind) }
}

/// What the picture shows, and how to make it.
pub fn caption(spec: &KindSpec) -> String {
    format!(
        "*Eight CUBIC flows, 40 ms of base RTT, 20 Mbit/s, 5 Mbit/s between 8 and 16 s (`docs/algorithms/picture.toml`); `queue = {}`, a buffer \
         of 250 kB, all else by default, no ECN. Above: delay of departing packets in logarithmic scale, tail drop's in grey; red: drops. Below: a \
         gauge of its state.*",
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

/// A panel's place, and what its height stands for.
struct Panel {
    top: f64,
    height: f64,
    scale: Scale,
}

enum Scale {
    /// From zero to this.
    Linear(f64),
    /// [`MILLIS`].
    Decades,
}

const LEFT: f64 = 56.0;
const WIDTH: f64 = 640.0;

fn x(seconds: f64) -> f64 {
    LEFT + seconds / SECONDS * WIDTH
}

impl Panel {
    fn y(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear(most) => value / most,
            Scale::Decades => libm::log10(value.max(1e-9)) / (MILLIS.len() - 1) as f64,
        };
        self.top + self.height * (1.0 - share.clamp(0.0, 1.0))
    }

    /// A line through all samples that are numbers.
    fn line(&self, class: &str, series: &Series, values: &[f64], scale: f64) -> String {
        let mut path = String::new();
        let mut pen = 'M';
        for (time, value) in series.times.iter().zip(values) {
            if value.is_nan() {
                pen = 'M';
                continue;
            }
            let seconds = time.as_nanos() as f64 / 1e9;
            let _ = write!(path, "{pen}{:.0} {:.1}", x(seconds), self.y(value * scale));
            pen = 'L';
        }
        format!("<path class=\"{class}\" d=\"{path}\"/>\n")
    }

    /// Its lines, with labels, and its title.
    fn frame(&self, title: &str) -> String {
        let right = LEFT + WIDTH;
        let labels: Vec<f64> = match self.scale {
            Scale::Linear(most) => vec![0.0, most / 2.0, most],
            Scale::Decades => MILLIS.map(f64::from).to_vec(),
        };
        let mut text = String::new();
        for value in labels {
            let y = self.y(value);
            let _ = writeln!(text, "<path class=\"grid\" d=\"M{LEFT} {y}H{right}\"/>");
            let _ = writeln!(text, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", LEFT - 6.0, y + 4.0, number(value));
        }
        let _ = writeln!(text, "<text x=\"{LEFT}\" y=\"{}\">{title}</text>", self.top - 6.0);
        text
    }
}

/// Three digits.
fn number(value: f64) -> String {
    let decimals = if value >= 100.0 || value == 0.0 {
        0
    } else if value >= 1.0 {
        1
    } else if value >= 0.01 {
        3
    } else {
        5
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Colours that can be read on white and on black.
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#57606a}.grid{stroke:#8c959f;stroke-opacity:.35}\
.delay,.gauge,.reference,.drops{fill:none;stroke-linejoin:round}.delay{stroke:#0969da;stroke-width:1.5}.gauge{stroke:#1a7f37;stroke-width:1.5}\
.reference{stroke:#8c959f;stroke-width:1}.drops{stroke:#cf222e;stroke-opacity:.6}.slow{fill:#8c959f;fill-opacity:.12}\
@media(prefers-color-scheme:dark){text{fill:#9198a1}.delay{stroke:#4493f8}.gauge{stroke:#3fb950}.drops{stroke:#f85149}}";

fn draw(kind: &str, series: &Series, reference: &Series) -> String {
    let delay = Panel { top: 26.0, height: 150.0, scale: Scale::Decades };
    let gauge = series.columns.iter().find(|column| column.name.starts_with("gauge:"));
    let bottom = if gauge.is_some() { 290.0 } else { 200.0 };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 712 {}\" role=\"img\" aria-label=\"{kind} on a changing link\">\n<style>{STYLE}</style>\n",
        bottom + 22.0
    );
    let _ = writeln!(
        svg,
        "<rect class=\"slow\" x=\"{:.0}\" y=\"26\" width=\"{:.0}\" height=\"{}\"/>",
        x(8.0),
        x(16.0) - x(8.0),
        bottom - 50.0
    );
    svg += &delay.frame("queue delay (ms), and drops");
    svg += &delay.line("reference", reference, column(reference, "sojourn_s").expect("sampled"), 1e3);
    svg += &drops(&delay, series);
    svg += &delay.line("delay", series, column(series, "sojourn_s").expect("sampled"), 1e3);
    if let Some(gauge) = gauge {
        let highest = gauge.values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
        let scale = Scale::Linear(if highest > 0.0 { highest } else { 1.0 });
        let panel = Panel { top: 206.0, height: 60.0, scale };
        svg += &panel.frame(&gauge.name["gauge:".len()..].replace('_', " "));
        svg += &panel.line("gauge", series, &gauge.values, 1.0);
    }
    for seconds in (0..=24).step_by(4) {
        let _ =
            writeln!(svg, "<text x=\"{:.0}\" y=\"{bottom}\" text-anchor=\"middle\">{seconds} s</text>", x(f64::from(seconds)));
    }
    svg.push_str("</svg>\n");
    svg
}

/// A bar at the foot for each sample with drops, its height by their number.
fn drops(panel: &Panel, series: &Series) -> String {
    let totals = column(series, "drops").expect("sampled");
    let mut path = String::new();
    for (time, total) in series.times.iter().skip(1).zip(totals.windows(2)) {
        let count = total[1] - total[0];
        if count <= 0.0 {
            continue;
        }
        let height = (2.0 + 2.0 * count).min(60.0);
        let _ = write!(path, "M{:.0} {}v-{height:.0}", x(time.as_nanos() as f64 / 1e9), panel.top + panel.height);
    }
    format!("<path class=\"drops\" d=\"{path}\"/>\n")
}
