//! Values that a user gave, with the defaults of the others behind them.

use crate::spec::{Default, Kind, Param, ParamError, ParamFault, ParamType, Setting, Size, Value, nearest};
use crate::units::{Bytes, Duration, Rate};

/// The parameters given for a kind, with the kind's defaults behind them.
#[derive(Clone, Copy, Debug)]
pub struct ParamValues<'a> {
    kind: &'static str,
    params: &'static [Param],
    values: &'a [(&'static str, Value)],
}

impl<'a> ParamValues<'a> {
    /// Checks every value against the kind's parameters: known name, right unit, within range.
    ///
    /// # Errors
    /// The first value that does not fit.
    pub fn new(kind: &Kind, values: &'a [(&'static str, Value)]) -> Result<Self, ParamError> {
        for &(name, value) in values {
            let Some(param) = kind.param(name) else {
                let nearest = nearest(name, kind.params.iter().map(|param| param.name));
                return Err(ParamError::new(name, ParamFault::Unknown { kind: kind.kind, nearest }));
            };
            param.check(value)?;
        }
        Ok(Self { kind: kind.kind, params: kind.params, values })
    }

    /// The kind that the parameters are for (one file may hold several kinds).
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Everything that was given.
    #[must_use]
    pub const fn values(&self) -> &'a [(&'static str, Value)] {
        self.values
    }

    /// Whether the kind has a parameter `name`.
    #[must_use]
    pub fn lists(&self, name: &str) -> bool {
        self.params.iter().any(|param| param.name == name)
    }

    /// Whether `name` was given, rather than left to its default.
    #[must_use]
    pub fn is_given(&self, name: &str) -> bool {
        self.values.iter().any(|(given, _)| *given == name)
    }

    /// Refuses parameters that have no effect where the parameter `with` has this value.
    ///
    /// # Errors
    /// When one of `names` was given.
    pub fn refuse_unused(&self, names: &[&'static str], with: &'static str, value: impl Into<Value>) -> Result<(), ParamError> {
        match names.iter().find(|name| self.is_given(name)) {
            Some(name) => Err(ParamError::new(name, ParamFault::Unused(Setting { name: with, value: value.into() }))),
            None => Ok(()),
        }
    }

    /// The value given for `name`, else its default, else `None` where the default is automatic.
    ///
    /// # Panics
    /// When the kind lists no such parameter: a mistake in the kind's own file, caught by its first
    /// test.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<Value> {
        let param = self.params.iter().find(|p| p.name == name).expect("a kind asks for parameters it lists");
        match (self.values.iter().find(|(given, _)| *given == name), param.default) {
            (Some(&(_, value)), _) | (None, Default::Value(value)) => Some(value),
            (None, Default::Auto(_) | Default::Required) => None,
        }
    }

    /// A time span.
    #[must_use]
    pub fn duration(&self, name: &str) -> Option<Duration> {
        self.value(name).and_then(ParamType::from_value)
    }

    /// An amount of queue in bytes, on a link with this MTU and rate.
    ///
    /// # Errors
    /// When it is given as a time and the link's rate is unknown.
    pub fn bytes(&self, name: &'static str, mtu: Bytes, rate: Option<Rate>) -> Result<Option<Bytes>, ParamError> {
        match self.value(name) {
            Some(Value::Size(size)) => match size.bytes(mtu, rate) {
                Some(bytes) => Ok(Some(bytes)),
                None => Err(ParamError::new(name, ParamFault::TimeWithoutRate)),
            },
            _ => Ok(None),
        }
    }

    /// A size in whole bytes.
    #[must_use]
    pub fn whole_bytes(&self, name: &str) -> Option<Bytes> {
        match self.value(name)? {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// An amount of queue as it was written.
    #[must_use]
    pub fn size(&self, name: &str) -> Option<Size> {
        self.value(name).and_then(ParamType::from_value)
    }

    /// A rate.
    #[must_use]
    pub fn rate(&self, name: &str) -> Option<Rate> {
        self.value(name).and_then(ParamType::from_value)
    }

    /// A number, count or ratio.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.value(name).and_then(ParamType::from_value)
    }

    /// true or false.
    #[must_use]
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.value(name).and_then(ParamType::from_value)
    }

    /// One of the parameter's words.
    #[must_use]
    pub fn choice(&self, name: &str) -> Option<&'static str> {
        self.value(name).and_then(ParamType::from_value)
    }
}
