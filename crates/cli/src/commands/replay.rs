//! `gq replay`: a record of a bridge once more, without a network: are the verdicts the same?

use crate::failure::Failure;
use crate::output::print;
use clap::Args;
use goodqueue_aqm::Rng;
use goodqueue_base::units::Instant;
use goodqueue_guests::backends::live;
use goodqueue_lab::scenario::input::open_named;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_live::record::{Event, EventKind, Reader};
use goodqueue_live::replay::{ReplayLine, first_difference};
use serde::Deserialize;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// Arguments of `gq replay`.
#[derive(Args)]
pub struct Arguments {
    /// Record that `gq bridge --record` wrote
    #[arg(value_name = "RECORD")]
    record: PathBuf,
}

/// Contents of the record's second line, which the bridge wrote.
#[derive(Deserialize)]
struct About {
    scenario: String,
    seed: u64,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let wrong = |what: &dyn std::fmt::Display| Failure::Input(format!("{}: {what}", arguments.record.display()));
    let file = open_named(&arguments.record).map_err(|error| wrong(&error))?;
    let reader = Reader::new(BufReader::new(file)).map_err(|error| wrong(&error))?;
    let about: About = serde_json::from_str(&reader.settings).map_err(|error| wrong(&format!("settings: {error}")))?;
    let events = reader.collect::<io::Result<Vec<Event>>>().map_err(|error| wrong(&error))?;
    if events.iter().any(|event| event.kind == EventKind::QueueReplaced) {
        return Err(wrong(&"the queue was replaced while it was made: it can only be replayed up to there"));
    }
    let plan = Plan::parse("settings of the record", &about.scenario, Path::new(""))?;
    let point = plan.points()?.into_iter().next();
    let link = point.and_then(|point| point.plan.links.into_iter().next()).ok_or_else(|| wrong(&"names no line"))?;
    let line = ReplayLine::new(&live::line(&link, &link.down, Instant::ZERO))
        .ok_or_else(|| wrong(&"the line had a recorded rate, which cannot be replayed"))?;
    let queue = live::queue(&link, &link.down, Rng::new(about.seed)).map_err(|error| wrong(&error))?;
    let packets = events.iter().filter(|event| event.kind == EventKind::Arrived).count();
    match first_difference(queue, line, &events) {
        None => Ok(print(&format!("{packets} packets, {} events: every verdict is the same\n", events.len()))?),
        Some(difference) => Err(Failure::Run(format!("{}: {difference}", arguments.record.display()))),
    }
}
