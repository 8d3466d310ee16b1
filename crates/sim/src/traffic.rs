//! UDP sources: when the next packet leaves.

use crate::call::Listener;
use crate::random::exponential;
use crate::spec::{Datagrams, SizeLaw, SourceSpec};
use crate::trace::Probes;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate, Rng};

/// A source of UDP packets of one size.
#[derive(Clone, Debug)]
pub(crate) struct UdpSource {
    mean_ip_len: u16,
    sizes: SizeLaw,
    pub(crate) ecn: Ecn,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) stopped: bool,
    /// The listener of a call.
    pub(crate) listener: Option<Box<Listener>>,
    /// A second listener of the call while somebody watches, warm-up included.
    pub(crate) watcher: Option<Box<Listener>>,
    /// The probes of an echo.
    pub(crate) probes: Option<Box<Probes>>,
    rng: Rng,
    pattern: Pattern,
}

#[derive(Clone, Debug)]
enum Pattern {
    Constant(Gap),
    Poisson { mean_gap_s: f64 },
    OnOff { gap: Gap, mean_on_s: f64, mean_off_s: f64, left: u64, carry_s: f64 },
    Train { length: u32, gap: Duration, rest: Duration, left: u32 },
    Frames { interval: Duration, group: u32, large: f64, small: f64, number: u32, carry: f64, left: u64 },
}

/// An IP and a UDP header.
pub(crate) const MIN_PACKET: u16 = 28;

/// A constant gap kept exact by carrying the fraction of a nanosecond.
#[derive(Clone, Debug)]
struct Gap {
    whole: u64,
    remainder: u64,
    divisor: u64,
    carried: u64,
}

impl Gap {
    fn new(size: Bytes, rate: Rate) -> Self {
        let bit_nanos = size.bits() * 1_000_000_000;
        let divisor = rate.as_bit_s().max(1);
        Self { whole: bit_nanos / divisor, remainder: bit_nanos % divisor, divisor, carried: 0 }
    }

    fn next(&mut self) -> Duration {
        self.carried += self.remainder;
        let extra = u64::from(self.carried >= self.divisor);
        self.carried -= extra * self.divisor;
        Duration::ns(self.whole + extra)
    }
}

impl UdpSource {
    /// The source a specification describes; `None` for TCP.
    pub(crate) fn new(spec: &SourceSpec, rng: Rng) -> Option<Self> {
        let sizes = if let SourceSpec::Poisson { sizes, .. } = *spec { sizes } else { SizeLaw::Fixed };
        let Datagrams { packet_size, ecn, .. } = spec.datagrams()?;
        let pattern = match *spec {
            SourceSpec::Tcp { .. } | SourceSpec::Session { .. } => return None,
            SourceSpec::Cbr { rate, .. } => Pattern::Constant(Gap::new(packet_size, rate)),
            SourceSpec::Call { interval, .. } | SourceSpec::Echo { interval, .. } => {
                Pattern::Constant(Gap { whole: interval.as_nanos(), remainder: 0, divisor: 1, carried: 0 })
            }
            SourceSpec::Frames { rate, interval, group, ratio, .. } => {
                let mean = rate.as_bytes_s_f64() * interval.as_secs_f64();
                let small = mean * f64::from(group) / (f64::from(group - 1) + ratio);
                Pattern::Frames { interval, group, large: small * ratio, small, number: 0, carry: 0.0, left: 0 }
            }
            SourceSpec::Poisson { rate, .. } => {
                Pattern::Poisson { mean_gap_s: packet_size.bits() as f64 / rate.as_bit_s().max(1) as f64 }
            }
            SourceSpec::Train { length, gap, interval, .. } => {
                let rest = interval.saturating_sub(gap * u64::from(length - 1));
                Pattern::Train { length, gap, rest, left: length - 1 }
            }
            SourceSpec::OnOff { peak, mean_on, mean_off, .. } => Pattern::OnOff {
                gap: Gap::new(packet_size, peak),
                mean_on_s: mean_on.as_secs_f64(),
                mean_off_s: mean_off.as_secs_f64(),
                left: 0,
                carry_s: 0.0,
            },
        };
        let probes = if let SourceSpec::Echo { interval, .. } = *spec { Some(Box::new(Probes::new(interval))) } else { None };
        let mean_ip_len = packet_size.get().min(u64::from(u16::MAX)) as u16;
        Some(Self {
            mean_ip_len,
            sizes,
            ecn,
            sent: 0,
            delivered: 0,
            delivered_bytes: 0,
            stopped: false,
            listener: None,
            watcher: None,
            probes,
            rng,
            pattern,
        })
    }

    /// IP length of the packet that leaves now.
    #[inline]
    pub(crate) fn ip_len(&mut self) -> u16 {
        if let Pattern::Frames { left, .. } = &mut self.pattern {
            let len = (*left).min(u64::from(self.mean_ip_len));
            *left -= len;
            return (len as u16).max(MIN_PACKET);
        }
        match self.sizes {
            SizeLaw::Fixed => self.mean_ip_len,
            // Adding one before truncation rounds up; the cast saturates.
            SizeLaw::Exponential => (exponential(&mut self.rng, f64::from(self.mean_ip_len)) + 1.0) as u16,
        }
    }

    /// The time at which the first packet leaves, for a source that starts at `start`.
    pub(crate) fn first(&mut self, start: Instant) -> Instant {
        match self.pattern {
            Pattern::Constant(_) | Pattern::Train { .. } => start,
            Pattern::Frames { .. } => {
                self.begin_frame();
                start
            }
            _ => self.next(start),
        }
    }

    /// Bytes of the next frame; the fraction of a byte is carried over.
    fn begin_frame(&mut self) {
        if let Pattern::Frames { group, large, small, number, carry, left, .. } = &mut self.pattern {
            let bytes = if *number == 0 { *large } else { *small } + *carry;
            *number = (*number + 1) % *group;
            *left = (bytes as u64).max(1);
            *carry = (bytes - *left as f64).max(0.0);
        }
    }

    /// The time at which the packet after the one sent at `now` leaves.
    pub(crate) fn next(&mut self, now: Instant) -> Instant {
        match &mut self.pattern {
            Pattern::Constant(gap) => now + gap.next(),
            Pattern::Frames { left, interval, .. } => {
                if *left > 0 {
                    // A host hands over a frame at once.
                    return now;
                }
                let interval = *interval;
                self.begin_frame();
                now + interval
            }
            Pattern::Train { length, gap, rest, left } => {
                if *left > 0 {
                    *left -= 1;
                    return now + *gap;
                }
                *left = *length - 1;
                now + *rest
            }
            Pattern::Poisson { mean_gap_s } => now + Duration::from_secs_f64(exponential(&mut self.rng, *mean_gap_s)),
            Pattern::OnOff { gap, mean_on_s, mean_off_s, left, carry_s } => {
                if *left > 0 {
                    *left -= 1;
                    return now + gap.next();
                }
                // A burst holds at least one packet; the rest of a packet time is carried over to
                // the next burst (ns-2).
                let packet_s = gap.whole as f64 * 1e-9;
                let burst_s = exponential(&mut self.rng, *mean_on_s) + *carry_s;
                let packets = ((burst_s / packet_s) as u64).max(1);
                *carry_s = (burst_s - packets as f64 * packet_s).max(0.0);
                *left = packets - 1;
                now + gap.next() + Duration::from_secs_f64(exponential(&mut self.rng, *mean_off_s))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate_of(spec: &SourceSpec, seconds: f64) -> f64 {
        let mut source = UdpSource::new(spec, Rng::new(3)).expect("udp");
        let mut at = source.first(Instant::ZERO);
        let mut bytes = 0u64;
        while at.as_secs_f64() < seconds {
            bytes += u64::from(source.ip_len());
            at = source.next(at);
        }
        bytes as f64 * 8.0 / seconds
    }

    #[test]
    fn constant_gaps_do_not_drift() {
        let spec = SourceSpec::Cbr { rate: Rate::bit_s(14_930_325), packet_size: Bytes::new(1500), ecn: Ecn::NotEct };
        let measured = rate_of(&spec, 1000.0);
        assert!((measured - 14_930_325.0).abs() < 20.0, "{measured}");
    }

    #[test]
    fn trains_begin_at_the_interval_and_hold_their_gaps() {
        let of = |length, gap| SourceSpec::Train {
            length,
            gap,
            interval: Duration::ms(10),
            packet_size: Bytes::new(1500),
            ecn: Ecn::NotEct,
        };
        let times = |spec: &SourceSpec| {
            let mut source = UdpSource::new(spec, Rng::new(3)).expect("udp");
            let first = source.first(Instant::ZERO + Duration::ms(1));
            let mut times = vec![first];
            times.extend((1..6).scan(first, |at, _| {
                *at = source.next(*at);
                Some(*at)
            }));
            times.iter().map(|at| at.as_nanos() / 1_000).collect::<Vec<_>>()
        };
        assert_eq!(times(&of(3, Duration::us(200))), [1_000, 1_200, 1_400, 11_000, 11_200, 11_400]);
        assert_eq!(times(&of(3, Duration::ZERO)), [1_000, 1_000, 1_000, 11_000, 11_000, 11_000]);
        assert_eq!(times(&of(1, Duration::secs(9))), [1_000, 11_000, 21_000, 31_000, 41_000, 51_000]);
        let spec = of(3, Duration::us(200));
        let offered = spec.datagrams().expect("datagrams").mean_bit_s;
        assert!((rate_of(&spec, 100.0) / offered - 1.0).abs() < 1e-3 && (offered - 3.6e6).abs() < 1.0, "{offered}");
    }

    #[test]
    fn poisson_and_on_off_keep_their_mean_rate() {
        for sizes in [SizeLaw::Fixed, SizeLaw::Exponential] {
            let poisson = SourceSpec::Poisson { rate: Rate::mbit(1), packet_size: Bytes::new(1000), sizes, ecn: Ecn::NotEct };
            let measured = rate_of(&poisson, 2000.0);
            assert!((measured / 1e6 - 1.0).abs() < 0.01, "{measured}");
        }
        let frames = SourceSpec::Frames {
            rate: Rate::mbit(2),
            interval: Duration::ms(40),
            group: 12,
            ratio: 5.0,
            packet_size: Bytes::new(1500),
            ecn: Ecn::NotEct,
        };
        // 48 seconds hold a hundred groups.
        let measured = rate_of(&frames, 48.0);
        assert!((measured / 2e6 - 1.0).abs() < 0.002, "{measured}");
        let on_off = SourceSpec::OnOff {
            peak: Rate::mbit(1),
            mean_on: Duration::ms(20),
            mean_off: Duration::ms(80),
            packet_size: Bytes::new(100),
            ecn: Ecn::NotEct,
        };
        let measured = rate_of(&on_off, 2000.0);
        assert!((measured / 200e3 - 1.0).abs() < 0.03, "{measured}");
    }
}
