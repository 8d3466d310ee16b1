//! A file of a paper with its text.

use crate::gallery::error::FileFault;
use crate::gallery::expr::ExprError;
use goodqueue_lab::scenario::input::remember_named;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Version of the format of both files.
pub(super) const FORMAT: u32 = 1;

/// Larger files are refused before they are parsed.
pub(super) const MAX_FILE_SIZE: u64 = 4 << 20;

/// A file of ours with its text, for located errors.
#[derive(Clone, Debug, Default)]
pub struct SourceFile {
    /// The path as shown in messages.
    pub name: String,
    /// The text of the file.
    pub text: String,
}

impl SourceFile {
    pub(super) fn read(path: &Path) -> Result<Self, FileFault> {
        let name = path.display().to_string();
        let fault = |message: String| FileFault::in_file(&name, message);
        let size = std::fs::metadata(path).map_err(|error| fault(format!("cannot be read: {error}")))?.len();
        if size > MAX_FILE_SIZE {
            return Err(fault(format!("has {size} bytes: allowed up to {MAX_FILE_SIZE}")));
        }
        remember_named(path);
        let text = std::fs::read_to_string(path).map_err(|error| fault(format!("cannot be read: {error}")))?;
        Ok(Self { name, text })
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, FileFault> {
        toml::from_str(&self.text).map_err(|error| match error.span() {
            Some(span) => self.fault(&span, "", error.message().trim().replace('\n', "; ")),
            None => FileFault::in_file(&self.name, error.message().to_owned()),
        })
    }

    /// A fault at a part of the text.
    #[must_use]
    pub fn fault(&self, span: &std::ops::Range<usize>, field: &str, message: String) -> FileFault {
        FileFault::at(&self.name, &self.text, span, field, message)
    }

    /// A fault within an expression in a string of the file.
    #[must_use]
    pub fn fault_in(&self, text: &toml::Spanned<String>, error: &ExprError, field: &str) -> FileFault {
        let span = text.span();
        let at = self
            .inside(text)
            .map_or(span.start, |begin| begin + text.get_ref().chars().take(error.at).map(char::len_utf8).sum::<usize>());
        FileFault::at(&self.name, &self.text, &(at..span.end), field, error.fault.to_string())
    }

    /// Returns the offset at which the content of a string begins; `None` when escapes make it
    /// differ from what the file has.
    fn inside(&self, text: &toml::Spanned<String>) -> Option<usize> {
        let raw = self.text.get(text.span())?;
        let quotes = ["'''", "\"\"\"", "'", "\""].into_iter().find(|quotes| raw.starts_with(quotes))?;
        let inner = raw.strip_prefix(quotes)?.strip_suffix(quotes)?;
        // The line break right after three quotes does not belong to the string.
        let skipped = if quotes.len() == 3 && inner.starts_with('\n') { 1 } else { 0 };
        (inner[skipped..] == **text.get_ref()).then_some(text.span().start + quotes.len() + skipped)
    }

    pub(crate) fn check_format(&self, format: &toml::Spanned<u32>) -> Result<(), FileFault> {
        if *format.get_ref() == FORMAT {
            return Ok(());
        }
        let message = format!("{} is not a version of this format: allowed {FORMAT}", format.get_ref());
        Err(self.fault(&format.span(), "goodqueue-gallery", message))
    }
}
