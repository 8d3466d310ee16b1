//! A script after reading: options, commands, events.

use crate::packetdrill::code::Program;
use crate::packetdrill::error::Place;
use goodqueue_base::units::{Duration, Ecn};
use goodqueue_tcp::wire::{OptionList, TcpFlags, TcpOption};
use std::fmt;

/// A script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Options at its beginning, as `--name=value`.
    pub options: Vec<ScriptOption>,
    /// Commands before the first event.
    pub init: Option<(Place, String)>,
    /// Events in their order.
    pub events: Vec<Event>,
    /// Commands after the last event. They undo what `init` has done and have no effect here.
    pub cleanup: Option<(Place, String)>,
}

/// An option line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOption {
    /// The place of the line.
    pub place: Place,
    /// Without the dashes.
    pub name: String,
    /// Empty if there is none.
    pub value: String,
}

/// An action with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The place where the event begins.
    pub place: Place,
    /// When it happens, or should.
    pub time: EventTime,
    /// The action.
    pub action: Action,
}

/// The time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTime {
    /// `0.5`: since the beginning of the script.
    Absolute(Duration),
    /// `+0.5`: since the previous event.
    Relative(Duration),
    /// `0.5~0.6`
    AbsoluteRange(Duration, Duration),
    /// `+0.5~+0.6`
    RelativeRange(Duration, Duration),
    /// `*`: at any time.
    Any,
}

/// An action of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A segment arrives.
    Inbound(ScriptPacket),
    /// A segment leaves.
    Outbound(ScriptPacket),
    /// The application calls the stack.
    Call(Call),
    /// Commands for a shell.
    Commands(String),
    /// Statements over the state of the connection.
    Code(Program),
    /// Something that is no TCP over IP, such as an ICMP message: its name.
    Foreign(String),
}

/// A segment as a script describes it: numbers are relative to the initial ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptPacket {
    /// ECN codepoint; `None`: any, and Not-ECT for one that arrives.
    pub ecn: Option<EcnCheck>,
    /// Control bits.
    pub flags: TcpFlags,
    /// Sequence number.
    pub seq: u32,
    /// Bytes of payload.
    pub len: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Window; `None`: any.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options; `None`: any.
    pub options: Option<Vec<TcpOption>>,
}

/// A script's requirement for an ECN codepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnCheck {
    /// This one.
    Exactly(Ecn),
    /// ECT(0) or ECT(1).
    EitherEct,
}

impl EcnCheck {
    /// The words of the language.
    pub(crate) const WORDS: [(&'static str, Self); 5] = [
        ("noecn", Self::Exactly(Ecn::NotEct)),
        ("ect0", Self::Exactly(Ecn::Ect0)),
        ("ect1", Self::Exactly(Ecn::Ect1)),
        ("ce", Self::Exactly(Ecn::Ce)),
        ("ect01", Self::EitherEct),
    ];
}

/// A call of the application.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// For instance `write`.
    pub name: String,
    /// Arguments.
    pub arguments: Vec<Value>,
    /// The value it should return.
    pub result: Value,
    /// The name of the error it should give, for instance `EAGAIN`.
    pub errno: Option<String>,
    /// When a call that blocks should return: since the beginning or since the previous event, as
    /// its [`EventTime`].
    pub end: Option<Duration>,
}

/// An argument or a result of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `...`
    Any,
    /// A number.
    Integer(i64),
    /// A name, mostly of a constant.
    Word(String),
    /// A string.
    Text(String),
    /// `A|B`
    Either(Vec<Value>),
    /// `[a, b]`
    List(Vec<Value>),
    /// `{a, b}`
    Group(Vec<Value>),
    /// `name(a)`
    Apply(String, Vec<Value>),
    /// `name = value`
    Field(Box<Value>, Box<Value>),
}

impl Value {
    /// The integer it is, if it is one.
    #[must_use]
    pub const fn as_integer(&self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    /// The names it consists of: one, or several joined by `|`.
    #[must_use]
    pub fn words(&self) -> Vec<&str> {
        match self {
            Self::Word(word) => vec![word],
            Self::Either(values) => values.iter().flat_map(Self::words).collect(),
            Self::Any | Self::Integer(_) | Self::Text(_) | Self::List(_) | Self::Group(_) | Self::Apply(..) | Self::Field(..) => {
                Vec::new()
            }
        }
    }

    /// The value of the field `name` of a group.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Self> {
        let Self::Group(fields) = self else { return None };
        fields.iter().find_map(|field| match field {
            Self::Field(key, value) => {
                let found = match &**key {
                    Self::Word(word) | Self::Apply(word, _) => word == name,
                    _ => false,
                };
                found.then_some(&**value)
            }
            _ => None,
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, values: &[Self], between: &str| {
            values.iter().enumerate().try_for_each(|(place, value)| {
                f.write_str(if place == 0 { "" } else { between })?;
                value.fmt(f)
            })
        };
        match self {
            Self::Any => f.write_str("..."),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Word(word) => f.write_str(word),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Either(values) => list(f, values, "|"),
            Self::List(values) => {
                f.write_str("[")?;
                list(f, values, ", ")?;
                f.write_str("]")
            }
            Self::Group(values) => {
                f.write_str("{")?;
                list(f, values, ", ")?;
                f.write_str("}")
            }
            Self::Apply(name, values) => {
                write!(f, "{name}(")?;
                list(f, values, ", ")?;
                f.write_str(")")
            }
            Self::Field(key, value) => write!(f, "{key}={value}"),
        }
    }
}

/// In the language's notation.
impl fmt::Display for ScriptPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((word, _)) = EcnCheck::WORDS.iter().find(|(_, check)| self.ecn == Some(*check)) {
            write!(f, "[{word}] ")?;
        }
        write!(f, "{} {}:{}({})", self.flags, self.seq, self.seq.wrapping_add(self.len), self.len)?;
        if self.flags.has(TcpFlags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) => OptionList(options).fmt(f),
        }
    }
}
