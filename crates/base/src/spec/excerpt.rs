//! Texts of users as messages show them.

use alloc::string::String;

/// `text`, truncated if it is too long for a message.
#[must_use]
pub fn excerpt(text: &str) -> String {
    const MAX: usize = 40;
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    if text.chars().count() <= MAX {
        return text.chars().map(clean).collect();
    }
    let mut short: String = text.chars().take(MAX).map(clean).collect();
    short.push('…');
    short
}
