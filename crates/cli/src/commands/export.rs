//! `gq export`: a scenario's queues in the words of a router.

mod csv;

use crate::failure::Failure;
use crate::output::{print, say};
use clap::{Args, ValueEnum};
use goodqueue_lab::compare::Labels;
use goodqueue_lab::plan::{Heading, Plan, Scenario};
use goodqueue_lab::record::{check_target, write_file};
use goodqueue_router::dialect::Refusal;
use goodqueue_router::setup::{Setup, Shaping};
use goodqueue_router::target::libreqos::Address;
use goodqueue_router::target::{self, Interface, Place};
use serde::Deserialize;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Arguments of `gq export`.
#[derive(Args)]
#[command(after_help = "Example: gq export tc home.toml --dev eth0 > shape.sh")]
pub struct Arguments {
    /// Whose words
    #[arg(value_enum)]
    target: Target,
    /// A scenario, or a folder of results
    #[arg(value_name = "SCENARIO.toml|DIR")]
    source: PathBuf,
    /// The interface that faces the line
    #[arg(long, value_name = "NAME")]
    dev: Option<String>,
    /// The interface where arriving packets wait [default: ifb4 and the name of --dev]
    #[arg(long, value_name = "NAME")]
    ifb: Option<String>,
    /// Direction that leaves by --dev [default: up where the scenario has a queue there, else down]
    #[arg(long, value_enum)]
    egress: Option<Side>,
    /// Address of the circuit, for libreqos; may be repeated
    #[arg(long, value_name = "IP[/PREFIX]")]
    address: Vec<Address>,
    /// Share of the line's rate to send at; a link that is a shaper keeps its rate
    #[arg(long, value_name = "PERCENT", default_value_t = Shaping::USUAL_PERCENT)]
    percent: f64,
    /// Only the queue: the interface is as slow as the line
    #[arg(long, conflicts_with = "percent")]
    no_shaper: bool,
    /// Point of the scenario's sweep, counted from 0
    #[arg(long, value_name = "N")]
    point: Option<usize>,
    /// Link, where the scenario has several [default: the first with a shaper, else with queue
    /// management]
    #[arg(long, value_name = "NAME")]
    link: Option<String>,
    /// File to write, instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Set a key of the scenario; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Target {
    /// Shell lines of tc and ip for Linux
    Tc,
    /// A section of /etc/config/sqm for OpenWrt
    Sqm,
    /// Files of systemd-networkd
    Networkd,
    /// Commands of RouterOS 7
    Routeros,
    /// ShapedDevices.csv of LibreQoS
    Libreqos,
    /// The figures of a result, one row for each link and group of each point
    Csv,
}

#[derive(Clone, Copy, ValueEnum)]
enum Side {
    /// The direction that the link is described in
    Down,
    /// The return direction
    Up,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let refuse = |refusal| refused(arguments, &refusal);
    let text = match arguments.target {
        Target::Tc => target::tc::script(&setup(arguments)?, &place(arguments)?).map_err(refuse)?,
        Target::Sqm => target::sqm::section(&setup(arguments)?, &place(arguments)?).map_err(refuse)?,
        Target::Networkd => target::networkd::files(&setup(arguments)?, &place(arguments)?).map_err(refuse)?,
        Target::Routeros => target::routeros::commands(&setup(arguments)?, &place(arguments)?).map_err(refuse)?,
        Target::Libreqos => {
            let circuits = target::libreqos::row(&setup(arguments)?, &arguments.address).map_err(refuse)?;
            for note in &circuits.notes {
                say(&format!("note: {note}"));
            }
            circuits.csv
        }
        Target::Csv => csv::table(&arguments.source)?,
    };
    put(arguments, &text)
}

fn refused(arguments: &Arguments, refusal: &Refusal) -> Failure {
    Failure::Input(format!("{}: {refusal}", arguments.source.display()))
}

/// What the scenario asks of a router.
fn setup(arguments: &Arguments) -> Result<Setup, Failure> {
    let plan = plan(&arguments.source)?.with_overrides(&crate::settings::pairs(&arguments.set)?)?;
    let scenario = point(&plan, arguments.point)?;
    let shaping =
        if arguments.no_shaper { Shaping::None } else { Shaping::percent(arguments.percent).map_err(option("--percent"))? };
    Setup::new(&scenario, arguments.link.as_deref(), shaping).map_err(|refusal| refused(arguments, &refusal))
}

/// To standard output, or to the file that was asked for.
fn put(arguments: &Arguments, text: &str) -> Result<(), Failure> {
    let Some(path) = &arguments.out else { return Ok(print(text)?) };
    check_target(path).map_err(|error| Failure::Input(format!("--out {error}")))?;
    Ok(write_file(path, text.as_bytes())?)
}

fn option<E: Display>(name: &'static str) -> impl Fn(E) -> Failure {
    move |error| Failure::Input(format!("{name}: {error}"))
}

fn place(arguments: &Arguments) -> Result<Place, Failure> {
    let Some(dev) = &arguments.dev else {
        return Err(Failure::Input(
            "--dev: is missing: name the interface that faces the line, for instance --dev eth0".to_owned(),
        ));
    };
    let dev = Interface::new(dev).map_err(option("--dev"))?;
    let ifb = arguments.ifb.as_deref().map_or_else(|| Ok(dev.ifb()), Interface::new).map_err(option("--ifb"))?;
    let egress = arguments.egress.map(|side| match side {
        Side::Down => Heading::Down,
        Side::Up => Heading::Up,
    });
    Ok(Place { dev, ifb, egress })
}

/// What was changed in a scenario when it ran, as `run.json` keeps it.
#[derive(Deserialize)]
struct RunFile {
    set: Vec<(String, String)>,
}

/// The plan of a scenario file, or that of a result with what was set when it ran.
fn plan(source: &Path) -> Result<Plan, Failure> {
    if !source.is_dir() {
        return Ok(Plan::load(source)?);
    }
    let run = source.join("run.json");
    let fault = |message: String| Failure::Input(format!("{}: {message}", run.display()));
    let text = std::fs::read_to_string(&run).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::Input(format!("{}: is no folder of results: it has no run.json", source.display()))
        }
        _ => fault(format!("cannot be read: {error}")),
    })?;
    let run: RunFile = serde_json::from_str(&text).map_err(|error| fault(format!("cannot be read: {error}")))?;
    Ok(Plan::load(&source.join("scenario.toml"))?.with_overrides(&run.set)?)
}

/// One point of the sweep.
fn point(plan: &Plan, wanted: Option<usize>) -> Result<Scenario, Failure> {
    let count = plan.point_count();
    let last = count.saturating_sub(1);
    match wanted {
        Some(number) if number > last => Err(Failure::Input(format!("--point: {number} is out of range: allowed 0 to {last}"))),
        None if count > 1 => {
            const MOST_NAMED: usize = 12;
            let sets: Vec<_> = (0..count.min(MOST_NAMED)).map(|number| plan.set_of(number)).collect();
            let labels = Labels::new(&sets.iter().map(Vec::as_slice).collect::<Vec<_>>(), plan.name());
            let named: Vec<String> = labels.names.iter().enumerate().map(|(number, name)| format!("{number} {name}")).collect();
            let more = if count > MOST_NAMED { " and so on" } else { "" };
            Err(Failure::Input(format!(
                "--point: is missing: {} has {count} points: {}{more}",
                plan.source_name(),
                named.join("; ")
            )))
        }
        number => Ok(plan.point(number.unwrap_or(0))?.plan),
    }
}
