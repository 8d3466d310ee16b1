//! Channels of sessions that open any number of connections, and transfers that each take one.

use super::events::{Action, After, Channel, Measurement, Payload, ROUND_TRIPS_FRESH, SessionContext};
use goodqueue_base::units::Instant;
use std::ops::{Index, IndexMut};

/// Channels and what each is, or was last, used for. They are numbered as they are first needed,
/// and used again, the latest one first.
#[derive(Clone, Debug)]
pub(super) struct ChannelPool<T> {
    uses: Vec<T>,
    free: Vec<Channel>,
    most: u32,
}

impl<T> ChannelPool<T> {
    /// A pool of at most `most` channels.
    pub(super) const fn new(most: u32) -> Self {
        Self { uses: Vec::new(), free: Vec::new(), most }
    }

    /// Takes a channel that is not in use for this use; `None` when too many are.
    pub(super) fn take(&mut self, what: T) -> Option<Channel> {
        if let Some(channel) = self.free.pop() {
            self[channel] = what;
            return Some(channel);
        }
        let channel = self.uses.len() as u32;
        (channel < self.most).then(|| {
            self.uses.push(what);
            channel
        })
    }

    /// Whether this many channels more can be taken.
    pub(super) fn has_room(&self, channels: u32) -> bool {
        self.free.len() as u64 + u64::from(self.most) >= self.uses.len() as u64 + u64::from(channels)
    }

    /// `channel` is not in use any more.
    pub(super) fn give_back(&mut self, channel: Channel) {
        debug_assert!(!self.free.contains(&channel), "a channel is given back once");
        self.free.push(channel);
    }
}

impl<T> Index<Channel> for ChannelPool<T> {
    type Output = T;

    fn index(&self, channel: Channel) -> &T {
        &self.uses[channel as usize]
    }
}

impl<T> IndexMut<Channel> for ChannelPool<T> {
    fn index_mut(&mut self, channel: Channel) -> &mut T {
        &mut self.uses[channel as usize]
    }
}

/// Transfers that nobody asks for, each on a connection of its own: their starts and bytes.
pub(super) type Transfers = ChannelPool<(Instant, u64)>;

impl Transfers {
    /// Begins a transfer now, or has it refused.
    pub(super) fn begin(&mut self, bytes: u64, context: &mut SessionContext<'_>) {
        let Some(channel) = self.take((context.now, bytes)) else {
            context.measure(Measurement::Refused);
            return;
        };
        context.measure(Measurement::Began);
        context.act(Action::Connect(channel));
        context.send(channel, Payload::Data, bytes, After::Close);
    }

    /// The transfer on a channel is complete.
    pub(super) fn complete(&mut self, channel: Channel, context: &mut SessionContext<'_>) {
        let (began, bytes) = self[channel];
        context.measure(Measurement::Complete { began, bytes, round_trips: ROUND_TRIPS_FRESH });
        self.give_back(channel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_used_again_and_have_a_limit() {
        let mut pool = ChannelPool::new(1_000);
        assert_eq!((pool.take(()), pool.take(())), (Some(0), Some(1)));
        pool.give_back(0);
        assert_eq!((pool.take(()), pool.take(())), (Some(0), Some(2)));
        let more = std::iter::from_fn(|| pool.take(())).count();
        assert_eq!(more + 3, 1_000);
    }
}
