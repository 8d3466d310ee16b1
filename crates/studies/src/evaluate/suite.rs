//! The parts of an evaluation, as `evaluation.toml` next to its scenarios has them.

use crate::evaluate::measure::{Aspect, ColumnSpec, Measure};
use crate::gallery::error::FileFault;
use crate::gallery::experiment::Mode;
use crate::gallery::files::{ModeSpec, SourceFile};
use goodqueue_base::units::Duration;
use goodqueue_lab::quantity;
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use toml::Spanned;

static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");

/// Queues by RFC 7928, "Characterization Guidelines for Active Queue Management (AQM)".
pub static RFC7928: LazyLock<Suite> = LazyLock::new(|| built_in("rfc7928"));
/// Congestion controls by RFC 9743, "Specifying New Congestion Control Algorithms".
pub static RFC9743: LazyLock<Suite> = LazyLock::new(|| built_in("rfc9743"));

/// An evaluation of one kind of subject.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    #[serde(rename = "goodqueue-gallery")]
    format: Spanned<u32>,
    /// `rfc7928`, the name of its folder.
    #[serde(skip)]
    pub id: &'static str,
    /// `RFC 7928`.
    pub document: String,
    /// The document's title.
    pub title: String,
    /// The kind of subjects that are judged.
    pub judges: Judged,
    /// The subject that everything is compared with, as users name it.
    pub baseline: String,
    /// Further subjects to compare with, unless others are named.
    pub usual: Vec<String>,
    /// Keys of a scenario that name the subject.
    subject: Vec<String>,
    /// Settings of the quick mode, for families without their own.
    quick: ModeSpec,
    /// The parts of the document that no family covers: section, title, why.
    pub left_out: Vec<[String; 3]>,
    /// Columns that tables may have, by their headings.
    columns: BTreeMap<String, ColumnSpec>,
    /// The families, in the order of the document.
    #[serde(rename = "family")]
    pub families: Vec<Family>,
}

/// Kinds of subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judged {
    /// Queues.
    Queue,
    /// Congestion controls.
    Control,
}

impl Judged {
    /// The option of the command line that names subjects.
    #[must_use]
    pub const fn option(self) -> &'static str {
        match self {
            Self::Queue => "--aqm",
            Self::Control => "--cc",
        }
    }

    /// Returns the name of the kind in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Control => "control",
        }
    }
}

/// The strength of a document's requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Without it there is no evaluation.
    Must,
    /// There have to be reasons to leave it out.
    Should,
    /// An addition.
    May,
}

impl Level {
    /// As the document writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
        }
    }
}

/// Scenarios that answer one question of the document. In `evaluation.json` it has the first five.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// `rtt-fairness`.
    pub id: String,
    /// A few words.
    pub title: String,
    /// `6.2`.
    pub section: String,
    /// The strength of the requirement.
    pub level: Level,
    /// The question of the section, in our words.
    pub asks: String,
    /// The name of the scenario file, unless that is the family's.
    #[serde(default, skip_serializing)]
    scenario: Option<String>,
    /// The scenario file, with the settings of the full mode.
    #[serde(skip)]
    pub scenario_text: &'static str,
    /// Settings of the quick mode in place of the suite's.
    #[serde(default, skip_serializing)]
    quick: Option<ModeSpec>,
    /// A setting of both modes that is too long for a file.
    #[serde(default, skip_serializing)]
    cycle: Option<Cycle>,
    /// Time between samples, for figures of parts of a run.
    #[serde(default, skip_serializing, deserialize_with = "duration")]
    pub sample: Option<Duration>,
    /// Names of the points, in the order of the sweep; empty for one point.
    #[serde(default, skip_serializing)]
    pub cases: Vec<String>,
    /// The placements of the subject.
    #[serde(default = "one_placement", skip_serializing)]
    pub placements: Vec<Placement>,
    /// Headings of the table.
    #[serde(skip_serializing)]
    columns: Vec<String>,
    /// Columns that are not the suite's of the same heading.
    #[serde(default, skip_serializing)]
    own: BTreeMap<String, ColumnSpec>,
    /// Headings that count for an aspect of the scorecard.
    #[serde(default, skip_serializing)]
    counts: BTreeMap<Aspect, Vec<String>>,
    /// The measures of the columns, in the order of the table.
    #[serde(skip)]
    pub measures: Vec<Measure>,
    /// The picture of the results.
    #[serde(default, skip_serializing)]
    pub picture: Picture,
}

/// One way to put the subject into a scenario.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// A few words; empty where there is one only.
    #[serde(default)]
    pub name: String,
    /// The keys that name it.
    #[serde(default)]
    pub keys: Vec<String>,
    /// The form that the subject is brought into first.
    #[serde(default)]
    pub form: Form,
}

fn one_placement() -> Vec<Placement> {
    vec![Placement::default()]
}

/// Forms of a subject.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// As it was given.
    #[default]
    Plain,
    /// A queue that marks instead of dropping; those that cannot do not take part.
    Marking,
    /// A queue within fair queueing; those that schedule by themselves do not take part.
    Fair,
    /// A queue whose setpoint is this time; those without one do not take part.
    Setpoint(String),
}

/// The picture of a family's results. Measures go by the headings of their columns.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Picture {
    /// Nothing.
    #[default]
    Nothing,
    /// Queueing delay across, goodput up, one ellipse a subject: a panel for each point.
    Ellipses {
        /// The delay.
        delay: String,
        /// The goodput.
        goodput: String,
    },
    /// Queueing delay across and goodput up, as with ellipses, but with one curve a subject through
    /// the placements.
    Knob {
        /// The delay.
        delay: String,
        /// The goodput.
        goodput: String,
    },
    /// Measures over the points, whose names begin with their value.
    Curve {
        /// The title of the axis across.
        label: String,
        /// The unit of the axis across.
        unit: String,
        /// The measures, a panel for each.
        of: Vec<String>,
    },
    /// Bars of these measures, a panel for each, with the points or placements across.
    Bars(Vec<String>),
}

/// A rate that takes one value after the other, again and again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cycle {
    key: String,
    /// Time from one value to the next.
    #[serde(deserialize_with = "duration")]
    every: Duration,
    /// Values of the whole run.
    steps: usize,
    values: Vec<String>,
}

impl Cycle {
    fn setting(&self) -> (String, String) {
        let every = self.every.as_nanos() / 1_000_000;
        let step = |(number, value): (usize, &String)| format!("[\"{} ms\", \"{value}\"]", number as u64 * every);
        let steps: Vec<String> = self.values.iter().cycle().take(self.steps).enumerate().map(step).collect();
        (self.key.clone(), format!("{{ steps = [{}] }}", steps.join(", ")))
    }
}

fn duration<'de, D: Deserializer<'de>, T: From<Duration>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    quantity::duration(&text).map(T::from).map_err(serde::de::Error::custom)
}

fn built_in(id: &'static str) -> Suite {
    // Built into the program; a test reads each.
    Suite::read(id).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The text of a file next to the scenarios.
fn text_of(name: &str) -> Result<&'static str, FileFault> {
    let text = SCENARIOS.get_file(name).and_then(include_dir::File::contents_utf8);
    text.ok_or_else(|| FileFault::in_file(name, "is not there, or is no text".to_owned()))
}

impl Suite {
    fn read(id: &'static str) -> Result<Self, FileFault> {
        let name = format!("{id}/evaluation.toml");
        let source = SourceFile { text: text_of(&name)?.to_owned(), name };
        let mut suite: Self = source.parse()?;
        source.check_format(&suite.format)?;
        suite.id = id;
        for family in &mut suite.families {
            let fault = |message: String| FileFault::in_file(&source.name, format!("family `{}`: {message}", family.id));
            family.scenario_text = text_of(&format!("{id}/{}.toml", family.scenario.as_ref().unwrap_or(&family.id)))?;
            let lists = [&family.picture.headings(), &family.counts.values().flatten().collect::<Vec<_>>()];
            if let Some(heading) = lists.into_iter().flatten().find(|heading| !family.columns.contains(heading)) {
                return Err(fault(format!("`{heading}` is no column: allowed {}", family.columns.join(", "))));
            }
            for heading in &family.columns {
                let spec = family.own.get(heading).or_else(|| suite.columns.get(heading));
                let spec = spec.ok_or_else(|| fault(format!("`{heading}` is neither in `own` nor in `columns`")))?;
                let aspect = family.counts.iter().find(|(_, headings)| headings.contains(heading)).map(|(aspect, _)| *aspect);
                let measure = Measure::of(heading, spec, aspect).map_err(|error| fault(format!("`{heading}`: {error}")))?;
                family.measures.push(measure);
            }
            for placement in family.placements.iter_mut().filter(|placement| placement.keys.is_empty()) {
                placement.keys.clone_from(&suite.subject);
            }
        }
        Ok(suite)
    }
}

impl Picture {
    /// Headings of the columns that it shows.
    fn headings(&self) -> Vec<&String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Ellipses { delay, goodput } | Self::Knob { delay, goodput } => vec![delay, goodput],
            Self::Curve { of, .. } | Self::Bars(of) => of.iter().collect(),
        }
    }
}

/// The number that the name of a case begins with: `20 ms`.
pub(super) fn value_of(case: &str) -> Option<f64> {
    case.split(' ').next()?.parse().ok()
}

impl Family {
    /// Returns the settings on top of the scenario file.
    #[must_use]
    pub fn settings(&self, suite: &Suite, mode: Mode) -> Vec<(String, String)> {
        let mut all = match mode {
            Mode::Quick => self.quick.as_ref().unwrap_or(&suite.quick).overrides(),
            Mode::Full => Vec::new(),
        };
        all.extend(self.cycle.as_ref().map(Cycle::setting));
        all
    }

    /// The name of a point; empty where there is one only.
    #[must_use]
    pub fn case(&self, number: usize) -> &str {
        self.cases.get(number).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests;
