//! Traffic over UDP: how packets follow each other.

use super::reader::Table;
use crate::scenario::limits::MAX_RATE;
use crate::scenario::schema::traffic::UdpKind;
use goodqueue_base::spec::{ParamValues, Value};
use goodqueue_base::units::{Bytes, Duration, Ecn, Rate};
use goodqueue_sim::{Content, SizeLaw, SourceSpec};

/// A group whose packet sizes still wait for the link's MTU.
pub(super) struct Draft {
    pattern: Pattern,
    packet_size: Option<Bytes>,
    ecn: Ecn,
}

enum Pattern {
    Cbr(Rate),
    Poisson(Rate, SizeLaw),
    Train { length: u32, gap: Duration, interval: Duration },
    OnOff { peak: Rate, mean_on: Duration, mean_off: Duration },
    Voice(Rate),
    Game { interval: Duration, packet_size_up: Bytes },
    Frames { rate: Rate, interval: Duration, group: u32, ratio: f64 },
    Echo { interval: Duration },
}

impl Draft {
    /// A group of `kind` with these own keys; `None` when a required one is missing, which is
    /// reported already.
    pub(super) fn new(kind: UdpKind, own: &ParamValues<'_>, settings: &ParamValues<'_>) -> Option<Self> {
        let interval = || own.duration("interval");
        let count = |name| own.number(name).map(|number| number as u32);
        let pattern = match kind {
            UdpKind::Cbr => Pattern::Cbr(own.rate("rate")?),
            UdpKind::Poisson => {
                let law = if own.choice("sizes") == Some("exponential") { SizeLaw::Exponential } else { SizeLaw::Fixed };
                Pattern::Poisson(own.rate("rate")?, law)
            }
            UdpKind::OnOff => {
                Pattern::OnOff { peak: own.rate("peak")?, mean_on: own.duration("mean_on")?, mean_off: own.duration("mean_off")? }
            }
            UdpKind::Voip => Pattern::Voice(own.rate("rate")?),
            UdpKind::Gaming => Pattern::Game { interval: interval()?, packet_size_up: own.whole_bytes("packet_size_up")? },
            UdpKind::VideoFrames => Pattern::Frames {
                rate: own.rate("rate")?,
                interval: interval()?,
                group: count("group")?,
                ratio: own.number("ratio")?,
            },
            UdpKind::Train => Pattern::Train { length: count("length")?, gap: own.duration("gap")?, interval: interval()? },
            UdpKind::Echo => Pattern::Echo { interval: interval()? },
        };
        let ecn = match settings.value("ecn") {
            Some(Value::Switch(false)) | None => Ecn::NotEct,
            Some(Value::Choice("ect1")) => Ecn::Ect1,
            Some(_) => Ecn::Ect0,
        };
        Some(Self { pattern, packet_size: own.whole_bytes("packet_size"), ecn })
    }

    /// Whether the other end answers.
    pub(super) const fn is_answered(&self) -> bool {
        matches!(self.pattern, Pattern::Echo { .. })
    }

    /// The source at the sender, and the one that its other end would have. `None` when packets do
    /// not fit the path.
    pub(super) fn finish(self, table: &Table<'_>, mtu: Bytes) -> Option<(SourceSpec, SourceSpec)> {
        let Self { pattern, packet_size, ecn } = self;
        let packet_size = packet_size.unwrap_or(mtu);
        let fits = |key: &str, size: Bytes| {
            if size > mtu {
                table.fault(key, format!("{size} is out of range: allowed up to the path's mtu, {mtu}"), None);
            }
            size <= mtu
        };
        if !fits("packet_size", packet_size) {
            return None;
        }
        let source = match pattern {
            Pattern::Cbr(rate) => SourceSpec::Cbr { rate, packet_size, ecn },
            Pattern::Poisson(rate, sizes) => SourceSpec::Poisson { rate, packet_size, sizes, ecn },
            Pattern::Train { length, gap, interval } => {
                let on_fastest = MAX_RATE.transmission_time(Bytes::new(packet_size.get() * u64::from(length)));
                let shortest = (gap * u64::from(length - 1)).max(on_fastest);
                if interval < shortest {
                    let message = format!("{interval} is out of range: allowed from {shortest}, the time a train takes");
                    table.fault("interval", message, None);
                    return None;
                }
                SourceSpec::Train { length, gap, interval, packet_size, ecn }
            }
            Pattern::OnOff { peak, mean_on, mean_off } => SourceSpec::OnOff { peak, mean_on, mean_off, packet_size, ecn },
            Pattern::Voice(rate) => {
                let interval = rate.transmission_time(packet_size);
                SourceSpec::Call { content: Content::Voice, interval, packet_size, ecn }
            }
            Pattern::Frames { rate, interval, group, ratio } => {
                SourceSpec::Frames { rate, interval, group, ratio, packet_size, ecn }
            }
            Pattern::Echo { interval } => SourceSpec::Echo { interval, packet_size, ecn },
            Pattern::Game { interval, packet_size_up } => {
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
