//! A sender and a receiver for a host's settings, and the flags with which ends agree on ECN.

use super::accurate_ecn::negotiation::Kind;
use super::defaults::ConnectionDefaults;
use crate::packetdrill::stack::NotModelled;
use goodqueue_base::spec::Value;
use goodqueue_base::units::{Bytes, Ecn, Rng};
use goodqueue_tcp::cc::needs;
use goodqueue_tcp::{CcConfig, Data, EcnMode, Flags, LossDetection, Receiver, ReceiverConfig, SackReports, Sender, SenderConfig};

/// The flags of a SYN that asks for this kind of ECN.
pub(super) fn asks(ecn: Kind) -> Flags {
    match ecn {
        Kind::Off => Flags::SYN,
        Kind::Classic => Flags::SYN.with(Flags::ECE).with(Flags::CWR),
        Kind::Accurate => Flags::SYN.with(Flags::ECE).with(Flags::CWR).with(Flags::AE),
    }
}

/// The flags of an answer that grants this kind of ECN.
pub(super) fn granted(ecn: Kind) -> Flags {
    match ecn {
        Kind::Off => Flags::default(),
        Kind::Classic => Flags::ECE,
        Kind::Accurate => Flags::ECE.with(Flags::AE),
    }
}

/// A sender of messages.
pub(super) fn sender(host: &ConnectionDefaults, mss: u16, sack: bool, ecn: Kind) -> Result<Sender, NotModelled> {
    let params = if host.hystart || host.control != "cubic" { Vec::new() } else { vec![("hystart", Value::Switch(false))] };
    let config = SenderConfig {
        mss: Bytes::new(u64::from(mss)),
        cc: CcConfig { kind: host.control, params },
        loss_detection: if sack { LossDetection::Rack } else { LossDetection::Duplicates },
        ecn: match ecn {
            Kind::Off => EcnMode::Off,
            Kind::Classic => EcnMode::Classic,
            Kind::Accurate => accurate(host),
        },
        slow_start_exit: host.slow_start_exit,
        initial_window: host.initial_window,
        restart_after_idle: host.restart_after_idle,
        offload: host.offload,
        data: Data::Messages,
        ..SenderConfig::default()
    };
    Sender::new(&config, Rng::new(1)).map_err(|error| NotModelled(error.to_string()))
}

/// Accurate ECN as the control wants it: with ECT(1) if it is a scalable one (RFC 9331).
fn accurate(host: &ConnectionDefaults) -> EcnMode {
    let own = needs(host.control).map(|needs| needs.ecn);
    if own == Some(EcnMode::L4s) { EcnMode::L4s } else { EcnMode::Accurate }
}

/// The codepoint of packets with accurate ECN.
pub(super) fn codepoint(host: &ConnectionDefaults) -> Ecn {
    if accurate(host) == EcnMode::L4s { Ecn::Ect1 } else { Ecn::Ect0 }
}

/// A receiver.
pub(super) fn receiver(mss: u16, sack: bool) -> Receiver {
    let reports = if sack { SackReports::Compressed } else { SackReports::Off };
    Receiver::new(&ReceiverConfig { mss: Bytes::new(u64::from(mss)), sack: reports, ..ReceiverConfig::default() })
}
