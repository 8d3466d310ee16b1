//! `gq gate`: a run against stored results, for continuous integration.

use crate::commands::run::Overrides;
use crate::failure::{Failure, check_file};
use crate::output::{self, print, print_text, say, width};
use crate::result::verdict;
use crate::settings::Jobs;
use crate::table::{self, Column, Text, cell};
use crate::{interrupt, progress};
use clap::Args;
use goodqueue_lab::results::labels::Labels;
use goodqueue_lab::results::metrics::unit_that_suits;
use goodqueue_lab::results::record::{NoRecorder, write_file};
use goodqueue_lab::results::statistics::Figure;
use goodqueue_lab::run::runner::{self, RunOptions};
use goodqueue_lab::scenario::plan::{Plan, Point};
use goodqueue_lab::verdict::gate::{self, Baseline, BaselineError, Choice, Comparison, Measured, Row, Verdict};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Arguments of `gq gate`.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 no significant regression, 1 a significant regression or a run that failed, 2 bad usage or \
                        input, also a scenario that has changed.\n\
                        Example: gq gate scenario.toml --baseline baseline.toml --write, and later the same without --write"
)]
pub struct Arguments {
    /// The scenario
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// The stored results
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// Store the results of this run instead of comparing them
    #[arg(long)]
    write: bool,
    /// Figures to store or compare, see gq list metric [default: what the report shows at once]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    metric: Vec<String>,
    /// A figure may be worse by this part of its stored value, for instance 2%
    #[arg(long, value_name = "PART", default_value = "0%", value_parser = part)]
    margin: f64,
    #[command(flatten)]
    overrides: Overrides,
    #[command(flatten)]
    jobs: Jobs,
    /// Write the comparison as JSON to a file, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-", conflicts_with = "write")]
    json: Option<PathBuf>,
}

/// A margin that is no part of a value.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("is no part: allowed 0% to 100%, or 0 to 1")]
struct NoPart;

/// `2%` or `0.02`.
fn part(text: &str) -> Result<f64, NoPart> {
    let (number, scale) = text.trim().strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let part = number.trim().parse::<f64>().map(|number| number * scale);
    match part {
        Ok(part) if (0.0..=1.0).contains(&part) => Ok(part),
        Ok(_) | Err(_) => Err(NoPart),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.overrides.only_sim("gq gate compares runs of the simulator")?;
    let choice = Choice::of(&arguments.metric).map_err(Failure::of("--metric"))?;
    let plan = Plan::load(&arguments.scenario)?.with_overrides(&arguments.overrides.pairs()?)?;
    if plan.replications() < 2 {
        let message = format!("{}: replications = 1 gives no interval: at least 2 are needed", plan.source_name());
        return Err(Failure::Input(message));
    }
    let path = &arguments.baseline;
    let in_file = |error: BaselineError| Failure::Input(format!("--baseline {}: {error}", path.display()));
    // A wrong file is found before the runs, which may take long.
    let baseline = if arguments.write {
        check_file("--baseline", Some(path))?;
        None
    } else {
        let baseline = Baseline::load(path).map_err(in_file)?;
        baseline.check(&plan).map_err(in_file)?;
        Comparison::of(&baseline, &[], &choice, arguments.margin).map_err(in_file)?;
        Some(baseline)
    };
    check_file("--json", arguments.json.as_deref().filter(|path| path.as_os_str() != "-"))?;
    let points = plan.points()?;
    let measured = measure(&plan, &points, &choice, arguments.jobs.count())?;
    let Some(baseline) = baseline else { return store(path, &plan, points.len(), measured) };
    let comparison = Comparison::of(&baseline, &measured, &choice, arguments.margin).map_err(in_file)?;
    show(arguments, &plan, &baseline, &comparison)?;
    match comparison.rows.iter().filter(|row| row.verdict.is_regression()).count() {
        0 => Ok(()),
        1 => Err(Failure::Run("1 figure is significantly worse".to_owned())),
        many => Err(Failure::Run(format!("{many} figures are significantly worse"))),
    }
}

fn measure(plan: &Plan, points: &[Point], choice: &Choice, jobs: usize) -> Result<Vec<Measured>, Failure> {
    let options = RunOptions::unrecorded(jobs, plan.replications());
    let total = points.len() * options.replications as usize;
    let stop = interrupt::stop_flag();
    let run = |progress: &mut dyn FnMut(f64)| runner::run(points, &options, &stop, progress, &mut NoRecorder);
    let (report, _) = progress::during(total, run);
    verdict(&report, total, "")?;
    let sets: Vec<_> = points.iter().map(|point| point.set.as_slice()).collect();
    Ok(gate::measured(&report.points, &Labels::new(&sets, plan.name()).names, choice))
}

fn store(path: &Path, plan: &Plan, points: usize, measured: Vec<Measured>) -> Result<(), Failure> {
    let (figures, runs) = (measured.len(), plan.replications());
    write_file(path, Baseline::new(plan, measured).to_toml().as_bytes())?;
    let points = if points == 1 { String::new() } else { format!(" of {points} points") };
    say(&format!("baseline in {}: {figures} figures{points}, {runs} replications, seed {}", path.display(), plan.seed()));
    Ok(())
}

fn show(arguments: &Arguments, plan: &Plan, baseline: &Baseline, comparison: &Comparison) -> Result<(), Failure> {
    let json = || output::json(&GateJson::of(plan, baseline, comparison, arguments.margin));
    match &arguments.json {
        Some(path) if path.as_os_str() == "-" => return Ok(print(&json()?)?),
        Some(path) => write_file(path, json()?.as_bytes())?,
        None => {}
    }
    Ok(print_text(&text(comparison, width()))?)
}

/// The table of all that is not the same, in which regressions stand out, and the sentence.
fn text(comparison: &Comparison, width: usize) -> Text {
    let mut text = Text::default();
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| row.verdict != Verdict::Same).collect();
    let left_out = if rows.is_empty() { Vec::new() } else { write_table(&mut text, &rows, comparison, width) };
    if !left_out.is_empty() {
        text.plain.push_str(&format!("(no room for {}; --json has everything)\n", left_out.join(", ")));
    }
    if !rows.is_empty() {
        text.plain.push('\n');
    }
    text.plain.push_str(&table::wrapped(&comparison.sentence(), width));
    text.plain.push('\n');
    text
}

fn write_table(text: &mut Text, rows: &[&Row], comparison: &Comparison, width: usize) -> Vec<String> {
    let several = comparison.rows.iter().any(|row| row.point != comparison.rows[0].point);
    let column = |head: &str, rank: u8, cell: &dyn Fn(&Row) -> String| Column {
        head: head.to_owned(),
        rank,
        ..Column::names(rows.iter().map(|row| cell(row)).collect())
    };
    let unit = |row: &Row| unit_that_suits(row.about.quantity, &[row.before, row.now]);
    let shown = |row: &Row, figure: Figure| cell(Figure { ci95: None, ..figure }, unit(row).1);
    let difference = |row: &Row| {
        let Some((mean, ci95)) = row.difference else { return "-".to_owned() };
        let text = cell(Figure { mean: Some(mean), ci95, n: 1 }, unit(row).1);
        if mean > 0.0 { format!("+{text}") } else { text }
    };
    let figure = |row: &Row| format!("{} {}", row.of, row.about.name);
    let names = column("", 0, &|row| if several { format!("{}, {}", figure(row), row.point) } else { figure(row) });
    let columns = [
        column("unit", 2, &|row| unit(row).0.to_owned()),
        column("baseline", 1, &|row| shown(row, row.before)),
        column("now", 1, &|row| shown(row, row.now)),
        column("difference", 0, &difference),
        column("verdict", 0, &|row| row.verdict.word().to_owned()),
    ];
    table::write(text, &names, &columns, width, &|row| rows[row].verdict.is_regression())
}

/// Name and version of the JSON form.
const JSON_SCHEMA: &str = "goodqueue.gate/1";

#[derive(Serialize)]
struct GateJson<'a> {
    schema: &'static str,
    scenario: &'a str,
    scenario_sha256: &'a str,
    baseline_made_by: &'a str,
    seed: u64,
    replications: u32,
    margin: f64,
    confidence: f64,
    regression: bool,
    sentence: String,
    figures: Vec<FigureJson<'a>>,
}

#[derive(Serialize)]
struct FigureJson<'a> {
    point: &'a str,
    of: &'a str,
    metric: &'static str,
    unit: &'static str,
    baseline: Figure,
    now: Figure,
    difference: Option<f64>,
    half_width: Option<f64>,
    verdict: Verdict,
}

impl<'a> GateJson<'a> {
    fn of(plan: &'a Plan, baseline: &'a Baseline, comparison: &'a Comparison, margin: f64) -> Self {
        let figure = |row: &'a Row| FigureJson {
            point: &row.point,
            of: &row.of,
            metric: row.about.name,
            unit: row.about.quantity.unit(),
            baseline: row.before,
            now: row.now,
            difference: row.difference.map(|(mean, _)| mean),
            half_width: row.difference.and_then(|(_, half)| half),
            verdict: row.verdict,
        };
        Self {
            schema: JSON_SCHEMA,
            scenario: plan.name(),
            scenario_sha256: &baseline.scenario_sha256,
            baseline_made_by: &baseline.made_by,
            seed: baseline.seed,
            replications: comparison.replications,
            margin,
            confidence: comparison.confidence,
            regression: comparison.has_regressed(),
            sentence: comparison.sentence(),
            figures: comparison.rows.iter().map(figure).collect(),
        }
    }
}
