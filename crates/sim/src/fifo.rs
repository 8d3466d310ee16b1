//! A tail-drop queue whose departures are arithmetic.
//!
//! Tail drop decides when a packet arrives, and a transmitter of constant rate serves packets in
//! order: the time at which a packet leaves is known when it arrives. The packet itself then need
//! not wait anywhere. What is left of it here is a row, for the occupancy that later packets find,
//! and for the figures of its departure, which are worked out row after row in loops of their own.

use crate::packet::SimPacket;
use crate::probe::{Departed, DropRow, EventRecorder, LinkProbe};
use goodqueue_aqm::{Counters, Limit, Packet, QueueView, Reason};
use goodqueue_base::units::{Bytes, Instant, Packets};

/// Number of departures or drops that are measured together.
const BLOCK: usize = 128;

/// The queue of a link.
#[derive(Clone, Debug)]
pub(crate) struct ComputedFifo {
    limit: Limit,
    /// Packets in order: those whose departure is measured, those that have left, those that wait.
    rows: Vec<Departed>,
    measured: usize,
    left: usize,
    /// Drops since departures were measured, in order.
    dropped: Vec<DropRow>,
    /// Bytes that wait.
    backlog: u64,
    /// Counters of arrivals and drops, without departures.
    counters: Counters,
    /// Part of the integral that counts packets that wait, in packets and bytes times nanoseconds.
    advanced: (u128, u128),
}

impl ComputedFifo {
    /// An empty queue.
    pub(crate) fn new(limit: Limit) -> Self {
        Self {
            limit,
            rows: Vec::new(),
            measured: 0,
            left: 0,
            dropped: Vec::new(),
            backlog: 0,
            counters: Counters::default(),
            advanced: (0, 0),
        }
    }

    /// The packets and bytes that wait.
    pub(crate) fn view(&self) -> QueueView {
        QueueView { packets: Packets::new((self.rows.len() - self.left) as u64), backlog: Bytes::new(self.backlog) }
    }

    /// Arrivals, departures and drops so far.
    pub(crate) fn counters(&self) -> Counters {
        let (mut counters, waiting) = (self.counters.clone(), self.view());
        counters.departed = counters.arrived.since(&counters.dropped_total());
        counters.departed.packets -= waiting.packets;
        counters.departed.bytes -= waiting.backlog;
        counters
    }

    /// Takes out the packets whose transmission starts before `end`. Returns how many of them had
    /// to wait.
    #[inline(always)]
    pub(crate) fn leave_before(&mut self, end: Instant) -> u64 {
        let mut waited = 0;
        while let Some(row) = self.rows.get(self.left)
            && row.start < end
        {
            self.backlog -= u64::from(row.len);
            waited += u64::from(row.start > row.arrived);
            self.left += 1;
        }
        waited
    }

    /// Counts an arriving packet. Returns whether there is room for it.
    #[inline(always)]
    pub(crate) fn admits(&mut self, packet: &SimPacket) -> bool {
        self.counters.arrive(packet.len(), packet.ecn());
        self.limit.admits(self.view(), packet.len())
    }

    /// Takes a packet.
    #[inline(always)]
    pub(crate) fn push(&mut self, row: Departed) {
        self.backlog += u64::from(row.len);
        self.rows.push(row);
    }

    /// Drops an arriving packet.
    pub(crate) fn drop(&mut self, now: Instant, packet: &SimPacket) {
        self.counters.drop_for(Reason::Overflow, packet.len());
        self.dropped.push(DropRow { at: now, flow: packet.flow.id(), number: packet.segment.number });
    }

    /// Measures departures and drops if they are many.
    #[inline(always)]
    pub(crate) fn measure_block(&mut self, probe: &mut LinkProbe, recorder: &mut EventRecorder) {
        if (self.left - self.measured).max(self.dropped.len()) >= BLOCK {
            self.measure(probe, recorder);
        }
    }

    /// Measures the departures of all packets that have left, and drops until then.
    #[inline(never)]
    fn measure(&mut self, probe: &mut LinkProbe, recorder: &mut EventRecorder) {
        let rows = &self.rows[self.measured..self.left];
        recorder.fold_all(rows, &self.dropped);
        self.dropped.clear();
        probe.departed_all(rows, &mut recorder.tables);
        self.measured = self.left;
        // Rows move when at most as many are left: a constant time each.
        if 2 * self.measured >= self.rows.len() {
            self.rows.drain(..self.measured);
            self.left -= self.measured;
            self.measured = 0;
        }
    }

    /// Brings all figures up to `now`.
    pub(crate) fn advance(&mut self, now: Instant, probe: &mut LinkProbe, recorder: &mut EventRecorder) {
        self.measure(probe, recorder);
        let (mut packet_nanos, mut byte_nanos) = (0, 0);
        for row in &self.rows[self.left..] {
            let span = u128::from(now.since(row.arrived).as_nanos());
            packet_nanos += span;
            byte_nanos += span * u128::from(row.len);
        }
        let before = std::mem::replace(&mut self.advanced, (packet_nanos, byte_nanos));
        probe.integral.replace_part(now, before, self.advanced);
    }
}
