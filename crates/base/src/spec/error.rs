//! Faults of parameters, with the values as data.

use crate::spec::quantity::{QuantityError, excerpt};
use crate::spec::{Unit, Value};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// A parameter that cannot be used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParamError {
    /// The parameter's name, or `kind`.
    pub param: &'static str,
    /// The fault of what was given for it.
    pub fault: ParamFault,
}

/// The fault of what was given for a parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParamFault {
    /// The kind has no parameter of this name.
    Unknown {
        /// The kind.
        kind: &'static str,
        /// The parameter that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A value outside of the parameter's range.
    OutOfRange {
        /// The value.
        value: Given,
        /// Smallest allowed value.
        low: Value,
        /// Largest allowed value.
        high: Value,
    },
    /// A fraction where only whole numbers are allowed.
    NotWhole(Given),
    /// A value of another unit.
    WrongUnit {
        /// The value.
        value: Value,
        /// The parameter's unit.
        unit: Unit,
    },
    /// A word that is none of those allowed.
    NotOneOf {
        /// The word as written.
        word: String,
        /// All allowed words.
        allowed: Vec<&'static str>,
    },
    /// A text that is not a quantity.
    Quantity(Box<QuantityError>),
    /// A text for a parameter whose values have no form in one word.
    NotWritten(String),
    /// A value that may not be less than that of another parameter.
    Below(BoundedValue),
    /// A value that may not be more than that of another parameter.
    Above(BoundedValue),
    /// A value that must be more than that of another parameter.
    NotAbove(BoundedValue),
    /// A value too small for what it is for.
    TooSmall {
        /// The value.
        value: Value,
        /// The reason, as a verb.
        why: &'static str,
        /// Smallest allowed value.
        least: Value,
    },
    /// A value too large for what it is for.
    TooLarge {
        /// The value.
        value: Value,
        /// The reason, as a verb.
        why: &'static str,
        /// Largest allowed value.
        most: Value,
    },
    /// A value that another setting excludes.
    Conflict {
        /// The value.
        value: Value,
        /// The other setting.
        with: &'static Setting,
        /// The values that go with it.
        allowed: &'static str,
    },
    /// A parameter that another setting leaves without effect.
    Unused(Setting),
    /// A parameter that does not exist with another setting.
    NotAmong {
        /// The other setting.
        with: Setting,
        /// The parameters that exist with it.
        allowed: Vec<&'static str>,
    },
    /// A parameter without a default where another setting is as it is.
    NoDefault(Setting),
    /// A parameter given without others that belong to it.
    Needs(&'static str),
    /// A parameter given together with others that set the same thing.
    Contradicts(&'static str),
    /// A setting of another implementation that is fixed in this one.
    Fixed {
        /// The only value.
        allowed: Value,
        /// The reason, as a clause.
        why: &'static str,
    },
    /// A parameter of a class beyond this number of classes.
    NoSuchClass(u32),
    /// A time where an amount is needed, on a link of unknown rate.
    TimeWithoutRate,
    /// A value that would follow from the link's rate, which is unknown; with the remedy.
    UnknownRate(&'static str),
    /// This kind works only on a link of known rate.
    NeedsRate(&'static str),
    /// This kind works only where the queue has a limit.
    NeedsLimit(&'static str),
    /// The kind is not an algorithm of its own.
    NotAnAlgorithm(&'static str),
    /// The kind needs another one within.
    NeedsAnother(&'static str),
    /// The kind takes no other one within.
    NotOverAnother(&'static str),
    /// The kind cannot be within another one.
    NotWithinAnother(&'static str),
    /// A program that is not part of this one refuses, in these words.
    Refused(String),
    /// The fault of a parameter of a class.
    InClass(Box<ClassFault>),
}

/// A class, and the fault of one of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassFault {
    /// The class's name.
    pub class: String,
    /// The fault.
    pub fault: ParamFault,
}

/// A value as it was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// As a value.
    Value(Value),
    /// As a text, cut to a readable length.
    Written(Box<str>),
}

impl Given {
    /// A value read from this text.
    #[must_use]
    pub fn written(text: &str) -> Self {
        Self::Written(excerpt(text).into())
    }
}

/// A value, and that of another parameter which bounds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedValue {
    /// The value.
    pub value: Value,
    /// The name of the other parameter.
    pub other: &'static str,
    /// The value of the other parameter.
    pub bound: Value,
}

/// Another parameter, and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The parameter's name.
    pub name: &'static str,
    /// The parameter's value.
    pub value: Value,
}

impl ParamError {
    /// The fault of `param`.
    #[must_use]
    pub const fn new(param: &'static str, fault: ParamFault) -> Self {
        Self { param, fault }
    }

    /// The same fault in the class of this name.
    #[must_use]
    pub fn in_class(self, class: &str) -> Self {
        let of_class = ClassFault { class: class.to_string(), fault: self.fault };
        Self { fault: ParamFault::InClass(Box::new(of_class)), ..self }
    }

    /// The refusal of a kind that is not part of this program, in its own words.
    #[must_use]
    pub fn refused(words: &(impl fmt::Display + ?Sized)) -> Self {
        Self::new("kind", ParamFault::Refused(words.to_string()))
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.param)?;
        f.write_str(": ")?;
        self.fault.fmt(f)
    }
}

impl core::error::Error for ParamError {}

impl fmt::Display for ParamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { kind, nearest: None } => write!(f, "`{kind}` has no such parameter"),
            Self::Unknown { kind, nearest: Some(near) } => {
                write!(f, "`{kind}` has no such parameter; did you mean `{near}`?")
            }
            Self::OutOfRange { value, low, high } => write!(f, "{value} is out of range: allowed {low} to {high}"),
            Self::NotWhole(value) => write!(f, "{value} is not a whole number"),
            Self::WrongUnit { value, unit } => write!(f, "{value} has another unit: allowed {unit}"),
            Self::NotOneOf { word, allowed } => write!(f, "`{word}` is not one of {}", allowed.join(", ")),
            Self::Quantity(error) => error.fmt(f),
            Self::NotWritten(text) => write!(f, "`{text}` cannot be written here"),
            Self::Below(pair) => pair.say(f, ["shorter than", "below"], "allowed from"),
            Self::Above(pair) => pair.say(f, ["longer than", "above"], "allowed up to"),
            Self::NotAbove(pair) => pair.say(f, ["not longer than", "not above"], "allowed more than"),
            Self::TooSmall { value, why, least } => write!(f, "{value} {why}: allowed from {least}"),
            Self::TooLarge { value, why, most } => write!(f, "{value} {why}: allowed up to {most}"),
            Self::Conflict { value, with, allowed } => write!(f, "{value} does not go with {with}: allowed {allowed}"),
            Self::Unused(with) => write!(f, "has no meaning with {with}"),
            Self::NotAmong { with, allowed } => {
                write!(f, "has no meaning with {with}: allowed with it are {}", allowed.join(", "))
            }
            Self::NoDefault(with) => write!(f, "has no automatic value with {with}: give one"),
            Self::Needs(others) => write!(f, "needs {others} beside it"),
            Self::Contradicts(others) => write!(f, "contradicts {others}: give one or the other"),
            Self::Fixed { allowed, why } => write!(f, "allowed {allowed}: {why}"),
            Self::NoSuchClass(classes) => write!(f, "no such class: there are {classes}, numbered from 0"),
            Self::TimeWithoutRate => f.write_str("a time needs a link of known rate: use bytes or packets"),
            Self::UnknownRate(remedy) => write!(f, "the link's rate is unknown: {remedy}"),
            Self::NeedsRate(kind) => write!(f, "{kind} needs a link of known rate"),
            Self::NeedsLimit(kind) => write!(f, "{kind} needs a queue with a limit: none is set"),
            Self::NotAnAlgorithm(kind) => write!(f, "`{kind}` is not an algorithm"),
            Self::NeedsAnother(kind) => {
                write!(f, "`{kind}` needs the algorithm of its flows, for instance {{ kind = \"pie\" }}")
            }
            Self::NotOverAnother(kind) => write!(f, "`{kind}` has no inner algorithm"),
            Self::NotWithinAnother(kind) => {
                write!(f, "`{kind}` can only be the outermost, or `priority` within `shaper`")
            }
            Self::Refused(words) => f.write_str(words),
            Self::InClass(of_class) => write!(f, "of class `{}`: {}", of_class.class, of_class.fault),
        }
    }
}

impl BoundedValue {
    /// Says how the value stands to the bound: a span is shorter or longer, others below or above.
    fn say(&self, f: &mut fmt::Formatter<'_>, [of_spans, of_others]: [&str; 2], allowed: &str) -> fmt::Result {
        let Self { value, other, bound } = self;
        let stands = if matches!(value, Value::Duration(_)) { of_spans } else { of_others };
        write!(f, "{value} is {stands} {other} ({bound}): {allowed} {other}")
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Written(text) => write!(f, "`{text}`"),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.value.written())
    }
}
