//! The pool of a session's channels, for models that open as many as they need.

use super::events::Channel;

/// Channels are numbered as they are first needed, and used again, the latest one first.
#[derive(Clone, Debug)]
pub(super) struct ChannelPool {
    free: Vec<Channel>,
    made: u32,
    most: u32,
}

impl ChannelPool {
    /// A pool of at most `most` channels.
    pub(super) const fn new(most: u32) -> Self {
        Self { free: Vec::new(), made: 0, most }
    }

    /// A channel that is not in use; `None` when too many are.
    pub(super) fn take(&mut self) -> Option<Channel> {
        if let Some(channel) = self.free.pop() {
            return Some(channel);
        }
        if self.made == self.most {
            return None;
        }
        self.made += 1;
        Some(self.made - 1)
    }

    /// `channel` is not in use any more.
    pub(super) fn give_back(&mut self, channel: Channel) {
        debug_assert!(!self.free.contains(&channel), "a channel is given back once");
        self.free.push(channel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_used_again_and_have_a_limit() {
        let mut pool = ChannelPool::new(1_000);
        assert_eq!((pool.take(), pool.take()), (Some(0), Some(1)));
        pool.give_back(0);
        assert_eq!((pool.take(), pool.take()), (Some(0), Some(2)));
        let more = std::iter::from_fn(|| pool.take()).count();
        assert_eq!(more + 3, 1_000);
    }
}
