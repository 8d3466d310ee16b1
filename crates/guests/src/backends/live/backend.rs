//! The scenario host `live`: points of a plan with real kernel senders, in networks of their own,
//! reduced to the same figures.

use super::outcome::outcome;
use super::queue;
use super::translate::translate;
use crate::backends::{AfterRetries, ProcessOwner, Settings, VoidRunPolicy};
use goodqueue_aqm::Rng;
use goodqueue_base::units::Duration;
use goodqueue_lab::run::backend::{Backend, BackendFailure, Ended, HostRun, Lateness, Packets, Refusal, Samples, Task, Validity};
use goodqueue_lab::run::runner::label;
use goodqueue_lab::scenario::build::{self, seed_of};
use goodqueue_lab::scenario::plan::Point;
use goodqueue_live::sys::namespace;
use goodqueue_live::testbed::experiment::{self, HalfMeasured, Measured, Segments};
use goodqueue_live::testbed::namespace::Namespace;

/// The shortest time between two samples.
const MIN_SAMPLING: Duration = Duration::ms(1);

/// Kernel senders of this machine.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    process: ProcessOwner,
    voids: VoidRunPolicy,
    say: fn(&str),
}

impl Live {
    /// The host as `settings` want it.
    #[must_use]
    pub const fn new(settings: &Settings) -> Self {
        Self { process: settings.process, voids: settings.voids, say: settings.say }
    }

    /// One replication, repeated while it is void.
    fn attempts(&self, task: &Task<'_>, attempts: &mut Vec<Validity>) -> Ended {
        let point = task.point;
        let segments = match translate(point) {
            Ok(translated) => translated.segments(),
            Err(refusal) => return failed(&refusal),
        };
        let mut least_late: Option<(usize, Measured)> = None;
        for attempt in 1..=self.voids.attempts {
            let measured = match once(task) {
                Ok(Some(measured)) => measured,
                Ok(None) => return Ended::Stopped,
                Err(failure) => return Ended::Failed(failure),
            };
            let validity = validity(task, attempt, &measured, segments);
            let void = validity.void.clone();
            let number = attempts.len();
            attempts.push(validity);
            let Some(why) = void else {
                attempts[number].counted = true;
                return finished(task, &measured);
            };
            let is_last = attempt == self.voids.attempts;
            if is_last && self.voids.rest == AfterRetries::Fails {
                return failed(&format_args!("void in {attempt} attempts, at last because {why}"));
            }
            let again = if is_last { "" } else { " and runs again" };
            (self.say)(&format!("replication {} is void{again}: {why}", task.replication));
            if least_late.as_ref().is_none_or(|(_, before)| measured.later() < before.later()) {
                least_late = Some((number, measured));
            }
        }
        let Some((number, measured)) = least_late else { return failed(&"no attempt was allowed") };
        attempts[number].counted = true;
        finished(task, &measured)
    }
}

impl Backend for Live {
    fn name(&self) -> &'static str {
        "live"
    }

    fn check(&self, point: &Point) -> Result<(), Refusal> {
        translate(point).map(drop)
    }

    fn check_recording(&self, samples: Samples, packets: Packets) -> Result<(), Refusal> {
        let refuse = |key: &str, why: &str| Err(Refusal { key: key.to_owned(), why: why.to_owned() });
        match (samples, packets) {
            (_, Packets::On) => refuse("packets", "is for the simulator; gq bridge --record keeps every event of a queue"),
            (Samples::Every(period), _) if period < MIN_SAMPLING => refuse("sample", "is out of range: allowed from 1 ms"),
            (Samples::Off | Samples::Usual | Samples::Every(_), Packets::Off) => Ok(()),
        }
    }

    fn prepare(&self) -> Result<(), BackendFailure> {
        if namespace::is_root() {
            return Namespace::new()
                .map(drop)
                .map_err(|error| BackendFailure::Machine(format!("cannot make networks of its own: {error}")));
        }
        match self.process {
            ProcessOwner::Own => {
                let refused =
                    |error| BackendFailure::Machine(format!("needs root, or a kernel that lets users make networks: {error}"));
                namespace::become_root().map_err(refused)
            }
            ProcessOwner::Foreign => {
                let why = "needs root to make networks of its own; as another user start this program by `unshare -Urn`, \
                           or use gq run --on live";
                Err(BackendFailure::machine(&why))
            }
        }
    }

    /// One after the other: runs at the same time would make each other late.
    fn jobs(&self, _wanted: usize) -> usize {
        1
    }

    fn is_reproducible(&self) -> bool {
        false
    }

    fn run(&self, task: &Task<'_>, _progress: &mut dyn FnMut(f64)) -> HostRun {
        let mut attempts = Vec::new();
        let ended = self.attempts(task, &mut attempts);
        HostRun { ended, attempts }
    }
}

fn failed(why: &dyn std::fmt::Display) -> Ended {
    Ended::Failed(BackendFailure::machine(why))
}

fn once(task: &Task<'_>) -> Result<Option<Measured>, BackendFailure> {
    let plan = &task.point.plan;
    let link = &plan.links[0];
    let seed = seed_of(plan, task.replication);
    let translated = translate(task.point).map_err(|refusal| BackendFailure::machine(&refusal))?;
    let sample_every = match task.samples {
        Samples::Off | Samples::Usual => None,
        Samples::Every(period) => Some(period),
    };
    let experiment = translated.experiment(&build::world(task.point, task.replication), sample_every);
    let made =
        |direction, stream| queue(link, direction, Rng::stream(seed, stream)).map_err(|error| BackendFailure::machine(&error));
    let queues = (made(&link.down, 1)?, made(&link.up, 2)?);
    experiment::run(&experiment, queues, task.stop).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            BackendFailure::Machine(format!("{error}: networks need root; as another user: unshare -Urn gq run --on live …"))
        }
        _ => BackendFailure::machine(&error),
    })
}

fn finished(task: &Task<'_>, measured: &Measured) -> Ended {
    let mut outcome = outcome(&task.point.plan, &build::world(task.point, task.replication), measured);
    if task.samples == Samples::Off {
        outcome.series = Vec::new();
    }
    Ended::Finished { outcome: Box::new(outcome), measured: measured.span }
}

/// Judges how far one attempt can be trusted. The attempt does not count until its caller accepts
/// it.
fn validity(task: &Task<'_>, attempt: u32, measured: &Measured, segments: Segments) -> Validity {
    let Point { set, plan } = task.point;
    Validity {
        set: label(set),
        replication: task.replication,
        attempt,
        void: measured.void(plan.base_rtt()),
        counted: false,
        down: lateness(&measured.down),
        up: lateness(&measured.up),
        stolen_s: measured.stolen.as_secs_f64(),
        real_time: measured.real_time,
        offloads: match segments {
            Segments::Single => "off",
            Segments::Joined => "on, judged segment by segment",
        },
    }
}

fn lateness(half: &HalfMeasured) -> Lateness {
    let late = half.lateness();
    Lateness {
        late_p50_s: late.p50_s,
        late_p99_s: late.p99_s,
        late_p999_s: half.late(0.999).as_secs_f64(),
        late_max_s: late.max_s,
        stalled: half.times.stalls,
        lost_outside: half.lost_outside,
    }
}
