//! Quantities that parameters take, and how they are shown.

use crate::spec::Decimal;
use crate::units::{Bytes, Duration, Rate};
use alloc::string::String;
use core::fmt;

/// The kind of quantity that a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A time span.
    Duration,
    /// A time span, or a range of spans to draw from.
    Timing,
    /// An amount of queue: bytes, packets (of one MTU), or time at link rate.
    Size,
    /// An amount of queue, or multiples of rate times base round-trip time.
    Buffer,
    /// A size in whole bytes.
    Bytes,
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
    /// true, false or one of a few words.
    SwitchOr(&'static [&'static str]),
    /// A string.
    Text,
    /// Names of nodes in a list.
    Nodes,
    /// A form of its own; the string describes it.
    Form(&'static str),
    /// An algorithm with parameters of its own, which the queue runs; it must be named.
    Algorithm,
    /// A queue of any kind with parameters of its own, which stands within this one; tail drop when
    /// none is named.
    Queue,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Duration => "time",
            Self::Timing => "time, or a range like \"uniform 0 s .. 5 s\"",
            Self::Size => "amount of queue",
            Self::Buffer => "amount of queue, or bdp",
            Self::Bytes => "size",
            Self::Rate => "rate",
            Self::Number => "number",
            Self::Count => "whole number",
            Self::Ratio => "share",
            Self::Switch => "true or false",
            Self::Choice(words) => return f.write_str(&words.join(" | ")),
            Self::SwitchOr(words) => {
                f.write_str("true | false | ")?;
                return f.write_str(&words.join(" | "));
            }
            Self::Text => "string",
            Self::Nodes => "list of nodes",
            Self::Form(description) => description,
            Self::Algorithm => "an algorithm, for instance { kind = \"pie\" }",
            Self::Queue => "a queue of any kind, for instance { kind = \"fq-codel\" }",
        })
    }
}

impl Unit {
    /// Whether it is not a quantity but another algorithm or queue.
    #[must_use]
    pub const fn is_another(self) -> bool {
        matches!(self, Self::Algorithm | Self::Queue)
    }

    /// Whether values of this unit lie in a range.
    #[must_use]
    pub const fn has_range(self) -> bool {
        matches!(
            self,
            Self::Duration | Self::Timing | Self::Size | Self::Bytes | Self::Rate | Self::Number | Self::Count | Self::Ratio
        )
    }
}

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A time span.
    Duration(Duration),
    /// A span between the two, drawn each time.
    Range(Duration, Duration),
    /// An amount of queue.
    Size(Size),
    /// A size in whole bytes.
    Bytes(Bytes),
    /// A rate.
    Rate(Rate),
    /// A number, count or ratio.
    Number(f64),
    /// true or false.
    Switch(bool),
    /// One of the words its unit lists, or a string.
    Choice(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duration(span) | Self::Size(Size::Time(span)) => span.fmt(f),
            Self::Range(low, high) => {
                f.write_str("uniform ")?;
                low.fmt(f)?;
                f.write_str(" .. ")?;
                high.fmt(f)
            }
            Self::Size(Size::Bytes(bytes)) => {
                Decimal(*bytes).fmt(f)?;
                f.write_str(" B")
            }
            Self::Size(Size::Packets(packets)) => {
                Decimal(*packets).fmt(f)?;
                f.write_str(" packets")
            }
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Rate(rate) => rate.fmt(f),
            Self::Number(number) => Decimal(*number).fmt(f),
            Self::Switch(on) => f.write_str(if *on { "true" } else { "false" }),
            Self::Choice(word) => f.write_str(word),
        }
    }
}

impl Value {
    /// The value as files write it.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Self::Number(_) | Self::Switch(_) => alloc::format!("{self}"),
            _ => alloc::format!("\"{self}\""),
        }
    }
}

macro_rules! values {
    ($($Type:ty => $variant:ident,)+) => {
        $(impl From<$Type> for Value {
            fn from(value: $Type) -> Self {
                Self::$variant(value)
            }
        })+
    };
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Number(value.into())
    }
}

values! {
    Duration => Duration,
    Size => Size,
    Bytes => Bytes,
    Rate => Rate,
    f64 => Number,
    bool => Switch,
    &'static str => Choice,
}

/// An amount of queue, as a person writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Bytes, framing not counted.
    Bytes(f64),
    /// Packets of one MTU.
    Packets(f64),
    /// The amount that the link sends in this time.
    Time(Duration),
}

impl Size {
    /// The size in bytes, rounded to the nearest; `None` for a time on a link of unknown rate.
    #[must_use]
    pub fn bytes(self, mtu: Bytes, rate: Option<Rate>) -> Option<Bytes> {
        match self {
            Self::Bytes(bytes) => Some(Bytes::new((bytes + 0.5) as u64)),
            Self::Packets(packets) => Some(Bytes::new((packets * mtu.get() as f64 + 0.5) as u64)),
            Self::Time(span) => rate.map(|rate| rate.bytes_in(span)),
        }
    }

    /// The size in packets of one MTU, whole or not; `None` for a time on a link that is down or of
    /// unknown rate.
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
