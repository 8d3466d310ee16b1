//! Times that may be drawn for each flow.

use super::reader::{self, Field};
use super::tree::Value;
use crate::quantity::{self, Limits};
use crate::scenario::diagnostic::Fault;
use goodqueue_base::units::{Duration, Rng};
/// A time that may be drawn independently for each flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// One time for all flows.
    Fixed(Duration),
    /// Uniform between the two.
    Uniform(Duration, Duration),
    /// Between the two, the middle the likeliest: the sum of two equal uniform draws, such as the
    /// delays at both ends of a path.
    Triangular(Duration, Duration),
}

impl Timing {
    /// The time for one flow; `rng` is that flow's own.
    #[must_use]
    pub fn draw(&self, rng: &mut Rng) -> Duration {
        let below = |span: Duration, rng: &mut Rng| Duration::ns(rng.below(span.as_nanos().saturating_add(1)));
        match *self {
            Self::Fixed(span) => span,
            Self::Uniform(low, high) => low + below(high.saturating_sub(low), rng),
            Self::Triangular(low, high) => {
                let width = high.saturating_sub(low);
                let half = width.div(2);
                low + below(half, rng) + below(width.saturating_sub(half), rng)
            }
        }
    }

    /// The shortest it can be.
    #[must_use]
    pub fn earliest(&self) -> Duration {
        match *self {
            Self::Fixed(span) | Self::Uniform(span, _) | Self::Triangular(span, _) => span,
        }
    }

    /// The longest it can be.
    #[must_use]
    pub fn latest(&self) -> Duration {
        match *self {
            Self::Fixed(span) | Self::Uniform(_, span) | Self::Triangular(_, span) => span,
        }
    }

    /// `"2 s"`, `"uniform 0 s .. 5 s"` or `"triangular 0 s .. 5 s"`.
    pub(super) fn read(limits: Limits<Duration>) -> impl Fn(Field<'_>) -> Result<Self, Fault> {
        move |field| {
            let Value::String(text) = &field.node.value else {
                return reader::duration(limits)(field).map(Self::Fixed);
            };
            let triangular = text.trim().strip_prefix("triangular");
            let Some(range) = triangular.or_else(|| text.trim().strip_prefix("uniform")) else {
                return reader::duration(limits)(field).map(Self::Fixed);
            };
            let help = || Some("write a range like \"uniform 0 s .. 5 s\"".to_owned());
            let Some((low, high)) = range.split_once("..") else {
                return Err(field.fault(format!("`{}` is not a range", quantity::excerpt(text)), help()));
            };
            let end = |text: &str| quantity::duration_within(text.trim(), limits);
            let (low, high) = end(low).and_then(|low| Ok((low, end(high)?))).map_err(|error| field.refuse(error))?;
            if low > high {
                return Err(field.fault(format!("`{}` ends before it begins", quantity::excerpt(text)), help()));
            }
            Ok(if triangular.is_some() { Self::Triangular(low, high) } else { Self::Uniform(low, high) })
        }
    }
}
