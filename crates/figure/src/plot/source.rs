//! Sources of results: a folder, or a run that is still in memory.

use crate::plot::PlotError;
use goodqueue_lab::results::labels::Labels;
use goodqueue_lab::results::stored::{Stored, StoredError};
use goodqueue_lab::results::summary::PointSummary;

/// The owner of a distribution or series that is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A link's.
    Link(String),
    /// A group's of flows.
    Group(String),
}

/// (x, y) in SI units, x rising.
pub type Line = Vec<(f64, f64)>;

/// Results that figures are drawn from.
pub trait Source {
    /// The points in their order.
    fn points(&self) -> &[PointSummary];

    /// The names of the points.
    fn labels(&self) -> &Labels;

    /// Distributions, one per point: of times in the queue of a link, or of the round trips of a
    /// group; `None` where none was kept.
    ///
    /// # Errors
    /// When they are there and cannot be read.
    fn distributions(&self, subject: &Subject) -> Result<Vec<Option<Line>>, PlotError>;

    /// Returns the sampled values, one list per point: of a link one line, of a group one per flow.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn lines(&self, subject: &Subject, name: &str) -> Result<Vec<Vec<Line>>, PlotError>;

    /// Subjects and names of everything that was sampled.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn sampled(&self) -> Result<Vec<(String, String)>, PlotError>;
}

impl Subject {
    /// Whether a series of this subject is meant: `link:NAME`; of a group `flow:GROUP:NUMBER` or
    /// `probe:GROUP:NUMBER`.
    #[must_use]
    pub fn is_of(&self, series: &str) -> bool {
        match self {
            Self::Link(name) => series.strip_prefix("link:") == Some(name),
            Self::Group(name) => {
                let rest = series.strip_prefix("flow:").or_else(|| series.strip_prefix("probe:"));
                rest.and_then(|rest| rest.rsplit_once(':')).is_some_and(|(of, _)| of == name)
            }
        }
    }
}

fn unreadable(error: StoredError) -> PlotError {
    PlotError::new("result", error.to_string())
}

impl Source for Stored {
    fn points(&self) -> &[PointSummary] {
        Self::points(self)
    }

    fn labels(&self) -> &Labels {
        Self::labels(self)
    }

    fn distributions(&self, subject: &Subject) -> Result<Vec<Option<Line>>, PlotError> {
        let of = match subject {
            Subject::Link(name) => format!("link:{name}"),
            Subject::Group(name) => format!("group:{name}"),
        };
        let mut all = Self::distributions(self).map_err(unreadable)?;
        let of_point = |label: &String| {
            let found = all.iter_mut().find(|one| one.label == *label && one.subject == of);
            found.map(|one| std::mem::take(&mut one.points))
        };
        Ok(self.labels().names.iter().map(of_point).collect())
    }

    fn lines(&self, subject: &Subject, name: &str) -> Result<Vec<Vec<Line>>, PlotError> {
        let mut all = vec![Vec::new(); self.points().len()];
        for line in Self::lines(self, name, &|series| subject.is_of(series)).map_err(unreadable)? {
            // Points without a finished run have no figures and no lines; the order is the same.
            if let Some(lines) = all.get_mut(line.point) {
                lines.push(line.points);
            }
        }
        Ok(all)
    }

    fn sampled(&self) -> Result<Vec<(String, String)>, PlotError> {
        Self::sampled(self).map_err(unreadable)
    }
}
