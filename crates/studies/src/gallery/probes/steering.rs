//! The rules of a raise, checked against records of our own while steered GSP meets traffic that
//! comes and goes.

use super::Probe;
use goodqueue_aqm::algo::gsp::{Gsp, GspParams};
use goodqueue_aqm::smoothing::TdrmCpa;
use goodqueue_aqm::steering::{Policy, Steered};
use goodqueue_aqm::{Limit, ManagedQueue, NoSink, Qdisc, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};

/// A tenth of a millisecond a packet, so that 0.2 ms are two of them.
const RATE: Rate = Rate::mbit(100);
const PACKET: u32 = 1250;
const PACKET_TIME: Duration = Duration::us(100);
const PRESET_INTERVAL: Duration = Duration::ms(100);
const POLICY: Policy = Policy::new(Duration::us(2500));
/// The duration of each source's traffic, and the number of sources: each has a few raises.
const SPAN: Duration = Duration::secs(200);
const SOURCES: u64 = 8;
/// The link's rate in bytes per second.
const FULL: f64 = 12.5e6;

pub(super) const PROBES: &[Probe] = &[
    Probe::number("wrong_raises", 0, |_| or_one(&watch(), |raise| !raise.is_right)),
    Probe::number("unfounded_raises", 0, |_| or_one(&watch(), |raise| !raise.is_founded)),
];

/// Returns the number of raises at fault; without a single raise nothing was checked, which counts
/// as one.
fn or_one(raises: &[Raise], is_fault: impl Fn(&Raise) -> bool) -> f64 {
    if raises.is_empty() {
        return 1.0;
    }
    raises.iter().filter(|raise| is_fault(raise)).count() as f64
}

/// One raise of the setpoint.
struct Raise {
    /// True if the raise went where it should.
    is_right: bool,
    /// There was reason for it.
    is_founded: bool,
}

/// The records of the queue that are kept outside of it.
struct Records {
    /// The queue was found empty since the last drop, and has not been raised for that.
    ran_empty: bool,
    dropped_before: bool,
    counting_since: Option<Instant>,
    /// Bytes accepted since the last drop.
    accepted: f64,
    long_term: TdrmCpa,
}

impl Records {
    fn new() -> Self {
        let long_term = TdrmCpa::new(POLICY.mem_rate);
        Self { ran_empty: false, dropped_before: false, counting_since: None, accepted: 0.0, long_term }
    }

    /// Whether a raise at `now` meets the study's two conditions.
    fn allow_raise(&mut self, now: Instant) -> bool {
        let low = POLICY.u_low * FULL;
        let since = self.counting_since.map_or(Duration::ZERO, |since| now.since(since)).as_secs_f64();
        let is_recent_low = since > 0.0 && self.accepted / since < low;
        let is_long_term_low = self.long_term.rate().is_some_and(|rate| rate < low);
        core::mem::take(&mut self.ran_empty) && is_recent_low && is_long_term_low
    }

    fn on_drop(&mut self, now: Instant) {
        if let Some(since) = self.counting_since
            && now.since(since) >= Duration::us(1)
        {
            self.long_term.add(self.accepted, now.since(since));
        }
        self.counting_since = Some(now);
        self.accepted = 0.0;
        self.dropped_before = true;
        self.ran_empty = false;
    }
}

/// Senders together: their rate grows evenly, falls with each drop, and halves now and then as some
/// leave.
struct Source {
    rng: Rng,
    load: f64,
    flows: u32,
    next_change: Instant,
}

impl Source {
    fn new(seed: u64) -> Self {
        Self { rng: Rng::new(seed), load: 0.5, flows: 2, next_change: Instant::ZERO }
    }

    /// The time from one packet to the next.
    fn gap(&mut self, now: Instant) -> Duration {
        if now >= self.next_change {
            self.next_change = now + Duration::secs(1 + self.rng.below(12));
            let flows = 1 + self.rng.below(36) as u32;
            // Those that join begin small; those that leave take their share with them.
            self.load *= (f64::from(flows) / f64::from(self.flows)).clamp(0.1, 1.0);
            self.flows = flows;
        }
        let gap = PACKET_TIME.mul_f64(1.0 / self.load);
        self.load = (self.load + 0.08 * gap.as_secs_f64() * f64::from(self.flows).sqrt()).min(3.0);
        // Half of the gap is even, half of it chance.
        gap.mul_f64(0.5 + self.rng.uniform())
    }

    fn on_drop(&mut self) {
        self.load *= 1.0 - 0.3 / f64::from(self.flows);
    }
}

fn setpoint(queue: &ManagedQueue<SimplePacket, Steered<Gsp>>) -> Duration {
    queue.aqm().setpoint()
}

/// All raises, whatever the source.
fn watch() -> Vec<Raise> {
    (0..SOURCES).flat_map(watch_one).collect()
}

fn watch_one(seed: u64) -> Vec<Raise> {
    let gsp = Gsp::new(GspParams { preset_interval: PRESET_INTERVAL, ..GspParams::default() }, Some(RATE));
    let steered = Steered::new(gsp, POLICY, Some(RATE), Bytes::new(u64::from(PACKET)));
    let mut queue = ManagedQueue::new(steered, Limit::bytes(RATE.as_bit_s() / 8));
    let start = Instant::from_nanos(1);
    queue.set_link_rate(start, Some(RATE));
    let (mut source, mut records, mut raises) = (Source::new(seed), Records::new(), Vec::new());
    let (mut arrives_at, mut link_free_at) = (start, start);
    let end = start + SPAN;
    while arrives_at < end {
        let now = arrives_at;
        while link_free_at <= now && queue.dequeue(link_free_at, &mut NoSink).is_some() {
            link_free_at += PACKET_TIME;
        }
        link_free_at = link_free_at.max(now);
        if queue.view().packets.is_zero() && records.dropped_before {
            records.ran_empty = true;
        }
        records.counting_since.get_or_insert(now);
        let (before, dropped) = (setpoint(&queue), queue.counters().dropped_total().packets);
        queue.enqueue(now, SimplePacket::new(PACKET), &mut NoSink);
        let after = setpoint(&queue);
        if after > before {
            let expected = before.mul_f64(2.0).max(PRESET_INTERVAL.mul_f64(0.025)).min(POLICY.target_max);
            raises.push(Raise { is_right: after == expected, is_founded: records.allow_raise(now) });
            // The next one needs a drop of its own.
            records.dropped_before = false;
        }
        if queue.counters().dropped_total().packets > dropped {
            records.on_drop(now);
            source.on_drop();
        } else {
            records.accepted += f64::from(PACKET);
        }
        arrives_at = now + source.gap(now);
    }
    raises
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_raises_and_none_is_at_fault() {
        let raises = watch();
        assert!(raises.len() > 10, "{}", raises.len());
        assert_eq!(or_one(&raises, |raise| !raise.is_right || !raise.is_founded), 0.0);
        assert_eq!(or_one(&[], |_| false), 1.0, "nothing was checked");
    }

    #[test]
    fn a_raise_with_a_rate_high_enough_is_at_fault() {
        let mut records = Records::new();
        let start = Instant::from_nanos(1);
        records.counting_since = Some(start);
        records.accepted = FULL;
        records.on_drop(start + Duration::secs(1));
        records.ran_empty = true;
        records.accepted = 0.5 * FULL;
        assert!(!records.allow_raise(start + Duration::secs(2)), "the long-term rate is that of a full link");
    }
}
