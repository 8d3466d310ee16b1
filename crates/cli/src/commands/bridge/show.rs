//! Output of a running bridge: a table line by line, or JSON with the names that `tc -s -j qdisc`
//! uses.

use super::ports::Granted;
use super::ports::SENDER_REMEDY;
use crate::failure::Failure;
use crate::output::{print, say};
use goodqueue_aqm::Counters;
use goodqueue_base::units::{Duration, Instant};
use goodqueue_guests::backends::live;
use goodqueue_lab::scenario::plan::{Link, LinkDirection};
use goodqueue_live::flows::FlowTotal;
use goodqueue_live::measure::{Quantiles, Times};
use goodqueue_live::monitor::{HalfReport, Report};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;

/// Facts about the line, and the form in which it is shown.
pub struct Shown {
    /// In and out.
    pub interfaces: [String; 2],
    /// Features granted for each interface.
    pub granted: [Granted; 2],
    /// The line.
    pub link: Link,
    /// Whether to print JSON instead of a table.
    pub json: bool,
}

/// Sums over all reports, and what the latest adds to the one before.
#[derive(Default)]
pub struct Totals {
    down: HalfTotals,
    up: HalfTotals,
    at: Instant,
    /// When the first report came, and the processor time of the thread then.
    first: Option<(Instant, Duration)>,
    /// Share of a processor that the thread has used since then.
    processor: f64,
    reports: u64,
}

#[derive(Default)]
struct HalfTotals {
    times: Times,
    last: HalfReport,
    step: Step,
}

/// From one report to the next.
#[derive(Default)]
struct Step {
    span: Duration,
    sent_bits: u64,
    counters: Counters,
    /// Times in the queue of the packets that left within it.
    sojourn: Quantiles,
    /// The flows that sent most within it, the largest first, with their bits per second.
    flows: Vec<(String, f64)>,
}

/// Flows that are shown.
const MAX_FLOWS: usize = 10;

/// The flows that sent most between two reports, which are `span` apart.
fn largest(now: &[FlowTotal], before: &[FlowTotal], span: Duration) -> Vec<(String, f64)> {
    let seconds = span.as_secs_f64().max(1e-9);
    let rate = |total: &FlowTotal| {
        // One that lost its place and came back counts from zero again.
        let known = before.iter().find(|known| known.flow == total.flow && known.bytes <= total.bytes);
        (total.bytes - known.map_or(0, |known| known.bytes)) as f64 * 8.0 / seconds
    };
    let mut rates: Vec<(&FlowTotal, f64)> =
        now.iter().map(|total| (total, rate(total))).filter(|(_, rate)| *rate > 0.0).collect();
    rates.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.flow.0.cmp(&other.flow.0)));
    let name = |total: &FlowTotal| total.ends.map_or_else(|| "no IP".to_owned(), |ends| ends.to_string());
    rates.into_iter().take(MAX_FLOWS).map(|(total, rate)| (name(total), rate)).collect()
}

impl HalfTotals {
    fn add(&mut self, half: &HalfReport, span: Duration) {
        self.times.add(&half.times);
        self.step = Step {
            span,
            sent_bits: half.sent_bits.saturating_sub(self.last.sent_bits),
            counters: half.counters.since(&self.last.counters),
            sojourn: Quantiles::of(&half.times.sojourn),
            flows: largest(&half.flows, &self.last.flows, span),
        };
        self.last = half.clone();
    }

    /// Frames that were lost outside of the queue: with any, the result is not that of the queue
    /// alone.
    fn lost_outside(&self) -> u64 {
        let port = &self.last.port;
        port.ring_overflows + port.no_buffer + port.oversize
    }
}

impl Totals {
    /// Adds a report.
    pub fn add(&mut self, report: &Report) {
        let span = report.at.since(self.at);
        self.down.add(&report.down, span);
        self.up.add(&report.up, span);
        self.at = report.at;
        let (first, used) = *self.first.get_or_insert((report.at, report.used));
        let span = report.at.since(first).as_secs_f64();
        if span > 0.0 {
            self.processor = report.used.saturating_sub(used).as_secs_f64() / span;
        }
        self.reports += 1;
    }
}

/// Prints the latest report.
pub fn print_report(shown: &Shown, totals: &Totals, report: &Report) -> io::Result<()> {
    if shown.json {
        return print(&format!("{}\n", qdiscs(shown, totals)));
    }
    let mut text = String::new();
    if totals.reports % 20 == 1 {
        text.push_str(
            "   time  way    Mbit/s   packet/s  waiting  sojourn ms mean    p99   drops  marks  late us p99   max   lost outside\n",
        );
    }
    for (way, half, half_report) in [("down", &totals.down, &report.down), ("up", &totals.up, &report.up)] {
        let Step { span, sent_bits, counters, .. } = &half.step;
        let seconds = span.as_secs_f64().max(1e-9);
        let sojourn = Quantiles::of(&half_report.times.sojourn);
        let late = Quantiles::of(&half_report.times.lateness);
        let _ = writeln!(
            text,
            "{:7.1}  {way:4} {:8.3} {:10.0} {:8} {:16.3} {:6.3} {:7} {:6} {:12.0} {:5.0} {:14}",
            report.at.as_secs_f64(),
            *sent_bits as f64 / seconds / 1e6,
            counters.departed.packets.get() as f64 / seconds,
            half_report.view.packets.get(),
            sojourn.mean_s * 1e3,
            sojourn.p99_s * 1e3,
            counters.dropped_total().packets.get(),
            counters.marked.packets.get(),
            late.p99_s * 1e6,
            late.max_s * 1e6,
            half.lost_outside(),
        );
    }
    print(&text)
}

/// Both directions, as `tc -s -j qdisc` shows queueing disciplines.
pub fn qdiscs(shown: &Shown, totals: &Totals) -> Value {
    let [inside, outside] = &shown.interfaces;
    let mut down = qdisc(outside, &shown.link, &shown.link.down, &totals.down);
    let mut up = qdisc(inside, &shown.link, &shown.link.up, &totals.up);
    for (value, granted) in [&mut down, &mut up].into_iter().zip(shown.granted.iter().rev()) {
        value["port"] = granted.json();
        // One thread moves the packets of both directions.
        value["processor"] = json!(totals.processor);
    }
    Value::from(vec![down, up])
}

/// A metric: its name, what kind it is, its meaning, and its value in one direction.
type Metric = (&'static str, &'static str, &'static str, fn(&HalfTotals) -> f64);

const METRICS: &[Metric] = &[
    ("goodqueue_sent_packets", "counter", "packets handed to the line", |half| half.last.counters.departed.packets.get() as f64),
    ("goodqueue_sent_bytes", "counter", "their IP bytes", |half| half.last.counters.departed.bytes.get() as f64),
    ("goodqueue_dropped_packets", "counter", "packets dropped by the queue", |half| {
        half.last.counters.dropped_total().packets.get() as f64
    }),
    ("goodqueue_overflow_packets", "counter", "of these, for want of room", |half| {
        half.last.counters.overflow().packets.get() as f64
    }),
    ("goodqueue_marked_packets", "counter", "packets newly marked CE", |half| half.last.counters.marked.packets.get() as f64),
    ("goodqueue_malformed_frames", "counter", "frames whose headers contradict each other", |half| {
        half.last.frames.malformed_total() as f64
    }),
    ("goodqueue_lost_outside_frames", "counter", "frames lost outside of the queue", |half| half.lost_outside() as f64),
    ("goodqueue_stalls", "counter", "packets handed over more than 1 ms late", |half| half.times.stalls as f64),
    ("goodqueue_backlog_packets", "gauge", "packets that wait", |half| half.last.view.packets.get() as f64),
    ("goodqueue_backlog_bytes", "gauge", "their IP bytes", |half| half.last.view.backlog.get() as f64),
    ("goodqueue_rate_bits_per_second", "gauge", "rate of the line", |half| half.last.rate.as_bit_s() as f64),
];

/// A distribution's name, meaning, and where it is.
type Summary = (&'static str, &'static str, fn(&Times) -> Quantiles);

const SUMMARIES: &[Summary] = &[
    ("goodqueue_sojourn_seconds", "time in the queue since the start", |times| Quantiles::of(&times.sojourn)),
    ("goodqueue_lateness_seconds", "from when packets were due to when they were sent", |times| Quantiles::of(&times.lateness)),
];

/// All figures in the text format of OpenMetrics.
pub fn metrics(shown: &Shown, totals: &Totals) -> String {
    let halves = [("down", &shown.link.down, &totals.down), ("up", &shown.link.up, &totals.up)];
    let labels = halves.map(|(way, direction, _)| format!("direction=\"{way}\",aqm=\"{}\"", live::name(direction)));
    let mut text = String::new();
    for (name, kind, help, value) in METRICS {
        let _ = writeln!(text, "# TYPE {name} {kind}\n# HELP {name} {help}");
        let suffix = if *kind == "counter" { "_total" } else { "" };
        for ((.., half), labels) in halves.iter().zip(&labels) {
            let _ = writeln!(text, "{name}{suffix}{{{labels}}} {}", value(half));
        }
    }
    for (name, help, of) in SUMMARIES {
        let _ = writeln!(text, "# TYPE {name} summary\n# HELP {name} {help}");
        for ((.., half), labels) in halves.iter().zip(&labels) {
            let Quantiles { count, mean_s, p50_s, p95_s, p99_s, max_s } = of(&half.times);
            for (quantile, value) in [("0.5", p50_s), ("0.95", p95_s), ("0.99", p99_s), ("1", max_s)] {
                let _ = writeln!(text, "{name}{{{labels},quantile=\"{quantile}\"}} {value}");
            }
            let _ = writeln!(text, "{name}_count{{{labels}}} {count}\n{name}_sum{{{labels}}} {}", mean_s * count as f64);
        }
    }
    let _ = writeln!(text, "# TYPE goodqueue_gauge gauge\n# HELP goodqueue_gauge state of the algorithm");
    for ((.., half), labels) in halves.iter().zip(&labels) {
        for (name, value) in half.last.gauges.iter().filter(|(_, value)| value.is_finite()) {
            let _ = writeln!(text, "goodqueue_gauge{{{labels},name=\"{name}\"}} {value}");
        }
    }
    text.push_str("# EOF\n");
    text
}

/// One direction as a queueing discipline of the interface that it sends to.
fn qdisc(device: &str, link: &Link, direction: &LinkDirection, half: &HalfTotals) -> Value {
    let HalfReport { counters, view, gauges, port, frames, rate, delay, .. } = &half.last;
    let micros = |seconds: f64| (seconds * 1e6).round() as u64;
    let times = |quantiles: Quantiles| {
        json!({
            "mean": micros(quantiles.mean_s), "p50": micros(quantiles.p50_s), "p95": micros(quantiles.p95_s),
            "p99": micros(quantiles.p99_s), "max": micros(quantiles.max_s),
        })
    };
    let name = live::name(direction).replace('-', "_");
    let mut value = json!({
        "kind": name,
        "handle": "1:",
        "dev": device,
        "root": true,
        "options": {
            "rate": rate.as_bit_s() / 8,
            "delay": micros(delay.as_secs_f64()),
            "overhead": link.overhead().get(),
        },
        "bytes": counters.departed.bytes.get(),
        "packets": counters.departed.packets.get(),
        "drops": counters.dropped_total().packets.get(),
        "overlimits": counters.overflow().packets.get(),
        "requeues": 0,
        "backlog": view.backlog.get(),
        "qlen": view.packets.get(),
        "ecn_mark": counters.marked.packets.get(),
        "drop_overlimit": counters.overflow().packets.get(),
        "sojourn_us": times(Quantiles::of(&half.times.sojourn)),
        "recent_sojourn_us": if half.step.sojourn.count > 0 { times(half.step.sojourn) } else { Value::Null },
        "flows": half.step.flows.iter().map(|(label, rate)| json!({ "label": label, "throughput_bit_s": rate })).collect::<Vec<_>>(),
        "lateness_us": times(Quantiles::of(&half.times.lateness)),
        "stalls": half.times.stalls,
        "malformed": frames.malformed_total(),
        "ring_overflows": port.ring_overflows,
        "no_buffer": port.no_buffer,
        "oversize": port.oversize,
        "joined_lost": port.joined_lost,
        "send_failures": port.send_failures,
        "outages": port.outages,
    });
    if let Value::Object(fields) = &mut value {
        let finite = gauges.iter().filter(|(_, value)| value.is_finite());
        for (name, value) in finite {
            // A gauge never hides one of the fields above.
            fields.entry((*name).to_owned()).or_insert_with(|| json!(value));
        }
        let limit = live::limit(direction);
        if let Some(options) = fields.get_mut("options").and_then(Value::as_object_mut) {
            if limit.packets != goodqueue_base::units::Packets::MAX {
                options.insert("limit".to_owned(), json!(limit.packets.get()));
            }
            if limit.bytes != goodqueue_base::units::Bytes::MAX {
                options.insert("memory_limit".to_owned(), json!(limit.bytes.get()));
            }
        }
    }
    value
}

/// Says at once that packets are lost which a sender has joined; true when there was something to
/// say.
pub fn tell_joined(totals: &Totals, shown: &Shown) -> bool {
    let lost = [&totals.down, &totals.up].map(|half| half.last.port.joined_lost);
    let Some(side) = lost.iter().position(|&count| count > 0) else { return false };
    let [inside, outside] = &shown.interfaces;
    say(&format!(
        "warning: {}: packets arrive joined in a way that cannot be taken apart, and are lost: run `{SENDER_REMEDY}` at the sender",
        [inside, outside][side],
    ));
    true
}

/// The whole run in a few lines on standard error, and whether its figures are to be trusted; as
/// JSON on standard output.
pub fn print_end(shown: &Shown, totals: &Totals) -> Result<(), Failure> {
    if shown.json {
        print(&format!("{}\n", qdiscs(shown, totals)))?;
    }
    for (way, half) in [("down", &totals.down), ("up", &totals.up)] {
        let counters = &half.last.counters;
        let late = Quantiles::of(&half.times.lateness);
        let sojourn = Quantiles::of(&half.times.sojourn);
        say(&format!(
            "{way:4} {} packets, {} dropped, {} marked; sojourn p50 {:.3} p99 {:.3} max {:.3} ms; \
             late p50 {:.0} p99 {:.0} max {:.0} us, {} stalls",
            counters.departed.packets.get(),
            counters.dropped_total().packets.get(),
            counters.marked.packets.get(),
            sojourn.p50_s * 1e3,
            sojourn.p99_s * 1e3,
            sojourn.max_s * 1e3,
            late.p50_s * 1e6,
            late.p99_s * 1e6,
            late.max_s * 1e6,
            half.times.stalls,
        ));
        let port = &half.last.port;
        if half.lost_outside() > 0 {
            say(&format!(
                "warning: {way}: lost outside of the queue: {} receive ring full, {} no buffer, {} longer than the MTU{}",
                port.ring_overflows,
                port.no_buffer,
                port.oversize,
                if port.joined_lost > 0 {
                    format!(" ({} of them joined: {SENDER_REMEDY})", port.joined_lost)
                } else {
                    String::new()
                },
            ));
        }
        if port.partial_checksums > 0 {
            say(&format!("{way}: {} packets came without checksums, which were filled in", port.partial_checksums));
        }
    }
    if totals.processor > 0.0 {
        say(&format!("the thread that moves packets took {:.1} % of a processor", totals.processor * 100.0));
    }
    Ok(())
}
