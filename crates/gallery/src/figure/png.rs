//! SVG to PNG. Letters need a font of the machine; where there is none, there is no PNG rather than one without words.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::Arc;

/// Fonts to draw letters with.
#[derive(Clone)]
pub struct Fonts(Arc<fontdb::Database>);

impl Fonts {
    /// Those of the machine; `None` when it has none.
    #[must_use]
    pub fn of_machine() -> Option<Self> {
        let mut fonts = fontdb::Database::new();
        fonts.load_system_fonts();
        if fonts.is_empty() {
            return None;
        }
        let family = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica"]
            .into_iter()
            .find(|name| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name)));
        if let Some(name) = family {
            fonts.set_sans_serif_family(name);
        }
        Some(Self(Arc::new(fonts)))
    }
}

/// Pixels a unit of the drawing.
const SCALE: f32 = 2.0;

/// The picture of an SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn png(svg: &str, fonts: &Fonts) -> Result<Vec<u8>, String> {
    let options = Options { fontdb: Arc::clone(&fonts.0), font_family: "sans-serif".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or("the picture is empty")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}
