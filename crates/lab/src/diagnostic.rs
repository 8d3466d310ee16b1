//! What is wrong with a scenario, where, and what is allowed: one [`Fault`] for each wrong value, together a [`PlanError`].

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text that settings come from: the scenario file, or one `--set`.
#[derive(Clone)]
pub(crate) struct Source(Arc<SourceText>);

impl fmt::Debug for Source {
    /// The name alone: every value of a plan holds its source, and the text in each would drown the rest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.0.name).finish()
    }
}

struct SourceText {
    name: String,
    text: String,
    /// A file has lines and columns worth naming; a command-line argument has not.
    is_file: bool,
    code: NamedSource<String>,
}

impl Source {
    pub(crate) fn file(name: &str, text: &str) -> Self {
        Self::new(name, text, true)
    }

    pub(crate) fn argument(text: &str) -> Self {
        Self::new("--set", text, false)
    }

    fn new(name: &str, text: &str, is_file: bool) -> Self {
        let code = NamedSource::new(name, text.to_owned());
        Self(Arc::new(SourceText { name: name.to_owned(), text: text.to_owned(), is_file, code }))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0.text
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Line and column of `at`, counted from one, columns in characters; `None` for what is no file.
    fn position(&self, at: usize) -> Option<(usize, usize)> {
        let SourceText { text, is_file, .. } = &*self.0;
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        is_file.then_some((line, column))
    }

    /// Where `at` is, for a person: `file:line:column`.
    fn place(&self, at: usize) -> String {
        let SourceText { name, text, .. } = &*self.0;
        self.position(at).map_or_else(|| format!("{name} {text}"), |(line, column)| format!("{name}:{line}:{column}"))
    }
}

/// One wrong thing.
#[derive(Clone, Debug)]
pub struct Fault {
    field: String,
    message: String,
    help: Option<String>,
    origin: Option<Origin>,
    /// A file other than the scenario's, for instance a trace; its message says where in it.
    place: Option<String>,
}

/// Where a value was written.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) source: Source,
    pub(crate) span: Range<usize>,
}

impl Fault {
    pub(crate) fn at(origin: &Origin, field: &str, message: String, help: Option<String>) -> Self {
        Self { field: field.to_owned(), message, help, origin: Some(origin.clone()), place: None }
    }

    /// A fault of a whole file.
    pub(crate) fn in_file(place: &str, message: String, help: Option<String>) -> Self {
        Self { field: String::new(), message, help, origin: None, place: Some(place.to_owned()) }
    }

    /// The setting, as a dotted key; empty when the file as a whole is meant.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong: value and allowed range.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to write instead, if that can be said.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The file it is in, or `--set` for a command-line argument.
    #[must_use]
    pub fn source_name(&self) -> &str {
        match (&self.origin, &self.place) {
            (Some(origin), _) => origin.source.name(),
            (None, Some(place)) => place,
            (None, None) => "",
        }
    }

    /// Line and column, counted from one, where it is in a file.
    #[must_use]
    pub fn position(&self) -> Option<(usize, usize)> {
        self.origin.as_ref().and_then(|origin| origin.source.position(origin.span.start))
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

impl Diagnostic for Fault {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.origin.as_ref().map(|origin| &origin.source.0.code as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let origin = self.origin.as_ref()?;
        let label = LabeledSpan::new(Some("here".to_owned()), origin.span.start, origin.span.len());
        Some(Box::new(std::iter::once(label)))
    }
}

/// Everything that is wrong with a scenario; at least one fault.
#[derive(Clone, Debug)]
pub struct PlanError {
    first: Box<Fault>,
    others: Vec<Fault>,
}

impl PlanError {
    pub(crate) fn new(first: Fault) -> Self {
        Self { first: Box::new(first), others: Vec::new() }
    }

    /// The error that `faults` make together; `None` when there are none.
    pub(crate) fn from_faults(faults: Vec<Fault>) -> Option<Self> {
        let mut faults = faults.into_iter();
        let first = Box::new(faults.next()?);
        Some(Self { first, others: faults.collect() })
    }

    /// All faults, in the order in which they were found.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        std::iter::once(&*self.first).chain(&self.others)
    }

    /// Everything as plain text, one line for each fault: place, field, what is wrong, what to write instead.
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
    /// The fault, or how many there are: a renderer of diagnostics shows help and further faults itself. For plain text with
    /// everything in it see [`PlanError::text`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.others.len() {
            0 => self.first.fmt(f),
            others => write!(f, "{} mistakes", others + 1),
        }
    }
}

impl std::error::Error for PlanError {}

impl Diagnostic for PlanError {
    // The first fault is the headline; rendering it through `diagnostic_source` instead would print it twice.
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        if self.others.is_empty() { self.first.help() } else { None }
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        if self.others.is_empty() { self.first.source_code() } else { None }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.others.is_empty() { self.first.labels() } else { None }
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.others.is_empty() {
            return None;
        }
        Some(Box::new(self.faults().map(|fault| fault as &dyn Diagnostic)))
    }
}
