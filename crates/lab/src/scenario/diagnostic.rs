//! Faults of a scenario: where, what, and what is allowed. One [`Fault`] per wrong value, together
//! a [`PlanError`].

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Text that contains settings: the scenario file, or one `--set` argument.
#[derive(Clone)]
pub(crate) struct Source(Arc<SourceText>);

impl fmt::Debug for Source {
    /// Prints only the name: every value of a plan refers to its source, whose text would drown the
    /// rest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.0.name).finish()
    }
}

struct SourceText {
    name: String,
    text: String,
    /// Whether line and column are meaningful, as in a file but not in a command-line argument.
    is_file: bool,
}

impl Source {
    pub(crate) fn file(name: &str, text: &str) -> Self {
        Self::new(name, text, true)
    }

    pub(crate) fn argument(text: &str) -> Self {
        Self::new("--set", text, false)
    }

    fn new(name: &str, text: &str, is_file: bool) -> Self {
        Self(Arc::new(SourceText { name: name.to_owned(), text: text.to_owned(), is_file }))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Line and column of `at`, counted from one, columns in characters; `None` if the source is
    /// not a file.
    fn position(&self, at: usize) -> Option<(usize, usize)> {
        let SourceText { text, is_file, .. } = &*self.0;
        let before = &text[..boundary(text, at)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        is_file.then_some((line, column))
    }

    /// The first line that `span` touches, and which of its bytes `span` covers.
    fn excerpt(&self, span: &Range<usize>) -> Excerpt<'_> {
        let text = &self.0.text;
        let (from, to) = (boundary(text, span.start), boundary(text, span.end));
        let begin = text[..from].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[from..].find('\n').map_or(text.len(), |newline| from + newline);
        let line = text[begin..end].trim_end_matches('\r');
        let within = |at: usize| (at.max(begin) - begin).min(line.len());
        Excerpt { line, marked: within(from)..within(to) }
    }

    /// Place of `at` for users: `file:line:column`.
    fn place(&self, at: usize) -> String {
        let SourceText { name, text, .. } = &*self.0;
        self.position(at).map_or_else(|| format!("{name} {text}"), |(line, column)| format!("{name}:{line}:{column}"))
    }
}

/// The last boundary between characters that is not behind `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// One fault.
#[derive(Clone, Debug)]
pub struct Fault {
    field: String,
    message: String,
    help: Option<String>,
    origin: Option<Origin>,
    /// Another file than the scenario, for instance a trace; its message names the place in it.
    place: Option<String>,
}

/// A line of a scenario or of a `--set` argument, with the part that a fault refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt<'a> {
    /// The line, without its end.
    pub line: &'a str,
    /// Bytes of the line that the fault refers to; empty if something is missing there.
    pub marked: Range<usize>,
}

/// Place at which a value was written.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) source: Source,
    pub(crate) span: Range<usize>,
}

impl Fault {
    pub(crate) fn at(origin: &Origin, field: &str, message: String, help: Option<String>) -> Self {
        Self { field: field.to_owned(), message, help, origin: Some(origin.clone()), place: None }
    }

    /// A fault of a file as a whole.
    pub(crate) fn in_file(place: &str, message: String, help: Option<String>) -> Self {
        Self { field: String::new(), message, help, origin: None, place: Some(place.to_owned()) }
    }

    /// The setting, as a dotted key; empty for the file as a whole.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The fault: value and allowed range.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The advice on what to write instead, if known.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The file, or `--set` for a command-line argument.
    #[must_use]
    pub fn source_name(&self) -> &str {
        match (&self.origin, &self.place) {
            (Some(origin), _) => origin.source.name(),
            (None, Some(place)) => place,
            (None, None) => "",
        }
    }

    /// Line and column, counted from one, if it is in a file.
    #[must_use]
    pub fn position(&self) -> Option<(usize, usize)> {
        self.origin.as_ref().and_then(|origin| origin.source.position(origin.span.start))
    }

    /// The line that contains it; `None` for faults of other files.
    #[must_use]
    pub fn excerpt(&self) -> Option<Excerpt<'_>> {
        self.origin.as_ref().map(|origin| origin.source.excerpt(&origin.span))
    }

    /// `file:line:column`, or the command-line argument.
    #[must_use]
    pub fn place(&self) -> String {
        match (&self.origin, &self.place) {
            (Some(origin), _) => origin.source.place(origin.span.start),
            (None, Some(place)) => place.clone(),
            (None, None) => String::new(),
        }
    }
}

impl fmt::Display for Fault {
    /// `file:line:column: field: what is wrong`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place())?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// All faults of a scenario; at least one.
#[derive(Clone, Debug)]
pub struct PlanError {
    faults: Vec<Fault>,
}

impl PlanError {
    pub(crate) fn new(first: Fault) -> Self {
        Self { faults: vec![first] }
    }

    /// The error made of `faults`; `None` if there are none.
    pub(crate) fn from_faults(faults: Vec<Fault>) -> Option<Self> {
        (!faults.is_empty()).then_some(Self { faults })
    }

    /// All faults, in the order in which they were found.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter()
    }

    /// All faults as plain text, one per line: place, field, fault, what to write instead.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |fault: &Fault| match fault.suggestion() {
            Some(help) => format!("{fault}; {help}"),
            None => fault.to_string(),
        };
        self.faults().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for PlanError {
    /// The fault, or the number of faults. [`PlanError::text`] has all of them as plain text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.faults.as_slice() {
            [only] => only.fmt(f),
            faults => write!(f, "{} mistakes", faults.len()),
        }
    }
}

impl std::error::Error for PlanError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, span: Range<usize>) -> (String, String) {
        let source = Source::file("a.toml", text);
        let Excerpt { line, marked } = source.excerpt(&span);
        (line.to_owned(), line[marked].to_owned())
    }

    #[test]
    fn an_excerpt_is_one_line_and_the_marked_part_of_it() {
        let text = "a = 1\r\nb = \"zwölf\"\nc = [\n 1]\n";
        assert_eq!(excerpt(text, 11..19), ("b = \"zwölf\"".to_owned(), "\"zwölf\"".to_owned()));
        assert_eq!(excerpt(text, 0..1), ("a = 1".to_owned(), "a".to_owned()));
        let from = text.find('[').unwrap();
        assert_eq!(excerpt(text, from..from + 5), ("c = [".to_owned(), "[".to_owned()), "the first line alone");
        assert_eq!(excerpt(text, 6..7), ("a = 1".to_owned(), String::new()), "the end of a line");
        assert_eq!(excerpt(text, 900..950), (String::new(), String::new()), "beyond the end");
        assert_eq!(excerpt("ö", 1..2), ("ö".to_owned(), "ö".to_owned()), "a span that splits a character takes in its start");
    }
}
