//! Sources that papers cite: the entries of `SOURCES.bib`.

/// The bibliography, built in so that an installed `gq` can check it too.
const TEXT: &str = include_str!("../data/SOURCES.bib");

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its key.
    pub key: &'static str,
    /// Its authors, as the file has them.
    pub author: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The year.
    pub year: &'static str,
}

impl Source {
    /// The entry of a key.
    #[must_use]
    pub fn find(key: &str) -> Option<Self> {
        entries().find(|entry| entry.key == key)
    }

    /// Authors, title and year for a reader: `Nichols and Jacobson: Controlling Queue Delay, 2012`.
    #[must_use]
    pub fn words(&self) -> String {
        let surnames: Vec<&str> = self.author.split(" and ").map(|name| name.split_whitespace().last().unwrap_or(name)).collect();
        let who = match &surnames[..] {
            [] | [""] => String::new(),
            [one] => format!("{one}: "),
            [one, other] => format!("{one} and {other}: "),
            [first, ..] => format!("{first} et al.: "),
        };
        let year = if self.year.is_empty() { String::new() } else { format!(", {}", self.year) };
        format!("{who}{}{year}", self.title.replace(['{', '}'], ""))
    }
}

fn entries() -> impl Iterator<Item = Source> {
    TEXT.split("\n@").filter_map(|entry| {
        let (_, rest) = entry.split_once('{')?;
        let (key, body) = rest.split_once(',')?;
        let field = |name: &str| value_of(body, name).unwrap_or_default();
        Some(Source { key: key.trim(), author: field("author"), title: field("title"), year: field("year") })
    })
}

/// The value of a field: `name = {value}`.
fn value_of(body: &'static str, name: &str) -> Option<&'static str> {
    let (_, rest) = body.match_indices(name).map(|(at, _)| body.split_at(at)).find(|(before, rest)| {
        let is_word = before.ends_with([' ', '\n', ',']);
        is_word && rest[name.len()..].trim_start().starts_with('=')
    })?;
    let (_, value) = rest.split_once('{')?;
    let mut open = 1_u32;
    let end = value.find(|c| {
        open = match c {
            '{' => open + 1,
            '}' => open - 1,
            _ => open,
        };
        open == 0
    })?;
    Some(&value[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_and_worded() {
        let codel = Source::find("codel2012").expect("CoDel is cited");
        assert_eq!(codel.words(), "Nichols and Jacobson: Controlling Queue Delay, 2012");
        assert_eq!(Source::find("nobody1999"), None);
    }
}
