//! A fault of a scenario with the line it is in, for terminals.

use goodqueue_lab::scenario::diagnostic::Excerpt;
use goodqueue_lab::scenario::plan::Fault;
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Style in which faults are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// With ANSI colors.
    Colored,
    /// Without colors.
    Plain,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Colored => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Plain => text.to_owned(),
        }
    }

    fn error(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    fn frame(self, text: &str) -> String {
        self.paint("1;34", text)
    }
}

/// The fault, where it is, its line with the wrong part underlined, and what to write instead.
///
/// ```text
/// error: link.bottleneck.delay: `5` has no unit
///   --> scenario.toml:10:9
///    |
/// 10 | delay = "5"
///    |         ^^^
///    = help: write for instance `5 ms`
/// ```
pub fn render(fault: &Fault, style: Style, width: usize) -> String {
    let field = if fault.field().is_empty() { String::new() } else { format!("{}: ", fault.field()) };
    let mut text = format!("{}: {field}{}", style.error("error"), fault.message());
    let number = fault.position().map(|(line, _)| line.to_string()).unwrap_or_default();
    let gutter = " ".repeat(number.len());
    let place = if fault.position().is_some() { fault.place() } else { fault.source_name().to_owned() };
    let _ = write!(text, "\n{gutter}{} {place}", style.frame("-->"));
    if let Some(Excerpt { line, marked }) = fault.excerpt() {
        let bar = style.frame("|");
        let (line, before, under) = window(line, marked.start, marked.end, width.saturating_sub(gutter.len() + 3).max(20));
        let _ = write!(text, "\n{gutter} {bar}\n{} {bar} {line}", style.frame(&number));
        let _ = write!(text, "\n{gutter} {bar} {}{}", " ".repeat(before), style.error(&"^".repeat(under)));
    }
    if let Some(help) = fault.suggestion() {
        let _ = write!(text, "\n{gutter} {} help: {help}", style.frame("="));
    }
    text
}

/// The part of a line that `width` columns have room for, with the columns before the mark and
/// those of the mark.
fn window(line: &str, from: usize, to: usize, width: usize) -> (String, usize, usize) {
    let (head, marked, tail) = (shown(&line[..from]), shown(&line[from..to]), shown(&line[to..]));
    // A mark that lies far to the right is shown with a third of the width before it.
    let skipped = if head.width() + marked.width() > width { head.width().saturating_sub(width / 3) } else { 0 };
    let head: String = beyond(&head, skipped);
    let before = head.width();
    let whole = format!("{head}{marked}{tail}");
    let cut = within(&whole, width);
    let under = marked.width().min(cut.width().saturating_sub(before)).max(1);
    (cut, before, under)
}

/// Text whose every character has its width: no tabs, no control characters.
fn shown(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c == '\t' {
                ' '
            } else if c.is_control() {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

/// Returns the part of the text behind the first `columns` columns.
fn beyond(text: &str, columns: usize) -> String {
    let mut passed = 0;
    text.chars()
        .skip_while(|c| {
            passed += c.width().unwrap_or(0);
            passed <= columns
        })
        .collect()
}

/// Returns the part of the text that fits into the first `columns` columns.
fn within(text: &str, columns: usize) -> String {
    let mut used = 0;
    text.chars()
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_lab::scenario::plan::Plan;
    use std::path::Path;

    fn faults(text: &str) -> Vec<String> {
        let error = Plan::parse("scenario.toml", text, Path::new("")).expect_err("wrong");
        error.faults().map(|fault| render(fault, Style::Plain, 60)).collect()
    }

    #[test]
    fn the_wrong_value_is_underlined() {
        let text =
            "duration = \"30\"\n\n[link.a]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 bdp\"\nqueue = \"codel\"\n";
        let rendered = faults(text).into_iter().find(|text| text.contains("no unit")).expect("a fault of the duration");
        let lines: Vec<&str> = rendered.lines().collect();
        assert_eq!(lines[0], "error: duration: `30` has no unit");
        assert_eq!(lines[1..5], [" --> scenario.toml:1:12", "  |", "1 | duration = \"30\"", "  |            ^^^^"]);
        assert!(lines[5].starts_with("  = help: "), "{rendered}");
    }

    #[test]
    fn colors_change_no_word() {
        let error = Plan::parse("a.toml", "duration = 3\n", Path::new("")).expect_err("wrong");
        let fault = error.faults().next().expect("one");
        let colored = render(fault, Style::Colored, 80);
        assert!(colored.starts_with("\x1b[1;31merror\x1b[0m: "));
        let plain = ["\x1b[1;31m", "\x1b[1;34m", "\x1b[0m"].iter().fold(colored, |text, code| text.replace(code, ""));
        assert_eq!(plain, render(fault, Style::Plain, 80));
    }

    #[test]
    fn long_lines_are_shown_around_the_mark() {
        let line = format!("{}é = [bad], {}", "x".repeat(100), "y".repeat(100));
        let at = line.find("[bad]").expect("there");
        let (shown, before, under) = window(&line, at, at + 5, 30);
        assert_eq!((shown.width(), before, under), (30, 10, 5));
        assert_eq!(&shown.chars().skip(before).take(under).collect::<String>(), "[bad]");
        assert_eq!(window("\ta = 1", 5, 6, 30), (" a = 1".to_owned(), 5, 1));
        assert_eq!(window("a = ", 4, 4, 30), ("a = ".to_owned(), 4, 1), "something missing is marked by one column");
        assert_eq!(window("漢字 = 1", 9, 10, 30), ("漢字 = 1".to_owned(), 7, 1), "wide characters take two columns");
        assert_eq!(window(&"x".repeat(90), 0, 90, 30), ("x".repeat(30), 0, 30));
    }
}
