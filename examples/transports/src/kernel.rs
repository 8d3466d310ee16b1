//! Shares alongside the CUBIC of a Linux kernel, in virtual time: the ends of a stack are programs
//! of two guests, over their sockets, next to a flow of the guests' TCP.

use crate::matrix::{Place, Queue};
use crate::measure::{BULK, Bench, Values, file, keep, plan};
use crate::stack::{Stack, Tested};
use goodqueue_guests::linux::{GuestExecutables, Kernel, ProgramSaid, Programs};
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_net::Duration;
use goodqueue_sim::{Continue, Outcome, WorldSpec};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The lines.
pub const PLACES: [Place; 2] =
    [Place { queue: Queue::TailDrop, rate: 10, rtt: 20 }, Place { queue: Queue::FqCoDel, rate: 10, rtt: 20 }];
/// Time before the measured part, and that part: a guest takes as long as its virtual time, or
/// longer.
const WARMUP: &str = "2 s";
const MEASURED: Duration = Duration::secs(5);
/// The command of this program that is the first process of a guest.
pub const GUEST: &str = "linux-guest";
/// Port of servers.
const PORT: u16 = 4433;
/// Time after the measured part in which a client reports.
const REPORTING: Duration = Duration::ms(100);

/// Returns the subjects of the test: the kernel itself, and each stack, under CUBIC.
pub fn tested() -> impl Iterator<Item = Tested> {
    Tested::all().filter(|tested| tested.control == "cubic")
}

/// The figures of a stack on one line, next to a kernel's CUBIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// Hash of the scenario.
    pub scenario: String,
    /// Version of the kernel.
    pub kernel: String,
    /// Why there are none.
    pub failure: Option<String>,
    /// Part of the stack in the goodput of both.
    pub share: Values,
    /// Share of the line in use.
    pub utilization: Values,
}

/// The guest kernel of this machine, and this program inside it.
pub struct Guests {
    kernel: Kernel,
    program: [OsString; 2],
}

impl Guests {
    /// Finds the guest kernel and the program of this machine.
    pub fn find() -> Result<Self, Box<dyn Error>> {
        Ok(Self { kernel: Kernel::find()?, program: [std::env::current_exe()?.into_os_string(), GUEST.into()] })
    }

    pub fn version(&self) -> String {
        self.kernel.noted("package").unwrap_or("of an unknown version").to_owned()
    }

    fn executables(&self) -> GuestExecutables<'_> {
        GuestExecutables { kernel: &self.kernel.program, program: &self.program, patience: GuestExecutables::PATIENCE }
    }

    /// The figures of a row, which an earlier run may have measured.
    pub fn row(&self, bench: &Bench, tested: Tested, place: Place) -> Result<Against, Box<dyn Error>> {
        let kept = kept(bench.folder(), tested, place)?.filter(|kept| kept.kernel == self.version() && kept.failure.is_none());
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let row = self.measure(bench, tested, place)?;
        keep(&path(bench.folder(), tested, place), &row)?;
        Ok(row)
    }

    fn measure(&self, bench: &Bench, tested: Tested, place: Place) -> Result<Against, Box<dyn Error>> {
        let plan = scenario(tested, place, bench.folder())?;
        let mut against = Against { scenario: plan.sha256(), kernel: self.version(), ..Against::default() };
        let point = plan.point(0)?;
        for number in 0..plan.replications() {
            let spec = build::world(&point, number);
            let run = if tested.stack == Stack::Tcp { self.beside_itself(&spec) } else { self.beside(bench, tested, spec) };
            match run {
                Ok((goodput, outcome)) => {
                    let reference = delivered(&outcome, "reference");
                    let link = outcome.links.first().ok_or("the scenario has no line")?;
                    against.share.push(Some(goodput / (goodput + reference)));
                    against.utilization.push(Some(link.sent_bits / link.capacity_bits));
                }
                Err(error) => {
                    against.failure = Some(format!("replication {number}: {error}"));
                    return Ok(against);
                }
            }
        }
        Ok(against)
    }

    /// Both flows are of the kernel's TCP.
    fn beside_itself(&self, spec: &WorldSpec) -> Result<(f64, Outcome), Box<dyn Error>> {
        let outcome = goodqueue_guests::linux::run(spec, self.executables(), &mut |_| Continue::Yes)?;
        Ok((delivered(&outcome, "tested"), outcome))
    }

    /// Bytes that the client of a stack has received in the measured part.
    fn beside(&self, bench: &Bench, tested: Tested, mut spec: WorldSpec) -> Result<(f64, Outcome), Box<dyn Error>> {
        let group = spec.groups.iter().position(|name| name == "tested").ok_or("the scenario has no flow to replace")?;
        let place = spec.flows.iter().position(|flow| flow.group as usize == group).ok_or("no flow is tested")?;
        let flow = spec.flows.remove(place);
        let start = flow.start.since(goodqueue_net::Instant::ZERO);
        let from = spec.warmup.saturating_sub(start);
        let to = (spec.warmup + spec.duration).saturating_sub(start + REPORTING);
        let keys = std::path::absolute(bench.folder().join("keys.json"))?;
        bench.keys().write(&keys)?;
        let (this, keys) = (self.program[0].display(), keys.display());
        let (stack, control) = (tested.stack.word(), tested.control);
        let server = format!("{this} serve {stack} {control} {PORT} {keys}");
        let client =
            format!("{this} get {stack} {control} server:{PORT} {keys} {:.6}..{:.6}", from.as_secs_f64(), to.as_secs_f64());
        let (mut said, mut complaints) = (String::new(), String::new());
        let mut told = |event: ProgramSaid<'_>| match event {
            ProgramSaid::Client(bytes) => said.push_str(&String::from_utf8_lossy(bytes)),
            ProgramSaid::Server(bytes) => complaints.push_str(&String::from_utf8_lossy(bytes)),
            ProgramSaid::ServerExit(_) | ProgramSaid::ClientExit(..) => {}
        };
        let mut programs = Programs::new(server, client, &mut told);
        (programs.start, programs.forward, programs.reverse) = (start, flow.forward, flow.reverse);
        let outcome = goodqueue_guests::linux::execute(&spec, self.executables(), &mut programs, &mut |_| Continue::Yes)?;
        drop(programs);
        let bytes = said.split_whitespace().next().and_then(|word| word.parse().ok());
        let bytes: f64 = bytes.ok_or_else(|| format!("the client says: {} {}", said.trim(), complaints.trim()))?;
        Ok((bytes, outcome))
    }
}

fn path(folder: &Path, tested: Tested, place: Place) -> PathBuf {
    file(folder, &format!("{} beside Linux", tested.name()), place)
}

/// Reads the figures that an earlier run has measured.
pub fn kept(folder: &Path, tested: Tested, place: Place) -> Result<Option<Against>, Box<dyn Error>> {
    let Ok(text) = std::fs::read(path(folder, tested, place)) else { return Ok(None) };
    let scenario = scenario(tested, place, folder)?.sha256();
    Ok(serde_json::from_slice(&text).ok().filter(|kept: &Against| kept.scenario == scenario))
}

/// The scenario of a row.
fn scenario(tested: Tested, place: Place, folder: &Path) -> Result<Plan, Box<dyn Error>> {
    let plan = plan(BULK, place, tested.control, folder)?;
    let duration = format!("{} s", (MEASURED + REPORTING).as_secs_f64());
    Ok(plan.with_overrides(&[("warmup".to_owned(), WARMUP.to_owned()), ("duration".to_owned(), duration)])?)
}

/// Bytes of a group in the measured part.
fn delivered(outcome: &Outcome, group: &str) -> f64 {
    let of =
        |flow: &&goodqueue_sim::FlowOutcome| outcome.groups.get(flow.group as usize).is_some_and(|known| known.name == group);
    outcome.flows.iter().filter(of).map(|flow| flow.delivered_bytes as f64).sum()
}
