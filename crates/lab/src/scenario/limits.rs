//! Limits that several tables share.

use goodqueue_base::units::{Duration, Rate};

/// Fastest link.
pub(crate) const MAX_RATE: Rate = Rate::gbit(10_000);
/// Longest run and latest start, in seconds.
pub(crate) const MAX_S: f64 = 1e7;
/// Longest run and latest start.
pub(crate) const MAX: Duration = Duration::secs(MAX_S as u64);
/// Longest propagation delay, in seconds.
pub(crate) const MAX_DELAY_S: f64 = 1e3;
/// Longest propagation delay.
pub(crate) const MAX_DELAY: Duration = Duration::secs(MAX_DELAY_S as u64);
/// Most jitter of an access link, in seconds.
pub(crate) const MAX_JITTER_S: f64 = 1.0;
/// Most jitter of an access link.
pub(crate) const MAX_JITTER: Duration = Duration::secs(MAX_JITTER_S as u64);
/// Packets and senders of more flows than this would not fit in memory.
pub(crate) const MAX_FLOWS: u64 = 100_000;
/// The same of all links that stand for several, and of their traffic.
pub(crate) const MAX_FLOWS_OF_COPIES: u64 = 400_000;
/// Most links, those that stand for several counted as that many.
pub(crate) const MAX_LINKS: u32 = 20_000;
/// Most bytes that a connection may have to send.
pub(crate) const MAX_DATA: f64 = 1e15;
