//! Whole numbers of a small unit, written in a larger one.

use core::fmt;

/// `number / unit` in decimal, without zeros at its end; `unit` is a power of ten. Whole numbers
/// only, since numbers with fractions are written by way of kilobytes of stack.
pub(crate) struct Decimal {
    pub(crate) number: u64,
    pub(crate) unit: u64,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut parts) = (self.number / self.unit, self.number % self.unit);
        if parts == 0 {
            return write!(f, "{whole}");
        }
        let mut digits = self.unit.ilog10() as usize;
        while parts.is_multiple_of(10) {
            (parts, digits) = (parts / 10, digits - 1);
        }
        write!(f, "{whole}.{parts:0digits$}")
    }
}
