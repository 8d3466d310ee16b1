//! Figures and lists in words.

use crate::results::metrics::{Description, MIN_TIME_S, Quantity};
use crate::results::statistics::Figure;
use std::borrow::Borrow;

/// `12.3 ms`, in three digits.
pub fn time(seconds: f64) -> String {
    let (scale, unit, decimals) = time_format(seconds);
    format!("{:.decimals$} {unit}", seconds * scale)
}

/// Factor, unit and decimals that show three digits.
fn time_format(seconds: f64) -> (f64, &'static str, usize) {
    let (scale, unit) = if seconds >= 1.0 {
        (1.0, "s")
    } else if seconds >= 1e-3 || seconds == 0.0 {
        (1e3, "ms")
    } else {
        (1e6, "µs")
    };
    (scale, unit, three_digits(seconds * scale))
}

fn three_digits(value: f64) -> usize {
    if value >= 100.0 || value == 0.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    }
}

/// `12.3 ± 0.4`; the interval has as many digits as it needs, up to two more than the mean.
fn with_interval(mean: f64, half: Option<f64>, decimals: usize) -> String {
    let Some(half) = half else { return format!("{mean:.decimals$}") };
    let visible = |digits: usize| half == 0.0 || (0..digits).fold(half, |shown, _| shown * 10.0) >= 0.5;
    let decimals = (decimals..=decimals + 2).find(|&digits| visible(digits)).unwrap_or(decimals);
    format!("{mean:.decimals$} ± {half:.decimals$}")
}

/// A figure with its unit and interval, as people read it.
#[must_use]
pub fn figure(about: &Description, figure: Figure) -> String {
    let Some(mean) = figure.mean else { return "nothing".to_owned() };
    let (scale, unit, decimals) = match about.quantity {
        Quantity::Time if about.is_percentile() && mean < MIN_TIME_S => return "below 1 µs".to_owned(),
        Quantity::Time => time_format(mean),
        Quantity::Rate if mean >= 1e9 => (1e-9, "Gbit/s", three_digits(mean * 1e-9)),
        Quantity::Rate if mean >= 1e6 => (1e-6, "Mbit/s", three_digits(mean * 1e-6)),
        Quantity::Rate => (1e-3, "kbit/s", three_digits(mean * 1e-3)),
        Quantity::Ratio => (100.0, "%", 1),
        Quantity::Number => (1.0, "", about.decimals.map_or(2, usize::from)),
        Quantity::Bytes | Quantity::Packets | Quantity::Count(_) => (1.0, about.quantity.unit(), three_digits(mean)),
    };
    // Nothing lost in every run is said without an interval.
    if mean == 0.0 && figure.ci95 == Some(0.0) {
        return format!("0 {unit}").trim_end().to_owned();
    }
    format!("{} {unit}", with_interval(mean * scale, figure.ci95.map(|half| half * scale), decimals)).trim_end().to_owned()
}

/// The name of a figure after its activity: `MOS`, `RTT p95`.
#[must_use]
pub fn heading(about: &Description) -> String {
    let Some(printed) = about.printed else { return about.label.to_owned() };
    if printed.part.is_empty() { printed.head.to_owned() } else { format!("{} {}", printed.head, printed.part) }
}

/// A share as `12.3 %`.
#[must_use]
pub fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn list<S: Borrow<str>>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [one] => one.borrow().to_owned(),
        [first @ .., last] => format!("{} and {}", first.join(", "), last.borrow()),
    }
}

/// The first `most` of these names and how many others there are, where that is shorter.
#[must_use]
pub fn list_up_to(mut names: Vec<String>, most: usize) -> String {
    let all = names.len();
    if all > most + 1 {
        names.truncate(most);
        names.push(count(all - most, "other"));
    }
    list(&names)
}

/// `text` with a capital letter.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `1 setting`, `3 settings`.
pub fn count(number: usize, of: &str) -> String {
    if number == 1 { format!("1 {of}") } else { format!("{number} {of}s") }
}

/// A time in two digits: `21 ms`, `1.2 s`.
#[must_use]
pub fn short_time(seconds: f64) -> String {
    match seconds {
        s if s >= 9.5 => format!("{s:.0} s"),
        s if s >= 0.95 => format!("{s:.1} s"),
        s if s >= 9.5e-3 => format!("{} ms", two_digits(s * 1e3)),
        s if s > 0.0 => format!("{:.1} ms", s * 1e3),
        _ => "0 ms".to_owned(),
    }
}

/// A figure in two digits and no interval, for sentences.
#[must_use]
pub fn short(about: &Description, mean: Option<f64>) -> String {
    let Some(mean) = mean else { return "not at all".to_owned() };
    match about.quantity {
        Quantity::Time => short_time(mean),
        Quantity::Ratio if mean > 0.0 && mean < 0.0095 => format!("{:.1} %", mean * 100.0),
        Quantity::Ratio => format!("{:.0} %", mean * 100.0),
        Quantity::Rate if mean >= 1e9 => format!("{:.1} Gbit/s", mean * 1e-9),
        Quantity::Rate if mean >= 9.95e6 => format!("{} Mbit/s", two_digits(mean * 1e-6)),
        Quantity::Rate if mean >= 1e6 => format!("{:.1} Mbit/s", mean * 1e-6),
        Quantity::Rate => format!("{} kbit/s", two_digits(mean * 1e-3)),
        _ => figure(about, Figure { mean: Some(mean), ci95: None, n: 1 }),
    }
}

/// Rounded to two significant digits, at least to ones.
fn two_digits(value: f64) -> f64 {
    let mut step = 1.0;
    while value >= 100.0 * step {
        step *= 10.0;
    }
    (value / step).round() * step
}
