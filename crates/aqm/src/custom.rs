//! Algorithms that the list of [`crate::algo`] does not have: a program's own, for prototypes and
//! bindings of other languages.
//!
//! They stand behind a pointer, and so cost an indirect call per hook. [`crate::AnyAqm`] does not
//! know of them: a queue under a listed algorithm pays nothing for their sake.

use crate::aqm::{Aqm, Comparison, Env, PacketView, QueueView, Verdict};
use crate::spec::{KindSpec, LinkFacts, ParamError};
use alloc::boxed::Box;
use core::fmt;
use goodqueue_base::units::{Instant, Packets};

/// An algorithm of a program's own.
pub trait CustomAlgorithm: Aqm + fmt::Debug + Send + Sync {
    /// One more in the state that a new one has.
    fn clone_box(&self) -> Box<dyn CustomAlgorithm>;
}

/// A kind of algorithm of a program's own, by the name it has in scenarios.
pub trait CustomKind: fmt::Debug + Send + Sync {
    /// The kind's name, and what files may say of it.
    fn spec(&self) -> &'static KindSpec;

    /// The kind's version, for the identity of a scenario.
    fn version(&self) -> &str;

    /// Builds the algorithm for a link.
    ///
    /// # Errors
    /// When it cannot be built for this link.
    fn build(&self, link: &LinkFacts) -> Result<Box<dyn CustomAlgorithm>, ParamError>;
}

/// Passes every packet: the substitute for an algorithm that could not be built.
#[derive(Clone, Copy, Debug)]
pub struct NoOp;

impl Aqm for NoOp {}

impl CustomAlgorithm for NoOp {
    fn clone_box(&self) -> Box<dyn CustomAlgorithm> {
        Box::new(*self)
    }
}

/// Any algorithm of a program's own.
#[derive(Debug)]
pub struct Own(pub Box<dyn CustomAlgorithm>);

impl Clone for Own {
    fn clone(&self) -> Self {
        Self(self.0.clone_box())
    }
}

forward_hooks!(Own { Self(aqm) => aqm: Box<dyn CustomAlgorithm> });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algo::codel::CoDel;
    use crate::books::EcnPolicy;
    use crate::queue::Limit;
    use crate::spec::{Kind, Param};
    use crate::{AnyQdisc, NoSink, Qdisc, Rng, SimplePacket};
    use goodqueue_base::units::{Bytes, Duration, Rate};

    const NO_PARAMS: &[Param] = &[];
    const MINE: KindSpec = KindSpec::own(Kind {
        kind: "mine",
        aliases: &[],
        title: "Mine",
        summary: "CoDel.",
        params: NO_PARAMS,
        source: "RFC 8289",
    });

    impl CustomAlgorithm for CoDel {
        fn clone_box(&self) -> Box<dyn CustomAlgorithm> {
            Box::new(Self::default())
        }
    }

    #[derive(Debug)]
    struct Mine;

    impl CustomKind for Mine {
        fn spec(&self) -> &'static KindSpec {
            &MINE
        }
        fn version(&self) -> &str {
            "1"
        }
        fn build(&self, _: &LinkFacts) -> Result<Box<dyn CustomAlgorithm>, ParamError> {
            Ok(Box::new(CoDel::default()))
        }
    }

    #[test]
    fn decides_as_the_listed_one() {
        let link = LinkFacts {
            rate: Some(Rate::mbit(10)),
            delay: Duration::ms(5),
            mtu: Bytes::new(1500),
            overhead: Bytes::ZERO,
            limit: Limit::packets(50),
        };
        let codel = crate::sched::kind("codel").expect("listed");
        let mut listed = AnyQdisc::build(codel, &[], &link, EcnPolicy::Drop, Rng::new(1)).expect("builds");
        let mut own = AnyQdisc::build_own(&Mine, &link, EcnPolicy::Drop, Rng::new(1)).expect("builds");
        let packet = SimplePacket::new(1500);
        for step in 1..4000_u64 {
            let now = Instant::ZERO + Duration::us(step * 700);
            for queue in [&mut listed, &mut own] {
                queue.enqueue(now, packet, &mut NoSink);
                if step % 2 == 0 {
                    queue.dequeue(now, &mut NoSink);
                }
            }
        }
        assert!(listed.counters().departed.packets.get() > 1000);
        assert_ne!(listed.counters().arrived, listed.counters().departed);
        assert_eq!(listed.counters(), own.counters());
    }
}
