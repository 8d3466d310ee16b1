//! `gq compare --circuits` and `gq recommend --circuits`: queues for all subscribers of a network.

mod stormguard;

use crate::failure::options::at_options;
use crate::failure::{Failure, check_file};
use crate::table::{self, Column, Text};
use crate::{interrupt, output, progress};
use clap::Args;
use goodqueue_base::units::{Duration, Rate};
use goodqueue_interop::import::Input;
use goodqueue_interop::import::circuits::{read, treeguard};
use goodqueue_interop::import::controller::decisions;
use goodqueue_lab::quantity::{self, Limits};
use goodqueue_lab::results::record::write_file;
use goodqueue_lab::run::circuits::answer::Poor;
use goodqueue_lab::run::circuits::{Answer, Asked, BUSY_HOUR, Circuit, Question, Refused, Share, answer};
use goodqueue_lab::scenario::mix::{EVENING, Mix, Pace};
use goodqueue_lab::verdict::words::count;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Options of a question about circuits.
#[derive(Args)]
#[group(skip)]
pub struct Network {
    /// The sites that the circuits share: LibreQoS' network.json
    #[arg(long, value_name = "FILE", requires = "circuits")]
    network: Option<PathBuf>,
    /// Mean download of a circuit in the busy hour [default: 3 Mbit/s]
    #[arg(long, value_name = "RATE", requires = "circuits")]
    busy_hour: Option<String>,
    /// Circuits that are simulated in packets, about
    #[arg(long, value_name = "N", requires = "circuits", default_value_t = 60, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    simulated: u32,
}

/// Options of a question about what a controller of LibreQoS decided.
#[derive(Args)]
#[group(skip)]
pub struct Controllers {
    /// Play the rates that StormGuard gave a site, by its log, and rates that stay
    #[arg(long, value_name = "FILE", requires = "network", conflicts_with = "treeguard")]
    stormguard: Option<PathBuf>,
    /// Site in the log of StormGuard [default: its first]
    #[arg(long, value_name = "NAME", requires = "stormguard")]
    site: Option<String>,
    /// Ask only about the circuits that TreeGuard gave fq_codel, by its overrides or journal
    #[arg(long, value_name = "FILE", requires = "circuits")]
    treeguard: Option<PathBuf>,
}

impl Controllers {
    /// Whether StormGuard's decisions are in question.
    pub const fn is_storm(&self) -> bool {
        self.stormguard.is_some()
    }

    /// Whether TreeGuard's are.
    pub const fn is_tree(&self) -> bool {
        self.treeguard.is_some()
    }
}

/// The rest of a question about circuits.
pub struct Rest<'a> {
    /// Controllers whose decisions are in question.
    pub controllers: Option<&'a Controllers>,
    /// Queues as on the command line.
    pub queues: Vec<String>,
    /// Option and name of the mix.
    pub mix: (&'static str, Option<&'a str>),
    /// Round-trip time.
    pub rtt: &'a str,
    /// Buffer of a circuit, as time.
    pub buffer: &'a str,
    /// Root of all randomness.
    pub seed: u64,
    /// Runs at the same time.
    pub jobs: usize,
    /// File for the answer, `-` for standard output.
    pub json: Option<&'a Path>,
    /// Whether the answer says what to write into the operator's file.
    pub is_recommended: bool,
}

/// Circuits from this rate on have fq_codel in LibreQoS unless the column sqm names another queue
/// (`fast_queues_fq_codel`).
const FAST: Rate = Rate::gbit(1);
/// Message of the first interrupt: a part of a sample answers nothing.
const STOPPING: &str = "stopping without an answer; once more gives up\n";
const RATES: Limits<Rate> = Limits::new(Rate::kbit(1), Rate::gbit(100));
const TIMES: Limits<Duration> = Limits::new(Duration::ms(1), Duration::secs(10));

impl Network {
    /// Answers the question about the circuits of `file`.
    pub fn run(&self, file: &Path, rest: &Rest<'_>) -> Result<(), Failure> {
        check_file("--json", rest.json.filter(|path| path.as_os_str() != "-"))?;
        let load = |path: &Path| Input::load(path).map_err(Failure::input);
        let sites = self.network.as_deref().map(load).transpose()?;
        let found = read(&load(file)?, sites.as_ref()).map_err(Failure::input)?;
        for note in &found.notes {
            output::say(&format!("note: {note}"));
        }
        let time = |option: &str, text: &str| {
            quantity::duration_within(text, TIMES).map_err(|error| Failure::Input(format!("{option}: {error}")))
        };
        let busy_hour = match &self.busy_hour {
            None => BUSY_HOUR,
            Some(text) => quantity::rate_within(text, RATES).map_err(|error| Failure::Input(format!("--busy-hour: {error}")))?,
        };
        let mut question = Question {
            network: found.network,
            mix: mix(rest.mix)?,
            queues: rest.queues.clone(),
            rtt: time("--rtt", rest.rtt)?,
            buffer: time("--buffer", rest.buffer)?,
            busy_hour,
            samples: self.simulated,
            asked: Asked::All,
            seed: rest.seed,
            jobs: rest.jobs,
        };
        let option = |of: fn(&Controllers) -> &Option<PathBuf>| rest.controllers.and_then(|all| of(all).as_deref());
        if let Some(log) = option(|all| &all.stormguard) {
            let site = rest.controllers.and_then(|all| all.site.as_deref());
            let log = load(log)?;
            let found = decisions::read(&log, site).map_err(Failure::input)?;
            return stormguard::run(question, &log, &found, self.busy_hour.is_none(), rest.json);
        }
        let mut remark = None;
        if let Some(file) = option(|all| &all.treeguard) {
            let file = load(file)?;
            let these = treeguard::switched(&file, &question.network, &found.devices).map_err(Failure::input)?;
            remark = Some(format!("{} of the circuits are asked about: those in {}.", these.len(), file.name));
            question.asked = Asked::These(these);
        }
        let is_fast = |circuit: &Circuit| circuit.plan.down.max(circuit.plan.up) >= FAST;
        let has_fast = question.network.circuits.iter().any(is_fast);
        let stop = interrupt::stop_flag_saying(STOPPING);
        let (answered, seconds) = progress::during(1, |progress| answer(&question, &stop, progress));
        let mut answer = answered.map_err(refused)?;
        if rest.is_recommended {
            answer.text.push_str(&column(&answer.best, has_fast));
        }
        told(&answer, rest.json, || shown(&answer, remark, seconds))
    }
}

/// Writes the answer as JSON where that is wanted, and prints it in words unless it went there
/// instead.
fn told(answer: &impl Serialize, json: Option<&Path>, shown: impl FnOnce() -> Text) -> Result<(), Failure> {
    match json {
        Some(path) if path.as_os_str() == "-" => return Ok(output::print(&output::json(answer)?)?),
        Some(path) => write_file(path, output::json(answer)?.as_bytes())?,
        None => {}
    }
    Ok(output::print_text(&shown())?)
}

fn refused(error: Refused) -> Failure {
    match error {
        // Whatever else is wrong with its scenario is no option's.
        Refused::Plan(error) => at_options(&error, |field| field.starts_with("link.circuit.queue").then_some("--aqm")),
        Refused::Traffic(_) | Refused::Queue(_) => Failure::Input(error.to_string()),
        Refused::Run(_) | Refused::Stopped => Failure::Run(error.to_string()),
    }
}

fn mix((option, name): (&'static str, Option<&str>)) -> Result<&'static Mix, Failure> {
    let name = name.unwrap_or(EVENING);
    let suits = |mix: &&Mix| mix.pace == Pace::Sessions;
    Mix::named(name).filter(suits).ok_or_else(|| {
        let all: Vec<&str> = goodqueue_lab::scenario::mix::MIXES.iter().filter(suits).map(|mix| mix.name).collect();
        Failure::Input(format!("{option}: `{name}` is no mix of people who come and go: allowed {}", all.join(", ")))
    })
}

/// The content of the column sqm, in words.
fn column(best: &[String], has_fast: bool) -> String {
    let is_good = |kind: &str| best.iter().any(|queue| queue == kind);
    let said = match (is_good("cake"), is_good("fq-codel"), has_fast) {
        (false, ..) => "Write fq_codel into the column sqm of ShapedDevices.csv, or make it the default of LibreQoS.",
        (true, _, false) => "The column sqm of ShapedDevices.csv may stay empty: LibreQoS gives each circuit cake.",
        (true, true, true) => {
            "The column sqm of ShapedDevices.csv may stay empty: LibreQoS gives each circuit cake, and fq_codel to rates of \
             1 Gbit/s and more."
        }
        (true, false, true) => {
            "The column sqm of ShapedDevices.csv may stay empty where LibreQoS gives cake; it gives fq_codel to rates of \
             1 Gbit/s and more: write cake there."
        }
    };
    format!(" {said}")
}

/// A share in percent, with as many digits as it deserves.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 9.95 { format!("{percent:.1}") } else { format!("{percent:.0}") }
}

/// The columns with the shares in which activities are poor.
fn shares(rows: &[&Poor]) -> Vec<Column> {
    let heads = rows.first().map(|row| row.activities.as_slice()).unwrap_or_default();
    let column = |(head, _): &(&str, Share)| {
        let cell = |row: &&Poor| {
            let share = row.activities.iter().find(|(activity, _)| activity == head).map(|(_, share)| share);
            share.map_or("–".to_owned(), |share| {
                let [mean, low, high] = [share.share, share.interval.0, share.interval.1].map(percent);
                format!("{mean} ({low}–{high})")
            })
        };
        Column { head: format!("{head}s poor"), unit: "%".to_owned(), cells: rows.iter().map(cell).collect(), rank: 1 }
    };
    heads.iter().map(column).collect()
}

/// The tables and the sentences.
fn shown(answer: &Answer, remark: Option<String>, seconds: f64) -> Text {
    let width = output::width();
    let mut text = Text::default();
    let mut titled = |title: &str, rows: &[Poor]| {
        if rows.is_empty() {
            return;
        }
        let _ = writeln!(text.plain, "{title}");
        let name = |row: &Poor| row.of.as_ref().map_or_else(|| row.queue.clone(), |of| format!("{of}, {}", row.queue));
        let names = Column::names(rows.iter().map(name).collect());
        let mut columns = shares(&rows.iter().collect::<Vec<_>>());
        let simulated = rows.iter().map(|row| row.simulated.to_string()).collect();
        columns.push(Column { head: "simulated".to_owned(), unit: "circuits".to_owned(), cells: simulated, rank: 2 });
        table::write(&mut text, &names, &columns, width, &|_| false);
        text.plain.push('\n');
    };
    titled("All circuits and hours, by the share of busy households where an activity is poor", &answer.queues);
    titled("By plan", &answer.plans);
    titled("By site, in the evening", &answer.sites);
    if !answer.full.is_empty() {
        let _ =
            writeln!(text.plain, "Sites that are full at times in the evening, first those of which the largest part is wanted");
        for site in &answer.full {
            let (low, high) = (site.full_interval.0 * 100.0, site.full_interval.1 * 100.0);
            let interval = if high - low < 1.0 { String::new() } else { format!(" ({low:.0}–{high:.0})") };
            let _ = writeln!(
                text.plain,
                "  {}: {} of {} Mbit/s are wanted {} on average; full in {:.0} %{interval} of the time",
                site.name,
                table::short(site.wanted_bit_s / 1e6),
                table::short(site.capacity_bit_s / 1e6),
                site.direction,
                site.full * 100.0
            );
        }
        if answer.full_sites > answer.full.len() {
            let _ = writeln!(text.plain, "  and {} more", answer.full_sites - answer.full.len());
        }
        text.plain.push('\n');
    }
    let loads: Vec<String> = answer
        .day
        .iter()
        .map(|part| format!("{} in the {} ({} hours)", table::short(part.mean_bit_s / 1e6), part.name, part.hours))
        .collect();
    let mut remarks = vec![format!(
        "{} with a mean download of {} Mbit/s. {} busy ones are simulated in packets under each queue, the others flow as \
         fluid. {seconds:.1} s.",
        count(answer.circuits, "circuit"),
        loads.join(", "),
        answer.simulated
    )];
    remarks.extend(remark);
    if answer.is_short {
        remarks
            .push("With some plans all of the mix at once makes less traffic than --busy-hour says: they have that.".to_owned());
    }
    if answer.merged_plans > 0 {
        remarks.push(format!("{} circuits with rare plans count as having a commoner one near theirs.", answer.merged_plans));
    }
    for remark in remarks {
        let _ = writeln!(text.plain, "{}", table::wrapped(&remark, width));
    }
    let _ = writeln!(text.plain, "\n{}", table::wrapped(&answer.text, width));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_as_many_digits_as_they_deserve() {
        assert_eq!([0.0, 0.00873, 0.0414, 0.1747, 1.0].map(percent), ["0", "0.9", "4.1", "17", "100"]);
    }

    #[test]
    fn the_column_says_where_libreqos_gives_another_queue() {
        let of = |best: &[&str], has_fast| column(&best.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>(), has_fast);
        assert!(of(&["fq-codel"], true).starts_with(" Write fq_codel"));
        assert!(of(&["cake", "fq-codel"], false).ends_with("gives each circuit cake."));
        assert!(of(&["cake", "fq-codel"], true).ends_with("fq_codel to rates of 1 Gbit/s and more."));
        assert!(of(&["cake"], true).ends_with("write cake there."));
    }
}
