//! The meaning of the figures in one sentence.

use super::labels::Labels;
use crate::metrics::LinkFigures;
use crate::runner::PointResult;
use crate::statistics::Figure;

const SOJOURN: &str = "sojourn_s.p95";
const UTILIZATION: &str = "utilization";

/// One point with the figures of the examined link for each finished replication.
struct Candidate<'a> {
    name: &'a str,
    setting: &'a str,
    is_queue: bool,
    runs: Vec<(u32, &'a LinkFigures)>,
}

impl Candidate<'_> {
    fn figure(&self, metric: &str) -> Figure {
        Figure::of(self.runs.iter().map(|(_, link)| link.value(metric)))
    }

    fn mean(&self, metric: &str) -> Option<f64> {
        self.figure(metric).mean
    }

    /// The difference to `other`, paired by replication: both used the same random numbers, so
    /// their common spread cancels out.
    fn minus(&self, other: &Self, metric: &str) -> Figure {
        Figure::of(self.runs.iter().filter_map(|(replication, link)| {
            let (_, theirs) = other.runs.iter().find(|(number, _)| number == replication)?;
            Some(Some(link.value(metric)? - theirs.value(metric)?))
        }))
    }
}

/// What the figures of `link` mean: which point has the shortest 95th percentile of sojourn times,
/// at which cost in utilization, and which ones do not differ from it significantly.
#[must_use]
pub fn meaning(points: &[PointResult], labels: &Labels, link: &str) -> String {
    let candidates: Vec<Candidate<'_>> = points
        .iter()
        .zip(labels.names.iter().zip(&labels.splits))
        .map(|(point, (name, split))| Candidate {
            name: split.queue.as_deref().unwrap_or(name),
            setting: &split.setting,
            is_queue: split.queue.is_some(),
            runs: point
                .runs
                .iter()
                .filter_map(|run| Some((run.number, run.links.iter().find(|known| known.name == link)?)))
                .collect(),
        })
        .filter(|candidate| candidate.mean(SOJOURN).is_some())
        .collect();
    match candidates.as_slice() {
        [] => format!("No run finished in which a packet passed {link}, so there is nothing to say."),
        [one] => about_one(one, link),
        _ if candidates.iter().any(|candidate| !candidate.is_queue) => range(&candidates),
        [first, ..] if candidates.iter().all(|candidate| candidate.setting == first.setting) => among(&candidates),
        _ => over_settings(&candidates),
    }
}

/// `12.3 ms`, in three digits.
fn time(seconds: f64) -> String {
    let (scale, unit, decimals) = time_format(seconds);
    format!("{:.decimals$} {unit}", seconds * scale)
}

/// `12.3 ± 0.4 ms`; the interval has as many digits as it needs, up to two more than the mean.
fn time_with_interval(figure: Figure) -> String {
    let mean = figure.mean.unwrap_or_default();
    let Some(half) = figure.ci95 else { return time(mean) };
    let (scale, unit, decimals) = time_format(mean);
    let visible = |digits: usize| half == 0.0 || (0..digits).fold(half * scale, |shown, _| shown * 10.0) >= 0.5;
    let decimals = (decimals..=decimals + 2).find(|&digits| visible(digits)).unwrap_or(decimals);
    format!("{:.decimals$} ± {:.decimals$} {unit}", mean * scale, half * scale)
}

/// Factor, unit and decimals that show three digits.
fn time_format(seconds: f64) -> (f64, &'static str, usize) {
    let (scale, unit) = if seconds >= 1.0 {
        (1.0, "s")
    } else if seconds >= 1e-3 || seconds == 0.0 {
        (1e3, "ms")
    } else {
        (1e6, "µs")
    };
    let value = seconds * scale;
    let decimals = if value >= 100.0 || value == 0.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    (scale, unit, decimals)
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// `a`, `a and b`, `a, b and c`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn about_one(point: &Candidate<'_>, link: &str) -> String {
    let n = point.runs.len();
    let used = point.mean(UTILIZATION).map_or_else(String::new, |used| format!(", and the link was {} used", percent(used)));
    let certainty = if n == 1 {
        "; one replication gives no confidence interval".to_owned()
    } else {
        format!(" (means of {n} replications)")
    };
    let sojourn = time(point.mean(SOJOURN).unwrap_or_default());
    format!("At {link}, 95 % of the packets waited at most {sojourn}{used}{certainty}.")
}

/// The range over points that differ in more than their queue: their loads differ, so none of them
/// is better than another.
fn range(points: &[Candidate<'_>]) -> String {
    let sojourn = |point: &&Candidate<'_>| point.mean(SOJOURN).unwrap_or_default();
    let least = points.iter().min_by(|a, b| sojourn(a).total_cmp(&sojourn(b)));
    let most = points.iter().max_by(|a, b| sojourn(a).total_cmp(&sojourn(b)));
    let (Some(least), Some(most)) = (least, most) else { return String::new() };
    let used: Vec<f64> = points.iter().filter_map(|point| point.mean(UTILIZATION)).collect();
    let low = used.iter().copied().fold(f64::INFINITY, f64::min);
    let high = used.iter().copied().fold(0.0, f64::max);
    let utilization =
        if used.is_empty() { String::new() } else { format!(", at utilizations from {} to {}", percent(low), percent(high)) };
    format!(
        "The 95th percentile of sojourn times goes from {} ({}) to {} ({}){utilization}.",
        time(sojourn(&least)),
        least.name,
        time(sojourn(&most)),
        most.name,
    )
}

/// The point with the shortest 95th percentile.
fn shortest<'a, 'b>(points: &[&'b Candidate<'a>]) -> Option<&'b Candidate<'a>> {
    let sojourn = |point: &Candidate<'_>| point.mean(SOJOURN).unwrap_or(f64::INFINITY);
    points.iter().copied().min_by(|a, b| sojourn(a).total_cmp(&sojourn(b)))
}

/// Points that do not differ significantly from `best`.
fn not_told_from<'b>(best: &Candidate<'_>, points: &[&'b Candidate<'_>]) -> Vec<&'b str> {
    points
        .iter()
        .filter(|point| !std::ptr::addr_eq(**point, best) && point.minus(best, SOJOURN).excludes_zero() != Some(true))
        .map(|point| point.name)
        .collect()
}

/// Queues under the same load.
fn among(points: &[Candidate<'_>]) -> String {
    let points: Vec<&Candidate<'_>> = points.iter().collect();
    let Some(best) = shortest(&points) else { return String::new() };
    let n = pairs(best, &points);
    let figure = best.figure(SOJOURN);
    let mut text = format!("{} has the shortest 95th percentile of sojourn times, {}", best.name, time_with_interval(figure));
    if let Some(used) = best.mean(UTILIZATION) {
        text.push_str(&format!(", at {} utilization", percent(used)));
        text.push_str(&cost(best, &points));
    }
    let equals = not_told_from(best, &points);
    if n < 2 {
        text.push_str("; with one replication no difference can be told from chance");
    } else if equals.is_empty() {
        text.push_str(&format!("; it differs from every other significantly (paired 95 % intervals, {n} replications)"));
    } else {
        let names = list(&equals);
        text.push_str(&format!("; not significantly different: {names} (paired 95 % intervals, {n} replications)"));
    }
    text.push('.');
    text
}

/// Replications that the best one shares with every other.
fn pairs(best: &Candidate<'_>, points: &[&Candidate<'_>]) -> usize {
    let shared = |point: &&Candidate<'_>| {
        point.runs.iter().filter(|(number, _)| best.runs.iter().any(|(other, _)| other == number)).count()
    };
    points.iter().map(shared).min().unwrap_or(0)
}

/// Utilization that the best one gives up, relative to the one with the highest utilization.
fn cost(best: &Candidate<'_>, points: &[&Candidate<'_>]) -> String {
    let used = |point: &Candidate<'_>| point.mean(UTILIZATION).unwrap_or(0.0);
    let Some(top) = points.iter().copied().max_by(|a, b| used(a).total_cmp(&used(b))) else { return String::new() };
    if std::ptr::addr_eq(top, best) {
        return ", the highest of all".to_owned();
    }
    let difference = top.minus(best, UTILIZATION);
    match (difference.mean, difference.ci95) {
        (Some(mean), Some(half)) if mean > half && mean < 5e-4 => format!(", less than 0.1 percentage points below {}", top.name),
        (Some(mean), Some(half)) if mean.abs() > half => {
            format!(", {:.2} ± {:.2} percentage points below {}", mean * 100.0, half * 100.0, top.name)
        }
        (Some(_), Some(_)) => ", no less than any other within the intervals".to_owned(),
        (Some(mean), None) => format!(", {:.2} percentage points below {}", mean * 100.0, top.name),
        (None, _) => String::new(),
    }
}

/// Queues under several loads: how often each has the shortest.
fn over_settings(points: &[Candidate<'_>]) -> String {
    let mut settings: Vec<&str> = Vec::new();
    for point in points {
        if !settings.contains(&point.setting) {
            settings.push(point.setting);
        }
    }
    let mut wins: Vec<(&str, usize, usize)> = Vec::new();
    for setting in &settings {
        let here: Vec<&Candidate<'_>> = points.iter().filter(|point| point.setting == *setting).collect();
        let Some(best) = shortest(&here) else { continue };
        // Without intervals no difference is significant.
        let others = here.iter().filter(|point| !std::ptr::addr_eq(**point, best));
        let clear = others.clone().all(|point| point.minus(best, SOJOURN).excludes_zero() == Some(true));
        match wins.iter_mut().find(|(name, ..)| *name == best.name) {
            Some((_, count, beyond)) => (*count, *beyond) = (*count + 1, *beyond + usize::from(clear)),
            None => wins.push((best.name, 1, usize::from(clear))),
        }
    }
    wins.sort_by_key(|&(_, count, _)| std::cmp::Reverse(count));
    let parts: Vec<String> =
        wins.iter().map(|(name, count, clear)| format!("{name} in {count} (significantly in {clear})")).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!("The shortest 95th percentile of sojourn times, over {} settings: {}.", settings.len(), list(&parts))
}

#[cfg(test)]
mod tests;
