//! A parameter's value from what a person wrote on a command line.

use crate::spec::quantity::{self, Limited, Limits, excerpt};
use crate::spec::{Param, ParamError, ParamFault, Unit, Value};
use crate::units::{Bytes, Duration, Rate};
use alloc::boxed::Box;

/// The words of a switch.
const SWITCH: [&str; 2] = ["true", "false"];

impl Param {
    /// Reads a value from `text` by this parameter's unit and checks it against the range. Words of
    /// a choice stand for themselves, and `true`, `on` and `1`, `false`, `off` and `0` for
    /// switches.
    ///
    /// # Errors
    /// Names the parameter, what was written, and what is allowed. Units with a form of their own
    /// and inner algorithms are not read from a text.
    pub fn read(&self, text: &str) -> Result<Value, ParamError> {
        let none_of = |allowed| self.fault(ParamFault::NotOneOf { word: excerpt(text), allowed });
        let quantity = match self.unit {
            Unit::Duration => quantity::duration_within(text, self.durations()).map(Value::Duration),
            Unit::Size => quantity::size(text).map(Value::Size),
            Unit::Bytes => quantity::bytes_within(text, self.limits(Bytes::new)).map(Value::Bytes),
            Unit::Rate => quantity::rate_within(text, self.limits(Rate::bit_s)).map(Value::Rate),
            Unit::Number | Unit::Count => quantity::number(text).map(Value::Number),
            Unit::Ratio => quantity::ratio(text).map(Value::Number),
            Unit::Switch => return switch(text).map(Value::Switch).ok_or_else(|| none_of(SWITCH.into())),
            Unit::Choice(words) => return word(text, words).ok_or_else(|| none_of(words.into())),
            Unit::SwitchOr(words) => {
                let value = switch(text).map(Value::Switch).or_else(|| word(text, words));
                return value.ok_or_else(|| none_of([&SWITCH, words].concat()));
            }
            Unit::Timing | Unit::Buffer | Unit::Text | Unit::Nodes | Unit::Form(_) | Unit::Algorithm | Unit::Queue => {
                return Err(self.fault(ParamFault::NotWritten(excerpt(text))));
            }
        };
        let value = quantity.map_err(|error| self.fault(ParamFault::Quantity(Box::new(error))))?;
        self.check_written(value, text)?;
        Ok(value)
    }

    /// The range of a parameter that is a time span.
    #[must_use]
    pub fn durations(&self) -> Limits<Duration> {
        let (low, high) = self.range;
        Limits::new(Duration::from_secs_f64(low), Duration::from_secs_f64(high))
    }

    /// The range of a parameter that is counted in whole units.
    pub fn limits<T: Limited>(&self, unit: impl Fn(u64) -> T) -> Limits<T> {
        // `as` saturates.
        Limits::new(unit(self.range.0 as u64), unit(self.range.1 as u64))
    }
}

/// `true` or `false` in the spellings of command lines.
fn switch(text: &str) -> Option<bool> {
    match text {
        "true" | "on" | "1" => Some(true),
        "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn word(text: &str, words: &'static [&'static str]) -> Option<Value> {
    words.iter().find(|known| **known == text).map(|known| Value::Choice(known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Default, Size};
    use crate::units::Duration;
    use alloc::string::{String, ToString};

    fn refusal(param: &Param, text: &str) -> String {
        param.read(text).expect_err("refused").to_string()
    }

    #[test]
    fn each_unit_is_read_and_checked() {
        let target = Param::duration("target", Duration::ms(5)).within(1e-3, 1.0);
        assert_eq!(target.read("20ms"), Ok(Value::Duration(Duration::ms(20))));
        assert_eq!(refusal(&target, "2s"), "target: `2s` is out of range: allowed 1 ms to 1 s");
        assert!(refusal(&target, "2").starts_with("target: `2` has no unit"));
        let size = Param::size("threshold", Size::Packets(5.0)).within(1.0, 100.0);
        assert_eq!(size.read("7packets"), Ok(Value::Size(Size::Packets(7.0))));
        assert_eq!(refusal(&size, "700 packets"), "threshold: `700 packets` is out of range: allowed 1 to 100");
        assert_eq!(Param::bytes("quantum", Bytes::new(1514)).read("300B"), Ok(Value::Bytes(Bytes::new(300))));
        assert_eq!(Param::rate("rate", Rate::mbit(1)).read("10mbit"), Ok(Value::Rate(Rate::mbit(10))));
        assert_eq!(Param::ratio("beta", 0.5).read("5%"), Ok(Value::Number(0.05)));
        assert_eq!(refusal(&Param::count("flows", 1.0).within(1.0, 9.0), "1.5"), "flows: `1.5` is not a whole number");
        assert_eq!(
            refusal(&Param::ratio("loss", 0.0).within(0.0, 0.99), "100 %"),
            "loss: `100 %` is out of range: allowed 0 to 0.99"
        );
        assert_eq!(Param::number("c_max", 1.2).read("1.5"), Ok(Value::Number(1.5)));
    }

    #[test]
    fn words_are_read_as_they_are_listed() {
        assert_eq!(Param::off("gentle").read("on"), Ok(Value::Switch(true)));
        assert_eq!(refusal(&Param::off("gentle"), "maybe"), "gentle: `maybe` is not one of true, false");
        let law = Param::choice("law", &["a", "b"], "a");
        assert_eq!(law.read("b"), Ok(Value::Choice("b")));
        assert_eq!(refusal(&law, "c"), "law: `c` is not one of a, b");
        let either = Param::new("sack", Unit::SwitchOr(&["plain"]), Default::Required);
        assert_eq!((either.read("0"), either.read("plain")), (Ok(Value::Switch(false)), Ok(Value::Choice("plain"))));
        assert_eq!(refusal(&either, "x"), "sack: `x` is not one of true, false, plain");
        let of = Param::required("of", Unit::Queue);
        assert_eq!(refusal(&of, "pie"), "of: `pie` cannot be written here");
    }
}
