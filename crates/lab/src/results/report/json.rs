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

/// Text on its way to a file, piece by piece: a page of megabytes takes no memory of its size.
///
/// Fractional numbers have six significant digits, and those that are not finite become `null`;
/// whole numbers, such as seeds and counts, stay exact. `<`, `>` and `&` occur only within strings,
/// where an escape is equivalent, so no string can end the element or open a comment; the two line
/// separators are escaped for old parsers.
pub(super) struct Script<'a> {
    piece: Vec<u8>,
    out: &'a mut dyn Write,
}

impl<'a> Script<'a> {
    /// Bytes that wait for each other.
    const PIECE: usize = 1 << 16;

    /// Nothing yet, to go to `out`.
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { piece: Vec::with_capacity(Self::PIECE + Self::PIECE / 4), out }
    }

    /// Text as it is.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        if text.len() >= Self::PIECE {
            self.finish()?;
            return self.out.write_all(text.as_bytes());
        }
        self.piece.extend_from_slice(text.as_bytes());
        self.pass_on()
    }

    /// An object that has a field, left open for more of them.
    pub(super) fn open(&mut self, object: &impl Serialize) -> io::Result<()> {
        append(&mut self.piece, object)?;
        let end = self.piece.pop();
        debug_assert_eq!(end, Some(b'}'), "no object");
        self.pass_on()
    }

    /// A list of whatever `write` writes of each item.
    pub(super) fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.piece.push(b'[');
        for (place, item) in items.into_iter().enumerate() {
            if place > 0 {
                self.piece.push(b',');
            }
            write(self, item)?;
        }
        self.piece.push(b']');
        self.pass_on()
    }

    /// A list of numbers.
    pub(super) fn numbers(&mut self, mut numbers: impl Iterator<Item = f64>) -> io::Result<()> {
        self.piece.push(b'[');
        let mut text = Text::default();
        // The iterator's own loop, which knows that it goes through buckets.
        numbers.try_for_each(|number| {
            text.push_number(number);
            self.piece.extend_from_slice(&text.bytes);
            self.piece.truncate(self.piece.len() - text.bytes.len() + text.len);
            // For the next one.
            text = Text::comma();
            self.pass_on()
        })?;
        self.piece.push(b']');
        Ok(())
    }

    /// Passes on what is left.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(&self.piece)?;
        self.piece.clear();
        Ok(())
    }

    #[inline]
    fn pass_on(&mut self) -> io::Result<()> {
        if self.piece.len() >= Self::PIECE { self.finish() } else { Ok(()) }
    }
}

fn append(page: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(page, ForScript))?)
}

struct ForScript;

impl Formatter for ForScript {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let mut text = Text::default();
        text.push_number(value);
        writer.write_all(&text.bytes[..text.len])
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // Nearly every fragment has none of them; both separators begin with the byte e2.
        if !fragment.bytes().fold(false, |found, byte| found | matches!(byte, b'<' | b'>' | b'&' | 0xe2)) {
            return writer.write_all(fragment.as_bytes());
        }
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

/// `number × 10^exponent`, where `number` has six digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    number: u32,
    exponent: i32,
}

impl Decimal {
    /// The decimal number with six significant digits that is nearest to a finite `value` above
    /// zero.
    #[inline]
    fn nearest(value: f64) -> Self {
        let nearest = Self::nearest_by_scaling(value).unwrap_or_else(|| Self::nearest_by_printing(value));
        match nearest.number {
            // Rounded up to the next power of ten.
            1_000_000 => Self { number: 100_000, exponent: nearest.exponent + 1 },
            _ => nearest,
        }
    }

    /// By one multiplication or division; `None` where its rounding could matter.
    #[inline]
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
            let nearest = Self { number: number + u32::from(fraction > 0.5), exponent: -scale };
            return if is_certain { Some(nearest) } else { None };
        }
        None
    }

    /// By exact arithmetic.
    #[cold]
    fn nearest_by_printing(value: f64) -> Self {
        let text = format!("{value:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let number = digits.bytes().filter(u8::is_ascii_digit).fold(0, |number, digit| 10 * number + u32::from(digit - b'0'));
        Self { number, exponent: exponent.parse().unwrap_or(0) - (DIGITS - 1) }
    }
}

/// Eight letters, the first of them in the lowest bits.
type Letters = u64;

/// Zeros as letters.
const ZEROS: Letters = Letters::from_le_bytes(*b"00000000");

/// The six digits of a number, and nothing behind them.
#[inline]
fn six_digits(number: u32) -> Letters {
    // Halves of three digits each, then digits of both halves at once.
    let halves = u64::from(number / 1000) | u64::from(number % 1000) << 32;
    let hundreds = (halves * 41) >> 12 & 0x0000_000f_0000_000f;
    let tens_up = halves - 100 * hundreds;
    let tens = (tens_up * 103) >> 10 & 0x0000_000f_0000_000f;
    let ones = tens_up - 10 * tens;
    let both = hundreds | tens << 8 | ones << 16;
    (both & 0x0000_00ff_ffff) | (both >> 8 & 0xffff_ff00_0000) | 0x3030_3030_3030
}

/// The text of one number.
#[derive(Default)]
struct Text {
    bytes: [u8; 32],
    len: usize,
}

impl Text {
    /// A comma, to begin with.
    fn comma() -> Self {
        let mut text = Self::default();
        text.put(Letters::from(b','), 1);
        text
    }

    /// The first `count` of some letters.
    #[inline]
    fn put(&mut self, letters: Letters, count: u32) {
        self.bytes[self.len..self.len + size_of::<Letters>()].copy_from_slice(&letters.to_le_bytes());
        self.len += count as usize;
    }

    /// Any number.
    #[inline]
    fn push_number(&mut self, value: f64) {
        if !value.is_finite() {
            return self.put(Letters::from_le_bytes(*b"null\0\0\0\0"), 4);
        }
        if value.is_sign_negative() {
            self.put(Letters::from(b'-'), 1);
        }
        let size = value.abs();
        // Most that is counted is a whole number.
        let whole = if size < 1e6 { size as u32 } else { 0 };
        if f64::from(whole) != size || whole > 0 && whole.is_multiple_of(100_000) {
            self.push_decimal(Decimal::nearest(size));
        } else {
            self.push_whole(whole);
        }
    }

    /// A number of at most six digits.
    #[inline]
    fn push_whole(&mut self, number: u32) {
        let digits = six_digits(number);
        let leading_zeros = ((digits ^ ZEROS).trailing_zeros() / 8).min(5);
        self.put(digits >> (8 * leading_zeros), 6 - leading_zeros);
    }

    /// The shortest usual notation.
    #[inline]
    fn push_decimal(&mut self, Decimal { number, exponent }: Decimal) {
        /// Zeros that are written out; more of them become an exponent.
        const MAX_ZEROS: i32 = 4;
        let digits = six_digits(number);
        let trailing_zeros = ((digits ^ six_digits(0)) << 16).leading_zeros() / 8;
        let len = 6 - trailing_zeros;
        let exponent = exponent + trailing_zeros as i32;
        let whole = len as i32 + exponent;
        match exponent {
            0..=MAX_ZEROS => {
                self.put(digits, len);
                self.put(ZEROS, exponent as u32);
            }
            ..0 if whole > 0 => {
                let split = 8 * whole as u32;
                let before = digits & ((1 << split) - 1);
                let behind = digits >> split << (split + 8);
                self.put(before | Letters::from(b'.') << split | behind, len + 1);
            }
            ..0 if whole >= -MAX_ZEROS => {
                self.put(Letters::from_le_bytes(*b"0.000000"), (2 - whole) as u32);
                self.put(digits, len);
            }
            exponent => {
                self.put(digits, len);
                let sign = Letters::from_le_bytes(*b"e-\0\0\0\0\0\0");
                self.put(sign, 1 + u32::from(exponent < 0));
                self.push_whole(exponent.unsigned_abs());
            }
        }
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
    fn a_list_is_the_same_in_one_piece_and_in_many() {
        let numbers = |len: u32| (0..len).map(|number| f64::from(number) * 1.25e-3 - 7.0);
        for len in [0, 1, 2, 20_000] {
            let mut page = Vec::new();
            let mut script = Script::new(&mut page);
            script.numbers(numbers(len)).unwrap();
            script.finish().unwrap();
            assert_eq!(String::from_utf8(page).unwrap(), json(&numbers(len).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn digits_are_those_of_the_number() {
        for number in 0..1_000_000 {
            let digits = &six_digits(number).to_le_bytes()[..6];
            assert_eq!(digits, format!("{number:06}").as_bytes());
        }
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
            (123_456.0, "123456"),
            (100.0, "100"),
            (-300_000.0, "-3e5"),
            (120_000.0, "120000"),
            (999_999.5, "1e6"),
            (9.999_999, "10"),
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
            // Of any size, of everyday size, and halfway between two roundings.
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
