//! Options that commands share.

use crate::failure::Failure;
use crate::opening::Opening;
use clap::{Args, ValueEnum};
use goodqueue_base::units::Duration;
use goodqueue_lab::quantity::{self, Limits};
use goodqueue_lab::results::qlog::Form;
use goodqueue_lab::run::runner::{Recorded, shortest_sampling_period};
use goodqueue_lab::scenario::plan::Scenario;
use goodqueue_lab::verdict::{Policy, Unit};
use std::path::PathBuf;

/// Settings of runs, and places of their results.
#[derive(Args)]
pub struct RunSettings {
    #[command(flatten)]
    pub jobs: Jobs,
    /// Folder for the results [default: results/NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write the summary as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Record every packet event of the recorded runs in packets.parquet
    #[arg(long)]
    pub packets: bool,
    /// Write a qlog file for each flow of the recorded runs into this folder
    #[arg(long, value_name = "DIR")]
    pub qlog: Option<PathBuf>,
    /// Form of qlog that --qlog writes
    #[arg(long, value_enum, default_value_t = QlogForm::Draft, requires = "qlog")]
    pub qlog_form: QlogForm,
    /// Runs to record in series.parquet
    #[arg(long, value_enum, default_value_t = Record::First)]
    pub record: Record,
    /// Time between two samples, for instance 10ms [default: about 2500 samples per run]
    #[arg(long, value_name = "TIME")]
    pub sample: Option<String>,
    /// Bounds that a queue must keep to be ranked, for instance of_best=0.9,target_max=30ms
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub policy: Option<String>,
    /// Unit of the latency under load: ms, rpm (round trips per minute), grade (A+ to F) or qoo
    #[arg(long, value_name = "UNIT", default_value = "ms")]
    pub unit: Unit,
    /// Write no report.html
    #[arg(long, conflicts_with = "open")]
    pub no_report: bool,
    /// Replace another result in --out
    #[arg(long, requires = "out")]
    pub force: bool,
    #[command(flatten)]
    pub opening: Opening,
}

/// Runs that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Record {
    /// No run
    Nothing,
    /// The first replication of each point
    First,
    /// Every run
    All,
}

/// A form of qlog files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum QlogForm {
    /// That of the newest drafts: main schema 14, events of QUIC 13
    Draft,
    /// Version 0.3, which qvis opens
    #[value(name = "0.3")]
    Version03,
}

impl From<QlogForm> for Form {
    fn from(form: QlogForm) -> Self {
        match form {
            QlogForm::Draft => Self::Draft14,
            QlogForm::Version03 => Self::Version03,
        }
    }
}

/// Dotted keys and values from `--set KEY=VALUE`s.
pub fn pairs(set: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Failure::Input(format!("--set {text}: is not KEY=VALUE, for instance warmup='5 s'"))),
    };
    set.iter().map(pair).collect()
}

/// Number of runs at the same time.
#[derive(Args)]
pub struct Jobs {
    /// Runs at the same time [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    jobs: Option<u32>,
}

impl Jobs {
    /// The number asked for, or that of the processors.
    pub fn count(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.jobs.map_or_else(processors, |jobs| jobs as usize)
    }
}

impl RunSettings {
    /// Whether the summary goes to standard output.
    pub fn json_to_stdout(&self) -> bool {
        self.json.as_ref().is_some_and(|path| path.as_os_str() == "-")
    }

    /// Returns the policy that a queue must satisfy to be ranked.
    pub fn policy(&self) -> Result<Policy, Failure> {
        let parsed = self.policy.as_deref().map(Policy::parse).transpose();
        parsed.map(Option::unwrap_or_default).map_err(Failure::of("--policy"))
    }

    /// Returns which runs are recorded.
    pub fn recorded(&self) -> Result<Recorded, Failure> {
        match self.record {
            Record::Nothing if self.packets => {
                Err(Failure::Input("--packets records the runs that --record names, which is nothing".to_owned()))
            }
            Record::Nothing if self.qlog.is_some() => {
                Err(Failure::Input("--qlog writes the runs that --record names, which is nothing".to_owned()))
            }
            Record::Nothing => Ok(Recorded::Nothing),
            Record::First => Ok(Recorded::First),
            Record::All => Ok(Recorded::All),
        }
    }

    /// Time between two samples, checked against the scenario's length.
    pub fn sample_every(&self, scenario: &Scenario) -> Result<Option<Duration>, Failure> {
        let Some(text) = &self.sample else { return Ok(None) };
        let span = scenario.warmup + scenario.duration;
        let least = shortest_sampling_period(scenario);
        quantity::duration_within(text, Limits::new(least, span)).map(Some).map_err(Failure::of("--sample"))
    }
}
