//! `gq plot`: a figure for a paper from a result.

use crate::failure::{Failure, check_file};
use crate::output::say;
use clap::Args;
use goodqueue_figure::plot::{Format, Kind, PlotError, Request, Scale, Sheet};
use goodqueue_lab::results::record::write_file;
use goodqueue_lab::results::stored::Stored;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `gq plot`.
#[derive(Args)]
#[command(
    after_help = "Colors and marks are those of the report. Axes are named by the figures they show, see gq list metric.\n\
                        Examples:\n  gq plot results/compare\n  gq plot results/compare --figure tradeoff --format pdf --font serif\n  \
                        gq plot results/compare --figure bars --group voip --metric mos --width 84mm --out mos.svg"
)]
pub struct Arguments {
    /// Folder with the result of gq run, gq compare or gq sweep
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Kind of figure: sweep, one metric over a swept setting; bars, one metric; tradeoff, one
    /// metric against another; cdf, distributions of times; time, what was sampled over time
    /// [default: sweep where a number is swept, otherwise bars]
    #[arg(long, value_name = "KIND")]
    figure: Option<String>,
    /// Format of the file: pdf, svg or png [default: that of the file's name, or svg]
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Width of the figure in in, cm, mm or pt
    #[arg(long, value_name = "LENGTH", default_value = "3.3in")]
    width: String,
    /// Height of the figure [default: as the width needs]
    #[arg(long, value_name = "LENGTH")]
    height: Option<String>,
    /// Letters: serif, sans, or the name of a font
    #[arg(long, value_name = "FONT", default_value = "sans")]
    font: String,
    /// Size of the letters at the axes
    #[arg(long, value_name = "LENGTH", default_value = "8pt")]
    font_size: String,
    /// Title above the figure [default: none, as a paper has a caption]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// A link of the result [default: the first]
    #[arg(long, value_name = "NAME")]
    link: Option<String>,
    /// A group of flows instead of a link: what it got
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Metric, by its name in summary.json, or for time in series.parquet; two for a
    /// tradeoff, across and up [default: what people notice first; of a link, a high percentile of
    /// the delay]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    metric: Vec<String>,
    /// Points to draw by their names in tables; may be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Axis of the values that spread: linear or log [default: as they spread]
    #[arg(long, value_name = "SCALE")]
    scale: Option<String>,
    /// File to write, or - for standard output [default: KIND.FORMAT in this folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (name, bytes) = file(arguments).map_err(|error| wrong(arguments, error))?;
    match &arguments.out {
        Some(path) if path.as_os_str() == "-" => {
            let mut out = std::io::stdout().lock();
            Ok(out.write_all(&bytes).and_then(|()| out.flush())?)
        }
        Some(path) => put(path, &bytes),
        None => put(Path::new(&name), &bytes),
    }
}

/// The file, and its name where none is given.
fn file(arguments: &Arguments) -> Result<(String, Vec<u8>), PlotError> {
    let kind = arguments.figure.as_deref().map(Kind::named).transpose()?;
    let scale = arguments.scale.as_deref().map(Scale::named).transpose()?;
    let format = match (&arguments.format, &arguments.out) {
        (Some(name), _) => Format::named(name)?,
        (None, Some(path)) => Format::of_file(path).unwrap_or(Format::Svg),
        (None, None) => Format::Svg,
    };
    let sheet = Sheet::new(
        format,
        Some(&arguments.width),
        arguments.height.as_deref(),
        Some(&arguments.font),
        Some(&arguments.font_size),
    )?;
    let stored = Stored::load(&arguments.result).map_err(|error| PlotError { field: "result", message: error.to_string() })?;
    let kind = kind.unwrap_or_else(|| Kind::suiting(&stored));
    let request = Request {
        kind,
        link: arguments.link.clone(),
        group: arguments.group.clone(),
        metric: arguments.metric.clone(),
        only: arguments.only.clone(),
        scale,
        title: arguments.title.clone(),
    };
    let name = format!("{}.{}", kind.name(), format.name());
    Ok((name, sheet.file(goodqueue_figure::plot::draw(&stored, &request)?)?))
}

/// An error in the words of the command line.
fn wrong(arguments: &Arguments, error: PlotError) -> Failure {
    match error.field {
        "result" if error.message.starts_with(&arguments.result.display().to_string()) => Failure::Input(error.message),
        "result" => Failure::Input(format!("{}: {}", arguments.result.display(), error.message)),
        _ => Failure::Input(format!("--{error}")),
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    check_file("--out", Some(path))?;
    write_file(path, bytes)?;
    say(&format!("figure in {}", path.display()));
    Ok(())
}
