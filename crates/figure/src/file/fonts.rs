//! Fonts of the machine, and the picture that they give.

use super::{NoFile, pdf, png};
use std::sync::Arc;
use usvg::{Options, Tree, fontdb};

/// Fonts to draw letters with.
#[derive(Clone, Debug)]
pub struct Fonts(Arc<fontdb::Database>);

impl Fonts {
    /// The fonts of the machine.
    ///
    /// # Errors
    /// When it has none.
    pub fn of_machine() -> Result<Self, NoFile> {
        let mut fonts = fontdb::Database::new();
        fonts.load_system_fonts();
        let any = fonts.faces().find_map(|face| face.families.first().map(|(name, _)| name.clone()));
        let any = any.ok_or(NoFile::NoFonts)?;
        let first = |names: &[&str]| {
            let found = names.iter().find(|name| has(&fonts, name));
            found.map_or_else(|| any.clone(), |name| (*name).to_owned())
        };
        let sans = first(&["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica"]);
        let serif = first(&["Liberation Serif", "Times New Roman", "DejaVu Serif", "Noto Serif", "Times"]);
        fonts.set_sans_serif_family(sans);
        fonts.set_serif_family(serif);
        Ok(Self(Arc::new(fonts)))
    }

    /// No fonts at all, for figures without words.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self(Arc::new(fontdb::Database::new()))
    }

    /// Whether there is a font of this family.
    #[must_use]
    pub fn has(&self, family: &str) -> bool {
        has(&self.0, family)
    }

    /// Draws an SVG as PNG, with `scale` pixels for each of its own.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn png(&self, svg: &str, scale: f32) -> Result<Vec<u8>, NoFile> {
        png::draw(&self.tree(svg)?, scale)
    }

    /// An SVG as PDF of one page: paths, and text as text in fonts that are part of the file.
    ///
    /// # Errors
    /// When it cannot be drawn.
    pub fn pdf(&self, svg: &str) -> Result<Vec<u8>, NoFile> {
        pdf::draw(&self.tree(svg)?)
    }

    fn tree(&self, svg: &str) -> Result<Tree, NoFile> {
        let options = Options { fontdb: Arc::clone(&self.0), font_family: "sans-serif".to_owned(), ..Options::default() };
        Tree::from_str(svg, &options).map_err(|error| NoFile::Drawing(error.to_string()))
    }
}

fn has(fonts: &fontdb::Database, family: &str) -> bool {
    fonts.faces().any(|face| face.families.iter().any(|(name, _)| name.eq_ignore_ascii_case(family)))
}
