//! Whole numbers of a small unit, written in a larger one.

use core::fmt;

/// `number / unit` in decimal, without zeros at its end; `unit` is a power of ten. By whole numbers
/// and without another round of formatting, since numbers with fractions are written by way of
/// kilobytes of stack.
pub(crate) struct Decimal {
    pub(crate) number: u64,
    pub(crate) unit: u64,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 20 digits and a point.
        let mut text = [0; 21];
        let mut first = text.len();
        let mut put = |byte| {
            first -= 1;
            text[first] = byte;
        };
        let digit = |number: u64| b'0' + (number % 10) as u8;
        let (mut whole, mut parts) = (self.number / self.unit, self.number % self.unit);
        if parts > 0 {
            let mut count = self.unit.ilog10();
            while parts.is_multiple_of(10) {
                (parts, count) = (parts / 10, count - 1);
            }
            for _ in 0..count {
                put(digit(parts));
                parts /= 10;
            }
            put(b'.');
        }
        loop {
            put(digit(whole));
            whole /= 10;
            if whole == 0 {
                break;
            }
        }
        f.write_str(core::str::from_utf8(&text[first..]).map_err(|_| fmt::Error)?)
    }
}
