//! Traffic over UDP: how packets follow each other.

use super::params::Keys;
use super::reader::Table;
use crate::scenario::limits::MAX_RATE;
use crate::scenario::schema::traffic::UdpKind;
use goodqueue_base::spec::{ParamValues, Value};
use goodqueue_base::units::{Bytes, Ecn};
use goodqueue_sim::call::Codec;
use goodqueue_sim::{Content, SizeLaw, SourceSpec};

/// A group whose packet sizes still wait for the link's MTU.
pub(super) struct Draft {
    kind: UdpKind,
    own: Keys,
    ecn: Ecn,
}

impl Draft {
    /// A group of `kind` with these own keys and these of all kinds.
    pub(super) fn new(kind: UdpKind, own: Keys, settings: &ParamValues<'_>) -> Self {
        let ecn = match settings.value("ecn") {
            Some(Value::Switch(false)) | None => Ecn::NotEct,
            Some(Value::Choice("ect1")) => Ecn::Ect1,
            Some(_) => Ecn::Ect0,
        };
        Self { kind, own, ecn }
    }

    /// Whether the far end sends every packet back.
    pub(super) fn is_answered(&self) -> bool {
        self.kind == UdpKind::Echo
    }

    /// The source of each flow, and the one of its other direction; `None` for a fault, which is
    /// reported, or when a required key is missing, which is reported already.
    pub(super) fn finish(self, table: &Table<'_>, mtu: Bytes) -> Option<(SourceSpec, SourceSpec)> {
        let (own, ecn) = (self.own.given(), self.ecn);
        let packet_size = own.whole_bytes("packet_size").unwrap_or(mtu);
        let fits = |key: &str, size: Bytes| {
            if size > mtu {
                table.fault(key, format!("{size} is out of range: allowed up to the path's mtu, {mtu}"), None);
            }
            size <= mtu
        };
        if !fits("packet_size", packet_size) {
            return None;
        }
        let interval = || own.duration("interval");
        let count = |name| own.number(name).map(|number| number as u32);
        let source = match self.kind {
            UdpKind::Cbr => SourceSpec::Cbr { rate: own.rate("rate")?, packet_size, ecn },
            UdpKind::Poisson => {
                let sizes = if own.choice("sizes") == Some("exponential") { SizeLaw::Exponential } else { SizeLaw::Fixed };
                SourceSpec::Poisson { rate: own.rate("rate")?, packet_size, sizes, ecn }
            }
            UdpKind::Train => {
                let (length, gap, interval) = (count("length")?, own.duration("gap")?, interval()?);
                let on_fastest = MAX_RATE.transmission_time(Bytes::new(packet_size.get() * u64::from(length)));
                let shortest = (gap * u64::from(length - 1)).max(on_fastest);
                if interval < shortest {
                    let message = format!("{interval} is out of range: allowed from {shortest}, the time a train takes");
                    table.fault("interval", message, None);
                    return None;
                }
                SourceSpec::Train { length, gap, interval, packet_size, ecn }
            }
            UdpKind::OnOff => {
                let (mean_on, mean_off) = (own.duration("mean_on")?, own.duration("mean_off")?);
                SourceSpec::OnOff { peak: own.rate("peak")?, mean_on, mean_off, packet_size, ecn }
            }
            UdpKind::Voip => {
                let codec = own.choice("codec").and_then(Codec::named)?;
                let packet_size = own.whole_bytes("packet_size").unwrap_or(codec.packet_size());
                if !fits("codec", packet_size) {
                    return None;
                }
                let interval = own.rate("rate").map_or(Codec::FRAME, |rate| rate.transmission_time(packet_size));
                SourceSpec::Call { content: Content::Voice(codec), interval, packet_size, ecn }
            }
            UdpKind::VideoFrames => SourceSpec::Frames {
                rate: own.rate("rate")?,
                interval: interval()?,
                group: count("group")?,
                ratio: own.number("ratio")?,
                packet_size,
                ecn,
            },
            UdpKind::Echo => SourceSpec::Echo { interval: interval()?, packet_size, ecn },
            UdpKind::Gaming => {
                let (interval, packet_size_up) = (interval()?, own.whole_bytes("packet_size_up")?);
                if !fits("packet_size_up", packet_size_up) {
                    return None;
                }
                let of = |packet_size| SourceSpec::Call { content: Content::Game, interval, packet_size, ecn };
                return Some((of(packet_size), of(packet_size_up)));
            }
        };
        Some((source.clone(), source))
    }
}
