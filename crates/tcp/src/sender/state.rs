//! Parts of a sender's state.

use crate::pacing::Pacer;
use crate::sample::Sampler;

/// No segment has this number.
pub(super) const NO_SEGMENT: u64 = u64::MAX;

/// Properties of an acknowledgement beyond the segments it delivers.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckFacts {
    /// Whether it moves the cumulative acknowledgement.
    pub(super) advanced: bool,
    /// Whether it newly reports segments selectively.
    pub(super) sacked: bool,
    /// Whether it neither advances nor reports a duplicate.
    pub(super) duplicate: bool,
    /// Whether it echoes congestion.
    pub(super) ece: bool,
    /// Segments that it reports as delivered with a mark.
    pub(super) marked: u32,
    /// Whether it delivers a segment that was sent once, from below the recovery point.
    pub(super) original: bool,
    /// The timestamp that it echoes.
    pub(super) echoed: u64,
    /// First segment not acknowledged before it.
    pub(super) prior_una: u64,
    /// Segments in flight before it.
    pub(super) prior_in_flight: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Closed,
    SynSent,
    Established,
}

/// The form of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Data without end, or data whose rest will not be sent: no segment carries FIN.
    Endless,
    /// A number of bytes: the last segment carries FIN and may be short.
    Bytes,
    /// Messages, see [`Sender::write`](super::Sender::write): the last segment of each may be short
    /// on the wire, and that of the last one carries FIN.
    Messages(Ending),
}

impl Stream {
    /// Whether the last segment carries FIN.
    pub(super) const fn ends(self) -> bool {
        matches!(self, Self::Bytes | Self::Messages(Ending::Fin))
    }

    /// Gives up the rest of the stream.
    pub(super) const fn abandon(&mut self) {
        *self = match self {
            Self::Endless | Self::Bytes => Self::Endless,
            Self::Messages(_) => Self::Messages(Ending::More),
        };
    }
}

/// The segment that the latest loss probe has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeContent {
    NewData,
    /// The last segment again.
    Repeat,
}

/// The step reached in the present recovery, or after the present timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecoveryStep {
    Ordinary,
    /// F-RTO looks, after a timeout, for signs that it was spurious (RFC 5682).
    ForwardRto,
    /// The rescue retransmission of a recovery was sent (RFC 6675 §4, rule 4).
    Rescued,
}

/// A segment to send whatever the window allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgent {
    Nothing,
    Syn,
    /// The third segment of the handshake.
    Ack,
    ProbeWithNewData,
    ProbeWithLastSegment,
}

/// The state of New Reno.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Duplicates {
    /// `recover`: one above the last segment sent when the latest repair began. Duplicates that do
    /// not reach beyond it may come from the repair itself.
    pub(super) recover: u64,
    /// An acknowledgement has advanced within this recovery.
    pub(super) partial: bool,
}

/// The kind of feedback, as settled by the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    /// No feedback: packets are Not-ECT.
    Nothing,
    /// The presence of marks, until the sender has reduced its window (RFC 3168).
    Classic,
    /// The mark of each packet (RFC 8257).
    Mirrored,
    /// The number of marked packets (RFC 9768).
    Counted,
}

/// The instruments of one sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Instruments {
    pub(super) sampler: Sampler,
    pub(super) pacer: Pacer,
}

/// The continuation of a stream after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Another message may follow.
    More,
    /// FIN.
    Fin,
}

/// The piece that is leaving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    /// Segments of the piece that is leaving: in all, and those that have left. One in all without
    /// offload.
    pub(super) size: u32,
    pub(super) left: u32,
    pub(super) enabled: bool,
    /// Segments wait for the next acknowledgement.
    pub(super) waiting: bool,
}

/// The segments that may be sent besides new data after the latest event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    Nothing,
    /// Lost segments before new segments.
    Lost,
    /// New segments first, to learn whether a timeout was spurious (F-RTO); lost segments only if
    /// there are no new ones.
    NewFirst,
}

/// The facts needed to notice that a reduction was a mistake.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The cumulative acknowledgement when the reduction began.
    pub(super) marker: Option<u64>,
    /// Retransmissions not yet reported as duplicates; `None` if there was none.
    pub(super) repeats: Option<u32>,
    /// Time of the first retransmission.
    pub(super) first_repeat_at: Option<u64>,
    /// Whether the control may restore its window.
    pub(super) restorable: bool,
}

/// Later than all times.
pub(super) const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Off,
    Handshake,
    Retransmit,
    Probe,
    Reordering,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    pub(super) usage: Use,
    /// Time at which it is due. It then waits for the next turn of its row.
    pub(super) at: u64,
    /// Time at which it was set; [`NEVER`] once `at` is a turn of the wheel.
    pub(super) set_at: u64,
}
