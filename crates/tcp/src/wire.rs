//! TCP segments as networks carry them: headers read from bytes, options, checksums and ECN.
//!
//! Inside this crate a [`Segment`](crate::Segment) has 64-bit offsets and exact times and counts. A
//! program that meets other TCPs translates at its edge, between those and a [`Packet`]: numbers of
//! 32 bits, [flags](TcpFlags) and [options](TcpOption) in the order in which they stand. The kind
//! of ECN is [negotiated](EcnKind) by three flags of the handshake; afterward [`accurate_ecn`] has
//! what both ends count by them (RFC 9768).
//!
//! ```
//! use goodqueue_tcp::wire::{Packet, TcpFlags, TcpOption};
//!
//! let mut bytes = [0; 44];
//! bytes[..10].copy_from_slice(&[0x45, 0, 0, 44, 0, 0, 0x40, 0, 64, 6]); // IPv4 with a segment of TCP
//! bytes[32..34].copy_from_slice(&[0x60, 2]); // 24 bytes of header, SYN
//! bytes[40..].copy_from_slice(&[2, 4, 5, 180]); // an option: segments of at most 1460 bytes
//! let syn = Packet { flags: TcpFlags::SYN, options: vec![TcpOption::Mss(1460)], ..Packet::default() };
//! assert_eq!(Packet::read(&bytes), Some(syn));
//! ```

pub mod accurate_ecn;
pub mod checksum;
mod ecn;
mod flags;
mod option;
mod packet;

pub use ecn::{EcnKind, reflected, reflection};
pub use flags::TcpFlags;
pub use option::{OPTION_SPACE, OptionList, TcpOption};
pub use packet::Packet;
