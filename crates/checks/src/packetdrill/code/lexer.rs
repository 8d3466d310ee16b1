//! Tokens of statements. A line break ends a statement, except within parentheses or after `\`.

use crate::packetdrill::error::{Place, ScriptError};

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    /// A string, which only messages have.
    Text,
    /// One or two characters of an operator, or a bracket or comma.
    Sign(&'a str),
    /// A line break or `;`
    EndOfStatement,
}

/// Signs of more than one character, longest first.
const LONG_SIGNS: [&str; 17] =
    ["//=", "==", "!=", "<=", ">=", "<<", ">>", "//", "**", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="];

/// Splits statements into tokens with the place and the offset of each. The text begins at `place`.
pub(super) fn tokens(text: &str, mut place: Place) -> Result<Vec<(Place, usize, Token<'_>)>, ScriptError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut open = 0u32;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (len, token) = match c {
            '\n' => (1, (open == 0).then_some(Token::EndOfStatement)),
            ';' => (1, Some(Token::EndOfStatement)),
            c if c.is_whitespace() => (c.len_utf8(), None),
            '#' => (rest.find('\n').unwrap_or(rest.len()), None),
            '\\' => (if rest[1..].starts_with('\n') { 2 } else { 1 }, None),
            '\'' | '"' => {
                let end = string_end(rest, c).ok_or_else(|| ScriptError::new(place, "the string has no closing quote"))?;
                (end, Some(Token::Text))
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                (end, Some(Token::Name(&rest[..end])))
            }
            c if c.is_ascii_digit() || c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
                let word = &rest[..end];
                let value = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
                    Some(digits) => u64::from_str_radix(digits, 16).ok().map(|value| value as f64),
                    None => word.parse().ok(),
                };
                let value = value.ok_or_else(|| {
                    ScriptError::new(place, format!("`{}` is no number", word.chars().take(40).collect::<String>()))
                })?;
                (end, Some(Token::Number(value)))
            }
            _ => {
                let len = LONG_SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(c.len_utf8(), |sign| sign.len());
                let sign = &rest[..len];
                match sign {
                    "(" | "[" => open += 1,
                    ")" | "]" => open = open.saturating_sub(1),
                    _ => {}
                }
                (len, Some(Token::Sign(sign)))
            }
        };
        if let Some(token) = token {
            tokens.push((place, at, token));
        }
        place = place.behind(&rest[..len]);
        at += len;
    }
    tokens.push((place, at, Token::EndOfStatement));
    Ok(tokens)
}

/// One above the closing quote.
fn string_end(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return Some(at + 1);
        } else if c == '\n' {
            return None;
        }
    }
    None
}
