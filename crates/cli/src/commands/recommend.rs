//! `gq recommend`: which queue, which settings and which shaped rate for a line that is known only
//! roughly.

use crate::commands::circuits::{Network, Rest};
use crate::failure::{Failure, check_file};
use crate::settings::Jobs;
use crate::table::{self, Column, Text};
use crate::{backend, interrupt, output, progress};
use clap::Args;
use goodqueue_guests::backends::{BackendName, VoidRunPolicy};
use goodqueue_interop::import::line_text::{LineText, Source, SourceError};
use goodqueue_lab::results::metrics::{PrintedUnit, Quantity};
use goodqueue_lab::results::record::write_file;
use goodqueue_lab::run::backend::Backend;
use goodqueue_lab::run::recommend::answer::{Setup, words};
use goodqueue_lab::run::recommend::ask::Misread;
use goodqueue_lab::run::recommend::race;
use goodqueue_lab::run::recommend::{Asked, Effort, Question, Recommendation, Refused, check, recommend};
use goodqueue_lab::scenario::compare::Comparison;
use goodqueue_lab::scenario::mix::note_on_name;
use goodqueue_lab::verdict::Unit;
use goodqueue_lab::verdict::rule::Key;
use goodqueue_lab::verdict::words::count;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Options of [`Arguments`] about one line.
const OF_A_LINE: [&str; 20] = [
    "from", "down", "up", "line", "overhead", "varies", "rtt", "buffer", "modem", "hosts", "cpu", "want", "flows", "cc",
    "hardware", "policy", "unit", "check", "thorough", "scenario",
];

/// Arguments of `gq recommend`.
#[derive(Args)]
#[command(after_help = "Example: gq recommend --from test.json --hardware openwrt | gq export sqm -")]
pub struct Arguments {
    /// Measurement of the line, any file that gq import reads; - for standard input. Options that
    /// are given go before what it tells
    #[arg(long, value_name = "FILE|-")]
    from: Option<PathBuf>,
    /// All circuits of a network, in place of one line: LibreQoS' ShapedDevices.csv
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_A_LINE)]
    circuits: Option<PathBuf>,
    #[command(flatten)]
    network: Network,
    /// Measured rate toward you, for instance 50mbit [required where no file tells it]
    #[arg(long, value_name = "RATE", required_unless_present_any = ["from", "circuits"])]
    down: Option<String>,
    /// Measured rate from you [required where no file tells it]
    #[arg(long, value_name = "RATE", required_unless_present_any = ["from", "circuits"])]
    up: Option<String>,
    /// Kind of line, which fills in what is not given: adsl, vdsl, docsis, lte, leo, geo or fiber
    #[arg(long, value_name = "KIND")]
    line: Option<String>,
    /// Framing on the line: bytes, or keywords of tc-cake like pppoe-ptm [default: that of the
    /// kind of line, or of the file]
    #[arg(long, value_name = "BYTES|KEYWORDS")]
    overhead: Option<String>,
    /// Share by which the rate may at times lie above or below the measured one [default: 0%, or
    /// that of the kind of line]
    #[arg(long, value_name = "PART")]
    varies: Option<String>,
    /// Round-trip time without queueing, or its range [default: 20ms..120ms, or that of the kind
    /// of line]
    #[arg(long, value_name = "TIME[..TIME]")]
    rtt: Option<String>,
    /// Buffer of the modem and the provider, as time at the line's rate, or its range [default:
    /// 50ms..500ms, or that of the kind of line]
    #[arg(long, value_name = "TIME[..TIME]")]
    buffer: Option<String>,
    /// Queue of the modem toward the provider: fifo, or pie as in cable modems of DOCSIS 3.1
    #[arg(long, value_name = "QUEUE", default_value = "fifo")]
    modem: String,
    /// Devices behind the router; one of them has the large transfers
    #[arg(long, value_name = "N", default_value = "1")]
    hosts: String,
    /// Fastest that the router can shape
    #[arg(long, value_name = "RATE")]
    cpu: Option<String>,
    /// Aim other than what people notice: throughput, or l4s
    #[arg(long, value_name = "AIM")]
    want: Option<String>,
    /// Transfers without end at once in each direction, or their range [default: the mix's own
    /// number]
    #[arg(long, value_name = "N[..N]")]
    flows: Option<String>,
    /// Congestion control of the large transfers, one or two
    #[arg(long, value_name = "CC[,CC]", default_value = "cubic,bbr")]
    cc: String,
    /// Activities on the line, see gq list mix [default: the worse of evening and backup, or slow
    /// on slow lines]
    #[arg(long, value_name = "MIX")]
    mix: Option<String>,
    /// Kind of router, which limits the queues
    #[arg(long, value_name = "KIND", default_value = "any")]
    hardware: String,
    /// Bounds that a candidate must keep to be ranked, for instance of_best=0.9
    #[arg(long, value_name = "KEY=VALUE,…")]
    policy: Option<String>,
    /// Unit of the latency under load: ms, rpm (round trips per minute), grade (A+ to F) or qoo
    #[arg(long, value_name = "UNIT", default_value = "ms")]
    unit: Unit,
    /// Check the answer with other senders: linux, guest kernels in virtual time, or linux-7.3
    #[arg(long, value_name = "HOST")]
    check: Option<String>,
    /// More shaped rates, more settings, longer runs and more of them
    #[arg(long)]
    thorough: bool,
    /// Root of all randomness
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    jobs: Jobs,
    /// Write the answer as JSON to a file, or with - to standard output instead of the text
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    /// Write the line with the choice as a scenario, for gq run and gq export, to a file or with -
    /// to standard output; the text goes to standard error then [default: - where standard output
    /// is no terminal and --json is not given]
    #[arg(long, value_name = "FILE|-")]
    scenario: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.circuits {
        return arguments.network.run(
            file,
            &Rest {
                queues: vec!["cake".to_owned(), "fq-codel".to_owned()],
                mix: ("--mix", arguments.mix.as_deref()),
                rtt: "20ms",
                buffer: Comparison::USUAL_BUFFER,
                seed: arguments.seed,
                jobs: arguments.jobs.count(),
                json: arguments.json.as_deref(),
                is_recommended: true,
                controllers: None,
            },
        );
    }
    let scenario_out = scenario_out(arguments)?;
    for (option, path) in [("--json", &arguments.json), ("--scenario", &arguments.scenario)] {
        path.iter().try_for_each(|path| writable(option, path))?;
    }
    let question = question(arguments)?;
    for (option, path) in [("--json", &arguments.json), ("--scenario", &arguments.scenario)] {
        check_file(option, path.as_deref().filter(|path| path.as_os_str() != "-"))?;
    }
    let host = arguments.check.as_deref().map(|name| checker(name, &question)).transpose()?;
    let stop = interrupt::stop_flag();
    let failed = |error: Refused| Failure::Run(error.to_string());
    let mut first = |answer: &Recommendation| {
        let sentences = answer.text.split("\n\n").next().unwrap_or_default();
        let heading = format!("First impression: {}. {sentences}", count(answer.runs, "run"));
        eprintln!("{}", table::wrapped(&heading, output::width()));
    };
    let (answer, seconds) = progress::during(1, |progress| recommend(&question, &stop, progress, &mut first));
    let mut answer = answer.map_err(failed)?;
    if let Some(host) = &host {
        let (checked, _) = progress::during(1, |progress| check::check(&question, &mut answer, &**host, &stop, progress));
        checked.map_err(failed)?;
    }
    if let Some(ScenarioOut::File(path)) = scenario_out {
        write_file(path, answer.scenario.as_bytes())?;
    }
    match arguments.json.as_deref() {
        Some(path) if path.as_os_str() == "-" => return Ok(output::print(&output::json(&answer)?)?),
        Some(path) => write_file(path, output::json(&answer)?.as_bytes())?,
        None => {}
    }
    let mut text = shown(&answer, output::width());
    let _ = writeln!(
        text.plain,
        "{} at {}, {} in {seconds:.1} s",
        count(answer.candidates, "candidate"),
        count(answer.corners.len(), "corner"),
        count(answer.runs, "run")
    );
    for sentence in answer.check.iter().flat_map(|check| &check.sentences) {
        let _ = writeln!(text.plain, "{}", table::wrapped(sentence, output::width()));
    }
    let _ = writeln!(text.plain, "\n{}", table::wrapped(&answer.text, output::width()));
    if let Some(ScenarioOut::Standard) = scenario_out {
        output::say(text.plain.trim_end());
        return Ok(output::print(&answer.scenario)?);
    }
    Ok(output::print_text(&text)?)
}

/// Refuses a file that cannot be written before the search, which takes long.
fn writable(option: &str, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(Failure::Input(format!(
            "{option}: `{}` cannot be written: name a file in a folder that exists",
            path.display()
        )));
    }
    Ok(())
}

/// Place of the scenario.
#[derive(Clone, Copy)]
enum ScenarioOut<'a> {
    File(&'a Path),
    Standard,
}

/// The place that is asked for. Programs that read standard output, like `gq export`, want the
/// scenario; people want the text.
fn scenario_out(arguments: &Arguments) -> Result<Option<ScenarioOut<'_>>, Failure> {
    let is_standard = |path: &&Path| path.as_os_str() == "-";
    match (arguments.scenario.as_deref(), arguments.json.as_deref()) {
        (Some(path), json) if is_standard(&path) => match json.filter(is_standard) {
            Some(_) => Err(Failure::Input("--scenario -: standard output is for --json - already: name a file".to_owned())),
            None => Ok(Some(ScenarioOut::Standard)),
        },
        (Some(path), _) => Ok(Some(ScenarioOut::File(path))),
        (None, None) if !io::stdout().is_terminal() => Ok(Some(ScenarioOut::Standard)),
        (None, _) => Ok(None),
    }
}

/// The question that the options ask, with the file behind `--from` where they are silent. Notes on
/// standard error tell what was taken from the file, and former names.
fn question(arguments: &Arguments) -> Result<Question, Failure> {
    let given = |option: &Option<String>| option.clone().unwrap_or_default();
    let mut line = LineText {
        down: given(&arguments.down),
        up: given(&arguments.up),
        varies: given(&arguments.varies),
        rtt: given(&arguments.rtt),
        buffer: given(&arguments.buffer),
        overhead: given(&arguments.overhead),
    };
    let source = arguments.from.as_deref().map(|path| line.take(path)).transpose()?;
    if let Some(source) = &source {
        for note in source.figures.iter().chain(&source.remarks) {
            output::say(&format!("note: {}: {note}", source.name));
        }
    }
    if let Some(missing) = line.missing(source.as_ref()) {
        return Err(Failure::Input(format!("--{missing}")));
    }
    if let Some(note) = arguments.mix.as_deref().and_then(note_on_name) {
        output::say(&format!("note: {note}"));
    }
    let asked = Asked {
        down: &line.down,
        up: &line.up,
        line: arguments.line.as_deref().unwrap_or_default(),
        overhead: &line.overhead,
        varies: &line.varies,
        rtt: &line.rtt,
        buffer: &line.buffer,
        modem: &arguments.modem,
        hosts: &arguments.hosts,
        cpu: arguments.cpu.as_deref().unwrap_or_default(),
        want: arguments.want.as_deref().unwrap_or_default(),
        flows: arguments.flows.as_deref().unwrap_or_default(),
        cc: &arguments.cc,
        mix: arguments.mix.as_deref().unwrap_or_default(),
        hardware: &arguments.hardware,
        policy: arguments.policy.as_deref().unwrap_or_default(),
        unit: arguments.unit,
        effort: if arguments.thorough { Effort::Thorough } else { Effort::Quick },
        seed: arguments.seed,
        jobs: arguments.jobs.count(),
    };
    asked.question().map_err(|error| misread(&error, source.as_ref()))
}

/// The failure of an option, or of the file that stands for it.
fn misread(error: &Misread, source: Option<&Source>) -> Failure {
    match source.filter(|source| source.taken.contains(&error.option)) {
        Some(source) => Failure::Input(format!("{}: {error}", source.name)),
        None => Failure::Input(format!("--{error}")),
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Import(error) => Self::input(error),
            SourceError::Plan(error) => error.into(),
        }
    }
}

/// The host that checks the answer.
fn checker(name: &str, question: &Question) -> Result<Box<dyn Backend + Send>, Failure> {
    let host = BackendName::read_checker(name).map_err(|why| Failure::Input(format!("--check {name}: {why}")))?;
    let host = backend::open("--check", host, VoidRunPolicy::default())?;
    check::refuse(question, &*host).map_err(|refusal| Failure::Input(format!("--check {refusal}")))?;
    Ok(host)
}

/// A table of the setups.
fn shown(answer: &Recommendation, width: usize) -> Text {
    let mut text = Text::default();
    let open = answer.undetermined.iter().map(|one| &one.setup);
    let mut setups: Vec<&Setup> = [&answer.choice].into_iter().chain(&answer.alternatives).chain(open).collect();
    let is_listed = setups.iter().any(|one| one.label == answer.without.label);
    setups.extend((!is_listed).then_some(&answer.without));
    let names = Column::names(setups.iter().map(|one| rate_first(&one.label)).collect());
    let column = |key: &Key| {
        let (head, unit, scale) = heading(key);
        let cell = |one: &&Setup| match (words::range(key, &one.blocks), race::figure(key, &one.blocks).mean) {
            (Some([low, high]), Some(mean)) => {
                let [mean, low, high] = [mean, low, high].map(|value| table::short(value * scale));
                format!("{mean} ({low}–{high})")
            }
            _ => table::cell(race::figure(key, &one.blocks), scale),
        };
        Column { head, unit: unit.to_owned(), cells: setups.iter().map(cell).collect(), rank: 1 }
    };
    let columns: Vec<Column> = answer.keys.iter().map(column).collect();
    let left_out = table::write(&mut text, &names, &columns, width, &|row| row == 0);
    if !left_out.is_empty() {
        let note = format!("(no room for {}; all figures are in --json)", left_out.join(", "));
        let _ = writeln!(text.plain, "{}", table::wrapped(&note, width));
    }
    text
}

/// The label with its rate first, which stays where names are cut.
fn rate_first(label: &str) -> String {
    match label.rsplit_once(" at ").filter(|(_, rate)| rate.ends_with('%')) {
        Some((queues, rate)) => format!("{rate} {queues}"),
        None => label.to_owned(),
    }
}

/// Head, unit and scale of a figure's column.
fn heading(key: &Key) -> (String, &'static str, f64) {
    let of = key.who();
    let (head, unit) = key.about.printed.map_or((key.about.label, PrintedUnit::Suitable), |printed| (printed.head, printed.unit));
    match unit {
        PrintedUnit::Fixed(unit, scale) => (format!("{of} {head}"), unit, scale),
        PrintedUnit::Suitable => match key.about.quantity {
            Quantity::Rate => (format!("{of} {head}"), "Mbit/s", 1e-6),
            quantity => (format!("{of} {head}"), quantity.unit(), 1.0),
        },
    }
}
