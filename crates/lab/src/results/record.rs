//! Results on disk: a folder of files, each written under a temporary name and renamed when it is
//! whole.

mod distributions;
mod earlier;
mod folder;
mod lock;
#[cfg(test)]
pub(crate) mod sample;
mod tables;

pub use distributions::{DISTRIBUTIONS_FILE, DISTRIBUTIONS_SCHEMA, DistributedPoint, write_distributions};
pub use earlier::{Earlier, EarlierResult};
pub(crate) use folder::temporary_name;
pub use folder::{Fill, Folder, Settled, check_target, write_file, write_file_by, write_one_of_many};
pub use tables::{PACKETS_SCHEMA, SERIES_SCHEMA, TableKinds, Tables};

use goodqueue_sim::Series;
use goodqueue_sim::trace::PacketEvent;

/// The data that one run recorded beside its figures.
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
