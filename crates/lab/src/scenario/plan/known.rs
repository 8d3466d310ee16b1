//! The files and kinds of queues that a scenario can name but does not contain.

use crate::scenario::files::FileStore;
use goodqueue_aqm::custom::CustomKind;
use std::sync::Arc;

/// The files and kinds of queues that a scenario can name but does not contain.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) files: FileStore,
    pub(super) own: CustomKinds,
}

impl Known {
    /// The program's own kind of this name.
    pub(super) fn own(&self, name: &str) -> Option<&Arc<dyn CustomKind>> {
        self.own.iter().find(|kind| kind.spec().kind == name)
    }
}

/// Kinds of algorithms of the program's own; their names are unlike those of listed ones.
pub type CustomKinds = Vec<Arc<dyn CustomKind>>;
