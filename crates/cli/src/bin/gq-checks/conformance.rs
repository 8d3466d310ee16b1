//! `gq-checks conformance`: the queues of this program, or of another one, against vectors of
//! verdicts.

use clap::Args;
use goodqueue_base::units::Duration;
use goodqueue_checks::conformance::against::{Program, Verdict};
use goodqueue_checks::conformance::library::{self, Source};
use goodqueue_checks::conformance::{Outcome, Vector, replay};
use goodqueue_cli::failure::Failure;
use goodqueue_cli::interrupt;
use goodqueue_cli::output::{json, print, say};
use goodqueue_lab::quantity::{self, Limits};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Arguments of `gq-checks conformance`.
#[derive(Args)]
pub struct Arguments {
    /// A program to test instead of goodqueue's own queues; it reads vectors from its standard
    /// input: docs/conformance.md
    #[arg(long, value_name = "CMD")]
    against: Option<String>,
    /// Vectors of this folder instead of the built-in ones
    #[arg(long, value_name = "DIR")]
    vectors: Option<PathBuf>,
    /// Only vectors of these kinds of queue, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    kind: Vec<String>,
    /// Longest time for one answer of a program
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "against")]
    patience: String,
    /// For programs
    #[arg(long)]
    json: bool,
}

/// The outcome of one vector.
#[derive(Serialize)]
struct Row {
    name: String,
    kind: &'static str,
    origin: String,
    operations: usize,
    identical: usize,
    fate: Fate,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Fate {
    Pass,
    Differs,
    Skipped,
    Broken,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let stop = interrupt::stop_flag();
    let vectors = chosen(arguments)?;
    let mut program = arguments.against.as_deref().map(|command| program(command, &arguments.patience, &stop)).transpose()?;
    let mut rows = Vec::new();
    for vector in &vectors {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let row = match &mut program {
            None => own(vector)?,
            Some(program) => other(program, vector, arguments.against.as_deref().unwrap_or_default())?,
        };
        if row.fate == Fate::Broken && stop.load(Ordering::Relaxed) {
            break;
        }
        rows.push(row);
    }
    print(&if arguments.json { json(&rows)? } else { table(&rows) })?;
    if rows.len() < vectors.len() {
        return Err(Failure::Run(format!("interrupted: {} of {} vectors were replayed", rows.len(), vectors.len())));
    }
    verdict(&rows)
}

/// The vectors asked for, read.
fn chosen(arguments: &Arguments) -> Result<Vec<Vector>, Failure> {
    let sources = match &arguments.vectors {
        None => library::embedded(),
        Some(folder) => library::folder(folder).map_err(Failure::of(format!("--vectors {}", folder.display())))?,
    };
    let vectors = sources.iter().map(Source::load).collect::<Result<Vec<_>, _>>();
    let mut vectors = vectors.map_err(Failure::input)?;
    for kind in &arguments.kind {
        if !vectors.iter().any(|vector| vector.queue.kind.kind == kind) {
            let known: BTreeSet<&str> = vectors.iter().map(|vector| vector.queue.kind.kind).collect();
            let known: Vec<&str> = known.into_iter().collect();
            return Err(Failure::Input(format!("--kind: there are no vectors for `{kind}`: allowed {}", known.join(", "))));
        }
    }
    vectors.retain(|vector| arguments.kind.is_empty() || arguments.kind.iter().any(|kind| vector.queue.kind.kind == kind));
    if vectors.is_empty() {
        let place = arguments.vectors.as_ref().map_or_else(|| "gq".to_owned(), |folder| folder.display().to_string());
        return Err(Failure::Input(format!("--vectors: there are none in {place}")));
    }
    Ok(vectors)
}

fn program(command: &str, patience: &str, stop: &Arc<AtomicBool>) -> Result<Program, Failure> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words = words
        .ok_or_else(|| Failure::Input(format!("--against: `{command}` is not a command: a quote is open, or it is empty")))?;
    let limits = Limits::new(Duration::ms(1), Duration::secs(3600));
    let span = quantity::duration_within(patience, limits).map_err(Failure::of("--patience"))?;
    Ok(Program::new(words, span.into(), Arc::clone(stop)))
}

fn own(vector: &Vector) -> Result<Row, Failure> {
    let outcome = replay(vector).map_err(Failure::of(&vector.name))?;
    Ok(judged(vector, &outcome))
}

fn other(program: &mut Program, vector: &Vector, command: &str) -> Result<Row, Failure> {
    let verdict =
        program.judge(vector).map_err(|error| Failure::Input(format!("--against: `{command}` did not start: {error}")))?;
    Ok(match verdict {
        Verdict::Judged(outcome) => judged(vector, &outcome),
        Verdict::Skipped(why) => row(vector, 0, Fate::Skipped, Some(why)),
        Verdict::Broken { answered, why } => {
            row(vector, 0, Fate::Broken, Some(format!("after {answered} of {} operations: {why}", vector.steps.len())))
        }
    })
}

fn judged(vector: &Vector, outcome: &Outcome) -> Row {
    let fate = if outcome.passed() { Fate::Pass } else { Fate::Differs };
    row(vector, outcome.identical, fate, outcome.first.as_ref().map(ToString::to_string))
}

fn row(vector: &Vector, identical: usize, fate: Fate, message: Option<String>) -> Row {
    let operations = vector.steps.len();
    let (name, kind, origin) = (vector.name.clone(), vector.queue.kind.kind, vector.origin.clone());
    Row { name, kind, origin, operations, identical, fate, message }
}

/// One line for each kind of queue and origin, then what went wrong.
fn table(rows: &[Row]) -> String {
    let mut groups: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry((row.kind, &row.origin)).or_default().push(row);
    }
    let mut text = format!("{:14} {:>9} {:>9} {:>11} {:>9}  origin\n", "queue", "vectors", "passed", "operations", "identical");
    for ((kind, origin), rows) in &groups {
        let passed = rows.iter().filter(|row| row.fate == Fate::Pass).count();
        let judged = || rows.iter().filter(|row| row.fate != Fate::Skipped);
        let operations: usize = judged().map(|row| row.operations).sum();
        let identical: usize = judged().map(|row| row.identical).sum();
        let _ = writeln!(text, "{kind:14} {:>9} {passed:>9} {operations:>11} {identical:>9}  {origin}", rows.len());
    }
    for row in rows.iter().filter(|row| matches!(row.fate, Fate::Differs | Fate::Broken)) {
        let what = if row.fate == Fate::Differs { "differs" } else { "broken" };
        let _ = writeln!(text, "{what}: {}: {}", row.name, row.message.as_deref().unwrap_or_default());
    }
    for (why, names) in skipped(rows) {
        let _ = writeln!(text, "skipped: {}: {why}", names.join(", "));
    }
    text
}

/// Reasons for skipping, with the vectors they were given for.
fn skipped(rows: &[Row]) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.fate == Fate::Skipped) {
        reasons.entry(row.message.as_deref().unwrap_or_default()).or_default().push(&row.name);
    }
    reasons
}

fn verdict(rows: &[Row]) -> Result<(), Failure> {
    let count = |fate| rows.iter().filter(|row| row.fate == fate).count();
    let (passed, skipped, broken) = (count(Fate::Pass), count(Fate::Skipped), count(Fate::Broken));
    let failed = rows.len() - passed - skipped;
    say(&format!("{passed} of {} vectors passed, {failed} failed, {skipped} skipped", rows.len()));
    if broken > 0 {
        let differ = failed - broken;
        return Err(Failure::Run(format!("{broken} of {} vectors were broken off, {differ} give other verdicts", rows.len())));
    }
    if failed > 0 {
        return Err(Failure::Run(format!("{failed} of {} vectors give other verdicts", rows.len())));
    }
    if passed == 0 {
        return Err(Failure::Run("no vector was run: all were skipped".to_owned()));
    }
    Ok(())
}
