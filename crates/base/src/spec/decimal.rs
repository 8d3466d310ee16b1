//! Numbers in decimal, made on a small stack where stacks are small.

use core::fmt;

/// A number in decimal: the fewest digits that are read as the same number again, and no exponent.
///
/// The text is that of the number's own [`fmt::Display`], which takes kilobytes of stack. Where
/// there is no operating system, as in a kernel, this takes some hundred bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal(pub f64);

#[cfg(not(target_os = "none"))]
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(target_os = "none")]
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        short(self.0, f)
    }
}

/// Writes `number` on a small stack.
#[cfg(any(test, target_os = "none"))]
fn short(number: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !number.is_finite() {
        return f.write_str(match (number.is_nan(), number > 0.0) {
            (true, _) => "NaN",
            (false, true) => "inf",
            (false, false) => "-inf",
        });
    }
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(number);
    let (text, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = if fraction == "0" { "" } else { fraction };
    let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
    // With an exponent there is one digit before the point, which moves past all others.
    if exponent < 0 {
        let digit = whole.trim_start_matches('-');
        f.write_str(if digit.len() < whole.len() { "-0." } else { "0." })?;
        zeros(f, -exponent - 1)?;
        f.write_str(digit)?;
        return f.write_str(fraction);
    }
    f.write_str(whole)?;
    if exponent == 0 && !fraction.is_empty() {
        f.write_str(".")?;
    }
    f.write_str(fraction)?;
    zeros(f, exponent - if exponent > 0 { fraction.len() as i32 } else { 0 })
}

#[cfg(any(test, target_os = "none"))]
fn zeros(f: &mut fmt::Formatter<'_>, count: i32) -> fmt::Result {
    (0..count).try_for_each(|_| f.write_str("0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use proptest::prelude::*;

    struct Short(f64);

    impl fmt::Display for Short {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            short(self.0, f)
        }
    }

    fn both(number: f64) -> [String; 2] {
        [Short(number).to_string(), Decimal(number).to_string()]
    }

    #[test]
    fn no_number_has_an_exponent() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (5.0, "5"),
            (-0.05, "-0.05"),
            (1e-7, "0.0000001"),
            (-1.25e-7, "-0.000000125"),
            (1e15, "1000000000000000"),
            (1e16, "10000000000000000"),
            (1.25e20, "125000000000000000000"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(both(number), [text, text]);
        }
    }

    proptest! {
        #[test]
        fn a_small_stack_gives_the_same_text(bits: u64, units in -1_000_000_000_i64..1_000_000_000, places in 0..12) {
            let fraction = units as f64 / (0..places).fold(1.0, |power, _| power * 10.0);
            for [short, long] in [both(f64::from_bits(bits)), both(fraction)] {
                prop_assert_eq!(short, long);
            }
        }
    }
}
