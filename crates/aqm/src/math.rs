//! Arithmetic that gives the same bits everywhere: `+ - * /` and `sqrt` are exact by IEEE 754, everything else is `libm`'s own code.

pub use libm::{cbrt, exp, expm1, log, pow, sqrt};
