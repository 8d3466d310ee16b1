//! Scenario files: from TOML text to typed, checked settings.
//!
//! A [`Plan`] is a file with its overrides; [`Plan::points`] expands its `[sweep]` into one
//! [`Point`] for each combination. Everything wrong is reported with file, line, column, field,
//! value and allowed range; unknown keys are errors.

mod canonical_names;
mod datagrams;
mod known;
mod link;
mod params;
mod path;
mod queue;
mod reader;
mod scenario;
mod sender;
mod session;
mod sweep;
mod timing;
mod topology;
mod traffic;
mod tree;

pub use crate::scenario::diagnostic::{Fault, PlanError};
pub use known::CustomKinds;
pub use link::{Link, LinkDirection};
pub use path::{Direction, Path as TrafficPath, Step};
pub use queue::Queue;
pub(crate) use queue::{ceil_of_class, rate_of_class};
pub use scenario::{Access, AccessEnds, Scenario};
pub use timing::Timing;
pub use traffic::{Part, Traffic};

use crate::scenario::diagnostic::{Origin, Source};
use crate::scenario::files::{FileStore, Recordings, Shelf};
use crate::scenario::input::{FileFault, is_named_pipe, open_named};
use known::Known;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use sweep::{Axis, Layout};
use tree::{DottedKey, Node};

/// A scenario file, its overrides applied, its sweep not yet expanded.
#[derive(Clone, Debug)]
pub struct Plan {
    source: Source,
    shelf: Shelf,
    overrides: Vec<(String, String)>,
    root: Node,
    axes: Vec<Axis>,
    layout: Layout,
    /// Overrides of something inside a swept value, applied again after the sweep.
    late: Vec<(DottedKey, Node)>,
    known: Arc<Known>,
    first: Scenario,
}

/// One combination of the sweep's values.
#[derive(Clone, Debug)]
pub struct Point {
    /// The swept keys and their values here, in the order of the file, queues and controls by their
    /// kinds' own names; empty without a sweep.
    pub set: Vec<(String, serde_json::Value)>,
    /// The settings.
    pub plan: Scenario,
}

/// Larger files are refused before they are read.
const MAX_FILE_SIZE: u64 = 16 << 20;

impl Plan {
    /// Reads a scenario file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// When the file cannot be read or anything in it is wrong.
    pub fn load(path: &Path) -> Result<Self, PlanError> {
        Self::load_knowing(path, Vec::new())
    }

    /// As [`Plan::load`] for a scenario that may name algorithms of the program's own.
    ///
    /// # Errors
    /// When the file cannot be read or anything in it is wrong.
    pub fn load_knowing(path: &Path, own: CustomKinds) -> Result<Self, PlanError> {
        let text = read_file(path)?;
        let base_dir = path.parent().unwrap_or_else(|| Path::new(""));
        Self::parse_knowing(&path.display().to_string(), &text, base_dir, own)
    }

    /// Reads a scenario from text; `source_name` stands for the file in messages.
    ///
    /// # Errors
    /// When anything in it is wrong.
    pub fn parse(source_name: &str, text: &str, base_dir: &Path) -> Result<Self, PlanError> {
        Self::parse_knowing(source_name, text, base_dir, Vec::new())
    }

    /// As [`Plan::parse`] for a scenario that may name algorithms of the program's own.
    ///
    /// # Errors
    /// When anything in it is wrong.
    pub fn parse_knowing(source_name: &str, text: &str, base_dir: &Path, own: CustomKinds) -> Result<Self, PlanError> {
        Self::build(Source::file(source_name, text), Shelf::Folder(base_dir.to_path_buf()), Vec::new(), own)
    }

    /// As [`Plan::parse`] for text from a stranger: it may name no files.
    ///
    /// # Errors
    /// When anything in it is wrong, or it names a recording.
    pub fn parse_without_files(source_name: &str, text: &str) -> Result<Self, PlanError> {
        Self::parse_with_recordings(source_name, text, Arc::default())
    }

    /// As [`Plan::parse_without_files`], but it may name these recordings.
    ///
    /// # Errors
    /// When anything in it is wrong, or it names another recording.
    pub fn parse_with_recordings(source_name: &str, text: &str, recordings: Arc<Recordings>) -> Result<Self, PlanError> {
        Self::build(Source::file(source_name, text), Shelf::ParamValues(recordings), Vec::new(), Vec::new())
    }

    /// Returns the plan with these dotted keys set, after all earlier overrides. A value is TOML
    /// where it is TOML and a plain text otherwise: `5`, `true`, `10 Mbit/s`, `{ kind = "codel" }`.
    /// An override of a swept key takes it out of the sweep.
    ///
    /// # Errors
    /// When a key or value is wrong.
    pub fn with_overrides(&self, overrides: &[(String, String)]) -> Result<Self, PlanError> {
        if overrides.is_empty() {
            return Ok(self.clone());
        }
        let all = [&self.overrides, overrides].concat();
        Self::build(self.source.clone(), self.shelf.clone(), all, self.known.own.clone())
    }

    fn build(source: Source, shelf: Shelf, overrides: Vec<(String, String)>, own: CustomKinds) -> Result<Self, PlanError> {
        let mut root = Node::document(&source).map_err(PlanError::new)?;
        let (mut axes, layout) = sweep::take_axes(&mut root).map_err(PlanError::new)?;
        let mut late = Vec::new();
        for (key, value) in &overrides {
            let (key, node) = read_override(key, value).map_err(PlanError::new)?;
            axes.retain(|axis| axis.key.parts != key.parts);
            if axes.iter().any(|axis| key.is_within(&axis.key)) {
                late.push((key, node));
            } else {
                root.set(&key, node).map_err(PlanError::new)?;
            }
        }
        sweep::check_order(&axes, layout).map_err(PlanError::new)?;
        let known = Arc::new(Known { files: FileStore::new(&shelf), own });
        let expansion = sweep::Expansion { root: &root, axes: &axes, layout, late: &late };
        let default_name = stem(source.name());
        let first = scenario::resolve(&expansion.tree(&vec![0; axes.len()])?, &default_name, &known)?;
        for choice in expansion.one_at_a_time() {
            scenario::resolve(&expansion.tree(&choice)?, &default_name, &known)?;
        }
        Ok(Self { source, shelf, overrides, root, axes, layout, late, known, first })
    }

    /// Every combination of the sweep's values, the last axis changing fastest; one point without a
    /// sweep.
    ///
    /// # Errors
    /// When values that are good one by one do not go together.
    pub fn points(&self) -> Result<Vec<Point>, PlanError> {
        (0..self.point_count()).map(|number| self.point(number)).collect()
    }

    /// One of the points, counted from zero in the order of [`Self::points`]; numbers beyond the
    /// last begin again.
    ///
    /// # Errors
    /// When values that are good one by one do not go together.
    pub fn point(&self, number: usize) -> Result<Point, PlanError> {
        let expansion = self.expansion();
        let choice = expansion.choice(number);
        let plan = scenario::resolve(&expansion.tree(&choice)?, &stem(self.source.name()), &self.known)?;
        let mut set = expansion.set(&choice);
        canonical_names::canonicalize(&mut set, &plan, &self.known);
        Ok(Point { set, plan })
    }

    /// The swept keys and their values at a point.
    #[must_use]
    pub fn set_of(&self, number: usize) -> Vec<(String, serde_json::Value)> {
        let expansion = self.expansion();
        expansion.set(&expansion.choice(number))
    }

    /// All settings of a point in the fixed form that [`Self::canonical_text`] has; empty when they
    /// cannot be put together.
    #[must_use]
    pub fn settings_text(&self, number: usize) -> String {
        let expansion = self.expansion();
        let mut text = String::new();
        if let Ok(tree) = expansion.tree(&expansion.choice(number)) {
            tree.write_canonical(&mut text);
        }
        text
    }

    /// The swept keys, each with all its values.
    pub fn swept(&self) -> impl Iterator<Item = (String, Vec<serde_json::Value>)> + '_ {
        self.axes.iter().map(|axis| (axis.key.text(), axis.values.iter().map(Node::to_json).collect()))
    }

    fn expansion(&self) -> sweep::Expansion<'_> {
        sweep::Expansion { root: &self.root, axes: &self.axes, layout: self.layout, late: &self.late }
    }

    /// The number of points in the sweep.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.expansion().point_count()
    }

    /// The name of the scenario.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.first.name
    }

    /// Independent repetitions of each point.
    #[must_use]
    pub fn replications(&self) -> u32 {
        self.first.replications
    }

    /// Root of all randomness.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.first.seed
    }

    /// The file's name, or what stands for it in messages.
    #[must_use]
    pub fn source_name(&self) -> &str {
        self.source.name()
    }

    /// The file's text, without overrides.
    #[must_use]
    pub fn source_text(&self) -> &str {
        self.source.text()
    }

    /// The folder that paths in it are relative to; `None` when it may name no files.
    #[must_use]
    pub fn base_dir(&self) -> Option<&Path> {
        match &self.shelf {
            Shelf::Folder(folder) => Some(folder),
            Shelf::ParamValues(_) => None,
        }
    }

    /// Keys and values on top of the file's text.
    #[must_use]
    pub fn overrides(&self) -> &[(String, String)] {
        &self.overrides
    }

    /// All settings in one fixed form, overrides included: equal settings, equal text, however they
    /// are written.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let mut text = String::from("goodqueue.plan/1\n");
        self.root.write_canonical(&mut text);
        for axis in &self.axes {
            text.push_str(match self.layout {
                Layout::Grid => "\nsweep ",
                Layout::List => "\nlist ",
            });
            text.push_str(&axis.key.text());
            for value in &axis.values {
                text.push(' ');
                value.write_canonical_of(axis.key.last(), &mut text);
            }
        }
        // Settings of the same text are others when an algorithm they name is another.
        for kind in &self.known.own {
            text.push_str("\nown ");
            text.push_str(kind.spec().kind);
            text.push(' ');
            text.push_str(kind.version());
        }
        for (key, node) in &self.late {
            text.push_str("\nset ");
            text.push_str(&key.text());
            text.push(' ');
            node.write_canonical_of(key.last(), &mut text);
        }
        text
    }

    /// SHA-256 of the canonical text and of all recordings and lists of flows it names, as 64
    /// hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> String {
        self.hash_of(&self.canonical_text())
    }

    /// SHA-256 of all settings of a point, replications and seed among them, and of all recordings
    /// the plan names. Points that other values of the sweep are added to keep theirs.
    #[must_use]
    pub fn point_sha256(&self, number: usize) -> String {
        self.hash_of(&format!("goodqueue.point/1\n{}", self.settings_text(number)))
    }

    fn hash_of(&self, text: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(text);
        for trace in self.known.files.traces() {
            hash.update(trace.period().as_nanos().to_le_bytes());
            for (at, bytes) in trace.all() {
                hash.update(at.as_nanos().to_le_bytes());
                hash.update(bytes.get().to_le_bytes());
            }
        }
        for list in self.known.files.flow_lists() {
            list.hash_into(&mut |bytes| hash.update(bytes));
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A scenario without a name is called after its file.
fn stem(source_name: &str) -> String {
    Path::new(source_name).file_stem().map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn read_override(key: &str, value: &str) -> Result<(DottedKey, Node), Fault> {
    let source = Source::argument(&format!("{key}={value}"));
    let key = DottedKey::parse(key, Origin { source: source.clone(), span: 0..key.len() })?;
    if key.parts[0] == "sweep" {
        let message = "the sweep itself cannot be set: set the swept key to fix its value".to_owned();
        return Err(Fault::at(&key.origin, &key.text(), message, None));
    }
    let node = Node::argument(&source, key.origin.span.end + 1)?;
    Ok((key, node))
}

fn read_file(path: &Path) -> Result<String, PlanError> {
    let shown = path.display().to_string();
    let fault = |message: String| PlanError::new(Fault::in_file(&shown, message, None));
    let unreadable = |error: std::io::Error| fault(FileFault::from(error).to_string());
    let facts = std::fs::metadata(path).map_err(unreadable)?;
    if facts.is_dir() {
        return Err(fault("is a directory: expected a scenario file".to_owned()));
    }
    if is_named_pipe(path, &facts) {
        return Err(fault("is a named pipe, which may never end: expected a scenario file".to_owned()));
    }
    let mut bytes = Vec::new();
    // A pipe is welcome here, so the bound is on what is read and not on the size the file says it
    // has.
    let file = open_named(path).map_err(unreadable)?;
    file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_SIZE {
        return Err(fault(format!("is too large for a scenario: allowed up to {MAX_FILE_SIZE} bytes")));
    }
    String::from_utf8(bytes)
        .map_err(|error| fault(format!("is not UTF-8 text: byte {} cannot be read", error.utf8_error().valid_up_to() + 1)))
}

#[cfg(test)]
mod tests;
