//! AVQ: a virtual queue with the buffer of the real one on a slower link, whose capacity adapts
//! until arrivals match a wanted utilization.
//!
//! *Signal*: overflow of the virtual queue, on arrival.
//!
//! *Law*: the virtual queue drains at the virtual capacity `Cv`. An arriving packet of `b` bytes
//! that does not fit into the virtual buffer is signaled and does not enter the virtual queue.
//! `dCv/dt = alpha (gamma C - arrivals)`, implemented as a token bucket: `Cv = max(0, min(C, Cv +
//! alpha gamma C dt) - alpha b)`.
//!
//! *Parameters*: see `KINDS`. `buflim` sizes the virtual buffer relative to the real one, `ecnlim`
//! the first virtual capacity relative to the link.
//!
//! *Deviations*: as in ns-2, a packet that the virtual queue drops does not count as an arrival, so
//! that with drops the accepted load meets `gamma`; the time since the last accepted packet is
//! credited to the next one. Marked packets count, as in the paper. All sizes include framing. When
//! the rate of the link changes, the virtual capacity keeps its share of it; on a link that is down
//! it neither drains nor adapts.
//!
//! *Limits*: needs the rate of the link and a queue with a limit. Adapts over `1 / alpha` seconds.
//! A packet larger than the virtual buffer is always signaled. `alpha` times the packet size must
//! not exceed the first virtual capacity.
//!
//! *Source*: Kunniyur and Srikant 2001; ns-2.35 for the defaults and for not counting dropped
//! packets.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamFault, ParamValues, Size, TypedParam};
use goodqueue_base::units::{Bytes, Instant, Rate};

/// Settings of AVQ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AvqParams {
    /// Wanted utilization.
    pub gamma: f64,
    /// Speed of adaptation, per second.
    pub alpha: f64,
    /// Virtual capacity at the first packet, as a share of the link's.
    pub ecnlim: f64,
    /// Bytes the virtual queue holds, framing included.
    pub buffer: f64,
}

/// State of AVQ, one per queue.
#[derive(Clone, Debug)]
pub struct Avq {
    params: AvqParams,
    /// Rate of the link in bytes per second; zero while it is down.
    capacity: f64,
    /// Virtual capacity as a share of the link's.
    share: f64,
    /// Bytes in the virtual queue.
    backlog: f64,
    /// Time up to which the virtual queue has been drained.
    drained_at: Instant,
    /// Time up to which the virtual capacity has grown; `Instant::MAX` before the first packet.
    grown_at: Instant,
}

impl Avq {
    /// Creates an AVQ with these settings on a link of rate `rate`, before its first packet.
    #[must_use]
    pub fn new(params: AvqParams, rate: Rate) -> Self {
        Self {
            params,
            capacity: rate.as_bytes_s_f64(),
            share: params.ecnlim,
            backlog: 0.0,
            drained_at: Instant::ZERO,
            grown_at: Instant::MAX,
        }
    }

    /// Virtual capacity in bytes per second.
    #[must_use]
    pub fn virtual_capacity(&self) -> f64 {
        self.share * self.capacity
    }

    /// Drains the virtual queue up to now.
    #[inline]
    fn drain(&mut self, now: Instant) {
        let left = self.backlog - self.virtual_capacity() * now.since(self.drained_at).as_secs_f64();
        self.backlog = if left > 0.0 { left } else { 0.0 };
        self.drained_at = now;
    }

    /// Grows the virtual capacity up to now and charges it for a packet of `size` bytes.
    #[inline]
    fn adapt(&mut self, now: Instant, size: f64) {
        if self.capacity > 0.0 {
            let AvqParams { gamma, alpha, .. } = self.params;
            let grown = self.share + alpha * gamma * now.since(self.grown_at).as_secs_f64();
            let paid = grown.min(1.0) - alpha * size / self.capacity;
            self.share = if paid > 0.0 { paid } else { 0.0 };
        }
        self.grown_at = now;
    }
}

impl Aqm for Avq {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, _: QueueView) -> Verdict {
        if self.grown_at == Instant::MAX {
            (self.drained_at, self.grown_at) = (env.now, env.now);
        }
        let size = (packet.len + env.overhead).get() as f64;
        self.drain(env.now);
        let fits = self.backlog + size <= self.params.buffer;
        if fits {
            self.backlog += size;
        }
        if fits || packet.ecn.is_capable() {
            self.adapt(env.now, size);
        }
        if fits { Verdict::Pass } else { Verdict::Signal(Reason::Early) }
    }

    /// The virtual queue counts every arrival, whether the real queue has room or not.
    fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) {
        let _dropped_anyway = self.on_arrival(env, packet, queue);
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        let Some(rate) = env.link_rate else { return };
        if self.grown_at != Instant::MAX {
            self.drain(env.now);
            self.adapt(env.now, 0.0);
        }
        self.capacity = rate.as_bytes_s_f64();
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("virtual_capacity_bit_s", 8.0 * self.virtual_capacity());
        visit("virtual_queue_bytes", self.backlog);
    }
}

const NS2: &str = "ns-2.35";

const GAMMA: TypedParam<f64> = TypedParam::ratio("gamma", 0.98).within(0.01, 1.0).about("wanted utilization").from_source(NS2);
const ALPHA: TypedParam<f64> =
    TypedParam::number("alpha", 0.15).within(1e-6, 1e3).about("speed of adaptation, per second").from_source(NS2);
const BUFLIM: TypedParam<f64> =
    TypedParam::number("buflim", 1.0).within(0.001, 100.0).about("virtual buffer as a share of the real one").from_source(NS2);
const ECNLIM: TypedParam<f64> = TypedParam::ratio("ecnlim", 0.8)
    .within(0.01, 1.0)
    .about("virtual capacity at the first packet, as a share of the link's")
    .from_source(NS2);

impl Algorithm for Avq {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "avq",
            aliases: &[],
            title: "AVQ",
            summary: "Signals when a virtual queue overflows, whose capacity adapts to a wanted utilization",
            params: &[GAMMA.param, ALPHA.param, BUFLIM.param, ECNLIM.param],
            source: "Kunniyur and Srikant 2001; ns-2.35",
        },
        Family::VirtualQueue,
        "overflow of a virtual queue, on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let rate = link.needed_rate("avq")?;
        let in_packets = link.limit.packets.get().saturating_mul(link.mtu.get());
        let held = link.limit.bytes.min(Bytes::new(in_packets));
        if held == Bytes::MAX {
            return Err(ParamError::new("limit", ParamFault::NeedsLimit("avq")));
        }
        let wire_mtu = (link.mtu + link.overhead).get() as f64;
        let held = held.get() as f64 * (wire_mtu / link.mtu.get().max(1) as f64);
        let params = AvqParams {
            gamma: GAMMA.read(given),
            alpha: ALPHA.read(given),
            ecnlim: ECNLIM.read(given),
            buffer: held * BUFLIM.read(given),
        };
        if params.buffer < wire_mtu {
            let (value, least) = (Size::Bytes(params.buffer).into(), Size::Bytes(wire_mtu).into());
            return Err(BUFLIM.fault(ParamFault::TooSmall { value, why: "cannot hold one packet", least }));
        }
        let most = params.ecnlim * rate.as_bytes_s_f64() / wire_mtu;
        if params.alpha > most && !rate.is_zero() {
            let why = "is so fast that one packet takes the whole virtual capacity at this rate";
            return Err(ALPHA.fault(ParamFault::TooLarge { value: params.alpha.into(), why, most: most.into() }));
        }
        Ok(Self::new(params, rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Value;
    use goodqueue_base::units::{Duration, Ecn, Packets, Rng};

    const EMPTY: QueueView = QueueView { backlog: Bytes::ZERO, packets: Packets::ZERO };

    /// One megabyte per second, ten packets of 1000 bytes.
    fn avq() -> Avq {
        Avq::new(AvqParams { gamma: 0.98, alpha: 0.15, ecnlim: 0.8, buffer: 10_000.0 }, Rate::mbit(8))
    }

    fn arrive(avq: &mut Avq, now: Instant, ecn: Ecn) -> Verdict {
        let packet = PacketView { len: Bytes::new(1000), ecn, flow: crate::aqm::FlowHash(1), enqueued_at: now };
        avq.on_arrival(&mut Env { now, link_rate: None, overhead: Bytes::ZERO, rng: &mut Rng::new(1) }, packet, EMPTY)
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found} is not {expected}");
    }

    #[test]
    fn the_first_packet_starts_from_four_fifths_of_the_link() {
        let (mut avq, now) = (avq(), Instant::from_nanos(5_000_000_000));
        assert_eq!(arrive(&mut avq, now, Ecn::NotEct), Verdict::Pass);
        near(avq.virtual_capacity(), 800_000.0 - 150.0);
        near(avq.backlog, 1000.0);
    }

    #[test]
    fn arrivals_at_gamma_keep_the_virtual_capacity() {
        let (mut avq, mut now) = (avq(), Instant::from_nanos(1));
        let _ = arrive(&mut avq, now, Ecn::NotEct);
        let before = avq.virtual_capacity();
        for _ in 0..1000 {
            now += Duration::from_secs_f64(1000.0 / 980_000.0);
            avq.backlog = 0.0;
            let _ = arrive(&mut avq, now, Ecn::NotEct);
        }
        assert!((avq.virtual_capacity() - before).abs() < 0.1, "{}", avq.virtual_capacity());
    }

    #[test]
    fn a_long_silence_leaves_the_links_capacity() {
        let (mut avq, now) = (avq(), Instant::from_nanos(1));
        let _ = arrive(&mut avq, now, Ecn::NotEct);
        let _ = arrive(&mut avq, now + Duration::secs(1000), Ecn::NotEct);
        near(avq.virtual_capacity(), 1e6 - 150.0);
    }

    #[test]
    fn marked_packets_count_as_arrivals_and_dropped_ones_do_not() {
        for (ecn, counts) in [(Ecn::NotEct, false), (Ecn::Ect0, true)] {
            let (mut avq, now) = (avq(), Instant::from_nanos(1));
            (0..10).for_each(|_| assert_eq!(arrive(&mut avq, now, ecn), Verdict::Pass));
            let before = avq.virtual_capacity();
            let later = now + Duration::ns(1);
            assert_eq!(arrive(&mut avq, later, ecn), Verdict::Signal(Reason::Early));
            assert_eq!(avq.virtual_capacity() < before, counts);
            assert_eq!(avq.grown_at, if counts { later } else { now });
        }
    }

    #[test]
    fn the_virtual_capacity_keeps_its_share_of_a_new_rate() {
        let (mut avq, now) = (avq(), Instant::from_nanos(1));
        let _ = arrive(&mut avq, now, Ecn::NotEct);
        let mut rng = Rng::new(1);
        let mut change = |avq: &mut Avq, now, link_rate| {
            avq.on_rate_change(&mut Env { now, link_rate, overhead: Bytes::ZERO, rng: &mut rng });
        };
        change(&mut avq, now, Some(Rate::mbit(80)));
        near(avq.virtual_capacity(), 8_000_000.0 - 1500.0);
        change(&mut avq, now, Some(Rate::ZERO));
        let waiting = avq.backlog;
        let _ = arrive(&mut avq, now + Duration::secs(9), Ecn::NotEct);
        near(avq.backlog, waiting + 1000.0);
        change(&mut avq, now + Duration::secs(9), None);
        change(&mut avq, now + Duration::secs(9), Some(Rate::mbit(8)));
        near(avq.virtual_capacity(), 800_000.0 - 150.0);
    }

    #[test]
    fn settings_that_do_not_go_with_the_link_are_refused() {
        let link = LinkFacts {
            rate: Some(Rate::mbit(8)),
            delay: Duration::ZERO,
            mtu: Bytes::new(1500),
            overhead: Bytes::ZERO,
            limit: crate::Limit::packets(10),
        };
        let param = |values: &[(&'static str, Value)], link: &LinkFacts| {
            Avq::build(&ParamValues::new(&Avq::KINDS[0], values).unwrap(), link).unwrap_err().param
        };
        assert_eq!(param(&[], &LinkFacts { rate: None, ..link }), "kind");
        assert_eq!(param(&[], &LinkFacts { limit: crate::Limit::NONE, ..link }), "limit");
        assert_eq!(param(&[("buflim", Value::Number(0.05))], &link), "buflim");
        assert_eq!(param(&[("alpha", Value::Number(600.0))], &link), "alpha");
        assert_eq!(param(&[], &LinkFacts { rate: Some(Rate::bit_s(2000)), ..link }), "alpha");
    }
}
