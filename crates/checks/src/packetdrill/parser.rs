//! From tokens to a [`Script`]: options, times, and what happens when.

mod call;
mod packet;

use crate::packetdrill::code::Program;
use crate::packetdrill::error::{Place, ScriptError};
use crate::packetdrill::lexer::{Token, tokens};
use crate::packetdrill::script::{Action, Event, EventTime, Script, ScriptOption};
use goodqueue_base::units::Duration;
use std::collections::BTreeMap;

/// Most events of a script.
const MAX_EVENTS: usize = 100_000;
/// Latest time that a script can name, in seconds: eleven days.
const LATEST: f64 = 1e6;
const NANOS_PER_SEC: f64 = 1e9;

/// Reads a script.
///
/// # Errors
/// At the first fault: its place and one line about it. Scripts have at most one megabyte, 100,000
/// events, and values nested 32 deep.
///
/// ```
/// let script = goodqueue_checks::packetdrill::parse("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3").unwrap();
/// assert_eq!(script.events.len(), 1);
/// let error = goodqueue_checks::packetdrill::parse("0 < S 0:0(1)").unwrap_err();
/// assert!(error.to_string().starts_with("1:7: "));
/// ```
pub fn parse(text: &str) -> Result<Script, ScriptError> {
    let mut tokens = tokens(text)?;
    define(&mut tokens)?;
    let mut parser = Parser { tokens: &tokens, at: 0 };
    parser.script()
}

/// Replaces the names that options `--define=NAME=VALUE` define.
fn define<'a>(list: &mut [(Place, Token<'a>)]) -> Result<(), ScriptError> {
    let mut values: BTreeMap<&'a str, Token<'a>> = BTreeMap::new();
    for (place, token) in list.iter_mut() {
        match token {
            Token::Option("define", definition) => {
                let fault = || ScriptError::new(*place, "expected --define=NAME=VALUE");
                let (name, value) = definition.split_once('=').ok_or_else(fault)?;
                let value = tokens(value)?.into_iter().next().map(|(_, token)| token);
                values.insert(name, value.filter(|value| *value != Token::End).ok_or_else(fault)?);
            }
            Token::Word(word) => {
                if let Some(value) = values.get(word) {
                    *token = value.clone();
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// A place in the list of tokens, the last of which is the end.
struct Parser<'a> {
    tokens: &'a [(Place, Token<'a>)],
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &Token<'a> {
        &self.tokens[self.at].1
    }

    fn place(&self) -> Place {
        self.tokens[self.at].0
    }

    /// The token `ahead` of the next one.
    fn look(&self, ahead: usize) -> &Token<'a> {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].1
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.tokens[self.at].1.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes the next token if it is this sign.
    fn takes(&mut self, sign: char) -> bool {
        let found = *self.peek() == Token::Sign(sign);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: char) -> Result<(), ScriptError> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    /// Takes the next token if it is this word.
    fn takes_word(&mut self, word: &str) -> bool {
        let found = *self.peek() == Token::Word(word);
        if found {
            self.next();
        }
        found
    }

    fn fault(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::new(self.place(), message)
    }

    fn unexpected(&self, wanted: &str) -> ScriptError {
        self.fault(format!("expected {wanted}, found {}", self.peek().name()))
    }

    fn script(&mut self) -> Result<Script, ScriptError> {
        let mut script = Script::default();
        while let Token::Option(name, value) = *self.peek() {
            let value = value.trim_matches('"').to_owned();
            script.options.push(ScriptOption { place: self.place(), name: name.to_owned(), value });
            self.next();
        }
        script.init = self.commands();
        while *self.peek() != Token::End {
            if let Some(commands) = self.commands() {
                if *self.peek() != Token::End {
                    return Err(self.fault("only commands at the beginning and at the end have no time"));
                }
                script.cleanup = Some(commands);
                break;
            }
            if script.events.len() == MAX_EVENTS {
                return Err(self.fault(format!("the script has more than {MAX_EVENTS} events")));
            }
            script.events.push(self.event()?);
        }
        if script.events.is_empty() {
            return Err(self.fault("the script has no event"));
        }
        Ok(script)
    }

    fn commands(&mut self) -> Option<(Place, String)> {
        let Token::Commands(text) = *self.peek() else { return None };
        let place = self.place();
        self.next();
        Some((place, text.to_owned()))
    }

    fn event(&mut self) -> Result<Event, ScriptError> {
        let place = self.place();
        let time = self.event_time()?;
        let end = if *self.peek() == Token::Ellipsis {
            self.next();
            Some(self.time()?)
        } else {
            None
        };
        let action = match *self.peek() {
            Token::Sign('<' | '>') if end.is_none() => self.packet()?,
            Token::Commands(text) if end.is_none() => {
                self.next();
                Action::Commands(text.to_owned())
            }
            Token::Code(text) if end.is_none() => {
                let program = Program::parse(text, self.place())?;
                self.next();
                Action::Code(program)
            }
            Token::Word(_) => Action::Call(self.call(end)?),
            _ if end.is_some() => return Err(self.unexpected("a call")),
            _ => return Err(self.unexpected("`<`, `>`, a call, a command or code")),
        };
        let outbound = matches!(action, Action::Outbound(_) | Action::Foreign(_));
        match time {
            EventTime::Any | EventTime::AbsoluteRange(..) | EventTime::RelativeRange(..) if !outbound => {
                Err(ScriptError::new(place, "`*` and ranges of time are for outbound packets"))
            }
            EventTime::AbsoluteRange(from, to) | EventTime::RelativeRange(from, to) if to < from => {
                Err(ScriptError::new(place, "the range of time ends before it begins"))
            }
            EventTime::Absolute(_)
            | EventTime::Relative(_)
            | EventTime::AbsoluteRange(..)
            | EventTime::RelativeRange(..)
            | EventTime::Any => Ok(Event { place, time, action }),
        }
    }

    fn event_time(&mut self) -> Result<EventTime, ScriptError> {
        if self.takes('*') {
            return Ok(EventTime::Any);
        }
        if self.takes('+') {
            let from = self.time()?;
            if !self.takes('~') {
                return Ok(EventTime::Relative(from));
            }
            self.expect('+')?;
            return Ok(EventTime::RelativeRange(from, self.time()?));
        }
        if !matches!(self.peek(), Token::Integer(_) | Token::Decimal(_)) {
            return Err(self.unexpected("the time of an event"));
        }
        let from = self.time()?;
        if self.takes('~') { Ok(EventTime::AbsoluteRange(from, self.time()?)) } else { Ok(EventTime::Absolute(from)) }
    }

    fn time(&mut self) -> Result<Duration, ScriptError> {
        let seconds = match *self.peek() {
            Token::Integer(seconds) => seconds as f64,
            Token::Decimal(text) => text.parse().map_err(|_| self.unexpected("a time in seconds"))?,
            _ => return Err(self.unexpected("a time in seconds")),
        };
        if !(0.0..=LATEST).contains(&seconds) {
            return Err(self.fault(format!("the time {} is outside the range 0 to {LATEST} s", self.peek().name())));
        }
        self.next();
        // Scripts count microseconds.
        Ok(Duration::us((seconds * (NANOS_PER_SEC / 1e3) + 0.5) as u64))
    }

    /// An integer from `low` to `high`, called `what` in messages.
    fn integer(&mut self, what: &str, low: i64, high: i64) -> Result<i64, ScriptError> {
        let (Token::Integer(value) | Token::Hexadecimal(value)) = *self.peek() else { return Err(self.unexpected(what)) };
        if !(low..=high).contains(&value) {
            return Err(self.fault(format!("{what} is {value}: allowed {low} to {high}")));
        }
        self.next();
        Ok(value)
    }

    fn number32(&mut self, what: &str) -> Result<u32, ScriptError> {
        Ok(self.integer(what, 0, i64::from(u32::MAX))? as u32)
    }

    fn number16(&mut self, what: &str) -> Result<u16, ScriptError> {
        Ok(self.integer(what, 0, i64::from(u16::MAX))? as u16)
    }
}

#[cfg(test)]
mod tests;
