//! Measures a stack on one line, and keeps the figures, so that an interrupted run continues.

use crate::keys::Keys;
use crate::matrix::{self, Place};
use crate::stack::{Stack, Tested};
use crate::work::{Flow, Work};
use goodqueue_lab::results::qlog::Form;
use goodqueue_lab::run::runner::{PointResult, RunReport};
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_net::{Duration, Ends, Experiment, FlowFacts};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// One value for each replication; `None` where it is not defined.
pub type Values = Vec<Option<f64>>;

/// The scenario of flows without end.
pub const BULK: &str = "bulk.toml";
/// Time between a response and the next request.
const PAUSE: Duration = Duration::ms(100);
/// Length of runs for qlog: by then both flows have started and lost packets.
const BEGINNING: &str = "3 s";
/// Bytes of a response.
const RESPONSE: u64 = 20_000;

/// The figures of a stack on one line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Hashes of the scenarios: of all settings, seeds and recordings.
    pub scenarios: Vec<String>,
    /// Hash of the program that measured it.
    pub program: String,
    /// Why there are none.
    pub failure: Option<String>,
    /// Share of the line in use, next to our CUBIC.
    pub utilization: Values,
    /// Part of the stack in the goodput of both.
    pub share: Values,
    /// Time in the queue of its packets, in seconds.
    pub delay_mean: Values,
    pub delay_p95: Values,
    /// Share of the stack's packets that were lost.
    pub lost: Values,
    /// Time of transfers of 100 kB, in seconds, and how many of them ended.
    pub transfer_p50: Values,
    pub transfer_p95: Values,
    pub transfers: Values,
    /// Median time of a response of 20 kB, in seconds.
    pub response: Values,
}

/// Measures, or reads what an earlier run has measured.
pub struct Bench {
    folder: PathBuf,
    keys: Keys,
    /// Hash of this program: of stacks, network and congestion controls with their compiler.
    program: String,
}

impl Bench {
    /// Keeps results in `folder`.
    pub fn new(folder: &Path) -> Result<Self, Box<dyn Error>> {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let program = Sha256::digest(std::fs::read(std::env::current_exe()?)?);
        let program = program.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { folder: folder.to_owned(), keys: Keys::new()?, program })
    }

    /// Returns the folder that results are kept in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The figures of a stack on one line; true if they are new.
    pub fn row(&self, tested: Tested, place: Place) -> Result<(Measured, bool), Box<dyn Error>> {
        let plans = Plans::of(self, tested, place)?;
        let path = self.path(tested, place);
        if let Some(kept) = self.read(&path, &plans) {
            return Ok((kept, false));
        }
        let mut measured = self
            .measure(tested, &plans)
            .unwrap_or_else(|failure| Measured { failure: Some(failure.to_string()), ..Measured::default() });
        (measured.scenarios, measured.program) = (plans.hashes(), self.program.clone());
        keep(&path, &measured)?;
        Ok((measured, true))
    }

    /// Reads the figures that an earlier run has measured.
    pub fn kept(&self, tested: Tested, place: Place) -> Result<Option<Measured>, Box<dyn Error>> {
        let plans = Plans::of(self, tested, place)?;
        Ok(self.read(&self.path(tested, place), &plans))
    }

    /// Figures of these scenarios that this program has measured; a file that cannot be read is as
    /// none.
    fn read(&self, path: &Path, plans: &Plans) -> Option<Measured> {
        let kept: Measured = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (kept.scenarios == plans.hashes() && kept.program == self.program).then_some(kept)
    }

    fn path(&self, tested: Tested, place: Place) -> PathBuf {
        file(&self.folder, &tested.name(), place)
    }

    fn measure(&self, tested: Tested, plans: &Plans) -> Result<Measured, Box<dyn Error>> {
        let bulk = self.run(tested, &plans.bulk, &Work::Download)?;
        let transfers = self.run(tested, &plans.transfers, &Work::Download)?;
        let (bulk, transfers) = (&bulk.points[0], &transfers.points[0]);
        Ok(Measured {
            utilization: bulk.runs.iter().map(|run| run.links.first()?.value("utilization")).collect(),
            share: share(bulk),
            delay_mean: group(bulk, "sojourn_s.mean"),
            delay_p95: group(bulk, "sojourn_s.p95"),
            lost: group(bulk, "loss_ratio"),
            transfer_p50: group(transfers, "completion_s.p50"),
            transfer_p95: group(transfers, "completion_s.p95"),
            transfers: group(transfers, "completed_flows"),
            response: if tested.stack == Stack::Tcp { Values::new() } else { self.responses(tested, &plans.requests)? },
            ..Measured::default()
        })
    }

    /// Runs a scenario with a stack in the place of `tested`.
    pub fn run(&self, tested: Tested, plan: &Plan, work: &Work) -> Result<RunReport, Box<dyn Error>> {
        self.run_with(tested, plan, work, |ends| ends)
    }

    /// Runs a scenario like [`Bench::run`], with `around` applied to the ends.
    pub fn run_with(
        &self,
        tested: Tested,
        plan: &Plan,
        work: &Work,
        around: impl Fn(Ends) -> Ends + Sync,
    ) -> Result<RunReport, Box<dyn Error>> {
        let experiment = Experiment::new(plan);
        let make = |facts: &FlowFacts<'_>| self.ends(tested, facts, work).map(&around);
        Ok(if tested.stack == Stack::Tcp { experiment.run() } else { experiment.attach("tested", make).run() }?)
    }

    fn ends(&self, tested: Tested, facts: &FlowFacts<'_>, work: &Work) -> Result<Ends, Box<dyn Error>> {
        tested.stack.ends(&self.keys, Flow { seed: facts.seed, size: facts.size }, tested.control, work)
    }

    /// Writes qlog files of a short run into `folder`.
    pub fn qlog(&self, tested: Tested, place: Place, folder: &Path, form: Form) -> Result<(), Box<dyn Error>> {
        let plan = briefly(&plan(BULK, place, tested.control, &self.folder)?)?;
        let make = |facts: &FlowFacts<'_>| self.ends(tested, facts, &Work::Download);
        Experiment::new(&plan).attach("tested", make).qlog_as(folder, form).run()?;
        Ok(())
    }

    /// Median time of responses over one connection, of each replication.
    fn responses(&self, tested: Tested, plan: &Plan) -> Result<Values, Box<dyn Error>> {
        let mut medians = Values::new();
        for number in 0..u64::from(plan.replications()) {
            let times = Arc::new(Mutex::new(Vec::new()));
            let work = Work::Requests { size: RESPONSE, pause: PAUSE, times: times.clone() };
            let seed = (plan.seed() + number).to_string();
            let plan = plan.with_overrides(&[("seed".to_owned(), seed), ("replications".to_owned(), "1".to_owned())])?;
            self.run(tested, &plan, &work)?;
            let mut times = times.lock().expect("no thread panics with it").clone();
            times.sort_by(f64::total_cmp);
            medians.push(times.get(times.len() / 2).copied());
        }
        Ok(medians)
    }
}

/// Returns the path of the file that keeps the row of this name.
pub fn file(folder: &Path, row: &str, place: Place) -> PathBuf {
    let name = format!("{row} {} {}", place.queue.name(), place.line()).replace([' ', ',', '/', '%'], "-");
    folder.join(format!("{name}.json"))
}

/// Writes a row, whole or not at all.
pub fn keep(path: &Path, row: &impl Serialize) -> Result<(), Box<dyn Error>> {
    let making = path.with_extension("part");
    std::fs::write(&making, serde_json::to_vec(row)?)?;
    Ok(std::fs::rename(&making, path)?)
}

/// The scenarios of a row.
struct Plans {
    bulk: Plan,
    transfers: Plan,
    requests: Plan,
}

impl Plans {
    fn of(bench: &Bench, tested: Tested, place: Place) -> Result<Self, Box<dyn Error>> {
        let make = |name| plan(name, place, tested.control, &bench.folder);
        Ok(Self { bulk: make(BULK)?, transfers: make("transfers.toml")?, requests: make("requests.toml")? })
    }

    fn hashes(&self) -> Vec<String> {
        [&self.bulk, &self.transfers, &self.requests].map(Plan::sha256).to_vec()
    }
}

/// A scenario of this folder on the line `place`.
pub fn plan(name: &str, place: Place, control: &str, folder: &Path) -> Result<Plan, Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let mut settings = place.settings(folder)?;
    if name == BULK && place.rate > matrix::RATES[0] {
        // Ten times as many packets.
        settings.push(("duration".to_owned(), "10 s".to_owned()));
    }
    // Read where the stack is our TCP; otherwise a name in the hash.
    let known = Stack::Tcp.controls().contains(&control);
    settings.push(("traffic.0.cc".to_owned(), if known { control } else { "bbr" }.to_owned()));
    Ok(Plan::load(&path)?.with_overrides(&settings)?)
}

/// The first seconds of a scenario, once.
fn briefly(plan: &Plan) -> Result<Plan, Box<dyn Error>> {
    let settings = [("warmup", "0 s"), ("duration", BEGINNING), ("replications", "1")];
    Ok(plan.with_overrides(&settings.map(|(key, value)| (key.to_owned(), value.to_owned())))?)
}

/// One figure of `tested` over replications.
fn group(point: &PointResult, metric: &str) -> Values {
    point.runs.iter().map(|run| run.groups.iter().find(|group| group.name == "tested")?.value(metric)).collect()
}

/// The share of `tested` in the goodput of both.
fn share(point: &PointResult) -> Values {
    let of = |run: &goodqueue_lab::run::runner::Replication| {
        let goodput = |name| run.groups.iter().find(|group| group.name == name)?.value("goodput_bit_s");
        let (tested, reference) = (goodput("tested")?, goodput("reference")?);
        (tested + reference > 0.0).then(|| tested / (tested + reference))
    };
    point.runs.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Queue;

    #[test]
    fn runs_with_other_keys_are_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place { queue: Queue::TailDrop, rate: 10, rtt: 20 };
        let brief = [("duration".to_owned(), "5 s".to_owned()), ("replications".to_owned(), "1".to_owned())];
        for tested in Tested::all() {
            let fingerprint = || {
                let bench = Bench::new(folder.path()).expect("keys");
                let plan = plan(BULK, place, tested.control, folder.path()).expect("a scenario");
                let plan = plan.with_overrides(&brief).expect("settings");
                bench.run(tested, &plan, &Work::Download).expect("a run").fingerprints
            };
            assert_eq!(fingerprint(), fingerprint(), "{}", tested.name());
        }
    }

    #[test]
    fn rows_of_another_program_or_scenario_are_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let bench = Bench::new(folder.path()).expect("keys");
        let place = Place { queue: Queue::TailDrop, rate: 10, rtt: 20 };
        let tested = Tested::named("quinn", "cubic").expect("a stack");
        let scenarios = Plans::of(&bench, tested, place).expect("scenarios").hashes();
        let row = Measured { scenarios, program: bench.program.clone(), share: vec![Some(0.5)], ..Measured::default() };
        let kept = |row: &Measured| {
            keep(&bench.path(tested, place), row).expect("a file");
            bench.kept(tested, place).expect("scenarios")
        };
        assert_eq!(kept(&row), Some(row.clone()));
        assert_eq!(kept(&Measured { program: "another".to_owned(), ..row.clone() }), None);
        assert_eq!(kept(&Measured { scenarios: vec!["another".to_owned()], ..row }), None);
    }

    #[test]
    fn every_line_is_a_scenario() {
        let folder = tempfile::tempdir().expect("a folder");
        for place in Place::all() {
            plan(BULK, place, "cubic", folder.path()).unwrap_or_else(|error| panic!("{place:?}: {error}"));
        }
    }
}
