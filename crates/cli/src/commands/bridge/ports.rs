//! The interfaces of a bridge: how each is opened, and what its kernel and driver granted.

use super::{Arguments, Failure, OffloadPolicy, PortKind, Requirement, say};
use goodqueue_base::units::Rate;
use goodqueue_live::clock::MonotonicClock;
use goodqueue_live::port::interface::InterfacePort;
use goodqueue_live::port::packet::{OnJoined, PacketPort};
use goodqueue_live::port::xdp::{Transfer, XdpPort};
use goodqueue_live::sys::busy::BusyPolling;
use goodqueue_live::sys::ethtool;
use goodqueue_live::sys::ring::Offloads;
use serde_json::{Value, json};
use std::io;

/// Features granted for an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// In the driver and without copies, of AF_XDP.
    pub xdp: Option<(bool, bool)>,
    /// Whether the kernel looks for frames when the bridge asks for them; `None`: it was not asked
    /// to.
    pub busy_poll: Option<BusyPolling>,
}

impl Granted {
    /// As `stats` has it.
    pub fn json(&self) -> Value {
        let polling = self.busy_poll.as_ref().map(|granted| {
            json!({
                "time_us": granted.time.as_nanos() / 1000, "preferred": granted.preferred, "budget": granted.budget,
                "refused": granted.refusal,
            })
        });
        json!({
            "kind": if self.xdp.is_some() { "af-xdp" } else { "af-packet" },
            "in_driver": self.xdp.map(|(native, _)| native),
            "zero_copy": self.xdp.map(|(_, zero_copy)| zero_copy),
            "busy_poll": polling,
        })
    }
}

/// Refuses options that exclude one another.
pub fn check(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.port == PortKind::AfXdp && arguments.offloads == Some(OffloadPolicy::Split) {
        return Err(Failure::Input(
            "--port af-xdp: takes no joined packets, so no --offloads split: allowed refuse, set, ignore".to_owned(),
        ));
    }
    if arguments.port == PortKind::AfPacket && arguments.zero_copy == Requirement::Require {
        return Err(Failure::Input(
            "--zero-copy require: packet sockets always copy: allowed auto, off, or --port af-xdp with it".to_owned(),
        ));
    }
    Ok(())
}

/// Opens an interface, and says what is not as usual.
pub fn open(
    arguments: &Arguments,
    offloads: OffloadPolicy,
    name: &str,
    clock: MonotonicClock,
    rate: Option<Rate>,
) -> Result<(InterfacePort, Granted), Failure> {
    let mut granted = Granted::default();
    let opened = match (arguments.port, offloads) {
        (PortKind::AfXdp, _) => XdpPort::open(name, transfer(arguments.zero_copy)).map(|port| {
            granted.xdp = Some((port.is_native(), port.is_zero_copy()));
            let place = if port.is_native() { "in the driver" } else { "behind the driver" };
            let copies = if port.is_zero_copy() { "without copies" } else { "frames copied" };
            say(&format!("{name}: AF_XDP, {place}, {copies}"));
            InterfacePort::from(port)
        }),
        (PortKind::AfPacket, OffloadPolicy::Split) => {
            PacketPort::open_as(name, clock, Offloads::On, rate).map(InterfacePort::from)
        }
        (PortKind::AfPacket, policy) => PacketPort::open_as(name, clock, Offloads::Off, rate).map(|mut port| {
            if policy != OffloadPolicy::Ignore {
                port.on_joined(OnJoined::Fail);
            }
            InterfacePort::from(port)
        }),
    };
    let mut port = opened.map_err(|error| refused(name, &error))?;
    if arguments.busy_poll != Requirement::Off {
        let polling = port.busy_poll();
        if let Some(refusal) = polling.refusal.as_ref().filter(|_| arguments.busy_poll == Requirement::Require) {
            return Err(Failure::Run(format!("--busy-poll=require: {name}: {refusal}")));
        }
        say(&format!("{name}: polled by the bridge, {polling}"));
        granted.busy_poll = Some(polling);
    }
    Ok((port, granted))
}

const fn transfer(zero_copy: Requirement) -> Transfer {
    match zero_copy {
        Requirement::Auto => Transfer::Either,
        Requirement::Require => Transfer::ZeroCopy,
        Requirement::Off => Transfer::Copied,
    }
}

/// Command that makes a sender on the same machine cut its packets itself.
pub(super) const SENDER_REMEDY: &str = "ethtool -K DEV tso off gso off tx-udp-segmentation off";

/// Why an interface could not be opened, and what to do.
pub(super) fn refused(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::PermissionDenied => Failure::Run(format!(
            "{name}: not permitted: run as root, or once `setcap cap_net_raw,cap_net_admin,cap_sys_resource+ep` on the gq program (AF_XDP needs cap_bpf, too)"
        )),
        _ if error.raw_os_error() == Some(19) => Failure::Input(format!("{name}: there is no such interface")),
        _ => Failure::Input(format!("{name}: {error}")),
    }
}

impl OffloadPolicy {
    /// Returns the policy that works between these interfaces when none is given: the kernel of a
    /// sender behind a veth pair joins packets, and no switch of this side prevents that.
    pub(super) fn for_port(port: PortKind, interfaces: [&String; 2]) -> Result<Self, Failure> {
        for name in interfaces {
            let driver = ethtool::driver(name).map_err(|error| refused(name, &error))?;
            if driver == "veth" && port == PortKind::AfPacket {
                return Ok(Self::Split);
            }
        }
        Ok(Self::Refuse)
    }
}
