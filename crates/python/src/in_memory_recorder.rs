//! The recorded data of runs, kept in memory.

use goodqueue_lab::results::record::{RecordedRun, Recorder};
use goodqueue_sim::Series;
use goodqueue_sim::trace::PacketEvent;

/// Recorded data of one run.
#[derive(Default)]
pub struct KeptRun {
    pub point: usize,
    pub replication: u32,
    pub links: Vec<String>,
    pub series: Vec<Series>,
    pub packets: Vec<PacketEvent>,
}

/// Keeps in memory what runs record.
#[derive(Default)]
pub struct InMemoryRecorder(pub Vec<KeptRun>);

impl Recorder for InMemoryRecorder {
    fn record(&mut self, run: RecordedRun<'_>) {
        let RecordedRun { point, replication, links, series, packets } = run;
        // The report of the runner already has the series of the first replication.
        let series = if replication == 0 { Vec::new() } else { series.to_vec() };
        self.0.push(KeptRun { point, replication, links: links.to_vec(), series, packets: packets.to_vec() });
    }
}
