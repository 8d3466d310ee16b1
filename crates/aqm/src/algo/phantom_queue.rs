//! A phantom queue (HULL): a counter of the backlog that a slightly slower link would have; it
//! marks before a real queue forms.
//!
//! *Signal*: bytes in the phantom queue as packets leave (or arrive); never drops.
//!
//! *Law*: each passing packet of `len` bytes sets `phantom = max(0, phantom - gamma C dt) + len`
//! and is marked when the result exceeds `mark_threshold`. The real queue is a tail drop.
//!
//! *Parameters*: see `KINDS`. A `gamma` of 0.9 to 0.98 is usual. The automatic `mark_threshold` is
//! 1 kB per Gbit/s of the link, but at least two full packets.
//!
//! *Deviations*: the phantom queue is bounded to ten thresholds, so that an overload is forgotten
//! within ten times the time it takes to drain one threshold (our choice). Sizes in the phantom
//! queue include framing. The paper gives thresholds for 1 and 10 Gbit/s; the rule for other rates
//! is ours, and so is its lower bound: as the counter includes the packet itself, a threshold below
//! one packet would mark every packet. A new rate changes the drain rate and an automatic
//! threshold.
//!
//! *Limits*: needs the rate of the link. Has no effect on senders without ECN. Designed for senders
//! that pace and respond to the share of marks (DCTCP); others leave more of the link unused than
//! `1 - gamma`.
//!
//! *Source*: Alizadeh, Kabbani, Edsall, Prabhakar, Vahdat and Yasuda 2012.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, Marking, ParamError, ParamValues, Size, TypedParam};
use goodqueue_base::units::{Bytes, Instant, Rate};
use goodqueue_base::words;

/// Bound of the phantom queue, in thresholds.
const FULL: f64 = 10.0;

/// Automatic threshold as seconds at the rate of the link: 1 kB at 1 Gbit/s.
const AUTOMATIC_SECONDS: f64 = 8e-6;

words! {
    /// The packets that pass through the counter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Counting {
        /// Departing packets.
        Departures = "departure",
        /// Arriving packets that fit.
        Arrivals = "arrival",
    }
}

/// Settings of the phantom queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhantomQueueParams {
    /// Drain rate as a share of the rate of the link.
    pub gamma: f64,
    /// Backlog above which packets are marked; `None`: automatic.
    pub threshold: Option<Size>,
    /// Packets that the counter counts.
    pub counting: Counting,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// Framing bytes per packet.
    pub overhead: Bytes,
}

/// State of the phantom queue, one per queue.
#[derive(Clone, Debug)]
pub struct PhantomQueue {
    params: PhantomQueueParams,
    /// Drain rate in bytes per second.
    rate: f64,
    threshold: f64,
    phantom: f64,
    drained_at: Instant,
}

impl PhantomQueue {
    /// Creates an empty phantom queue on a link of rate `rate`.
    #[must_use]
    pub fn new(params: PhantomQueueParams, rate: Option<Rate>) -> Self {
        let mut this = Self { params, rate: 0.0, threshold: 0.0, phantom: 0.0, drained_at: Instant::ZERO };
        this.threshold = this.least_threshold();
        this.adopt(rate);
        this
    }

    fn least_threshold(&self) -> f64 {
        2.0 * (self.params.mtu + self.params.overhead).get() as f64
    }

    /// Recomputes everything that depends on the rate of the link. Settings that need a rate keep
    /// their values while there is none.
    fn adopt(&mut self, rate: Option<Rate>) {
        let Some(rate) = rate else { return };
        self.rate = self.params.gamma * rate.as_bytes_s_f64();
        if rate.is_zero() {
            return;
        }
        self.threshold = match self.params.threshold {
            None => self.least_threshold().max(AUTOMATIC_SECONDS * rate.as_bytes_s_f64()),
            Some(size) => size.bytes(self.params.mtu, Some(rate)).map_or(self.threshold, |bytes| bytes.get() as f64),
        };
    }

    #[inline]
    fn drain(&mut self, now: Instant) {
        let left = self.phantom - self.rate * now.since(self.drained_at).as_secs_f64();
        self.phantom = if left > 0.0 { left } else { 0.0 };
        self.drained_at = now;
    }

    #[inline]
    fn pass(&mut self, env: &Env<'_>, len: Bytes) -> Verdict {
        self.drain(env.now);
        self.phantom += (len + env.overhead).get() as f64;
        if self.phantom <= self.threshold {
            return Verdict::Pass;
        }
        self.phantom = self.phantom.min(FULL * self.threshold);
        Verdict::Mark(Reason::Threshold)
    }
}

impl Aqm for PhantomQueue {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, _: QueueView) -> Verdict {
        match self.params.counting {
            Counting::Arrivals => self.pass(env, packet.len),
            Counting::Departures => Verdict::Pass,
        }
    }

    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, _: QueueView) -> Verdict {
        match self.params.counting {
            Counting::Arrivals => Verdict::Pass,
            Counting::Departures => self.pass(env, head.len),
        }
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.drain(env.now);
        self.adopt(env.link_rate);
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("phantom_bytes", self.phantom);
    }
}

const ALIZADEH: &str = "Alizadeh et al. 2012";
const GAMMA: TypedParam<f64> = TypedParam::ratio("gamma", 0.95)
    .within(0.01, 1.0)
    .about("rate of the phantom queue as a share of the link's")
    .from_source(ALIZADEH);
const MARK_THRESHOLD: TypedParam<Option<Size>> =
    TypedParam::auto("mark_threshold", "1 kB for each Gbit/s, at least two full packets")
        .within(0.0, 1e12)
        .about("phantom backlog above which packets are marked, the packet itself and framing included")
        .from_source("Alizadeh et al. 2012; our rule between its rates");
const AT: TypedParam<Counting> =
    TypedParam::choice("at", "departure").about("where packets are counted and marked").from_source(ALIZADEH);

impl Algorithm for PhantomQueue {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "phantom-queue",
            aliases: &[],
            title: "Phantom queue",
            summary: "Marks by the backlog a slightly slower link would have, never drops",
            params: &[GAMMA.param, MARK_THRESHOLD.param, AT.param],
            source: "Alizadeh et al. 2012 (HULL)",
        },
        Family::VirtualQueue,
        "backlog of a phantom queue, on departure",
    )
    .marking(Marking::Only)];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        link.needed_rate("phantom-queue")?;
        let params = PhantomQueueParams {
            gamma: GAMMA.read(given),
            threshold: MARK_THRESHOLD.read(given),
            counting: AT.read(given),
            mtu: link.mtu,
            overhead: link.overhead,
        };
        Ok(Self::new(params, link.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::{Duration, Ecn, Packets, Rng};

    fn params() -> PhantomQueueParams {
        PhantomQueueParams {
            gamma: 0.95,
            threshold: Some(Size::Bytes(3000.0)),
            counting: Counting::Departures,
            mtu: Bytes::new(1500),
            overhead: Bytes::ZERO,
        }
    }

    fn depart(queue: &mut PhantomQueue, now: Instant) -> Verdict {
        let packet = PacketView { len: Bytes::new(1000), ecn: Ecn::Ect0, flow: crate::aqm::FlowHash(1), enqueued_at: now };
        let rest = QueueView { backlog: Bytes::ZERO, packets: Packets::ZERO };
        queue.on_departure(&mut Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut Rng::new(1) }, packet, rest)
    }

    /// At the full rate of the link 50 of every 1000 bytes stay: 40 packets add 2000 bytes to the
    /// 1000 of the first; the 41st exceeds the threshold.
    #[test]
    fn full_link_is_marked_once_a_twentieth_fills_the_threshold() {
        let mut queue = PhantomQueue::new(params(), Some(Rate::mbit(8)));
        let verdicts: std::vec::Vec<Verdict> =
            (0..45).map(|n| depart(&mut queue, Instant::from_nanos(1) + Duration::ms(1) * n)).collect();
        assert_eq!(verdicts.iter().position(|verdict| *verdict != Verdict::Pass), Some(41));
        assert!(verdicts[41..].iter().all(|verdict| *verdict == Verdict::Mark(Reason::Threshold)));
    }

    #[test]
    fn a_link_used_below_gamma_is_never_marked() {
        let mut queue = PhantomQueue::new(params(), Some(Rate::mbit(8)));
        let gap = Duration::from_secs_f64(1e-3 / 0.94);
        assert!((0..10_000).all(|n| depart(&mut queue, Instant::from_nanos(1) + gap * n) == Verdict::Pass));
    }

    #[test]
    fn an_overload_is_forgotten_within_ten_thresholds() {
        let mut queue = PhantomQueue::new(params(), Some(Rate::mbit(8)));
        (0..1000).for_each(|_| _ = depart(&mut queue, Instant::from_nanos(1)));
        assert_eq!(queue.phantom, 30_000.0);
    }

    #[test]
    fn the_automatic_threshold_grows_with_the_rate_from_two_packets() {
        let automatic = PhantomQueueParams { threshold: None, ..params() };
        let threshold = |rate| PhantomQueue::new(automatic, Some(rate)).threshold;
        assert_eq!([threshold(Rate::mbit(10)), threshold(Rate::gbit(1))], [3000.0, 3000.0]);
        assert!((threshold(Rate::gbit(10)) - 10_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_link_that_is_down_drains_nothing_and_keeps_its_threshold() {
        let in_time = PhantomQueueParams { threshold: Some(Size::Time(Duration::ms(4))), ..params() };
        let mut queue = PhantomQueue::new(in_time, Some(Rate::mbit(8)));
        let (now, mut rng) = (Instant::from_nanos(1), Rng::new(1));
        (0..3).for_each(|_| _ = depart(&mut queue, now));
        let mut change = |queue: &mut PhantomQueue, now, link_rate| {
            queue.on_rate_change(&mut Env { now, link_rate, overhead: Bytes::ZERO, rng: &mut rng });
        };
        change(&mut queue, now, Some(Rate::ZERO));
        change(&mut queue, now + Duration::secs(5), Some(Rate::mbit(16)));
        assert_eq!((queue.phantom, queue.threshold), (3000.0, 8000.0));
    }
}
