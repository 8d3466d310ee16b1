//! Secrets and names that nobody can guess.

use std::fmt;

/// Random hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new one, of 128 bits; the error is the operating system's when it has no randomness.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether the token is `given`. Takes the same time whatever is wrong with it.
    pub fn is(&self, given: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), given.as_bytes());
        ours.len() == theirs.len() && ours.iter().zip(theirs).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_are_told_apart() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.text().len(), 32);
        assert!(one.is(one.text()) && !one.is(other.text()) && !one.is("") && !one.is(&one.text()[1..]));
        assert!(!format!("{one:?}").contains(one.text()), "a log must not tell it");
    }
}
