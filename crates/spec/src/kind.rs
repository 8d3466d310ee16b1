//! Named things with parameters.

use crate::Param;

/// One thing that files name, with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name in files and on the command line, for instance `fq-codel`.
    pub kind: &'static str,
    /// Names that other programs have for it and files may use, for instance `fq_codel`.
    pub aliases: &'static [&'static str],
    /// The name that people use, for instance `FQ-CoDel`.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Paper, RFC or implementation it follows; empty when there is none.
    pub source: &'static str,
}

impl Kind {
    /// A kind without a name: the values of fields that a description leaves out.
    pub const PLAIN: Self = Self { kind: "", aliases: &[], title: "", summary: "", params: &[], source: "" };

    /// The parameter of this name.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Whether `name` is its name or one of its aliases.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.kind == name || self.aliases.contains(&name)
    }
}
