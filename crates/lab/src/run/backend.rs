//! The hosts of scenarios: the trait that every host implements, and the simulator as one of them.

use crate::scenario::build;
use crate::scenario::plan::Point;
use goodqueue_base::units::{Duration, Instant};
use goodqueue_sim::{Continue, Outcome, Progress, Recording, World, WorldError, WorldSpec};
use goodqueue_tcp::cc::KERNEL_KINDS;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

pub use crate::results::validity::{Lateness, Validity, sentence};

/// A host of scenarios: it takes one point and one replication at a time and measures what the
/// simulator measures.
pub trait Backend: Sync {
    /// The name in commands and results: `sim`, `linux` or `live`.
    fn name(&self) -> &'static str;

    /// Refuses the first key of a point that cannot be honored here.
    ///
    /// # Errors
    /// The key by name, and the reason.
    fn check(&self, point: &Point) -> Result<(), Refusal>;

    /// Refuses what runs cannot record here.
    ///
    /// # Errors
    /// `packets` or `sample`, and the reason.
    fn check_recording(&self, _samples: Samples, _packets: Packets) -> Result<(), Refusal> {
        Ok(())
    }

    /// Gets ready to run. Call it before the process has threads: some hosts change what the whole
    /// process may do.
    ///
    /// # Errors
    /// What this machine refuses.
    fn prepare(&self) -> Result<(), BackendFailure> {
        Ok(())
    }

    /// Runs at the same time when `wanted` are asked for.
    fn jobs(&self, wanted: usize) -> usize {
        wanted
    }

    /// Whether the same point and replication give the same figures again.
    fn is_reproducible(&self) -> bool {
        true
    }

    /// Facts about the build of the host's kernel, by name; empty for a host without a kernel of
    /// its own.
    fn notes(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Whether a single run may take the thread that waits for it, which saves starting another: it
    /// reports progress every few milliseconds, and needs no thread of its own.
    fn shares_thread(&self) -> bool {
        false
    }

    /// Calls `work` on each thread that runs tasks.
    fn on_thread(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }

    /// Carries out one run. `progress` receives the finished part of it, in [0, 1].
    fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun;
}

/// One run that a host is to carry out.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The settings.
    pub point: &'a Point,
    /// The replication of the point, from zero.
    pub replication: u32,
    /// Whether series are recorded.
    pub samples: Samples,
    /// Whether each packet event is recorded, in addition to series.
    pub packets: Packets,
    /// Set when the run shall stop at its next check.
    pub stop: &'a AtomicBool,
}

/// The values over time that a run records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// None.
    Off,
    /// With the host's usual time between two samples.
    Usual,
    /// With this time between two samples.
    Every(Duration),
}

/// Whether a run records packet events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packets {
    /// None of them.
    Off,
    /// All of them.
    On,
}

/// The time between samples that gives about 2500 of them, a whole number of milliseconds.
#[must_use]
pub fn sampling_period(span: Duration) -> Duration {
    Duration::ms((span.as_nanos() / 1_000_000).div_ceil(2500).max(1))
}

/// The end of one run, and how far each attempt at it can be trusted.
#[derive(Debug)]
pub struct HostRun {
    /// The end of the run.
    pub ended: Ended,
    /// Attempts in real time; none on hosts whose time is their own.
    pub attempts: Vec<Validity>,
}

/// The ways in which a run can end.
#[derive(Debug)]
pub enum Ended {
    /// With an outcome.
    Finished {
        /// The measured outcome.
        outcome: Box<Outcome>,
        /// Length of the measured part.
        measured: Duration,
    },
    /// Before its end, because it was told to stop.
    Stopped,
    /// Without an outcome, for this reason.
    Failed(BackendFailure),
}

/// Why a host cannot get ready, or has no outcome for a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BackendFailure {
    /// The world of a scenario cannot be built.
    #[error("{0}")]
    World(#[from] WorldError),
    /// The machine, its kernel or what runs on it refuses something, in one line.
    #[error("{0}")]
    Machine(String),
    /// A mistake in this program ended the run.
    #[error("{0}")]
    Panic(String),
}

impl BackendFailure {
    /// The failure of a host's own parts.
    #[must_use]
    pub fn machine(error: &dyn fmt::Display) -> Self {
        Self::Machine(error.to_string())
    }
}

impl From<Ended> for HostRun {
    fn from(ended: Ended) -> Self {
        Self { ended, attempts: Vec::new() }
    }
}

impl Task<'_> {
    /// Whether the run shall stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs the world of this task by `simulate`, which stops when it is told to and then gives an
    /// incomplete outcome.
    pub fn run_world(
        &self,
        progress: &mut dyn FnMut(f64),
        mut simulate: impl FnMut(&WorldSpec, &mut dyn FnMut(Progress) -> Continue) -> Result<Outcome, BackendFailure>,
    ) -> Ended {
        let worlds = build::separate_worlds(&self.point.plan);
        let mut whole: Option<Outcome> = None;
        for number in 0..worlds {
            let mut spec = build::separate_world(self.point, self.replication, number);
            spec.recording = self.recording(&spec);
            let outcome = simulate(&spec, &mut |at: Progress| {
                let part = at.now.as_secs_f64() / at.end.since(Instant::ZERO).as_secs_f64();
                progress((f64::from(number) + part) / f64::from(worlds));
                if self.is_stopped() { Continue::Stop } else { Continue::Yes }
            });
            match outcome {
                Ok(outcome) if !outcome.complete => return Ended::Stopped,
                Ok(outcome) => match &mut whole {
                    Some(whole) => whole.add(outcome, number),
                    None => whole = Some(outcome),
                },
                Err(failure) => return Ended::Failed(failure),
            }
        }
        let Some(mut outcome) = whole else { return Ended::Stopped };
        outcome.sort();
        Ended::Finished { outcome: Box::new(outcome), measured: self.point.plan.duration }
    }

    /// The settings for recording a run of `spec`. A sample looks at every link: of more than a
    /// thousand there are fewer samples.
    fn recording(&self, spec: &WorldSpec) -> Recording {
        const MAX_SAMPLED: usize = 1_000;
        let links = spec.links.iter().filter(|link| link.observed).count();
        let sample_every = match self.samples {
            Samples::Off => None,
            Samples::Usual => Some(sampling_period(spec.warmup + spec.duration) * links.div_ceil(MAX_SAMPLED).max(1) as u64),
            Samples::Every(period) => Some(period),
        };
        Recording { sample_every, packets: self.packets == Packets::On }
    }
}

/// The simulator, which runs everything that can be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulator;

impl Backend for Simulator {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn check(&self, point: &Point) -> Result<(), Refusal> {
        point.plan.traffic.iter().try_for_each(|group| {
            let mut controls = group.parts().filter_map(|part| Some(part.source.tcp()?.0.cc.kind));
            match controls.find(|kind| KERNEL_KINDS.contains(kind)) {
                Some(kind) => {
                    let why =
                        format!("`{kind}` is the kernel's own control, which only hosts with kernel senders have (--on linux)");
                    Err(Refusal::of_traffic(&group.name, "cc", why))
                }
                None => Ok(()),
            }
        })
    }

    fn shares_thread(&self) -> bool {
        true
    }

    fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun {
        let simulate = |spec: &WorldSpec, progress: &mut dyn FnMut(Progress) -> Continue| {
            World::new(spec).map(|world| world.run(progress)).map_err(BackendFailure::from)
        };
        task.run_world(progress, simulate).into()
    }
}

/// A key of a scenario that a host cannot honor, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The key by its name in scenarios, for instance `link.bottleneck.burst` or ``traffic `bulk`:
    /// size``.
    pub key: String,
    /// The reason, which follows the key in one line.
    pub why: String,
}

impl Refusal {
    /// Refuses a key of the link `link`.
    #[must_use]
    pub fn of_link(link: &str, key: &str, why: impl Into<String>) -> Self {
        Self { key: format!("link.{link}.{key}"), why: why.into() }
    }

    /// Refuses a key of the traffic group `group`.
    #[must_use]
    pub fn of_traffic(group: &str, key: &str, why: impl Into<String>) -> Self {
        Self { key: format!("traffic `{group}`: {key}"), why: why.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.why)
    }
}

impl std::error::Error for Refusal {}
