//! The parts of an evaluation, as data.

use crate::evaluate::measure::Measure;
use crate::gallery::experiment::Mode;
use goodqueue_base::units::Duration;

/// An evaluation of one kind of subject.
#[derive(Debug)]
pub struct Suite {
    /// `rfc7928`.
    pub id: &'static str,
    /// `RFC 7928`.
    pub document: &'static str,
    /// The document's title.
    pub title: &'static str,
    /// The kind of subjects that are judged.
    pub judges: Judged,
    /// The subject that everything is compared with, as users name it.
    pub baseline: &'static str,
    /// Further subjects to compare with, unless others are named.
    pub usual: &'static [&'static str],
    /// Settings of the quick mode, for families without their own.
    pub quick: Settings,
    /// The families, in the order of the document.
    pub families: &'static [Family],
    /// The parts of the document that no family covers: section, title, why.
    pub left_out: &'static [(&'static str, &'static str, &'static str)],
}

/// Keys of a scenario and their values, as `--set` takes them.
pub type Settings = &'static [(&'static str, &'static str)];

/// Kinds of subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Scenarios that answer one question of the document.
#[derive(Debug)]
pub struct Family {
    /// `rtt-fairness`.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// `6.2`.
    pub section: &'static str,
    /// The strength of the requirement.
    pub level: Level,
    /// The question of the section, in our words.
    pub asks: &'static str,
    /// The scenario file, with the settings of the full mode.
    pub scenario: &'static str,
    /// Settings of the quick mode in place of the suite's.
    pub quick: Option<Settings>,
    /// Further settings of both modes that are too long for a file.
    pub made: Option<fn() -> (&'static str, String)>,
    /// Time between samples, for figures of parts of a run.
    pub sample: Option<Duration>,
    /// Names of the points, in the order of the sweep; empty for one point.
    pub points: &'static [&'static str],
    /// The placements of the subject.
    pub placements: &'static [Placement],
    /// The measures that the section names, in the order of the table.
    pub measures: &'static [Measure],
    /// The picture of the results.
    pub picture: Picture,
}

/// One way to put the subject into a scenario.
#[derive(Debug)]
pub struct Placement {
    /// A few words; empty where there is one only.
    pub name: &'static str,
    /// The keys that name it, and in which form.
    pub keys: &'static [&'static str],
    /// The form that the subject is brought into first.
    pub form: Form,
}

/// Forms of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it was given.
    Plain,
    /// A queue that marks instead of dropping; those that cannot do not take part.
    Marking,
    /// A queue within fair queueing; those that schedule by themselves do not take part.
    Fair,
    /// A queue whose setpoint is this time; those without one do not take part.
    Setpoint(&'static str),
}

/// The picture of a family's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Picture {
    /// Nothing.
    Nothing,
    /// Queueing delay across, goodput up, one ellipse a subject: a panel for each point. The
    /// numbers are those of the measures.
    Ellipses {
        /// The delay.
        delay: usize,
        /// The goodput.
        goodput: usize,
    },
    /// Queueing delay across and goodput up, as with ellipses, but with one curve a subject through
    /// the placements.
    Knob {
        /// The delay.
        delay: usize,
        /// The goodput.
        goodput: usize,
    },
    /// A measure over the points.
    Curve {
        /// The title of the axis across.
        label: &'static str,
        /// The unit of the axis across.
        unit: &'static str,
        /// The values of the axis at the points.
        at: &'static [f64],
        /// The measures, a panel for each.
        of: &'static [usize],
    },
    /// Bars of these measures, a panel for each, with the points or placements across.
    Bars(&'static [usize]),
}

impl Family {
    /// Returns the settings on top of the scenario file.
    #[must_use]
    pub fn settings(&self, suite: &Suite, mode: Mode) -> Vec<(String, String)> {
        let quick = match mode {
            Mode::Quick => self.quick.unwrap_or(suite.quick),
            Mode::Full => &[],
        };
        let mut all: Vec<(String, String)> = quick.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        all.extend(self.made.map(|make| make()).map(|(key, value)| (key.to_owned(), value)));
        all
    }

    /// The name of a point; empty where there is one only.
    #[must_use]
    pub fn point_name(&self, number: usize) -> &'static str {
        self.points.get(number).copied().unwrap_or("")
    }
}

#[cfg(test)]
mod tests;
