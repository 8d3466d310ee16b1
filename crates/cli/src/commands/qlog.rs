//! `gq qlog`: figures of recorded connections side by side.

use crate::failure::Failure;
use crate::output::print;
use clap::Args;
use goodqueue_interop::import::Input;
use goodqueue_interop::import::qlog::Connection;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Arguments of `gq qlog`.
#[derive(Args)]
#[command(after_help = "Example: gq import qlog mine.sqlog > like.toml; gq run like.toml --qlog simulated; \
    gq qlog mine.sqlog simulated/0-0-recorded-0.sqlog")]
pub struct Arguments {
    /// qlog files: of a program, or of gq run --qlog
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// A row of the table: its head, and the figure of a connection.
type Row = (&'static str, fn(&Connection) -> Option<f64>);

const ROWS: [Row; 10] = [
    ("time, s", |one| Some(one.seconds)),
    ("data, MB", |one| Some(one.bytes as f64 * 1e-6)),
    ("rate, Mbit/s", |one| Some(one.rate_bit_s()? * 1e-6)),
    ("packets", |one| Some(one.packets as f64)),
    ("lost, %", |one| Some(one.loss() * 100.0)),
    ("smoothed RTT, least, ms", |one| Some(one.rtt_s?[0] * 1e3)),
    ("p50, ms", |one| Some(one.rtt_s?[1] * 1e3)),
    ("p95, ms", |one| Some(one.rtt_s?[2] * 1e3)),
    ("window, mean, kB", |one| Some(one.window? * 1e-3)),
    ("in flight, mean, kB", |one| Some(one.in_flight? * 1e-3)),
];

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut columns = Vec::new();
    for path in &arguments.files {
        let input = Input::load(path).map_err(Failure::input)?;
        let connection = Connection::read(&input).map_err(Failure::input)?;
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        columns.push((file, connection));
    }
    Ok(print(&table(&columns))?)
}

fn table(columns: &[(String, Connection)]) -> String {
    let first = ROWS.iter().map(|(head, _)| head.len()).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(|(file, _)| file.chars().count().max(10)).collect();
    let mut text = " ".repeat(first);
    for ((file, _), width) in columns.iter().zip(&widths) {
        let _ = write!(text, "  {file:>width$}");
    }
    text.push('\n');
    for (head, value) in ROWS {
        let _ = write!(text, "{head:first$}");
        for ((_, connection), width) in columns.iter().zip(&widths) {
            let shown = value(connection).map_or_else(|| "–".to_owned(), crate::table::short);
            let _ = write!(text, "  {shown:>width$}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_stand_beside_each_other() {
        let mut one = Connection::default();
        (one.seconds, one.bytes, one.packets, one.lost) = (2.0, 5_000_000, 4000, 40);
        let mut other = one.clone();
        other.rtt_s = Some([0.02, 0.03, 0.05]);
        let text = table(&[("recorded.sqlog".to_owned(), one), ("0-0-mine-0.sqlog".to_owned(), other)]);
        let line =
            |head: &str| text.lines().find(|line| line.starts_with(head)).expect("a row").split_whitespace().collect::<Vec<_>>();
        assert_eq!(line("rate, Mbit/s"), ["rate,", "Mbit/s", "20.0", "20.0"], "{text}");
        assert_eq!(line("lost, %"), ["lost,", "%", "1.000", "1.000"]);
        assert_eq!(line("p95, ms"), ["p95,", "ms", "–", "50.0"]);
    }
}
