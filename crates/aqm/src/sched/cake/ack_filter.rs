//! The filter that removes acknowledgements made redundant by a later one in the same queue.

use crate::ack::PureAck;
use crate::aqm::FlowHash;
use crate::pool::Place;
use crate::qdisc::Packet;
use goodqueue_base::words;

words! {
    /// The extent to which acknowledgements are thinned out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AckFilter {
        /// No acknowledgement is removed.
        Off = "off",
        /// One older acknowledgement is kept besides the newest.
        Normal = "on",
        /// Only the newest is left, where it follows the one that goes at once.
        Aggressive = "aggressive",
    }
}

impl AckFilter {
    /// The place of the packet to remove among those of a queue, oldest first, of which the last
    /// belongs to `flow` and says `newest`.
    pub(super) fn redundant<'p, P: Packet + 'p>(
        self,
        waiting: impl Iterator<Item = (Place, &'p P)>,
        flow: FlowHash,
        newest: &PureAck,
    ) -> Option<Place> {
        // The oldest that could go, with its congestion echo; when the echo changes behind it, the
        // change must not be lost.
        let mut found: Option<(Place, u8)> = None;
        let mut before = None;
        let mut waiting = waiting.peekable();
        while let Some((place, packet)) = waiting.next() {
            if waiting.peek().is_none() {
                break;
            }
            before = Some(place);
            let Some(ack) = packet.pure_ack().filter(|_| packet.flow() == flow) else { continue };
            found = found.filter(|&(_, echo)| echo == ack.echo);
            if !ack.is_said_by(newest) {
                continue;
            }
            match found {
                Some((oldest, _)) => return Some(oldest),
                None => found = Some((place, ack.echo)),
            }
        }
        let (place, echo) = found?;
        let may_go = self == Self::Aggressive && before == Some(place) && echo == newest.echo;
        may_go.then_some(place)
    }
}
