//! Quantities as targets write them.

use goodqueue_aqm::spec::Value;
use goodqueue_base::units::{Bytes, Duration, Rate};

/// A target's notation of quantities.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Units of rates, from large to small: 10^6, 10^3 and 1 bit/s.
    pub(super) rates: [(u64, &'static str); 3],
    /// Words for a switch that is off and on.
    pub(super) switch: [&'static str; 2],
}

/// Units of times, which all targets read.
const TIMES: [(u64, &str); 3] = [(1_000_000, "s"), (1_000, "ms"), (1, "us")];

impl Style {
    /// A rate.
    #[must_use]
    pub fn rate(&self, rate: Rate) -> String {
        in_whole_units(rate.as_bit_s(), &self.rates)
    }
}

/// The form in which a value is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Write {
    /// A time in the target's style.
    Time,
    /// A time as a bare number of milliseconds.
    Millis,
    /// A size in the target's style.
    Bytes,
    /// A bare number.
    Number,
    /// A switch in the target's style.
    Switch,
    /// A number times this, which must be whole: alpha of pie counts sixteenths.
    Whole(f64),
}

/// The nearest value that a target has in place of one that has no form there, in our words.
#[derive(Debug)]
pub(super) struct Nearest(pub(super) String);

impl Write {
    /// The value in the target's style, with a note when something was rounded.
    ///
    /// # Errors
    /// When the value has no form there.
    pub(super) fn text(self, style: &Style, value: Value, mtu: Bytes, rate: Rate) -> Result<(String, Option<String>), Nearest> {
        let plain = |text| Ok((text, None));
        match (self, value) {
            (Self::Time, Value::Duration(span)) => {
                let micros = micros(span);
                let note = rounded(span, Duration::us(micros));
                Ok((in_whole_units(micros, &TIMES), note))
            }
            (Self::Millis, Value::Duration(span)) => {
                let millis = span.as_nanos().saturating_add(500_000) / 1_000_000;
                Ok((millis.to_string(), rounded(span, Duration::ms(millis))))
            }
            (Self::Bytes, Value::Size(size)) => plain(written(size.bytes(mtu, Some(rate)).unwrap_or_default())),
            (Self::Bytes, Value::Bytes(bytes)) => plain(written(bytes)),
            (Self::Switch, Value::Switch(on)) => plain(style.switch[usize::from(on)].to_owned()),
            (Self::Number, value) => plain(value.to_string()),
            (Self::Whole(factor), Value::Number(number)) => {
                let scaled = number * factor;
                let whole = scaled.round();
                if (scaled - whole).abs() < 1e-9 {
                    plain(format!("{whole}"))
                } else {
                    Err(Nearest(format!("{}", whole / factor)))
                }
            }
            (_, value) => Err(Nearest(format!("something else than {value}"))),
        }
    }
}

/// A size as all targets read it.
pub(super) fn written(bytes: Bytes) -> String {
    bytes.get().to_string()
}

fn micros(span: Duration) -> u64 {
    span.as_nanos().saturating_add(500) / 1_000
}

fn rounded(ours: Duration, theirs: Duration) -> Option<String> {
    (ours != theirs).then(|| format!("{ours} is rounded to {theirs}"))
}

/// `number` in the largest unit of which it is a whole multiple. `units` run from large to small
/// and end with 1.
fn in_whole_units(number: u64, units: &[(u64, &str)]) -> String {
    let fits = units.iter().find(|(size, _)| number >= *size && number.is_multiple_of(*size));
    let (size, unit) = fits.or(units.last()).copied().unwrap_or((1, ""));
    format!("{}{unit}", number / size)
}
