//! The gallery as it was when this was built, for a `gq` without its repository.

use goodqueue_lab::results::error::RecordError;
use include_dir::{Dir, include_dir};
use std::path::Path;

static GALLERY: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/data/gallery");

/// Writes the gallery's files below a folder.
///
/// # Errors
/// When the folder cannot be written to.
pub fn write(to: &Path) -> Result<(), RecordError> {
    let unusable = |source| RecordError::Unusable { path: to.to_owned(), source };
    std::fs::create_dir_all(to).map_err(unusable)?;
    GALLERY.extract(to).map_err(unusable)
}
