//! Descriptions of all figures that pages show: the columns of tables, and the figures of
//! activities.

use crate::results::experience::Activity;
use crate::results::metrics::{self, ColumnData, GROUP_METRICS, JAIN_METRICS, LINK_METRICS};
use serde::Serialize;

/// The columns of the report's tables, in their order: of links, of groups and of fairness.
#[derive(Clone, Debug, Serialize)]
pub struct Descriptions {
    links: Vec<ColumnData>,
    groups: Vec<ColumnData>,
    jain: Vec<ColumnData>,
    /// The figures that groups get, by activity.
    experience: Vec<ActivityData>,
}

/// The figures of an activity.
#[derive(Clone, Debug, Serialize)]
struct ActivityData {
    activity: &'static str,
    /// Whether its figures decide between queues.
    interactive: bool,
    figures: Vec<ColumnData>,
}

/// Returns the descriptions of all figures that pages show.
#[must_use]
pub fn descriptions() -> Descriptions {
    Descriptions {
        links: metrics::descriptions(LINK_METRICS).map(ColumnData::from).collect(),
        groups: metrics::descriptions(GROUP_METRICS).map(ColumnData::from).collect(),
        jain: metrics::descriptions(JAIN_METRICS).map(ColumnData::from).collect(),
        experience: Activity::ALL.into_iter().map(ActivityData::from).collect(),
    }
}

impl From<Activity> for ActivityData {
    fn from(activity: Activity) -> Self {
        Self {
            activity: activity.name(),
            interactive: activity.is_interactive(),
            figures: activity.metrics().iter().map(|metric| ColumnData::from(&metric.about)).collect(),
        }
    }
}
