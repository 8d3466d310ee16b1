//! Kernel senders across the forwarder, and what they and it measured.

mod call;
mod caller;
mod datagrams;
mod echo;
mod flow;
mod flows;
mod gaps;
mod prober;
mod samples;
mod shared;
mod transfer_log;
mod transfers;
mod waiting;

use crate::clock::{Clock, MonotonicClock};
use crate::drive::{self, Bridge, Drive, Idle};
use crate::forwarder::{Forwarder, Settings, buffers_for};
use crate::frame::FlowKey;
use crate::measure::{Quantiles, Times};
use crate::monitor::{HalfReport, Monitor, Report, connection};
use crate::port::interface::InterfacePort;
use crate::port::packet::PacketPort;
use crate::segments;
use crate::sys::{processors, scheduling};
use crate::testbed::bench::Bench;
pub use crate::testbed::bench::Segments;
use crate::{Line, LivePacket};
use goodqueue_aqm::{AnyQdisc, Counters, Tally};
use goodqueue_base::units::{Duration, Instant};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub use flows::FlowMeasured;
use flows::{Live, Traffic};
pub use gaps::Arrivals;
use samples::Sampler;
pub use samples::{Columns, Samples};
pub use waiting::Stop;

/// Direction of a flow's data.
pub use crate::forwarder::Direction;
use flow::REPORT_EVERY;
pub use flow::{Flow, MIN_STAMPED, Source, Timestamps};

/// A run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// From left to right.
    pub down: Line,
    /// From right to left.
    pub up: Line,
    /// Limits of both queues, for the number of buffers.
    pub limits: (goodqueue_aqm::Limit, goodqueue_aqm::Limit),
    /// All flows.
    pub flows: Vec<Flow>,
    /// Whether TCP flows ask for ECN.
    pub ecn: bool,
    /// Whether TCP segments carry timestamps.
    pub timestamps: Timestamps,
    /// Frames in which the ends' TCP sends its segments.
    pub segments: Segments,
    /// Time before measuring begins.
    pub warmup: Duration,
    /// The measured part.
    pub duration: Duration,
    /// Time between samples; 20 ms unless said.
    pub sample_every: Option<Duration>,
}

/// Measurements of one direction in the measured part.
#[derive(Clone, Debug)]
pub struct HalfMeasured {
    /// The queue's counters.
    pub counters: Counters,
    /// Distributions of times.
    pub times: Times,
    /// Bits sent, framing included.
    pub sent_bits: u64,
    /// Packets lost outside of the queue.
    pub lost_outside: u64,
    /// Packets that the port sent, and frames that they left as where segments are joined.
    pub handed_over: (u64, u64),
    /// Packets that departed since the start, warm-up included.
    pub departed_whole_run: u64,
}

/// Results of a run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Length of the measured part, by the clock.
    pub span: Duration,
    /// From left to right.
    pub down: HalfMeasured,
    /// From right to left.
    pub up: HalfMeasured,
    /// All flows, in their order.
    pub flows: Vec<FlowMeasured>,
    /// Values over time.
    pub samples: Samples,
    /// Whether real-time scheduling was granted.
    pub real_time: bool,
    /// Time that a hypervisor reported to have taken from this machine's processors in the measured
    /// part, of all of them together.
    pub stolen: Duration,
    /// Processor time of the thread that moves packets in the measured part.
    pub used: Duration,
}

/// A run is void when this quantile of the lateness is more than this part of the base round-trip
/// time.
const STALL_PART: f64 = 0.05;
const VOID_QUANTILE: f64 = 0.999;
const PRIORITY: i32 = 10;

impl Measured {
    /// Why nothing can be concluded from this run; `None` when it is good.
    #[must_use]
    pub fn void(&self, base_rtt: Duration) -> Option<String> {
        for (way, half) in [("down", &self.down), ("up", &self.up)] {
            if half.lost_outside > 0 {
                return Some(format!("{way}: {} packets were lost outside of the queue", half.lost_outside));
            }
            // One packet in a thousand may be that late; the whole queue may not.
            let late = half.late(VOID_QUANTILE).as_nanos() as f64;
            if late > STALL_PART * base_rtt.as_nanos() as f64 && half.times.lateness.len() > 1000 {
                return Some(format!("{way}: 0.1 % of the packets were more than {:.3} ms late", late * 1e-6));
            }
        }
        None
    }

    /// For choosing among void runs: what was lost outside of the queue, and how late one packet in
    /// a thousand was.
    #[must_use]
    pub fn later(&self) -> (u64, Duration) {
        let late = self.down.late(VOID_QUANTILE).max(self.up.late(VOID_QUANTILE));
        (self.down.lost_outside + self.up.lost_outside, late)
    }
}

/// Runs it, in networks of its own, until its end or until `stop`; `None` when it was stopped.
///
/// # Errors
/// When the kernel refuses something, or an interface or thread fails.
pub fn run(
    experiment: &Experiment,
    queues: (AnyQdisc<LivePacket>, AnyQdisc<LivePacket>),
    stop: &AtomicBool,
) -> io::Result<Option<Measured>> {
    let bench = match experiment.segments {
        Segments::Single => Bench::new()?,
        Segments::Joined => Bench::with_offloads()?,
    };
    for end in [&bench.left, &bench.right] {
        end.set("net.ipv4.tcp_ecn", if experiment.ecn { "1" } else { "0" })?;
        end.set("net.ipv4.tcp_timestamps", if experiment.timestamps == Timestamps::On { "1" } else { "0" })?;
    }
    let mut clock = MonotonicClock::start();
    let open = |name| match experiment.segments {
        Segments::Single => PacketPort::open(name, clock),
        Segments::Joined => PacketPort::open_joined(name, clock),
    };
    let open = |name| open(name).map(InterfacePort::from);
    let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?)))?;
    let buffers = buffers_for(&experiment.down, experiment.limits.0) + buffers_for(&experiment.up, experiment.limits.1);
    let (buffers, buffer_size) = match experiment.segments {
        Segments::Single => (buffers, 2048),
        Segments::Joined => (buffers.min(segments::MAX_BUFFERS), segments::MAX),
    };
    let settings = Settings {
        down: experiment.down.clone(),
        up: experiment.up.clone(),
        buffers,
        buffer_size,
        flow_key: FlowKey(0x600D_600D),
    };
    let mut bridge: Bridge = Forwarder::new(&settings, ports, queues);
    let (mut reporter, monitor) = connection();
    let (end, beat, real_time) = (AtomicBool::new(false), AtomicU64::new(0), AtomicBool::new(false));
    let traffic = Traffic::new(&experiment.flows, &bench)?;
    let ends = Stop::default();
    let start = clock.now();
    std::thread::scope(|scope| {
        let packets = std::thread::Builder::new().name("packets".to_owned()).spawn_scoped(scope, || {
            scheduling::exact_timers()?;
            real_time.store(scheduling::real_time(PRIORITY).is_ok(), Ordering::Relaxed);
            let drive =
                Drive { report_every: experiment.sample_every().min(REPORT_EVERY), idle: Idle::Sleep { awake: Duration::ZERO } };
            drive::run(&mut bridge, clock, drive, &mut reporter, &end, &beat)
        })?;
        let measured = {
            // Whatever happens here, threads must hear of the end.
            let _last = AtEnd { ends: &ends, packets: &end };
            let live = traffic.start(scope, &ends, &bench)?;
            watch(experiment, &monitor, &live, start, stop)
        };
        packets.join().unwrap_or_else(|_| Err(io::Error::other("the thread that moves packets has panicked")))?;
        Ok(measured?.map(|measured| Measured { real_time: real_time.load(Ordering::Relaxed), ..measured }))
    })
}

struct AtEnd<'a> {
    ends: &'a Stop,
    packets: &'a AtomicBool,
}

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.ends.now();
        self.packets.store(true, Ordering::Relaxed);
    }
}

/// Counters at one time.
struct Mark {
    at: Instant,
    halves: [HalfMark; 2],
    flows: Vec<FlowMeasured>,
    stolen: Duration,
    used: Duration,
}

struct HalfMark {
    counters: Counters,
    sent_bits: u64,
    lost_outside: u64,
    handed_over: (u64, u64),
}

impl HalfMark {
    /// Reads the counters of a direction that sends by the port that `other` takes its frames from.
    fn of(half: &HalfReport, other: &HalfReport) -> Self {
        let port = half.port;
        let lost_outside = port.ring_overflows + port.no_buffer + port.oversize + port.send_failures;
        let handed_over = (other.port.sent, other.port.sent_joined);
        Self { counters: half.counters.clone(), sent_bits: half.sent_bits, lost_outside, handed_over }
    }
}

impl Mark {
    fn of(report: &Report, live: &Live) -> Self {
        let halves = [HalfMark::of(&report.down, &report.up), HalfMark::of(&report.up, &report.down)];
        Self { at: report.at, halves, flows: live.read(), stolen: processors::stolen(), used: report.used }
    }
}

/// Follows the reports from the end of the warm-up to that of the measured part.
fn watch(
    experiment: &Experiment,
    monitor: &Monitor,
    live: &Live,
    start: Instant,
    stop: &AtomicBool,
) -> io::Result<Option<Measured>> {
    let (warm, over) = (start + experiment.warmup, start + experiment.warmup + experiment.duration);
    let mut first: Option<Mark> = None;
    let mut times = [Times::default(), Times::default()];
    let mut sampler = Sampler::new(start, experiment.sample_every());
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        live.check()?;
        let report = match monitor.next(std::time::Duration::from_millis(200)) {
            Ok(Some(report)) => report,
            Ok(None) => continue,
            Err(_) => return Err(io::Error::other("the thread that moves packets has ended early")),
        };
        let at = report.at;
        sampler.take(&report, &live.sample(first.is_some()));
        if let Some(first) = &first {
            times[0].add(&report.down.times);
            times[1].add(&report.up.times);
            if at >= over {
                let last = Mark::of(&report, live);
                return Ok(Some(Measured { samples: sampler.finish(), ..between(first, last, times) }));
            }
        } else if at >= warm {
            first = Some(Mark::of(&report, live));
        }
        monitor.give_back(report);
    }
}

fn between(first: &Mark, last: Mark, times: [Times; 2]) -> Measured {
    let half = |before: &HalfMark, after: &HalfMark, times| HalfMeasured {
        counters: after.counters.since(&before.counters),
        times,
        sent_bits: after.sent_bits - before.sent_bits,
        lost_outside: after.lost_outside - before.lost_outside,
        handed_over: (after.handed_over.0 - before.handed_over.0, after.handed_over.1 - before.handed_over.1),
        departed_whole_run: after.counters.departed.packets.get(),
    };
    let [down, up] = times;
    Measured {
        span: last.at.since(first.at),
        down: half(&first.halves[0], &last.halves[0], down),
        up: half(&first.halves[1], &last.halves[1], up),
        flows: last.flows.into_iter().zip(&first.flows).map(|(last, first)| last.since(first)).collect(),
        samples: Samples::default(),
        real_time: false,
        stolen: last.stolen.saturating_sub(first.stolen),
        used: last.used.saturating_sub(first.used),
    }
}

impl Experiment {
    fn sample_every(&self) -> Duration {
        self.sample_every.unwrap_or(REPORT_EVERY)
    }
}

impl HalfMeasured {
    /// Packets that were dropped.
    #[must_use]
    pub fn dropped(&self) -> Tally {
        self.counters.dropped_total()
    }

    /// Returns the largest lateness among this part of the packets.
    #[must_use]
    pub fn late(&self, part: f64) -> Duration {
        self.times.lateness.quantile(part).unwrap_or_default()
    }

    /// Returns quantiles of how late packets were handed over.
    #[must_use]
    pub fn lateness(&self) -> Quantiles {
        Quantiles::of(&self.times.lateness)
    }
}
