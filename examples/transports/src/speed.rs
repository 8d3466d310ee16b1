//! Measures how much of a run each stack takes, and how much the network around it.

use crate::matrix::{Place, Queue};
use crate::measure::{BULK, Bench, plan};
use crate::stack::{Stack, Tested};
use crate::work::Work;
use goodqueue_net::{Datagram, Endpoint, Ends, Instant, Recovery, Transmit};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The line of the measurement.
const PLACE: Place = Place { queue: Queue::TailDrop, rate: 100, rtt: 20 };

/// The speed of one stack.
pub struct Speed {
    pub stack: Stack,
    /// Packets with data that arrived at the line's queue.
    pub packets: f64,
    /// Processor time for the whole run, both ends included, in seconds.
    pub cpu: f64,
    /// Part of the time that the ends took; `None` for our TCP, which is part of the world.
    pub in_stack: Option<f64>,
}

/// An end with a clock around its calls.
struct Timed {
    end: Box<dyn Endpoint>,
    /// Spent in calls of both ends so far.
    nanoseconds: Arc<AtomicU64>,
}

impl Timed {
    fn around(ends: Ends, nanoseconds: &Arc<AtomicU64>) -> Ends {
        let timed = |end| Self { end, nanoseconds: nanoseconds.clone() };
        Ends::new(timed(ends.source), timed(ends.sink))
    }

    fn timed<T>(&mut self, call: impl FnOnce(&mut dyn Endpoint) -> T) -> T {
        let begun = std::time::Instant::now();
        let result = call(&mut *self.end);
        self.nanoseconds.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }
}

impl Endpoint for Timed {
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        self.timed(|end| end.handle(now, datagram));
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.timed(|end| end.poll_transmit(now, buffer))
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.timed(|end| end.poll_timeout())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.timed(|end| end.handle_timeout(now));
    }

    fn delivered_bytes(&self) -> Option<u64> {
        self.end.delivered_bytes()
    }

    fn is_complete(&self) -> bool {
        self.end.is_complete()
    }

    fn recovery(&mut self) -> Recovery {
        self.timed(|end| end.recovery())
    }
}

/// Measures one bulk flow of each stack under CUBIC, alone on a line.
pub fn all(bench: &Bench, folder: &Path) -> Result<Vec<Speed>, Box<dyn Error>> {
    let alone = [("replications", "1"), ("traffic.1.flows", "0"), ("warmup", "0 s")];
    let alone: Vec<(String, String)> = alone.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let plan = plan(BULK, PLACE, "cubic", folder)?.with_overrides(&alone)?;
    let mut speeds = Vec::new();
    for stack in Stack::ALL {
        let nanoseconds = Arc::new(AtomicU64::new(0));
        let (cpu, begun) = (processor_time(), std::time::Instant::now());
        let tested = Tested { stack, control: "cubic" };
        let report = bench.run_with(tested, &plan, &Work::Download, |ends| Timed::around(ends, &nanoseconds))?;
        let (cpu, wall) = (processor_time() - cpu, begun.elapsed().as_secs_f64());
        let packets = report.points[0].runs.iter().filter_map(|run| run.links.first()?.value("arrived_packets")).sum();
        let in_stack = nanoseconds.load(Ordering::Relaxed) as f64 / 1e9 / wall;
        speeds.push(Speed { stack, packets, cpu, in_stack: (stack != Stack::Tcp).then_some(in_stack) });
    }
    Ok(speeds)
}

/// Processor time of this process, in seconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for a write.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
