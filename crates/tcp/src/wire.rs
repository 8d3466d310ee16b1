//! TCP segments as networks carry them: headers as bytes, with options, checksums and ECN.
//!
//! Inside this crate a [`Segment`](crate::Segment) has 64-bit offsets and exact times and counts. A
//! program that meets other TCPs translates at its edge, between those and a [`Packet`]: numbers of
//! 32 bits, [flags](TcpFlags) and [options](TcpOption) in the order in which they stand. The kind
//! of ECN is [negotiated](EcnKind) by three flags of the handshake; afterward [`accurate_ecn`] has
//! what both ends count by them (RFC 9768).
//!
//! ```
//! use goodqueue_tcp::wire::{Addresses, Packet, TcpFlags, TcpOption};
//!
//! let syn = Packet { flags: TcpFlags::SYN, options: vec![TcpOption::Mss(1460)], ..Packet::default() };
//! let mut bytes = Vec::new();
//! syn.write(&Addresses::V4([[10, 0, 0, 1].into(), [10, 0, 0, 2].into()]), &mut bytes);
//! assert_eq!((bytes.len(), Packet::read(&bytes)), (44, Some(syn)));
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
pub use packet::{Addresses, Packet};
