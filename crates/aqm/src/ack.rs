//! Pure acknowledgements: the facts that a queue may know, and which of two is redundant.

use goodqueue_base::units::Instant;

/// Data received beyond what is acknowledged in order (RFC 2018), or received twice (RFC 2883);
/// empty where `start` is `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackRange {
    /// First byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl SackRange {
    const fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// The acknowledgement in a packet that carries no data and opens or closes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PureAck {
    /// All bytes before this one were received.
    pub number: u64,
    /// The time stamp it echoes, from which senders measure round-trip times; equal where there
    /// are none.
    pub echoed: Instant,
    /// Congestion echoes and counts of marks: the bits that a sender must see change.
    pub echo: u8,
    /// Ranges reported selectively, unused ones empty and last.
    pub sack: [SackRange; 3],
}

impl PureAck {
    /// True if `newer`, sent later in the same direction of the same flow, says everything that
    /// this one says, apart from its congestion echo.
    ///
    /// It must acknowledge more, in order or selectively, and must not take anything back, nor echo
    /// an older time. A report of data that was received twice is unique.
    #[must_use]
    pub fn is_said_by(&self, newer: &Self) -> bool {
        if self.number > newer.number || self.echoed > newer.echoed {
            return false;
        }
        match self.sack_said_by(newer) {
            None => false,
            Some(says_more) => says_more || self.number < newer.number,
        }
    }

    fn ranges(&self) -> impl Iterator<Item = SackRange> {
        self.sack.into_iter().take_while(|range| range.len() > 0)
    }

    /// `None` unless every range is within one of `newer`; else whether `newer` reports more bytes.
    fn sack_said_by(&self, newer: &Self) -> Option<bool> {
        let is_within = |range: SackRange| newer.ranges().any(|other| other.start <= range.start && range.end <= other.end);
        let is_said = self.ranges().all(|range| range.start >= self.number && is_within(range));
        let bytes = |ack: &Self| ack.ranges().map(SackRange::len).sum::<u64>();
        is_said.then(|| bytes(newer) > bytes(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(number: u64, sack: &[(u64, u64)]) -> PureAck {
        let mut ack = PureAck { number, echoed: Instant::from_nanos(number), ..PureAck::default() };
        for (range, &(start, end)) in ack.sack.iter_mut().zip(sack) {
            *range = SackRange { start, end };
        }
        ack
    }

    #[test]
    fn a_later_acknowledgement_in_order_says_it_all() {
        assert!(ack(1000, &[]).is_said_by(&ack(2000, &[])));
        assert!(!ack(2000, &[]).is_said_by(&ack(1000, &[])));
        assert!(!ack(1000, &[]).is_said_by(&ack(1000, &[])), "a duplicate is a signal of its own");
    }

    #[test]
    fn selective_reports_must_be_covered() {
        let holes = ack(1000, &[(3000, 4000)]);
        assert!(holes.is_said_by(&ack(1000, &[(3000, 5000)])));
        assert!(!holes.is_said_by(&ack(1000, &[(3000, 4000)])), "a duplicate");
        assert!(!holes.is_said_by(&ack(1000, &[(3500, 5000)])));
        assert!(!holes.is_said_by(&ack(5000, &[])), "the newer one has no report to compare with");
        assert!(ack(1000, &[]).is_said_by(&holes));
        assert!(ack(1000, &[(5000, 6000), (3000, 4000)]).is_said_by(&ack(1000, &[(3000, 4000), (5000, 7000)])));
    }

    #[test]
    fn reports_of_doubles_and_later_echoes_are_kept() {
        assert!(!ack(1000, &[(500, 900)]).is_said_by(&ack(2000, &[(500, 900)])));
        let late = PureAck { echoed: Instant::from_nanos(9000), ..ack(1000, &[]) };
        assert!(!late.is_said_by(&ack(2000, &[])));
    }
}
