//! The day, for the page of results.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today's date in UTC, as 2026-01-31.
pub fn today() -> String {
    #[expect(clippy::disallowed_methods, reason = "the page says when it was made; nothing is computed from it")]
    let now = SystemTime::now();
    let days = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    date(days)
}

/// Returns the date `days` days after the first of January 1970.
fn date(mut days: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    loop {
        let length = if is_leap(year) { 366 } else { 365 };
        if days < length {
            break;
        }
        days -= length;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn known_days() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(59), "1970-03-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(20_453), "2025-12-31");
    }
}
