//! The scenario host `live`: points of a plan with real kernel senders, in networks of their own, reduced to the same figures.

use super::outcome::outcome;
use super::queue;
use super::translate::translate;
use super::validity::{Validity, Voids};
use goodqueue_aqm::Rng;
use goodqueue_lab::build::{FlowStreams, seed_of};
use goodqueue_lab::distributions::Distributions;
use goodqueue_lab::error::RunFailure;
use goodqueue_lab::hosts::Refusal;
use goodqueue_lab::metrics::RunFigures;
use goodqueue_lab::plan::Point;
use goodqueue_lab::record::{RecordedRun, Recorder};
use goodqueue_lab::runner::{PointResult, Replication, RunOptions, RunReport, label};
use goodqueue_lab::summary::PointSummary;
use goodqueue_live::sys::namespace;
use goodqueue_testbed::experiment::{self, Measured};
use goodqueue_units::Duration;
use std::sync::atomic::{AtomicBool, Ordering};

/// Refuses the first thing in this point that cannot run here.
///
/// # Errors
/// The key by name, and why.
pub fn check(point: &Point) -> Result<(), Refusal> {
    translate(point).map(drop)
}

/// Runs every replication of every point, one after the other, and says how far each attempt can be trusted.
pub fn run(
    points: &[Point],
    options: &RunOptions,
    voids: Voids,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
    say: &dyn Fn(&str),
) -> (RunReport, Vec<Validity>) {
    let mut report = RunReport { points: Vec::new(), failures: Vec::new(), complete: true, fingerprints: Vec::new(), events: 0 };
    let mut validities = Vec::new();
    let total = (points.len() * options.replications as usize).max(1);
    let mut done = 0;
    for (place, point) in points.iter().enumerate() {
        let mut drawn = Vec::new();
        let (mut figures, mut numbers, mut times) = (Vec::new(), Vec::new(), Distributions::default());
        for replication in 0..options.replications {
            if stop.load(Ordering::Relaxed) {
                report.complete = false;
                break;
            }
            match attempts(point, replication, options.sample_every, voids, stop, say, &mut validities) {
                Ok(Some(measured)) => {
                    let mut outcome = outcome(&point.plan, &measured);
                    let series = std::mem::take(&mut outcome.series);
                    if options.recorded.includes(replication) {
                        let names: Vec<String> = outcome.links.iter().map(|link| link.name.clone()).collect();
                        recorder.record(RecordedRun { point: place, replication, links: &names, series: &series, packets: &[] });
                        if replication == 0 && place < options.drawn_points {
                            drawn = series;
                        }
                    }
                    let run = RunFigures::of(&outcome, measured.span);
                    report.fingerprints.push(run.fingerprint);
                    report.events += run.events;
                    times.add(Distributions::of(outcome));
                    figures.push(run);
                    numbers.push(replication);
                }
                Ok(None) => report.complete = false,
                Err(message) => {
                    report.failures.push(RunFailure { place: label(&point.set), replication, message });
                    report.complete = false;
                }
            }
            done += 1;
            progress(f64::from(done) / total as f64);
        }
        let [cdfs, rtt_cdfs] = times.cdfs();
        report.points.push(PointResult {
            summary: PointSummary::of(point.set.clone(), &figures),
            runs: numbers.into_iter().zip(figures).map(replicated).collect(),
            cdfs,
            rtt_cdfs,
            series: drawn,
        });
    }
    (report, validities)
}

fn replicated((number, figures): (u32, RunFigures)) -> Replication {
    let goodput_bit_s = figures.flows.iter().filter_map(|flow| flow.goodput_bit_s).sum();
    Replication { number, links: figures.links, goodput_bit_s }
}

/// One replication, repeated while it is void; `None` when it was stopped.
fn attempts(
    point: &Point,
    replication: u32,
    sample_every: Option<Duration>,
    voids: Voids,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
    validities: &mut Vec<Validity>,
) -> Result<Option<Measured>, String> {
    let segments = translate(point).map_err(|refusal| refusal.to_string())?.segments();
    let base_rtt = point.plan.base_rtt();
    let mut least_late: Option<(usize, Measured)> = None;
    for attempt in 1..=voids.attempts {
        let Some(measured) = once(point, replication, sample_every, stop)? else { return Ok(None) };
        let validity = Validity::of(label(&point.set), replication, attempt, &measured, segments, base_rtt);
        let void = validity.void.clone();
        let number = validities.len();
        validities.push(validity);
        let Some(why) = void else {
            validities[number].counted = true;
            return Ok(Some(measured));
        };
        let last = attempt == voids.attempts;
        if last && !voids.keep {
            return Err(format!("void in {attempt} attempts, at last because {why}"));
        }
        say(&format!("replication {replication} is void{}: {why}", if last { "" } else { " and runs again" }));
        if least_late.as_ref().is_none_or(|(_, before)| measured.later() < before.later()) {
            least_late = Some((number, measured));
        }
    }
    Ok(least_late.map(|(number, measured)| {
        validities[number].counted = true;
        measured
    }))
}

fn once(point: &Point, replication: u32, sample_every: Option<Duration>, stop: &AtomicBool) -> Result<Option<Measured>, String> {
    let plan = &point.plan;
    let link = &plan.links[0];
    let seed = seed_of(plan, replication);
    let translated = translate(point).map_err(|refusal| refusal.to_string())?;
    let experiment = translated.experiment(FlowStreams::new(seed), sample_every);
    let queues = (queue(link, &link.down, Rng::stream(seed, 1))?, queue(link, &link.up, Rng::stream(seed, 2))?);
    experiment::run(&experiment, queues, stop).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            format!("{error}: networks need root; as another user: unshare -Urn gq run --on live …")
        }
        _ => error.to_string(),
    })
}

/// As an ordinary user: becomes root of networks of its own. Only before this process has threads.
pub fn prepare() -> Result<(), String> {
    if namespace::is_root() {
        return Ok(());
    }
    namespace::become_root().map_err(|error| format!("--on live: needs root, or a kernel that lets users make networks: {error}"))
}
