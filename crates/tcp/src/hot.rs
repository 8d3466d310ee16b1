//! Shortcuts for a host that drives many thousands of connections and counts instructions and cache
//! lines, as `goodqueue-sim` does.
//!
//! Everything here can be done with the methods of [`Sender`] and [`Receiver`] as well. Not part of
//! the stable interface.

use crate::{Receiver, Segment, Sender, Transmit};
use goodqueue_base::units::{Ecn, Instant};

pub use crate::receiver::Routine;

/// Length of the prefix of a [`Sender`] that processing an acknowledgement reads, apart from
/// [`records`]; used as the prefetch size.
pub const SENDER_PREFIX: usize = Sender::TOUCHED;

/// The scoreboard records of the oldest outstanding segment and of the next one to be sent, for
/// prefetching.
#[inline]
#[must_use]
pub fn records(sender: &Sender) -> [&(impl Sized + use<>); 2] {
    sender.records()
}

/// Does the work of [`Sender::poll_transmit`], but only for a segment that was granted without
/// further checks, which most segments are. There may be others when there is none.
#[inline(always)]
pub fn poll_granted(sender: &mut Sender, now: Instant) -> Option<Transmit> {
    sender.poll_granted(now)
}

/// Whether [`Sender::poll_transmit`] may return a segment.
#[inline]
#[must_use]
pub const fn may_send(sender: &Sender) -> bool {
    sender.may_send()
}

/// Tells a sender that the host takes no more segments for now: the burst ends as if there were
/// none. The host may poll again at any time.
pub fn hold(sender: &mut Sender, now: Instant) {
    sender.hold(now);
}

/// Does the work of [`Receiver::handle_segment`], but only for data in order with nothing amiss,
/// which most segments are. Others are left to [`handle_unusual`].
#[inline(always)]
pub fn handle_routine(receiver: &mut Receiver, now: Instant, segment: &Segment, ecn: Ecn) -> Routine {
    receiver.handle_routine(now, segment, ecn)
}

/// Handles a segment that [`handle_routine`] has found unusual. Returns the acknowledgement to send
/// at once, if any.
pub fn handle_unusual(receiver: &mut Receiver, now: Instant, segment: &Segment, ecn: Ecn) -> Option<Segment> {
    receiver.handle_unusual(now, segment, ecn)
}
