//! The scenario host `linux`: TCP of real kernels in virtual time, behind the simulator's links and
//! queues.

use goodqueue_lab::build;
use goodqueue_lab::hosts::{HostRun, Refusal, ScenarioHost, Task};
use goodqueue_lab::plan::Point;
use goodqueue_linux::{Hosts, Kernel, LinuxError, Programs};
use goodqueue_sim::{Continue, Outcome, Progress, WorldSpec};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The guest kernel of this machine.
#[derive(Clone, Debug)]
pub struct Linux {
    kernel: Kernel,
    /// How this program is started as the first process of a guest.
    program: Vec<OsString>,
}

impl Linux {
    /// Finds the guest kernel. `itself` is how this program is started as `gq`.
    ///
    /// # Errors
    /// A one-line message when there is none.
    pub fn find(itself: &[OsString]) -> Result<Self, String> {
        let program = itself.iter().cloned().chain([OsString::from("linux-guest")]).collect();
        Ok(Self { kernel: Kernel::find()?, program })
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
        goodqueue_linux::execute(spec, self.hosts(), programs, progress)
    }

    fn hosts(&self) -> Hosts<'_> {
        Hosts { kernel: &self.kernel.program, program: &self.program }
    }
}

impl ScenarioHost for Linux {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn check(&self, point: &Point) -> Result<(), Refusal> {
        // What a kernel cannot do follows from settings, which are the same in all replications.
        goodqueue_linux::check(&build::world(point, 0), &self.kernel)
            .map_err(|refused| Refusal { key: refused.key, why: refused.why })
    }

    fn notes(&self) -> BTreeMap<String, String> {
        self.kernel.notes().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun {
        let simulate = |spec: &WorldSpec, progress: &mut dyn FnMut(Progress) -> Continue| {
            goodqueue_linux::run(spec, self.hosts(), progress).map_err(|error| error.to_string())
        };
        task.run_world(progress, simulate).into()
    }
}
