//! Fonts of a program built without the feature `print`: there are none.

use super::NoFile;

/// Fonts to draw letters with; no value of this type exists here.
#[derive(Clone, Debug)]
pub struct Fonts(());

impl Fonts {
    /// Reports that nothing is drawn.
    ///
    /// # Errors
    /// Always.
    pub const fn of_machine() -> Result<Self, NoFile> {
        Err(NoFile::NotBuilt)
    }

    /// Whether there is a font of this family: no.
    #[must_use]
    pub const fn has(&self, _family: &str) -> bool {
        false
    }

    /// Reports that nothing is drawn.
    ///
    /// # Errors
    /// Always.
    pub const fn png(&self, _svg: &str, _scale: f32) -> Result<Vec<u8>, NoFile> {
        Err(NoFile::NotBuilt)
    }

    /// Reports that nothing is drawn.
    ///
    /// # Errors
    /// Always.
    pub const fn pdf(&self, _svg: &str) -> Result<Vec<u8>, NoFile> {
        Err(NoFile::NotBuilt)
    }
}
