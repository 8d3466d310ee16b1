//! `gq reproduce`: the gallery's studies run again, and which of their statements hold.

mod gallery;
mod show;
mod write;

use crate::failure::{Failure, check_file};
use crate::opening::Opening;
use crate::output::{print, say};
use crate::settings::{self, Jobs};
use crate::{interrupt, progress};
use chrono::DateTime;
use clap::Args;
use goodqueue_lab::results::record::{Folder, write_file};
use goodqueue_lab::run::backend::Simulator;
use goodqueue_studies::gallery::error::GalleryError;
use goodqueue_studies::gallery::evaluate;
use goodqueue_studies::gallery::experiment::{Experiment, Mode};
use goodqueue_studies::gallery::files::{Gallery, Paper, Row};
use goodqueue_studies::gallery::results::PaperResults;
use goodqueue_studies::gallery::samples::Measured;
use goodqueue_studies::gallery::store::Store;
use goodqueue_studies::gallery::{catalogue, cost, markdown, run};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

/// Folder for results unless another one is named.
pub const OUT: &str = "out/gallery";

/// Arguments of `gq reproduce`.
#[derive(Args)]
#[command(after_help = "Finished points are kept: the same command resumes.")]
pub struct Arguments {
    /// A paper of the gallery (cp-aqm, steering, codel, survey, nfq-codel, l4s-tests, dualpi2, ns3,
    /// ns2, extensions), or all
    #[arg(value_name = "PAPER|all")]
    paper: String,
    /// Only what one figure or table needs
    #[arg(long, value_name = "ID")]
    figure: Option<String>,
    /// Only what one row needs
    #[arg(long, value_name = "ID")]
    row: Vec<String>,
    /// Only one experiment
    #[arg(long, value_name = "ID")]
    experiment: Vec<String>,
    /// The studies' own counts and lengths, instead of fewer and shorter runs of the same points
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    jobs: Jobs,
    /// Folder for the results
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
    /// The gallery's folder [default: ./gallery where there is one, else the one built in]
    #[arg(long, value_name = "DIR")]
    gallery: Option<PathBuf>,
    /// Root of all randomness, instead of the scenarios'
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Set a key of every scenario, for instance replications=1; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Also write all rows as a page of Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    opening: Opening,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let stop = interrupt::stop_flag();
    let out = Folder::create(&arguments.out)?;
    let gallery = gallery::find(arguments.gallery.as_deref(), out.path())?;
    let papers = papers(arguments, &gallery)?;
    check_file("--markdown", arguments.markdown.as_deref())?;
    let mode = if arguments.full { Mode::Full } else { Mode::Quick };
    let settings = settings(arguments)?;
    let mut experiments = Vec::new();
    for paper in &papers {
        check(paper, mode)?;
        for spec in &paper.experiments {
            if wanted(arguments, paper, spec.id.get_ref()) {
                experiments.push(Experiment::load(paper, spec, mode, &settings)?);
            }
        }
    }
    let (end, wall_s) = carry_out(arguments, experiments, &Store::new(out.path(), mode), &stop)?;
    let costs = cost::costs(&end.measured);
    let mut measured = end.measured;
    let mut all = Vec::new();
    for paper in papers {
        let (own, others) = measured.into_iter().partition(|one: &Measured| one.experiment.paper == paper.id);
        measured = others;
        all.push(results(arguments, paper, own, mode));
    }
    print(&show::text(&all))?;
    let cost_text = cost::to_json(&costs, wall_s, arguments.jobs.count());
    if let Some(path) = &arguments.markdown {
        write_file(path, markdown::markdown(&all, &costs, &today()).as_bytes())?;
    }
    let all: Vec<PaperResults> = write::write(all, arguments.figure.as_deref(), &costs, &out)?;
    out.write("cost.json", cost_text.as_bytes())?;
    say(&format!("results in {}", out.path().display()));
    arguments.opening.show(out.path());
    if !end.complete {
        return Err(incomplete(&all));
    }
    mistakes(&all)
}

/// Checks the paper's expressions against its scenarios as the files have them, before anything
/// runs.
fn check(paper: &Paper, mode: Mode) -> Result<(), Failure> {
    let load = |spec| Experiment::load(paper, spec, mode, &[]);
    let experiments: Vec<Experiment> = paper.experiments.iter().map(load).collect::<Result<_, _>>()?;
    Ok(catalogue::check(paper, experiments).map_err(GalleryError::from)?)
}

/// Rows whose measure turned out to be wrong in itself. Everything that was measured is written by
/// then.
fn mistakes(all: &[PaperResults]) -> Result<(), Failure> {
    let rows = all.iter().flat_map(|results| &results.rows);
    let mistakes: Vec<String> = rows.filter_map(|(_, evaluated)| Some(evaluated.mistake.as_ref()?.to_string())).collect();
    if mistakes.is_empty() { Ok(()) } else { Err(Failure::Input(mistakes.join("\n"))) }
}

fn papers(arguments: &Arguments, gallery: &Gallery) -> Result<Vec<Paper>, Failure> {
    let names: Vec<&str> = if arguments.paper == "all" { gallery.papers() } else { vec![arguments.paper.as_str()] };
    if names.is_empty() {
        return Err(Failure::Input(format!("{}: holds no paper", gallery.root.display())));
    }
    let papers: Vec<Paper> = names.into_iter().map(|name| gallery.read(name)).collect::<Result<_, _>>()?;
    check_names(arguments, &papers)?;
    Ok(papers)
}

/// Checks that everything that is asked for by name is there.
fn check_names(arguments: &Arguments, papers: &[Paper]) -> Result<(), Failure> {
    let check = |option: &str, asked: &str, known: Vec<&str>| {
        if known.contains(&asked) {
            return Ok(());
        }
        Err(Failure::Input(format!("{option} {asked}: is not there: allowed {}", known.join(", "))))
    };
    if let Some(asked) = &arguments.figure {
        let figures = papers.iter().flat_map(|paper| paper.figures.iter().map(|figure| figure.id.get_ref().as_str()));
        let tables = papers.iter().flat_map(|paper| paper.tables.iter().map(|table| table.id.get_ref().as_str()));
        check("--figure", asked, figures.chain(tables).collect())?;
    }
    for asked in &arguments.row {
        check("--row", asked, papers.iter().flat_map(|paper| paper.rows.iter().map(|row| row.id.get_ref().as_str())).collect())?;
    }
    for asked in &arguments.experiment {
        let all = papers.iter().flat_map(|paper| paper.experiments.iter().map(|spec| spec.id.get_ref().as_str()));
        check("--experiment", asked, all.collect())?;
    }
    Ok(())
}

/// Whether an experiment is needed for the figures, rows or experiments asked for.
fn wanted(arguments: &Arguments, paper: &Paper, experiment: &str) -> bool {
    if arguments.figure.is_none() && arguments.row.is_empty() && arguments.experiment.is_empty() {
        return true;
    }
    let of_figure = arguments.figure.iter().any(|asked| {
        let figures =
            paper.figures.iter().filter(|figure| figure.id.get_ref() == asked).flat_map(|figure| figure.experiment.get_ref());
        let tables = paper.tables.iter().filter(|table| table.id.get_ref() == asked).flat_map(|table| table.experiment.get_ref());
        figures.chain(tables).any(|id| id == experiment)
    });
    let of_row = paper.rows.iter().filter(|row| arguments.row.contains(row.id.get_ref()));
    let of_row = of_row.flat_map(|row| &row.experiments).any(|id| id.get_ref() == experiment);
    of_figure || of_row || arguments.experiment.iter().any(|asked| asked == experiment)
}

fn settings(arguments: &Arguments) -> Result<Vec<(String, String)>, Failure> {
    let mut settings = settings::pairs(&arguments.set)?;
    settings.extend(arguments.seed.map(|seed| ("seed".to_owned(), seed.to_string())));
    Ok(settings)
}

/// Runs the experiments. Returns their end, and the seconds that they took.
fn carry_out(
    arguments: &Arguments,
    experiments: Vec<Experiment>,
    store: &Store,
    stop: &AtomicBool,
) -> Result<(run::RunEnd, f64), Failure> {
    let runs = experiments.iter().map(Experiment::run_count).sum();
    let jobs = arguments.jobs.count();
    let (ended, wall_s) =
        progress::during(runs, |set| run::run(experiments, &Simulator, store, jobs, stop, &mut |now| set(now.part)));
    let end = ended?;
    if end.reused > 0 {
        say(&format!("{} points from before, {} run now", end.reused, end.run));
    }
    Ok((end, wall_s))
}

/// Today's date in UTC, as 2026-01-31.
fn today() -> String {
    #[expect(clippy::disallowed_methods, reason = "the page says when it was made; nothing is computed from it")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    DateTime::from_timestamp(since.as_secs().cast_signed(), 0).unwrap_or_default().date_naive().to_string()
}

/// The rows that are asked for, evaluated.
fn results(arguments: &Arguments, mut paper: Paper, measured: Vec<Measured>, mode: Mode) -> PaperResults {
    let measured: Rc<[Measured]> = measured.into();
    let ran = |row: &Row| row.experiments.iter().any(|id| measured.iter().any(|one| one.experiment.id == *id.get_ref()));
    let everything = arguments.figure.is_none() && arguments.row.is_empty() && arguments.experiment.is_empty();
    let asked = |row: &Row| everything || arguments.row.contains(row.id.get_ref()) || (arguments.row.is_empty() && ran(row));
    let rows: Vec<Row> = std::mem::take(&mut paper.rows).into_iter().filter(asked).collect();
    let rows = rows.into_iter().map(|row| {
        let evaluated = evaluate::evaluate(&paper, &row, &measured);
        (row, evaluated)
    });
    let rows = rows.collect();
    PaperResults { paper, measured, rows, mode }
}

fn incomplete(all: &[PaperResults]) -> Failure {
    let points = || all.iter().flat_map(|results| results.measured.iter()).flat_map(|one| &one.points);
    let missing = points().filter(|data| data.is_none()).count();
    Failure::incomplete(points().flatten().flat_map(|data| &data.failures).next(), missing)
}

impl From<GalleryError> for Failure {
    fn from(error: GalleryError) -> Self {
        match error {
            GalleryError::Plan(error) => error.into(),
            GalleryError::Record(error) => error.into(),
            GalleryError::File(_) | GalleryError::Request(_) => Self::Input(error.to_string()),
        }
    }
}
