//! Arithmetic that gives the same bits everywhere: `+ - * /` and `sqrt` are exact by IEEE 754,
//! everything else is `libm`'s own code.

pub use libm::{cbrt, cos, erfc, exp, exp2, expm1, log, log2, pow, sqrt, tgamma};
