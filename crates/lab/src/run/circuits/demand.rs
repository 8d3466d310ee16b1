//! Demand of a household as flows of fluid: the transfers of its scenario with their sizes and
//! pauses, without packets.

use crate::scenario::plan::{Direction, Point};
use goodqueue_base::units::{Bytes, Duration};
use goodqueue_sim::{Arrivals, SessionSpec, SourceSpec};
use goodqueue_tcp::Data;

/// Bits on the line for each bit of data in full TCP segments with timestamps.
const HEADERS: f64 = 1500.0 / 1448.0;

/// One activity of a household in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// The direction of its data.
    pub way: Direction,
    /// Its course.
    pub course: Course,
}

/// The course of an activity over time; data in bits, times in seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// This rate, always, in bit/s.
    Constant(f64),
    /// Data without end.
    Endless {
        /// Connections.
        weight: f64,
    },
    /// A transfer, a pause, and again.
    Again {
        /// Data of a transfer.
        bits: f64,
        /// Connections.
        weight: f64,
        /// Shortest and longest pause, uniform between.
        pause: (f64, f64),
    },
    /// Transfers that begin at their own times.
    Arriving {
        /// Data of a transfer.
        bits: f64,
        /// Connections.
        weight: f64,
        /// Mean time between two beginnings.
        interval: f64,
        /// Exponential times, otherwise equal ones.
        is_poisson: bool,
    },
    /// Segments of adaptive video.
    Video {
        /// Bitrates, rising.
        ladder: Vec<f64>,
        /// Media time of a segment.
        segment: f64,
        /// Most media time kept ahead.
        buffer: f64,
    },
}

/// A group whose traffic has no counterpart as fluid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}: traffic that cannot be a background of other circuits: choose another mix")]
pub struct NoFluid(String);

/// The activities of a scenario's flows.
///
/// # Errors
/// The first group whose traffic has no counterpart here.
pub fn of_point(point: &Point) -> Result<Vec<Process>, NoFluid> {
    let mut all = Vec::new();
    for group in &point.plan.traffic {
        for part in group.parts() {
            let course = of_source(&part.source).ok_or_else(|| NoFluid(group.name.clone()))?;
            let mut ways = vec![part.heading];
            if matches!(part.source, SourceSpec::Echo { .. }) {
                ways.push(part.heading.opposite());
            }
            for way in ways {
                all.extend((0..group.flows).map(|_| Process { way, course: course.clone() }));
            }
        }
    }
    Ok(all)
}

/// The course of a source; `None` for traffic that has no counterpart.
fn of_source(source: &SourceSpec) -> Option<Course> {
    let seconds = Duration::as_secs_f64;
    let bits = |size: Bytes| size.bits() as f64 * HEADERS;
    Some(match source {
        SourceSpec::Tcp { sender, .. } if sender.data == Data::Unlimited => Course::Endless { weight: 1.0 },
        SourceSpec::Tcp { .. } => return None,
        SourceSpec::Session { model, .. } => match model {
            SessionSpec::BulkWithPauses { size, pause, .. } => {
                Course::Again { bits: bits(*size), weight: 1.0, pause: (seconds(pause.0), seconds(pause.1)) }
            }
            SessionSpec::Short { size, interval, arrivals, connections } => Course::Arriving {
                bits: bits(*size),
                weight: f64::from(*connections),
                interval: seconds(*interval),
                is_poisson: *arrivals == Arrivals::Poisson,
            },
            SessionSpec::Page(page) => Course::Again {
                bits: bits(page.object) * f64::from(page.objects),
                weight: f64::from(page.connections),
                pause: (seconds(page.pause.0), seconds(page.pause.1)),
            },
            SessionSpec::Video(video) => Course::Video {
                ladder: video.ladder.iter().map(|rate| rate.as_bit_s() as f64 * HEADERS).collect(),
                segment: seconds(video.segment),
                buffer: seconds(video.buffer),
            },
            SessionSpec::List { .. } | SessionSpec::Web(_) => return None,
        },
        SourceSpec::Cbr { .. }
        | SourceSpec::Call { .. }
        | SourceSpec::Echo { .. }
        | SourceSpec::Frames { .. }
        | SourceSpec::Poisson { .. }
        | SourceSpec::Train { .. }
        | SourceSpec::OnOff { .. } => Course::Constant(source.datagrams()?.mean_bit_s),
    })
}
