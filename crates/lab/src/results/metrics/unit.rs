//! Units in which people read figures.

use super::describe::Quantity;
use crate::results::statistics::Figure;

/// From the largest unit to the smallest.
const RATES: &[(&str, f64)] = &[("Gbit/s", 1e-9), ("Mbit/s", 1e-6), ("kbit/s", 1e-3), ("bit/s", 1.0)];
const BYTES: &[(&str, f64)] = &[("MB", 1e-6), ("kB", 1e-3), ("B", 1.0)];
const TIMES: &[(&str, f64)] = &[("s", 1.0), ("ms", 1e3), ("µs", 1e6)];

/// The unit in which figures of a quantity are read easily, and how many the SI unit has of it.
#[must_use]
pub fn unit_that_suits(quantity: Quantity, figures: &[Figure]) -> (&'static str, f64) {
    match quantity {
        Quantity::Time => time_unit_of(figures),
        Quantity::Rate => unit_of(figures, RATES, 1000.0),
        Quantity::Bytes => unit_of(figures, BYTES, 10_000.0),
        Quantity::Packets => ("packets", 1.0),
        Quantity::Ratio => ("%", 100.0),
        Quantity::Number => ("1", 1.0),
        Quantity::Count(of) => (of, 1.0),
    }
}

/// The smallest unit in which the largest of `figures` stays below `limit`.
fn unit_of(figures: &[Figure], units: &[(&'static str, f64)], limit: f64) -> (&'static str, f64) {
    let largest = figures.iter().filter_map(|figure| figure.mean).fold(0.0, f64::max);
    let fits = units.iter().rev().find(|(_, scale)| largest * scale < limit);
    *fits.unwrap_or(&units[0])
}

/// Times of good and of bad queues stand in one column: a bad one may have four digits, so that a
/// good one still has some.
fn time_unit_of(figures: &[Figure]) -> (&'static str, f64) {
    let (unit, scale) = unit_of(figures, TIMES, 10_000.0);
    let largest = figures.iter().filter_map(|figure| figure.mean).fold(0.0, f64::max);
    if unit == "µs" && largest >= 1e-3 { ("ms", 1e3) } else { (unit, scale) }
}
