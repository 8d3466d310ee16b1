//! `gq evaluate`: a queue by RFC 7928, or a congestion control by RFC 9743.

use crate::backend;
use crate::failure::{Failure, check_file};
use crate::opening::Opening;
use crate::output::{self, print, say};
use crate::settings::Jobs;
use crate::table::{self, Column, Text};
use crate::{interrupt, progress};
use clap::Args;
use goodqueue_aqm::custom::CustomKind;
use goodqueue_guests::backends::{BackendName, VoidRunPolicy};
use goodqueue_interop::program::HostedKind;
use goodqueue_lab::results::record::{Folder, write_file};
use goodqueue_lab::scenario::plan::CustomKinds;
use goodqueue_lab::scenario::toml_text::quoted;
use goodqueue_lab::verdict::words::count;
use goodqueue_studies::evaluate::evaluation::{Evaluation, FamilyResult};
use goodqueue_studies::evaluate::measure::Measure;
use goodqueue_studies::evaluate::{Question, RFC7928, RFC9743, Subject, Suite, markdown, report};
use goodqueue_studies::gallery::experiment::{Experiment, Mode};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Longest time for one answer of a program.
const PATIENCE: Duration = Duration::from_secs(10);

/// Arguments of `gq evaluate`.
#[derive(Args)]
#[command(after_help = "Finished points are kept: the same command resumes. Example: gq evaluate --aqm codel:target=10ms")]
pub struct Arguments {
    /// Queues to judge by RFC 7928, each kind[:parameter=value…] or a scenario file with a queue
    #[arg(long, value_name = "KIND|FILE,…", value_delimiter = ',', required_unless_present = "cc")]
    aqm: Vec<String>,
    /// Congestion controls to judge by RFC 9743, likewise
    #[arg(long, value_name = "KIND|FILE,…", value_delimiter = ',', conflicts_with = "aqm")]
    cc: Vec<String>,
    /// A program as an algorithm that --aqm and --against may name; it speaks the protocol of
    /// docs/conformance.md. May be repeated
    #[arg(long, value_name = "NAME=CMD", conflicts_with = "cc")]
    program: Vec<String>,
    /// Others to compare with besides the baseline (tail-drop, cubic)
    /// [default: codel,pie,fq-codel, or reno,bbr3]
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    against: Option<Vec<String>>,
    /// Fewer replications and shorter runs of the same points; the default
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Longer runs, and more of them
    #[arg(long)]
    full: bool,
    /// Where it runs: sim, the simulator; linux, guest kernels in virtual time, or linux-7.3, those
    /// of Linux 7.3; or kernel, the same with queues in a kernel
    #[arg(long, value_name = "HOST", default_value = "sim")]
    on: String,
    /// Only these families, by their names in the report's addresses; may be repeated
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    family: Vec<String>,
    /// Root of all randomness, instead of the scenarios'
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    jobs: Jobs,
    /// Folder for the results
    #[arg(long, value_name = "DIR", default_value = "out/evaluate")]
    out: PathBuf,
    /// Also write scorecard and tables as a page of Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write evaluation.json to standard output instead of the tables
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    opening: Opening,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let stop = interrupt::stop_flag();
    let host = BackendName::read(&arguments.on).map_err(|why| Failure::Input(format!("--on {}: {why}", arguments.on)))?;
    let host = backend::open("--on", host, VoidRunPolicy::default())?;
    if !host.is_reproducible() {
        let why = "compares subjects replication by replication, and real time repeats none";
        return Err(Failure::Input(format!("--on {}: gq evaluate {why}: allowed sim, linux, linux-7.3, kernel", arguments.on)));
    }
    let programs = programs(&arguments.program, &stop)?;
    let question = question(arguments, &programs)?;
    let experiments = question.experiments()?;
    experiments.iter().try_for_each(|experiment| backend::check("--on", &*host, &experiment.points))?;
    check_file("--markdown", arguments.markdown.as_deref())?;
    let out = Folder::create(&arguments.out)?;
    write_scenarios(&question, &out)?;
    let jobs = arguments.jobs.count();
    let (ended, seconds) = progress::during(experiments.iter().map(Experiment::run_count).sum(), |set| {
        goodqueue_studies::evaluate::run(&question, experiments, &*host, out.path(), jobs, &stop, &mut |now| set(now.part))
    });
    let end = ended?;
    if let Some(message) = programs.iter().find_map(|program| program.trouble().message()) {
        return Err(Failure::Input(message));
    }
    let evaluation = end.evaluation;
    let command = command_line();
    out.write("evaluation.json", evaluation.to_json().as_bytes())?;
    out.write("report.html", report::html(&evaluation, &command).as_bytes())?;
    // A page that is complete stays until another one is.
    if let (Some(path), true) = (&arguments.markdown, evaluation.complete) {
        write_file(path, markdown::markdown(&evaluation, &command).as_bytes())?;
    }
    match arguments.json {
        true => print(&evaluation.to_json())?,
        false => output::print_text(&shown(&evaluation, output::width()))?,
    }
    let before = if end.reused > 0 { format!(", {} from before", count(end.reused, "point")) } else { String::new() };
    let points = count(end.run, "point");
    say(&format!("{points} in {seconds:.1} s{before}; results in {}", out.path().display()));
    arguments.opening.show(out.path());
    if evaluation.complete { Ok(()) } else { Err(incomplete(&evaluation)) }
}

/// The programs that take part.
fn programs(named: &[String], stop: &Arc<AtomicBool>) -> Result<Vec<Arc<HostedKind>>, Failure> {
    let mut programs: Vec<Arc<HostedKind>> = Vec::new();
    for text in named {
        let refuse = |message: &str| Failure::Input(format!("--program {text}: {message}"));
        let (name, command) = text.split_once('=').ok_or_else(|| refuse("expected NAME=CMD"))?;
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(refuse("a name has lower-case letters, digits and `-`"));
        }
        if goodqueue_aqm::sched::kind(name).is_some() || programs.iter().any(|known| known.spec().base.kind == name) {
            return Err(refuse("there is a kind of this name"));
        }
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| refuse("this is not a command: a quote is open, or it is empty"))?;
        programs.push(Arc::new(HostedKind::new(name, words, PATIENCE, Some(Arc::clone(stop)))));
    }
    Ok(programs)
}

fn question(arguments: &Arguments, programs: &[Arc<HostedKind>]) -> Result<Question, Failure> {
    let own: CustomKinds = programs.iter().map(|program| Arc::clone(program) as Arc<dyn CustomKind>).collect();
    let (suite, judged): (&'static Suite, &[String]) = match arguments.cc.as_slice() {
        [] => (&RFC7928, arguments.aqm.as_slice()),
        controls => (&RFC9743, controls),
    };
    let read = |text: &str| Subject::read(suite.judges, text, &own).map_err(Failure::input);
    let mut subjects: Vec<Subject> = Vec::new();
    for text in judged {
        let subject = read(text)?;
        if subjects.iter().any(|known| known.is_same(&subject)) {
            return Err(Failure::Input(format!("{} {text}: is named twice", suite.judges.option())));
        }
        subjects.push(subject);
    }
    let under_test = subjects.len();
    let others: Vec<&str> = match &arguments.against {
        Some(others) => others.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect(),
        None => suite.usual.iter().map(String::as_str).collect(),
    };
    for text in others.into_iter().chain([suite.baseline.as_str()]) {
        let subject =
            read(text).map_err(|failure| Failure::Input(failure.to_string().replacen(suite.judges.option(), "--against", 1)))?;
        if !subjects.iter().any(|known| known.is_same(&subject)) {
            subjects.push(subject);
        }
    }
    let baseline = read(&suite.baseline)?;
    let baseline = subjects.iter().position(|subject| subject.is_same(&baseline)).unwrap_or(0);
    for id in &arguments.family {
        if !suite.families.iter().any(|family| family.id == *id) {
            let known: Vec<&str> = suite.families.iter().map(|family| family.id.as_str()).collect();
            return Err(Failure::Input(format!("--family {id}: is not there: allowed {}", known.join(", "))));
        }
    }
    Ok(Question {
        suite,
        subjects,
        under_test,
        baseline,
        mode: if arguments.full { Mode::Full } else { Mode::Quick },
        families: arguments.family.clone(),
        seed: arguments.seed,
        own,
    })
}

/// The scenario files, which the report's commands name.
fn write_scenarios(question: &Question, out: &Folder) -> Result<(), Failure> {
    let folder = Folder::create(&out.path().join("scenarios"))?;
    for family in question.families() {
        folder.write_in_passing(&format!("{}.toml", family.id), family.scenario_text.as_bytes())?;
    }
    Ok(())
}

/// The command as it was typed, for a shell.
fn command_line() -> String {
    let word = |word: &String| {
        let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "=.-_/:,".contains(letter));
        if is_plain { word.clone() } else { quoted(word) }
    };
    output::command_line().iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A table for each family, and the scorecard.
fn shown(evaluation: &Evaluation, width: usize) -> Text {
    let mut text = Text::default();
    for result in &evaluation.families {
        family(&mut text, evaluation, result, width);
    }
    let _ = writeln!(text.plain, "Scorecard\n{}\n", table::wrapped(&markdown::rule(evaluation), width));
    let rows: Vec<_> =
        evaluation.scorecard.iter().zip(&evaluation.subjects).filter(|(_, subject)| !subject.is_baseline).collect();
    let column = |head: &str, cells: Vec<String>| Column { head: head.to_owned(), ..Column::names(cells) };
    let names = column(evaluation.suite.judges.name(), rows.iter().map(|(score, _)| score.subject.clone()).collect());
    let aspects = evaluation.scorecard.first().into_iter().flat_map(|score| score.aspects.keys());
    let columns: Vec<Column> = aspects
        .map(|aspect| column(aspect.name(), rows.iter().map(|(score, _)| markdown::tally(score.aspects[aspect])).collect()))
        .collect();
    table::write(&mut text, &names, &columns, width, &|row| rows[row].1.under_test);
    text
}

fn family(text: &mut Text, evaluation: &Evaluation, result: &FamilyResult, width: usize) {
    let _ = writeln!(text.plain, "§{} {}", result.family.section, result.family.title);
    for point in &result.points {
        let case = [point.placement, point.point].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        if !case.is_empty() {
            let _ = writeln!(text.plain, "{case}");
        }
        let lines: Vec<_> = point.lines.iter().filter(|line| line.not_applicable.is_none()).collect();
        let names = Column::names(lines.iter().map(|line| line.subject.clone()).collect());
        let column = |(at, measure): (usize, &Measure)| Column {
            head: measure.head.clone(),
            unit: measure.scale.unit.to_owned(),
            cells: lines.iter().map(|line| table::cell(line.values[at].figure, measure.scale.factor)).collect(),
            rank: u8::try_from(at).unwrap_or(u8::MAX),
        };
        let columns: Vec<Column> = result.measures.iter().enumerate().map(column).collect();
        let under_test =
            |row: usize| evaluation.subjects.iter().any(|subject| subject.under_test && subject.name == lines[row].subject);
        let left_out = table::write(text, &names, &columns, width, &under_test);
        if !left_out.is_empty() {
            let _ = writeln!(text.plain, "(no room for {}; the report has all columns)", left_out.join(", "));
        }
        for line in point.lines.iter().filter(|line| line.not_applicable.is_some()) {
            let _ = writeln!(text.plain, "{}: does not apply: {}", line.subject, line.not_applicable.as_deref().unwrap_or(""));
        }
    }
    text.plain.push('\n');
}

fn incomplete(evaluation: &Evaluation) -> Failure {
    let lines = || evaluation.families.iter().flat_map(|family| &family.points).flat_map(|point| &point.lines);
    let missing = lines().filter(|line| line.not_applicable.is_none() && line.fingerprints.is_empty()).count();
    Failure::incomplete(lines().flat_map(|line| &line.failures).next(), missing)
}
