//! QUIC stacks of others, unmodified, and our TCP over the same queues: goodput, share, delay, and
//! the time of 100 kB.
//!
//! `transports [--quick] [--out FILE]` prints a page in Markdown, or writes it. `--quick` measures
//! one queue on one line.

mod keys;
mod noq;
mod quinn;
mod work;

use goodqueue_lab::plan::Plan;
use goodqueue_lab::runner::{PointResult, RunReport};
use goodqueue_lab::statistics::Figure;
use goodqueue_net::{Duration, Ends, Experiment, FlowFacts};
use keys::Keys;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use work::Work;

/// What is put in the place of the tested flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stack {
    /// Our TCP.
    Tcp,
    Quinn,
    Noq,
}

impl Stack {
    const ALL: [Self; 3] = [Self::Tcp, Self::Quinn, Self::Noq];

    const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "goodqueue TCP",
            Self::Quinn => "quinn-proto 0.11.19",
            Self::Noq => "noq-proto 1.4.0",
        }
    }

    const fn controls(self) -> &'static [&'static str] {
        match self {
            Self::Tcp => &["cubic", "reno", "bbr"],
            Self::Quinn => quinn::CONTROLS,
            Self::Noq => noq::CONTROLS,
        }
    }
}

/// A line and its queue.
#[derive(Clone, Copy, Debug)]
struct Place {
    rate: &'static str,
    /// One way.
    delay: &'static str,
    rtt: &'static str,
    queue: &'static str,
}

fn places(quick: bool) -> Vec<Place> {
    let (rates, delays, queues): (&[_], &[_], &[_]) = if quick {
        (&["10 Mbit/s"], &[("10 ms", "20 ms")], &["tail-drop"])
    } else {
        (&["10 Mbit/s", "100 Mbit/s"], &[("10 ms", "20 ms"), ("50 ms", "100 ms")], &["tail-drop", "codel", "fq-codel", "pie"])
    };
    let mut places = Vec::new();
    for &rate in rates {
        for &(delay, rtt) in delays {
            places.extend(queues.iter().map(|&queue| Place { rate, delay, rtt, queue }));
        }
    }
    places
}

/// The keys of the scenarios that stand in this folder.
fn plan(name: &str, place: Place, control: &str) -> Result<Plan, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let set = [
        ("link.line.rate", place.rate),
        ("link.line.delay", place.delay),
        ("link.line.queue", place.queue),
        ("traffic.0.cc", control),
    ];
    let set: Vec<(String, String)> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Ok(Plan::load(&folder.join(name))?.with_overrides(&set)?)
}

/// Runs a scenario with a stack in the place of `tested`.
fn run(stack: Stack, control: &str, plan: &Plan, work: &Work, keys: &Keys) -> Result<RunReport, Box<dyn Error>> {
    let experiment = Experiment::new(plan);
    let make = |flow: &FlowFacts<'_>| -> Result<Ends, Box<dyn Error>> {
        match stack {
            Stack::Quinn => quinn::ends(keys, flow, control, work),
            Stack::Noq => noq::ends(keys, flow, control, work),
            Stack::Tcp => Err("our TCP needs no endpoints".into()),
        }
    };
    Ok(if stack == Stack::Tcp { experiment.run() } else { experiment.attach("tested", make).run() }?)
}

/// What the page says of itself.
const PAGE: &str = "# QUIC stacks beside our TCP

Made by `make transports`; it is a tool, not a ranking. The same command gives the same bytes, except in the
rows of noq's BBR 3, whose random numbers no seed reaches.

- *Tested* is one flow of a stack, unmodified from its registry, under one of its congestion controls; for reference our own TCP.
- It shares a line with one CUBIC flow of our TCP (`bulk.toml`): 5 s of warm-up, 30 s measured, 3 replications, seed 1, mean and 95 %
  interval. The queue holds one product of rate and round-trip time; queues have their defaults and do not mark.
- *Share*: its part of the goodput of both. *Queue p95*: time in the queue of its packets. *Lost*: its packets that the queue dropped.
- *100 kB*: ten transfers on connections of their own, handshake included, beside the CUBIC flow (`transfers.toml`).
- *20 kB response*: median over one connection, a request 100 ms after each response, beside the CUBIC flow; seeds 1 to 3.
- QUIC's packets have at most 1452 bytes of payload and 28 of headers, our TCP's 1448 and 52.

";

/// One figure of a group over replications.
fn group(point: &PointResult, name: &str, metric: &str) -> Figure {
    Figure::of(point.runs.iter().map(|run| run.groups.iter().find(|group| group.name == name)?.value(metric)))
}

/// The share of `tested` in the goodput of both.
fn share(point: &PointResult) -> Figure {
    Figure::of(point.runs.iter().map(|run| {
        let goodput = |name| run.groups.iter().find(|group| group.name == name)?.value("goodput_bit_s");
        let (tested, reference) = (goodput("tested")?, goodput("reference")?);
        (tested + reference > 0.0).then(|| tested / (tested + reference))
    }))
}

fn link(point: &PointResult, metric: &str) -> Figure {
    Figure::of(point.runs.iter().map(|run| run.links.first()?.value(metric)))
}

fn shown(figure: Figure, scale: f64, decimals: usize) -> String {
    match (figure.mean, figure.ci95) {
        (Some(mean), Some(half)) => format!("{:.decimals$} ± {:.decimals$}", mean * scale, half * scale),
        (Some(mean), None) => format!("{:.decimals$}", mean * scale),
        (None, _) => "–".to_owned(),
    }
}

/// The row of a stack and control on one line.
fn row(stack: Stack, control: &str, place: Place, keys: &Keys) -> Result<String, Box<dyn Error>> {
    let bulk = run(stack, control, &plan("bulk.toml", place, control)?, &Work::Download, keys)?;
    let transfers = run(stack, control, &plan("transfers.toml", place, control)?, &Work::Download, keys)?;
    let requests = if stack == Stack::Tcp { Figure::default() } else { responses(stack, control, place, keys)? };
    let (bulk, transfers) = (&bulk.points[0], &transfers.points[0]);
    Ok(format!(
        "| {} | {} | {} | {} | {} {control} | {} | {} | {} | {} | {} | {} |",
        place.rate,
        place.rtt,
        place.queue,
        shown(link(bulk, "utilization"), 100.0, 1),
        stack.name(),
        shown(share(bulk), 100.0, 1),
        shown(group(bulk, "tested", "sojourn_s.p95"), 1e3, 1),
        shown(group(bulk, "tested", "loss_ratio"), 100.0, 2),
        shown(group(transfers, "tested", "completion_s.p50"), 1e3, 0),
        shown(group(transfers, "tested", "completion_s.p95"), 1e3, 0),
        shown(requests, 1e3, 1),
    ))
}

/// Median time of responses of 20 kB over one connection, beside the reference.
fn responses(stack: Stack, control: &str, place: Place, keys: &Keys) -> Result<Figure, Box<dyn Error>> {
    let mut medians = Vec::new();
    for seed in 1..=3 {
        let times = Arc::new(Mutex::new(Vec::new()));
        let work = Work::Requests { size: 20_000, pause: Duration::ms(100), times: times.clone() };
        let seeds = [("seed".to_owned(), seed.to_string()), ("replications".to_owned(), "1".to_owned())];
        let plan = plan("bulk.toml", place, control)?.with_overrides(&seeds)?;
        run(stack, control, &plan, &work, keys)?;
        let mut times = times.lock().expect("no thread panics with it").clone();
        times.sort_by(f64::total_cmp);
        medians.push(times.get(times.len() / 2).copied());
    }
    Ok(Figure::of(medians))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let out = arguments.iter().position(|argument| argument == "--out").and_then(|at| arguments.get(at + 1));
    let keys = Keys::new()?;
    let mut text = String::from(PAGE);
    text.push_str(
        "| rate | RTT | queue | utilization % | tested | its share % | queue p95 ms | lost % | 100 kB p50 ms | p95 ms | 20 kB response ms |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let begun = Instant::now();
    for place in places(quick) {
        for stack in Stack::ALL {
            for control in stack.controls() {
                let row = row(stack, control, place, &keys)?;
                eprintln!("{row}");
                let _ = writeln!(text, "{row}");
            }
        }
    }
    eprintln!("{:.1} s", begun.elapsed().as_secs_f64());
    match out {
        Some(path) => std::fs::write(path, text)?,
        None => print!("{text}"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_with_other_keys_are_the_same() {
        let place = places(true)[0];
        let brief = [("duration".to_owned(), "5 s".to_owned()), ("replications".to_owned(), "1".to_owned())];
        for stack in [Stack::Quinn, Stack::Noq] {
            let fingerprint = || {
                let plan = plan("bulk.toml", place, "cubic").expect("a scenario").with_overrides(&brief).expect("settings");
                let keys = Keys::new().expect("keys");
                run(stack, stack.controls()[0], &plan, &Work::Download, &keys).expect("a run").fingerprints
            };
            assert_eq!(fingerprint(), fingerprint(), "{}", stack.name());
        }
    }
}
