//! Arithmetic that gives the same bits everywhere: `+ - * /` and `sqrt` are exact by IEEE 754,
//! everything else is `libm`'s own code.

pub use libm::{cbrt, cos, erfc, exp, exp2, expm1, log, log2, pow, sqrt, tgamma};

/// `value`, or the end of the range from `low` to `high` that it lies beyond.
///
/// As [`f64::clamp`], without the panic on a range that is none: its message names numbers, and
/// kernels have no stack for making that.
#[inline]
pub(crate) fn within(value: f64, low: f64, high: f64) -> f64 {
    let value = if value < low { low } else { value };
    if value > high { high } else { value }
}
