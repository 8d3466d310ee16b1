//! The scenario host `linux`: TCP of real kernels in virtual time, behind the simulator's links and queues.

use crate::failure::Failure;
use crate::output;
use clap::Args;
use goodqueue_lab::build;
use goodqueue_lab::plan::Point;
use goodqueue_lab::record::Recorder;
use goodqueue_lab::runner::{self, RunOptions, RunReport};
use goodqueue_linux::{Hosts, Kernel, LinuxError, Programs, inside};
use goodqueue_sim::{Continue, Outcome, Progress, WorldSpec};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Arguments of `gq linux-guest`.
#[derive(Args)]
pub struct GuestArguments {
    /// What to do
    job: PathBuf,
}

/// The first process of a guest.
pub fn guest(arguments: &GuestArguments) -> Result<(), Failure> {
    inside::run(&arguments.job).map_err(|error| Failure::Run(error.to_string()))
}

/// Is there a kernel, and can it run all points?
pub fn check(points: &[Point]) -> Result<Kernel, Failure> {
    let kernel = Kernel::find().map_err(Failure::Input)?;
    // What a kernel cannot do follows from settings, which are the same in all replications.
    points.iter().try_for_each(|point| goodqueue_linux::check(&build::world(point, 0), &kernel)).map_err(Failure::Input)?;
    Ok(kernel)
}

/// Runs programs in the guests of one world.
pub fn execute(
    kernel: &Kernel,
    spec: &WorldSpec,
    programs: &mut Programs<'_>,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Outcome, LinuxError> {
    goodqueue_linux::execute(spec, Hosts { kernel: &kernel.program, program: &program() }, programs, progress)
}

/// What the kernel was made from.
pub fn kernel_notes() -> BTreeMap<String, String> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    Kernel::find().map_or_else(|_| BTreeMap::new(), |kernel| kernel.notes().map(owned).collect())
}

/// How this program is started as the first process of a guest.
fn program() -> Vec<OsString> {
    output::itself().iter().cloned().chain([OsString::from("linux-guest")]).collect()
}

/// Runs every replication of every point.
pub fn run(
    points: &[Point],
    options: &RunOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(f64),
    recorder: &mut dyn Recorder,
) -> RunReport {
    let (kernel, program) = (Kernel::find(), program());
    runner::run_with(points, options, stop, progress, recorder, &|spec, progress| {
        let kernel = kernel.as_ref().map_err(Clone::clone)?;
        let hosts = Hosts { kernel: &kernel.program, program: &program };
        goodqueue_linux::run(spec, hosts, progress).map_err(|error| error.to_string())
    })
}
