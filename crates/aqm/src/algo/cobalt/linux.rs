//! COBALT in the arithmetic of Linux: integers, an iterated inverse square root, and a schedule
//! that also stores the time of the last packet.
//!
//! `1 / sqrt(count)` is a 32-bit number: exact for counts below 16; from 16 on, each change of
//! `count` applies one Newton step to the previous value. In a queue that was never signaled it is
//! zero, so that the first signal does not wait for an interval. While `count` is zero, each
//! departure moves the schedule one interval ahead; otherwise, if the schedule from before the
//! episode lies in the past, it moves to now. Therefore the first signal after a pause comes at
//! once.

use super::CobaltParams;
use crate::aqm::{Env, PacketView, Reason, Verdict};
use crate::arithmetic::LinuxDraws;
use goodqueue_base::units::{Duration, Instant};

/// `2^32 / sqrt(count)` to within one, below 2^32, for counts below 16 (zero counts as one):
/// exactly these values produce the schedule of Linux.
const INVERSE_ROOTS: [u32; 16] = [
    u32::MAX,
    u32::MAX,
    3_037_000_500,
    2_479_700_525,
    2_147_483_647,
    1_920_767_767,
    1_753_413_056,
    1_623_345_051,
    1_518_500_250,
    1_431_655_765,
    1_358_187_914,
    1_294_981_364,
    1_239_850_263,
    1_191_209_601,
    1_147_878_294,
    1_108_955_788,
];

/// One step of `root (3 - count root^2) / 2`.
const fn newton_step(root: u32, count: u32) -> u32 {
    let square = ((root as u64 * root as u64) >> 32) as u32;
    let factor = (3u64 << 32).wrapping_sub(count as u64 * square as u64) >> 2;
    (factor.wrapping_mul(root as u64) >> 31) as u32
}

/// State of COBALT in Linux, one per queue.
#[derive(Clone, Debug)]
pub struct LinuxCobalt {
    /// Sending time of one MTU; zero while the rate is unknown.
    pub(super) mtu_time: Duration,
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// Step of the drop probability, in units of 2^-32.
    increment: u32,
    decrement: u32,
    drop_next: Instant,
    blue_at: Instant,
    inverse_root: u32,
    p_drop: u32,
    count: u32,
    sharing: u32,
    dropping: bool,
    pub(super) draws: LinuxDraws,
}

impl LinuxCobalt {
    /// Creates a COBALT with these settings on a link of unknown rate.
    #[must_use]
    pub fn new(params: &CobaltParams) -> Self {
        let whole = |share: f64| (share * (1u64 << 32) as f64) as u32;
        Self {
            mtu_time: Duration::ZERO,
            target: params.target,
            interval: params.interval,
            increment: whole(params.p_inc),
            decrement: whole(params.p_dec),
            drop_next: Instant::ZERO,
            blue_at: Instant::ZERO,
            inverse_root: 0,
            p_drop: 0,
            count: 0,
            sharing: 0,
            dropping: false,
            draws: LinuxDraws::default(),
        }
    }

    fn schedule(&self, from: Instant) -> Instant {
        from + Duration::ns(((u128::from(self.interval.as_nanos()) * u128::from(self.inverse_root)) >> 32) as u64)
    }

    fn change_count(&mut self, count: u32) {
        self.count = count;
        self.inverse_root = match INVERSE_ROOTS.get(count as usize) {
            Some(root) => *root,
            None => newton_step(self.inverse_root, count),
        };
        self.drop_next = self.schedule(self.drop_next);
    }

    const fn is_due(&self, now: Instant) -> bool {
        self.count > 0 && now.as_nanos() >= self.drop_next.as_nanos()
    }

    #[cold]
    pub(super) fn is_at_rest(&self, now: Instant) -> bool {
        self.p_drop == 0 && self.count == 0 && now >= self.drop_next
    }

    #[cold]
    pub(super) fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView) -> Verdict {
        let now = env.now;
        let sojourn = head.sojourn(now);
        let floor = self.mtu_time * u64::from(self.sharing.max(2)) * 2;
        let mut is_late = now > self.drop_next;
        let due = self.is_due(now);
        if sojourn > self.target && sojourn > floor {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.schedule(now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut verdict = Verdict::Pass;
        if due && self.dropping {
            verdict = Verdict::Signal(Reason::Head);
            self.change_count(self.count.saturating_add(1));
            is_late = now > self.drop_next;
        } else if due {
            while self.is_due(now) {
                self.change_count(self.count - 1);
            }
            is_late = now > self.drop_next;
        }
        let mut is_lost = verdict != Verdict::Pass && !head.ecn.is_capable();
        if self.p_drop > 0 && ((self.draws.next(env.rng) >> 32) as u32) < self.p_drop && !is_lost {
            verdict = Verdict::Drop(Reason::Penalty);
            is_lost = true;
        }
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if is_late && !is_lost {
            self.drop_next = now;
        }
        verdict
    }

    fn is_thawed(&self, now: Instant) -> bool {
        now.since(self.blue_at) > self.target
    }

    pub(super) fn overflowed(&mut self, now: Instant) {
        if self.is_thawed(now) {
            self.p_drop = self.p_drop.saturating_add(self.increment);
            self.blue_at = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    #[cold]
    pub(super) fn on_idle(&mut self, now: Instant) {
        if self.p_drop > 0 && self.is_thawed(now) {
            self.p_drop = self.p_drop.saturating_sub(self.decrement);
            self.blue_at = now;
        }
        self.dropping = false;
        if self.is_due(now) {
            self.change_count(self.count - 1);
        }
    }

    /// Number of signals so far, whether an episode is running, and the drop probability.
    pub(super) fn figures(&self) -> (u32, bool, f64) {
        (self.count, self.dropping, f64::from(self.p_drop) / (1u64 << 32) as f64)
    }

    #[cold]
    pub(super) const fn on_sharing(&mut self, flows: u32) {
        self.sharing = flows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_inverse_roots_are_right() {
        for (count, root) in INVERSE_ROOTS.iter().enumerate().skip(1) {
            let exact = (1u64 << 32) as f64 / (count as f64).sqrt();
            assert!((f64::from(*root) - exact).abs() <= 1.0, "{count}: {root} is not {exact}");
        }
    }

    #[test]
    fn steps_follow_a_rising_count() {
        let mut root = INVERSE_ROOTS[15];
        for count in 16..1000 {
            root = newton_step(root, count);
            let exact = (1u64 << 32) as f64 / f64::from(count).sqrt();
            assert!((f64::from(root) - exact).abs() < 2e-3 * exact, "{count}: {root} is not {exact}");
        }
    }
}
