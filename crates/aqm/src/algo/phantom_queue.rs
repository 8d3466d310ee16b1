//! A phantom queue (HULL): a counter of the backlog there would be on a slightly slower link, which marks before the real queue forms.
//!
//! *Signal*: bytes in the phantom queue as packets leave (or arrive); never drops.
//!
//! *Law*: each packet of `len` bytes that passes makes `phantom = max(0, phantom - gamma C dt) + len`; it is marked when that is above
//! `mark_threshold`. The real queue is a tail drop.
//!
//! *Parameters*: `gamma` 0.95 (0.9 to 0.98 are usual); `mark_threshold` 1 kB for each Gbit/s of the link's rate, at least two full packets; `at`
//! `departure`.
//!
//! *Departures*: the phantom queue stops at ten thresholds, so that an overload is forgotten within ten times the time it takes to
//! empty from one (our choice). Sizes in the phantom queue include framing. The paper's thresholds are for 1 and
//! 10 Gbit/s; the rule between and beyond them is ours, and so is its lower bound: as the counter includes the packet itself, a threshold
//! below one packet would mark everything. A new rate changes how fast it drains, and an automatic threshold.
//!
//! *Limits*: needs the link's rate. Without senders that use ECN it does nothing. Made for senders that answer to the
//! share of marks (DCTCP) and pace; others leave the link emptier than `gamma`.
//!
//! *Source*: Alizadeh, Kabbani, Edsall, Prabhakar, Vahdat and Yasuda 2012.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Size, Unit, Value};
use goodqueue_units::{Bytes, Instant, Rate};

/// The phantom queue stops at so many thresholds.
const FULL: f64 = 10.0;

/// Seconds at link rate that an automatic threshold is: 1 kB at 1 Gbit/s.
const AUTOMATIC_SECONDS: f64 = 8e-6;

/// Which packets pass the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Those that leave.
    #[default]
    Departures,
    /// Those that arrive and fit.
    Arrivals,
}

/// The phantom queue's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhantomQueueParams {
    /// Its rate as a share of the link's.
    pub gamma: f64,
    /// Backlog above which packets are marked; `None`: by the rule.
    pub threshold: Option<Size>,
    /// Which packets it counts.
    pub counting: Counting,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// Framing bytes per packet.
    pub overhead: Bytes,
}

/// The phantom queue: one a queue.
#[derive(Clone, Debug)]
pub struct PhantomQueue {
    params: PhantomQueueParams,
    /// Bytes it drains a second.
    rate: f64,
    threshold: f64,
    phantom: f64,
    drained_at: Instant,
}

impl PhantomQueue {
    /// An empty phantom queue on a link of rate `rate`.
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

    /// Works out everything that depends on the link's rate. What needs a rate and has none keeps its value.
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

impl Algorithm for PhantomQueue {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "phantom-queue",
        summary: "Marks by the backlog a slightly slower link would have, never drops",
        signal: "backlog of a phantom queue, on departure",
        marks: true,
        params: &[
            ParamSpec {
                name: "gamma",
                unit: Unit::Ratio,
                default: ParamDefault::Value(Value::Number(0.95)),
                range: (0.01, 1.0),
                doc: "rate of the phantom queue as a share of the link's",
                source: "Alizadeh et al. 2012",
            },
            ParamSpec {
                name: "mark_threshold",
                unit: Unit::Size,
                default: ParamDefault::Auto("1 kB for each Gbit/s, at least two full packets"),
                range: (0.0, 1e12),
                doc: "phantom backlog above which packets are marked, the packet itself and framing included",
                source: "Alizadeh et al. 2012; our rule between its rates",
            },
            ParamSpec {
                name: "at",
                unit: Unit::Choice(&["departure", "arrival"]),
                default: ParamDefault::Value(Value::Choice("departure")),
                range: (0.0, 0.0),
                doc: "where packets are counted and marked",
                source: "Alizadeh et al. 2012",
            },
        ],
        source: "Alizadeh et al. 2012 (HULL)",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        if link.rate.is_none() {
            let message = "phantom-queue needs a link of known rate".into();
            return Err(ParamError { param: "kind", message });
        }
        let params = PhantomQueueParams {
            gamma: given.number("gamma").unwrap_or(0.95),
            threshold: given.size("mark_threshold"),
            counting: if given.choice("at") == Some("arrival") { Counting::Arrivals } else { Counting::Departures },
            mtu: link.mtu,
            overhead: link.overhead,
        };
        Ok(Self::new(params, link.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::{Duration, Ecn, Packets, Rng};

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
        let packet = PacketView {
            len: Bytes::new(1000),
            ecn: Ecn::Ect0,
            flow: crate::aqm::FlowHash(1),
            enqueued_at: now,
        };
        let rest = QueueView { backlog: Bytes::ZERO, packets: Packets::ZERO };
        queue.on_departure(&mut Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut Rng::new(1) }, packet, rest)
    }

    /// At full link rate 50 bytes of every 1000 stay behind: 40 packets add 2000 bytes to the 1000 of the first, the 41st is above.
    #[test]
    fn a_full_link_is_marked_after_a_twentieth_of_it_has_filled_the_threshold() {
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
