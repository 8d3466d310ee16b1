//! Drawings to PDF: what figures consist of, which is paths, clips and text.

mod face;

use super::NoFile;
use face::Faces;
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str};
use usvg::tiny_skia_path::{PathSegment, Point};
use usvg::{FillRule, Group, LineCap, LineJoin, Node, Paint, Path, Text, Transform, Tree};

/// Points per CSS pixel.
const POINTS: f32 = 0.75;
/// Between speed and size of the compressor.
const LEVEL: u8 = 6;

/// A page while it is drawn.
struct Page {
    content: Content,
    faces: Faces,
    /// Opacities of fills and strokes in use, each a dictionary of the page.
    opacities: Vec<(f32, f32)>,
}

pub(super) fn draw(tree: &Tree) -> Result<Vec<u8>, NoFile> {
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let mut page = Page { content: Content::new(), faces: Faces::default(), opacities: Vec::new() };
    // PDF counts upward from the foot of the page.
    page.content.transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height]);
    page.group(tree.root(), tree)?;
    let Page { content, faces, opacities } = page;

    let mut next = 0;
    let mut reference = || {
        next += 1;
        Ref::new(next)
    };
    let [catalog, pages, only, stream] = std::array::from_fn(|_| reference());
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([only]).count(1);
    let fonts: Vec<Ref> = faces.iter().map(|_| reference()).collect();
    let mut writer = pdf.page(only);
    writer.media_box(Rect::new(0.0, 0.0, width, height)).parent(pages).contents(stream);
    let mut resources = writer.resources();
    let mut named = resources.fonts();
    for (number, font) in fonts.iter().enumerate() {
        named.pair(Name(font_name(number).as_bytes()), font);
    }
    named.finish();
    let mut states = resources.ext_g_states();
    for (number, (fill, stroke)) in opacities.iter().enumerate() {
        let mut state = states.insert(Name(state_name(number).as_bytes())).start::<pdf_writer::writers::ExtGraphicsState<'_>>();
        state.non_stroking_alpha(*fill).stroking_alpha(*stroke);
    }
    states.finish();
    resources.finish();
    writer.finish();
    pdf.stream(stream, &compress_to_vec_zlib(&content.finish(), LEVEL)).filter(Filter::FlateDecode);
    for (face, font) in faces.iter().zip(fonts) {
        face.write(&mut pdf, font, &mut reference)?;
    }
    Ok(pdf.finish())
}

fn font_name(number: usize) -> String {
    format!("F{number}")
}

fn state_name(number: usize) -> String {
    format!("G{number}")
}

fn matrix(transform: Transform) -> [f32; 6] {
    let Transform { sx, kx, ky, sy, tx, ty } = transform;
    [sx, ky, kx, sy, tx, ty]
}

impl Page {
    fn group(&mut self, group: &Group, tree: &Tree) -> Result<(), NoFile> {
        self.content.save_state();
        if let Some(clip) = group.clip_path() {
            let at = group.abs_transform().pre_concat(clip.transform());
            for node in clip.root().children() {
                if let Node::Path(path) = node {
                    self.outline(path, at.pre_concat(path.abs_transform()));
                }
            }
            self.content.clip_nonzero().end_path();
        }
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group, tree)?,
                Node::Path(path) => self.path(path),
                Node::Text(text) => self.text(text, tree)?,
                Node::Image(_) => return Err(NoFile::Drawing("figures have no images".to_owned())),
            }
        }
        self.content.restore_state();
        Ok(())
    }

    /// Adds a path in the coordinates of the page, so that clips and strokes need none of their
    /// own.
    fn outline(&mut self, path: &Path, at: Transform) {
        let mapped = |mut point: Point| {
            at.map_point(&mut point);
            point
        };
        let mut last = Point::zero();
        for segment in path.data().segments() {
            match segment {
                PathSegment::MoveTo(to) => {
                    last = mapped(to);
                    self.content.move_to(last.x, last.y);
                }
                PathSegment::LineTo(to) => {
                    last = mapped(to);
                    self.content.line_to(last.x, last.y);
                }
                PathSegment::QuadTo(by, to) => {
                    // A cubic curve whose handles are two thirds of the way to the one of the
                    // quadratic.
                    let (by, to) = (mapped(by), mapped(to));
                    let third = |from: Point| (from.x + (by.x - from.x) * 2.0 / 3.0, from.y + (by.y - from.y) * 2.0 / 3.0);
                    let ((x1, y1), (x2, y2)) = (third(last), third(to));
                    self.content.cubic_to(x1, y1, x2, y2, to.x, to.y);
                    last = to;
                }
                PathSegment::CubicTo(one, two, to) => {
                    let (one, two) = (mapped(one), mapped(two));
                    last = mapped(to);
                    self.content.cubic_to(one.x, one.y, two.x, two.y, last.x, last.y);
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }

    fn path(&mut self, path: &Path) {
        let at = path.abs_transform();
        if let Some((fill, colour)) = path.fill().and_then(|fill| Some((fill, rgb(fill.paint())?))) {
            self.content.save_state();
            self.opacity(fill.opacity().get(), 1.0);
            self.content.set_fill_rgb(colour[0], colour[1], colour[2]);
            self.outline(path, at);
            match fill.rule() {
                FillRule::NonZero => self.content.fill_nonzero(),
                FillRule::EvenOdd => self.content.fill_even_odd(),
            };
            self.content.restore_state();
        }
        if let Some((stroke, colour)) = path.stroke().and_then(|stroke| Some((stroke, rgb(stroke.paint())?))) {
            // Figures are not distorted, so one factor is that of all directions.
            let scale = (at.sx * at.sy - at.kx * at.ky).abs().sqrt();
            self.content.save_state();
            self.opacity(1.0, stroke.opacity().get());
            self.content.set_stroke_rgb(colour[0], colour[1], colour[2]);
            self.content.set_line_width(stroke.width().get() * scale);
            self.content.set_line_cap(match stroke.linecap() {
                LineCap::Butt => LineCapStyle::ButtCap,
                LineCap::Round => LineCapStyle::RoundCap,
                LineCap::Square => LineCapStyle::ProjectingSquareCap,
            });
            self.content.set_line_join(match stroke.linejoin() {
                LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
                LineJoin::Round => LineJoinStyle::RoundJoin,
                LineJoin::Bevel => LineJoinStyle::BevelJoin,
            });
            if let Some(dashes) = stroke.dasharray() {
                self.content.set_dash_pattern(dashes.iter().map(|dash| dash * scale), stroke.dashoffset() * scale);
            }
            self.outline(path, at);
            self.content.stroke();
            self.content.restore_state();
        }
    }

    /// The opacity of what follows within the state that was saved.
    fn opacity(&mut self, fill: f32, stroke: f32) {
        if (fill, stroke) == (1.0, 1.0) {
            return;
        }
        let number = self.opacities.iter().position(|known| *known == (fill, stroke)).unwrap_or_else(|| {
            self.opacities.push((fill, stroke));
            self.opacities.len() - 1
        });
        self.content.set_parameters(Name(state_name(number).as_bytes()));
    }

    fn text(&mut self, text: &Text, tree: &Tree) -> Result<(), NoFile> {
        for span in text.layouted().iter().filter(|span| span.visible) {
            let Some(colour) = span.fill.as_ref().and_then(|fill| rgb(fill.paint())) else { continue };
            self.content.begin_text();
            self.content.set_fill_rgb(colour[0], colour[1], colour[2]);
            for glyph in &span.positioned_glyphs {
                let (number, face) = self.faces.of(glyph.font, tree.fontdb())?;
                let letter = face.letter(glyph.id.0, &glyph.text);
                // Outlines are in units of the font, text in its size.
                let units = face.units_per_em();
                let at = text.abs_transform().pre_concat(glyph.outline_transform()).pre_scale(units, units);
                self.content.set_font(Name(font_name(number).as_bytes()), 1.0);
                self.content.set_text_matrix(matrix(at));
                self.content.show(Str(&letter.to_be_bytes()));
            }
            self.content.end_text();
        }
        Ok(())
    }
}

/// The color of a paint; figures have no gradients.
fn rgb(paint: &Paint) -> Option<[f32; 3]> {
    let Paint::Color(colour) = paint else { return None };
    Some([colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0))
}

#[cfg(test)]
mod tests {
    use crate::file::Fonts;

    const SVG: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" width="2in" height="1in" viewBox="0 0 192 96">
        <clipPath id="c"><rect x="0" y="0" width="50" height="50"/></clipPath>
        <g clip-path="url(#c)"><path d="M0 0L100 100" stroke="#112233" stroke-dasharray="4 2" fill="none"/></g>
        <rect width="20" height="20" fill="#ff0000" fill-opacity=".2"/></svg>"##;

    #[test]
    fn a_page_has_the_size_in_points_and_the_same_bytes_each_time() {
        let bytes = Fonts::none().pdf(SVG).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("%PDF-1.7") && text.contains("/MediaBox [0 0 144 72]"), "{text}");
        assert!(text.contains("/ca 0.2") && text.trim_end().ends_with("%%EOF"), "{text}");
        assert_eq!(bytes, Fonts::none().pdf(SVG).unwrap());
    }

    /// On a machine with fonts, text is text: its letters can be searched for.
    #[test]
    fn letters_are_kept_with_their_meaning() {
        let Ok(fonts) = Fonts::of_machine() else {
            println!("skipped: this machine has no fonts");
            return;
        };
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text x="5" y="15" font-family="serif">AµA</text></svg>"#;
        let bytes = fonts.pdf(svg).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            text.contains("/ToUnicode") && text.contains("/CIDToGIDMap /Identity") || text.contains("/CIDFontType0"),
            "{text}"
        );
        assert!(text.contains("<0041>") && text.contains("<00B5>"), "{text}");
        assert_eq!(bytes, fonts.pdf(svg).unwrap());
    }
}
