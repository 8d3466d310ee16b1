//! Size, letters and format of the file.

use crate::file::{Fonts, NoFile};
use crate::plot::PlotError;
use crate::plot::choice::unknown;
use crate::{Figure, Paper};
use std::path::Path;

/// Pixels of CSS per inch.
const INCH: f64 = 96.0;
/// Pixels of a PNG per inch, as journals ask for.
const DOTS: f64 = 300.0;
/// Height of the plot where the figure's is not given, as a part of its width.
const PLOT: f64 = 0.52;

/// Formats of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable vector graphics.
    Svg,
    /// One page with the fonts it needs.
    Pdf,
    /// Pixels, 300 per inch.
    Png,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Pdf, Self::Svg, Self::Png];

    /// Returns the name of the format, which is also the ending of its files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Png => "png",
        }
    }

    /// The format of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, PlotError> {
        let names = Self::ALL.map(Self::name);
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| unknown("format", "format", name, names))
    }

    /// The format that a file's name ends in.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.name() == ending)
    }
}

/// A length on paper.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Length {
    pixels: f64,
}

impl Length {
    /// A length with its unit: `3.3in`, `84mm`, `8.4cm`, `8pt`. `field` is named in errors.
    ///
    /// # Errors
    /// When it is no length, or not between the ends.
    pub fn parse(field: &'static str, text: &str, [least, most]: [&str; 2]) -> Result<Self, PlotError> {
        let length = |text: &str| {
            let units = [("in", INCH), ("cm", INCH / 2.54), ("mm", INCH / 25.4), ("pt", INCH / 72.0)];
            let (number, scale) = units.iter().find_map(|(unit, scale)| Some((text.trim().strip_suffix(unit)?, *scale)))?;
            let number: f64 = number.trim().parse().ok()?;
            number.is_finite().then_some(Self { pixels: number * scale })
        };
        let range = format!("allowed {least} to {most}");
        let Some(found) = length(text) else {
            return Err(PlotError::new(field, format!("`{text}` is not a length, such as 3.3in, 84mm or 240pt: {range}")));
        };
        let is_inside = length(least) <= Some(found) && Some(found) <= length(most);
        is_inside.then_some(found).ok_or_else(|| PlotError::new(field, format!("{text} is out of range: {range}")))
    }
}

/// The format, size and font of a figure in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    format: Format,
    width: Length,
    height: Option<Length>,
    letters: Length,
    font: String,
}

impl Sheet {
    /// Creates a sheet of a format. Defaults of the rest: width 3.3in (the column of most
    /// journals), height as the width needs, font `sans` (allowed: `sans`, `serif`, or a family),
    /// size of its letters 8pt.
    ///
    /// # Errors
    /// When one of them is wrong.
    pub fn new(
        format: Format,
        width: Option<&str>,
        height: Option<&str>,
        font: Option<&str>,
        letters: Option<&str>,
    ) -> Result<Self, PlotError> {
        let font = font.unwrap_or("sans");
        let is_named = |c: char| c.is_alphanumeric() || " -_.".contains(c);
        if font.trim().is_empty() || font.len() > 64 || !font.chars().all(is_named) {
            return Err(PlotError::new(
                "font",
                format!("`{font}` is not the name of a font: allowed sans, serif, or letters, digits and blanks"),
            ));
        }
        Ok(Self {
            format,
            width: Length::parse("width", width.unwrap_or("3.3in"), ["1in", "20in"])?,
            height: height.map(|height| Length::parse("height", height, ["0.5in", "30in"])).transpose()?,
            letters: Length::parse("font-size", letters.unwrap_or("8pt"), ["4pt", "36pt"])?,
            font: font.to_owned(),
        })
    }

    /// The file of a figure.
    ///
    /// # Errors
    /// When the height leaves no room, the font is not there, or the program was built without this
    /// format.
    pub fn file(&self, mut figure: Figure) -> Result<Vec<u8>, PlotError> {
        figure.size.width = self.width.pixels;
        for panel in &mut figure.panels {
            panel.height = (PLOT * self.width.pixels).round();
        }
        let family = match self.font.as_str() {
            "serif" => "Times New Roman, Liberation Serif, Nimbus Roman, DejaVu Serif, serif".to_owned(),
            "sans" => "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif".to_owned(),
            name => format!("'{name}', sans-serif"),
        };
        let paper = Paper { family, letters: self.letters.pixels, height: self.height.map(|height| height.pixels) };
        let svg = figure.to_paper(&paper).ok_or_else(|| {
            PlotError::new("height", "leaves no room for the plot under its axes and legend: give more, or smaller letters")
        })?;
        let failed = |error: NoFile| PlotError::new("format", format!("{}: {error}", self.format.name()));
        let fonts = || {
            let fonts = Fonts::of_machine().map_err(failed)?;
            if !["sans", "serif"].contains(&self.font.as_str()) && !fonts.has(&self.font) {
                return Err(PlotError::new(
                    "font",
                    format!("this machine has no font `{}`; fc-list shows those that it has", self.font),
                ));
            }
            Ok(fonts)
        };
        match self.format {
            Format::Svg => Ok(svg.into_bytes()),
            Format::Pdf => fonts()?.pdf(&svg).map_err(failed),
            Format::Png => fonts()?.png(&svg, (DOTS / INCH) as f32).map_err(failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units_and_bounds() {
        let parse = |text| Length::parse("width", text, ["1in", "20in"]);
        assert_eq!(parse("3.3in").unwrap(), Length { pixels: 3.3 * 96.0 });
        assert_eq!(parse(" 72 pt").unwrap(), parse("1in").unwrap());
        for (text, message) in [
            ("0in", "width: 0in is out of range: allowed 1in to 20in"),
            ("1e9mm", "width: 1e9mm is out of range: allowed 1in to 20in"),
            ("3.3", "width: `3.3` is not a length, such as 3.3in, 84mm or 240pt: allowed 1in to 20in"),
            ("NaNin", "width: `NaNin` is not a length, such as 3.3in, 84mm or 240pt: allowed 1in to 20in"),
            ("-1in", "width: -1in is out of range: allowed 1in to 20in"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_font_has_a_plain_name() {
        let sheet = |font| Sheet::new(Format::Svg, None, None, Some(font), None);
        assert!(sheet("Linux Libertine O").is_ok());
        assert!(sheet("\"><script>").unwrap_err().to_string().contains("is not the name of a font"));
        assert!(sheet("").is_err());
    }
}
