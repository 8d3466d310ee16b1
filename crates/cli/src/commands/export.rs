//! `gq export`: the queues of a scenario, a result or a recommendation in the words of a router,
//! and figures of a result for other programs.

mod csv;
mod flent;
mod source;

use crate::failure::{Failure, check_file};
use crate::output::{print, say};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use goodqueue_interop::router::setup::{Setup, Shaping};
use goodqueue_interop::router::syntax::libreqos::Address;
use goodqueue_interop::router::syntax::{self, Interface, Place};
use goodqueue_lab::results::labels::Labels;
use goodqueue_lab::results::record::write_file;
use goodqueue_lab::run::recommend::candidates::Hardware;
use goodqueue_lab::scenario::plan::{Direction, Plan, Scenario};
use source::Source;
use std::path::{Path, PathBuf};

/// Arguments of `gq export`.
#[derive(Args)]
#[command(after_help = "Example: gq export tc home.toml --dev eth0 > shape.sh")]
pub struct Arguments {
    /// Target
    #[arg(value_enum)]
    target: Target,
    /// A scenario, a folder of results, or the answer of gq recommend --json; - is a scenario or an
    /// answer from standard input
    #[arg(value_name = "SCENARIO.toml|DIR|ANSWER.json|-")]
    source: PathBuf,
    /// The interface that faces the line [default: wan for sqm; the other targets need it]
    #[arg(long, value_name = "NAME")]
    dev: Option<String>,
    /// The interface where arriving packets wait [default: ifb4 and the name of --dev]
    #[arg(long, value_name = "NAME")]
    ifb: Option<String>,
    /// Direction that leaves by --dev: down, as the link is described, or up [default: up
    /// where the scenario has a queue there, else down]
    #[arg(long, value_name = "EGRESS", value_parser = direction())]
    egress: Option<Direction>,
    /// Address of the circuit, for libreqos; may be repeated
    #[arg(long, value_name = "IP[/PREFIX]")]
    address: Vec<Address>,
    /// Share of the line's rate to send at; a link that is a shaper keeps its rate [default: 95]
    #[arg(long, value_name = "PERCENT")]
    percent: Option<f64>,
    /// The router translates addresses: cake tells the hosts behind it apart; taken for granted by
    /// sqm and routeros, and for answers for such hardware
    #[arg(long)]
    nat: bool,
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
    /// A data file of flent with the transfers and pings of a result over time
    Flent,
}

/// A reader of directions.
fn direction() -> impl TypedValueParser<Value = Direction> {
    let names = PossibleValuesParser::new(Direction::ALL.map(Direction::name));
    names.map(|name| Direction::named(&name).expect("the parser takes names of directions only"))
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    refuse_idle_options(arguments)?;
    let refuse = Failure::of(arguments.source.display());
    let text = match arguments.target {
        Target::Tc => syntax::tc::script(&setup(arguments)?, &place(arguments)?).map_err(refuse)?,
        Target::Sqm => syntax::sqm::section(&setup(arguments)?, &place(arguments)?).map_err(refuse)?,
        Target::Networkd => syntax::networkd::files(&setup(arguments)?, &place(arguments)?).map_err(refuse)?,
        Target::Routeros => syntax::routeros::commands(&setup(arguments)?, &place(arguments)?).map_err(refuse)?,
        Target::Libreqos => {
            let circuits = syntax::libreqos::row(&setup(arguments)?, &arguments.address).map_err(refuse)?;
            for note in &circuits.notes {
                say(&format!("note: {note}"));
            }
            circuits.csv
        }
        Target::Csv => csv::table(&arguments.source)?,
        Target::Flent => {
            let out = flent_file(arguments)?;
            return write(out, &flent::file(&arguments.source, arguments.point)?);
        }
    };
    match &arguments.out {
        Some(path) => write(path, text.as_bytes()),
        None => Ok(print(&text)?),
    }
}

/// Refuses options that the target has no use for: one that does nothing would leave its user
/// believing that it did.
fn refuse_idle_options(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { target, source: _, dev, ifb, egress, address, percent, nat, no_shaper, point, link, out: _, set } = arguments;
    let given = [
        ("--dev", dev.is_some()),
        ("--ifb", ifb.is_some()),
        ("--egress", egress.is_some()),
        ("--address", !address.is_empty()),
        ("--percent", percent.is_some()),
        ("--nat", *nat),
        ("--no-shaper", *no_shaper),
        ("--link", link.is_some()),
        ("--set", !set.is_empty()),
        ("--point", point.is_some()),
    ];
    let all = given.map(|(option, _)| option);
    let idle: &[&str] = match target {
        Target::Tc | Target::Networkd => &["--address"],
        Target::Sqm | Target::Routeros => &["--address", "--ifb"],
        Target::Libreqos => &["--dev", "--ifb", "--egress", "--nat"],
        Target::Csv => &all,
        Target::Flent => &["--dev", "--ifb", "--egress", "--address", "--percent", "--nat", "--no-shaper", "--link", "--set"],
    };
    match given.iter().find(|(option, is_given)| *is_given && idle.contains(option)) {
        Some((option, _)) => {
            let name = target.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
            Err(Failure::Input(format!("{option}: means nothing for gq export {name}")))
        }
        None => Ok(()),
    }
}

/// Returns the path of flent's file, which must end in `.flent.gz`: flent opens files by the end of
/// their names.
fn flent_file(arguments: &Arguments) -> Result<&Path, Failure> {
    match &arguments.out {
        Some(path) if path.to_str().is_some_and(|name| name.ends_with(".flent.gz")) => Ok(path),
        Some(path) => Err(Failure::Input(format!("--out {}: flent opens files whose names end in .flent.gz", path.display()))),
        None => Err(Failure::Input("--out: is missing: name the file, for instance --out home.flent.gz".to_owned())),
    }
}

/// Returns the setup of a router that the scenario asks for.
fn setup(arguments: &Arguments) -> Result<Setup, Failure> {
    let Source { plan, hardware } = Source::load(&arguments.source)?;
    if let (Some(_), Some(percent)) = (hardware, arguments.percent) {
        let message = format!("--percent {percent}: a recommendation has chosen its shaped rates: leave it out");
        return Err(Failure::Input(message));
    }
    let plan = plan.with_overrides(&crate::settings::pairs(&arguments.set)?)?;
    let scenario = point(&plan, arguments.point)?;
    let percent = arguments.percent.unwrap_or(Shaping::USUAL_PERCENT);
    let shaping =
        if arguments.no_shaper { Shaping::None } else { Shaping::percent(percent).map_err(Failure::of("--percent"))? };
    let refuse = Failure::of(arguments.source.display());
    let mut setup = Setup::new(&scenario, arguments.link.as_deref(), shaping).map_err(refuse)?;
    let is_home_router = matches!(hardware, Some(Hardware::OpenWrt | Hardware::RouterOs));
    match arguments.target {
        Target::Sqm | Target::Routeros => setup.look_behind_nat(),
        Target::Tc | Target::Networkd if arguments.nat || is_home_router => setup.look_behind_nat(),
        Target::Tc | Target::Networkd => setup.mention_nat(),
        // It stands in front of its customers' routers, and its hosts are circuits.
        Target::Libreqos | Target::Csv | Target::Flent => {}
    }
    Ok(setup)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    check_file("--out", Some(path))?;
    Ok(write_file(path, bytes)?)
}

fn place(arguments: &Arguments) -> Result<Place, Failure> {
    // The device toward the line in OpenWrt's own configurations, where it has ports of a switch.
    const OPENWRT: &str = "wan";
    let usual = matches!(arguments.target, Target::Sqm).then_some(OPENWRT);
    if let (None, Some(dev)) = (&arguments.dev, usual) {
        say(&format!(
            "note: --dev is not given: the section is for `{dev}`; name the interface that faces the line if it is another"
        ));
    }
    let Some(dev) = arguments.dev.as_deref().or(usual) else {
        return Err(Failure::Input(
            "--dev: is missing: name the interface that faces the line, for instance --dev eth0".to_owned(),
        ));
    };
    let dev = Interface::new(dev).map_err(Failure::of("--dev"))?;
    let ifb = arguments.ifb.as_deref().map_or_else(|| Ok(dev.ifb()), Interface::new).map_err(Failure::of("--ifb"))?;
    Ok(Place { dev, ifb, egress: arguments.egress })
}

/// One point of the sweep.
fn point(plan: &Plan, wanted: Option<usize>) -> Result<Scenario, Failure> {
    let count = plan.point_count();
    let last = count.saturating_sub(1);
    match wanted {
        Some(number) if number > last => Err(Failure::Input(format!("--point: {number} is out of range: allowed 0 to {last}"))),
        None if count > 1 => {
            const MAX_NAMED: usize = 12;
            let sets: Vec<_> = (0..count.min(MAX_NAMED)).map(|number| plan.set_of(number)).collect();
            let labels = Labels::new(&sets.iter().map(Vec::as_slice).collect::<Vec<_>>(), plan.name());
            let named: Vec<String> = labels.names.iter().enumerate().map(|(number, name)| format!("{number} {name}")).collect();
            let more = if count > MAX_NAMED { " and so on" } else { "" };
            Err(Failure::Input(format!(
                "--point: is missing: {} has {count} points: {}{more}",
                plan.source_name(),
                named.join("; ")
            )))
        }
        number => Ok(plan.point(number.unwrap_or(0))?.plan),
    }
}
