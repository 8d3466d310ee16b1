//! Figures of sampled values over time, as means over spans that a column of a paper can show.

use crate::plot::choice::{Request, Scale, unknown};
use crate::plot::source::{Line, Subject};
use crate::plot::{PlotError, Shown, Source};
use crate::{Axis, Curve, Panel, Point, Series, Shape};
use goodqueue_lab::results::metrics::{Quantity, unit_that_suits};
use goodqueue_lab::results::statistics::Figure;

/// Spans that the time is divided into.
const SPANS: usize = 200;

pub(crate) fn draw(source: &dyn Source, request: &Request, shown: &[Shown]) -> Result<(Panel, Vec<Curve>), PlotError> {
    let subject = request.subject(source)?;
    let name = match request.metric.as_slice() {
        [] => match subject {
            Subject::Link(_) => "sojourn_s",
            Subject::Group(_) => "goodput_bit_s",
        },
        [one] => one.as_str(),
        [_, more, ..] => return Err(PlotError::new("metric", format!("`{more}`: a figure over time shows one metric"))),
    };
    let mut all = source.lines(&subject, name)?;
    let lines: Vec<Line> =
        shown.iter().map(|one| all.get_mut(one.place).map(|lines| mean(std::mem::take(lines))).unwrap_or_default()).collect();
    if lines.iter().all(Vec::is_empty) {
        return Err(missing(source, &subject, name)?);
    }
    let end = lines.iter().flatten().map(|(time, _)| *time).fold(0.0, f64::max);
    let lines: Vec<Line> = lines.iter().map(|line| spans(line, end)).collect();
    let largest = lines.iter().flatten().map(|(_, value)| *value).filter(|value| value.is_finite()).fold(0.0, f64::max);
    let (unit, factor) = unit_that_suits(quantity(name), &[Figure { mean: Some(largest), ci95: None, n: 1 }]);
    let of = if matches!(subject, Subject::Group(_)) { ", mean over flows" } else { "" };
    let x = Axis { label: "Time".to_owned(), unit: "s".to_owned(), min: Some(0.0), max: Some(end), ..Axis::default() };
    let y = Axis {
        label: format!("{}{of}", words(name)),
        unit: if unit == "1" { String::new() } else { unit.to_owned() },
        log: request.scale == Some(Scale::Log),
        ..Axis::default()
    };
    let mut panel = Panel { x, y, ..Panel::default() };
    // The warm-up is not part of the figures.
    let warmup = shown.first().and_then(|one| source.points()[one.place].measured_s).map(|(from, _)| from);
    panel.shaded = warmup.filter(|from| *from > 0.0).map(|from| (0.0, from)).into_iter().collect();
    for (curve, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let points = line.iter().map(|(time, value)| Point { x: *time, y: value * factor, ..Point::default() }).collect();
        panel.series.push(Series { curve, shape: Shape::Line, points });
    }
    Ok((panel, shown.iter().map(|one| one.curve.clone()).collect()))
}

fn missing(source: &dyn Source, subject: &Subject, name: &str) -> Result<PlotError, PlotError> {
    let sampled = source.sampled()?;
    let mut known: Vec<&str> = sampled.iter().filter(|(of, _)| subject.is_of(of)).map(|(_, name)| name.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    Ok(match (sampled.is_empty(), subject) {
        (true, _) => PlotError::new(
            "figure",
            "time: the result has no series: they are written by gq run and gq compare, unless --record is nothing",
        ),
        (false, Subject::Group(group)) if known.is_empty() => {
            PlotError::new("group", format!("`{group}`: nothing was sampled of its flows"))
        }
        _ => unknown("metric", "sampled value", name, known),
    })
}

/// The mean over lines of equal times; of lines of other times the first alone.
fn mean(lines: Vec<Line>) -> Line {
    let count = lines.len() as f64;
    let mut lines = lines.into_iter();
    let Some(mut sum) = lines.next() else { return Line::new() };
    for line in lines {
        for ((_, sum), (_, value)) in sum.iter_mut().zip(line) {
            *sum += value;
        }
    }
    sum.iter_mut().for_each(|(_, sum)| *sum /= count);
    sum
}

/// Means over equal spans of the time up to `end`, each at the center of its span; NaN where a span
/// has nothing.
fn spans(line: &[(f64, f64)], end: f64) -> Line {
    if line.len() <= SPANS || end <= 0.0 {
        return line.to_vec();
    }
    let mut sums = vec![(0.0, 0_u32); SPANS];
    for (time, value) in line.iter().filter(|(_, value)| value.is_finite()) {
        // A sample stands for the time before it, so one at the end of a span belongs to that span.
        let span = ((time / end * SPANS as f64).ceil() as usize).clamp(1, SPANS) - 1;
        sums[span].0 += value;
        sums[span].1 += 1;
    }
    let width = end / SPANS as f64;
    let mean = |(span, (sum, count)): (usize, (f64, u32))| {
        ((span as f64 + 0.5) * width, if count > 0 { sum / f64::from(count) } else { f64::NAN })
    };
    sums.into_iter().enumerate().map(mean).collect()
}

/// Returns the quantity of a sampled value, by the unit at the end of its name.
fn quantity(name: &str) -> Quantity {
    match name {
        _ if name.ends_with("_bit_s") => Quantity::Rate,
        _ if name.ends_with("_s") => Quantity::Time,
        _ if name.ends_with("_bytes") => Quantity::Bytes,
        _ if name.ends_with("_packets") || ["drops", "marks"].contains(&name) => Quantity::Packets,
        _ => Quantity::Number,
    }
}

/// `gauge:drop_probability` as "Drop probability".
fn words(name: &str) -> String {
    match name {
        "sojourn_s" => return "Sojourn time".to_owned(),
        "queue_packets" | "queue_bytes" => return "Queue".to_owned(),
        "cwnd_bytes" => return "Congestion window".to_owned(),
        "srtt_s" => return "Smoothed RTT".to_owned(),
        "rtt_s" => return "RTT".to_owned(),
        _ => {}
    }
    let bare = name.trim_start_matches("gauge:");
    let bare = ["_bit_s", "_s", "_bytes", "_packets"].iter().find_map(|unit| bare.strip_suffix(unit)).unwrap_or(bare);
    let words = bare.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_means_over_spans() {
        let line: Line = (1..=400).map(|at| (f64::from(at) * 0.5, f64::from(at))).collect();
        let got = spans(&line, 200.0);
        assert_eq!((got.len(), got[0], got[199]), (SPANS, (0.5, 1.5), (199.5, 399.5)));
        assert_eq!(spans(&line[..3], 200.0).len(), 3);
    }

    #[test]
    fn names_become_words_and_units() {
        assert_eq!(words("gauge:drop_probability"), "Drop probability");
        assert_eq!((words("throughput_bit_s"), quantity("throughput_bit_s")), ("Throughput".to_owned(), Quantity::Rate));
        assert_eq!(mean(vec![vec![(1.0, 2.0)], vec![(1.0, 4.0)]]), [(1.0, 3.0)]);
    }
}
