//! From text to tokens, each with its place.

use crate::packetdrill::error::{Place, ScriptError};

/// Largest script in bytes; the longest public one has about 30 kB.
pub const MAX_SCRIPT: usize = 1 << 20;
/// Characters of a word that a message quotes.
const QUOTED: usize = 40;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    /// Decimal digits, perhaps with a minus.
    Integer(i64),
    /// `0x` and digits.
    Hexadecimal(i64),
    /// Digits with a point.
    Decimal(&'a str),
    Word(&'a str),
    /// Between double quotes.
    Text(&'a str),
    /// Between back quotes: commands for a shell.
    Commands(&'a str),
    /// Between `%{` and `}%`.
    Code(&'a str),
    /// `--name` or `--name=value`.
    Option(&'a str, &'a str),
    /// `...`
    Ellipsis,
    /// Any other character.
    Sign(char),
    End,
}

impl Token<'_> {
    /// The token as a message names it.
    pub(crate) fn name(&self) -> String {
        let cut = |text: &str| text.chars().take(QUOTED).collect::<String>();
        match self {
            Self::Integer(value) => format!("`{value}`"),
            Self::Hexadecimal(value) => format!("`{value:#x}`"),
            Self::Decimal(text) | Self::Word(text) => format!("`{}`", cut(text)),
            Self::Text(_) => "a string".to_owned(),
            Self::Commands(_) => "a command in back quotes".to_owned(),
            Self::Code(_) => "code in %{ }%".to_owned(),
            Self::Option(name, _) => format!("the option --{}", cut(name)),
            Self::Ellipsis => "`...`".to_owned(),
            Self::Sign(sign) => format!("`{}`", sign.escape_default()),
            Self::End => "the end of the script".to_owned(),
        }
    }
}

/// Splits a script into tokens, the last of which is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Place, Token<'_>)>, ScriptError> {
    if text.len() > MAX_SCRIPT {
        let message = format!("the script has {} bytes: allowed are at most {MAX_SCRIPT}", text.len());
        return Err(ScriptError::new(Place { line: 1, column: 1 }, message));
    }
    let mut lexer = Lexer { text, at: 0, place: Place { line: 1, column: 1 } };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let place = lexer.place;
        let token = lexer.token()?;
        let end = token == Token::End;
        tokens.push((place, token));
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    place: Place,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes the next `bytes` bytes, which must end between two characters.
    fn take(&mut self, bytes: usize) -> &'a str {
        let taken = &self.rest()[..bytes];
        self.place = self.place.behind(taken);
        self.at += bytes;
        taken
    }

    fn skip_blanks(&mut self) -> Result<(), ScriptError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            if blank > 0 {
                self.take(blank);
            } else if rest.starts_with("//") {
                self.take(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(inside) = rest.strip_prefix("/*") {
                let end = inside.find("*/").ok_or_else(|| self.fault("the comment `/*` has no `*/`"))?;
                self.take(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn fault(&self, message: &str) -> ScriptError {
        ScriptError::new(self.place, message)
    }

    fn token(&mut self) -> Result<Token<'a>, ScriptError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        let second = rest[first.len_utf8()..].chars().next().unwrap_or(' ');
        if rest.starts_with("...") {
            self.take(3);
            return Ok(Token::Ellipsis);
        }
        if let Some(inside) = rest.strip_prefix("%{") {
            let end = inside.find("}%").ok_or_else(|| self.fault("the code `%{` has no `}%`"))?;
            return Ok(Token::Code(&self.take(end + 4)[2..end + 2]));
        }
        if rest.starts_with("--") && second == '-' && rest[2..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Ok(self.option());
        }
        match first {
            '"' => Ok(Token::Text(self.quoted('"', "the string has no closing quote")?)),
            '`' => Ok(Token::Commands(self.quoted('`', "the command has no closing back quote")?)),
            '0'..='9' => self.number(),
            '.' | '-' if second.is_ascii_digit() => self.number(),
            '-' if second == '.' && rest[2..].starts_with(|c: char| c.is_ascii_digit()) => self.number(),
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
                Ok(Token::Word(self.take(end)))
            }
            c => {
                self.take(c.len_utf8());
                Ok(Token::Sign(c))
            }
        }
    }

    fn quoted(&mut self, quote: char, message: &str) -> Result<&'a str, ScriptError> {
        let mut escaped = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                return Ok(&self.take(at + 1)[1..at]);
            }
        }
        Err(self.fault(message))
    }

    fn option(&mut self) -> Token<'a> {
        let line = self.rest();
        let name_end = line[2..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(line.len(), |at| at + 2);
        let name = &self.take(name_end)[2..];
        if !self.rest().starts_with('=') {
            return Token::Option(name, "");
        }
        self.take(1);
        let value = self.rest();
        Token::Option(name, self.take(value.find(char::is_whitespace).unwrap_or(value.len())))
    }

    fn number(&mut self) -> Result<Token<'a>, ScriptError> {
        let place = self.place;
        let rest = self.rest();
        if rest.starts_with("0x") || rest.starts_with("0X") {
            let end = rest[2..].find(|c: char| !c.is_ascii_hexdigit()).map_or(rest.len(), |at| at + 2);
            let text = self.take(end);
            let value = i64::from_str_radix(&text[2..], 16);
            return value.map(Token::Hexadecimal).map_err(|_| {
                let shown: String = text.chars().take(QUOTED).collect();
                ScriptError::new(place, format!("`{shown}` is no number of at most 63 bits"))
            });
        }
        let sign = usize::from(rest.starts_with('-'));
        let digits = |from: usize| rest[from..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| from + at);
        let whole = digits(sign);
        let fraction = rest[whole..].starts_with('.') && rest[whole + 1..].starts_with(|c: char| c.is_ascii_digit());
        if fraction {
            let end = digits(whole + 1);
            return Ok(Token::Decimal(self.take(end)));
        }
        let text = self.take(whole);
        // More digits than a number has may be a cookie.
        Ok(text.parse().map_or(Token::Word(text), Token::Integer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Token<'_>> {
        tokens(text).expect("it can be read").into_iter().map(|(_, token)| token).collect()
    }

    #[test]
    fn times_and_ranges_are_split_where_they_should() {
        use Token::{Decimal, Ellipsis, End, Integer, Sign};
        assert_eq!(kinds("+0...0.010"), [Sign('+'), Integer(0), Ellipsis, Decimal("0.010"), End]);
        assert_eq!(kinds("+.3~+.310 *"), [Sign('+'), Decimal(".3"), Sign('~'), Sign('+'), Decimal(".310"), Sign('*'), End]);
        assert_eq!(kinds("1:1001(1000)"), [Integer(1), Sign(':'), Integer(1001), Sign('('), Integer(1000), Sign(')'), End]);
    }

    #[test]
    fn comments_are_skipped_and_places_count_from_one() {
        let tokens = tokens("// one\n /* two\n*/ x").unwrap();
        assert_eq!(tokens[0], (Place { line: 3, column: 4 }, Token::Word("x")));
    }

    #[test]
    fn what_is_open_at_the_end_is_named_where_it_began() {
        for (text, message) in [
            ("a %{ b", "1:3: the code `%{` has no `}%`"),
            ("\n`ls", "2:1: the command has no closing back quote"),
            ("/* ", "1:1: the comment `/*` has no `*/`"),
            (" 0xfffffffffffffffff", "1:2: `0xfffffffffffffffff` is no number of at most 63 bits"),
        ] {
            assert_eq!(tokens(text).unwrap_err().to_string(), message);
        }
    }
}
