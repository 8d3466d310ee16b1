//! All points and replications of a scenario with endpoints in it.

use crate::endpoint::{Ends, FlowFacts};
use crate::error::NetError;
use crate::network::{Make, Network};
use goodqueue_lab::results::qlog::{Form, QlogFiles};
use goodqueue_lab::results::record::{Folder, NoRecorder, Recorder, TableKinds, Tables};
use goodqueue_lab::run::backend::{Backend, BackendFailure, HostRun, Refusal, Task};
use goodqueue_lab::run::plan_results::{MAX_DRAWN, Results};
use goodqueue_lab::run::runner::{self, Recorded, RunOptions, RunReport};
use goodqueue_lab::scenario::plan::{Plan, Point};
use goodqueue_lab::verdict::Criteria;
use goodqueue_sim::{Continue, Outcome, Progress, WorldSpec};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A scenario, and the groups of its flows whose ends are the program's.
pub struct Experiment<'a> {
    plan: &'a Plan,
    jobs: usize,
    qlog: Option<(PathBuf, Form)>,
    attached: Vec<(String, Box<Make<'a>>)>,
}

impl<'a> Experiment<'a> {
    /// Creates an experiment on a scenario; all ends are ours so far.
    #[must_use]
    pub const fn new(plan: &'a Plan) -> Self {
        Self { plan, jobs: 1, qlog: None, attached: Vec::new() }
    }

    /// Puts endpoints that `make` makes at the ends of each flow of the traffic called `name`. It
    /// is called once for each flow of each run.
    #[must_use]
    pub fn attach(
        mut self,
        name: &str,
        make: impl Fn(&FlowFacts<'_>) -> Result<Ends, Box<dyn std::error::Error>> + Sync + 'a,
    ) -> Self {
        self.attached.push((name.to_owned(), Box::new(make)));
        self
    }

    /// Runs at the same time, each in a thread of its own; 1 unless set. Results do not depend on
    /// it.
    #[must_use]
    pub fn jobs(self, jobs: usize) -> Self {
        Self { jobs: jobs.max(1), ..self }
    }

    /// Writes a qlog file for each flow of the first replications into this folder, our own flows
    /// included.
    #[must_use]
    pub fn qlog(self, folder: &Path) -> Self {
        self.qlog_as(folder, Form::default())
    }

    /// Writes qlog files as [`qlog`](Self::qlog) does, in another of qlog's forms.
    #[must_use]
    pub fn qlog_as(self, folder: &Path, form: Form) -> Self {
        Self { qlog: Some((folder.to_owned(), form)), ..self }
    }

    /// One run, with everything that happened.
    ///
    /// # Errors
    /// When the world or an endpoint cannot be made, or an endpoint does what it must not.
    pub fn simulate(&self, spec: &WorldSpec, progress: &mut dyn FnMut(Progress) -> Continue) -> Result<Outcome, NetError> {
        let mut network = Network::new(spec);
        for (name, make) in &self.attached {
            network = network.attach(name, &**make)?;
        }
        network.run(progress)
    }

    /// All points and replications of the scenario.
    ///
    /// # Errors
    /// When a point of the sweep or a name is wrong, or a run failed: the first failure.
    pub fn run(&self) -> Result<RunReport, NetError> {
        let points = self.plan.points()?;
        self.carry_out(&points, Recorded::Nothing, &mut NoRecorder)
    }

    /// Runs the scenario as [`Self::run`] does, and writes the folder of a result: `summary.json`,
    /// `scenario.toml`, `series.parquet` of the first replications and `report.html`, as `gq run`
    /// does.
    ///
    /// # Errors
    /// As [`Self::run`], and when the folder cannot be written.
    pub fn run_into(&self, folder: &Path) -> Result<RunReport, NetError> {
        let points = self.plan.points()?;
        let folder = Folder::create(folder)?;
        let facts = [("scenario_sha256", self.plan.sha256()), ("seed", self.plan.seed().to_string())];
        let mut tables = Tables::create(&folder, TableKinds::Series, &facts)?;
        let report = self.carry_out(&points, Recorded::First, &mut tables)?;
        let results = Results::new(self.plan, points, report, &Criteria::default());
        results.write_into(&folder, self.plan.source_text())?;
        tables.finish(&folder)?;
        Ok(results.report)
    }

    fn carry_out(&self, points: &[Point], recorded: Recorded, recorder: &mut dyn Recorder) -> Result<RunReport, NetError> {
        for point in points {
            self.check(point).map_err(NetError::Refused)?;
        }
        let options = RunOptions {
            jobs: self.jobs,
            replications: self.plan.replications(),
            recorded: if self.qlog.is_some() { Recorded::First } else { recorded },
            sample_every: None,
            packets: self.qlog.is_some(),
            drawn_points: if recorded == Recorded::Nothing { 0 } else { MAX_DRAWN },
        };
        let stop = AtomicBool::new(false);
        let run = |recorder: &mut dyn Recorder| runner::run_on(self, points, &options, &stop, &mut |_| {}, recorder);
        let report = match &self.qlog {
            None => run(recorder),
            Some((folder, form)) => {
                let mut files = QlogFiles::new(folder, points, recorder)?.form(*form);
                let report = run(&mut files);
                files.finish()?;
                report
            }
        };
        match report.failures.first() {
            Some(failure) => Err(NetError::Run(failure.clone())),
            None => Ok(report),
        }
    }
}

/// Runs scenarios in the simulator, with some ends of flows in the program.
impl Backend for Experiment<'_> {
    fn name(&self) -> &'static str {
        "net"
    }

    fn check(&self, point: &Point) -> Result<(), Refusal> {
        for (name, _) in &self.attached {
            if !point.plan.traffic.iter().any(|traffic| traffic.name == *name) {
                let known: Vec<String> = point.plan.traffic.iter().map(|traffic| format!("`{}`", traffic.name)).collect();
                let why = format!("the scenario has no such traffic, only {}", known.join(", "));
                return Err(Refusal { key: format!("traffic `{name}`"), why });
            }
        }
        Ok(())
    }

    fn run(&self, task: &Task<'_>, progress: &mut dyn FnMut(f64)) -> HostRun {
        task.run_world(progress, |spec, progress| self.simulate(spec, progress).map_err(|error| BackendFailure::machine(&error)))
            .into()
    }
}
