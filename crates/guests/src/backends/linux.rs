//! The scenario host `linux`: TCP of real kernels in virtual time, behind the simulator's links and
//! queues; and the host `kernel`, where the queues are a kernel's too.

use crate::backends::BackendName;
use crate::linux::{GuestExecutables, Kernel, KernelQueues, LinuxError, MAX_PACKET, NoKernel, Programs, Series};
use goodqueue_lab::run::backend::{Backend, BackendFailure, HostRun, Refusal, Task};
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Point;
use goodqueue_sim::{Continue, Outcome, Progress, QueueSpec, RateSpec, WorldSpec};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The guest kernel of this machine.
#[derive(Clone, Debug)]
pub struct Linux {
    kernel: Kernel,
    /// The guest kernel that has our queue disciplines, if they are to decide in place of the
    /// simulator's queues.
    queues: Option<Kernel>,
    /// Command that starts this program as the first process of a guest.
    program: Vec<OsString>,
}

impl Linux {
    /// Finds the guest kernel of a series. `itself` is how this program is started as `gq`.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(itself: &[OsString], series: Series) -> Result<Self, NoKernel> {
        let program = itself.iter().cloned().chain([OsString::from("linux-guest")]).collect();
        Ok(Self { kernel: Kernel::find(series)?, queues: None, program })
    }

    /// As [`Linux::find`], with queues in a kernel.
    ///
    /// # Errors
    /// When there is no guest kernel, or none with our queue disciplines.
    pub fn find_with_queues(itself: &[OsString]) -> Result<Self, NoKernel> {
        Ok(Self { queues: Some(Kernel::find_with_queues(Series::V6_12)?), ..Self::find(itself, Series::V6_12)? })
    }

    /// The kernel's congestion controls.
    #[must_use]
    pub fn controls(&self) -> Vec<&str> {
        self.kernel.controls()
    }

    /// Runs programs in the guests of one world.
    ///
    /// # Errors
    /// When the world cannot be built, the machine refuses something, or a guest goes wrong.
    pub fn execute(
        &self,
        spec: &WorldSpec,
        programs: &mut Programs<'_>,
        progress: &mut dyn FnMut(Progress) -> Continue,
    ) -> Result<Outcome, LinuxError> {
        crate::linux::execute(spec, self.executables(), programs, progress)
    }

    fn executables(&self) -> GuestExecutables<'_> {
        GuestExecutables { kernel: &self.kernel.program, program: &self.program, patience: GuestExecutables::PATIENCE }
    }
}

impl Backend for Linux {
    fn name(&self) -> &'static str {
        match (&self.queues, self.kernel.noted("series")) {
            (Some(_), _) => BackendName::Kernel.name(),
            (None, Some("7.3")) => BackendName::Linux73.name(),
            (None, _) => BackendName::Linux.name(),
        }
    }

    fn check(&self, point: &Point) -> Result<(), Refusal> {
        // The limits of a kernel concern settings, which are the same in all replications.
        let world = build::world(point, 0);
        if self.queues.is_some() {
            check_queues(&world)?;
        }
        crate::linux::check(&world, &self.kernel).map_err(|refused| {
            let long = too_long(point, &world).filter(|_| refused.key.ends_with(": mss"));
            long.unwrap_or(refused)
        })
    }

    fn notes(&self) -> BTreeMap<String, String> {
        let own = self.kernel.notes().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let queues = self.queues.iter().flat_map(Kernel::notes);
        own.chain(queues.map(|(name, value)| (format!("queue_{name}"), value.to_owned()))).collect()
    }

    fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun {
        let simulate = |spec: &WorldSpec, progress: &mut dyn FnMut(Progress) -> Continue| {
            let Some(kernel) = &self.queues else { return crate::linux::run(spec, self.executables(), progress) };
            let queues = KernelQueues::new(GuestExecutables { kernel: &kernel.program, ..self.executables() });
            let outcome = crate::linux::run(&queues.in_place_of_all(spec), self.executables(), progress)?;
            queues.faultless().map(|()| outcome)
        };
        let simulate = |spec: &WorldSpec, progress: &mut dyn FnMut(Progress) -> Continue| {
            simulate(spec, progress).map_err(|error| BackendFailure::machine(&error))
        };
        task.run_world(progress, simulate).into()
    }
}

/// Most queues of a scenario in kernels: each is a guest.
const MAX_QUEUES: usize = 8;

/// Refuses what a queue discipline in a kernel cannot be.
fn check_queues(world: &WorldSpec) -> Result<(), Refusal> {
    let mut queues = 0;
    for link in &world.links {
        match &link.queue {
            QueueSpec::Unlimited => continue,
            QueueSpec::Own { .. } => {
                let why = "an algorithm of your own is in no kernel: allowed those of `gq list aqm`";
                return Err(Refusal::of_link(&link.name, "aqm", why));
            }
            QueueSpec::Discipline { queue, .. } if queue.kind.class.is_some() => {
                let why = format!("`{}` has classes, which the kernel module is not told", queue.kind.kind);
                return Err(Refusal::of_link(&link.name, "aqm", why));
            }
            QueueSpec::Discipline { .. } | QueueSpec::ExternalScheduler { .. } => queues += 1,
        }
        if !matches!(link.rate, RateSpec::Constant(_)) {
            let why = "a queue in a kernel is told one rate: allowed a rate that does not change";
            return Err(Refusal::of_link(&link.name, "rate", why));
        }
        if queues > MAX_QUEUES {
            let why = format!("this is queue {queues} in a kernel, and each needs a guest: allowed {MAX_QUEUES}");
            return Err(Refusal::of_link(&link.name, "aqm", why));
        }
    }
    Ok(())
}

/// Refuses the link whose packets are longer than the guests' cards take, where segments fill them:
/// nobody has said `mss` then.
fn too_long(point: &Point, world: &WorldSpec) -> Option<Refusal> {
    let fills =
        |mtu| world.flows.iter().filter_map(|flow| flow.source.tcp()).any(|(sender, _, header)| sender.mss + header == mtu);
    let link = point.plan.links.iter().find(|link| link.mtu > MAX_PACKET && fills(link.mtu))?;
    Some(Refusal::of_link(&link.name, "mtu", format!("packets of more than {MAX_PACKET} do not pass the guests' cards")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::described::{self, of_traffic};
    use goodqueue_lab::scenario::plan::Plan;
    use goodqueue_lab::scenario::schema::traffic::KINDS;
    use std::path::{Path, PathBuf};

    /// The host with a kernel that is only a record: it checks, and runs nothing.
    fn host() -> Linux {
        let record = "controls = \"reno cubic bbr dctcp\"\n".to_owned();
        Linux { kernel: Kernel { program: PathBuf::new(), record }, queues: None, program: Vec::new() }
    }

    fn refused(scenario: &str) -> Option<String> {
        let plan = Plan::parse("test", scenario, Path::new("")).unwrap_or_else(|error| panic!("{error}\n{scenario}"));
        host().check(&plan.points().expect("one point")[0]).err().map(|refusal| refusal.to_string())
    }

    #[test]
    fn what_guests_cannot_have_is_refused_by_name() {
        let cases = [
            ("cc = { kind = \"cubic\", beta = 0.5 }", "cc"),
            ("cc = \"ledbat\"", "cc"),
            ("sack = false", "sack"),
            ("sack = \"plain\"", "sack"),
            ("gso = false", "gso"),
            ("initial_window = 4", "initial_window"),
            ("ack = \"every-packet\"", "ack"),
            ("ack = { every = 20 }", "ack"),
            ("max_ack_delay = \"100 ms\"", "max_ack_delay"),
            ("loss_detection = \"rfc6675\"", "loss_detection"),
            ("slow_start_exit = \"loss-only\"", "slow_start_exit"),
            ("ecn = \"accurate\"", "ecn"),
            ("header = \"60 B\"", "header"),
        ];
        for (line, key) in cases {
            let refusal =
                refused(&of_traffic(&format!("kind = \"bulk\"\n{line}"))).unwrap_or_else(|| panic!("not refused: {line}"));
            assert!(refusal.starts_with(&format!("traffic `t`: {key}: ")), "{refusal} instead of {key}");
        }
    }

    #[test]
    fn each_described_key_is_honoured_or_refused_by_its_own_name() {
        let sessions = ["bulk-with-pauses", "web", "page", "video"];
        let kinds: Vec<&str> = KINDS.iter().map(|spec| spec.kind).filter(|kind| !sessions.contains(kind)).collect();
        let honored = described::honored(&kinds, |point| host().check(point));
        let of_link = honored.iter().filter(|key| key.starts_with("link.l.")).count();
        assert!(of_link > 10, "links are the simulator's: {honored:?}");
        assert!(["ack", "max_ack_delay"].iter().all(|key| !honored.contains(&format!("traffic `bulk`: {key}"))));
        assert!(["size", "cc", "ecn", "mss", "rto_min"].iter().all(|key| honored.contains(&format!("traffic `bulk`: {key}"))));
    }
}
