//! Tables for people: figures with their intervals, in columns that fit the terminal.

use goodqueue_lab::results::statistics::Figure;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Title of the column.
    pub head: String,
    /// Unit of the figures, below the title.
    pub unit: String,
    /// One text for each row.
    pub cells: Vec<String>,
    /// Columns with larger numbers are left out first where room is short; zero never is.
    pub rank: u8,
}

impl Column {
    /// The first column of a table, with the names of its rows.
    pub fn names(cells: Vec<String>) -> Self {
        Self { head: String::new(), unit: String::new(), cells, rank: 0 }
    }

    /// A column of figures, each multiplied by `scale`.
    pub fn figures(head: &str, unit: &str, rank: u8, scale: f64, figures: impl IntoIterator<Item = Figure>) -> Self {
        Self::figures_from(None, head, unit, rank, scale, figures)
    }

    /// Builds a column like [`Column::figures`], of figures that count as zero below `floor`, as
    /// they are before scaling.
    pub fn figures_from(
        floor: Option<f64>,
        head: &str,
        unit: &str,
        rank: u8,
        scale: f64,
        figures: impl IntoIterator<Item = Figure>,
    ) -> Self {
        let below = |figure: &Figure| floor.filter(|floor| figure.mean.is_some_and(|mean| mean < *floor));
        let cell = |figure: Figure| below(&figure).map_or_else(|| cell(figure, scale), |floor| format!("<{}", floor * scale));
        let cells = figures.into_iter().map(cell).collect();
        Self { head: head.to_owned(), unit: unit.to_owned(), cells, rank }
    }

    /// Returns the column's name for a sentence: with its unit where that says more than a unit.
    fn name(&self) -> String {
        match self.unit.split_once(' ') {
            Some((part, _)) => format!("{} {part}", self.head),
            None => self.head.clone(),
        }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
        cells.max(self.head.width()).max(self.unit.width())
    }
}

/// Names of rows longer than this part of the width are cut.
const NAME_PART: usize = 3;

/// A printed text, some lines of which are to stand out.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The lines.
    pub plain: String,
    /// Numbers of the lines that stand out, from zero, rising.
    pub bold: Vec<usize>,
}

/// Writes a table not wider than `width`, in which the rows that `is_bold` names stand out. Returns
/// the heads of columns that found no room.
pub fn write(to: &mut Text, names: &Column, columns: &[Column], width: usize, is_bold: &dyn Fn(usize) -> bool) -> Vec<String> {
    let Text { plain: text, bold } = to;
    let name_width = names.width().min((width / NAME_PART).max(8));
    let mut shown: Vec<&Column> = columns.iter().collect();
    let mut left_out = Vec::new();
    while name_width + shown.iter().map(|column| column.width() + 2).sum::<usize>() > width {
        let Some((place, _)) = shown.iter().enumerate().filter(|(_, column)| column.rank > 0).max_by_key(|(_, c)| c.rank) else {
            break;
        };
        left_out.push(shown.remove(place).name());
    }
    let mut line = |name: &str, cell: &dyn Fn(&Column) -> String| {
        let mut line = padded_right(&cut(name, name_width), name_width);
        for column in &shown {
            let _ = write!(line, "  {}", padded_left(&cell(column), column.width()));
        }
        let _ = writeln!(text, "{}", line.trim_end());
    };
    line(&names.head, &|column| column.head.clone());
    line(&names.unit, &|column| column.unit.clone());
    for (row, name) in names.cells.iter().enumerate() {
        line(name, &|column| column.cells[row].clone());
    }
    let rows = names.cells.len();
    let first = text.matches('\n').count() - rows;
    bold.extend((0..rows).filter(|row| is_bold(*row)).map(|row| first + row));
    left_out
}

/// Lines of at most `width` columns, broken at blanks.
pub fn wrapped(text: &str, width: usize) -> String {
    text.split('\n').map(|line| wrapped_line(line, width)).collect::<Vec<_>>().join("\n")
}

fn wrapped_line(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            lines.push('\n');
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}

fn padded_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

fn padded_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// At most `width` columns of `text`, with a mark where it was cut.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        if kept.width() + character.to_string().width() + 1 > width {
            break;
        }
        kept.push(character);
    }
    kept.push('…');
    kept
}

/// `12.3±0.4`: as many digits as the interval supports, four where there is none, `-` for what is
/// not defined.
pub fn cell(figure: Figure, scale: f64) -> String {
    let Some(mean) = figure.mean.map(|mean| mean * scale) else { return "-".to_owned() };
    let few = decimals_of(mean / 1000.0);
    match figure.ci95.map(|half| half * scale) {
        // An interval that five digits do not show needs no more than four.
        Some(half) if format!("{half:.few$}").chars().all(|digit| matches!(digit, '0' | '.')) => {
            let fewer = decimals_of(mean / 100.0);
            format!("{mean:.fewer$}±{half:.fewer$}")
        }
        Some(half) => {
            let decimals = decimals_of(half).min(few);
            format!("{mean:.decimals$}±{half:.decimals$}")
        }
        None => format!("{mean:.few$}"),
    }
}

/// A number in about three digits.
pub fn short(value: f64) -> String {
    let decimals = decimals_of(value / 100.0);
    format!("{value:.decimals$}")
}

/// Decimals that show the first digit of `value` that counts, and one more when it is a one; none
/// for zero.
fn decimals_of(value: f64) -> usize {
    let mut decimals = 0;
    let mut scaled = value.abs();
    if !(scaled > 0.0 && scaled.is_finite()) {
        return 0;
    }
    while scaled < 1.95 && decimals < 6 {
        scaled *= 10.0;
        decimals += 1;
    }
    decimals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(mean: f64, ci95: Option<f64>) -> Figure {
        Figure { mean: Some(mean), ci95, n: 3 }
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(cell(figure(12.345, Some(0.38)), 1.0), "12.3±0.4");
        assert_eq!(cell(figure(12.345, Some(0.012)), 1.0), "12.345±0.012");
        assert_eq!(cell(figure(0.98765, Some(0.0004)), 100.0), "98.77±0.04");
        assert_eq!(cell(figure(1234.5, Some(56.0)), 1.0), "1234±56");
        assert_eq!(cell(figure(12.0, Some(0.0)), 1.0), "12.00±0.00");
        assert_eq!(cell(figure(0.0, Some(0.0)), 1.0), "0±0");
    }

    #[test]
    fn without_an_interval_there_are_a_few_digits() {
        assert_eq!(cell(figure(0.98765, None), 100.0), "98.77");
        assert_eq!(cell(Figure::default(), 1.0), "-");
    }

    #[test]
    fn what_is_too_small_to_be_measured_is_no_zero() {
        let column = Column::figures_from(Some(1e-6), "sojourn", "p50 ms", 0, 1e3, [figure(0.0, Some(0.0)), figure(0.002, None)]);
        assert_eq!(column.cells, ["<0.001", "2.000"]);
    }

    fn column(head: &str, rank: u8) -> Column {
        Column { head: head.to_owned(), unit: "ms".to_owned(), cells: vec!["1.0".to_owned(), "22.5±0.3".to_owned()], rank }
    }

    #[test]
    fn narrow_terminals_lose_the_least_important_columns() {
        let names = Column {
            head: "queue".to_owned(),
            unit: String::new(),
            cells: vec!["tail-drop".to_owned(), "a name that is far too long for this".to_owned()],
            rank: 0,
        };
        let columns = [column("first", 0), column("second", 2), column("third", 1)];
        let mut text = Text::default();
        assert!(write(&mut text, &names, &columns, 80, &|row| row == 1).is_empty());
        assert!(text.plain.starts_with("queue"), "{}", text.plain);
        assert_eq!(text.bold, [3]);
        let mut text = Text::default();
        assert_eq!(write(&mut text, &names, &columns, 36, &|_| false), ["second"]);
        let text = text.plain;
        assert!(text.lines().all(|line| line.width() <= 36), "{text}");
        assert!(text.contains("a name that…"), "{text}");
    }
}
