//! RED and Adaptive RED: random signals by an average of the queue length.
//!
//! *Signal*: an exponentially weighted average of the queue length at arrivals; acts on arrival.
//!
//! *Law*: `avg = (1 - w_q) avg + w_q q`, decayed over idle times as if small packets had passed.
//! From `min_th` on, packets are signaled with a probability that rises to `max_p` at `max_th`,
//! and then to 1 at twice `max_th` (`gentle`) or at once. Spacing by the number of packets since
//! the last signal turns geometric gaps into even ones; with `wait`, gaps are at least
//! `1 / probability`. Adaptive RED moves `max_p` so that the average stays in the middle fifth
//! between the thresholds: every `interval` up by `min(alpha, max_p / 4)` or down by the factor
//! `beta`, within `bottom` to `top`.
//!
//! *Parameters*: see `KINDS`. The defaults are those of ns-2 (`gentle`, `wait`, automatic
//! thresholds and weight), but in packets. Let `ptc` be the rate of the link in packets of
//! `mean_pktsize` per second and `d` its delay in seconds. Automatic values are then
//! `min_th = max(5, targetdelay ptc / 2)`, `max_th = 3 min_th`,
//! `bottom = min(0.01, 80000 bit/s / rate)` and `w_q = 1 - exp(-1 / (10 rtt ptc))` with
//! `rtt = max(0.1, 3 (d + 1 / ptc))`; `auto_w_q` selects `1 - exp(-1 / ptc)` (the Adaptive RED
//! report) or `1 - exp(-10 / ptc)` instead.
//!
//! *Deviations*: ns-2 computes the automatic values once; here they follow the rate of the link,
//! while the average and `max_p` stay (`legacy_static` keeps ns-2's way). ns-2 draws the gentle
//! line from the first `max_p`; here it starts at the present one. At rate zero the automatic
//! values stay as they were, initially 5 and 15 packets and 0.002. Where the average is in bytes,
//! sizes given in packets count as one MTU each and automatic ones as `mean_pktsize`. Idle time
//! starts when the last waiting packet leaves the queue; in ns-2 and Linux it starts when the link
//! finds the queue empty, one packet time later. An overflow leaves the count since the last signal
//! unchanged; in ns-2 it resets it. In byte mode ns-2 rounds that count down to whole packets.
//! Without `use_mark_p` ns-2 drops every packet where the ramp has reached 1; here this requires
//! `harddrop`, which starts at `max_th` (RFC 3168 §7, Linux).
//!
//! With `arithmetic = linux` the kind reproduces the RED of Linux packet by packet (the law is in
//! [`linux`]): integers, no gentle line, no `wait`, and a new random number only after a signal.
//!
//! *Limits*: with `use_mark_p`, ECN-capable packets are dropped once the probability reaches
//! `mark_p`. Nothing is signaled while one packet waits.
//!
//! *Source*: Floyd and Jacobson 1993; Feng et al. 1999; Floyd, Gummadi and Shenker 2001; RFC 3168
//! §7; ns-2.35 for the defaults and automatic settings.

pub mod linux;
pub(crate) mod params;

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::spec::{BoundedValue, KindSpec, LinkFacts, ParamError, ParamFault, ParamValues, Size};
use alloc::boxed::Box;
use goodqueue_base::units::{Instant, Rate};
use linux::{LinuxRed, LinuxRedParams};
pub use params::{Adaptation, Facts, RedParams, WeightRule};
use params::{KINDS, MAX_TH, MIN_TH, Settings};

/// Position of the average relative to the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    Below,
    Between,
    Above,
}

/// Settings of RED that may be automatic: thresholds in packets, or in bytes with `queue_in_bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InForce {
    /// Average from which packets are signaled.
    pub min_th: f64,
    /// Average at which the probability is `max_p`.
    pub max_th: f64,
    /// Weight of a sample in the average.
    pub w_q: f64,
}

/// State of RED, one per queue.
#[derive(Clone, Debug)]
pub struct Red {
    params: RedParams,
    facts: Facts,
    settings: Settings,
    avg: f64,
    max_p: f64,
    /// Packets since the last signal, or since the average entered the band.
    count: f64,
    count_bytes: f64,
    /// Whether the average was at or above `min_th` at the last arrival.
    in_band: bool,
    /// Time since which the queue is empty; `Instant::MAX` while it is not.
    idle_since: Instant,
    adapted_at: Instant,
    zone: Zone,
    /// Decides instead when the arithmetic is that of Linux.
    linux: Option<Box<LinuxRed>>,
}

impl Red {
    /// Creates a RED with these settings on a link with these facts.
    #[must_use]
    pub fn new(params: RedParams, facts: Facts) -> Self {
        let mut settings = Settings::new(&params);
        settings.follow(&params, &facts);
        Self {
            params,
            facts,
            settings,
            avg: 0.0,
            max_p: params.max_p,
            count: 0.0,
            count_bytes: 0.0,
            in_band: false,
            idle_since: Instant::MAX,
            adapted_at: Instant::ZERO,
            zone: Zone::Between,
            linux: None,
        }
    }

    /// Checks that the thresholds, automatic ones included, are in order.
    pub(super) fn check_thresholds(&self) -> Result<(), ParamError> {
        let Settings { min_th, max_th, .. } = self.settings;
        if max_th >= min_th {
            return Ok(());
        }
        let unit = if self.params.queue_in_bytes { Size::Bytes } else { Size::Packets };
        let pair = BoundedValue { value: unit(max_th).into(), other: MIN_TH.name(), bound: unit(min_th).into() };
        Err(MAX_TH.fault(ParamFault::Below(pair)))
    }

    /// Average queue length, in packets or bytes as configured.
    #[must_use]
    pub fn average(&self) -> f64 {
        self.linux.as_ref().map_or(self.avg, |linux| linux.average())
    }

    /// The thresholds and the weight of a sample, with what is automatic worked out.
    #[must_use]
    pub const fn in_force(&self) -> InForce {
        let Settings { min_th, max_th, w_q, .. } = self.settings;
        InForce { min_th, max_th, w_q }
    }

    /// Probability before spacing, as a function of the average.
    fn ramp(&self) -> f64 {
        let Settings { min_th, max_th, per_band, per_max_th, .. } = self.settings;
        if self.avg < min_th {
            0.0
        } else if self.avg < max_th {
            self.max_p * ((self.avg - min_th) * per_band)
        } else if self.params.gentle && self.avg < 2.0 * max_th {
            self.max_p + (1.0 - self.max_p) * ((self.avg - max_th) * per_max_th)
        } else {
            1.0
        }
    }

    /// Probability for this packet: `p` spaced by the packets since the last signal.
    fn spread(&self, p: f64, len: f64) -> f64 {
        // A certain signal is certain for small packets, too.
        if p >= 1.0 {
            return 1.0;
        }
        let count = if self.params.bytes { self.count_bytes * self.settings.per_mean_size } else { self.count };
        let due = count * p;
        let spaced = match self.params.wait {
            true if due < 1.0 => 0.0,
            true if due < 2.0 => p / (2.0 - due),
            false if due < 1.0 => p / (1.0 - due),
            _ => 1.0,
        };
        if self.params.bytes && spaced < 1.0 { spaced * (len * self.settings.per_mean_size) } else { spaced }
    }

    /// Decays the average over an idle time as if `ptc` small packets per second had met an empty
    /// queue.
    #[cold]
    fn wake_up(&mut self, now: Instant) {
        // After 10^7 packets nothing of the average is left; the cap bounds the work for any clock.
        let missed = (now.since(self.idle_since).as_secs_f64() * self.settings.ptc).min(1e7) as u32;
        self.avg *= power(self.settings.keep, missed);
        self.idle_since = Instant::MAX;
    }

    #[inline]
    fn update_average(&mut self, now: Instant, queue: QueueView) -> f64 {
        if self.idle_since != Instant::MAX {
            self.wake_up(now);
        }
        let length = if self.params.queue_in_bytes { queue.backlog.get() } else { queue.packets.get() } as f64;
        self.avg = self.settings.keep * self.avg + self.settings.w_q * length;
        match self.params.adaptation {
            Adaptation::Off => {}
            Adaptation::Floyd => self.adapt(now),
            Adaptation::Feng => self.adapt_on_crossing(),
        }
        length
    }

    fn adapt(&mut self, now: Instant) {
        if now < self.adapted_at + self.params.interval {
            return;
        }
        let Settings { min_th, max_th, bottom, .. } = self.settings;
        let part = 0.4 * (max_th - min_th);
        if self.avg < min_th + part && self.max_p > bottom {
            self.max_p *= self.params.beta;
            self.adapted_at = now;
        } else if self.avg > max_th - part && self.max_p < self.params.top {
            self.max_p += self.params.alpha.min(self.max_p / 4.0);
            self.adapted_at = now;
        }
    }

    fn adapt_on_crossing(&mut self) {
        let zone = if self.avg < self.settings.min_th {
            Zone::Below
        } else if self.avg > self.settings.max_th {
            Zone::Above
        } else {
            Zone::Between
        };
        match zone {
            Zone::Below if self.zone != zone => self.max_p /= 3.0,
            Zone::Above if self.zone != zone => self.max_p = (self.max_p * 2.0).min(1.0),
            _ => {}
        }
        self.zone = zone;
    }

    /// Updates the average at an arrival that finds `queue` and returns its zone. A threshold
    /// belongs to the zone below it.
    pub(super) fn locate(&mut self, now: Instant, queue: QueueView) -> Zone {
        self.update_average(now, queue);
        if self.avg <= self.settings.min_th {
            Zone::Below
        } else if self.avg <= self.settings.max_th {
            Zone::Between
        } else {
            Zone::Above
        }
    }

    /// Leaves the band: the next packet with the average in the band counts as the first.
    pub(super) fn leave_band(&mut self) {
        self.in_band = false;
    }

    /// Counts a packet of `len` bytes since the last signal.
    pub(super) fn count_packet(&mut self, len: f64) {
        self.count += 1.0;
        self.count_bytes += len;
    }

    /// Verdict for a packet while the average is in the band.
    pub(super) fn judge_in_band(&mut self, env: &mut Env<'_>, len: f64) -> Verdict {
        if !self.in_band {
            self.in_band = true;
            self.count = 1.0;
            self.count_bytes = len;
            return Verdict::Pass;
        }
        let p = self.ramp();
        if !env.rng.fires(self.spread(p, len)) {
            return Verdict::Pass;
        }
        self.count = 0.0;
        self.count_bytes = 0.0;
        let RedParams { use_mark_p, mark_p, harddrop, .. } = self.params;
        if use_mark_p && p >= mark_p || harddrop && self.avg >= self.settings.max_th {
            Verdict::Drop(Reason::Early)
        } else {
            Verdict::Signal(Reason::Early)
        }
    }
}

/// `base` to a whole power by squaring: bit-identical on all platforms, with at most 48
/// multiplications for the powers used here.
#[must_use]
pub fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

impl Aqm for Red {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            return linux.on_arrival(env, queue);
        }
        let length = self.update_average(env.now, queue);
        let len = packet.len.get() as f64;
        self.count_packet(len);
        if self.avg >= self.settings.min_th && length > 1.0 {
            self.judge_in_band(env, len)
        } else {
            self.in_band = false;
            Verdict::Pass
        }
    }

    /// The average counts every arrival. A packet that would have been signaled counts as
    /// signaled by the drop.
    fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) {
        let _forced_anyway = self.on_arrival(env, packet, queue);
    }

    #[inline]
    fn on_emptied(&mut self, now: Instant) {
        self.idle_since = now;
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        if !self.params.legacy_static {
            self.facts.rate = env.link_rate;
            self.settings.follow(&self.params, &self.facts);
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("average", self.average());
        visit("max_p", self.max_p);
        visit("probability", self.linux.as_ref().map_or_else(|| self.ramp(), |linux| linux.probability()));
    }
}

impl Algorithm for Red {
    const KINDS: &'static [KindSpec] = KINDS;

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let params = RedParams::build(given, link)?;
        let mut red = Self::new(params, Facts { rate: link.rate, delay: link.delay, mtu: link.mtu });
        if ARITHMETIC.read(given) == Arithmetic::Linux {
            red.linux = Some(Box::new(LinuxRed::new(LinuxRedParams::build(given, link)?)));
            return Ok(red);
        }
        red.check_thresholds()?;
        Ok(red)
    }
}

impl Facts {
    /// Packets of mean size that the link carries per second; `None` while it is down or its rate
    /// is unknown.
    fn packets_a_second(&self, mean_pktsize: f64) -> Option<f64> {
        self.rate.filter(|rate| !rate.is_zero()).map(|rate: Rate| rate.as_bytes_s_f64() / mean_pktsize)
    }
}

#[cfg(test)]
mod tests;
