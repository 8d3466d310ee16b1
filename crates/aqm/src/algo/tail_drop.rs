//! Tail drop: a plain FIFO that drops packets that do not fit.
//!
//! *Signal*: none besides the limit of the queue.
//! *Law*: an arriving packet that would exceed the limit is dropped; every other packet is queued.
//! *Parameters*: see `KINDS`.
//! *Deviations*: none.
//! *Limits*: never marks; keeps a standing queue as long as senders keep it full. Limits in packets
//! and in bytes differ when packet sizes do.
//! *Source*: RFC 7567 §1, RFC 7928 §3.2.

use super::Algorithm;
use crate::aqm::Aqm;
use crate::spec::{Family, Given, Kind, KindSpec, LinkFacts, Marking, ParamError};

/// Tail drop. The limit belongs to the queue, so there is nothing left to decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailDrop;

impl Aqm for TailDrop {
    #[inline]
    fn is_timeless() -> bool {
        true
    }
}

impl Algorithm for TailDrop {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        base: Kind {
            kind: "tail-drop",
            aliases: &[],
            title: "Tail drop",
            summary: "FIFO that drops what does not fit",
            params: &[],
            source: "RFC 7567 §1",
        },
        family: Family::TailDrop,
        signal: "the hard limit, on arrival",
        marks: Marking::Never,
        weighs: false,
    }];

    fn build(_: &Given<'_>, _: &LinkFacts) -> Result<Self, ParamError> {
        Ok(Self)
    }
}
