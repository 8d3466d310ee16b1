//! The outer loop: its memory of the queue, and its moves of the setpoint.

use super::Pace;
use super::policy::Policy;
use super::virtual_queue::VirtualQueue;
use crate::aqm::{Env, QueueView};
use crate::math::sqrt;
use crate::smoothing::{TdrmCpa, Utema};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};

/// The decision about a signal that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// The bound moved up instead.
    Withhold,
    Give,
}

/// Shorter spans say nothing about a rate.
const MIN_SPAN: Duration = Duration::us(1);

/// The state of the outer loop.
#[derive(Clone, Debug)]
pub(super) struct OuterLoop {
    policy: Policy,
    pace: Pace,
    /// Bytes per second that count as full utilization; zero while the link is down or its rate is
    /// unknown.
    full: f64,
    /// The setpoint is not below.
    floor: Duration,
    pub(super) setpoint: Duration,
    /// The smallest sojourn time since the last signal, at most the setpoint.
    least_sojourn: Duration,
    /// Sojourn time of the last departure; zero while nothing waits.
    pub(super) last_sojourn: Duration,
    /// A signal was given at that time, and the queue has not been empty since; `MAX`: none.
    signalled_at: Instant,
    /// The queue ran empty after a signal: the link may have been under-used.
    may_raise: bool,
    /// Time from which `accepted` counts; `MAX` before the first arrival.
    counting_since: Instant,
    /// Bytes on the wire accepted since the last signal.
    accepted: u64,
    dip: Utema,
    dip_variance: Utema,
    rate: TdrmCpa,
    pub(super) virtual_queue: Option<VirtualQueue>,
    /// No look at the setpoint before.
    next_look: Instant,
    /// No raise of it before.
    next_raise: Instant,
}

impl OuterLoop {
    pub(super) fn new(policy: Policy, pace: Pace) -> Self {
        let floor = policy.thresh_min.min(policy.target_max);
        let setpoint = policy.thresh_min_up.clamp(floor, policy.target_max);
        Self {
            policy,
            pace,
            full: 0.0,
            floor,
            setpoint,
            least_sojourn: setpoint,
            last_sojourn: Duration::ZERO,
            signalled_at: Instant::MAX,
            may_raise: false,
            counting_since: Instant::MAX,
            accepted: 0,
            dip: Utema::new(policy.mem_delta),
            dip_variance: Utema::new(policy.mem_delta),
            rate: TdrmCpa::new(policy.mem_rate),
            virtual_queue: None,
            next_look: Instant::ZERO,
            next_raise: Instant::ZERO,
        }
    }

    /// Adopts the link's rate, below which a setpoint of `least` makes no sense.
    pub(super) fn follow(&mut self, now: Instant, link_rate: Option<Rate>, least: Duration) {
        let is_down = link_rate.is_some_and(Rate::is_zero);
        let rate = if is_down { None } else { self.policy.rate.or(link_rate) };
        let full = rate.map_or(0.0, Rate::as_bytes_s_f64);
        if let Some(queue) = &mut self.virtual_queue
            && self.full > 0.0
            && full > 0.0
        {
            let rate = queue.rate * (full / self.full);
            queue.serve_at(now, rate);
        }
        // While the link is down the last known rate stays in the virtual queue, which is not
        // looked at.
        self.full = full;
        if full > 0.0 {
            self.floor = self.policy.thresh_min.max(least).min(self.policy.target_max);
            self.setpoint = self.setpoint.max(self.floor);
        }
        if self.counting_since != Instant::MAX {
            self.counting_since = now;
            self.accepted = 0;
        }
    }

    /// True if the virtual queue stands for the real one.
    #[inline]
    pub(super) fn is_virtual(&self) -> bool {
        self.virtual_queue.is_some() && self.full > 0.0
    }

    /// The virtual queue's delay, or the real one where that breaks the policy.
    pub(super) fn delay(&self, now: Instant) -> Duration {
        let imagined = self.virtual_queue.map_or(Duration::ZERO, |queue| queue.delay(now));
        if self.last_sojourn > self.policy.target_max { imagined.max(self.last_sojourn) } else { imagined }
    }

    /// Rate in bytes per second and delay of the virtual queue that runs alongside the real one;
    /// the link's own without a virtual queue.
    pub(super) fn imagined(&self) -> (f64, Duration) {
        match self.virtual_queue {
            Some(queue) if self.full > 0.0 => (queue.rate, queue.last_delay()),
            _ => (self.full, Duration::ZERO),
        }
    }

    /// The smoothed rate in bytes per second.
    pub(super) fn average_rate(&self) -> Option<f64> {
        self.rate.rate()
    }

    /// A packet arrives and finds `queue`.
    #[inline]
    pub(super) fn arrival(&mut self, now: Instant, queue: QueueView) {
        if self.counting_since == Instant::MAX {
            self.counting_since = now;
        }
        let is_idle = queue.packets.is_zero();
        if is_idle {
            self.last_sojourn = Duration::ZERO;
        }
        self.least_sojourn = self.least_sojourn.min(self.last_sojourn);
        let is_empty = match self.virtual_queue {
            Some(queue) if self.full > 0.0 => queue.fill(now) == 0.0,
            _ => is_idle,
        };
        if is_empty && self.signalled_at != Instant::MAX && now.since(self.signalled_at) <= self.pace.signal_remembered {
            self.may_raise = true;
            self.signalled_at = Instant::MAX;
        }
    }

    /// A packet leaves after waiting for `sojourn`.
    #[inline]
    pub(super) fn departure(&mut self, sojourn: Duration) {
        self.last_sojourn = sojourn;
        self.least_sojourn = self.least_sojourn.min(sojourn);
    }

    /// `len` bytes on the wire were accepted.
    #[inline]
    pub(super) fn accept(&mut self, now: Instant, len: Bytes) {
        self.accepted += len.get();
        if let Some(queue) = &mut self.virtual_queue {
            queue.add(now, len);
        }
    }

    /// A packet accepted earlier was dropped on departure.
    pub(super) fn take_back(&mut self, len: Bytes) {
        if let Some(queue) = &mut self.virtual_queue {
            queue.take_out(len);
        }
    }

    /// A signal is due at a queue that holds `queue`.
    pub(super) fn decide(&mut self, env: &Env<'_>, queue: QueueView) -> Decision {
        if self.full > 0.0 && env.now >= self.next_look {
            let low = self.policy.u_low * self.full;
            let is_low = |rate: Option<f64>| rate.is_some_and(|rate| rate < low);
            let may_raise = core::mem::take(&mut self.may_raise);
            if may_raise && is_low(self.rate_since_signal(env.now)) && is_low(self.rate.rate()) && self.raise(env.now) {
                self.next_look = env.now + self.pace.look_every;
                return Decision::Withhold;
            }
        }
        self.give(env, queue);
        Decision::Give
    }

    /// A signal is given: looks at what happened since the one before.
    pub(super) fn give(&mut self, env: &Env<'_>, queue: QueueView) {
        let now = env.now;
        self.signalled_at = now;
        if self.full == 0.0 || now < self.next_look {
            return;
        }
        self.next_look = now + self.pace.look_every;
        let since_signal = self.rate_since_signal(now);
        if since_signal.is_some() {
            self.rate.add(self.accepted as f64, now.since(self.counting_since));
        }
        if self.virtual_queue.is_none() {
            self.lower(now);
        }
        if self.policy.has_ceiling() {
            self.bound_use(env, since_signal, queue);
        }
        self.least_sojourn = self.setpoint;
        self.counting_since = now;
        self.accepted = 0;
    }

    /// Bytes per second since the last signal, if that is long enough ago.
    fn rate_since_signal(&self, now: Instant) -> Option<f64> {
        let span = now.since(self.counting_since);
        (span >= MIN_SPAN).then(|| self.accepted as f64 / span.as_secs_f64())
    }

    /// Moves the bound up; false when there is no room.
    fn raise(&mut self, now: Instant) -> bool {
        if let (Some(queue), Some(average)) = (&mut self.virtual_queue, self.rate.rate()) {
            let wanted = queue.rate + self.policy.g_vq * (self.policy.u_target * self.full - average);
            let rate = wanted.min(self.full);
            let moved = rate != queue.rate;
            if rate == self.full {
                self.virtual_queue = None;
            } else {
                queue.serve_at(now, rate);
            }
            return moved;
        }
        let doubled = self.setpoint.mul_f64(self.policy.alpha_up);
        let raised = doubled.max(self.policy.thresh_min_up).min(self.policy.target_max);
        if now < self.next_raise || raised <= self.setpoint {
            return false;
        }
        self.setpoint = raised;
        self.next_raise = now + self.pace.raise_every;
        true
    }

    /// Takes away what the queue never fell below, less a margin for how much its dips vary.
    fn lower(&mut self, now: Instant) {
        if self.least_sojourn >= self.setpoint {
            return;
        }
        let setpoint = self.setpoint.as_nanos() as f64;
        let dip = setpoint - self.least_sojourn.as_nanos() as f64;
        let average = self.dip.add(now, dip);
        let variance = self.dip_variance.add(now, (dip - average) * (dip - average));
        let standing = setpoint - (average + self.policy.gamma * sqrt(variance));
        // A conversion from f64 saturates: a negative surplus is no step.
        let steps = (standing / self.policy.thresh_down_min.as_nanos() as f64) as u64;
        let is_used = self.rate.rate().is_some_and(|rate| rate > self.policy.u_low * self.full);
        if steps > 0 && is_used {
            self.setpoint = self.setpoint.saturating_sub(self.policy.thresh_down_min * steps).max(self.floor);
        }
    }

    /// Keeps the use of the link below its ceiling: by a lower setpoint, and from the lowest on by
    /// a slower virtual queue.
    fn bound_use(&mut self, env: &Env<'_>, since_signal: Option<f64>, queue: QueueView) {
        let Some(average) = self.rate.rate() else { return };
        let most = self.policy.u_target * self.full;
        if average > most && self.virtual_queue.is_none() && since_signal.is_some_and(|rate| rate > most) {
            let lowest = self.policy.thresh_vq.max(self.floor);
            self.setpoint = self.setpoint.mul_f64(self.policy.down_step).max(lowest);
            if self.setpoint == lowest {
                let on_wire = queue.backlog.get() + queue.packets.get() * env.overhead.get();
                self.virtual_queue = Some(VirtualQueue::new(self.full, Bytes::new(on_wire), env.now));
            }
        }
        if average > most
            && let Some(queue) = &mut self.virtual_queue
        {
            let rate = queue.rate - self.policy.g_vq * (average - most);
            queue.serve_at(env.now, rate.max(most));
        }
    }
}
