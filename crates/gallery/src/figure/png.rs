//! SVG to PNG. Letters need a font of the machine; where there is none, there is no PNG rather than
//! one without words.

use super::{NoPng, PngError};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::Arc;

/// Fonts to draw letters with.
#[derive(Clone)]
pub struct Fonts(Arc<fontdb::Database>);

impl Fonts {
    /// The fonts of the machine.
    ///
    /// # Errors
    /// When it has none.
    pub fn of_machine() -> Result<Self, NoPng> {
        let mut fonts = fontdb::Database::new();
        fonts.load_system_fonts();
        if fonts.is_empty() {
            return Err(NoPng::NoFonts);
        }
        let family = ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Arial", "Helvetica"]
            .into_iter()
            .find(|name| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name)));
        if let Some(name) = family {
            fonts.set_sans_serif_family(name);
        }
        Ok(Self(Arc::new(fonts)))
    }
}

/// Pixels per unit of the drawing.
const SCALE: f32 = 2.0;

/// The picture of an SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn png(svg: &str, fonts: &Fonts) -> Result<Vec<u8>, PngError> {
    let options = Options { fontdb: Arc::clone(&fonts.0), font_family: "sans-serif".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| PngError(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| PngError("the picture is empty".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_twice_the_pixels_of_its_units() {
        let fonts = Fonts(Arc::new(fontdb::Database::new()));
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20"/></svg>"#;
        let bytes = png(svg, &fonts).unwrap();
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!((&bytes[16..20], &bytes[20..24]), (&60_u32.to_be_bytes()[..], &40_u32.to_be_bytes()[..]));
        assert!(png("<svg", &fonts).is_err());
    }

    /// The rasteriser understands the style sheet of a figure for print.
    #[test]
    fn a_figure_for_print_is_drawn_in_its_colours() {
        use goodqueue_figure::{Axis, Curve, Figure, Font, Look, Panel, Point, Series, Shape, Size, Theme};
        let points = vec![Point { x: 0.0, y: 1.0, ..Point::default() }];
        let axis = |names: Option<Vec<String>>| Axis { categories: names, ..Axis::default() };
        let figure = Figure {
            id: "p/1".into(),
            title: "t".into(),
            size: Size { width: 300.0, columns: 1 },
            panels: vec![Panel {
                title: String::new(),
                height: 100.0,
                x: axis(Some(vec!["a".into()])),
                y: axis(None),
                shaded: Vec::new(),
                series: vec![Series { curve: 0, shape: Shape::Bars, points }],
                references: Vec::new(),
            }],
            curves: vec![Curve { name: "c".into(), look: Look::of(0) }],
        };
        let tree = Tree::from_str(&figure.to_svg(Theme::Print, Font::Sans), &Options::default());
        let drawn = format!("{:?}", tree.expect("an SVG").root());
        // The first colour of curves, #3762ca.
        assert!(drawn.contains("red: 55, green: 98, blue: 202"), "{drawn}");
    }
}
