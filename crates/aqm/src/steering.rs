//! Steering: an outer loop that moves the setpoint of an algorithm so that a policy holds.
//!
//! *Signal*: the behavior of the queue between two signals of the algorithm inside: how low its
//! sojourn time falls, whether it runs empty, and how many bytes the link accepts; evaluated
//! whenever a signal is due.
//!
//! *Law*: three rules, in this order.
//! **Raise**: if the queue ran empty after a signal and both the rate since the last signal and its
//! average are below `u_low * rate`, the setpoint becomes
//! `min(max(alpha_up * setpoint, thresh_min_up), target_max)`, and the signal is withheld.
//! **Lower**: otherwise the signal is given. If the sojourn time fell below the setpoint since the
//! last one, this dip is averaged over time, and so is its squared deviation. The queue beyond
//! `average + gamma * deviation` is standing, and the setpoint falls by it in multiples of
//! `thresh_down_min`, not below `thresh_min`, provided that the average rate is above
//! `u_low * rate`.
//! **Bound**: with `u_target` below 1, while both rates are above `u_target * rate` the setpoint
//! shrinks by `down_step`; at `thresh_vq` a virtual queue takes over. With each signal while the
//! average rate is above `u_target * rate` its own falls by `g_vq` times the excess, not below
//! `u_target * rate`; in place of a raise it rises by `g_vq` times the shortfall, and at the full
//! rate the real queue decides again.
//!
//! A queue that is always below its setpoint gives no signals, so nothing moves. One that is always
//! above never runs empty nor dips, so nothing moves either: there the algorithm inside has not
//! converged.
//!
//! *Parameters*: those of the policy. The defaults of 99 % and 30 ms are from the study; constants
//! that it does not state are our choice.
//!
//! *Deviations*: the printed conditions of a raise compare one of the rates the wrong way round;
//! both must be too low, as the text says. The gain of the virtual rate and the factor of a raise
//! share a letter in print, which is 2; here they are `g_vq`, by default 0.5, and `alpha_up`. The
//! study gives no memories: the default is 2 s for both, its reproduction has 10 s for the dips
//! and 5 s for the rate, as two flows on its fast link are signaled once in several seconds. Nor
//! does it give `thresh_vq`: by default half of `target_max`, which was chosen on other lines than
//! the study's, whose reproduction has `thresh_min`. The rate counts accepted bytes on the wire,
//! marked packets included, since a marked packet is sent. The variance is an average of squared
//! deviations. While the virtual queue decides, a real sojourn time above `target_max` counts as
//! well. Nothing moves while the rate of the link is zero or unknown; a new rate keeps the
//! setpoint and restarts the measurement of the rate.
//!
//! *Limits*: acts only when there are signals, and cannot make senders faster than they grow.
//! Within a fair queue the algorithm of each flow would compare the rate of its flow with that of
//! the whole link.
//!
//! *Source*: Bless, Hock and Zitterbart 2018 §III, §IV; averages by Menth and Hauser 2017.

mod outer_loop;
mod policy;
mod virtual_queue;

use crate::aqm::{Aqm, Env, FlowHash, PacketView, QueueView, Verdict};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Packets, Rate};
use outer_loop::{Decision, OuterLoop};
pub use policy::Policy;
pub(crate) use policy::{inner_values, steered_params};

/// The judgment of an algorithm on a packet, before any signal is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Judgement {
    /// The verdict is final.
    Settled(Verdict),
    /// A signal is due; what it changes in the algorithm has not happened yet.
    SignalDue,
}

/// The limits on how often the outer loop may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Signals are looked at no more often than this.
    pub look_every: Duration,
    /// The setpoint is raised no more often than this.
    pub raise_every: Duration,
    /// A queue that runs empty later than this after a signal did not do so because of it.
    pub signal_remembered: Duration,
}

/// An algorithm that holds its queue to a delay which an outer loop may move.
///
/// It judges and signals in two steps, so that a signal that is due can be withheld. Its own
/// [`Aqm`] hooks do both; implementations inline the judging always, as those hooks would pay for a
/// call otherwise.
pub trait Steerable: Aqm {
    /// The delay it holds the queue to.
    fn setpoint(&self) -> Duration;

    /// Holds the queue to another delay from now on, without a jump in anything else.
    fn move_setpoint(&mut self, setpoint: Duration);

    /// The limits on how often the setpoint may be moved.
    fn pace(&self) -> Pace;

    /// The smallest setpoint that makes sense on a link of this rate.
    #[allow(unused_variables, reason = "the default ignores what it is given")]
    fn least_setpoint(&self, rate: Rate) -> Duration {
        Duration::ZERO
    }

    /// [`Aqm::on_arrival`] without the signal.
    #[inline]
    #[allow(unused_variables, reason = "the default ignores what it is given")]
    fn judge_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Judgement {
        Judgement::Settled(Verdict::Pass)
    }

    /// [`Aqm::on_departure`] without the signal.
    fn judge_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Judgement;

    /// Gives the signal that is due for `packet`.
    fn signal(&mut self, env: &mut Env<'_>, packet: PacketView) -> Verdict;

    /// The queue's delay is `delay`, whatever departures say: a virtual queue stands for the real
    /// one.
    #[allow(unused_variables, reason = "the default ignores what it is given")]
    fn see_delay(&mut self, now: Instant, delay: Duration) {}
}

/// An algorithm and the loop that steers it.
#[derive(Clone, Debug)]
pub struct Steered<A> {
    inner: A,
    outer_loop: OuterLoop,
    mtu: Bytes,
}

impl<A: Steerable> Steered<A> {
    /// Steers `inner` by `policy` on a link of `rate` whose packets have up to `mtu` bytes.
    #[must_use]
    pub fn new(inner: A, policy: Policy, rate: Option<Rate>, mtu: Bytes) -> Self {
        let mut steered = Self { outer_loop: OuterLoop::new(policy, inner.pace()), inner, mtu };
        steered.follow(Instant::ZERO, rate);
        steered
    }

    /// The present setpoint.
    #[must_use]
    pub const fn setpoint(&self) -> Duration {
        self.outer_loop.setpoint
    }

    fn follow(&mut self, now: Instant, rate: Option<Rate>) {
        let least = rate.map_or(Duration::ZERO, |rate| self.inner.least_setpoint(rate));
        self.outer_loop.follow(now, rate, least);
        self.inner.move_setpoint(self.outer_loop.setpoint);
    }

    /// The queue that the algorithm inside sees: the real one, or the virtual one.
    #[inline]
    fn shown(&self, now: Instant, queue: QueueView) -> QueueView {
        match &self.outer_loop.virtual_queue {
            Some(imagined) if self.outer_loop.is_virtual() => {
                let fill = imagined.fill(now);
                let packets = fill / self.mtu.get().max(1) as f64;
                // Anything that waits is at least one packet of at least one byte.
                let is_there = u64::from(fill > 0.0);
                QueueView {
                    backlog: Bytes::new((fill as u64).max(is_there)),
                    packets: Packets::new((packets as u64).max(is_there)),
                }
            }
            _ => queue,
        }
    }

    /// The head as the algorithm inside sees it: with the delay of the virtual queue while that one
    /// stands for the real one.
    #[inline]
    fn shown_head(&self, now: Instant, head: PacketView) -> PacketView {
        if self.outer_loop.is_virtual() { PacketView { enqueued_at: now - self.outer_loop.delay(now), ..head } } else { head }
    }

    /// The head that the algorithm inside is shown by a virtual queue that holds `shown`.
    fn imagined_head(&self, now: Instant, shown: QueueView) -> Option<PacketView> {
        let enqueued_at = now - self.outer_loop.delay(now);
        let head = PacketView { len: self.mtu, ecn: Ecn::NotEct, flow: FlowHash::default(), enqueued_at };
        (!shown.packets.is_zero()).then_some(head)
    }

    /// A signal is due. Gives it, or moves the bound up instead.
    #[cold]
    fn decide(&mut self, env: &Env<'_>, queue: QueueView) -> Decision {
        let was_virtual = self.outer_loop.is_virtual();
        let decision = self.outer_loop.decide(env, queue);
        self.adopt(env.now, was_virtual);
        decision
    }

    /// Hands what the loop decided to the algorithm inside.
    fn adopt(&mut self, now: Instant, was_virtual: bool) {
        if self.outer_loop.setpoint != self.inner.setpoint() {
            self.inner.move_setpoint(self.outer_loop.setpoint);
        }
        if was_virtual && !self.outer_loop.is_virtual() {
            self.inner.see_delay(now, self.outer_loop.last_sojourn);
        }
    }

    /// Decides on departure. A raise may leave the head above the new setpoint: then the signal is
    /// due all the same.
    #[cold]
    fn decide_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Judgement {
        if self.decide(env, queue) == Decision::Give {
            return Judgement::SignalDue;
        }
        let (shown_head, shown) = (self.shown_head(env.now, head), self.shown(env.now, queue));
        let judgement = self.inner.judge_departure(env, shown_head, shown);
        if judgement == Judgement::SignalDue {
            let was_virtual = self.outer_loop.is_virtual();
            self.outer_loop.give(env, queue);
            self.adopt(env.now, was_virtual);
        }
        judgement
    }
}

// Not inlined: in one `match` with other algorithms, this code would slow down those that are
// smaller.
impl<A: Steerable> Aqm for Steered<A> {
    #[inline(never)]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        self.outer_loop.arrival(env.now, queue);
        if self.outer_loop.is_virtual() {
            self.inner.see_delay(env.now, self.outer_loop.delay(env.now));
        }
        let shown = self.shown(env.now, queue);
        let verdict = match self.inner.judge_arrival(env, packet, shown) {
            Judgement::Settled(verdict) => verdict,
            Judgement::SignalDue if self.decide(env, queue) == Decision::Give => self.inner.signal(env, packet),
            Judgement::SignalDue => Verdict::Pass,
        };
        if verdict.keeps(packet.ecn) {
            self.outer_loop.accept(env.now, packet.len + env.overhead);
        }
        verdict
    }

    fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) {
        let shown = self.shown(env.now, queue);
        self.inner.on_overflow(env, packet, shown);
    }

    #[inline(never)]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        self.outer_loop.departure(head.sojourn(env.now));
        let (shown_head, shown) = (self.shown_head(env.now, head), self.shown(env.now, queue));
        let judgement = match self.inner.judge_departure(env, shown_head, shown) {
            Judgement::SignalDue => self.decide_departure(env, head, queue),
            settled @ Judgement::Settled(_) => settled,
        };
        let verdict = match judgement {
            Judgement::SignalDue => self.inner.signal(env, head),
            Judgement::Settled(verdict) => verdict,
        };
        if !verdict.keeps(head.ecn) {
            self.outer_loop.take_back(head.len + env.overhead);
        }
        verdict
    }

    #[inline]
    fn on_idle(&mut self, now: Instant) {
        if !self.outer_loop.is_virtual() {
            self.inner.on_idle(now);
        }
    }

    #[inline]
    fn on_emptied(&mut self, now: Instant) {
        if !self.outer_loop.is_virtual() {
            self.inner.on_emptied(now);
        }
    }

    fn on_evicted(&mut self, env: &mut Env<'_>, count: Packets) {
        self.inner.on_evicted(env, count);
    }

    fn on_sharing(&mut self, flows: u32) {
        self.inner.on_sharing(flows);
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        let was_virtual = self.outer_loop.is_virtual();
        self.follow(env.now, env.link_rate);
        self.adopt(env.now, was_virtual);
        self.inner.on_rate_change(env);
    }

    #[inline]
    fn next_update(&self) -> Option<Instant> {
        self.inner.next_update()
    }

    fn on_update(&mut self, env: &mut Env<'_>, head: Option<PacketView>, queue: QueueView) {
        let shown = self.shown(env.now, queue);
        let head = if self.outer_loop.is_virtual() { self.imagined_head(env.now, shown) } else { head };
        self.inner.on_update(env, head, shown);
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("setpoint_s", self.outer_loop.setpoint.as_secs_f64());
        visit("average_rate_bit_s", 8.0 * self.outer_loop.average_rate().unwrap_or(0.0));
        let (rate, delay) = self.outer_loop.imagined();
        visit("virtual_rate_bit_s", 8.0 * rate);
        visit("virtual_delay_s", delay.as_secs_f64());
        self.inner.gauges(visit);
    }
}

#[cfg(test)]
mod tests;
