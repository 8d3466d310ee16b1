//! Tail drop: a plain FIFO that drops what does not fit.
//!
//! *Signal*: none; the queue's own limit is all there is.
//! *Law*: an arriving packet that would exceed the limit is dropped, everything else is queued.
//! *Parameters*: none of its own; the limit belongs to the queue.
//! *Departures*: none.
//! *Limits*: never marks; keeps a standing queue as long as senders keep it full. Limits in packets and in bytes behave
//! differently with mixed packet sizes.
//! *Source*: RFC 7567 §1, RFC 7928 §3.2.

use super::Algorithm;
use crate::aqm::Aqm;
use crate::spec::{Given, KindSpec, LinkFacts, ParamError};

/// The limit belongs to the queue, so nothing is left to decide.
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
        kind: "tail-drop",
        summary: "FIFO that drops what does not fit",
        signal: "the hard limit, on arrival",
        marks: false,
        params: &[],
        source: "RFC 7567 §1",
    }];

    fn build(_: &Given<'_>, _: &LinkFacts) -> Result<Self, ParamError> {
        Ok(Self)
    }
}
