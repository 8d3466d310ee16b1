//! Drawings to pixels.

use super::NoFile;
use resvg::tiny_skia::{Pixmap, Transform};
use usvg::Tree;

pub(super) fn draw(tree: &Tree, scale: f32) -> Result<Vec<u8>, NoFile> {
    let size = tree.size();
    let (width, height) = ((size.width() * scale).ceil() as u32, (size.height() * scale).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| NoFile::Drawing("the picture is empty".to_owned()))?;
    resvg::render(tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| NoFile::Drawing(error.to_string()))
}

#[cfg(test)]
mod tests {
    use crate::file::Fonts;
    use crate::{Axis, Curve, Figure, Font, Look, Panel, Point, Series, Shape, Size, Theme};

    #[test]
    fn a_picture_has_twice_the_pixels_of_its_units() {
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20"/></svg>"#;
        let bytes = Fonts::none().png(svg, 2.0).unwrap();
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!((&bytes[16..20], &bytes[20..24]), (&60_u32.to_be_bytes()[..], &40_u32.to_be_bytes()[..]));
        assert!(Fonts::none().png("<svg", 2.0).is_err());
    }

    /// The rasteriser understands the style sheet of a figure for print.
    #[test]
    fn a_figure_for_print_is_drawn_in_its_colours() {
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
        let tree = usvg::Tree::from_str(&figure.to_svg(Theme::Print, Font::Sans), &usvg::Options::default());
        let drawn = format!("{:?}", tree.expect("an SVG").root());
        // The first color of curves, #3762ca.
        assert!(drawn.contains("red: 55, green: 98, blue: 202"), "{drawn}");
    }
}
