//! The division of the link's rate among classes, and the choice of the class that loses when
//! packets must go. Rates in wire bytes per second, sizes in wire bytes.

use super::params::{MAX, Promise};
use goodqueue_base::units::Instant;

/// The state of a class that the rules work with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    pub(super) promise: Promise,
    /// Bytes that arrived, were lost and were sent in this busy period.
    pub(super) arrived: u64,
    pub(super) lost: u64,
    pub(super) sent: u64,
    /// Bytes the allotted rate would have sent.
    pub(super) due: f64,
    /// Allotted rate.
    pub(super) rate: f64,
    /// Bytes that wait.
    pub(super) backlog: u64,
    /// Packets that wait.
    pub(super) packets: u64,
    /// Time the head arrived, if there is one.
    pub(super) head_since: Option<Instant>,
    /// Age of the head in seconds, where a promise needs that.
    pub(super) age: f64,
}

impl Account {
    pub(super) fn is_busy(&self) -> bool {
        self.packets > 0
    }

    /// Age of the head in seconds.
    pub(super) fn age_at(&self, now: Instant) -> f64 {
        self.head_since.map_or(0.0, |since| now.since(since).as_secs_f64())
    }

    pub(super) fn loss(&self) -> f64 {
        if self.arrived == 0 { 0.0 } else { self.lost as f64 / self.arrived as f64 }
    }

    /// True if its loss bound allows the loss of another `len` bytes.
    pub(super) fn may_lose(&self, len: u64) -> bool {
        self.promise.loss_bound.is_none_or(|bound| (self.lost + len) as f64 <= bound * self.arrived as f64)
    }

    /// Time its head has until its bound.
    pub(super) fn slack(&self) -> Option<f64> {
        self.promise.delay_bound.map(|bound| bound - self.age)
    }

    /// True if its head has missed its bound.
    pub(super) fn is_late(&self) -> bool {
        self.is_busy() && self.slack().is_some_and(|slack| slack <= 0.0)
    }

    /// The rate its promises ask for now; that of the link when its head is late.
    fn needed(&self, link: f64) -> f64 {
        if !self.is_busy() {
            return 0.0;
        }
        let for_delay = match self.slack() {
            None => 0.0,
            Some(slack) if slack <= 0.0 => link,
            Some(slack) => self.backlog as f64 / slack,
        };
        for_delay.max(self.promise.rate)
    }
}

/// Equal rates for all that wait, nothing for the others.
pub(super) fn share_equally(classes: &mut [Account], link: f64) {
    let busy = classes.iter().filter(|class| class.is_busy()).count().max(1) as f64;
    for class in classes {
        class.rate = if class.is_busy() { link / busy } else { 0.0 };
    }
}

/// True if a class gets less than its promises require.
pub(super) fn is_short(classes: &[Account], link: f64) -> bool {
    classes.iter().any(|class| class.is_late() || class.needed(link) > class.rate)
}

/// Moves rate from the least urgent class that can spare some to the most urgent one that is short,
/// until one side is exhausted.
pub(super) fn redistribute(classes: &mut [Account], link: f64) {
    let mut spare = [0.0; MAX];
    classes.iter().zip(&mut spare).for_each(|(class, spare)| *spare = class.rate - class.needed(link));
    let spare = &mut spare[..classes.len()];
    // Each step settles one class or another.
    while let (Some(short), Some(donor)) = (spare.iter().position(|s| *s < 0.0), spare.iter().rposition(|s| *s > 0.0)) {
        let moved = spare[donor].min(-spare[short]);
        let settles_donor = moved >= spare[donor];
        spare[donor] = if settles_donor { 0.0 } else { spare[donor] - moved };
        spare[short] = if settles_donor && moved < -spare[short] { spare[short] + moved } else { 0.0 };
        classes[donor].rate -= moved;
        classes[short].rate += moved;
    }
}

/// The link's load as the relative-delay step sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) link: f64,
    pub(super) mean_packet: f64,
    /// OfferedPacket load.
    pub(super) utilization: f64,
    pub(super) sampling: f64,
}

/// Gives more to classes whose weighted delay is above the mean of all that have a delay share.
pub(super) fn balance_delays(classes: &mut [Account], load: Load) {
    let mut members = 0_usize;
    let (mut others, mut sum, mut heaviest) = (0.0, 0.0, 0.0_f64);
    let (mut accepted, mut least) = (0_u64, u64::MAX);
    for class in classes.iter().filter(|class| class.is_busy()) {
        let Some(share) = class.promise.delay_share else {
            others += class.rate;
            continue;
        };
        members += 1;
        sum += class.age / share;
        heaviest = heaviest.max(1.0 / share);
        accepted += class.arrived - class.lost;
        least = least.min(class.arrived - class.lost);
    }
    if members == 0 || accepted == 0 {
        return;
    }
    let rate = (load.link - others).max(0.0);
    let mean = sum / members as f64;
    let least_share = least as f64 / accepted as f64;
    let gain = 2.0 / (heaviest * load.mean_packet * load.sampling)
        * (rate * rate)
        * least_share
        * load.utilization
        * load.utilization.max(1.0);
    let mut floors = [0.0; MAX];
    let mut total = 0.0;
    for (class, floor) in classes.iter_mut().zip(&mut floors).filter(|(class, _)| class.is_busy()) {
        let Some(share) = class.promise.delay_share else { continue };
        *floor = class.needed(load.link).min(class.rate);
        class.rate = (class.rate + gain * (class.age / share - mean)).max(*floor);
        total += class.rate;
    }
    let is_member = |class: &Account| class.is_busy() && class.promise.delay_share.is_some();
    let mut excess = total - rate;
    if excess < 0.0 {
        let more = -excess / members as f64;
        classes.iter_mut().filter(|class| is_member(class)).for_each(|class| class.rate += more);
        return;
    }
    for (class, floor) in classes.iter_mut().zip(floors).rev().filter(|(class, _)| is_member(class)) {
        let taken = excess.min(class.rate - floor);
        class.rate -= taken;
        excess -= taken;
    }
}

/// Returns the class that loses a packet because there is no room for one of class `arriving`, and
/// whether its loss bound is missed by that. `len` gives the size of the packet that a class would
/// lose.
pub(super) fn victim(classes: &[Account], arriving: usize, len: impl Fn(usize) -> u64) -> (usize, bool) {
    let own = &classes[arriving];
    if own.promise.loss_share.is_none() && own.may_lose(len(arriving)) {
        return (arriving, false);
    }
    let chosen = least_harmed(classes).unwrap_or(arriving);
    if classes[chosen].may_lose(len(chosen)) {
        return (chosen, false);
    }
    let slack = |class: &Account| class.promise.loss_bound.unwrap_or(1.0) - class.loss();
    let mut most = chosen;
    for (index, class) in classes.iter().enumerate().filter(|(_, class)| class.is_busy()) {
        if slack(class) > slack(&classes[most]) {
            most = index;
        }
    }
    (most, !classes[most].may_lose(len(most)))
}

/// The waiting class with the smallest loss for its share; of several the least urgent.
fn least_harmed(classes: &[Account]) -> Option<usize> {
    let mut chosen = None;
    let mut least = f64::INFINITY;
    for (index, class) in classes.iter().enumerate().filter(|(_, class)| class.is_busy()) {
        if let Some(share) = class.promise.loss_share
            && class.loss() / share <= least
        {
            (chosen, least) = (Some(index), class.loss() / share);
        }
    }
    chosen
}

/// The waiting class that is furthest behind what its rate would have sent.
pub(super) fn next(classes: &[Account]) -> Option<usize> {
    let mut chosen: Option<(usize, f64)> = None;
    for (index, class) in classes.iter().enumerate().filter(|(_, class)| class.is_busy()) {
        let behind = class.due - class.sent as f64;
        if chosen.is_none_or(|(_, most)| behind > most) {
            chosen = Some((index, behind));
        }
    }
    chosen.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(backlog: u64, age: f64, rate: f64, promise: Promise) -> Account {
        Account { promise, arrived: 10_000, backlog, packets: 5, age, rate, ..Account::default() }
    }

    fn rates(classes: &[Account]) -> Vec<f64> {
        classes.iter().map(|class| class.rate).collect()
    }

    use std::vec::Vec;

    #[test]
    fn a_bound_takes_rate_from_the_least_urgent_first() {
        let bound = Promise { delay_bound: Some(0.1), ..Promise::default() };
        let none = Promise::default();
        // 6000 B within 60 ms need 100 kB/s.
        let mut classes = [class(6_000, 0.04, 40e3, bound), class(1_000, 0.0, 40e3, none), class(1_000, 0.0, 40e3, none)];
        assert!(is_short(&classes, 120e3));
        redistribute(&mut classes, 120e3);
        let found = rates(&classes);
        assert!((found[0] - 100e3).abs() < 1e-6 && (found[1] - 20e3).abs() < 1e-6 && found[2] == 0.0, "{found:?}");
    }

    /// A6.3: equal weighted delays change nothing; a class that waits too long for its share gains
    /// what the other gives.
    #[test]
    fn weighted_delays_are_drawn_together() {
        let share = |share| Promise { delay_share: Some(share), ..Promise::default() };
        let load = Load { link: 100e3, mean_packet: 1_000.0, utilization: 1.0, sampling: 1.0 };
        let mut classes = [class(5_000, 0.01, 40e3, share(1.0)), class(5_000, 0.02, 60e3, share(2.0))];
        balance_delays(&mut classes, load);
        assert_eq!(rates(&classes), [40e3, 60e3]);
        classes[1].age = 0.0201;
        balance_delays(&mut classes, load);
        // Gain 2 / 1000 * 1e10 * 0.5 = 1e7; 10.05 ms against a mean of 10.025 ms.
        let found = rates(&classes);
        assert!((found[1] - 60_250.0).abs() < 1e-3 && (found[0] - 39_750.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn losses_follow_shares_until_a_bound() {
        let lost = |lost, loss_share, loss_bound| Account {
            lost,
            ..class(5_000, 0.0, 0.0, Promise { loss_share: Some(loss_share), loss_bound, ..Promise::default() })
        };
        let classes = [lost(100, 1.0, None), lost(150, 2.0, None)];
        assert_eq!(victim(&classes, 0, |_| 50), (1, false));
        let bounded = [lost(100, 1.0, None), lost(150, 2.0, Some(0.018))];
        assert_eq!(victim(&bounded, 0, |_| 50), (0, false));
        let both = [lost(100, 1.0, Some(0.01)), lost(150, 2.0, Some(0.018))];
        assert_eq!(victim(&both, 0, |_| 50), (1, true));
    }
}
