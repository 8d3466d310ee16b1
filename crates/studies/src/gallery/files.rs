//! Files of a paper's folder: `paper.toml` (experiments, figures, tables) and `expected.toml`
//! (rows), read with located errors.

mod expected;
mod figures;
mod paper;
mod source_file;

pub use expected::{Expected, Grade, Relation, Row, Tolerance};
pub use figures::{ColumnSpec, FigureKind, FigureSpec, FilterSpec, FilterValue, OneOrMany, TableSpec};
pub use paper::{ExperimentSpec, ModeSpec, Paper};

use crate::gallery::error::GalleryError;
pub use source_file::SourceFile;
use std::path::PathBuf;

/// A folder of papers.
#[derive(Clone, Debug)]
pub struct Gallery {
    /// The folder.
    pub root: PathBuf,
}

impl Gallery {
    /// The papers there, in the order of [`crate::gallery::PAPERS`].
    #[must_use]
    pub fn papers(&self) -> Vec<&'static str> {
        crate::gallery::PAPERS.iter().copied().filter(|paper| self.root.join(paper).join("paper.toml").is_file()).collect()
    }

    /// Reads one paper.
    ///
    /// # Errors
    /// When it is not there or anything in its files is wrong.
    pub fn read(&self, paper: &str) -> Result<Paper, GalleryError> {
        // The name that the extensions had before.
        let paper = if paper == "beyond" { "extensions" } else { paper };
        if !crate::gallery::PAPERS.contains(&paper) {
            let known = crate::gallery::PAPERS.join(", ");
            return Err(GalleryError::Request(format!("`{paper}` is no paper of the gallery: allowed {known}, all")));
        }
        paper::read(&self.root.join(paper), paper)
    }
}

#[cfg(test)]
mod tests;
