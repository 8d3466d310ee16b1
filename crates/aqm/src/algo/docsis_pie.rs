//! DOCSIS-PIE: the PIE of cable modems, based on the delay that the modem's own rate shaper
//! predicts.
//!
//! *Signal*: the queueing delay, computed from the backlog and the tokens of the shaper every
//! `interval`; acts on arrival.
//!
//! *Law*: `delay = backlog / peak` while tokens cover the backlog; otherwise the tokens leave at
//! the peak rate and the rest at the sustained rate. `p += scale(p) * (alpha * (delay - target) +
//! beta * (delay - last delay))`, where `scale` doubles stepwise from 1/2048 below 1e-6 to 32 from
//! 10 on; steps up are capped at 0.02 from `p >= 0.1`; `p *= 0.98` while both delays are below half
//! the target; `p += 0.02` above 200 ms; `p` is at most 13.6. A packet of `len` bytes is dropped
//! with probability `p * len / 1024`, at most 0.85, but never before these probabilities add up to
//! 0.85 since the last drop, and always once they add up to 8.5. Nothing is dropped until a third
//! of the buffer has filled once; the first drop after that holds `p` at zero for `max_burst`, and
//! one second of quiet returns to the initial state.
//!
//! *Parameters*: see `KINDS`. The defaults are those of RFC 8034 §4.1 and appendix A;
//! `sustained_rate` and `peak_rate` are by default the rate of the link.
//!
//! *Deviations*: bytes include the framing of the link where they are divided by a rate. Tokens are
//! those of a bucket of `burst` bytes that fills at the sustained rate and that departures empty,
//! as the modem's own bucket is not visible here. While the rate is zero or unknown, the delay and
//! `p` keep their values. Updates have a random phase, drawn at the first arrival, and an empty
//! queue at rest schedules none. A limit in packets is a third full when a third of those packets
//! wait.
//!
//! *Limits*: drops only (RFC 8034 §4.5: no ECN). Nothing is dropped while 2048 bytes or less wait.
//!
//! *Source*: RFC 8034 §4 and appendix A; RFC 8033.

use super::{Algorithm, pie};
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::queue::Limit;
use crate::spec::{Family, Kind, KindSpec, LinkFacts, Marking, ParamError, ParamFault, ParamValues, TypedParam};
use crate::tick::Tick;
use goodqueue_base::settings;
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};

const MEAN_PACKET: f64 = 1024.0;
const SPARED: Bytes = Bytes::new(2048);
const PROB_LOW: f64 = 0.85;
const PROB_HIGH: f64 = 8.5;
/// Factor that gives the smallest packet, of 64 bytes, a probability of 0.85.
const MAX: f64 = PROB_LOW * MEAN_PACKET / 64.0;
const LATENCY_LOW: Duration = Duration::ms(5);
const LATENCY_HIGH: Duration = Duration::ms(200);
const BURST_RESET: Duration = Duration::secs(1);

settings! {
    /// Settings of DOCSIS-PIE; by default those of RFC 8034 appendix A, at the rate of the link and
    /// without a limit (and therefore never active).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DocsisPieParams {
        /// Delay to settle at.
        pub target: Duration => TARGET,
        /// Time between updates.
        pub interval: Duration => INTERVAL,
        /// Time for which the first drop holds the probability at zero.
        pub max_burst: Duration => MAX_BURST,
        /// Gain on the distance to `target`, in 1/s.
        pub alpha: f64 => ALPHA,
        /// Gain on the change of the delay, in 1/s.
        pub beta: f64 => BETA,
        /// Rate at which the shaper earns tokens; `None`: the rate of the link.
        pub sustained_rate: Option<Rate> => SUSTAINED_RATE,
        /// Rate at which tokens are used up; `None`: the rate of the link.
        pub peak_rate: Option<Rate> => PEAK_RATE,
        /// Largest number of tokens.
        pub burst: Bytes => BURST = BURST.default,
        /// Limit of the queue; a third of it ends the rest state.
        pub limit: Limit = Limit::NONE,
    }
}

/// Phase of a busy period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Less than a third of the buffer has been in use.
    Inactive,
    /// Drops are enabled; none has happened yet.
    Quiescent,
    /// Dropping.
    Active,
}

/// State of DOCSIS-PIE, one per queue.
#[derive(Clone, Debug)]
pub struct DocsisPie {
    params: DocsisPieParams,
    state: State,
    p: f64,
    accu: f64,
    qdelay: Duration,
    burst_allowance: Duration,
    quiet_for: Duration,
    /// Bytes that the shaper would release at the peak rate, as of `filled_at`.
    tokens: f64,
    filled_at: Instant,
    /// Times of the updates, which stop while they would change nothing before the next arrival.
    tick: Tick,
}

impl DocsisPie {
    /// Creates a DOCSIS-PIE with these settings and a full bucket, before its first packet.
    #[must_use]
    pub fn new(params: DocsisPieParams) -> Self {
        Self {
            params,
            state: State::Inactive,
            p: 0.0,
            accu: 0.0,
            qdelay: Duration::ZERO,
            burst_allowance: Duration::ZERO,
            quiet_for: Duration::ZERO,
            tokens: params.burst.get() as f64,
            filled_at: Instant::ZERO,
            tick: Tick::new(params.interval),
        }
    }

    fn fills_a_third(&self, queue: QueueView) -> bool {
        queue.backlog.get().saturating_mul(3) >= self.params.limit.bytes.get()
            || queue.packets.get().saturating_mul(3) >= self.params.limit.packets.get()
    }

    /// Whether `delay` is below half the target.
    fn is_calm(&self, delay: Duration) -> bool {
        delay < self.params.target.div(2)
    }

    /// Adds the tokens earned until `now`.
    fn fill(&mut self, now: Instant, rate: Option<Rate>) {
        if !self.params.burst.is_zero()
            && let Some(rate) = self.params.sustained_rate.or(rate)
        {
            let come = rate.as_bit_s() as f64 / 8.0 * now.since(self.filled_at).as_secs_f64();
            let most = self.params.burst.get() as f64;
            self.tokens = if self.tokens + come < most { self.tokens + come } else { most };
        }
        self.filled_at = now;
    }

    /// Delay that the shaper predicts; `None` while a rate is zero or unknown.
    fn measure(&mut self, env: &Env<'_>, queue: QueueView) -> Option<Duration> {
        self.fill(env.now, env.link_rate);
        let bytes_a_second = |rate: Option<Rate>| rate.filter(|rate| !rate.is_zero()).map(|rate| rate.as_bit_s() as f64 / 8.0);
        let sustained = bytes_a_second(self.params.sustained_rate.or(env.link_rate))?;
        let peak = bytes_a_second(self.params.peak_rate.or(env.link_rate)).unwrap_or(sustained);
        let backlog = queue.backlog.get() as f64 + queue.packets.get() as f64 * env.overhead.get() as f64;
        let covered = if backlog < self.tokens { backlog } else { self.tokens };
        Some(Duration::from_secs_f64(covered / peak + (backlog - covered) / sustained))
    }

    /// Probability after an update from delay `old` to delay `new`.
    fn stepped(&self, old: Duration, new: Duration) -> f64 {
        let (from, to) = (old.as_secs_f64(), new.as_secs_f64());
        let raw = self.params.alpha * (to - self.params.target.as_secs_f64()) + self.params.beta * (to - from);
        let step = raw * auto_tune(self.p);
        let mut p = self.p + if self.p >= 0.1 && step > 0.02 { 0.02 } else { step };
        if old < LATENCY_LOW && new < LATENCY_LOW {
            p *= 0.98;
        } else if new > LATENCY_HIGH {
            p += 0.02;
        }
        p.clamp(0.0, MAX)
    }

    /// Moves between the phases. `is_quiet` holds for this update and the last.
    fn note_quiet(&mut self, is_quiet: bool) {
        match (self.state, is_quiet) {
            (State::Active, true) => {
                self.state = State::Quiescent;
                self.quiet_for = Duration::ZERO;
            }
            (State::Quiescent, true) => {
                self.quiet_for += self.params.interval;
                if self.quiet_for > BURST_RESET {
                    self.quiet_for = Duration::ZERO;
                    self.state = State::Inactive;
                }
            }
            (State::Quiescent, false) => self.quiet_for = Duration::ZERO,
            _ => {}
        }
    }
}

/// Scale of an update at probability `p` (RFC 8034 §4.2; the auto-tuning continues above 1).
fn auto_tune(p: f64) -> f64 {
    match p {
        p if p < 0.1 => pie::auto_tune(p),
        p if p < 1.0 => 2.0,
        p if p < 10.0 => 8.0,
        _ => 32.0,
    }
}

impl Aqm for DocsisPie {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        self.tick.start(env.now, env.rng);
        if !self.burst_allowance.is_zero() {
            return Verdict::Pass;
        }
        if self.p == 0.0 {
            self.accu = 0.0;
        }
        if self.state == State::Inactive {
            if !self.fills_a_third(queue) {
                return Verdict::Pass;
            }
            self.state = State::Quiescent;
        }
        let by_size = self.p * packet.len.get() as f64 / MEAN_PACKET;
        let p = if by_size < PROB_LOW { by_size } else { PROB_LOW };
        self.accu += p;
        if (self.is_calm(self.qdelay) && self.p < 0.2) || queue.backlog <= SPARED || self.accu < PROB_LOW {
            return Verdict::Pass;
        }
        if self.accu < PROB_HIGH && !env.rng.fires(p) {
            return Verdict::Pass;
        }
        self.accu = 0.0;
        if self.state == State::Quiescent {
            self.state = State::Active;
            self.burst_allowance = self.params.max_burst;
        }
        Verdict::Drop(Reason::Early)
    }

    fn on_overflow(&mut self, _: &mut Env<'_>, _: PacketView, _: QueueView) {
        self.accu = 0.0;
    }

    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, _: QueueView) -> Verdict {
        if !self.params.burst.is_zero() {
            self.fill(env.now, env.link_rate);
            let left = self.tokens - (head.len + env.overhead).get() as f64;
            self.tokens = if left > 0.0 { left } else { 0.0 };
        }
        Verdict::Pass
    }

    #[inline]
    fn next_update(&self) -> Option<Instant> {
        self.tick.due()
    }

    fn on_update(&mut self, env: &mut Env<'_>, head: Option<PacketView>, queue: QueueView) {
        if self.tick.take(env.now) == 0 {
            return;
        }
        let old = self.qdelay;
        let Some(new) = self.measure(env, queue) else { return };
        self.p = if self.burst_allowance.is_zero() { self.stepped(old, new) } else { 0.0 };
        self.burst_allowance = self.burst_allowance.saturating_sub(self.params.interval);
        let is_calm = self.is_calm(old) && self.is_calm(new);
        self.note_quiet(is_calm && self.p == 0.0 && self.burst_allowance.is_zero());
        self.qdelay = new;
        let is_at_rest = self.state == State::Inactive && self.p == 0.0 && self.burst_allowance.is_zero();
        if is_at_rest && new.is_zero() && head.is_none() {
            self.tick.stop();
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("probability", self.p);
        visit("queue_delay_s", self.qdelay.as_secs_f64());
        visit("state", f64::from(self.state as u8));
    }
}

const RFC: &str = "RFC 8034 appendix A";

const fn span(name: &'static str, default: Duration, doc: &'static str) -> TypedParam<Duration> {
    TypedParam::duration(name, default).within(1e-6, 100.0).about(doc).from_source(RFC)
}

const fn gain(name: &'static str, default: f64, doc: &'static str) -> TypedParam<f64> {
    TypedParam::number(name, default).within(0.0, 1e6).about(doc).from_source(RFC)
}

const fn rate(name: &'static str, doc: &'static str) -> TypedParam<Option<Rate>> {
    TypedParam::auto(name, "the link's rate").within(1.0, 1e13).about(doc).from_source("RFC 8034 §4.1")
}

const TARGET: TypedParam<Duration> = span("target", Duration::ms(10), "delay to settle at");
const INTERVAL: TypedParam<Duration> = span("interval", Duration::ms(16), "time between updates of the probability");
const MAX_BURST: TypedParam<Duration> =
    span("max_burst", Duration::ms(142), "how long the first drop holds the probability at zero");
const ALPHA: TypedParam<f64> = gain("alpha", 0.25, "gain on the distance to the target, in 1/s");
const BETA: TypedParam<f64> = gain("beta", 2.5, "gain on the change of the delay, in 1/s");
const SUSTAINED_RATE: TypedParam<Option<Rate>> = rate("sustained_rate", "rate at which the shaper's tokens come");
const PEAK_RATE: TypedParam<Option<Rate>> = rate("peak_rate", "rate at which tokens are used up");
const BURST: TypedParam<Bytes> = TypedParam::size_in_bytes("burst", Bytes::ZERO)
    .within(0.0, 1e9)
    .about("most tokens of the shaper")
    .from_source("RFC 8034 §4.1");

impl Algorithm for DocsisPie {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "docsis-pie",
            aliases: &[],
            title: "DOCSIS-PIE",
            summary: "PIE of cable modems: the delay is predicted from the rate shaper, and bursts are let through before the first drop",
            params: &DocsisPieParams::PARAMS,
            source: "RFC 8034",
        },
        Family::Pi,
        "queueing delay predicted from backlog and rate, on arrival",
    )
    .marking(Marking::Never)];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let burst = BURST.bytes(given, link.mtu, link.rate)?;
        let params = DocsisPieParams { burst, limit: link.limit, ..DocsisPieParams::read(given) };
        let sustained = params.sustained_rate.or(link.rate);
        let Some(sustained) = sustained else {
            return Err(SUSTAINED_RATE.fault(ParamFault::UnknownRate("write for instance \"10 Mbit/s\"")));
        };
        if let Some(peak) = params.peak_rate {
            PEAK_RATE.at_least(peak, &SUSTAINED_RATE, sustained)?;
        }
        Ok(Self::new(params))
    }
}

#[cfg(test)]
mod tests;
