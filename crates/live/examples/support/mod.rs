//! Queues of the examples that measure.

use goodqueue_aqm::spec::LinkFacts;
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng, sched};
use goodqueue_base::units::{Bytes, Duration, Rate};
use goodqueue_live::LivePacket;
use std::error::Error;

/// A queue of this kind with its defaults, at a line of this rate, which drops.
pub fn queue(kind: &str, rate: Rate, limit: Limit) -> Result<AnyQdisc<LivePacket>, Box<dyn Error>> {
    let (mtu, overhead) = (Bytes::new(1500), Bytes::new(14));
    let facts = LinkFacts { rate: Some(rate), delay: Duration::ZERO, mtu, overhead, limit };
    let spec = sched::kind(kind).ok_or_else(|| format!("there is no queue `{kind}`"))?;
    Ok(AnyQdisc::build(spec, &[], &facts, EcnPolicy::Drop, Rng::new(1))?)
}
