//! Connections that carry messages, and the end that did not open the connection.

use super::{Phase, Sender, Urgent};
use crate::receiver::Receiver;
use crate::segment::{Flags, Segment};
use goodqueue_units::{Bytes, Duration, Instant};

/// What follows a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Perhaps another one.
    More,
    /// FIN.
    Fin,
}

impl Sender {
    /// Offers a message, after those before, to a sender made with [`Data::Messages`](crate::Data::Messages).
    ///
    /// Each message begins at a new segment, and its last one may be short on the wire. In the numbers of the stream it is full, so that offsets and segment
    /// numbers stay interchangeable: give the receiver every segment as a full one. A message should be written when the one before has
    /// left; written earlier, it makes that one's last segment full. Repeated later, a short segment is sent as a full one.
    pub fn write(&mut self, bytes: Bytes, ending: Ending) {
        debug_assert!(self.messages, "messages are for senders made for them");
        self.unsettle();
        let whole = self.segmentation.whole(bytes.get());
        let rest = bytes.get() - self.segmentation.start_of(whole);
        self.last_len = if rest == 0 { self.segmentation.mss() } else { rest as u32 };
        self.end += whole + u64::from(rest > 0);
        self.fin = ending == Ending::Fin;
    }

    /// The number one above what was written so far.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.segmentation.start_of(self.end)
    }

    /// Is the connection not open, and not being opened?
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Opens this end of a connection that the other end has opened: the other end's handshake took `rtt` here, and `receiver` is where the data sent
    /// from here will arrive. Does nothing on a connection already open.
    ///
    /// Both ends are set up alike, so what this end asks for in ECN is what the other end has asked for.
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
        // The handshake is over now, whenever it began.
        self.last_sent_at = now.as_nanos();
    }
}
