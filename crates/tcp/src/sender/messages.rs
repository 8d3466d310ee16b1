//! Connections that carry messages, and the passive end of a connection.

use super::{Phase, Sender, Stream, Urgent};
use crate::receiver::Receiver;
use crate::segment::{Flags, Segment};
use goodqueue_base::units::{Bytes, Duration, Instant};

/// The continuation of a stream after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Another message may follow.
    More,
    /// FIN.
    Fin,
}

impl Sender {
    /// Appends a message to the stream of a sender made with
    /// [`Data::Messages`](crate::Data::Messages).
    ///
    /// Each message begins at a new segment, and its last segment may be short on the wire. In
    /// stream offsets that segment counts as full, so that offsets and segment numbers stay
    /// interchangeable: give the receiver every segment as a full one. A message should be written
    /// when the previous one has left; written earlier, it makes the previous one's last segment
    /// full. A short segment is retransmitted as a full one.
    pub fn write(&mut self, bytes: Bytes, ending: Ending) {
        debug_assert!(matches!(self.stream, Stream::Messages(_)), "messages are for senders made for them");
        self.unsettle();
        let whole = self.segmentation.whole(bytes.get());
        let rest = bytes.get() - self.segmentation.start_of(whole);
        self.last_len = if rest == 0 { self.segmentation.mss() } else { rest as u32 };
        self.end += whole + u64::from(rest > 0);
        self.stream = Stream::Messages(ending);
    }

    /// The stream offset one above everything written so far.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.segmentation.start_of(self.end)
    }

    /// Whether the connection is neither open nor being opened.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Opens this end of a connection that the other end has opened. The handshake of the other end
    /// took `rtt` here, and `receiver` is where the data sent from here will arrive. Does nothing
    /// on an open connection.
    ///
    /// Both ends have the same settings, so this end asks for the ECN feedback that the other end
    /// has asked for.
    pub fn accept(&mut self, now: Instant, rtt: Duration, receiver: &mut Receiver) {
        if self.phase != Phase::Closed {
            return;
        }
        let asked = Segment { timestamp: now, flags: self.handshake_flags(), ..Segment::default() };
        let answer = receiver.handle_segment(now, &asked, self.common_codepoint());
        self.last_sent_at = now.as_nanos().saturating_sub(rtt.as_nanos());
        let granted = answer.map_or(Flags::default(), |answer| answer.flags);
        self.establish(now, &Segment { flags: granted, ..Segment::default() });
        self.urgent = Urgent::Nothing;
        // The handshake ends now, whenever it began.
        self.last_sent_at = now.as_nanos();
    }
}
