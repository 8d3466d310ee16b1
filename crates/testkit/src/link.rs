//! A scripted link: periodic or random arrivals, one transmitter, timers on time.

use goodqueue_aqm::{Counters, NoSink, Packet, Qdisc, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate, Rng};

/// The load offered to the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// One packet per interval.
    Constant(Duration),
    /// Packets at exponentially distributed gaps with this mean.
    Poisson(Duration),
}

/// A transmitter behind a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScriptedLink {
    /// Transmission rate.
    pub rate: Rate,
    /// Framing bytes per packet.
    pub overhead: Bytes,
    /// Packet size without framing.
    pub packet: u32,
    /// Codepoint of every packet.
    pub ecn: Ecn,
    /// Number of flows, which the packets belong to in turn.
    pub flows: u32,
    /// Arrival process of the packets.
    pub load: Load,
}

/// The figures observed on a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Time average of packets waiting, the one in transmission excluded.
    pub mean_packets: f64,
    /// Share of the time the transmitter was busy.
    pub utilization: f64,
    /// Mean sojourn time of departures.
    pub mean_sojourn: Duration,
    /// Counters of the complete run.
    pub counters: Counters,
}

impl ScriptedLink {
    /// Runs `queue` for `span`; averages exclude `warmup`.
    pub fn run<Q: Qdisc<SimplePacket>>(&self, queue: &mut Q, seed: u64, warmup: Duration, span: Duration) -> Observed {
        let mut rng = Rng::new(seed);
        let (start, end) = (Instant::from_nanos(1) + warmup, Instant::from_nanos(1) + warmup + span);
        let mut now = Instant::from_nanos(1);
        let (mut arrival, mut free, mut busy) = (now, now, false);
        let mut sums = Sums::default();
        let mut id = 0;
        while now < end {
            let timer = queue.next_timer().unwrap_or(Instant::MAX);
            let done = if busy { free } else { Instant::MAX };
            let next = timer.min(done).min(arrival).min(end).max(now);
            if now >= start {
                sums.pass(next.since(now), queue.view().packets.get(), busy);
            }
            now = next;
            if timer <= now {
                queue.handle_timer(now);
            }
            if busy && free <= now {
                busy = false;
            }
            if arrival <= now {
                let flow = (id % u64::from(self.flows.max(1))) as u32;
                queue.enqueue(now, SimplePacket { id, flow, ecn: self.ecn, ..SimplePacket::new(self.packet) }, &mut NoSink);
                id += 1;
                arrival = now + self.gap(&mut rng);
            }
            if !busy && let Some(departure) = queue.dequeue(now, &mut NoSink) {
                busy = true;
                free = now + self.rate.transmission_time(departure.packet.len() + self.overhead);
                if now >= start {
                    sums.sojourn += departure.sojourn(now).as_secs_f64();
                    sums.departures += 1.0;
                }
            }
        }
        Observed {
            mean_packets: sums.packets / sums.time,
            utilization: sums.busy / sums.time,
            mean_sojourn: Duration::from_secs_f64(sums.sojourn / sums.departures),
            counters: queue.counters(),
        }
    }

    fn gap(&self, rng: &mut Rng) -> Duration {
        match self.load {
            Load::Constant(gap) => gap,
            Load::Poisson(mean) => mean.mul_f64(-goodqueue_aqm::math::log(1.0 - rng.uniform())),
        }
    }
}

#[derive(Default)]
struct Sums {
    time: f64,
    packets: f64,
    busy: f64,
    sojourn: f64,
    departures: f64,
}

impl Sums {
    fn pass(&mut self, span: Duration, waiting: u64, busy: bool) {
        let span = span.as_secs_f64();
        self.time += span;
        self.packets += span * waiting as f64;
        if busy {
            self.busy += span;
        }
    }
}
