//! The error of files that cannot be written.

/// The reason why there is no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoFile {
    /// Letters need a font.
    NoFonts,
    /// Drawing files is an optional part of the program.
    NotBuilt,
    /// The figure cannot be drawn.
    Drawing(String),
}

impl core::fmt::Display for NoFile {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoFonts => formatter.write_str("this machine has no fonts; install some, for instance fonts-dejavu-core"),
            Self::NotBuilt => formatter
                .write_str("this gq was built without PDF and PNG; write an SVG, or install gq again with `--features print`"),
            Self::Drawing(message) => formatter.write_str(message),
        }
    }
}

impl std::error::Error for NoFile {}
