//! REM (Random Exponential Marking): a price that rises while more packets arrive than leave or
//! more wait than wanted, and a signal probability that is exponential in the price.
//!
//! *Signal*: arrivals and queue length, once per `t_update`; ECN-capable packets are marked on
//! departure, others are dropped on arrival.
//!
//! *Law*: `price += gamma (x + alpha (q - b_star) - c)`, never below zero. `x` counts the packets
//! that arrived in this period, dropped ones included, `c` those that the link could send in it,
//! and `q` those that wait. A packet is signaled with probability `1 - phi^-price`, so that the
//! probability of passing several queues depends on the sum of their prices.
//!
//! *Parameters*: see `KINDS`. The defaults are those of ns-2. `inw` is the weight of this period's
//! arrivals in `x`; `c` is in packets of `mean_pktsize`; `bytes` counts in packets of that size and
//! scales the probability by packet size.
//!
//! *Deviations*: ns-2 either marks on departure and never drops a Not-ECT packet, or drops on
//! arrival and never marks. Here the ECN codepoint of each packet decides, and `legacy` never
//! drops. `c` includes framing. The price is bounded by `ln(1e6) / ln(phi)`, a probability of
//! 0.999999, since a link that is down would otherwise raise it without end. A late update counts
//! in `c` all periods it covers. While the price and the smoothed arrivals are zero and nothing
//! waits there are no updates, as they would change nothing.
//!
//! *Limits*: needs the rate of the link. If packets differ from `mean_pktsize`, the queue settles
//! away from `b_star`, since `c` is then not the number of packets that the link sends; `bytes`
//! corrects this. With the default gains, 100 packets too many move the price by 5 per second, so
//! that a signal probability of a tenth takes 20 s to reach.
//!
//! *Source*: Athuraliya, Li, Low and Yin 2001; ns-2.35 for the defaults and where signals are
//! given.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::math::{self, expm1, log};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamValues, Size, TypedParam};
use crate::tick::Tick;
use goodqueue_base::settings;
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};

/// Inverse of the probability of passing at the highest price.
const MAX: f64 = 1e6;

/// The treatment of Not-ECT packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotEctFate {
    /// Dropped on arrival with the same probability.
    Drop,
    /// Never dropped, as in ns-2 with marking on.
    Pass,
}

impl NotEctFate {
    const fn of(legacy: bool) -> Self {
        if legacy { Self::Pass } else { Self::Drop }
    }
}

settings! {
    /// Settings of REM; by default those of ns-2, for packets of at most 1500 bytes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RemParams {
        /// Gain of the price.
        pub gamma: f64 => GAMMA,
        /// Base of the probability, above one.
        pub phi: f64 => PHI,
        /// Weight of waiting packets relative to arriving ones.
        pub alpha: f64 => ALPHA,
        /// Queue length to settle at.
        pub b_star: Size => B_STAR,
        /// Time between updates.
        pub t_update: Duration => T_UPDATE,
        /// Weight of a period's arrivals in their average.
        pub inw: f64 => INW,
        /// Packet size in which the rate of the link is counted.
        pub mean_pktsize: Bytes => MEAN_PKTSIZE = MEAN_PKTSIZE.default,
        /// Whether packets of `mean_pktsize` are counted and the probability scales with packet
        /// size.
        pub bytes: bool => BYTES,
        /// Treatment of Not-ECT packets.
        pub not_ect: NotEctFate => LEGACY = NotEctFate::of(LEGACY.default),
        /// Largest packet without framing.
        pub mtu: Bytes = Bytes::new(1500),
        /// Framing bytes per packet.
        pub overhead: Bytes = Bytes::ZERO,
    }
}

/// State of REM, one per queue.
#[derive(Clone, Debug)]
pub struct Rem {
    params: RemParams,
    /// Target in packets, or in packets of mean size.
    b_star: f64,
    /// Packets of mean size that the link sends per period; zero while it is down.
    c: f64,
    ln_phi: f64,
    highest: f64,
    per_mean_size: f64,
    /// Like `per_mean_size`, with framing.
    per_mean_wire: f64,
    price: f64,
    p: f64,
    /// Arrivals in this period.
    in_count: f64,
    in_avg: f64,
    tick: Tick,
}

impl Rem {
    /// Creates a REM with these settings on a link of rate `rate`, before its first packet.
    #[must_use]
    pub fn new(params: RemParams, rate: Option<Rate>) -> Self {
        let ln_phi = log(params.phi);
        let mean = params.mean_pktsize.get().max(1);
        let mut this = Self {
            params,
            b_star: B_STAR_PACKETS,
            c: 0.0,
            ln_phi,
            highest: log(MAX) / ln_phi,
            per_mean_size: 1.0 / mean as f64,
            per_mean_wire: 1.0 / (mean + params.overhead.get()) as f64,
            price: 0.0,
            p: 0.0,
            in_count: 0.0,
            in_avg: 0.0,
            tick: Tick::new(params.t_update),
        };
        this.adopt(rate);
        this
    }

    /// Present price.
    #[must_use]
    pub const fn price(&self) -> f64 {
        self.price
    }

    /// Probability of a signal.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.p
    }

    /// Recomputes everything that depends on the rate of the link. While the rate is unknown all
    /// values stay.
    fn adopt(&mut self, rate: Option<Rate>) {
        let RemParams { b_star, t_update, mtu, bytes, .. } = self.params;
        if let Some(rate) = rate {
            self.c = t_update.as_secs_f64() * (rate.as_bytes_s_f64() * self.per_mean_wire);
        }
        if let Some(packets) = b_star.packets(mtu, rate) {
            self.b_star = if bytes { packets * mtu.get() as f64 * self.per_mean_size } else { packets };
        }
    }

    #[inline]
    fn count(&mut self, env: &mut Env<'_>, packet: PacketView) {
        self.tick.start(env.now, env.rng);
        self.in_count +=
            if self.params.bytes { (packet.len + self.params.overhead).get() as f64 * self.per_mean_wire } else { 1.0 };
    }

    #[inline]
    fn picks(&self, env: &mut Env<'_>, len: Bytes) -> bool {
        let scale = if self.params.bytes { len.get() as f64 * self.per_mean_size } else { 1.0 };
        env.rng.fires(self.p * scale)
    }
}

/// `1 - phi^-price`.
fn probability(price: f64, ln_phi: f64) -> f64 {
    -expm1(-price * ln_phi)
}

impl Aqm for Rem {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, _: QueueView) -> Verdict {
        self.count(env, packet);
        let judged = !packet.ecn.is_capable() && self.params.not_ect == NotEctFate::Drop;
        if judged && self.picks(env, packet.len) { Verdict::Signal(Reason::Early) } else { Verdict::Pass }
    }

    fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, _: QueueView) {
        self.count(env, packet);
    }

    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, _: QueueView) -> Verdict {
        if head.ecn.is_capable() && self.picks(env, head.len) { Verdict::Signal(Reason::Head) } else { Verdict::Pass }
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.adopt(env.link_rate);
    }

    #[inline]
    fn next_update(&self) -> Option<Instant> {
        self.tick.due()
    }

    fn on_update(&mut self, env: &mut Env<'_>, _: Option<PacketView>, queue: QueueView) {
        let periods = self.tick.take(env.now);
        if periods == 0 {
            return;
        }
        let RemParams { gamma, alpha, inw, bytes, .. } = self.params;
        let q = if bytes { queue.backlog.get() as f64 * self.per_mean_size } else { queue.packets.get() as f64 };
        self.in_avg = (1.0 - inw) * self.in_avg + inw * self.in_count;
        self.in_count = 0.0;
        let step = gamma * (self.in_avg + alpha * (q - self.b_star) - self.c * periods as f64);
        self.price = math::within(self.price + step, 0.0, self.highest);
        self.p = probability(self.price, self.ln_phi);
        if self.price == 0.0 && self.in_avg == 0.0 && queue.packets.is_zero() {
            self.tick.stop();
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("price", self.price);
        visit("probability", self.p);
    }
}

const NS2: &str = "ns-2.35";

const fn number(name: &'static str, default: f64, range: (f64, f64), doc: &'static str) -> TypedParam<f64> {
    TypedParam::number(name, default).within(range.0, range.1).about(doc).from_source(NS2)
}

const fn switch(name: &'static str, doc: &'static str) -> TypedParam<bool> {
    TypedParam::off(name).about(doc).from_source(NS2)
}

const GAMMA: TypedParam<f64> = number("gamma", 0.001, (1e-9, 1e3), "gain of the price");
const PHI: TypedParam<f64> = number("phi", 1.001, (1.000_000_001, 1e3), "base of the probability 1 - phi^-price");
const ALPHA: TypedParam<f64> = number("alpha", 0.1, (0.0, 1e3), "weight of waiting packets against arriving ones");
const B_STAR_PACKETS: f64 = 20.0;
const B_STAR: TypedParam<Size> = TypedParam::size("b_star", Size::Packets(B_STAR_PACKETS))
    .within(0.0, 1e12)
    .about("length to settle at")
    .from_source(NS2)
    .as_threshold();
const T_UPDATE: TypedParam<Duration> = TypedParam::duration("t_update", Duration::ms(2))
    .within(1e-6, 10.0)
    .about("time between updates of the price")
    .from_source(NS2);
const INW: TypedParam<f64> = number("inw", 1.0, (1e-6, 1.0), "weight of a period's arrivals in their average");
const MEAN_PKTSIZE: TypedParam<Bytes> = TypedParam::size_in_bytes("mean_pktsize", Bytes::new(1000))
    .within(1.0, 65536.0)
    .about("size of the packets that the link's rate is counted in")
    .from_source(NS2);
const BYTES: TypedParam<bool> = switch("bytes", "count in packets of mean_pktsize and scale the probability by packet size");
const LEGACY: TypedParam<bool> = switch("legacy", "never drop: Not-ECT packets pass, as in ns-2 with marking on");

impl Algorithm for Rem {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "rem",
            aliases: &[],
            title: "REM",
            summary: "A price of arrivals above capacity and packets above a target; signals exponential in it",
            params: &RemParams::PARAMS,
            source: "Athuraliya, Li, Low and Yin 2001; ns-2.35",
        },
        Family::VirtualQueue,
        "arrivals and queue length, sampled; on departure where it marks, on arrival where it drops",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        link.needed_rate("rem")?;
        Ok(Self::new(
            RemParams {
                mean_pktsize: MEAN_PKTSIZE.bytes(given, link.mtu, link.rate)?,
                not_ect: NotEctFate::of(LEGACY.read(given)),
                mtu: link.mtu,
                overhead: link.overhead,
                ..RemParams::read(given)
            },
            link.rate,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::{Packets, Rng};

    fn queue(packets: u64) -> QueueView {
        QueueView { packets: Packets::new(packets), backlog: Bytes::new(1500 * packets) }
    }

    fn started() -> Rem {
        let mut rem = Rem::new(RemParams::default(), Some(Rate::mbit(8)));
        rem.tick.start(Instant::ZERO, &mut Rng::new(1));
        rem
    }

    /// Runs the update `late` periods after its time.
    fn update(rem: &mut Rem, waiting: u64, late: u64) {
        let now = rem.next_update().expect("running") + Duration::ms(2) * late;
        let mut rng = Rng::new(1);
        rem.on_update(&mut Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut rng }, None, queue(waiting));
    }

    #[track_caller]
    fn near(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
    }

    #[test]
    fn a_hundred_packets_too_many_raise_the_price_by_a_hundredth() {
        let mut rem = started();
        near(rem.c, 2.0, 1e-12);
        rem.in_count = rem.c;
        update(&mut rem, 120, 0);
        near(rem.price(), 0.01, 1e-12);
        near(rem.probability(), 1.0e-5, 1e-3);
    }

    #[test]
    fn the_probability_is_exponential_in_the_price() {
        for price in [0.0, 1e-6, 0.01, 1.0, 100.0, 1000.0, 13_000.0] {
            let expected = 1.0 - crate::math::pow(1.001, -price);
            assert!((probability(price, log(1.001)) - expected).abs() <= 1e-9);
        }
    }

    /// Two queues in a row let through what one queue with the sum of their prices does.
    #[test]
    fn prices_add_up_along_a_path() {
        let through = |price| 1.0 - probability(price, log(1.001));
        near(through(30.0) * through(70.0), through(100.0), 1e-12);
    }

    #[test]
    fn down_link_raises_the_price_no_further_than_it_can_fall() {
        let mut rem = started();
        rem.adopt(Some(Rate::ZERO));
        rem.price = 13_815.0;
        (0..1_000_000).for_each(|_| update(&mut rem, 200, 0));
        near(rem.price(), crate::math::log(1e6) / crate::math::log(1.001), 1e-12);
        near(1.0 - rem.probability(), 1e-6, 1e-9);
    }

    #[test]
    fn a_late_update_counts_what_the_link_could_send_meanwhile() {
        let mut rem = started();
        rem.in_count = 5.0 * rem.c;
        update(&mut rem, 120, 4);
        near(rem.price(), 0.01, 1e-9);
    }

    #[test]
    fn updates_rest_while_they_would_change_nothing() {
        let mut rem = started();
        rem.in_count = 1.0;
        update(&mut rem, 0, 0);
        assert_eq!(rem.price(), 0.0);
        assert!(rem.next_update().is_some());
        update(&mut rem, 0, 0);
        assert_eq!(rem.next_update(), None);
    }

    #[test]
    fn an_unknown_rate_is_refused() {
        let link = LinkFacts {
            rate: None,
            delay: Duration::ZERO,
            mtu: Bytes::new(1500),
            overhead: Bytes::ZERO,
            limit: crate::Limit::packets(10),
        };
        assert_eq!(Rem::build(&ParamValues::new(&Rem::KINDS[0], &[]).unwrap(), &link).unwrap_err().param, "kind");
    }
}
