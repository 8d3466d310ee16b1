//! Fonts of a page: the letters that it uses, and the rest left out.

use super::LEVEL;
use crate::file::NoFile;
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Name, Pdf, Rect, Ref, Str};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, GlyphId, MetadataProvider, Tag};
use std::collections::BTreeMap;
use subsetter::GlyphRemapper;
use usvg::fontdb::{Database, ID};

const SYSTEM: SystemInfo<'_> = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The fonts in the order of their first letters.
#[derive(Default)]
pub(super) struct Faces(Vec<(ID, Face)>);

/// One font.
pub(super) struct Face {
    data: Vec<u8>,
    index: u32,
    name: String,
    units_per_em: f32,
    remapper: GlyphRemapper,
    /// The text of each letter of the page, by the letter's number in the file.
    meaning: BTreeMap<u16, String>,
}

impl Faces {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Face> {
        self.0.iter().map(|(_, face)| face)
    }

    /// The number of a font among those of the page, and the font.
    pub(super) fn of(&mut self, id: ID, fonts: &Database) -> Result<(usize, &mut Face), NoFile> {
        let number = match self.0.iter().position(|(known, _)| *known == id) {
            Some(number) => number,
            None => {
                self.0.push((id, Face::load(id, fonts)?));
                self.0.len() - 1
            }
        };
        Ok((number, &mut self.0[number].1))
    }
}

impl Face {
    fn load(id: ID, fonts: &Database) -> Result<Self, NoFile> {
        let missing = || NoFile::Drawing("a font cannot be read".to_owned());
        let name = fonts.face(id).ok_or_else(missing)?.post_script_name.clone();
        let (data, index) = fonts.with_face_data(id, |data, index| (data.to_vec(), index)).ok_or_else(missing)?;
        let font = FontRef::from_index(&data, index).map_err(|_| missing())?;
        let units_per_em = f32::from(font.metrics(Size::unscaled(), LocationRef::default()).units_per_em);
        Ok(Self { data, index, name, units_per_em, remapper: GlyphRemapper::new(), meaning: BTreeMap::new() })
    }

    pub(super) const fn units_per_em(&self) -> f32 {
        self.units_per_em
    }

    /// The number of a letter in the file.
    pub(super) fn letter(&mut self, glyph: u32, text: &str) -> u16 {
        let number = self.remapper.remap(glyph as u16);
        self.meaning.entry(number).or_insert_with(|| text.to_owned());
        number
    }

    /// Writes the font and what belongs to it.
    pub(super) fn write(&self, pdf: &mut Pdf, font: Ref, reference: &mut impl FnMut() -> Ref) -> Result<(), NoFile> {
        let wrong = |why: &dyn std::fmt::Display| NoFile::Drawing(format!("the font {} cannot be embedded: {why}", self.name));
        let subset = subsetter::subset(&self.data, self.index, &self.remapper).map_err(|error| wrong(&error))?;
        let whole = FontRef::from_index(&self.data, self.index).map_err(|error| wrong(&error))?;
        let part = FontRef::new(&subset).map_err(|error| wrong(&error))?;
        // The compact form of outlines stands in a PDF without the tables around it.
        let compact = part.table_data(Tag::new(b"CFF ")).map(|table| table.as_bytes().to_vec());
        let [descendant, descriptor, unicode, file] = std::array::from_fn(|_| reference());
        // Six letters say that it is not all of the font.
        let name = format!("GQPLOT+{}", self.name);
        let name = Name(name.as_bytes());

        pdf.type0_font(font)
            .base_font(name)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(unicode);
        let mut cid = pdf.cid_font(descendant);
        cid.subtype(if compact.is_some() { CidFontType::Type0 } else { CidFontType::Type2 });
        cid.base_font(name).system_info(SYSTEM).font_descriptor(descriptor).default_width(0.0);
        if compact.is_none() {
            cid.cid_to_gid_map_predefined(Name(b"Identity"));
        }
        let per_mille = 1000.0 / self.units_per_em;
        let advances = whole.glyph_metrics(Size::unscaled(), LocationRef::default());
        let width = |glyph: u16| advances.advance_width(GlyphId::new(u32::from(glyph))).unwrap_or(0.0) * per_mille;
        cid.widths().consecutive(0, self.remapper.remapped_gids().map(width));
        drop(cid);

        let metrics = whole.metrics(Size::unscaled(), LocationRef::default());
        let bounds = metrics.bounds.unwrap_or_default();
        let bounds = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max].map(|bound| bound * per_mille);
        let mut about = pdf.font_descriptor(descriptor);
        about.name(name).flags(FontFlags::SYMBOLIC).bbox(Rect::new(bounds[0], bounds[1], bounds[2], bounds[3]));
        about.italic_angle(metrics.italic_angle).ascent(metrics.ascent * per_mille).descent(metrics.descent * per_mille);
        about.cap_height(metrics.cap_height.unwrap_or(metrics.ascent) * per_mille).stem_v(80.0);
        if compact.is_some() {
            about.font_file3(file);
        } else {
            about.font_file2(file);
        }
        drop(about);

        let mut cmap = UnicodeCmap::<u16>::new(Name(b"GQ"), SYSTEM);
        for (letter, text) in &self.meaning {
            cmap.pair_with_multiple(*letter, text.chars());
        }
        pdf.cmap(unicode, &cmap.finish());
        let data = compact.as_deref().unwrap_or(&subset);
        let packed = compress_to_vec_zlib(data, LEVEL);
        let mut stream = pdf.stream(file, &packed);
        stream.filter(Filter::FlateDecode);
        if compact.is_some() {
            stream.pair(Name(b"Subtype"), Name(b"CIDFontType0C"));
        } else {
            stream.pair(Name(b"Length1"), data.len() as i32);
        }
        Ok(())
    }
}
