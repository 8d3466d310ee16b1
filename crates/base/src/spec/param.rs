//! One parameter: its description, and the check of a value against it.

use crate::spec::{Given, ParamError, ParamFault, Size, Unit, Value};
use crate::units::{Bytes, Duration, Rate};
use alloc::string::String;

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The key in files.
    pub name: &'static str,
    /// The kind of quantity.
    pub unit: Unit,
    /// The value when the file gives none.
    pub default: Default,
    /// Smallest and largest allowed value, in the unit's base: seconds, bit/s, packets or bytes as
    /// written, plain number.
    pub range: (f64, f64),
    /// One line of meaning.
    pub doc: &'static str,
    /// The source of the default; empty when it is our choice.
    pub source: &'static str,
    /// A value as written in a file; empty when the default serves.
    pub example: &'static str,
    /// The parameter's role in its algorithm.
    pub role: Role,
}

/// A parameter's value when the file does not give one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// A fixed value.
    Value(Value),
    /// A value worked out from other settings; the text says how.
    Auto(&'static str),
    /// No default: the file must give a value.
    Required,
}

/// The role of a parameter in its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One setting among others.
    Setting,
    /// An amount that the queue must reach before the algorithm acts.
    Threshold,
    /// The number of queues that a discipline has from the start; of a choice, the number that each
    /// word stands for, in their order.
    Queues(&'static [u32]),
}

impl Param {
    /// A parameter that takes any value of its unit.
    #[must_use]
    pub const fn new(name: &'static str, unit: Unit, default: Default) -> Self {
        let range = (0.0, f64::INFINITY);
        Self { name, unit, default, range, doc: "", source: "", example: "", role: Role::Setting }
    }

    /// A time span.
    #[must_use]
    pub const fn duration(name: &'static str, default: Duration) -> Self {
        Self::new(name, Unit::Duration, Default::Value(Value::Duration(default)))
    }

    /// An amount of queue.
    #[must_use]
    pub const fn size(name: &'static str, default: Size) -> Self {
        Self::new(name, Unit::Size, Default::Value(Value::Size(default)))
    }

    /// A size in whole bytes.
    #[must_use]
    pub const fn bytes(name: &'static str, default: Bytes) -> Self {
        Self::new(name, Unit::Bytes, Default::Value(Value::Bytes(default)))
    }

    /// A rate.
    #[must_use]
    pub const fn rate(name: &'static str, default: Rate) -> Self {
        Self::new(name, Unit::Rate, Default::Value(Value::Rate(default)))
    }

    /// A plain number.
    #[must_use]
    pub const fn number(name: &'static str, default: f64) -> Self {
        Self::new(name, Unit::Number, Default::Value(Value::Number(default)))
    }

    /// A whole number.
    #[must_use]
    pub const fn count(name: &'static str, default: f64) -> Self {
        Self::new(name, Unit::Count, Default::Value(Value::Number(default)))
    }

    /// A share.
    #[must_use]
    pub const fn ratio(name: &'static str, default: f64) -> Self {
        Self::new(name, Unit::Ratio, Default::Value(Value::Number(default)))
    }

    /// A switch that is off unless given.
    #[must_use]
    pub const fn off(name: &'static str) -> Self {
        Self::new(name, Unit::Switch, Default::Value(Value::Switch(false)))
    }

    /// A switch that is on unless given.
    #[must_use]
    pub const fn on(name: &'static str) -> Self {
        Self::new(name, Unit::Switch, Default::Value(Value::Switch(true)))
    }

    /// One of `words`.
    #[must_use]
    pub const fn choice(name: &'static str, words: &'static [&'static str], default: &'static str) -> Self {
        Self::new(name, Unit::Choice(words), Default::Value(Value::Choice(default)))
    }

    /// A parameter whose default follows from other settings as `how` says.
    #[must_use]
    pub const fn auto(name: &'static str, unit: Unit, how: &'static str) -> Self {
        Self::new(name, unit, Default::Auto(how))
    }

    /// A parameter that must be given.
    #[must_use]
    pub const fn required(name: &'static str, unit: Unit) -> Self {
        Self::new(name, unit, Default::Required)
    }

    /// Sets the smallest and largest allowed value.
    #[must_use]
    pub const fn within(self, low: f64, high: f64) -> Self {
        Self { range: (low, high), ..self }
    }

    /// Sets the meaning.
    #[must_use]
    pub const fn about(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Sets the source of the default.
    #[must_use]
    pub const fn from_source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }

    /// Sets a value as written in a file.
    #[must_use]
    pub const fn for_instance(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    /// Makes it an amount that the queue must reach before the algorithm acts.
    #[must_use]
    pub const fn as_threshold(self) -> Self {
        Self { role: Role::Threshold, ..self }
    }

    /// Makes it the number of queues that a discipline has from the start: its value, or that of
    /// each word of a choice.
    #[must_use]
    pub const fn as_queues(self, of_words: &'static [u32]) -> Self {
        Self { role: Role::Queues(of_words), ..self }
    }

    /// The number of queues that `value` stands for; 1 where it is no such parameter.
    #[must_use]
    pub fn queues(&self, value: Value) -> u64 {
        match (self.role, self.unit, value) {
            (Role::Queues(_), _, Value::Number(count)) => count as u64,
            (Role::Queues(counts), Unit::Choice(words), Value::Choice(word)) => {
                let counts = words.iter().zip(counts).find(|(known, _)| **known == word);
                counts.map_or(1, |(_, count)| u64::from(*count))
            }
            _ => 1,
        }
    }

    /// The default, where that does not follow from other settings.
    #[must_use]
    pub const fn default_value(&self) -> Option<Value> {
        match self.default {
            Default::Value(value) => Some(value),
            Default::Auto(_) | Default::Required => None,
        }
    }

    /// Whether it must be given.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        matches!(self.default, Default::Required)
    }

    /// Checks that `value` is of this parameter's unit and within its range.
    ///
    /// # Errors
    /// Names the parameter, the value and what is allowed.
    pub fn check(&self, value: Value) -> Result<(), ParamError> {
        self.check_given(value, || Given::Value(value))
    }

    /// Does the same as [`Self::check`], for a value that was read from `written`, which messages
    /// show.
    ///
    /// # Errors
    /// Names the parameter, what was written, and what is allowed.
    pub fn check_written(&self, value: Value, written: &str) -> Result<(), ParamError> {
        self.check_given(value, || Given::written(written))
    }

    fn check_given(&self, value: Value, given: impl Fn() -> Given) -> Result<(), ParamError> {
        let (low, high) = self.range;
        let number = match (self.unit, value) {
            (Unit::Duration, Value::Duration(span)) => span.as_secs_f64(),
            (Unit::Size, Value::Size(Size::Bytes(n) | Size::Packets(n))) => n,
            (Unit::Size, Value::Size(Size::Time(span))) => span.as_secs_f64(),
            (Unit::Bytes, Value::Bytes(bytes)) => bytes.get() as f64,
            (Unit::Rate, Value::Rate(rate)) => rate.as_bit_s() as f64,
            (Unit::Number | Unit::Count | Unit::Ratio, Value::Number(n)) => n,
            (Unit::Switch | Unit::SwitchOr(_), Value::Switch(_)) => return Ok(()),
            (Unit::Choice(words) | Unit::SwitchOr(words), Value::Choice(word)) => {
                let fault = || ParamFault::NotOneOf { word: word.into(), allowed: words.into() };
                return if words.contains(&word) { Ok(()) } else { Err(self.fault(fault())) };
            }
            (unit, value) => return Err(self.fault(ParamFault::WrongUnit { value, unit })),
        };
        if self.unit == Unit::Count && number != libm::trunc(number) {
            return Err(self.fault(ParamFault::NotWhole(given())));
        }
        // NaN lies in no range.
        if !(low..=high).contains(&number) {
            return Err(self.fault(ParamFault::OutOfRange { value: given(), low: self.value(low), high: self.value(high) }));
        }
        Ok(())
    }

    /// A fault of this parameter.
    #[must_use]
    pub const fn fault(&self, fault: ParamFault) -> ParamError {
        ParamError::new(self.name, fault)
    }

    /// The default in words, for tables.
    #[must_use]
    pub fn default_text(&self) -> String {
        match self.default {
            Default::Auto(how) => alloc::format!("automatic: {how}"),
            Default::Value(value) => alloc::format!("{value}"),
            Default::Required => "required".into(),
        }
    }

    /// A value as written in a file: its example, else its default.
    #[must_use]
    pub fn written(&self) -> Option<String> {
        if !self.example.is_empty() {
            return Some(self.example.into());
        }
        match self.default {
            Default::Value(value) => Some(value.written()),
            Default::Auto(_) | Default::Required => None,
        }
    }

    /// The ends of its range, for tables; `None` where its unit has none.
    #[must_use]
    pub fn range_text(&self) -> Option<[String; 2]> {
        let is_bounded = self.unit.has_range() && self.range.1.is_finite();
        is_bounded.then(|| [self.show(self.range.0), self.show(self.range.1)])
    }

    /// `number` with this parameter's unit, for messages and tables.
    #[must_use]
    pub fn show(&self, number: f64) -> String {
        alloc::format!("{}", self.value(number))
    }

    /// An end of its range with its unit; amounts of queue have none.
    fn value(&self, number: f64) -> Value {
        match self.unit {
            Unit::Duration | Unit::Timing => Value::Duration(Duration::from_secs_f64(number)),
            Unit::Rate => Value::Rate(Rate::bit_s(number as u64)),
            Unit::Bytes => Value::Bytes(Bytes::new(number as u64)),
            _ => Value::Number(number),
        }
    }
}

/// Joins lists of parameters, less those `left_out`.
///
/// # Panics
/// When `N` is not their number; at compile time, since it is called for constants.
#[must_use]
pub const fn join<const N: usize>(lists: &[&[Param]], left_out: &[&str]) -> [Param; N] {
    let mut all = [lists[0][0]; N];
    let (mut list, mut from, mut to) = (0, 0, 0);
    while list < lists.len() {
        if from == lists[list].len() {
            (list, from) = (list + 1, 0);
            continue;
        }
        if !contains(left_out, lists[list][from].name) {
            all[to] = lists[list][from];
            to += 1;
        }
        from += 1;
    }
    assert!(to == N, "one place for each parameter");
    all
}

/// Gives a parameter of a list another default.
#[must_use]
pub const fn with_default<const N: usize>(params: [Param; N], name: &str, default: Default) -> [Param; N] {
    let mut all = params;
    let mut place = 0;
    while !contains(&[name], all[place].name) {
        place += 1;
    }
    all[place].default = default;
    all
}

/// `list.contains(&name)` at compile time.
#[must_use]
pub const fn contains(list: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < list.len() {
        let (a, b) = (list[at].as_bytes(), name.as_bytes());
        let mut same = 0;
        while same < a.len() && same < b.len() && a[same] == b[same] {
            same += 1;
        }
        if same == a.len() && same == b.len() {
            return true;
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn refusal(param: &Param, value: Value) -> String {
        param.check(value).expect_err("refused").to_string()
    }

    #[test]
    fn values_are_checked_against_unit_and_range() {
        let target = Param::duration("target", Duration::ms(5)).within(1e-3, 1.0);
        assert_eq!(target.check(Value::Duration(Duration::ms(1))), Ok(()));
        assert_eq!(target.check(Value::Duration(Duration::secs(1))), Ok(()));
        assert_eq!(refusal(&target, Value::Duration(Duration::secs(2))), "target: 2 s is out of range: allowed 1 ms to 1 s");
        assert_eq!(refusal(&target, Value::Number(1.0)), "target: 1 has another unit: allowed time");
        let flows = Param::count("flows", 1.0).within(1.0, 10.0);
        assert_eq!(refusal(&flows, Value::Number(1.5)), "flows: 1.5 is not a whole number");
        assert_eq!(refusal(&flows, Value::Number(f64::NAN)), "flows: NaN is not a whole number");
        let beta = Param::ratio("beta", 0.5).within(0.0, 1.0);
        assert_eq!(refusal(&beta, Value::Number(f64::NAN)), "beta: NaN is out of range: allowed 0 to 1");
        let law = Param::choice("law", &["a", "b"], "a");
        assert_eq!(law.check(Value::Choice("b")), Ok(()));
        assert_eq!(refusal(&law, Value::Choice("c")), "law: `c` is not one of a, b");
        let either = Param::new("sack", Unit::SwitchOr(&["plain"]), Default::Required);
        assert_eq!((either.check(Value::Switch(true)), either.check(Value::Choice("plain"))), (Ok(()), Ok(())));
    }

    #[test]
    fn defaults_and_ranges_have_their_unit() {
        let size = Param::bytes("size", Bytes::new(1_500)).within(28.0, 65_535.0);
        assert_eq!((size.default_text().as_str(), size.written().as_deref()), ("1500 B", Some("\"1500 B\"")));
        assert_eq!(size.range_text(), Some(["28 B".into(), "65535 B".into()]));
        assert_eq!(Param::on("gso").range_text(), None);
        assert_eq!(Param::required("rate", Unit::Rate).default_text(), "required");
        assert_eq!(Param::auto("mss", Unit::Bytes, "the mtu").written(), None);
    }

    #[test]
    fn lists_are_joined_in_order_less_those_left_out() {
        const SOME: [Param; 2] = [Param::on("a"), Param::off("b")];
        const ALL: [Param; 2] = join(&[&SOME, &[], &[Param::on("c")]], &["b"]);
        assert_eq!(ALL.map(|param| param.name), ["a", "c"]);
        let changed = with_default(ALL, "c", Default::Required);
        assert_eq!(changed.map(|param| param.is_required()), [false, true]);
    }
}
