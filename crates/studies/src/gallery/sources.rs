//! Sources that papers, algorithms and documents cite: the entries of `SOURCES.bib`.

/// The bibliography, built in so that an installed `gq` can check it too.
const TEXT: &str = include_str!("../../data/SOURCES.bib");

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The key of the entry.
    pub key: &'static str,
    /// The authors, as the file has them.
    pub author: &'static str,
    /// The title, as the file has it.
    pub title: &'static str,
    /// The year.
    pub year: &'static str,
    /// The kind of text: `article`, `inproceedings`, `techreport` or `misc`.
    pub kind: &'static str,
    /// The entry as the file has it.
    pub bibtex: &'static str,
}

impl Source {
    /// The entry of a key.
    #[must_use]
    pub fn find(key: &str) -> Option<Self> {
        entries().find(|entry| entry.key == key)
    }

    /// The entries that descriptions of algorithms cite: `RFC 8290 §4`, `Floyd and Jacobson 1993;
    /// ns-2.35`. Programs and what is our own have none.
    #[must_use]
    pub fn cited_as(words: &str) -> Vec<Self> {
        words.split(';').filter_map(|part| entries().find(|entry| entry.is_cited_as(part.trim()))).collect()
    }

    fn is_cited_as(&self, part: &str) -> bool {
        if part.starts_with("RFC ") || part.starts_with("draft-") {
            let number = self.field("number").unwrap_or_default();
            return part
                .strip_prefix(number)
                .is_some_and(|rest| !number.is_empty() && (rest.is_empty() || rest.starts_with(' ')));
        }
        let Some((at, year)) = part.match_indices(self.year).find(|(at, _)| part[..*at].ends_with(' ')) else { return false };
        let rest = &part[at + year.len()..];
        let names = part[..at].trim_end();
        let ours: Vec<String> = self.authors().map(|author| folded(&author.surname)).collect();
        if year.is_empty() || !(rest.is_empty() || rest.starts_with(' ')) {
            return false;
        }
        match names.strip_suffix(" et al.") {
            Some(first) => ours.len() > 2 && ours[0] == folded(first),
            None => names.replace(" and ", ", ").split(", ").map(folded).eq(ours),
        }
    }

    /// The value of a field, as the file has it.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static str> {
        value_of(self.bibtex, name)
    }

    /// The value of a field for a reader.
    #[must_use]
    pub fn plain(&self, name: &str) -> Option<String> {
        self.field(name).map(plain)
    }

    /// The authors, in their order.
    pub fn authors(&self) -> impl Iterator<Item = Author> {
        self.author.split(" and ").filter(|name| !name.is_empty()).map(Author::read)
    }

    /// Authors, title and year for a reader: `Nichols and Jacobson: Controlling Queue Delay, 2012`.
    #[must_use]
    pub fn words(&self) -> String {
        let surnames: Vec<String> = self.authors().map(|author| author.surname).collect();
        let who = match &surnames[..] {
            [] => String::new(),
            [one] => format!("{one}: "),
            [one, other] => format!("{one} and {other}: "),
            [first, ..] => format!("{first} et al.: "),
        };
        let year = if self.year.is_empty() { String::new() } else { format!(", {}", self.year) };
        format!("{who}{}{year}", plain(self.title))
    }
}

/// One author for a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Names or initials before the surname; empty for an organization.
    pub given: String,
    /// The surname, or the name of an organization.
    pub surname: String,
}

impl Author {
    /// Words before a surname that belong to it.
    const PARTICLES: [&str; 1] = ["De"];

    fn read(text: &str) -> Self {
        if text.starts_with('{') {
            return Self { given: String::new(), surname: plain(text) };
        }
        let text = plain(text);
        let (mut given, mut surname) = text
            .rsplit_once(' ')
            .map_or((String::new(), text.clone()), |(given, surname)| (given.to_owned(), surname.to_owned()));
        if let Some((before, particle)) = given.rsplit_once(' ')
            && Self::PARTICLES.contains(&particle)
        {
            (given, surname) = (before.to_owned(), format!("{particle} {surname}"));
        }
        Self { given, surname }
    }
}

/// All entries, in the order of the file.
pub fn entries() -> impl Iterator<Item = Source> {
    TEXT.match_indices("\n@").filter_map(|(at, _)| {
        let entry = &TEXT[at + 1..];
        let (kind, rest) = entry[1..].split_once('{')?;
        let (key, _) = rest.split_once(',')?;
        let bibtex = &entry[..kind.len() + 2 + closing(rest)? + 1];
        let field = |name: &str| value_of(bibtex, name).unwrap_or_default();
        Some(Source { key: key.trim(), author: field("author"), title: field("title"), year: field("year"), kind, bibtex })
    })
}

/// The value of a field: `name = {value}`.
fn value_of(entry: &'static str, name: &str) -> Option<&'static str> {
    let (_, rest) = entry.match_indices(name).map(|(at, _)| entry.split_at(at)).find(|(before, rest)| {
        let is_word = before.ends_with([' ', '\n', ',']);
        is_word && rest[name.len()..].trim_start().starts_with('=')
    })?;
    let (_, value) = rest.split_once('{')?;
    Some(&value[..closing(value)?])
}

/// Returns the offset of the brace that closes the one opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1_u32;
    text.find(|c| {
        open = match c {
            '{' => open + 1,
            '}' => open - 1,
            _ => open,
        };
        open == 0
    })
}

/// The TeX that the file writes, and its meaning.
const LETTERS: [(&str, &str); 6] =
    [("{\\\"a}", "ä"), ("{\\\"o}", "ö"), ("{\\\"u}", "ü"), ("{\\o}", "ø"), ("\\&", "&"), ("--", "–")];

/// Text without the marks of TeX.
fn plain(text: &str) -> String {
    let text = LETTERS.iter().fold(text.to_owned(), |text, (tex, letter)| text.replace(tex, letter));
    text.replace(['{', '}'], "")
}

/// A surname as people without these letters write it.
fn folded(name: &str) -> String {
    let letters = [("ø", "oe"), ("ä", "a"), ("ö", "o"), ("ü", "u")];
    letters.iter().fold(name.trim().to_owned(), |name, (letter, plain)| name.replace(letter, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_and_worded() {
        let codel = Source::find("codel2012").expect("CoDel is cited");
        assert_eq!(codel.words(), "Nichols and Jacobson: Controlling Queue Delay, 2012");
        assert!(codel.bibtex.starts_with("@article{codel2012,") && codel.bibtex.ends_with("year = {2012},\n}"));
        assert_eq!(Source::find("nobody1999"), None);
    }

    #[test]
    fn every_entry_has_a_title_and_no_marks_of_tex_for_readers() {
        assert!(entries().count() > 90);
        for entry in entries() {
            assert!(!entry.title.is_empty() && entry.authors().count() > 0, "{}", entry.key);
            let words: Vec<String> = ["author", "title", "journal", "booktitle", "institution", "note", "pages"]
                .iter()
                .filter_map(|field| entry.plain(field))
                .collect();
            assert!(!words.concat().contains(['\\', '{', '}', '$']), "{}: {words:?}", entry.key);
        }
    }

    #[test]
    fn citations_in_words_lead_to_entries() {
        let keys = |words: &str| Source::cited_as(words).iter().map(|source| source.key).collect::<Vec<_>>();
        assert_eq!(keys("RFC 8290 §4"), ["rfc8290"]);
        assert_eq!(keys("Floyd and Jacobson 1993; ns-2.35"), ["red1993"]);
        assert_eq!(keys("Linux sch_cake; Hoeiland-Joergensen, Taht and Morton 2018"), ["cake2018"]);
        assert_eq!(keys("Alizadeh et al. 2012 (HULL)"), ["hull2012"]);
        assert_eq!(keys("RFC 9331; draft-briscoe-iccrg-prague-congestion-control; L4S team's Linux"), ["rfc9331", "praguedraft"]);
        // Numbers that only begin alike, and names of which some are missing.
        assert_eq!(keys(&["829", "82900"].map(|number| format!("RFC {number}")).join("; ")), [""; 0]);
        assert_eq!(keys("Nobody 1999; Floyd 1993; Linux 6.12"), [""; 0]);
    }

    #[test]
    fn surnames_keep_their_particles() {
        let author = |text: &str| Author::read(text);
        let parts = |given: &str, surname: &str| Author { given: given.to_owned(), surname: surname.to_owned() };
        assert_eq!(author("K. De Schepper"), parts("K.", "De Schepper"));
        assert_eq!(author("J{\\\"o}rg Liebeherr"), parts("Jörg", "Liebeherr"));
        assert_eq!(author("{HTTP Archive}"), parts("", "HTTP Archive"));
        assert_eq!(author("Gupta"), parts("", "Gupta"));
    }
}
