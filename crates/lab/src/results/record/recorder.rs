//! The receiver of what runs record.

use goodqueue_sim::Series;
use goodqueue_sim::trace::PacketEvent;

/// The data that one run recorded in addition to its figures.
#[derive(Clone, Copy, Debug)]
pub struct RecordedRun<'a> {
    /// Number of the point, in the order of the sweep.
    pub point: usize,
    /// Replication, from zero.
    pub replication: u32,
    /// Names of the observed links, in the order that packet events count them.
    pub links: &'a [String],
    /// Sampled values.
    pub series: &'a [Series],
    /// Packet events.
    pub packets: &'a [PacketEvent],
}

/// Takes what runs record, in the order of points and replications, whatever order they finish in.
pub trait Recorder {
    /// One run. Failures are kept and reported when the recorder is finished, so that no run is
    /// lost to a full disk.
    fn record(&mut self, run: RecordedRun<'_>);
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn record(&mut self, _run: RecordedRun<'_>) {}
}
