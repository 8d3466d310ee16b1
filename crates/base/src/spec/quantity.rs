//! Quantities as people write them: `"10 Mbit/s"`, `10mbit`, `"5 ms"`, `"30 packets"`, `"45 kB"`,
//! `"1 bdp"`, `"5 %"`.
//!
//! A number without a unit is rejected where a unit is needed. The functions here know units and
//! reject negative and non-finite numbers; further restrictions belong to each setting, see
//! [`Limits`].

use crate::spec::{Size, Value};
use crate::units::{Bytes, Duration, Rate};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

pub use crate::spec::excerpt::excerpt;

/// A string that is not a valid quantity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuantityError {
    /// The string, cut to a readable length.
    pub text: Box<str>,
    /// The fault of the string.
    pub fault: QuantityFault,
    /// The text to write instead.
    pub help: Option<Box<str>>,
}

/// The fault of a string that is not a valid quantity.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QuantityFault {
    /// No number at the beginning.
    NoNumber,
    /// A number above all that are represented.
    TooLarge,
    /// `inf` or `nan`.
    NotFinite,
    /// A comma in place of the decimal point.
    DecimalComma,
    /// A number below zero.
    Negative,
    /// A fraction of a packet.
    PartOfAPacket,
    /// A number alone.
    NoUnit,
    /// A unit that may mean bits or bytes.
    AmbiguousUnit(Box<str>),
    /// A unit that is none of those of the quantity.
    UnknownUnit(Box<str>),
    /// A rate in bytes.
    BytesPerSecond,
    /// A quantity outside of what is allowed.
    OutOfRange {
        /// Smallest allowed.
        low: Value,
        /// Largest allowed.
        high: Value,
    },
    /// A whole number outside of what is allowed.
    CountOutOfRange {
        /// Smallest allowed.
        low: u64,
        /// Largest allowed.
        high: u64,
    },
}

impl QuantityError {
    /// The error of `text`.
    #[must_use]
    pub fn new(text: &str, fault: QuantityFault, help: Option<&str>) -> Self {
        Self { text: excerpt(text).into(), fault, help: help.map(Box::from) }
    }

    /// The fault in words, including the string.
    #[must_use]
    pub fn message(&self) -> String {
        let text = &self.text;
        match &self.fault {
            QuantityFault::NoNumber => format!("`{text}` does not begin with a number"),
            QuantityFault::TooLarge => format!("`{text}` is too large for a number"),
            QuantityFault::NotFinite => format!("`{text}` is not a finite number"),
            QuantityFault::DecimalComma => format!("`{text}` has a decimal comma: use a point"),
            QuantityFault::Negative => format!("`{text}` is negative: allowed 0 and above"),
            QuantityFault::PartOfAPacket => format!("`{text}` is no whole number of packets"),
            QuantityFault::NoUnit => format!("`{text}` has no unit"),
            QuantityFault::AmbiguousUnit(unit) => format!("`{text}`: unit `{unit}` is ambiguous, bits or bytes"),
            QuantityFault::UnknownUnit(unit) => format!("`{text}` has the unknown unit `{unit}`"),
            QuantityFault::BytesPerSecond => format!("`{text}` is in bytes per second: rates are in bits per second"),
            QuantityFault::OutOfRange { low, high } => format!("`{text}` is out of range: allowed {low} to {high}"),
            QuantityFault::CountOutOfRange { low, high } => format!("`{text}` is out of range: allowed {low} to {high}"),
        }
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        match &self.help {
            Some(help) => {
                f.write_str("; ")?;
                f.write_str(help)
            }
            None => Ok(()),
        }
    }
}

impl core::error::Error for QuantityError {}

/// The smallest and largest value that a setting allows, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits<T> {
    /// Smallest allowed.
    pub low: T,
    /// Largest allowed.
    pub high: T,
}

/// A quantity that has limits.
pub trait Limited: PartialOrd + Copy {
    /// The fault of a quantity below `low` or above `high`.
    fn out_of_range(low: Self, high: Self) -> QuantityFault;
}

macro_rules! limited {
    ($($Type:ty)+) => {
        $(impl Limited for $Type {
            fn out_of_range(low: Self, high: Self) -> QuantityFault {
                QuantityFault::OutOfRange { low: low.into(), high: high.into() }
            }
        })+
    };
}

limited! { Duration Rate Bytes f64 }

impl Limited for u64 {
    fn out_of_range(low: Self, high: Self) -> QuantityFault {
        QuantityFault::CountOutOfRange { low, high }
    }
}

impl<T: Limited> Limits<T> {
    /// The range from `low` to `high`, both included.
    #[must_use]
    pub const fn new(low: T, high: T) -> Self {
        Self { low, high }
    }

    /// Returns `value` if it is allowed.
    ///
    /// # Errors
    /// Otherwise; the message has `text`, the value as written, and the allowed range.
    pub fn check(&self, value: T, text: &str) -> Result<T, QuantityError> {
        if value >= self.low && value <= self.high { Ok(value) } else { Err(self.refuse(text)) }
    }

    /// The refusal of `text`, which lies outside.
    #[must_use]
    pub fn refuse(&self, text: &str) -> QuantityError {
        QuantityError::new(text, T::out_of_range(self.low, self.high), None)
    }

    /// The nearest whole number of base units, if what was written is allowed before it is rounded.
    /// Whatever is too large for 64 bits is too large here.
    fn check_whole(&self, value: f64, text: &str, unit: impl Fn(u64) -> T) -> Result<T, QuantityError> {
        if value < 0.0 || value >= u64::MAX as f64 {
            return Err(self.refuse(text));
        }
        // A difference from a whole number that is smaller than this comes from the conversion
        // between units.
        if libm::fabs(value - libm::round(value)) > value * 1e-12 {
            self.check(unit(libm::floor(value) as u64), text)?;
            self.check(unit(libm::ceil(value) as u64), text)?;
        }
        self.check(unit(libm::round(value) as u64), text)
    }
}

/// The size of a buffer as written by a user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buffer {
    /// Bytes, packets, or time at link rate.
    Size(Size),
    /// Multiples of rate x base round-trip time.
    Bdp(f64),
}

/// Units: the spellings and the size in base units of each.
type Units = &'static [(&'static [&'static str], f64)];

/// Base unit: nanosecond.
const TIME: Units = &[
    (&["ns"], 1.0),
    (&["us", "µs", "μs"], 1e3),
    (&["ms", "msec"], 1e6),
    (&["s", "sec", "second", "seconds"], 1e9),
    (&["min", "minute", "minutes"], 60e9),
    (&["h", "hour", "hours"], 3600e9),
];

/// Base unit: bit/s. Upper and lower case are equal, except that a capital B would mean bytes; see
/// [`rate`].
const RATE: Units = &[
    (&["bit/s", "bps", "bit", "b/s"], 1.0),
    (&["kbit/s", "kbps", "kbit", "kb/s"], 1e3),
    (&["mbit/s", "mbps", "mbit", "mb/s"], 1e6),
    (&["gbit/s", "gbps", "gbit", "gb/s"], 1e9),
    (&["tbit/s", "tbps", "tbit", "tb/s"], 1e12),
];

const BYTES: Units = &[
    (&["B", "byte", "bytes"], 1.0),
    (&["kB", "KB"], 1e3),
    (&["MB"], 1e6),
    (&["GB"], 1e9),
    (&["KiB", "kiB"], 1024.0),
    (&["MiB"], 1_048_576.0),
    (&["GiB"], 1_073_741_824.0),
];

const PACKETS: Units = &[(&["packets", "packet", "pkts", "pkt", "p"], 1.0)];
const BDP: Units = &[(&["bdp", "BDP"], 1.0)];

const TIME_HELP: &str = "write a time like \"5 ms\", \"100 us\" or \"10 s\"";
const RATE_HELP: &str = "write a rate in bits like \"10 Mbit/s\", \"512 kbit/s\" or \"1 Gbit/s\"";
const BYTES_HELP: &str = "write a size like \"1500 B\", \"45 kB\" or \"64 KiB\"";
const SIZE_HELP: &str = "write an amount like \"5 packets\", \"45 kB\" or \"5 ms\" (at link rate)";
const BUFFER_HELP: &str = "write an amount like \"1 bdp\", \"30 packets\", \"45 kB\" or \"50 ms\" (at link rate)";
const RATIO_HELP: &str = "write a share like \"5 %\" or 0.05";
const NUMBER_HELP: &str = "write a plain number like 1.2";

/// A time span, rounded to the nearest nanosecond.
///
/// # Errors
/// Not a finite number, no unit, an unknown unit, negative, or above 291 years.
pub fn duration(text: &str) -> Result<Duration, QuantityError> {
    duration_within(text, Limits::new(Duration::ZERO, Duration::secs(9_200_000_000)))
}

/// A time span within limits, rounded to the nearest nanosecond.
///
/// # Errors
/// Not a finite number, no unit, an unknown unit, or outside the limits.
pub fn duration_within(text: &str, limits: Limits<Duration>) -> Result<Duration, QuantityError> {
    let number = Number::split_signed(text, TIME_HELP)?;
    let nanos = number.times(TIME).ok_or_else(|| number.wrong_unit(TIME_HELP))?;
    limits.check_whole(nanos, text, Duration::ns)
}

/// A rate, rounded to the nearest bit per second.
///
/// # Errors
/// Not a finite number, no unit, an unknown unit, negative, or above 10^18 bit/s.
pub fn rate(text: &str) -> Result<Rate, QuantityError> {
    rate_within(text, Limits::new(Rate::ZERO, Rate::gbit(1_000_000_000)))
}

/// A rate within limits, rounded to the nearest bit per second.
///
/// # Errors
/// Not a finite number, no unit, an unknown unit, or outside the limits.
pub fn rate_within(text: &str, limits: Limits<Rate>) -> Result<Rate, QuantityError> {
    let number = Number::split_signed(text, RATE_HELP)?;
    if number.unit.ends_with("B/s") {
        return Err(QuantityError::new(text, QuantityFault::BytesPerSecond, Some(RATE_HELP)));
    }
    let lower = Number { unit: &number.unit.to_ascii_lowercase(), ..number };
    let bits = lower.times(RATE).ok_or_else(|| number.wrong_unit(&rate_help(lower.unit, text)))?;
    limits.check_whole(bits, text, Rate::bit_s)
}

/// Numbers without a unit from which on people mean bits per second rather than megabits.
const BITS_FROM: f64 = 100_000.0;

/// The help for a rate whose unit is missing or only a factor, as in `10M`: people mean bits.
fn rate_help(unit: &str, text: &str) -> String {
    let factor = match unit {
        "" if text.trim().parse::<f64>().is_ok_and(|number| number >= BITS_FROM) => "",
        "" | "m" => "M",
        "k" => "k",
        "g" => "G",
        _ => return RATE_HELP.to_owned(),
    };
    let number = text.trim().trim_end_matches(char::is_alphabetic).trim_end();
    // In kernels there is not enough stack for the formatting of numbers at this depth.
    ["if bits per second are meant, write \"", &excerpt(number), " ", factor, "bit/s\""].concat()
}

/// A size within limits, rounded to the nearest byte.
///
/// # Errors
/// Not a finite number, no unit, an unknown unit, or outside the limits.
pub fn bytes_within(text: &str, limits: Limits<Bytes>) -> Result<Bytes, QuantityError> {
    let number = Number::split_signed(text, BYTES_HELP)?;
    let bytes = number.times(BYTES).ok_or_else(|| number.wrong_unit(BYTES_HELP))?;
    limits.check_whole(bytes, text, Bytes::new)
}

/// An amount of queue: bytes, packets, or time at link rate.
///
/// # Errors
/// Not a finite number, no unit, an unknown unit, or negative.
pub fn size(text: &str) -> Result<Size, QuantityError> {
    let number = Number::split(text, SIZE_HELP)?;
    number.size(text)?.ok_or_else(|| number.wrong_unit(SIZE_HELP))
}

/// The size of a buffer: bytes, packets, time at link rate, or multiples of the bandwidth-delay
/// product.
///
/// # Errors
/// Not a finite number, no unit, an unknown unit, negative, or a fraction of a packet.
pub fn buffer(text: &str) -> Result<Buffer, QuantityError> {
    let number = Number::split(text, BUFFER_HELP)?;
    if let Some(multiple) = number.times(BDP) {
        return Ok(Buffer::Bdp(multiple));
    }
    if number.times(PACKETS).is_some_and(|packets| packets != libm::trunc(packets)) {
        return Err(QuantityError::new(text, QuantityFault::PartOfAPacket, None));
    }
    number.size(text)?.map(Buffer::Size).ok_or_else(|| number.wrong_unit(BUFFER_HELP))
}

/// A share: a plain number or percent.
///
/// # Errors
/// Not a finite number, a unit other than `%`, or negative.
pub fn ratio(text: &str) -> Result<f64, QuantityError> {
    let number = Number::split(text, RATIO_HELP)?;
    match number.unit {
        "" => Ok(number.value),
        "%" => Ok(number.value / 100.0),
        _ => Err(number.wrong_unit(RATIO_HELP)),
    }
}

/// A plain number without unit, of either sign.
///
/// # Errors
/// Not a finite number, or a unit.
pub fn number(text: &str) -> Result<f64, QuantityError> {
    let number = Number::split_signed(text, NUMBER_HELP)?;
    if number.unit.is_empty() { Ok(number.value) } else { Err(number.wrong_unit(NUMBER_HELP)) }
}

/// A string split into its number and the rest.
#[derive(Clone, Copy)]
struct Number<'a> {
    text: &'a str,
    value: f64,
    unit: &'a str,
}

impl<'a> Number<'a> {
    /// A finite number of zero or more, and its unit.
    fn split(text: &'a str, help: &str) -> Result<Self, QuantityError> {
        let number = Self::split_signed(text, help)?;
        if number.value < 0.0 {
            return Err(QuantityError::new(text, QuantityFault::Negative, None));
        }
        Ok(number)
    }

    fn split_signed(text: &'a str, help: &str) -> Result<Self, QuantityError> {
        let trimmed = text.trim();
        let digits = number_length(trimmed);
        let refuse = |fault| Err(QuantityError::new(text, fault, Some(help)));
        let value: f64 = match trimmed[..digits].parse() {
            Ok(value) if f64::is_finite(value) => value,
            Ok(_) => return refuse(QuantityFault::TooLarge),
            Err(_) if is_not_finite(trimmed) => return refuse(QuantityFault::NotFinite),
            Err(_) => return refuse(QuantityFault::NoNumber),
        };
        let unit = trimmed[digits..].trim_start();
        if unit.starts_with(',') {
            return refuse(QuantityFault::DecimalComma);
        }
        Ok(Self { text, value, unit })
    }

    /// The value in base units, if the unit is one of `units`.
    fn times(&self, units: Units) -> Option<f64> {
        units.iter().find(|(spellings, _)| spellings.contains(&self.unit)).map(|(_, factor)| self.value * factor)
    }

    fn size(&self, text: &str) -> Result<Option<Size>, QuantityError> {
        if self.times(TIME).is_some() {
            return Ok(Some(Size::Time(duration(text)?)));
        }
        Ok(self.times(PACKETS).map(Size::Packets).or_else(|| self.times(BYTES).map(Size::Bytes)))
    }

    fn wrong_unit(&self, help: &str) -> QuantityError {
        let fault = match self.unit {
            "" => QuantityFault::NoUnit,
            "kb" | "Kb" | "Mb" | "Gb" => QuantityFault::AmbiguousUnit(self.unit.into()),
            unit => QuantityFault::UnknownUnit(excerpt(unit).into()),
        };
        QuantityError::new(self.text, fault, Some(help))
    }
}

/// Length in bytes of the decimal number that starts `text`: sign, digits, point, exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut end = digits(sign);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent_end = digits(exponent.min(bytes.len()));
        if exponent_end > exponent {
            end = exponent_end;
        }
    }
    end
}

fn is_not_finite(text: &str) -> bool {
    let word = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    word.starts_with("nan") || word.starts_with("inf")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn message<T: fmt::Debug>(result: Result<T, QuantityError>) -> String {
        result.expect_err("refused").to_string()
    }

    #[test]
    fn times_are_read_to_the_nanosecond() {
        for (text, nanos) in [
            ("5 ms", 5_000_000),
            ("2.5ms", 2_500_000),
            ("0 s", 0),
            ("100 us", 100_000),
            ("803.7 µs", 803_700),
            ("1e3 ns", 1_000),
            ("  10 s ", 10_000_000_000),
            ("1.5 min", 90_000_000_000),
            ("2 h", 7_200_000_000_000),
            (".5 ms", 500_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::ns(nanos)), "{text}");
        }
    }

    #[test]
    fn rates_are_read_in_any_spelling() {
        for text in ["10 Mbit/s", "10mbit", "10mbps", "10 Mb/s", "10000 kbit/s", "0.01 Gbit/s", "1e7 bit/s", "10Mbps"] {
            assert_eq!(rate(text), Ok(Rate::mbit(10)), "{text}");
        }
    }

    #[test]
    fn amounts_of_queue_are_read() {
        assert_eq!(size("30 packets"), Ok(Size::Packets(30.0)));
        assert_eq!(size("45 kB"), Ok(Size::Bytes(45_000.0)));
        assert_eq!(size("45 KiB"), Ok(Size::Bytes(46_080.0)));
        assert_eq!(size("2.5 ms"), Ok(Size::Time(Duration::us(2_500))));
        assert_eq!(buffer("1 bdp"), Ok(Buffer::Bdp(1.0)));
        assert_eq!(buffer("1bdp"), Ok(Buffer::Bdp(1.0)));
        assert_eq!(buffer("30packets"), Ok(Buffer::Size(Size::Packets(30.0))));
        assert_eq!(bytes_within("7 B", Limits::new(Bytes::ZERO, Bytes::MAX)), Ok(Bytes::new(7)));
    }

    #[test]
    fn shares_are_plain_or_per_cent() {
        assert_eq!(ratio("5 %"), Ok(0.05));
        assert_eq!(ratio("7%"), Ok(0.07));
        assert_eq!(ratio("0.05"), Ok(0.05));
    }

    #[test]
    fn a_refusal_names_the_text_and_what_to_write() {
        for (text, fault, meant) in [
            ("50", "has no unit", "50 Mbit/s"),
            ("1000000", "has no unit", "1000000 bit/s"),
            ("10M", "has the unknown unit `M`", "10 Mbit/s"),
            ("1.5 m", "has the unknown unit `m`", "1.5 Mbit/s"),
            ("512k", "has the unknown unit `k`", "512 kbit/s"),
            ("1G", "has the unknown unit `G`", "1 Gbit/s"),
        ] {
            assert_eq!(message(rate(text)), format!("`{text}` {fault}; if bits per second are meant, write \"{meant}\""));
        }
        assert_eq!(message(rate("10 parsec")), format!("`10 parsec` has the unknown unit `parsec`; {RATE_HELP}"));
        assert_eq!(
            message(rate("10 MB/s")),
            format!("`10 MB/s` is in bytes per second: rates are in bits per second; {RATE_HELP}")
        );
        assert_eq!(message(duration("5 m")), format!("`5 m` has the unknown unit `m`; {TIME_HELP}"));
        assert_eq!(message(duration("2,5 ms")), format!("`2,5 ms` has a decimal comma: use a point; {TIME_HELP}"));
        assert_eq!(message(duration("nan ms")), format!("`nan ms` is not a finite number; {TIME_HELP}"));
        assert_eq!(message(duration("-inf s")), format!("`-inf s` is not a finite number; {TIME_HELP}"));
        assert_eq!(message(duration("1e999 s")), format!("`1e999 s` is too large for a number; {TIME_HELP}"));
        assert_eq!(message(duration("1e30 s")), "`1e30 s` is out of range: allowed 0 s to 9200000000 s");
        assert_eq!(message(rate("1e30 bit/s")), "`1e30 bit/s` is out of range: allowed 0 bit/s to 1000000000 Gbit/s");
        assert_eq!(message(duration("-5 ms")), "`-5 ms` is out of range: allowed 0 s to 9200000000 s");
        assert_eq!(message(duration("soon")), format!("`soon` does not begin with a number; {TIME_HELP}"));
        assert_eq!(message(duration("")), format!("`` does not begin with a number; {TIME_HELP}"));
        assert_eq!(message(size("-5 packets")), "`-5 packets` is negative: allowed 0 and above");
        assert_eq!(message(size("45 kb")), format!("`45 kb`: unit `kb` is ambiguous, bits or bytes; {SIZE_HELP}"));
        assert_eq!(message(number("1.2 ms")), format!("`1.2 ms` has the unknown unit `ms`; {NUMBER_HELP}"));
    }

    #[test]
    fn fractions_are_not_rounded_into_a_range() {
        let rates = Limits::new(Rate::bit_s(1), Rate::bit_s(10));
        assert_eq!(message(rate_within("0.5 bit/s", rates)), "`0.5 bit/s` is out of range: allowed 1 bit/s to 10 bit/s");
        assert_eq!(message(rate_within("10.2 bit/s", rates)), "`10.2 bit/s` is out of range: allowed 1 bit/s to 10 bit/s");
        assert_eq!(rate_within("1.4 bit/s", rates), Ok(Rate::bit_s(1)));
        let longest = Limits::new(Duration::ZERO, Duration::secs(10_000_000));
        assert_eq!(duration_within("10000000 s", longest), Ok(Duration::secs(10_000_000)));
        assert_eq!(message(buffer("2.5 packets")), "`2.5 packets` is no whole number of packets");
        assert_eq!(message(buffer("0.5 packets")), "`0.5 packets` is no whole number of packets");
        assert_eq!(buffer("1e2 packets"), Ok(Buffer::Size(Size::Packets(100.0))));
    }

    #[test]
    fn a_range_names_its_ends() {
        let limits = Limits::new(Duration::ZERO, Duration::secs(1));
        assert_eq!(limits.check(Duration::ms(3), "3 ms"), Ok(Duration::ms(3)));
        assert_eq!(message(limits.check(Duration::secs(3), "3 s")), "`3 s` is out of range: allowed 0 s to 1 s");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,30}|[-+0-9.eE]{0,12} ?[a-zA-Z%/µ]{0,8}") {
            let any_size = Limits::new(Bytes::ZERO, Bytes::MAX);
            let _ = (bytes_within(&text, any_size), duration(&text), rate(&text), size(&text), buffer(&text), ratio(&text), number(&text));
        }

        #[test]
        fn a_shown_time_reads_back(nanos in 0u64..1 << 50) {
            let span = Duration::ns(nanos);
            prop_assert_eq!(duration(&span.to_string()), Ok(span));
        }

        #[test]
        fn a_shown_rate_reads_back(bits in 0u64..1_000_000_000_000) {
            let shown = Rate::bit_s(bits);
            prop_assert_eq!(rate(&shown.to_string()), Ok(shown));
        }
    }
}
