//! Calls of the application: arguments, results, errors.

use super::Parser;
use crate::packetdrill::error::ScriptError;
use crate::packetdrill::lexer::Token;
use crate::packetdrill::script::{Call, Value};
use goodqueue_base::units::Duration;

/// Maximum nesting depth of values.
const MAX_DEPTH: u32 = 32;
/// Most values in one list.
const MAX: usize = 4096;

impl Parser<'_> {
    /// A call; if it blocks, until `end`.
    pub(super) fn call(&mut self, end: Option<Duration>) -> Result<Call, ScriptError> {
        let name = self.word("the name of a call")?;
        self.expect('(')?;
        let arguments = self.values(')', 0)?;
        self.expect('=')?;
        let result = self.value(0)?;
        let mut errno = None;
        if let Token::Word(word) = *self.peek() {
            // Two names of one number.
            errno = Some(if word == "EWOULDBLOCK" { "EAGAIN" } else { word }.to_owned());
            self.next();
            if *self.peek() != Token::Sign('(') {
                return Err(self.unexpected("the error's text in parentheses"));
            }
        }
        if self.takes('(') {
            self.skip_note()?;
        }
        Ok(Call { name, arguments, result, errno, end })
    }

    /// Skips a remark for readers, up to its parenthesis.
    fn skip_note(&mut self) -> Result<(), ScriptError> {
        while !self.takes(')') {
            if *self.peek() == Token::End {
                return Err(self.unexpected("`)`"));
            }
            self.next();
        }
        Ok(())
    }

    pub(super) fn word(&mut self, what: &str) -> Result<String, ScriptError> {
        let Token::Word(word) = *self.peek() else { return Err(self.unexpected(what)) };
        self.next();
        Ok(word.to_owned())
    }

    /// Values between commas, up to and with the closing sign.
    fn values(&mut self, close: char, depth: u32) -> Result<Vec<Value>, ScriptError> {
        let mut values = Vec::new();
        if self.takes(close) {
            return Ok(values);
        }
        loop {
            if values.len() == MAX {
                return Err(self.fault(format!("the list has more than {MAX} values")));
            }
            values.push(self.value(depth)?);
            if self.takes(close) {
                return Ok(values);
            }
            if !self.takes(',') {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
        }
    }

    fn value(&mut self, depth: u32) -> Result<Value, ScriptError> {
        let first = self.part(depth)?;
        if *self.peek() != Token::Sign('|') {
            return Ok(first);
        }
        let mut values = vec![first];
        while self.takes('|') {
            if values.len() == MAX {
                return Err(self.fault(format!("the list has more than {MAX} values")));
            }
            values.push(self.part(depth)?);
        }
        Ok(Value::Either(values))
    }

    /// A value without `|` outside of brackets.
    fn part(&mut self, depth: u32) -> Result<Value, ScriptError> {
        if depth == MAX_DEPTH {
            return Err(self.fault(format!("values are nested more than {MAX_DEPTH} deep")));
        }
        let deeper = depth + 1;
        let value = match *self.peek() {
            Token::Ellipsis => Value::Any,
            Token::Integer(value) | Token::Hexadecimal(value) => Value::Integer(value),
            Token::Text(_) => return Ok(self.text()),
            Token::Sign('[') => {
                self.next();
                return Ok(Value::List(self.values(']', deeper)?));
            }
            Token::Sign('{') => {
                self.next();
                return Ok(Value::Group(self.values('}', deeper)?));
            }
            Token::Word(word) => {
                self.next();
                let key = if self.takes('(') {
                    Value::Apply(word.to_owned(), self.values(')', deeper)?)
                } else {
                    Value::Word(word.to_owned())
                };
                if !self.takes('=') {
                    return Ok(key);
                }
                return Ok(Value::Field(Box::new(key), Box::new(self.value(deeper)?)));
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.next();
        Ok(value)
    }

    /// Strings one after the other are one string; `...` after a string stands for more of it.
    fn text(&mut self) -> Value {
        let mut text = String::new();
        while let Token::Text(part) = *self.peek() {
            text.push_str(part);
            self.next();
        }
        if *self.peek() == Token::Ellipsis {
            self.next();
        }
        Value::Text(text)
    }
}
