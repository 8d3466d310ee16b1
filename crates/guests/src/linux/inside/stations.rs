//! The hosts of the network inside.

use crate::linux::sys::network::Station;
use std::net::Ipv4Addr;

/// Addresses of the source.
pub const SOURCE: Station = Station { hardware: [2, 0, 0, 0, 0, 1], address: Ipv4Addr::new(10, 77, 0, 1) };

/// Addresses of the sink.
pub const SINK: Station = Station { hardware: [2, 0, 0, 0, 0, 2], address: Ipv4Addr::new(10, 77, 0, 2) };

pub(super) const LOOPBACK: Station = Station { hardware: [0; 6], address: Ipv4Addr::LOCALHOST };
