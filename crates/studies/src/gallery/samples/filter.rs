//! Filters that select points: `#{load: 'cbr', delay: [0.005, 0.05], threshold: '>=5'}`.

use crate::gallery::experiment::{AxisValue, Experiment, same};
use crate::gallery::expr::{Fault, Value};
use crate::gallery::files::{FilterSpec, FilterValue};

/// The values required of each named axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter(Vec<(String, Wanted)>);

#[derive(Clone, Debug, PartialEq)]
enum Wanted {
    Number(f64),
    Text(String),
    Comparison(&'static str, f64),
    Any(Vec<Wanted>),
}

impl Filter {
    /// From a filter of an expression.
    ///
    /// # Errors
    /// When a value cannot be compared with an axis.
    pub fn of_entries(entries: &[(String, Value)]) -> Result<Self, Fault> {
        let wanted = |(axis, value): &(String, Value)| Ok((axis.clone(), Wanted::of_value(value)?));
        entries.iter().map(wanted).collect::<Result<_, Fault>>().map(Self)
    }

    /// From a `where` of a figure.
    #[must_use]
    pub fn of_spec(spec: &FilterSpec) -> Self {
        Self(spec.iter().map(|(axis, value)| (axis.clone(), Wanted::of_spec(value))).collect())
    }

    /// Returns the filter with one more axis fixed.
    #[must_use]
    pub fn and(&self, axis: &str, value: &AxisValue) -> Self {
        let mut all = self.clone();
        all.0.push((axis.to_owned(), Wanted::Text(value.text.clone())));
        all
    }

    /// Numbers of the points that fit, in the order of the sweep.
    ///
    /// # Errors
    /// When an axis is unknown, or a comparison is made with what is no number.
    pub fn points(&self, experiment: &Experiment) -> Result<Vec<usize>, Fault> {
        let mut kept: Vec<usize> = (0..experiment.points.len()).collect();
        for (name, wanted) in &self.0 {
            let axis = experiment.axis(name)?;
            let mut fits = Vec::with_capacity(kept.len());
            for at in kept {
                if wanted.fits(&axis.values[at]).map_err(|fault| fault.within(&format!("axis `{name}`")))? {
                    fits.push(at);
                }
            }
            kept = fits;
        }
        Ok(kept)
    }
}

const COMPARISONS: &[&str] = &[">=", "<=", "!=", ">", "<"];

impl Wanted {
    fn of_value(value: &Value) -> Result<Self, Fault> {
        match value {
            Value::Number(number) => Ok(Self::Number(*number)),
            Value::Text(text) => Ok(Self::of_text(text)),
            Value::Bool(value) => Ok(Self::Text(value.to_string())),
            Value::Array(items) => Ok(Self::Any(items.iter().map(Self::of_value).collect::<Result<_, _>>()?)),
            other @ Value::Filter(_) => Err(Fault::Type(format!("a filter cannot hold {}", other.kind()))),
        }
    }

    fn of_spec(value: &FilterValue) -> Self {
        match value {
            FilterValue::Number(number) => Self::Number(*number),
            FilterValue::Text(text) => Self::of_text(text),
            FilterValue::Any(items) => Self::Any(items.iter().map(Self::of_spec).collect()),
        }
    }

    fn of_text(text: &str) -> Self {
        for sign in COMPARISONS {
            let number = text.strip_prefix(sign).and_then(|rest| {
                let rest = rest.trim();
                AxisValue::of(&serde_json::Value::from(rest)).number
            });
            if let Some(number) = number {
                return Self::Comparison(sign, number);
            }
        }
        Self::Text(text.to_owned())
    }

    fn fits(&self, value: &AxisValue) -> Result<bool, Fault> {
        let message = || format!("`{}` is no number and cannot be compared with one", value.text);
        let number = || value.number.ok_or_else(|| Fault::Type(message()));
        Ok(match self {
            Self::Number(wanted) => value.number.is_some_and(|own| same(own, *wanted)),
            Self::Text(text) => match text.strip_prefix('!') {
                Some(text) => !value.is(text),
                None => value.is(text),
            },
            Self::Comparison(sign, wanted) => {
                let own = number()?;
                let equal = same(own, *wanted);
                match *sign {
                    ">=" => own > *wanted || equal,
                    "<=" => own < *wanted || equal,
                    "!=" => !equal,
                    ">" => own > *wanted && !equal,
                    _ => own < *wanted && !equal,
                }
            }
            Self::Any(all) => {
                let mut any = false;
                for wanted in all {
                    any |= wanted.fits(value)?;
                }
                any
            }
        })
    }
}
