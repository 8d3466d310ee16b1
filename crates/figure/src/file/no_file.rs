//! The error of files that cannot be written.

/// The reason why there is no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFile {
    /// Letters need a font.
    #[error("this machine has no fonts; install some, for instance fonts-dejavu-core")]
    NoFonts,
    /// Drawing files is an optional part of the program.
    #[error("this gq was built without PDF and PNG; write an SVG, or install gq again with `--features print`")]
    NotBuilt,
    /// The figure cannot be drawn.
    #[error("{0}")]
    Drawing(String),
}
