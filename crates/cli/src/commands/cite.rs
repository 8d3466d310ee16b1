//! `gq cite`: how to cite goodqueue, and the sources of what was used.

use crate::failure::Failure;
use crate::output::print;
use crate::result::recorded_plan;
use clap::{Args, ValueEnum};
use goodqueue_aqm::sched;
use goodqueue_aqm::spec::KindAndParams;
use goodqueue_lab::results::provenance::{COMMIT, VERSION, YEAR};
use goodqueue_lab::scenario::plan::{Direction, Plan};
use goodqueue_studies::gallery::citation::{self, Software};
use goodqueue_studies::gallery::sources::Source;
use goodqueue_tcp::cc;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// Arguments of `gq cite`.
#[derive(Args)]
#[command(after_help = "Examples:
  gq cite --format apa
  gq cite results/compare >> paper.bib
  gq cite --aqm codel,fair:pie --cc cubic,bbr")]
pub struct Arguments {
    /// Cite what made this result, and the sources of what it used: a folder of gq run, compare,
    /// sweep, evaluate or reproduce
    #[arg(value_name = "RESULT")]
    result: Option<PathBuf>,
    /// Cite the sources of these queues, see gq list aqm
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    aqm: Vec<String>,
    /// Cite the sources of these congestion controls, see gq list cc
    #[arg(long, value_name = "KIND,…", value_delimiter = ',')]
    cc: Vec<String>,
    /// Form of the citations
    #[arg(long, value_enum, default_value_t = Form::Bibtex)]
    format: Form,
    /// Cite the version alone, without the commit of this build
    #[arg(long, conflicts_with = "result")]
    release: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Entries for LaTeX
    Bibtex,
    /// Lines in the style of the American Psychological Association
    Apa,
    /// Citation File Format
    Cff,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut used = match &arguments.result {
        Some(folder) => Used::of(folder)?,
        None => Used::by_this(arguments.release),
    };
    for text in &arguments.aqm {
        used.aqm(text)?;
    }
    for text in &arguments.cc {
        used.cc(text)?;
    }
    let form = match arguments.format {
        Form::Bibtex => citation::bibtex,
        Form::Apa => citation::apa,
        Form::Cff => citation::cff,
    };
    Ok(print(&form(&used.software, &used.sources))?)
}

/// Program that made a result, and the sources of everything it used, each once.
struct Used {
    software: Software,
    sources: Vec<Source>,
}

impl Used {
    fn by(version: &str, commit: Option<&str>) -> Self {
        let known = commit.filter(|commit| *commit != "unknown");
        let year = (known == Some(COMMIT) && !YEAR.is_empty()).then(|| YEAR.to_owned());
        Self { software: Software { version: version.to_owned(), commit: known.map(str::to_owned), year }, sources: Vec::new() }
    }

    /// This program, as a release or as it was built.
    fn by_this(release: bool) -> Self {
        Self::by(VERSION, (!release).then_some(COMMIT))
    }

    /// Reads the citations of a folder of results.
    fn of(folder: &Path) -> Result<Self, Failure> {
        let at = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
        if let Some(path) = at("summary.json") {
            let Summary { provenance: Maker { version, commit } } = read(&path)?;
            return Self::by(&version, Some(&commit)).with_plan(&recorded_plan(folder)?);
        }
        if let Some(path) = at("sweep.json") {
            let Maker { version, commit } = read(&path)?;
            return Self::by(&version, Some(&commit)).with_plan(&recorded_plan(folder)?);
        }
        if let Some(path) = at("evaluation.json") {
            let Evaluation { version, commit, document, subjects } = read(&path)?;
            let mut used = Self::by(&version, Some(&commit));
            used.cite(&document);
            subjects.iter().for_each(|subject| used.subject(&subject.name));
            return Ok(used);
        }
        Self::of_studies(folder)
    }

    /// Reads the citations of the folder of one study or of several.
    fn of_studies(folder: &Path) -> Result<Self, Failure> {
        let entries = std::fs::read_dir(folder).map_err(Failure::of(format!("{}: cannot be read", folder.display())))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path().join("results.json")).collect();
        paths.push(folder.join("results.json"));
        paths.retain(|path| path.is_file());
        paths.sort();
        let mut used: Option<Self> = None;
        for path in paths {
            let Study { version, commit, citation } = read(&path)?;
            let used = used.get_or_insert_with(|| Self::by(&version, Some(&commit)));
            if used.software.commit.as_ref().is_some_and(|known| *known != commit) {
                used.software.commit = None;
            }
            used.add(Source::find(&citation));
        }
        used.ok_or_else(|| Failure::Input(format!("{}: is no folder of results", folder.display())))
    }

    fn with_plan(mut self, plan: &Plan) -> Result<Self, Failure> {
        for point in plan.points()? {
            for link in &point.plan.links {
                let queues = [Direction::Down, Direction::Up].map(|heading| link.direction(heading).queue.as_ref());
                for queue in queues.into_iter().flatten() {
                    self.cite(queue.chosen.kind.source);
                    let mut inner: Option<&KindAndParams> = queue.chosen.of.as_deref();
                    while let Some(chosen) = inner {
                        self.cite(chosen.kind.source);
                        inner = chosen.of.as_deref();
                    }
                }
            }
            for part in point.plan.traffic.iter().flat_map(|traffic| traffic.parts()) {
                if let Some((sender, ..)) = part.source.tcp() {
                    self.control(sender.cc.kind);
                }
            }
        }
        Ok(self)
    }

    /// A queue as the command line names it: `codel:target=10ms`, `fair:pie`.
    fn aqm(&mut self, text: &str) -> Result<(), Failure> {
        for name in text.split(':').filter(|word| !word.contains('=')) {
            let kind = sched::find(name).map_err(|unknown| Failure::Input(format!("--aqm {unknown}")))?;
            self.cite(kind.source);
        }
        Ok(())
    }

    /// A congestion control as the command line names it: `cubic:beta=0.8`.
    fn cc(&mut self, text: &str) -> Result<(), Failure> {
        let name = text.split(':').next().unwrap_or_default();
        let kind = goodqueue_base::spec::find(name, cc::kinds().iter()).map_err(|near| {
            let name = goodqueue_base::spec::quantity::excerpt(name);
            let help = near.map_or_else(|| "see gq list cc".to_owned(), |near| format!("did you mean `{near}`?"));
            Failure::Input(format!("--cc `{name}` is not known; {help}"))
        })?;
        self.cite(kind.source);
        Ok(())
    }

    /// Adds the sources of the subject of an evaluation: a queue or a control. One of the user's
    /// own has no source.
    fn subject(&mut self, name: &str) {
        for word in name.split(':') {
            if let Ok(kind) = sched::find(word) {
                self.cite(kind.source);
            }
            self.control(word);
        }
    }

    fn control(&mut self, name: &str) {
        if let Some(kind) = cc::kinds().iter().find(|kind| kind.is_called(name)) {
            self.cite(kind.source);
        }
    }

    /// Adds the sources that a description cites.
    fn cite(&mut self, words: &str) {
        self.add(Source::cited_as(words));
    }

    fn add(&mut self, sources: impl IntoIterator<Item = Source>) {
        for source in sources {
            if !self.sources.contains(&source) {
                self.sources.push(source);
            }
        }
    }
}

#[derive(Deserialize)]
struct Summary {
    provenance: Maker,
}

#[derive(Deserialize)]
struct Maker {
    version: String,
    commit: String,
}

#[derive(Deserialize)]
struct Evaluation {
    version: String,
    commit: String,
    document: String,
    subjects: Vec<Subject>,
}

#[derive(Deserialize)]
struct Subject {
    name: String,
}

#[derive(Deserialize)]
struct Study {
    version: String,
    commit: String,
    citation: String,
}

/// Larger files are not read.
const MAX: u64 = 1 << 30;

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let read = || -> io::Result<T> { Ok(serde_json::from_reader(BufReader::new(File::open(path)?).take(MAX))?) };
    read().map_err(Failure::of(format!("{}: cannot be read", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_queue_and_control_has_a_source_that_can_be_cited() {
        let programs = ["Linux ", "ns-2.35", "L4S team's Linux"];
        let aqm = sched::kinds().map(|kind| (kind.kind, kind.source));
        for (name, words) in aqm.chain(cc::kinds().iter().map(|kind| (kind.kind, kind.source))) {
            assert!(!Source::cited_as(words).is_empty(), "{name}: {words}");
            for part in words.split("; ") {
                let is_program = programs.iter().any(|program| part.starts_with(program));
                assert!(is_program || Source::cited_as(part).len() == 1, "{name}: {part}");
            }
        }
    }
}
