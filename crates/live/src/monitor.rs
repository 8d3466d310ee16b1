//! Reports of the thread that moves packets, and commands to it. It never waits for
//! them.

use crate::flows::FlowTotal;
use crate::forwarder::{Direction, Forwarder, FrameCounters};
use crate::measure::Times;
use crate::packet::LivePacket;
use crate::port::{Port, PortCounters};
use goodqueue_aqm::{AnyQdisc, Counters, Qdisc, QueueView};
use goodqueue_base::units::{Duration, Instant, Rate};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

/// Something to be changed while packets flow; none of it loses any.
#[derive(Debug)]
pub enum Command {
    /// From now on this rate.
    Rate(Direction, Rate),
    /// From now on this delay.
    Delay(Direction, Duration),
    /// Another queue.
    Queue(Direction, Box<AnyQdisc<LivePacket>>),
}

/// State of one direction.
#[derive(Clone, Debug, Default)]
pub struct HalfReport {
    /// Since the start.
    pub counters: Counters,
    /// Backlog of the queue.
    pub view: QueueView,
    /// Since the start.
    pub frames: FrameCounters,
    /// Counters of the port that the direction takes its frames from.
    pub port: PortCounters,
    /// Since the last report.
    pub times: Times,
    /// Bits sent since the start, framing included.
    pub sent_bits: u64,
    /// State of the algorithm.
    pub gauges: Vec<(&'static str, f64)>,
    /// The largest flows, in no order.
    pub flows: Vec<FlowTotal>,
    /// The rate now.
    pub rate: Rate,
    /// The delay now.
    pub delay: Duration,
}

/// State of a forwarder at one time.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// When.
    pub at: Instant,
    /// From port A to B.
    pub down: HalfReport,
    /// From port B to A.
    pub up: HalfReport,
    /// Processor time that the thread has used.
    pub used: Duration,
}

/// Reports that are under way at the same time at most.
const REPORTS: usize = 3;
/// Commands that wait at most.
const COMMANDS: usize = 16;

/// The end of the thread that moves packets.
#[derive(Debug)]
pub struct Reporter {
    spare: Receiver<Report>,
    reports: SyncSender<Report>,
    commands: Receiver<Command>,
}

/// The end of the others.
#[derive(Debug)]
pub struct Monitor {
    reports: Receiver<Report>,
    spare: SyncSender<Report>,
    commands: SyncSender<Command>,
}

/// Two ends of one connection.
#[must_use]
pub fn connection() -> (Reporter, Monitor) {
    let (reports, received) = sync_channel(REPORTS);
    let (back, spare) = sync_channel(REPORTS);
    let (commands, orders) = sync_channel(COMMANDS);
    for _ in 0..REPORTS {
        // There is room for all of them.
        let _ = back.try_send(Report::default());
    }
    let reporter = Reporter { spare, reports, commands: orders };
    (reporter, Monitor { reports: received, spare: back, commands })
}

impl Monitor {
    /// The next report, at most after `longest`; `None` when there is none, an error when the other
    /// thread has ended.
    ///
    /// # Errors
    /// When no report will come any more.
    pub fn next(&self, longest: std::time::Duration) -> Result<Option<Report>, std::sync::mpsc::RecvError> {
        match self.reports.recv_timeout(longest) {
            Ok(report) => Ok(Some(report)),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => Err(std::sync::mpsc::RecvError),
        }
    }

    /// Gives a report back to be filled again.
    pub fn give_back(&self, mut report: Report) {
        report.down.times.clear();
        report.up.times.clear();
        // The other thread may have ended.
        let _ = self.spare.try_send(report);
    }

    /// A way to send commands.
    #[must_use]
    pub fn commands(&self) -> SyncSender<Command> {
        self.commands.clone()
    }
}

impl Reporter {
    /// Carries out pending commands.
    pub(crate) fn obey<A: Port, B: Port>(&mut self, forwarder: &mut Forwarder<A, B, AnyQdisc<LivePacket>>) {
        for _ in 0..COMMANDS {
            match self.commands.try_recv() {
                Ok(Command::Rate(way, rate)) => forwarder.direction_mut(way).set_rate(rate),
                Ok(Command::Delay(way, delay)) => forwarder.direction_mut(way).set_delay(delay),
                Ok(Command::Queue(way, queue)) => forwarder.direction_mut(way).replace_queue(*queue),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
            }
        }
    }

    /// Reports, if the others have taken earlier reports.
    pub(crate) fn report<A: Port, B: Port, Q: Qdisc<LivePacket>>(
        &mut self,
        now: Instant,
        used: Duration,
        forwarder: &mut Forwarder<A, B, Q>,
    ) {
        let Ok(mut report) = self.spare.try_recv() else { return };
        report.at = now;
        report.used = used;
        (report.down.port, report.up.port) = forwarder.port_counters();
        fill(&mut report.down, Direction::Down, forwarder);
        fill(&mut report.up, Direction::Up, forwarder);
        // There are no more reports than places.
        let _ = self.reports.try_send(report);
    }
}

fn fill<A: Port, B: Port, Q: Qdisc<LivePacket>>(half: &mut HalfReport, way: Direction, forwarder: &mut Forwarder<A, B, Q>) {
    half.frames = forwarder.frames(way);
    let direction = forwarder.direction_mut(way);
    half.counters = direction.counters();
    half.view = direction.view();
    half.sent_bits = direction.meter().sent_bits();
    half.rate = direction.rate();
    half.delay = direction.delay();
    direction.exchange_times(&mut half.times);
    direction.report_flows(&mut half.flows);
    half.gauges.clear();
    direction.gauges(&mut |name, value| half.gauges.push((name, value)));
}
