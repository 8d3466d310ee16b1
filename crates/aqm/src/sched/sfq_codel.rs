//! sfqCoDel: round robin by packets with a CoDel per flow, the predecessor of FQ-CoDel in ns-2.
//!
//! *Signal*: the sojourn time at the head of each flow.
//!
//! *Law*: packets are hashed into `flows` queues that take turns of one packet each, new queues
//! before the others; with `round = "bytes"` they are served by the deficit round robin of
//! [`super::fair_queue`]. CoDel is that of its authors' code for ns-2: an episode within eight
//! intervals of the last resumes two below its count, and nothing is signaled while no more than
//! one MTU waits over all flows, or nothing more in the flow itself. A full buffer drops the newest
//! packet of the flow with the most packets.
//!
//! *Parameters*: see `KINDS`. The defaults are those of the authors' code.
//!
//! *Deviations*: a new flow always goes before the others; the original puts it behind when only
//! one other is left. The guard uses the MTU of the link, the original the largest packet seen.
//! Among flows of equal length the first loses; in the original the choice varies. The original
//! only drops.
//!
//! *Limits*: rounds of packets give more to flows with large packets. Two flows in one queue share
//! it.
//!
//! *Source*: Nichols 2013; Nichols and Jacobson 2012.

use super::fair_queue::kinds::{self, FLOWS};
use super::fair_queue::{FairQueue, FairQueueParams, Share, Victim};
use super::flow_table::{MAX_BYTES, ShownBacklog};
use super::{Scheduler, Setup};
use crate::algo::codel::{self, CoDel};
use crate::aqm::{Aqm, Env, PacketView, QueueView, Verdict};
use crate::outline::aside;
use crate::qdisc::Packet;
use crate::spec::{Family, Kind, KindSpec, ParamError, ParamValues, TypedParam};
use goodqueue_base::units::{Bytes, Instant, Packets};

const ROUND: TypedParam<&str> = TypedParam::word("round", &["packets", "bytes"], "packets")
    .about("what flows share: packets, one a turn, or bytes, `quantum` a turn")
    .from_source("Nichols 2013");
const QUANTUM: TypedParam<Bytes> = TypedParam::size_in_bytes(kinds::QUANTUM.name(), Bytes::new(1514))
    .within(1.0, 1e9)
    .about("bytes that a flow may send in its turn, framing not counted")
    .from_source("RFC 8290 §5.2.3");

const KIND: KindSpec = KindSpec::new(
    Kind {
        kind: "sfq-codel",
        aliases: &[],
        title: "sfqCoDel",
        summary: "Round robin of packets, CoDel on each flow: the ns-2 predecessor of fq-codel",
        params: &[FLOWS.param, ROUND.param, QUANTUM.param, codel::TARGET.param, codel::INTERVAL.param],
        source: "Nichols 2013",
    },
    Family::FlowQueueing,
    "sojourn time, at each flow's head",
)
.with_queue_bytes(256);

/// CoDel of the authors' code for ns-2. A type apart from [`CoDel`], so that each of the two fair
/// queues is inlined where it is called: a shared one costs `fq-codel` a tenth more instructions.
#[derive(Clone, Debug)]
pub struct Ns2CoDel(CoDel);

impl Aqm for Ns2CoDel {
    #[inline]
    fn is_timeless() -> bool {
        CoDel::is_timeless()
    }
    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, queue: QueueView) -> Verdict {
        self.0.on_departure(env, head, queue)
    }
    #[inline]
    fn on_idle(&mut self, now: Instant) {
        self.0.on_idle(now);
    }
    fn on_evicted(&mut self, env: &mut Env<'_>, count: Packets) {
        self.0.on_evicted(env, count);
    }
    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.0.gauges(visit);
    }
}

/// The kind `sfq-codel`.
#[derive(Clone, Copy, Debug)]
pub struct SfqCoDelKind;

impl Scheduler for SfqCoDelKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = FairQueue<P, Ns2CoDel>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let round = ROUND.read(given);
        let by_bytes = round == "bytes";
        if !by_bytes {
            given.refuse_unused(&[QUANTUM.name()], ROUND.name(), round)?;
        }
        let params = FairQueueParams::build(given, setup.link)?;
        let share = if by_bytes { params.share } else { Share::Packets };
        let params = FairQueueParams {
            share,
            // The original has no bound on memory besides its limit.
            memory_limit: MAX_BYTES,
            victim: Victim::Longest,
            shown: ShownBacklog::TotalBehindOwn,
            ..params
        };
        let codel = Ns2CoDel(CoDel::of_ns2(given, setup.link)?);
        Ok(aside(|| {
            let mut queue = FairQueue::over(&codel, setup.link.limit, params);
            queue.set_up(setup);
            keep(queue)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::LinkFacts;
    use crate::{EcnPolicy, Limit, NoSink, Qdisc, SimplePacket};
    use goodqueue_base::units::{Bytes, Duration, Rate, Rng};

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
        let given = ParamValues::new(&KIND, &[]).expect("no values");
        let chosen = &crate::spec::KindAndParams::new(&KIND, alloc::vec::Vec::new());
        let setup = Setup { chosen, link: &link, ecn: EcnPolicy::Drop, rng: Rng::new(0) };
        let mut queue = SfqCoDelKind::build::<SimplePacket, _>(&given, setup, |queue| queue).expect("defaults");
        for _ in 0..40_001 {
            queue.enqueue(Instant::ZERO, SimplePacket::new(1000), &mut NoSink);
        }
        assert_eq!(queue.view().backlog, Bytes::new(40_000_000));
    }
}
