//! The page of `gq shell --report`: what the line did over time.

use goodqueue_figure::{Axis, Curve, Figure, Hue, Look, Panel, Point, Series, Shape, Size};
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use goodqueue_studies::page;
use maud::{Markup, html};
use serde_json::Value;

/// Samples kept; of a longer run each stands for more time.
const MAX: usize = 6000;
/// Seconds from a sample to the next, as the line was asked for them.
const STEP_S: f64 = 0.1;

/// One direction at one time, counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Half {
    bytes: f64,
    packets: f64,
    drops: f64,
    marks: f64,
    backlog: f64,
    /// Milliseconds in the queue since the last sample: median and 99th percentile.
    sojourn_ms: Option<(f64, f64)>,
    /// Milliseconds in the queue since the start: median and 99th percentile.
    whole_ms: (f64, f64),
}

impl Half {
    fn read(value: &Value) -> Self {
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let times = |value: &Value| (number(&value["p50"]) / 1e3, number(&value["p99"]) / 1e3);
        Self {
            bytes: number(&value["bytes"]),
            packets: number(&value["packets"]),
            drops: number(&value["drops"]),
            marks: number(&value["ecn_mark"]),
            backlog: number(&value["backlog"]),
            sojourn_ms: value["recent_sojourn_us"].is_object().then(|| times(&value["recent_sojourn_us"])),
            whole_ms: times(&value["sojourn_us"]),
        }
    }
}

/// Samples read from the line's output.
#[derive(Debug, Default)]
pub struct Samples {
    /// Down and up.
    kept: Vec<[Half; 2]>,
    last: Option<[Half; 2]>,
    /// Each kept one stands for 2 to the power of this many.
    thinned: u32,
    seen: usize,
}

impl Samples {
    /// Adds a line as `gq bridge --json` prints it; others are left out.
    pub fn add(&mut self, line: &str) {
        let Ok(Value::Array(halves)) = serde_json::from_str::<Value>(line) else { return };
        let [down, up] = &halves[..] else { return };
        let sample = [Half::read(down), Half::read(up)];
        self.last = Some(sample);
        if self.seen.is_multiple_of(1 << self.thinned) {
            self.kept.push(sample);
        }
        self.seen += 1;
        if self.kept.len() > MAX {
            self.kept = self.kept.iter().step_by(2).copied().collect();
            self.thinned += 1;
        }
    }

    fn step_s(&self) -> f64 {
        STEP_S * f64::from(1u32 << self.thinned.min(31))
    }

    /// A value of one direction for each step.
    fn points(&self, way: usize, value: impl Fn(&Half, &Half, f64) -> Option<f64>) -> Vec<Point> {
        let step = self.step_s();
        let one = |(number, pair): (usize, &[[Half; 2]])| {
            let x = (number + 1) as f64 * step;
            let y = value(&pair[0][way], &pair[1][way], step).unwrap_or(f64::NAN);
            Point { x, y, words: format!("{y:.2} at {x:.1} s"), ..Point::default() }
        };
        self.kept.windows(2).enumerate().map(one).collect()
    }
}

const WAYS: [&str; 2] = ["down, to the program", "up, from the program"];

/// The page.
pub fn html(samples: &Samples, program: &str, line: &str) -> String {
    let title = format!("{program} behind a line");
    let content = html! {
        h1 { (title) }
        p.by {
            (line) ". Real time, by goodqueue " (VERSION_AND_COMMIT) "; one value for each " (samples.step_s()) " s."
        }
        (table(samples))
        @for figure in figures(samples) { figure { (page::drawing(&figure)) } }
    };
    page::page(&title, &content)
}

fn table(samples: &Samples) -> Markup {
    let heads = html! {
        @for head in ["direction", "MB", "packets", "dropped", "marked", "in the queue, p50 ms", "p99 ms"] { th { (head) } }
    };
    let rows = html! {
        @for (way, half) in WAYS.iter().zip(samples.last.unwrap_or_default()) {
            tr {
                th { (way) }
                td { (format!("{:.3}", half.bytes * 1e-6)) }
                td { (half.packets) }
                td { (half.drops) }
                td { (half.marks) }
                td { (format!("{:.2}", half.whole_ms.0)) }
                td { (format!("{:.2}", half.whole_ms.1)) }
            }
        }
    };
    page::table("values", &heads, &rows)
}

fn figures(samples: &Samples) -> [Figure; 3] {
    let curves = |names: [&str; 2]| {
        let looks = [Hue::Blue, Hue::Orange].map(Look::solid);
        names.into_iter().zip(looks).map(|(name, look)| Curve { name: name.to_owned(), look }).collect::<Vec<_>>()
    };
    let panel = |label: &str, unit: &str, series: Vec<Vec<Point>>| Panel {
        height: 180.0,
        x: Axis { label: "time".to_owned(), unit: "s".to_owned(), min: Some(0.0), ..Axis::default() },
        y: Axis { label: label.to_owned(), unit: unit.to_owned(), min: Some(0.0), ..Axis::default() },
        series: series.into_iter().enumerate().map(|(curve, points)| Series { curve, shape: Shape::Line, points }).collect(),
        ..Panel::default()
    };
    let figure = |id: &str, title: &str, curves: Vec<Curve>, panels: Vec<Panel>| Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        size: Size { width: 860.0, columns: 1 },
        panels,
        curves,
    };
    let ways = |value: fn(&Half, &Half, f64) -> Option<f64>| [0, 1].map(|way| samples.points(way, value)).to_vec();
    let rate = ways(|before, now, step| Some((now.bytes - before.bytes) * 8e-6 / step));
    let signals = ways(|before, now, step| Some((now.drops + now.marks - before.drops - before.marks) / step));
    let waits = |way| {
        let times =
            [samples.points(way, |_, now, _| Some(now.sojourn_ms?.0)), samples.points(way, |_, now, _| Some(now.sojourn_ms?.1))];
        Panel { title: WAYS[way].to_owned(), ..panel("time in the queue", "ms", times.to_vec()) }
    };
    [
        figure("rate", "Rate across the line", curves(WAYS), vec![panel("rate", "Mbit/s", rate)]),
        figure("sojourn", "Time in the queue", curves(["median", "99th percentile"]), vec![waits(0), waits(1)]),
        figure("signals", "Drops and marks", curves(WAYS), vec![panel("drops and marks", "1/s", signals)]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: u64) -> String {
        let half = format!("{{\"bytes\":{bytes},\"packets\":7,\"drops\":2,\"recent_sojourn_us\":{{\"p50\":1500,\"p99\":4000}}}}");
        format!("[{half},{{\"bytes\":0,\"recent_sojourn_us\":null}}]")
    }

    #[test]
    fn a_page_shows_rates_and_totals() {
        let mut samples = Samples::default();
        samples.add("no JSON");
        samples.add("{}");
        for second in 0..30 {
            samples.add(&line(second * 125_000));
        }
        let down = samples.points(0, |before, now, step| Some((now.bytes - before.bytes) * 8e-6 / step));
        assert!(down.iter().all(|point| (point.y - 10.0).abs() < 1e-9), "{down:?}");
        let page = html(&samples, "curl <x>", "codel at 10 Mbit/s");
        assert!(page.contains("curl &lt;x&gt; behind a line"));
        assert!(page.contains("<td>3.625</td><td>7</td><td>2</td>"), "{page}");
    }

    #[test]
    fn a_long_run_is_thinned_and_keeps_its_time() {
        let mut samples = Samples::default();
        for number in 0..30_000_u64 {
            samples.add(&line(number * 125_000));
        }
        assert!(samples.kept.len() <= MAX);
        let rates = samples.points(0, |before, now, step| Some((now.bytes - before.bytes) * 8e-6 / step));
        assert!(rates.iter().all(|point| (point.y - 10.0).abs() < 1e-9));
        assert!((rates.last().unwrap().x - 3000.0).abs() < 2.0);
    }
}
