//! BLUE: one signal probability, raised by overflow and lowered by idleness; the queue length in
//! between has no effect.
//!
//! *Signal*: overflow, or a backlog above `threshold`; and an empty queue. Acts on arrival.
//!
//! *Law*: `p` rises by `d1` on congestion and falls by `d2` on idleness. At least `freeze_time`
//! passes between two changes in either direction. An arriving packet that fits is signaled with
//! probability `p`.
//!
//! *Parameters*: see `KINDS`. A `freeze_time` of 10 to 500 ms is usual; `p` falls ten times more
//! slowly than it rises; without a `threshold` only overflow is congestion.
//!
//! *Deviations*: the papers say that `p` falls "when the link is idle", but not how often. With
//! `decay_while_idle` it falls once per `freeze_time` for as long as the queue is empty, which
//! needs a timer; otherwise it falls only when the queue runs empty and when a departure finds the
//! queue empty. When a fair queue drops from the queue of a flow, this counts as congestion of that
//! flow.
//!
//! *Limits*: needs 50 freeze times (5 s) to go from no signals to signaling everything. A burst of
//! overflows counts once. Authors of later schemes report poor results with these defaults. The
//! rate of the link matters only for a `threshold` given as a time.
//!
//! *Source*: Feng, Shin, Kandlur and Saha 2002.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamValues, Size, TypedParam};
use goodqueue_base::settings;
use goodqueue_base::units::{Bytes, Duration, Instant, Packets, Rate};

/// The effect of an empty queue on the probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleDecay {
    /// Lowers it once per `freeze_time` for as long as the queue is empty.
    Steady,
    /// Lowers it when the queue runs empty and when a departure finds the queue empty.
    Once,
}

impl IdleDecay {
    const fn of(decay_while_idle: bool) -> Self {
        if decay_while_idle { Self::Steady } else { Self::Once }
    }
}

settings! {
    /// Settings of BLUE; by default the rule of the 2002 paper with `d2` a tenth of `d1` and
    /// packets of 1500 bytes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct BlueParams {
        /// Least time between two changes of the probability.
        pub freeze_time: Duration => FREEZE_TIME,
        /// Step up.
        pub d1: f64 => D1,
        /// Step down.
        pub d2: f64 => D2,
        /// Backlog above which there is congestion, in addition to overflow.
        pub threshold: Option<Size> => THRESHOLD,
        /// Effect of an empty queue on the probability.
        pub idle_decay: IdleDecay => DECAY_WHILE_IDLE = IdleDecay::of(DECAY_WHILE_IDLE.default),
        /// Largest packet without framing; converts a threshold in packets.
        pub mtu: Bytes = Bytes::new(1500),
    }
}

/// State of BLUE, one per queue.
#[derive(Clone, Debug)]
pub struct Blue {
    params: BlueParams,
    /// `params.threshold` in bytes, `MAX` for none.
    threshold: Bytes,
    p: f64,
    /// Earliest time of the next change of the probability.
    thaws_at: Instant,
    idle: bool,
}

impl Blue {
    /// Creates a BLUE with these settings on a link of rate `rate`.
    #[must_use]
    pub fn new(params: BlueParams, rate: Option<Rate>) -> Self {
        let mut this = Self { params, threshold: Bytes::MAX, p: 0.0, thaws_at: Instant::ZERO, idle: false };
        this.adopt(rate);
        this
    }

    /// Probability of a signal.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.p
    }

    /// Computes the threshold in bytes. A threshold that needs the rate keeps its value while the
    /// rate is unknown.
    fn adopt(&mut self, rate: Option<Rate>) {
        let rate = rate.filter(|rate| !rate.is_zero());
        if let Some(bytes) = self.params.threshold.and_then(|size| size.bytes(self.params.mtu, rate)) {
            self.threshold = bytes;
        }
    }

    /// Sets the probability, unless the last change is less than a freeze time ago.
    fn change(&mut self, now: Instant, p: f64) {
        if now >= self.thaws_at {
            self.p = p;
            // Strictly more than `freeze_time` must pass.
            self.thaws_at = now + self.params.freeze_time + Duration::ns(1);
        }
    }

    #[cold]
    fn on_congestion(&mut self, now: Instant) {
        self.change(now, (self.p + self.params.d1).min(1.0));
    }

    fn on_idleness(&mut self, now: Instant) {
        self.idle = true;
        self.change(now, (self.p - self.params.d2).max(0.0));
    }
}

impl Aqm for Blue {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        if queue.backlog > self.threshold {
            self.on_congestion(env.now);
        }
        let picked = env.rng.fires(self.p);
        // A dropped packet leaves an idle queue idle; otherwise a probability of one would never
        // fall.
        self.idle &= picked && !packet.ecn.is_capable();
        if picked { Verdict::Signal(Reason::Early) } else { Verdict::Pass }
    }

    fn on_overflow(&mut self, env: &mut Env<'_>, _: PacketView, _: QueueView) {
        self.on_congestion(env.now);
    }

    fn on_evicted(&mut self, env: &mut Env<'_>, _: Packets) {
        self.on_congestion(env.now);
    }

    fn on_idle(&mut self, now: Instant) {
        self.on_idleness(now);
    }

    #[inline]
    fn on_emptied(&mut self, now: Instant) {
        self.on_idleness(now);
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.adopt(env.link_rate);
    }

    #[inline]
    fn next_update(&self) -> Option<Instant> {
        (self.idle && self.p > 0.0 && self.params.idle_decay == IdleDecay::Steady).then_some(self.thaws_at)
    }

    fn on_update(&mut self, env: &mut Env<'_>, head: Option<PacketView>, _: QueueView) {
        match head {
            Some(_) => self.idle = false,
            None if self.next_update().is_some() => self.on_idleness(env.now),
            None => {}
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("probability", self.p);
    }
}

const FENG: &str = "Feng et al. 2002";
const FREEZE_TIME: TypedParam<Duration> = TypedParam::duration("freeze_time", Duration::ms(100))
    .within(1e-6, 100.0)
    .about("least time between two changes of the probability")
    .from_source(FENG);
const D1: TypedParam<f64> =
    TypedParam::ratio("d1", 0.02).within(1e-9, 1.0).about("step up of the probability on congestion").from_source(FENG);
const D2: TypedParam<f64> = TypedParam::ratio("d2", 0.002)
    .within(1e-9, 1.0)
    .about("step down of the probability on idleness, at most d1")
    .from_source(FENG);
const THRESHOLD: TypedParam<Option<Size>> = TypedParam::auto("threshold", "none: only overflow is congestion")
    .within(0.0, 1e12)
    .about("backlog that counts as congestion when exceeded")
    .from_source(FENG)
    .as_threshold();
const DECAY_WHILE_IDLE: TypedParam<bool> = TypedParam::on("decay_while_idle")
    .about("lower the probability every freeze_time while the queue is empty, rather than once")
    .from_source("our reading");

impl Algorithm for Blue {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "blue",
            aliases: &[],
            title: "BLUE",
            summary: "Signals with one probability, raised by overflow and lowered by idleness",
            params: &BlueParams::PARAMS,
            source: "Feng, Shin, Kandlur and Saha 2002",
        },
        Family::Blue,
        "overflow and empty queue, on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        // Rejects a threshold given as a time on a link of unknown rate.
        THRESHOLD.bytes(given, link.mtu, link.rate)?;
        let idle_decay = IdleDecay::of(DECAY_WHILE_IDLE.read(given));
        let params = BlueParams { idle_decay, mtu: link.mtu, ..BlueParams::read(given) };
        D2.at_most(params.d2, &D1, params.d1)?;
        Ok(Self::new(params, link.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Value;
    use alloc::string::ToString;
    use goodqueue_base::units::Rng;

    const EMPTY: QueueView = QueueView { backlog: Bytes::ZERO, packets: Packets::ZERO };

    fn packet(now: Instant) -> PacketView {
        let (len, ecn) = (Bytes::new(1500), goodqueue_base::units::Ecn::NotEct);
        PacketView { len, ecn, flow: crate::aqm::FlowHash(1), enqueued_at: now }
    }

    fn overflow(blue: &mut Blue, at: Instant) {
        let mut rng = Rng::new(1);
        blue.on_overflow(&mut Env { now: at, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng }, packet(at), EMPTY);
    }

    fn update(blue: &mut Blue, at: Instant) {
        let mut rng = Rng::new(1);
        blue.on_update(&mut Env { now: at, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng }, None, EMPTY);
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-12, "{found} is not {expected}");
    }

    /// Overflows every 10 ms for one second: at 0, 110, 220, … 990 ms more than 100 ms have passed.
    #[test]
    fn a_burst_of_overflows_counts_once_a_freeze() {
        let mut blue = Blue::new(BlueParams::default(), None);
        for tenths in 0..100 {
            overflow(&mut blue, Instant::ZERO + Duration::ms(10) * tenths);
        }
        near(blue.probability(), 0.2);
    }

    /// 50 steps of 0.02 with 49 freezes between them.
    #[test]
    fn certainty_takes_five_seconds_of_overflow() {
        let mut blue = Blue::new(BlueParams::default(), None);
        let mut now = Instant::ZERO;
        while blue.probability() < 1.0 - 1e-9 {
            overflow(&mut blue, now);
            now += Duration::us(100);
        }
        let taken = now.since(Instant::ZERO);
        assert!(taken > Duration::ms(4900) && taken < Duration::ms(4920), "{taken}");
        (0..100).for_each(|n| overflow(&mut blue, now + Duration::ms(200) * n));
        near(blue.probability(), 1.0);
    }

    #[test]
    fn empty_queue_lowers_the_probability_every_freeze_to_zero() {
        let mut blue = Blue { p: 0.005, ..Blue::new(BlueParams::default(), None) };
        let start = Instant::from_nanos(7);
        blue.on_emptied(start);
        near(blue.probability(), 0.003);
        let due = blue.next_update().expect("idle");
        assert_eq!(due, start + Duration::ms(100) + Duration::ns(1));
        update(&mut blue, start + Duration::ms(100));
        near(blue.probability(), 0.003);
        update(&mut blue, due);
        near(blue.probability(), 0.001);
        let due = blue.next_update().expect("idle");
        update(&mut blue, due);
        near(blue.probability(), 0.0);
        assert_eq!(blue.next_update(), None);
    }

    #[test]
    fn without_decay_while_idle_there_is_no_timer() {
        let params = BlueParams { idle_decay: IdleDecay::Once, ..BlueParams::default() };
        let mut blue = Blue { p: 0.005, ..Blue::new(params, None) };
        blue.on_emptied(Instant::from_nanos(7));
        assert_eq!(blue.next_update(), None);
        update(&mut blue, Instant::from_nanos(u64::MAX / 2));
        near(blue.probability(), 0.003);
    }

    #[test]
    fn a_dropped_packet_leaves_the_queue_idle() {
        let mut blue = Blue { p: 1.0, ..Blue::new(BlueParams::default(), None) };
        let (now, mut rng) = (Instant::from_nanos(9), Rng::new(3));
        blue.on_emptied(now);
        blue.p = 1.0;
        let mut env = Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng };
        assert_eq!(blue.on_arrival(&mut env, packet(now), EMPTY), Verdict::Signal(Reason::Early));
        assert!(blue.next_update().is_some());
        let marked = PacketView { ecn: goodqueue_base::units::Ecn::Ect0, ..packet(now) };
        assert_eq!(blue.on_arrival(&mut env, marked, EMPTY), Verdict::Signal(Reason::Early));
        assert_eq!(blue.next_update(), None);
    }

    #[test]
    fn a_threshold_in_time_follows_the_rate() {
        let params = BlueParams { threshold: Some(Size::Time(Duration::ms(12))), ..BlueParams::default() };
        let mut blue = Blue::new(params, Some(Rate::mbit(10)));
        assert_eq!(blue.threshold, Bytes::new(15_000));
        blue.adopt(Some(Rate::mbit(1)));
        blue.adopt(Some(Rate::ZERO));
        blue.adopt(None);
        assert_eq!(blue.threshold, Bytes::new(1_500));
    }

    #[test]
    fn stepping_down_faster_than_up_is_refused() {
        let link = LinkFacts {
            rate: None,
            delay: Duration::ZERO,
            mtu: Bytes::new(1500),
            overhead: Bytes::ZERO,
            limit: crate::Limit::packets(10),
        };
        let values = [("d2", Value::Number(0.03))];
        let error = Blue::build(&ParamValues::new(&Blue::KINDS[0], &values).unwrap(), &link).unwrap_err();
        assert_eq!(error.to_string(), "d2: 0.03 is above d1 (0.02): allowed up to d1");
        let values = [("threshold", Value::Size(Size::Time(Duration::ms(1))))];
        assert_eq!(Blue::build(&ParamValues::new(&Blue::KINDS[0], &values).unwrap(), &link).unwrap_err().param, "threshold");
    }
}
