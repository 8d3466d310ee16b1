//! PIE in the arithmetic of Linux: integers, ticks of 64 ns, and a law that differs from RFC 8033
//! in a few places.
//!
//! A probability is a 56-bit number in which `2^56 - 1` stands for 1; it may exceed that. The delay
//! is the sojourn time of the latest departure (zero if that left the queue empty) and keeps its
//! value between departures. At each update:
//!
//! 1. `p += alpha (delay - target) + beta (delay - last delay)`, both gains scaled down while `p`
//!    is small: by 2 below 0.1, then by 4 for each further factor of 10 down to 10^-6. At
//!    `p >= 0.1` a step up is at most 0.02; 0.02 is added when the delay exceeds 250 ms.
//! 2. `p -= p / 64` when both delays are zero, unless something waits.
//! 3. With `p` at zero and both delays below half the target, the burst allowance is reset to
//!    150 ms. Departures use it up by the time between them; updates do not.
//!
//! Each packet that may be signaled adds `p` to a sum. Below 0.85 nothing happens; from 8.5 on the
//! packet is signaled; in between a 56-bit random number decides. A random signal clears the sum,
//! and so does a drop; a forced mark does not. ECN-capable packets are marked up to `p = 0.1`.
//!
//! The packet in transmission counts in the backlog until the link asks for the next one, as it
//! does under the shapers of Linux, which take a packet out of the discipline but leave it in its
//! counters. The timer of Linux runs in jiffies and starts with the discipline; here updates are at
//! the multiples of `t_update` on the clock of the host.

use super::params::{ALPHA, BETA, T_UPDATE, TARGET};
use crate::aqm::{Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{LINUX, linux_has_only};
use crate::spec::{LinkFacts, ParamError, ParamFault, ParamValues, TypedParam};
use goodqueue_base::units::{Bytes, Duration, Instant};

/// Binary logarithm of the nanoseconds in a tick.
const TICK: u32 = 6;
const TICKS_A_SECOND: u64 = 1_000_000_000 >> TICK;
const ONE: u64 = u64::MAX >> 8;
/// Largest gain that the settings of Linux can represent.
const MAX_SIXTEENTHS: u32 = 32;
const BURST: u64 = ticks(Duration::ms(150));
const LONG_DELAY: u64 = ticks(Duration::ms(250));

const fn ticks(span: Duration) -> u64 {
    span.as_nanos() >> TICK
}

/// Converts a gain in sixteenths of 1/s for delays in ticks.
const fn gain(sixteenths: u32) -> u64 {
    (sixteenths as u64 * (ONE / TICKS_A_SECOND)) >> 4
}

/// Settings of PIE in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxPieParams {
    /// Delay to settle at.
    pub target: Duration,
    /// Time between updates.
    pub t_update: Duration,
    /// Gain on the distance to `target`, in sixteenths of 1/s.
    pub alpha: u32,
    /// Gain on the change of the delay, in sixteenths of 1/s.
    pub beta: u32,
    /// Nothing is signaled while less than two packets of this size wait.
    pub mtu: Bytes,
}

const HAS: [&str; 4] = [TARGET.name(), T_UPDATE.name(), ALPHA.name(), BETA.name()];

impl LinuxPieParams {
    /// Reads the settings from the parameters, among which may also be `others`.
    ///
    /// # Errors
    /// When a parameter is given that Linux does not have, or a gain that is not a whole number of
    /// sixteenths.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts, others: &[&'static str]) -> Result<Self, ParamError> {
        linux_has_only(given, &[&HAS, others].concat())?;
        let sixteenths = |param: &TypedParam<f64>| {
            let number = param.read(given);
            let whole = (number * 16.0) as u32;
            if f64::from(whole) == number * 16.0 && whole <= MAX_SIXTEENTHS {
                return Ok(whole);
            }
            let allowed = "sixteenths from 0 to 2";
            Err(param.fault(ParamFault::Conflict { value: number.into(), with: &LINUX, allowed }))
        };
        Ok(Self {
            target: TARGET.read(given),
            t_update: T_UPDATE.read(given),
            alpha: sixteenths(&ALPHA)?,
            beta: sixteenths(&BETA)?,
            mtu: link.mtu,
        })
    }
}

/// State of PIE in Linux, one per queue. Times are in ticks.
#[derive(Clone, Debug)]
pub struct LinuxPie {
    params: LinuxPieParams,
    target: u64,
    p: u64,
    accu: u64,
    delay: u64,
    last_delay: u64,
    burst: u64,
    /// Time of the latest departure since the burst allowance was renewed.
    departed_at: Option<u64>,
    /// Size of the packet in transmission.
    sending: Bytes,
    /// Whether the packet in transmission counts in the backlog: it does for a queue, but not for
    /// one flow of a fair queue.
    counts_sending: bool,
    tick: Instant,
}

impl LinuxPie {
    /// Creates a PIE with these settings, before its first packet.
    #[must_use]
    pub const fn new(params: LinuxPieParams) -> Self {
        Self {
            target: ticks(params.target),
            params,
            p: 0,
            accu: 0,
            delay: 0,
            last_delay: 0,
            burst: BURST,
            departed_at: None,
            sending: Bytes::ZERO,
            counts_sending: true,
            tick: Instant::MAX,
        }
    }

    /// Creates the PIE of one flow in a fair queue.
    #[must_use]
    pub const fn of_flow(params: LinuxPieParams) -> Self {
        Self { counts_sending: false, ..Self::new(params) }
    }

    /// Probability of a signal.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.p as f64 / ONE as f64
    }

    /// Delay as last measured.
    #[must_use]
    pub const fn delay(&self) -> Duration {
        Duration::ns(self.delay << TICK)
    }

    fn is_lenient(&self, backlog: Bytes) -> bool {
        let calm = self.delay < self.target / 2 && self.p < ONE / 5;
        self.burst > 0 || calm || backlog + self.sending < self.params.mtu + self.params.mtu
    }

    /// Whether the random draw, or the spacing of signals, selects this packet.
    fn picks(&mut self, env: &mut Env<'_>) -> bool {
        self.accu = if self.p == 0 { 0 } else { self.accu.wrapping_add(self.p) };
        if self.accu < ONE / 100 * 85 {
            return false;
        }
        if self.accu >= ONE / 2 * 17 {
            return true;
        }
        let picked = env.rng.next_u64() >> 8 < self.p;
        if picked {
            self.accu = 0;
        }
        picked
    }

    pub(super) fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        if self.tick == Instant::MAX {
            self.tick = Instant::ZERO;
            self.advance_tick(env.now);
        }
        if self.is_lenient(queue.backlog) || !self.picks(env) {
            return Verdict::Pass;
        }
        if packet.ecn.is_capable() && self.p <= ONE / 10 {
            return Verdict::Signal(Reason::Early);
        }
        self.accu = 0;
        Verdict::Drop(Reason::Early)
    }

    pub(super) const fn on_overflow(&mut self) {
        self.accu = 0;
    }

    pub(super) fn on_departure(&mut self, now: Instant, head: PacketView, queue: QueueView) {
        let now = now.as_nanos() >> TICK;
        self.delay = if queue.backlog.is_zero() { 0 } else { now.saturating_sub(head.enqueued_at.as_nanos() >> TICK) };
        let since_last = self.departed_at.map_or(0, |last| now.saturating_sub(last));
        self.departed_at = Some(now);
        self.burst = self.burst.saturating_sub(since_last);
        if self.counts_sending {
            self.sending = head.len;
        }
    }

    pub(super) const fn on_idle(&mut self) {
        self.sending = Bytes::ZERO;
    }

    pub(super) fn next_update(&self) -> Option<Instant> {
        (self.tick != Instant::MAX).then_some(self.tick)
    }

    /// Moves `tick` to the first multiple of the period after `now`.
    fn advance_tick(&mut self, now: Instant) {
        let period = self.params.t_update.as_nanos().max(1);
        self.tick = Instant::from_nanos((now.as_nanos() / period + 1).saturating_mul(period));
    }

    pub(super) fn on_update(&mut self, now: Instant, queue: QueueView) {
        if now < self.tick {
            return;
        }
        self.advance_tick(now);
        let step = self.step();
        let mut may_decay = self.delay != 0 || (queue.backlog + self.sending).is_zero();
        if step > 0 {
            (self.p, may_decay) = match self.p.checked_add(step.unsigned_abs()) {
                Some(p) => (p, may_decay),
                None => (ONE, false),
            };
        } else {
            self.p = self.p.saturating_sub(step.unsigned_abs());
        }
        if self.delay == 0 && self.last_delay == 0 && may_decay {
            self.p -= self.p / 64;
        }
        let half = self.target / 2;
        if self.delay < half && self.last_delay < half && self.p == 0 {
            self.burst = BURST;
            self.departed_at = None;
            self.accu = 0;
        }
        self.last_delay = self.delay;
    }

    /// Change of `p` in an update.
    fn step(&self) -> i64 {
        let shift = self.scaling();
        let part = |sixteenths, reference: u64| {
            let distance = self.delay.wrapping_sub(reference) as i64;
            ((gain(sixteenths) >> shift) as i64).wrapping_mul(distance)
        };
        let step = part(self.params.alpha, self.target).wrapping_add(part(self.params.beta, self.last_delay));
        let step = if step > (ONE / 50) as i64 && self.p >= ONE / 10 { (ONE / 100 * 2) as i64 } else { step };
        if self.delay > LONG_DELAY { step.wrapping_add((ONE / 50) as i64) } else { step }
    }

    /// Number of bits by which the gains shrink while `p` is small.
    const fn scaling(&self) -> u32 {
        if self.p >= ONE / 10 {
            return 0;
        }
        let (mut shift, mut power) = (1, 100);
        while self.p < ONE / power && power <= 1_000_000 {
            shift += 2;
            power *= 10;
        }
        shift
    }
}
