//! Colors, dashes and marks. The colors are those of `crates/web/src/theme.css`, which is the one
//! place that has them.

const THEME: &str = include_str!("../data/theme.css");

/// Colors of curves: told apart with any common kind of color vision, and in gray by dash and
/// mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// Series colors of the theme, by name.
    Blue,
    /// Orange.
    Orange,
    /// Green.
    Green,
    /// Violet.
    Violet,
    /// Red.
    Red,
    /// Gold.
    Gold,
    /// Pink.
    Pink,
    /// Gray-blue, for what others are compared with.
    Slate,
}

/// All hues, in the order in which curves take them.
pub const HUES: [Hue; 8] = [Hue::Blue, Hue::Orange, Hue::Green, Hue::Violet, Hue::Red, Hue::Gold, Hue::Pink, Hue::Slate];

/// Dash patterns, from solid on.
pub(crate) const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// Shapes of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle.
    Up,
    /// A triangle on its tip.
    Down,
    /// A cross.
    Cross,
}

/// The number of dash patterns.
pub const DASH_COUNT: usize = DASHES.len();

/// The shapes of marks, in the order in which curves take them.
pub const MARKS: [Mark; 6] = [Mark::Circle, Mark::Square, Mark::Diamond, Mark::Up, Mark::Down, Mark::Cross];

/// Look of one curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Color.
    pub hue: Hue,
    /// Number of the dash pattern; 0 is solid.
    pub dash: usize,
    /// Shape of the marks.
    pub mark: Mark,
}

impl Look {
    /// The look of the `number`-th curve: eight colors, each with its own mark, then again with
    /// other dashes and marks.
    #[must_use]
    pub fn of(number: usize) -> Self {
        let round = number / HUES.len();
        Self {
            hue: HUES[number % HUES.len()],
            dash: (number + round) % DASHES.len(),
            mark: MARKS[(number + 2 * round) % MARKS.len()],
        }
    }

    /// Lengths of its dashes and gaps in pixels; none of a solid line.
    pub fn dashes(self) -> impl Iterator<Item = f64> {
        DASHES[self.dash % DASHES.len()].split_ascii_whitespace().filter_map(|length| length.parse().ok())
    }

    /// A solid line of a hue.
    #[must_use]
    pub const fn solid(hue: Hue) -> Self {
        Self { hue, dash: 0, mark: Mark::Circle }
    }
}

impl Hue {
    /// Returns the name of the color in the theme.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blue => "blue",
            Self::Orange => "orange",
            Self::Green => "green",
            Self::Violet => "violet",
            Self::Red => "red",
            Self::Gold => "gold",
            Self::Pink => "pink",
            Self::Slate => "slate",
        }
    }
}

/// A color on light and on dark ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// On light ground.
    pub light: &'static str,
    /// On dark ground.
    pub dark: &'static str,
}

/// The color of a curve.
#[must_use]
pub fn of(hue: Hue) -> Colour {
    named(&format!("series-{}", hue.name()))
}

/// The variables of the theme as a rule of CSS, for pages that figures stand on.
#[must_use]
pub fn variables() -> &'static str {
    let rest = THEME.find(":root {").map_or("", |begin| &THEME[begin..]);
    rest.find("\n}").map_or("", |end| &rest[..end + 2])
}

/// A color of the theme by its name; the current color where the theme has none of this name.
#[must_use]
pub fn named(name: &str) -> Colour {
    let line = THEME.lines().find_map(|line| line.trim().strip_prefix("--")?.strip_prefix(name)?.strip_prefix(": light-dark("));
    let pair = line.and_then(|rest| rest.split_once(')')).and_then(|(pair, _)| pair.split_once(", "));
    let (light, dark) = pair.unwrap_or(("currentColor", "currentColor"));
    Colour { light, dark }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theme_has_every_colour() {
        let hues = HUES.iter().map(|hue| (hue.name(), of(*hue)));
        let names = ["surface", "ink", "muted", "grid", "line-strong"].map(|name| (name, named(name)));
        for (name, Colour { light, dark }) in hues.chain(names) {
            assert!(light.starts_with('#') && dark.starts_with('#') && light != dark, "{name}: {light} {dark}");
        }
    }

    #[test]
    fn the_variables_are_one_whole_rule() {
        assert!(variables().starts_with(":root {") && variables().ends_with("\n}") && variables().contains("--sans"));
    }

    #[test]
    fn no_two_of_many_curves_look_alike() {
        let looks: Vec<Look> = (0..24).map(Look::of).collect();
        for (at, look) in looks.iter().enumerate() {
            assert!(!looks[..at].contains(look), "{at}");
        }
    }
}
