//! Names, parameters, units, defaults, ranges and sources of the algorithms: what files, command lines and documentation are made from.

use crate::queue::Limit;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use goodqueue_units::{Bytes, Duration, Rate};

/// One kind of queue, as named in files.
#[derive(Clone, Copy, Debug)]
pub struct KindSpec {
    /// The name in files and on the command line, for instance `codel`.
    pub kind: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What it measures and where it acts.
    pub signal: &'static str,
    /// Can it mark instead of drop?
    pub marks: bool,
    /// Its own parameters; `kind`, `ecn` and `limit` belong to every queue.
    pub params: &'static [ParamSpec],
    /// Paper or RFC, with section.
    pub source: &'static str,
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The key in files.
    pub name: &'static str,
    /// What kind of quantity it is.
    pub unit: Unit,
    /// Its value when not given.
    pub default: Default,
    /// Smallest and largest allowed value, in the unit's base: seconds, bit/s, packets or bytes as written, plain number.
    pub range: (f64, f64),
    /// One line of meaning.
    pub doc: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

/// What kind of quantity a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A time span.
    Duration,
    /// An amount of queue: bytes, packets (of one MTU), or time at link rate.
    Size,
    /// A rate.
    Rate,
    /// A plain number.
    Number,
    /// A whole number.
    Count,
    /// A number in [0, 1], also written in per cent.
    Ratio,
    /// true or false.
    Switch,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// An algorithm with parameters of its own ([`Chosen`]), which this kind puts to work; it must be named.
    Algorithm,
    /// A queue of any kind with parameters of its own ([`Chosen`]), which this kind puts to work; tail drop when none is named.
    Queue,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Duration => "time",
            Self::Size => "amount of queue",
            Self::Rate => "rate",
            Self::Number => "number",
            Self::Count => "whole number",
            Self::Ratio => "share",
            Self::Switch => "true or false",
            Self::Choice(words) => return f.write_str(&words.join(" | ")),
            Self::Algorithm => "an algorithm, for instance { kind = \"pie\" }",
            Self::Queue => "a queue of any kind, for instance { kind = \"fq-codel\" }",
        })
    }
}

/// A parameter's value when the file does not give one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// This value.
    Value(Value),
    /// Worked out from the link; the text says how.
    Auto(&'static str),
}

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A time span.
    Duration(Duration),
    /// An amount of queue.
    Size(Size),
    /// A rate.
    Rate(Rate),
    /// A number, count or ratio.
    Number(f64),
    /// true or false.
    Switch(bool),
    /// One of the words its [`Unit::Choice`] lists.
    Choice(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(span) | Self::Size(Size::Time(span)) => write!(f, "{span}"),
            Self::Size(Size::Bytes(bytes)) => write!(f, "{bytes} B"),
            Self::Size(Size::Packets(packets)) => write!(f, "{packets} packets"),
            Self::Rate(rate) => write!(f, "{rate}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Switch(on) => write!(f, "{on}"),
            Self::Choice(word) => f.write_str(word),
        }
    }
}

/// An amount of queue, as a person writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Bytes, framing not counted.
    Bytes(f64),
    /// Packets of one MTU.
    Packets(f64),
    /// What the link sends in this time.
    Time(Duration),
}

impl Size {
    /// In bytes, rounded to the nearest; `None` for a time on a link of unknown rate.
    #[must_use]
    pub fn bytes(self, mtu: Bytes, rate: Option<Rate>) -> Option<Bytes> {
        match self {
            Self::Bytes(bytes) => Some(Bytes::new((bytes + 0.5) as u64)),
            Self::Packets(packets) => Some(Bytes::new((packets * mtu.get() as f64 + 0.5) as u64)),
            Self::Time(span) => rate.map(|rate| rate.bytes_in(span)),
        }
    }

    /// In packets of one MTU, whole or not; `None` for a time on a link that is down or of unknown rate.
    #[must_use]
    pub fn packets(self, mtu: Bytes, rate: Option<Rate>) -> Option<f64> {
        match self {
            Self::Packets(packets) => Some(packets),
            Self::Bytes(bytes) => Some(bytes / mtu.get().max(1) as f64),
            Self::Time(_) => {
                let bytes = self.bytes(mtu, rate.filter(|rate| !rate.is_zero()))?;
                Some(bytes.get() as f64 / mtu.get().max(1) as f64)
            }
        }
    }
}

/// A kind and what is given for its parameters.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The kind.
    pub kind: &'static KindSpec,
    /// Given parameters; the others have their defaults.
    pub params: Vec<(&'static str, Value)>,
    /// What it puts to work, for kinds that do.
    pub of: Option<Box<Chosen>>,
}

impl Chosen {
    /// `kind` with these parameters, over nothing else.
    #[must_use]
    pub const fn new(kind: &'static KindSpec, params: Vec<(&'static str, Value)>) -> Self {
        Self { kind, params, of: None }
    }

    /// Can it mark?
    #[must_use]
    pub fn marks(&self) -> bool {
        self.kind.marks_over(self.of.as_deref())
    }

    /// Does it mark when nothing is said of it? A kind for which marking is part of the matter lists the parameter `ecn`, which is
    /// every queue's, with a default of its own.
    #[must_use]
    pub fn marks_unasked(&self) -> bool {
        let is_on = |param: &ParamSpec| param.name == "ecn" && param.default == Default::Value(Value::Switch(true));
        self.of.as_ref().map_or_else(|| self.kind.params.iter().any(is_on), |of| of.marks_unasked())
    }
}

impl KindSpec {
    /// Does it put another algorithm or queue to work, which a file names in a parameter?
    #[must_use]
    pub fn is_over_another(&self) -> bool {
        self.params.iter().any(|param| param.unit.is_another())
    }

    /// Can it mark when it puts `of` to work? That one decides.
    #[must_use]
    pub fn marks_over(&self, of: Option<&Chosen>) -> bool {
        self.marks && of.map_or(!self.is_over_another(), Chosen::marks)
    }

    /// Does it serve flows by their weight ([`crate::Qdisc::set_weight`]) when it puts `of` to work?
    #[must_use]
    pub fn weighs_flows_over(&self, of: Option<&Chosen>) -> bool {
        self.kind == crate::sched::nfq_codel::KIND.kind
            || of.is_some_and(|inner| inner.kind.weighs_flows_over(inner.of.as_deref()))
    }

    /// Its name, with that of what it puts to work behind a colon: `codel`, `fair:pie`, `shaper:priority:codel`.
    #[must_use]
    pub fn name_over(&self, of: Option<&Chosen>) -> String {
        match of {
            None => self.kind.into(),
            Some(inner) => alloc::format!("{}:{}", self.kind, inner.kind.name_over(inner.of.as_deref())),
        }
    }

    /// Must a file name what it puts to work?
    #[must_use]
    pub fn needs_another(&self) -> bool {
        self.params.iter().any(|param| param.unit == Unit::Algorithm)
    }
}

impl Unit {
    /// Is it not a quantity but another algorithm or queue?
    #[must_use]
    pub const fn is_another(self) -> bool {
        matches!(self, Self::Algorithm | Self::Queue)
    }
}

/// What is known of the link when a queue is built.
#[derive(Clone, Copy, Debug)]
pub struct LinkFacts {
    /// The rate at the start, if known.
    pub rate: Option<Rate>,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// Framing bytes per packet.
    pub overhead: Bytes,
    /// The queue's limit.
    pub limit: Limit,
}

/// The parameters given for a queue, with their kind's defaults behind them.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    spec: &'static KindSpec,
    values: &'a [(&'static str, Value)],
}

/// A parameter that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamError {
    /// Which parameter, or `kind`.
    pub param: &'static str,
    /// What is wrong with it: value and allowed range.
    pub message: String,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.param, self.message)
    }
}

impl core::error::Error for ParamError {}

impl<'a> Given<'a> {
    /// Checks every value against the kind's parameters: known name, right unit, within range.
    ///
    /// # Errors
    /// The first value that does not fit.
    pub fn new(spec: &'static KindSpec, values: &'a [(&'static str, Value)]) -> Result<Self, ParamError> {
        for &(name, value) in values {
            let Some(param) = spec.params.iter().find(|p| p.name == name) else {
                return Err(ParamError { param: name, message: alloc::format!("`{}` has no such parameter", spec.kind) });
            };
            param.check(value)?;
        }
        Ok(Self { spec, values })
    }

    /// Which kind the parameters are for (one file may hold several kinds).
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.spec.kind
    }

    /// The parameters that were given, in that order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.values.iter().map(|&(name, _)| name)
    }

    /// Everything that was given.
    #[must_use]
    pub const fn values(&self) -> &'a [(&'static str, Value)] {
        self.values
    }

    /// `name`, if the kind has such a parameter: for what several kinds have in part.
    #[must_use]
    pub fn listed(&self, name: &'static str) -> Option<&'static str> {
        self.spec.params.iter().any(|param| param.name == name).then_some(name)
    }

    /// Was `name` given, rather than left to its default?
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.values.iter().any(|(given, _)| *given == name)
    }

    /// The value given for `name`, else its default, else `None` where the default is automatic.
    ///
    /// # Panics
    /// When the kind lists no such parameter: a mistake in the algorithm's own file, caught by its first test.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Value> {
        let param = self.spec.params.iter().find(|p| p.name == name).expect("an algorithm asks for parameters it lists");
        match (self.values.iter().find(|(given, _)| *given == name), param.default) {
            (Some(&(_, value)), _) | (None, Default::Value(value)) => Some(value),
            (None, Default::Auto(_)) => None,
        }
    }

    /// A time span.
    #[must_use]
    pub fn duration(&self, name: &str) -> Option<Duration> {
        match self.value(name)? {
            Value::Duration(span) => Some(span),
            _ => None,
        }
    }

    /// An amount of queue in bytes.
    ///
    /// # Errors
    /// When it is given as a time and the link's rate is unknown.
    pub fn bytes(&self, name: &'static str, link: &LinkFacts) -> Result<Option<Bytes>, ParamError> {
        match self.value(name) {
            Some(Value::Size(size)) => match size.bytes(link.mtu, link.rate) {
                Some(bytes) => Ok(Some(bytes)),
                None => {
                    Err(ParamError { param: name, message: "a time needs a link of known rate: use bytes or packets".into() })
                }
            },
            _ => Ok(None),
        }
    }

    /// An amount of queue as it was written.
    #[must_use]
    pub fn size(&self, name: &str) -> Option<Size> {
        match self.value(name)? {
            Value::Size(size) => Some(size),
            _ => None,
        }
    }

    /// A rate.
    #[must_use]
    pub fn rate(&self, name: &str) -> Option<Rate> {
        match self.value(name)? {
            Value::Rate(rate) => Some(rate),
            _ => None,
        }
    }

    /// A number, count or ratio.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// true or false.
    #[must_use]
    pub fn switch(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            Value::Switch(on) => Some(on),
            _ => None,
        }
    }

    /// One of the parameter's words.
    #[must_use]
    pub fn choice(&self, name: &str) -> Option<&'static str> {
        match self.value(name)? {
            Value::Choice(word) => Some(word),
            _ => None,
        }
    }
}

impl ParamSpec {
    /// Is `value` of this parameter's unit and within its range?
    ///
    /// # Errors
    /// Names the parameter, the value and what is allowed.
    pub fn check(&self, value: Value) -> Result<(), ParamError> {
        let (low, high) = self.range;
        let fault = |message| Err(ParamError { param: self.name, message });
        let number = match (self.unit, value) {
            (Unit::Duration, Value::Duration(span)) => span.as_secs_f64(),
            (Unit::Size, Value::Size(Size::Bytes(n) | Size::Packets(n))) => n,
            (Unit::Size, Value::Size(Size::Time(span))) => span.as_secs_f64(),
            (Unit::Rate, Value::Rate(rate)) => rate.as_bit_s() as f64,
            (Unit::Number | Unit::Count | Unit::Ratio, Value::Number(n)) => n,
            (Unit::Switch, Value::Switch(_)) => return Ok(()),
            (Unit::Choice(words), Value::Choice(word)) => {
                return if words.contains(&word) { Ok(()) } else { fault(alloc::format!("`{word}` is not one of {words:?}")) };
            }
            (unit, value) => return fault(alloc::format!("{value:?} is not a {unit:?}")),
        };
        if self.unit == Unit::Count && number != libm::trunc(number) {
            return fault(alloc::format!("{number} is not a whole number"));
        }
        if !(low..=high).contains(&number) {
            return fault(alloc::format!(
                "{} is out of range: allowed {} to {}",
                self.show(number),
                self.show(low),
                self.show(high)
            ));
        }
        Ok(())
    }

    /// Its default in words, for tables.
    #[must_use]
    pub fn default_text(&self) -> String {
        match self.default {
            Default::Auto(how) => alloc::format!("automatic: {how}"),
            Default::Value(value) => alloc::format!("{value}"),
        }
    }

    /// The ends of its range, for tables; `None` where its unit has none.
    #[must_use]
    pub fn range_text(&self) -> Option<[String; 2]> {
        let has_range = !matches!(self.unit, Unit::Switch | Unit::Choice(_)) && !self.unit.is_another();
        has_range.then(|| [self.show(self.range.0), self.show(self.range.1)])
    }

    /// `number` with this parameter's unit, for messages and tables.
    #[must_use]
    pub fn show(&self, number: f64) -> String {
        match self.unit {
            Unit::Duration => alloc::format!("{}", Duration::from_secs_f64(number)),
            Unit::Rate => alloc::format!("{}", Rate::bit_s(number as u64)),
            _ => alloc::format!("{number}"),
        }
    }
}

/// `list.contains(&name)` at compile time.
pub(crate) const fn contains(list: &[&str], name: &str) -> bool {
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

/// Those of `params` that have these names, in their order.
pub(crate) const fn pick<const N: usize>(params: &[ParamSpec], names: [&str; N]) -> [ParamSpec; N] {
    let mut picked = [params[0]; N];
    let (mut from, mut to) = (0, 0);
    while from < params.len() {
        if contains(&names, params[from].name) {
            picked[to] = params[from];
            to += 1;
        }
        from += 1;
    }
    assert!(to == N, "each name is that of a parameter");
    picked
}
