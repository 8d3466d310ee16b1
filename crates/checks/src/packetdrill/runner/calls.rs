//! Calls of the application: file descriptors, results, calls that block.

use super::{End, Run};
use crate::packetdrill::script::{Call, Value};
use crate::packetdrill::stack::{Returned, Stack};
use goodqueue_base::units::Instant;
use std::collections::BTreeMap;

/// Calls whose first argument is no file descriptor.
const WITHOUT_DESCRIPTOR: [&str; 5] = ["socket", "poll", "epoll_create", "epoll_create1", "pipe"];
/// Calls that return a file descriptor.
const RETURNS_DESCRIPTOR: [&str; 4] = ["socket", "accept", "accept4", "epoll_create"];

/// The calls of a run.
#[derive(Default)]
pub(super) struct Calls {
    /// The stack's file descriptors, by those of the script.
    descriptors: BTreeMap<i64, i64>,
    pending: Option<Pending>,
}

/// A call that has not returned.
struct Pending {
    call: Call,
    /// With the descriptors of the stack.
    inner: Call,
    began: Instant,
    end: Instant,
    line: u32,
}

impl<S: Stack> Run<'_, S> {
    /// Begins a call, which blocks until `end` if the script gives one.
    pub(super) fn call(&mut self, call: &Call, end: Option<Instant>) -> Result<(), End> {
        if let Some(pending) = &self.calls.pending {
            let name = pending.call.name.clone();
            return Err(self.differs("call", format!("{name} has returned by now"), "it still blocks"));
        }
        let inner = self.translated(call);
        let line = self.line;
        let returned = self.stack.call(self.now, &inner).map_err(Self::refused(line))?;
        self.drain()?;
        match (returned, end) {
            (Returned::Blocked, None) => Err(self.differs("call", format!("{} returns {}", call.name, call.result), "it blocks")),
            (Returned::Blocked, Some(end)) => {
                let began = self.now;
                self.calls.pending = Some(Pending { call: call.clone(), inner, began, end, line });
                Ok(())
            }
            (_, Some(end)) if self.now + self.settings.tolerance < end => {
                let expected = format!("{} blocks until {:.6} s", call.name, end.as_secs_f64());
                Err(self.differs("call", expected, "it returns at once"))
            }
            (returned, _) => self.compare_call(call, returned),
        }
    }

    /// Asks again whether the call that blocks has returned.
    pub(super) fn resume_call(&mut self) -> Result<(), End> {
        let Some(pending) = self.calls.pending.take() else { return Ok(()) };
        let returned = self.stack.call(self.now, &pending.inner).map_err(Self::refused(pending.line))?;
        if returned == Returned::Blocked {
            self.calls.pending = Some(pending);
            return Ok(());
        }
        let line = std::mem::replace(&mut self.line, pending.line);
        self.drain()?;
        let off = self.now.since(pending.end).max(pending.end.since(self.now));
        if off > self.tolerance_since(pending.end, pending.began.since(Instant::ZERO)) {
            let expected = format!("{} returns at {:.6} s", pending.call.name, pending.end.as_secs_f64());
            return Err(self.differs("time", expected, format!("{:.6} s", self.now.as_secs_f64())));
        }
        self.compare_call(&pending.call, returned)?;
        self.line = line;
        Ok(())
    }

    /// Waits for the call that blocks at the end of a script.
    pub(super) fn finish_calls(&mut self) -> Result<(), End> {
        if let Some(pending) = &self.calls.pending {
            let end = pending.end;
            self.advance(end)?;
            self.resume_call()?;
        }
        match &self.calls.pending {
            None => Ok(()),
            Some(pending) => {
                let (line, name) = (pending.line, pending.call.name.clone());
                self.line = line;
                Err(self.differs("call", format!("{name} returns"), "it blocks at the end of the script"))
            }
        }
    }

    /// The call with the stack's file descriptors.
    fn translated(&self, call: &Call) -> Call {
        let mut inner = call.clone();
        let skip = usize::from(WITHOUT_DESCRIPTOR.contains(&call.name.as_str()));
        for (place, argument) in inner.arguments.iter_mut().enumerate() {
            match argument {
                Value::Integer(descriptor) if place == 0 && skip == 0 => self.calls.translate(descriptor),
                other => self.calls.translate_fields(other),
            }
        }
        // `epoll_ctl(epfd, op, fd, event)`
        if call.name == "epoll_ctl"
            && let Some(Value::Integer(descriptor)) = inner.arguments.get_mut(2)
        {
            self.calls.translate(descriptor);
        }
        inner
    }

    fn compare_call(&mut self, call: &Call, returned: Returned) -> Result<(), End> {
        let (value, outputs) = match returned {
            Returned::Value(value) => (value, Vec::new()),
            Returned::Values(value, outputs) => (value, outputs),
            Returned::Error(errno) => {
                if call.result.as_integer() == Some(-1) && call.errno.as_deref() == Some(errno) {
                    return Ok(());
                }
                let expected = match &call.errno {
                    Some(errno) => format!("{} = {} {errno}", call.name, call.result),
                    None => format!("{} = {}", call.name, call.result),
                };
                return Err(self.differs("call", expected, format!("-1 {errno}")));
            }
            Returned::Blocked => return Ok(()),
        };
        if let Some(errno) = &call.errno {
            return Err(self.differs("call", format!("{} = {} {errno}", call.name, call.result), value.to_string()));
        }
        match call.result {
            Value::Any => {}
            Value::Integer(expected) if RETURNS_DESCRIPTOR.contains(&call.name.as_str()) && expected >= 0 && value >= 0 => {
                self.calls.descriptors.insert(expected, value);
            }
            Value::Integer(expected) if expected == value => {}
            _ => return Err(self.differs("call", format!("{} = {}", call.name, call.result), value.to_string())),
        }
        for (place, output) in outputs {
            if let Some(expected) = call.arguments.get(place)
                && !matches(expected, &output)
            {
                return Err(self.differs("call", format!("{} gives {expected}", call.name), output.to_string()));
            }
        }
        Ok(())
    }
}

impl Calls {
    fn translate(&self, descriptor: &mut i64) {
        if let Some(&inner) = self.descriptors.get(descriptor) {
            *descriptor = inner;
        }
    }

    /// Translates `fd=N` wherever it stands.
    fn translate_fields(&self, value: &mut Value) {
        match value {
            Value::List(values) | Value::Group(values) | Value::Apply(_, values) | Value::Either(values) => {
                values.iter_mut().for_each(|value| self.translate_fields(value));
            }
            Value::Field(key, inner) => match (&**key, &mut **inner) {
                (Value::Word(name), Value::Integer(descriptor)) if name == "fd" => self.translate(descriptor),
                (_, inner) => self.translate_fields(inner),
            },
            Value::Any | Value::Integer(_) | Value::Word(_) | Value::Text(_) => {}
        }
    }
}

/// Whether a value is what the script says; `...` is anything.
fn matches(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Any, _) => true,
        (Value::List(expected), Value::List(actual)) | (Value::Group(expected), Value::Group(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(expected, actual)| matches(expected, actual))
        }
        (Value::Field(key, expected), Value::Field(name, actual)) => key == name && matches(expected, actual),
        (Value::Either(_), _) | (_, Value::Either(_)) => {
            let sorted = |value: &Value| {
                let mut words = value.words().into_iter().map(str::to_owned).collect::<Vec<_>>();
                words.sort();
                words
            };
            sorted(expected) == sorted(actual)
        }
        _ => expected == actual,
    }
}
