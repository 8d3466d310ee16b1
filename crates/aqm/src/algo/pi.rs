//! PI: a proportional-integral controller that holds the queue at a reference length.
//!
//! *Signal*: the queue length, sampled `w` times per second; acts on arrival.
//!
//! *Law*: each sample does `p += a (q - q_ref) - b (q_old - q_ref)`, kept within 0 and 1; an
//! arriving packet is signaled with probability `p`. With a link capacity of `C` packets per
//! second, at least `flows` (N) TCP flows and round trips of at most `rtt` (R), the gains follow
//! from a linear model of TCP. Its slow pole is `z = 2 N / (R^2 C)`; the zero of the controller
//! cancels it, and the loop gain is one at `omega = z`, or at `crossover / R`:
//! `K = omega sqrt(1 + (omega R)^2) (2 N)^2 / (R C)^3`, `a = K (1 / z + 1 / (2 w))`,
//! `b = K (1 / z - 1 / (2 w))`.
//!
//! *Parameters*: see `KINDS`. The defaults are those of ns-2. Instead of `a` and `b`, `flows` and
//! `rtt` can be given, with `crossover` in radians per round trip. `queue_in_bytes` measures the
//! queue in units of `mean_pktsize`, `bytes` scales `p` by packet size.
//!
//! *Deviations*: gains given as numbers stay when the rate of the link changes; gains from `flows`
//! and `rtt` are recomputed, while `p` and the last sample stay. Where `z` is above 0.5 / R the
//! automatic crossover is 0.5 / R, which leaves a phase margin of 34 degrees (our choice: beyond
//! 0.86 there is none). `mean_pktsize` is ns-2's 500 bytes with given gains, and one MTU with
//! `flows`, as the gains depend on the fourth power of C. While `p` is zero and nothing waits there
//! are no samples, as they would change nothing.
//!
//! *Limits*: controls the queue length, so a change of rate changes the delay. With an empty queue
//! `p` falls by `(a - b) q_ref` per sample, which is slow by design: 0.0005 per second with the
//! defaults.
//!
//! *Source*: Hollot, Misra, Towsley and Gong 2001; ns-2.35 for defaults.

mod design;

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamFault, ParamValues, Size, TypedParam};
use crate::tick::Tick;
pub use design::{Gains, PiDesign};
use goodqueue_base::settings;
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};

/// The source of the gains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tuning {
    /// Given numbers, independent of the link.
    Fixed(Gains),
    /// Computed from the load for the present rate of the link.
    Designed(PiDesign),
}

settings! {
    /// Settings of PI; by default those of ns-2, for packets of at most 1500 bytes.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PiParams {
        /// Queue length to settle at.
        pub q_ref: Size => Q_REF,
        /// Samples per second.
        pub w: f64 => W,
        /// Source of the gains, which are per packet.
        pub tuning: Tuning = Tuning::Fixed(Gains::NS2),
        /// Whether the probability scales with packet size.
        pub bytes: bool => BYTES,
        /// Whether the queue is measured in units of `mean_pktsize` instead of packets.
        pub queue_in_bytes: bool => QUEUE_IN_BYTES,
        /// Packet size used by the byte modes and the design.
        pub mean_pktsize: Bytes = Bytes::new(500),
        /// Largest packet without framing.
        pub mtu: Bytes = Bytes::new(1500),
        /// Framing bytes per packet.
        pub overhead: Bytes = Bytes::ZERO,
    }
}

/// State of PI, one per queue.
#[derive(Clone, Debug)]
pub struct Pi {
    params: PiParams,
    gains: Gains,
    /// Reference in packets, or in units of the mean size.
    q_ref: f64,
    q_old: f64,
    p: f64,
    /// `1 / mean_pktsize`.
    per_mean_size: f64,
    tick: Tick,
}

impl Pi {
    /// Creates a PI with these settings on a link of rate `rate`, before its first packet.
    #[must_use]
    pub fn new(params: PiParams, rate: Option<Rate>) -> Self {
        let mut this = Self {
            params,
            gains: Gains::NS2,
            q_ref: Q_REF_PACKETS,
            q_old: 0.0,
            p: 0.0,
            per_mean_size: 1.0 / params.mean_pktsize.get().max(1) as f64,
            tick: Tick::new(Duration::from_secs_f64(1.0 / params.w)),
        };
        this.adopt(rate);
        this
    }

    /// Recomputes everything that depends on the rate of the link. Settings that need a rate keep
    /// their values while there is none.
    fn adopt(&mut self, rate: Option<Rate>) {
        let rate = rate.filter(|rate| !rate.is_zero());
        let PiParams { q_ref, mtu, mean_pktsize, overhead, w, .. } = self.params;
        if let Some(packets) = q_ref.packets(mtu, rate) {
            self.q_ref = match self.params.queue_in_bytes {
                true => packets * mtu.get() as f64 * self.per_mean_size,
                false => packets,
            };
        }
        self.gains = match (self.params.tuning, rate) {
            (Tuning::Fixed(gains), _) => gains,
            (Tuning::Designed(design), Some(rate)) => {
                design.gains(rate.as_bytes_s_f64() / (mean_pktsize + overhead).get().max(1) as f64, w)
            }
            (Tuning::Designed(_), None) => self.gains,
        };
    }

    fn length(&self, queue: QueueView) -> f64 {
        if self.params.queue_in_bytes { queue.backlog.get() as f64 * self.per_mean_size } else { queue.packets.get() as f64 }
    }
}

impl Aqm for Pi {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, _: QueueView) -> Verdict {
        self.tick.start(env.now, env.rng);
        let scale = if self.params.bytes { packet.len.get() as f64 * self.per_mean_size } else { 1.0 };
        if env.rng.fires(self.p * scale) { Verdict::Signal(Reason::Early) } else { Verdict::Pass }
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.adopt(env.link_rate);
    }

    #[inline]
    fn next_update(&self) -> Option<Instant> {
        self.tick.due()
    }

    fn on_update(&mut self, env: &mut Env<'_>, _: Option<PacketView>, queue: QueueView) {
        // A late sample counts as one sample: past queue lengths are unknown.
        if self.tick.take(env.now) == 0 {
            return;
        }
        let q = self.length(queue);
        let p = self.p + self.gains.a * (q - self.q_ref) - self.gains.b * (self.q_old - self.q_ref);
        self.p = p.clamp(0.0, 1.0);
        self.q_old = q;
        if self.p == 0.0 && q == 0.0 {
            self.tick.stop();
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("probability", self.p);
        visit("a", self.gains.a);
    }
}

impl PiParams {
    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        // Rejects a reference given as a time on a link of unknown rate.
        given.bytes(Q_REF.name(), link.mtu, link.rate)?;
        let tuning = tuning(given, link)?;
        let mean_pktsize = MEAN_PKTSIZE.bytes(given, link.mtu, link.rate)?.unwrap_or(match tuning {
            Tuning::Fixed(_) => Self::default().mean_pktsize,
            Tuning::Designed(_) => link.mtu,
        });
        Ok(Self { tuning, mean_pktsize, mtu: link.mtu, overhead: link.overhead, ..Self::read(given) })
    }
}

/// Reads either `a` and `b`, or `flows` and `rtt`, or falls back to the gains of ns-2.
fn tuning(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Tuning, ParamError> {
    let needs = |param, others| Err(ParamError::new(param, ParamFault::Needs(others)));
    let contradicts = |param| Err(ParamError::new(param, ParamFault::Contradicts("flows, rtt and crossover")));
    let (a, b) = (A.read(given), B.read(given));
    let (flows, rtt, crossover) = (FLOWS.read(given), RTT.read(given), CROSSOVER.read(given));
    match (a, b, flows, rtt) {
        (None, None, None, None) if crossover.is_some() => needs(CROSSOVER.name(), "flows and rtt"),
        (None, None, None, None) => Ok(Tuning::Fixed(Gains::NS2)),
        (Some(a), Some(b), None, None) if crossover.is_none() => {
            B.at_most(b, &A, a)?;
            Ok(Tuning::Fixed(Gains { a, b }))
        }
        (None, None, Some(flows), Some(rtt)) => match link.rate {
            None => Err(FLOWS.fault(ParamFault::UnknownRate("give a and b"))),
            Some(_) => Ok(Tuning::Designed(PiDesign { flows, rtt, crossover })),
        },
        (Some(_), None, None, None) => needs(A.name(), "b"),
        (None, Some(_), None, None) => needs(B.name(), "a"),
        (None, None, Some(_), None) => needs(FLOWS.name(), "rtt"),
        (None, None, None, Some(_)) => needs(RTT.name(), "flows"),
        (Some(_), ..) => contradicts(A.name()),
        (None, Some(_), ..) => contradicts(B.name()),
    }
}

const NS2: &str = "ns-2.35";
const HOLLOT: &str = "Hollot et al. 2001";

const fn automatic(name: &'static str, rule: &'static str, range: (f64, f64), doc: &'static str) -> TypedParam<Option<f64>> {
    TypedParam::auto(name, rule).within(range.0, range.1).about(doc).from_source(HOLLOT)
}

const fn switch(name: &'static str, doc: &'static str) -> TypedParam<bool> {
    TypedParam::off(name).about(doc).from_source(NS2)
}

const Q_REF_PACKETS: f64 = 50.0;
const Q_REF: TypedParam<Size> = TypedParam::size("q_ref", Size::Packets(Q_REF_PACKETS))
    .within(0.0, 1e12)
    .about("length to settle at")
    .from_source(NS2)
    .as_threshold();
const W: TypedParam<f64> = TypedParam::number("w", 170.0).within(0.1, 1e5).about("samples per second").from_source(NS2);
const A: TypedParam<Option<f64>> =
    automatic("a", "1.822e-5, or from flows and rtt", (1e-15, 10.0), "gain on the present length, per packet");
const B: TypedParam<Option<f64>> =
    automatic("b", "1.816e-5, or from flows and rtt", (0.0, 10.0), "gain on the last length, per packet, at most a");
const FLOWS: TypedParam<Option<f64>> =
    automatic("flows", "none: a and b hold", (0.1, 1e7), "least number of TCP flows, to work out the gains");
const RTT: TypedParam<Option<Duration>> = TypedParam::auto("rtt", "none: a and b hold")
    .within(1e-6, 100.0)
    .about("longest round trip, to work out the gains")
    .from_source(HOLLOT);
const CROSSOVER: TypedParam<Option<f64>> =
    automatic("crossover", "that of TCP's slow pole, at most 0.5", (1e-6, 0.85), "speed of the loop, in radians a round trip");
const BYTES: TypedParam<bool> = switch("bytes", "scale the probability by packet size");
const QUEUE_IN_BYTES: TypedParam<bool> = switch("queue_in_bytes", "measure the queue in packets of mean_pktsize");
const MEAN_PKTSIZE: TypedParam<Option<Size>> = TypedParam::auto("mean_pktsize", "500 B; one MTU where flows is given")
    .within(1.0, 65536.0)
    .about("size of the packets that byte modes and gains from flows are about")
    .from_source(NS2);

impl Algorithm for Pi {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "pi",
            aliases: &[],
            title: "PI",
            summary: "A proportional-integral controller of the queue's length",
            params: &[
                Q_REF.param,
                W.param,
                A.param,
                B.param,
                FLOWS.param,
                RTT.param,
                CROSSOVER.param,
                BYTES.param,
                QUEUE_IN_BYTES.param,
                MEAN_PKTSIZE.param,
            ],
            source: "Hollot, Misra, Towsley and Gong 2001; ns-2.35",
        },
        Family::Pi,
        "queue length, sampled; on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        Ok(Self::new(PiParams::build(given, link)?, link.rate))
    }
}

#[cfg(test)]
mod tests;
