//! The JSON of a report: numbers with six significant digits, text that cannot end a `<script>`.

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Significant digits of a number.
const DIGITS: i32 = 6;

/// Powers of ten that binary64 holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22,
];

/// Appends `value` as JSON.
///
/// Fractional numbers have six significant digits, and those that are not finite become `null`;
/// whole numbers, such as seeds and counts, stay exact. `<`, `>` and `&` occur only within strings,
/// where an escape is equivalent, so no string can end the element or open a comment; the two line
/// separators are escaped for old parsers.
pub(super) fn append(page: &mut Vec<u8>, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(page, ForScript))
}

struct ForScript;

impl Formatter for ForScript {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let mut text = Text::default();
        Decimal::nearest(value).spell(&mut text, value.is_sign_negative());
        writer.write_all(text.bytes())
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
            let (before, from) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            let character = from.chars().next().unwrap_or_default();
            write!(writer, "\\u{:04x}", u32::from(character))?;
            rest = &from[character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

/// `number × 10^exponent`, without trailing zeros in `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    number: u32,
    exponent: i32,
}

impl Decimal {
    /// The decimal number with six significant digits that is nearest to the magnitude of a finite
    /// `value`.
    fn nearest(value: f64) -> Self {
        let value = value.abs();
        if value == 0.0 {
            return Self { number: 0, exponent: 0 };
        }
        Self::nearest_by_scaling(value).unwrap_or_else(|| Self::nearest_by_printing(value)).without_trailing_zeros()
    }

    /// By one multiplication or division; `None` where its rounding could matter.
    fn nearest_by_scaling(value: f64) -> Option<Self> {
        let binary_exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        // The decimal exponent, or one less: 1233 / 4096 is just below the decimal logarithm of 2.
        let estimate = (binary_exponent * 1233) >> 12;
        for exponent in [estimate, estimate + 1] {
            let scale = DIGITS - 1 - exponent;
            let power = EXACT_POWERS.get(scale.unsigned_abs() as usize)?;
            let scaled = if scale < 0 { value / power } else { value * power };
            if scaled >= 1e6 {
                continue;
            }
            let number = scaled as u32;
            let fraction = scaled - f64::from(number);
            // The error of `scaled` is below a billionth.
            let is_certain = (fraction - 0.5).abs() > 1e-6;
            return is_certain.then_some(Self { number: number + u32::from(fraction > 0.5), exponent: -scale });
        }
        None
    }

    /// By exact arithmetic.
    fn nearest_by_printing(value: f64) -> Self {
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let number = digits.bytes().filter(u8::is_ascii_digit).fold(0, |number, digit| 10 * number + u32::from(digit - b'0'));
        Self { number, exponent: exponent.parse().unwrap_or(0) - (DIGITS - 1) }
    }

    fn without_trailing_zeros(mut self) -> Self {
        while self.number.is_multiple_of(10) {
            self.number /= 10;
            self.exponent += 1;
        }
        self
    }

    /// The shortest usual notation.
    #[inline]
    fn spell(self, text: &mut Text, is_negative: bool) {
        /// Zeros that are written out; more of them become an exponent.
        const ZEROS: i32 = 4;
        if is_negative {
            text.push(b'-');
        }
        let len = self.number.checked_ilog10().unwrap_or(0) as i32 + 1;
        let whole = len + self.exponent;
        match self.exponent {
            0..=ZEROS => {
                text.push_number(self.number, len);
                text.push_zeros(self.exponent);
            }
            ..0 if whole > 0 => {
                let power = 10_u32.pow(self.exponent.unsigned_abs());
                text.push_number(self.number / power, whole);
                text.push(b'.');
                text.push_number(self.number % power, len - whole);
            }
            ..0 if whole >= -ZEROS => {
                text.push(b'0');
                text.push(b'.');
                text.push_zeros(-whole);
                text.push_number(self.number, len);
            }
            exponent => {
                text.push_number(self.number, len);
                text.push(b'e');
                if exponent < 0 {
                    text.push(b'-');
                }
                let exponent = exponent.unsigned_abs();
                text.push_number(exponent, exponent.ilog10() as i32 + 1);
            }
        }
    }
}

/// The text of one number.
#[derive(Default)]
struct Text {
    bytes: [u8; 24],
    len: usize,
}

impl Text {
    fn push(&mut self, letter: u8) {
        self.bytes[self.len] = letter;
        self.len += 1;
    }

    fn push_zeros(&mut self, count: i32) {
        for _ in 0..count {
            self.push(b'0');
        }
    }

    /// The last `digits` digits of a number.
    fn push_number(&mut self, mut number: u32, digits: i32) {
        let end = self.len + digits as usize;
        for place in self.bytes[self.len..end].iter_mut().rev() {
            *place = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.len = end;
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: &impl Serialize) -> String {
        let mut page = Vec::new();
        append(&mut page, value).unwrap();
        String::from_utf8(page).unwrap()
    }

    #[test]
    fn numbers_have_six_digits_in_the_shortest_notation() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (5.0, "5"),
            (0.000_123_456_789, "0.000123457"),
            (-9_999_999.0, "-1e7"),
            (612_345.678_9, "612346"),
            (20_000.0, "20000"),
            (1e5, "1e5"),
            (1.5e-9, "15e-10"),
            (0.95, "0.95"),
            (99_999.96, "1e5"),
            (123_456_789.0, "123457000"),
            (1_234_567_890_123.0, "123457e7"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
            (f64::MAX, "179769e303"),
            (f64::from_bits(1), "494066e-329"),
        ];
        for (value, expected) in cases {
            assert_eq!(json(&value), expected, "{value}");
        }
        assert_eq!(json(&u64::MAX), "18446744073709551615");
    }

    #[test]
    fn every_number_is_the_nearest() {
        let nearest = |value: f64| format!("{value:.5e}").parse::<f64>().unwrap();
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for at in 0..200_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Of any size, of everyday size, and in the middle between two roundings.
            let value = match at % 3 {
                0 => f64::from_bits(bits),
                1 => (bits >> 11) as f64 * 1e-12,
                _ => ((bits >> 44) as f64 + 0.5) / EXACT_POWERS[at % 12],
            };
            if value.is_finite() {
                assert_eq!(json(&value).parse::<f64>().unwrap(), nearest(value), "{value:e}");
            }
        }
    }

    #[test]
    fn no_text_ends_the_element() {
        let hostile = "</script> & <!-- \u{2028}\u{2029} \"\\ ü";
        let text = json(&hostile);
        assert!(text.chars().all(|character| !"<>&\u{2028}\u{2029}".contains(character)), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }
}
