//! Whether runs held enough sessions of people who come and go to speak of them.

use crate::results::summary::PointSummary;
use crate::scenario::plan::Point;
use goodqueue_sim::{SessionSpec, SourceSpec};

/// Sessions of a kind over all replications of a point from which its figures mean something; our
/// choice.
pub const MIN_SESSIONS: u64 = 10;

/// A kind of sessions of which there were few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FewSessions {
    /// The group's name.
    pub group: String,
    /// The sessions that began in the measured parts of all replications, in the point that had
    /// the fewest.
    pub sessions: u64,
}

/// The groups of pages and transfers of which some point had fewer than [`MIN_SESSIONS`] sessions.
#[must_use]
pub fn few<'a>(points: impl IntoIterator<Item = (&'a Point, &'a PointSummary)>) -> Vec<FewSessions> {
    let mut few: Vec<FewSessions> = Vec::new();
    for (point, summary) in points {
        for group in &point.plan.traffic {
            let transfers_each = match &group.main.source {
                SourceSpec::Session { model: SessionSpec::Page(page), .. } => f64::from(page.objects.max(1)),
                SourceSpec::Session { model: SessionSpec::Short { .. }, .. } => 1.0,
                _ => continue,
            };
            let Some((name, found)) = summary.groups.iter().find(|(name, _)| *name == group.name) else { continue };
            let begun = found.figures.figure("transfers.begun");
            let all = begun.mean.unwrap_or(0.0) * f64::from(begun.n);
            let sessions = (all / transfers_each).round() as u64;
            if sessions >= MIN_SESSIONS {
                continue;
            }
            match few.iter_mut().find(|known| known.group == *name) {
                Some(known) => known.sessions = known.sessions.min(sessions),
                None => few.push(FewSessions { group: name.clone(), sessions }),
            }
        }
    }
    few
}

/// A sentence that names these groups; `None` where there are none.
#[must_use]
pub fn note(few: &[FewSessions]) -> Option<String> {
    let groups: Vec<String> = few.iter().map(|few| format!("{} {}", few.group, few.sessions)).collect();
    (!few.is_empty()).then(|| {
        format!("fewer than {MIN_SESSIONS} sessions over all replications, which says little of them: {}", groups.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::plan::Plan;
    use std::path::Path;

    #[test]
    fn sessions_are_named_when_runs_had_few() {
        let text = |duration: &str| {
            format!(
                "goodqueue = 1\nduration = \"{duration}\"\n[link.line]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
                 buffer = \"1 bdp\"\nqueue = \"codel\"\n[[traffic]]\nname = \"updates\"\nkind = \"short\"\nsize = \"10 kB\"\n\
                 interval = \"1 s\"\nconnections = 4\n[[traffic]]\nkind = \"page\"\nobjects = 2\npause = \"2 s\"\n"
            )
        };
        let found = |duration: &str| {
            let results = Plan::parse("test", &text(duration), Path::new("")).expect("a scenario").run().expect("results");
            few(results.points.iter().zip(&results.summary.points))
        };
        assert_eq!(found("30 s"), []);
        let short = found("4 s");
        assert_eq!(short.iter().map(|few| few.group.as_str()).collect::<Vec<_>>(), ["updates", "page"]);
        assert_eq!(
            note(&short[..1]).as_deref(),
            Some("fewer than 10 sessions over all replications, which says little of them: updates 5")
        );
    }
}
