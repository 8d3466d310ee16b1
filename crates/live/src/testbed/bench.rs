//! Three networks in a row: one end, the forwarder's place, the other end.

use crate::sys::ethtool::{Offload, Offloads, Switch};
use crate::testbed::namespace::Namespace;
use std::io;
use std::net::Ipv4Addr;

/// Offloads that the ends' kernels may leave to a network card. Between namespaces there is no
/// card, so the work would be left undone.
const OFFLOADS: [Offload; 4] = [Offload::Tso, Offload::Gso, Offload::Gro, Offload::TxChecksum];

/// Three networks in a row.
#[derive(Debug)]
pub struct Bench {
    /// The side of port A.
    pub left: Namespace,
    /// Network of the forwarder.
    pub middle: Namespace,
    /// The side of port B.
    pub right: Namespace,
}

/// Names and addresses of a bench.
impl Bench {
    /// The forwarder's port A.
    pub const PORT_A: &str = "gq-a";
    /// The forwarder's port B.
    pub const PORT_B: &str = "gq-b";
    /// The left end's interface.
    pub const LEFT: &str = "left";
    /// The right end's interface.
    pub const RIGHT: &str = "right";
    /// The left end's address.
    pub const LEFT_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
    /// The right end's address.
    pub const RIGHT_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

    /// Builds it: links up, addresses set, offloads off, no IPv6 of the ends' own, nothing
    /// remembered between connections.
    ///
    /// # Errors
    /// When the kernel refuses, or there is no `ip` program.
    pub fn new() -> io::Result<Self> {
        Self::build(Segments::Single)
    }

    /// Builds the networks as [`Bench::new`] does, with the ends' offloads as the kernel has them:
    /// TCP leaves joined frames with partial checksums.
    ///
    /// # Errors
    /// As those of [`Bench::new`].
    pub fn with_offloads() -> io::Result<Self> {
        Self::build(Segments::Joined)
    }

    fn build(segments: Segments) -> io::Result<Self> {
        let bench = Self { left: Namespace::new()?, middle: Namespace::new()?, right: Namespace::new()? };
        for (namespace, end, port, address) in [
            (&bench.left, Self::LEFT, Self::PORT_A, Self::LEFT_ADDRESS),
            (&bench.right, Self::RIGHT, Self::PORT_B, Self::RIGHT_ADDRESS),
        ] {
            namespace.ip(&format!("link add {end} type veth peer name {port} netns {}", bench.middle.path()))?;
            for (place, name) in [(namespace, end), (&bench.middle, port)] {
                // Absent from kernels without IPv6, which have nothing to be kept quiet.
                let _ = place.set(&format!("net.ipv6.conf.{name}.disable_ipv6"), "1");
                if segments == Segments::Single {
                    place.within(|| without_offloads(name))?;
                }
                place.ip(&format!("link set {name} up"))?;
            }
            namespace.ip(&format!("addr add {address}/24 dev {end}"))?;
            namespace.set("net.ipv4.tcp_no_metrics_save", "1")?;
            // Room for a window of 10 Gbit/s times 25 ms.
            for kind in ["tcp_wmem", "tcp_rmem"] {
                namespace.set(&format!("net.ipv4.{kind}"), "4096 131072 33554432")?;
            }
        }
        Ok(bench)
    }
}

/// Frames in which the ends' TCP sends its segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// Each segment as a frame.
    Single,
    /// Up to 64 KiB in a frame.
    Joined,
}

fn without_offloads(name: &str) -> io::Result<()> {
    let offloads = Offloads::of(name)?;
    OFFLOADS.into_iter().try_for_each(|offload| {
        offloads.set(offload, Switch::Off)?;
        // Some drivers say yes and mean no.
        if offloads.is_on(offload)? {
            return Err(io::Error::other(format!("{name}: {} stays on", offload.name())));
        }
        Ok(())
    })
}
