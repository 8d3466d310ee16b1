//! Bounds on what an endpoint may do.

/// IPv4 and UDP headers.
pub const HEADERS: usize = 28;
/// The largest UDP payload over IPv4.
pub const MAX_PAYLOAD: usize = u16::MAX as usize - HEADERS;
/// Datagrams in one buffer, as many as Linux takes (UDP_MAX_SEGMENTS).
pub const MAX_SEGMENTS: usize = 64;
/// Calls and datagrams of one endpoint at one instant. A stack with a large window sends a few
/// thousand packets at once.
pub const MAX_AT_AN_INSTANT: u32 = 100_000;
/// The bytes that a datagram counts in addition to its payload, so that empty ones are bounded,
/// too: about the memory that it takes here and in the world.
pub const DATAGRAM: usize = 256;
/// Bytes that one endpoint may have under way, in queues and on wires: 14 seconds at 100 Mbit/s.
pub const MAX_UNDER_WAY: usize = 200 << 20;
