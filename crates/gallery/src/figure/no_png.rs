//! The rasteriser of a program built without the feature `png`: there is none.

use super::{NoPng, PngError};

/// Fonts for a rasteriser; no value of this type exists here.
#[derive(Clone, Debug)]
pub enum Fonts {}

impl Fonts {
    /// Reports that there is no rasteriser.
    ///
    /// # Errors
    /// Always.
    pub const fn of_machine() -> Result<Self, NoPng> {
        Err(NoPng::NotBuilt)
    }
}

/// Draws nothing: it cannot be called.
///
/// # Errors
/// None.
pub fn png(_svg: &str, fonts: &Fonts) -> Result<Vec<u8>, PngError> {
    match *fonts {}
}
