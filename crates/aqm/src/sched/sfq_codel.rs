//! sfqCoDel: round robin of packets with a CoDel for each flow, the predecessor of FQ-CoDel in ns-2.
//!
//! *Signal*: sojourn time, at each flow's head.
//!
//! *Law*: packets are hashed into `flows` queues that are served in turn, a packet each, new ones before the others; with
//! `round = "bytes"` by the deficit round robin of [`super::fair_queue`]. CoDel is that of its authors' code for ns-2: an episode within
//! eight intervals of the last resumes two below its count, and nothing is signalled while no more than one MTU waits over all
//! flows, or nothing more in the flow itself. A full buffer drops the newest packet of the flow with the most packets.
//!
//! *Parameters*: `flows` 1024, `round` packets, `quantum` 1514 bytes, `target` 5 ms, `interval` 100 ms (the authors' code).
//!
//! *Departures*: a new flow always goes before the others; the original puts it behind when only one other is left. The guard takes the
//! link's MTU, the original the largest packet seen. Between flows of equal length the first loses, in the original another each
//! time. The original drops only.
//!
//! *Limits*: rounds of packets give flows of large packets more. Two flows in one queue share its fate.
//!
//! *Source*: Nichols 2013; Nichols and Jacobson 2012.

use super::fair_queue::kinds::{FLOWS, QUANTUM, choice};
use super::fair_queue::{FairQueue, FairQueueParams, Share, Victim};
use super::flow_table::{MOST_BYTES, ShownBacklog};
use crate::algo::codel::{self, CoDel};
use crate::qdisc::Packet;
use crate::spec::{Given, KindSpec, LinkFacts, ParamError};

/// The kind that a file can name.
pub const KIND: KindSpec = KindSpec {
    kind: "sfq-codel",
    summary: "Round robin of packets, CoDel on each flow: the ns-2 predecessor of fq-codel",
    signal: "sojourn time, at each flow's head",
    marks: true,
    params: &[
        FLOWS,
        choice(
            "round",
            &["packets", "bytes"],
            "packets",
            "what flows share: packets, one a turn, or bytes, `quantum` a turn",
            "Nichols 2013",
        ),
        QUANTUM,
        codel::TARGET,
        codel::INTERVAL,
    ],
    source: "Nichols 2013",
};

/// sfqCoDel with the parameters of [`KIND`].
///
/// # Errors
/// When parameters contradict each other or the link.
pub fn build<P: Packet>(given: &Given<'_>, link: &LinkFacts) -> Result<FairQueue<P, CoDel>, ParamError> {
    let by_bytes = given.choice("round") == Some("bytes");
    if !by_bytes && given.is_given("quantum") {
        let message = "has no meaning in rounds of packets: allowed with round = \"bytes\"".into();
        return Err(ParamError { param: "quantum", message });
    }
    let params = FairQueueParams::build(given, link)?;
    let share = if by_bytes { params.share } else { Share::Packets };
    let params = FairQueueParams {
        share,
        // The original has a limit only, no bound on memory beside it.
        memory_limit: MOST_BYTES,
        victim: Victim::Longest,
        shown: ShownBacklog::TotalBehindOwn,
        ..params
    };
    Ok(FairQueue::new(CoDel::of_ns2(given, link)?, link.limit, params))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limit, NoSink, Qdisc, SimplePacket};
    use goodqueue_units::{Bytes, Duration, Instant, Rate};

    #[test]
    fn holds_all_that_its_limit_allows() {
        let limit = Limit::bytes(40_000_000);
        let link = LinkFacts {
            rate: Some(Rate::mbit(622)),
            delay: Duration::ms(48),
            mtu: Bytes::new(1000),
            overhead: Bytes::ZERO,
            limit,
        };
        let given = Given::new(&KIND, &[]).expect("no values");
        let mut queue = build::<SimplePacket>(&given, &link).expect("defaults");
        for _ in 0..40_001 {
            queue.enqueue(Instant::ZERO, SimplePacket::new(1000), &mut NoSink);
        }
        assert_eq!(queue.view().backlog, Bytes::new(40_000_000));
    }
}
