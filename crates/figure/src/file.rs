//! Figures as PDF and PNG. Both need letters, so a font of the machine; where there is none, there
//! is no file rather than one without words.

#[cfg(feature = "print")]
mod fonts;
#[cfg(not(feature = "print"))]
#[path = "file/not_built.rs"]
mod fonts;
mod no_file;
#[cfg(feature = "print")]
mod pdf;
#[cfg(feature = "print")]
mod png;

pub use fonts::Fonts;
pub use no_file::NoFile;
