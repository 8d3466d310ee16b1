//! The experience of the people on a line, by activity: the figures of a call, a game, a page, a
//! video, a transfer, and which of them decide between queues.
//!
//! A figure here is one of a group ([`GROUP_METRICS`]) or of a link under a name of its own.
//! [`Activity::metrics`] is the only list: `summary.json`, tables, documents and the ranking of
//! queues are made from it.

use crate::results::grade::{Bounds, Grade};
use crate::results::metrics::{Better, Description, GROUP_METRICS, Metric, Quantity, RunFigures};
use crate::results::metrics::{Printed, PrintedUnit};
use crate::scenario::plan::{Direction, Point, Traffic};
use goodqueue_base::spec::contains;
use goodqueue_base::units::{Duration, Ecn};
use goodqueue_sim::{Content, SessionSpec, SourceSpec};
use goodqueue_tcp::Data;
use serde::{Deserialize, Serialize};

/// The activity of a group of flows, as the people who use it see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Activity {
    /// A conversation (`voip`).
    Call,
    /// A game (`gaming`).
    Game,
    /// Probes that are answered at once (`echo`).
    Ping,
    /// Web pages (`page`).
    Page,
    /// Adaptive video (`video`).
    Video,
    /// Data that ends: `web`, `short`, `flow-list`, `bulk-with-pauses`, and `bulk` with a size.
    Transfer,
    /// Data without end (`bulk`).
    Bulk,
    /// Datagrams that do not respond (`cbr`, `poisson`, `on-off`, `video-frames`).
    Stream,
}

/// The difference that counts when two queues are compared; smaller ones are not noticed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// This amount, in the unit of the figure.
    Absolute(f64),
    /// This part of the better value.
    Relative(f64),
    /// This part of the shorter time, but at least `least_s`, or a quarter of the shorter time
    /// where that is less.
    Time {
        /// Part of the shorter time.
        part: f64,
        /// Differences below this are not noticed, s.
        least_s: f64,
    },
}

impl Margin {
    /// The margin around this value.
    #[must_use]
    pub fn around(self, value: f64) -> f64 {
        match self {
            Self::Absolute(margin) => margin,
            Self::Relative(part) => part * value.abs(),
            Self::Time { part, least_s } => (part * value.abs()).max(least_s.min(value.abs() / 4.0)),
        }
    }
}

/// The value from which on a figure is as good as people can tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Enough {
    /// The bound of what is graded as good.
    Good(f64),
    /// This much above the base round-trip time, s.
    AboveBase(f64),
}

/// The source of a figure.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// One of [`GROUP_METRICS`], by its place.
    Group(usize),
    /// The group's share of what the first reported link on its way sent.
    ShareOfLine,
}

/// A figure of an activity.
#[derive(Clone, Copy, Debug)]
pub struct ExperienceMetric {
    /// The description of the figure.
    pub about: Description,
    /// The difference that counts, where the figure decides between queues.
    pub decides: Option<Margin>,
    /// The bounds of good, fair and poor values.
    pub grades: Option<Bounds>,
    /// Better values than this are not told apart.
    pub enough: Option<Enough>,
    /// Whether the measured part is the least value where sessions are under way and none ended.
    is_until_end: bool,
    source: Source,
}

/// The place of a group's figure. Fails to compile where there is none of this name.
const fn place(name: &str) -> usize {
    let mut place = 0;
    while place < GROUP_METRICS.len() {
        if contains(&[GROUP_METRICS[place].about.name], name) {
            return place;
        }
        place += 1;
    }
    panic!("no figure of a group has this name")
}

const MS: (&str, f64) = ("ms", 1e3);
const SECONDS: (&str, f64) = ("s", 1.0);
const PERCENT: (&str, f64) = ("%", 100.0);
const MBIT: (&str, f64) = ("Mbit/s", 1e-6);

impl ExperienceMetric {
    /// The figure of a group of this name, in the column `head` of tables.
    const fn of(name: &'static str, head: &'static str, part: &'static str) -> Self {
        let place = place(name);
        Self {
            about: GROUP_METRICS[place].about,
            decides: None,
            grades: None,
            enough: None,
            is_until_end: false,
            source: Source::Group(place),
        }
        .printed(head, part)
    }

    const fn printed(self, head: &'static str, part: &'static str) -> Self {
        Self { about: Description { printed: Some(Printed::new(head, part)), ..self.about }, ..self }
    }

    const fn unit(self, (unit, scale): (&'static str, f64)) -> Self {
        let Some(printed) = self.about.printed else { return self };
        let printed = Printed { unit: PrintedUnit::Fixed(unit, scale), ..printed };
        Self { about: Description { printed: Some(printed), ..self.about }, ..self }
    }

    const fn named(self, name: &'static str) -> Self {
        Self { about: Description { name, ..self.about }, ..self }
    }

    /// Leaves out the column in tables.
    const fn hidden(self) -> Self {
        Self { about: Description { printed: None, ..self.about }, ..self }
    }

    /// Takes all values that are good as alike.
    const fn good_is_enough(self) -> Self {
        let Some(Bounds { bounds, .. }) = self.grades else { return self };
        Self { enough: Some(Enough::Good(bounds[0])), ..self }
    }

    const fn enough_above_base(self, seconds: f64) -> Self {
        Self { enough: Some(Enough::AboveBase(seconds)), ..self }
    }

    const fn until_end(self) -> Self {
        Self { is_until_end: true, ..self }
    }

    const fn deciding(self, margin: Margin) -> Self {
        Self { decides: Some(margin), ..self }
    }

    const fn graded(self, bounds: [f64; 3], source: &'static str) -> Self {
        Self { grades: Some(Bounds { bounds, source }), ..self }
    }

    /// The figure of a group that this is; `None` where it is not one.
    #[must_use]
    pub fn of_group(&self) -> Option<&'static Description> {
        match self.source {
            Source::Group(place) => Some(&GROUP_METRICS[place].about),
            Source::ShareOfLine => None,
        }
    }

    /// The value for the group of this number in one run, whose measured part is so long.
    fn value(&self, run: &RunFigures, number: usize, line: Option<usize>, measured: Duration) -> Option<f64> {
        let group = &run.groups[number];
        let is_under_way = || self.is_until_end && group.value("transfers.unfinished").is_some_and(|open| open > 0.0);
        match self.source {
            Source::Group(place) => group.values[place].or_else(|| is_under_way().then(|| measured.as_secs_f64())),
            Source::ShareOfLine => *run.links[line?].group_share.get(number)?,
        }
    }
}

/// One percentage point.
const POINT: Margin = Margin::Absolute(0.01);
const TENTH: Margin = Margin::Relative(0.1);
/// A tenth, and at least the added latency that speed tests call excellent (5 ms).
const TENTH_OF_DELAY: Margin = Margin::Time { part: 0.1, least_s: 0.005 };
/// A tenth, and at least the time in which a response seems immediate (0.1 s, Nielsen 1993).
const TENTH_OF_WAIT: Margin = Margin::Time { part: 0.1, least_s: 0.1 };

/// Latency that rises by less under load is well under control (bufferbloat.net: 20 to 30 ms), s.
const UNDER_CONTROL: f64 = 0.03;

const LOST: ExperienceMetric = ExperienceMetric::of("loss_ratio", "lost", "").unit(PERCENT);
const LATE: ExperienceMetric = ExperienceMetric::of("above_50_ms_ratio", "above", "50 ms").unit(PERCENT);

const fn one_way(name: &'static str, part: &'static str) -> ExperienceMetric {
    ExperienceMetric::of(name, "delay", part).unit(MS)
}

const fn round_trip(name: &'static str, part: &'static str) -> ExperienceMetric {
    ExperienceMetric::of(name, "RTT", part).unit(MS)
}

const GOODPUT: ExperienceMetric = ExperienceMetric::of("goodput_bit_s", "goodput", "").unit(MBIT);
const DONE_P50: ExperienceMetric = ExperienceMetric::of("completion_s.p50", "done in", "p50").unit(SECONDS).until_end();
const DONE_P95: ExperienceMetric = ExperienceMetric::of("completion_s.p95", "done in", "p95").unit(SECONDS).until_end();
const SHARE_OF_LINE: ExperienceMetric = ExperienceMetric {
    about: Metric::new(
        "share_of_line",
        Quantity::Ratio,
        "Share of line",
        "the group's share of all bits that the first reported link on its way sent, framing and retransmissions included",
        (),
    )
    .about,
    decides: None,
    grades: None,
    enough: None,
    is_until_end: false,
    source: Source::ShareOfLine,
}
.printed("share", "")
.unit(PERCENT);

/// Completion times by size, of all that transfers data.
const fn by_size(name: &'static str, size: &'static str) -> ExperienceMetric {
    ExperienceMetric::of(name, size, "").hidden()
}

const CALL: &[ExperienceMetric] = &[
    ExperienceMetric::of("voip.bad_ratio", "bad", "")
        .named("bad_ratio")
        .unit(PERCENT)
        .deciding(POINT)
        .graded([0.02, 0.1, 0.5], "our choice")
        .good_is_enough(),
    // A tenth is the last digit that opinion scores are given with (ITU-T P.800); our choice as
    // what counts.
    ExperienceMetric::of("voip.mos", "MOS", "")
        .named("mos")
        .deciding(Margin::Absolute(0.1))
        .graded([4.02, 3.60, 3.10], "R = 80, 70 and 60 of ITU-T G.107, Annex B")
        .good_is_enough(),
    ExperienceMetric::of("voip.mos_worst", "worst", "window").named("mos_worst").hidden(),
    ExperienceMetric::of("voip.mouth_to_ear_s.mean", "mouth", "to ear").named("mouth_to_ear_s.mean").unit(MS),
    ExperienceMetric::of("voip.unheard_ratio", "unheard", "").named("unheard_ratio").hidden(),
    ExperienceMetric::of("voip.mos_of_codec", "MOS", "codec").named("mos_of_codec").hidden(),
    one_way("one_way_delay_s.p50", "p50"),
    one_way("one_way_delay_s.p95", "p95"),
    one_way("one_way_delay_s.p99", "p99"),
    LOST,
];
const GAME: &[ExperienceMetric] = &[
    LOST.deciding(POINT).graded([0.01, 0.03, 0.1], "our choice"),
    one_way("one_way_delay_s.p50", "p50"),
    one_way("one_way_delay_s.p95", "p95")
        .deciding(TENTH_OF_DELAY)
        .graded([0.03, 0.06, 0.2], "half of round trips of 60, 120 and 400 ms; our choice"),
    one_way("one_way_delay_s.p99", "p99"),
    LATE,
];
const PING: &[ExperienceMetric] = &[
    ExperienceMetric::of("probes.late_ratio", "late", "")
        .named("late_ratio")
        .unit(PERCENT)
        .deciding(POINT)
        .graded([0.01, 0.05, 0.5], "our choice"),
    LOST,
    round_trip("rtt_s.p50", "p50"),
    round_trip("rtt_s.p95", "p95").deciding(TENTH_OF_DELAY).enough_above_base(UNDER_CONTROL),
    round_trip("rtt_s.p99", "p99"),
    ExperienceMetric::of("probes.rpm", "RPM", "").named("rpm").hidden(),
    LATE,
];
const PAGE: &[ExperienceMetric] = &[
    ExperienceMetric::of("page_load_s.p50", "loaded in", "p50").unit(SECONDS).until_end(),
    ExperienceMetric::of("page_load_s.p95", "loaded in", "p95")
        .unit(SECONDS)
        .until_end()
        .deciding(TENTH_OF_WAIT)
        .graded([2.5, 4.0, 15.0], "largest contentful paint: good and needs improvement (Web Vitals); 15 s: our choice"),
];
const VIDEO: &[ExperienceMetric] = &[
    ExperienceMetric::of("video.rebuffer_ratio", "stalled", "")
        .named("stalled_ratio")
        .unit(PERCENT)
        .deciding(POINT)
        .graded([0.005, 0.02, 0.1], "our choice"),
    ExperienceMetric::of("video.bitrate_bit_s", "bit rate", "").named("bitrate_bit_s").unit(MBIT).deciding(TENTH),
    ExperienceMetric::of("video.stalled_s", "stalled", "").named("stalled_s").unit(SECONDS),
    ExperienceMetric::of("video.stalls", "stalls", "").named("stalls"),
    ExperienceMetric::of("video.switches", "switches", "").named("switches"),
];
const TRANSFER: &[ExperienceMetric] = &[
    DONE_P50,
    DONE_P95.deciding(TENTH),
    by_size("completion_by_size.under_10_kB.p50", "under 10 kB"),
    by_size("completion_by_size.under_10_kB.p95", "under 10 kB"),
    by_size("completion_by_size.from_10_kB.p50", "10 to 100 kB"),
    by_size("completion_by_size.from_10_kB.p95", "10 to 100 kB"),
    by_size("completion_by_size.from_100_kB.p50", "100 kB to 1 MB"),
    by_size("completion_by_size.from_100_kB.p95", "100 kB to 1 MB"),
    by_size("completion_by_size.from_1_MB.p50", "1 to 10 MB"),
    by_size("completion_by_size.from_1_MB.p95", "1 to 10 MB"),
    by_size("completion_by_size.from_10_MB.p50", "10 MB and more"),
    by_size("completion_by_size.from_10_MB.p95", "10 MB and more"),
    GOODPUT,
    SHARE_OF_LINE,
];
const BULK: &[ExperienceMetric] = &[GOODPUT, SHARE_OF_LINE, ExperienceMetric::of("goodput_jain", "Jain", "").named("jain")];
const STREAM: &[ExperienceMetric] = &[
    GOODPUT,
    one_way("one_way_delay_s.p50", "p50"),
    one_way("one_way_delay_s.p95", "p95"),
    one_way("one_way_delay_s.p99", "p99"),
    LOST,
];

impl Activity {
    /// All of them; those that decide between queues first, in the order in which they do.
    pub const ALL: [Self; 8] =
        [Self::Call, Self::Game, Self::Ping, Self::Page, Self::Video, Self::Transfer, Self::Bulk, Self::Stream];

    /// The activity of a group.
    #[must_use]
    pub fn of(group: &Traffic) -> Self {
        match &group.main.source {
            SourceSpec::Call { content: Content::Voice(_), .. } => Self::Call,
            SourceSpec::Call { content: Content::Game, .. } => Self::Game,
            SourceSpec::Echo { .. } => Self::Ping,
            SourceSpec::Session { model, .. } => match model {
                SessionSpec::Page(_) => Self::Page,
                SessionSpec::Video(_) => Self::Video,
                SessionSpec::BulkWithPauses { .. }
                | SessionSpec::Short { .. }
                | SessionSpec::List { .. }
                | SessionSpec::Web(_) => Self::Transfer,
            },
            SourceSpec::Tcp { sender, .. } => match sender.data {
                Data::Bytes(_) => Self::Transfer,
                Data::Unlimited | Data::Messages => Self::Bulk,
            },
            SourceSpec::Cbr { .. }
            | SourceSpec::Poisson { .. }
            | SourceSpec::OnOff { .. }
            | SourceSpec::Frames { .. }
            | SourceSpec::Train { .. } => Self::Stream,
        }
    }

    /// The name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.described().0
    }

    /// The figures of the activity, in the order of the file.
    #[must_use]
    pub const fn metrics(self) -> &'static [ExperienceMetric] {
        self.described().1
    }

    const fn described(self) -> (&'static str, &'static [ExperienceMetric]) {
        match self {
            Self::Call => ("call", CALL),
            Self::Game => ("game", GAME),
            Self::Ping => ("ping", PING),
            Self::Page => ("page", PAGE),
            Self::Video => ("video", VIDEO),
            Self::Transfer => ("transfer", TRANSFER),
            Self::Bulk => ("bulk", BULK),
            Self::Stream => ("stream", STREAM),
        }
    }

    /// Whether somebody waits for it, so that it decides between queues.
    #[must_use]
    pub fn is_interactive(self) -> bool {
        self.deciding().next().is_some()
    }

    /// The figures that decide between queues, with their places among all, in the order in which
    /// they decide.
    pub fn deciding(self) -> impl Iterator<Item = (usize, &'static ExperienceMetric)> {
        self.metrics().iter().enumerate().filter(|(_, metric)| metric.decides.is_some())
    }
}

/// The experience of one group in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupExperience {
    /// The group's name.
    pub group: String,
    /// The activity of the group.
    pub activity: Activity,
    /// The direction in which its data crosses its first link.
    #[serde(with = "by_name")]
    pub heading: Direction,
    /// Whether its packets are marked for L4S: ECT(1).
    pub is_l4s: bool,
    /// Round-trip time without queueing or transmission, s.
    pub base_rtt_s: f64,
    /// Values in the order of [`Activity::metrics`]; `None` where a figure is not defined.
    pub values: Vec<Option<f64>>,
    /// Data delivered per second, each byte counted once, all flows of the group together, whatever
    /// it does.
    pub goodput_bit_s: Option<f64>,
}

/// Directions by their names.
mod by_name {
    use crate::scenario::plan::Direction;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(direction: &Direction, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(direction.name())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Direction, D::Error> {
        let name = String::deserialize(deserializer)?;
        Direction::named(&name).ok_or_else(|| D::Error::custom(format!("`{name}` is no direction: allowed down, up")))
    }
}

impl GroupExperience {
    /// Computes the experience of each group in one run of `point`, in the order of the groups. One
    /// that nobody waits for has none.
    #[must_use]
    pub fn of(point: &Point, run: &RunFigures) -> Vec<Self> {
        let measured = point.plan.duration;
        let group = |(number, figures): (usize, &crate::results::metrics::GroupFigures)| {
            let traffic = point.plan.traffic.iter().find(|traffic| traffic.name == figures.name && !traffic.is_background)?;
            let activity = Activity::of(traffic);
            let line = line_of(point, traffic, run);
            Some(Self {
                group: figures.name.clone(),
                activity,
                heading: traffic.main.path.forward.first().map_or(Direction::Down, |step| step.heading),
                is_l4s: traffic.main.source.datagrams().is_some_and(|datagrams| datagrams.ecn == Ecn::Ect1),
                base_rtt_s: point.plan.rtt_of(traffic).as_secs_f64(),
                values: activity.metrics().iter().map(|metric| metric.value(run, number, line, measured)).collect(),
                goodput_bit_s: figures.value("goodput_bit_s"),
            })
        };
        run.groups.iter().enumerate().filter_map(group).collect()
    }
}

/// The first reported link that the group's data crosses.
fn line_of(point: &Point, traffic: &Traffic, run: &RunFigures) -> Option<usize> {
    let names = traffic.main.path.forward.iter().map(|step| point.plan.links[step.link].name_of(step.heading));
    names.filter_map(|name| run.links.iter().position(|link| link.name == name)).next()
}

/// The signed amount by which `value` is better than `other`.
#[must_use]
pub fn advantage(about: &Description, value: f64, other: f64) -> f64 {
    match about.better {
        Better::Higher => value - other,
        Better::Lower | Better::Neither => other - value,
    }
}

impl Bounds {
    /// The grade of a value of a figure; distance that no queue can shorten does not count. It is
    /// the base round-trip time, half of it for delays of one direction.
    #[must_use]
    pub fn of_value(&self, about: &Description, value: f64, base_rtt_s: f64) -> Grade {
        let share = if about.name.starts_with("one_way") { 0.5 } else { 1.0 };
        let distance = share * base_rtt_s;
        let is_far = about.quantity == Quantity::Time && distance > self.bounds[0];
        let value = if is_far { value - distance } else { value };
        self.grade(|bound| advantage(about, value, bound))
    }
}

#[cfg(test)]
mod tests;
