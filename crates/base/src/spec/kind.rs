//! Named things with parameters.

use crate::spec::{Param, is_same_name, nearest};
use core::ops::Deref;

/// One thing that files name, with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The name in files and on the command line, for instance `fq-codel`.
    pub kind: &'static str,
    /// Names that tc, kernels and simulators have for it, for instance `FqCoDelQueueDisc`; files
    /// may use them. Spellings that [`is_same_name`] does not tell apart need not be listed.
    pub aliases: &'static [&'static str],
    /// The name that people use, for instance `FQ-CoDel`.
    pub title: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The kind's parameters.
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

    /// Whether `name` is its name or one of its aliases, in any spelling ([`is_same_name`]).
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        is_same_name(self.kind, name) || self.aliases.iter().any(|alias| is_same_name(alias, name))
    }
}

/// The kind called `name`.
///
/// # Errors
/// When no kind is called so: the name of the nearest one, if one is near.
pub fn find<K: Deref<Target = Kind>>(
    name: &str,
    known: impl Iterator<Item = &'static K> + Clone,
) -> Result<&'static K, Option<&'static str>> {
    if let Some(kind) = known.clone().find(|kind| kind.is_called(name)) {
        return Ok(kind);
    }
    let near = nearest(name, known.clone().flat_map(|kind| core::iter::once(kind.kind).chain(kind.aliases.iter().copied())));
    Err(near.and_then(|near| known.clone().find(|kind| kind.is_called(near))).map(|kind| kind.kind))
}
