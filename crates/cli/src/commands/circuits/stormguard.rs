//! The decisions of StormGuard about a site, played with the circuits behind it.

use super::{STOPPING, percent, refused, shares, told};
use crate::failure::Failure;
use crate::table::{self, Column, Text};
use crate::{interrupt, output, progress};
use goodqueue_base::units::{Direction, Rate};
use goodqueue_interop::import::Input;
use goodqueue_interop::import::controller::decisions::{Chosen, Decisions};
use goodqueue_lab::run::circuits::answer::Poor;
use goodqueue_lab::run::circuits::{Asked, Played, Question, Share, Ways, answer};
use goodqueue_lab::verdict::words::count;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// The rates that are played, and the words for them.
const CHOSEN: [(Chosen, &str); 3] =
    [(Chosen::Decided, "as decided"), (Chosen::Configured, "as configured"), (Chosen::Passed, "as usually passed")];

/// The answer about a log.
#[derive(Serialize)]
struct Replay {
    text: String,
    site: String,
    seconds: f64,
    circuits: usize,
    busy_hour_bit_s: f64,
    passed_bit_s: Ways<f64>,
    kept_back_bit_s: Ways<f64>,
    rates: Vec<OfRate>,
}

/// The circuits under one course of the site's rate.
#[derive(Serialize)]
struct OfRate {
    rate: &'static str,
    mean_bit_s: Ways<f64>,
    above_line: Ways<Option<f64>>,
    queues: Vec<Poor>,
}

fn pair(of: impl Fn(Direction) -> String) -> String {
    Direction::ALL.map(of).join(" / ")
}

fn both<T>(of: impl Fn(Direction) -> T) -> Ways<T> {
    Ways { down: of(Direction::Down), up: of(Direction::Up) }
}

/// Plays the decisions in `log`, and the two rates that stay. With `is_measured` the circuits'
/// traffic is as much as passed.
pub fn run(
    mut question: Question,
    log: &Input,
    found: &Decisions,
    is_measured: bool,
    json: Option<&Path>,
) -> Result<(), Failure> {
    for note in &found.notes {
        output::say(&format!("note: {}: {note}", log.name));
    }
    let network = &question.network;
    let site = network.sites.iter().position(|site| site.name == found.site);
    let unknown = || Failure::input(log.fault(format!("site: `{}` is no real site of the network", found.site)));
    let site = site.ok_or_else(unknown)?;
    let is_behind = |from: &Option<usize>| network.path(*from).any(|one| one == site);
    let circuits = network.circuits.iter().filter(|circuit| is_behind(&circuit.site)).count();
    if circuits == 0 {
        return Err(Failure::input(log.fault(format!("site: `{}` has no circuits", found.site))));
    }
    if is_measured {
        question.busy_hour = Rate::bit_s((found.passed(Direction::Down) / circuits as f64).max(1e3) as u64);
    }
    let mut rates = Vec::new();
    let stop = interrupt::stop_flag_saying(STOPPING);
    let (answered, seconds) = progress::during(1, |progress| {
        for (number, (chosen, rate)) in CHOSEN.into_iter().enumerate() {
            let played = both(|way| found.rates(chosen, way));
            question.asked = Asked::Behind(Played { site, rates: played, seconds: found.seconds });
            let mut part = |part: f64| progress((number as f64 + part) / CHOSEN.len() as f64);
            let queues = answer(&question, &stop, &mut part)?.queues;
            let (mean_bit_s, above_line) = (both(|way| found.mean(chosen, way)), both(|way| found.above_line(chosen, way)));
            rates.push(OfRate { rate, mean_bit_s, above_line, queues });
        }
        Ok(())
    });
    answered.map_err(refused)?;
    let replay = Replay {
        text: sentences(found, &rates),
        site: found.site.clone(),
        seconds: found.seconds,
        circuits,
        busy_hour_bit_s: question.busy_hour.as_bit_s() as f64,
        passed_bit_s: both(|way| found.passed(way)),
        kept_back_bit_s: both(|way| found.kept_back(way)),
        rates,
    };
    told(&replay, json, || shown(&replay, seconds))
}

/// The facts of the log and of the runs, in words.
fn sentences(found: &Decisions, rates: &[OfRate]) -> String {
    let mut text = String::new();
    for (way, name) in [(Direction::Down, "down"), (Direction::Up, "up")] {
        let kept = found.kept_back(way) / 1e6;
        match (*rates[0].above_line.of(way), *rates[1].above_line.of(way)) {
            (Some(0.0), Some(0.0)) if kept < 0.1 => continue,
            (Some(decided), Some(configured)) => {
                let _ = write!(
                    text,
                    "In at least {} % of the time the line gave less {name} than StormGuard's rate, so that the queue stood in \
                     the line; with the configured rate it would have been {} %. ",
                    percent(decided),
                    percent(configured)
                );
            }
            _ => {
                let _ = write!(text, "The log has no delays {name}, so that it does not tell where the queue stood. ");
            }
        }
        let _ = write!(text, "It kept back at most {} Mbit/s {name} on average. ", table::short(kept));
    }
    if text.is_empty() {
        text.push_str("StormGuard was never above the line and kept nothing back. ");
    }
    let poor = |rate: &OfRate| -> String {
        let said = |(activity, share): &(&str, Share)| format!("{activity}s {} %", percent(share.share));
        let queue = &rate.queues[0];
        format!("{}: {}", rate.rate, queue.activities.iter().map(said).collect::<Vec<_>>().join(", "))
    };
    let all: Vec<String> = rates.iter().map(poor).collect();
    let _ = write!(text, "Poor with {}, {}.", rates[0].queues[0].queue, all.join("; "));
    text
}

fn shown(replay: &Replay, seconds: f64) -> Text {
    let width = output::width();
    let mut text = Text::default();
    let _ = writeln!(text.plain, "{}, by what its rate was or could have been", replay.site);
    let rows: Vec<(&OfRate, &Poor)> =
        replay.rates.iter().flat_map(|rate| rate.queues.iter().map(move |queue| (rate, queue))).collect();
    let names = Column::names(rows.iter().map(|(rate, queue)| format!("{}, {}", rate.rate, queue.queue)).collect());
    let column = |head: &str, unit: &str, cell: &dyn Fn(&OfRate) -> String| {
        let cells = rows.iter().map(|(rate, _)| cell(rate)).collect();
        Column { head: head.to_owned(), unit: unit.to_owned(), cells, rank: 1 }
    };
    let mut columns = vec![
        column("mean down / up", "Mbit/s", &|rate| pair(|way| table::short(rate.mean_bit_s.of(way) / 1e6))),
        column("above the line", "% of time", &|rate| pair(|way| rate.above_line.of(way).map_or("–".to_owned(), percent))),
    ];
    columns.extend(shares(&rows.iter().map(|(_, queue)| *queue).collect::<Vec<_>>()));
    table::write(&mut text, &names, &columns, width, &|_| false);
    let remark = format!(
        "{} with a mean download of {} Mbit/s; the log covers {:.0} s, of which parts are played. {} busy circuits are \
         simulated in packets under each rate and queue. {seconds:.1} s. The shares of a rate that stays hold where the line \
         gives it.",
        count(replay.circuits, "circuit"),
        table::short(replay.busy_hour_bit_s / 1e6),
        replay.seconds,
        rows[0].1.simulated
    );
    let _ = writeln!(text.plain, "\n{}\n\n{}", table::wrapped(&remark, width), table::wrapped(&replay.text, width));
    text
}
