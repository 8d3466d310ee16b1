//! The stacks, and which of them stands in the place of the tested flows.

use crate::keys::Keys;
use crate::work::{Flow, Work};
use crate::{host, noq, quiche, quinn, s2n};
use goodqueue_net::Ends;
use std::error::Error;

/// Stack that takes the place of the tested flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Our TCP.
    Tcp,
    Quinn,
    Noq,
    Quiche,
    S2n,
}

impl Stack {
    pub const ALL: [Self; 5] = [Self::Tcp, Self::Quinn, Self::Noq, Self::Quiche, Self::S2n];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "goodqueue TCP",
            Self::Quinn => "quinn-proto 0.11.19",
            Self::Noq => "noq-proto 1.4.0",
            Self::Quiche => "quiche 0.30.0",
            Self::S2n => "s2n-quic 1.91.0",
        }
    }

    /// A foreign stack in commands: `quinn`, `noq`, `quiche`, `s2n`.
    pub fn word(self) -> &'static str {
        self.name().split([' ', '-']).next().unwrap_or_default()
    }

    /// The foreign stack of a command's word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stack| *stack != Self::Tcp && stack.word() == word)
    }

    pub const fn controls(self) -> &'static [&'static str] {
        match self {
            Self::Tcp => &["cubic", "reno", "bbr"],
            Self::Quinn => quinn::CONTROLS,
            Self::Noq => noq::CONTROLS,
            Self::Quiche => quiche::CONTROLS,
            Self::S2n => s2n::CONTROLS,
        }
    }

    /// The ends of a flow; our TCP needs none.
    pub fn ends(self, keys: &Keys, flow: Flow, control: &str, work: &Work) -> Result<Ends, Box<dyn Error>> {
        match self {
            Self::Tcp => Err("our TCP needs no endpoints".into()),
            Self::Quinn => Ok(host::ends(quinn::ends(keys, flow, control)?, flow, work)),
            Self::Noq => Ok(host::ends(noq::ends(keys, flow, control)?, flow, work)),
            Self::Quiche => Ok(host::ends(quiche::ends(keys, flow, control)?, flow, work)),
            Self::S2n => Ok(host::ends(s2n::ends(keys, flow, control)?, flow, work)),
        }
    }
}

/// A stack under one of its congestion controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tested {
    pub stack: Stack,
    pub control: &'static str,
}

impl Tested {
    pub fn all() -> impl Iterator<Item = Self> {
        Stack::ALL.into_iter().flat_map(|stack| stack.controls().iter().map(move |&control| Self { stack, control }))
    }

    /// Finds the stack and the congestion control that a command names.
    pub fn named(stack: &str, control: &str) -> Result<Self, Box<dyn Error>> {
        let stack = Stack::named(stack).ok_or_else(|| format!("{stack}: allowed quinn, noq, quiche, s2n"))?;
        let known = stack.controls().iter().find(|known| **known == control);
        let control = known.ok_or_else(|| format!("{control}: allowed {}", stack.controls().join(", ")))?;
        Ok(Self { stack, control })
    }

    pub fn name(self) -> String {
        format!("{} {}", self.stack.name(), self.control)
    }
}
