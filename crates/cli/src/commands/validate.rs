//! `gq validate`: the same scenario in the simulator and with real kernel senders, side by side.

use crate::commands::run::Overrides;
use crate::failure::Failure;
use crate::live::host;
use crate::output::{print, say};
use crate::progress::Progress;
use crate::{interrupt, result};
use clap::{Args, ValueEnum};
use goodqueue_lab::plan::{Plan, Point};
use goodqueue_lab::record::NoRecorder;
use goodqueue_lab::runner::{self, Recorded, RunOptions, RunReport, label};
use goodqueue_lab::statistics::Figure;
use goodqueue_lab::summary::PointSummary;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Arguments of `gq validate`.
#[derive(Args)]
pub struct Arguments {
    /// The scenario
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// What the simulator is held against
    #[arg(long, value_enum, default_value_t = Against::Live)]
    against: Against,
    #[command(flatten)]
    overrides: Overrides,
    /// Write everything as JSON to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What the simulator is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// Guest kernels in virtual time
    Linux,
    /// Kernel senders on this machine
    Live,
}

impl Against {
    const fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Live => "live",
        }
    }

    /// Can it run these points here?
    fn prepare(self, points: &[Point]) -> Result<(), Failure> {
        match self {
            Self::Linux => crate::linux::check(points),
            Self::Live => {
                points.iter().try_for_each(host::check).map_err(Failure::Input)?;
                host::prepare().map_err(Failure::Run)
            }
        }
    }

    fn run(self, points: &[Point], options: &RunOptions, stop: &AtomicBool, progress: &mut dyn FnMut(f64)) -> RunReport {
        match self {
            Self::Linux => crate::linux::run(points, options, stop, progress, &mut NoRecorder),
            Self::Live => host::run(points, options, stop, progress, &say),
        }
    }
}

/// How close a figure must be: within so much, or within this part of the one with kernel senders.
struct Compared {
    metric: &'static str,
    unit: &'static str,
    scale: f64,
    absolute: f64,
    relative: f64,
}

/// Utilisation within 2 points, the median sojourn time within 0.5 ms or 10 %, drops within a factor of 1.5; the others for
/// information.
const COMPARED: &[Compared] = &[
    Compared { metric: "utilization", unit: "%", scale: 100.0, absolute: 0.02, relative: 0.0 },
    Compared { metric: "sojourn_s.p50", unit: "ms", scale: 1e3, absolute: 0.5e-3, relative: 0.1 },
    Compared { metric: "sojourn_s.mean", unit: "ms", scale: 1e3, absolute: f64::INFINITY, relative: 0.0 },
    Compared { metric: "sojourn_s.p95", unit: "ms", scale: 1e3, absolute: f64::INFINITY, relative: 0.0 },
    Compared { metric: "queue_packets", unit: "packets", scale: 1.0, absolute: f64::INFINITY, relative: 0.0 },
    Compared { metric: "drop_ratio", unit: "%", scale: 100.0, absolute: 0.0, relative: 0.5 },
    Compared { metric: "mark_ratio", unit: "%", scale: 100.0, absolute: f64::INFINITY, relative: 0.0 },
];

impl Compared {
    /// `None` where nothing is asked of it, or it is not defined on either side.
    fn agrees(&self, sim: Figure, real: Figure) -> Option<bool> {
        if self.absolute.is_infinite() {
            return None;
        }
        let (sim, real) = (sim.mean?, real.mean?);
        // A factor without an absolute bound holds in both directions, so it is taken of the smaller one.
        let base = if self.absolute == 0.0 { sim.min(real) } else { real };
        Some((sim - real).abs() <= self.absolute.max(self.relative * base.abs()))
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.overrides.only_sim("gq validate runs on both")?;
    let plan = Plan::load(&arguments.scenario)?.with_overrides(&arguments.overrides.pairs()?)?;
    let points = plan.points()?;
    let against = arguments.against;
    against.prepare(&points)?;
    for warning in result::warnings(&points) {
        say(&format!("warning: {warning}"));
    }
    let options = RunOptions {
        jobs: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        replications: plan.replications(),
        recorded: Recorded::Nothing,
        sample_every: None,
        packets: false,
        drawn_points: 0,
    };
    let stop = interrupt::stop_flag();
    let bar = Progress::new(2 * points.len() * options.replications as usize);
    let sim = runner::run(&points, &options, &stop, &mut |part| bar.set(part / 2.0), &mut NoRecorder);
    let real = against.run(&points, &options, &stop, &mut |part| bar.set(0.5 + part / 2.0));
    bar.finish();
    let (text, value, differ) = compare(&sim, &real, against.name());
    print(&text)?;
    if let Some(path) = &arguments.json {
        goodqueue_lab::record::write_file(path, format!("{value:#}\n").as_bytes())?;
    }
    for (name, report) in [("sim", &sim), (against.name(), &real)] {
        if let Some(first) = report.failures.first() {
            return Err(Failure::Run(format!("{name}: {} runs failed; the first: {first}", report.failures.len())));
        }
        if !report.complete {
            return Err(Failure::Run(format!("{name}: interrupted before all runs had finished")));
        }
    }
    if differ > 0 { Err(Failure::Run(format!("{differ} figures differ by more than is allowed"))) } else { Ok(()) }
}

/// The table, the same as JSON, and how many figures are too far apart.
fn compare(sim: &RunReport, real: &RunReport, against: &str) -> (String, Value, usize) {
    let (mut text, mut points, mut differ) = (String::new(), Vec::new(), 0);
    for (sim, real) in sim.points.iter().zip(&real.points) {
        let (Some(sim), Some(real)) = (&sim.summary, &real.summary) else { continue };
        let _ = writeln!(text, "{}", label(&sim.set));
        let _ = writeln!(text, "  {:34} {:>20} {:>20} {:>12}  verdict", "", "sim", against, "difference");
        let mut figures = Vec::new();
        for (link, here) in &sim.links {
            for compared in COMPARED {
                let there = real.link(link).map_or_else(Figure::default, |figures| figures.figure(compared.metric));
                let here = here.figure(compared.metric);
                let (Some(a), Some(b)) = (here.mean, there.mean) else { continue };
                let agrees = compared.agrees(here, there);
                differ += usize::from(agrees == Some(false));
                let verdict = match agrees {
                    None => "",
                    Some(true) => "agrees",
                    Some(false) => "differs",
                };
                let scale = compared.scale;
                let name = format!("{link} {} ({})", compared.metric, compared.unit);
                let difference = (a - b) * scale;
                let _ = writeln!(
                    text,
                    "  {name:34} {:>20} {:>20} {difference:12.4}  {verdict}",
                    shown(here, scale),
                    shown(there, scale)
                );
                figures.push(json!({ "link": link, "metric": compared.metric, "sim": here, (against): there, "agrees": agrees }));
            }
        }
        let (here, there) = (goodput(sim), goodput(real));
        let _ = writeln!(text, "  {:34} {here:20.4} {there:20.4} {:12.4}", "goodput (Mbit/s)", here - there);
        points.push(json!({ "set": label(&sim.set), "figures": figures, "goodput_mbit_s": { "sim": here, (against): there } }));
    }
    (text, json!({ "schema": "goodqueue.validate/1", "differ": differ, "points": points }), differ)
}

fn shown(figure: Figure, scale: f64) -> String {
    let mean = figure.mean.map_or_else(|| "-".to_owned(), |mean| format!("{:.4}", mean * scale));
    figure.ci95.map_or_else(|| mean.clone(), |half| format!("{mean} ± {:.4}", half * scale))
}

/// Of all flows, in Mbit/s.
fn goodput(point: &PointSummary) -> f64 {
    point.flows.iter().filter_map(|flow| flow.goodput_bit_s.mean).sum::<f64>() * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees(metric: &str, sim: f64, live: f64) -> Option<bool> {
        let of = |value| Figure::of([Some(value)]);
        COMPARED.iter().find(|compared| compared.metric == metric).unwrap().agrees(of(sim), of(live))
    }

    #[test]
    fn bounds_are_as_promised() {
        assert_eq!(agrees("utilization", 0.97, 0.985), Some(true));
        assert_eq!(agrees("utilization", 0.96, 0.985), Some(false));
        assert_eq!(agrees("sojourn_s.p50", 1.0e-3, 1.4e-3), Some(true));
        assert_eq!(agrees("sojourn_s.p50", 10.0e-3, 12.0e-3), Some(false));
        // A factor of 1.5, whichever is larger.
        assert_eq!(agrees("drop_ratio", 0.010, 0.0149), Some(true));
        assert_eq!(agrees("drop_ratio", 0.0149, 0.010), Some(true));
        assert_eq!(agrees("drop_ratio", 0.016, 0.010), Some(false));
        assert_eq!(agrees("mark_ratio", 1.0, 0.0), None);
    }
}
