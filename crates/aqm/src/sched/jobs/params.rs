//! The promises to each class, and the parameters of kind `jobs`.

use crate::spec::{
    Default as ParamDefault, Family, Kind, KindSpec, LinkFacts, Marking, Param, ParamError, ParamValues, Unit, Value,
};
use goodqueue_base::units::{Class, Duration};

/// Most classes.
pub(super) const MAX: usize = Class::COUNT;

/// The promises to a class, each optional.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Promise {
    /// Weight of the class's delay relative to that of other classes that have one.
    pub delay_share: Option<f64>,
    /// Weight of the class's loss ratio relative to that of other classes that have one.
    pub loss_share: Option<f64>,
    /// Longest delay in seconds.
    pub delay_bound: Option<f64>,
    /// Largest loss ratio.
    pub loss_bound: Option<f64>,
    /// Least rate in wire bytes per second.
    pub rate: f64,
}

impl Promise {
    /// True if the promise requires a rate.
    pub(super) fn is_absolute(&self) -> bool {
        self.delay_bound.is_some() || self.rate > 0.0
    }
}

/// The packets that leave a class that must drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropEnd {
    /// The newest.
    Tail,
    /// The oldest.
    Head,
}

/// The projection that marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionParams {
    /// Flows that are followed one by one.
    pub flows: usize,
    /// Weight of the old estimate of a window.
    pub alpha: f64,
    /// Backlog that must not be exceeded, as a share of the limit.
    pub b_lim: f64,
    /// Time span that the projection covers.
    pub horizon: Duration,
    /// Round-trip time of flows.
    pub rtt: Duration,
}

/// JoBS's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct JobsParams {
    /// Promises, the most urgent class first.
    pub promises: alloc::vec::Vec<Promise>,
    /// True if each class has its own part of the buffer.
    pub separate: bool,
    /// Packets that leave a class that must drop.
    pub drop: DropEnd,
    /// Packets between relative-delay steps.
    pub sampling: u32,
    /// True if packets that would miss a delay bound are dropped from all classes, by their loss
    /// shares.
    pub shares_pain: bool,
    /// Marks by projection.
    pub projection: Option<ProjectionParams>,
}

macro_rules! names {
    ($prefix:literal) => {
        [
            concat!($prefix, "_0"),
            concat!($prefix, "_1"),
            concat!($prefix, "_2"),
            concat!($prefix, "_3"),
            concat!($prefix, "_4"),
            concat!($prefix, "_5"),
            concat!($prefix, "_6"),
            concat!($prefix, "_7"),
        ]
    };
}

const DELAY_SHARE: [&str; MAX] = names!("delay_share");
const LOSS_SHARE: [&str; MAX] = names!("loss_share");
const DELAY_BOUND: [&str; MAX] = names!("delay_bound");
const LOSS_BOUND: [&str; MAX] = names!("loss_bound");
const RATE: [&str; MAX] = names!("rate");

impl JobsParams {
    /// The settings of kind `jobs`.
    ///
    /// # Errors
    /// When a class is promised something that does not exist, the link's rate is unknown, or the
    /// projection is off and has parameters.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let classes = given.number("classes").map_or(4, |n| n as usize);
        // By reference, and not a copy of all names on the stack.
        for names in [&DELAY_SHARE, &LOSS_SHARE, &DELAY_BOUND, &LOSS_BOUND, &RATE] {
            if let Some(param) = names[classes..].iter().find(|name| given.is_given(name)) {
                let message = alloc::format!("no such class: there are {classes}, numbered from 0");
                return Err(ParamError { param, message });
            }
        }
        if link.rate.is_none() {
            return Err(ParamError { param: "kind", message: "jobs needs a link of known rate".into() });
        }
        let promise = |class: usize| Promise {
            delay_share: given.number(DELAY_SHARE[class]),
            loss_share: given.number(LOSS_SHARE[class]),
            delay_bound: given.duration(DELAY_BOUND[class]).map(Duration::as_secs_f64),
            loss_bound: given.number(LOSS_BOUND[class]),
            rate: given.rate(RATE[class]).map_or(0.0, |rate| rate.as_bytes_s_f64()),
        };
        let projects = given.switch("projection") == Some(true);
        if let Some(param) =
            ["flows", "alpha", "b_lim", "rtt", "horizon"].into_iter().find(|name| !projects && given.is_given(name))
        {
            return Err(ParamError { param, message: "has no use without projection = true".into() });
        }
        let rtt = given.duration("rtt").unwrap_or(Duration::ms(100));
        let projection = ProjectionParams {
            flows: given.number("flows").map_or(10, |n| n as usize),
            alpha: given.number("alpha").unwrap_or(0.9),
            b_lim: given.number("b_lim").unwrap_or(1.0),
            horizon: given.duration("horizon").unwrap_or(rtt),
            rtt,
        };
        Ok(Self {
            promises: (0..classes).rev().map(promise).collect(),
            separate: given.choice("buffers") == Some("separate"),
            drop: if given.choice("drop") == Some("head") { DropEnd::Head } else { DropEnd::Tail },
            sampling: given.number("sampling").map_or(1, |n| n as u32),
            shares_pain: given.choice("delay_drops") == Some("shared"),
            projection: projects.then_some(projection),
        })
    }
}

const NS2: &str = "ns-2.35";

const fn of_class(name: &'static str, unit: Unit, range: (f64, f64), doc: &'static str) -> Param {
    Param::auto(name, unit, "not promised").within(range.0, range.1).about(doc).from_source("Liebeherr and Christin 2001")
}

const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Param {
    Param::choice(name, words, default).about(doc).from_source(source)
}

const fn number(
    name: &'static str,
    unit: Unit,
    default: f64,
    range: (f64, f64),
    doc: &'static str,
    source: &'static str,
) -> Param {
    Param::new(name, unit, ParamDefault::Value(Value::Number(default))).within(range.0, range.1).about(doc).from_source(source)
}

const OTHERS: [Param; 11] = [
    number("classes", Unit::Count, 4.0, (1.0, MAX as f64), "how many; packets of higher classes belong to the highest", NS2),
    choice("buffers", &["shared", "separate"], "shared", "do classes share the limit, or have equal parts of it", NS2),
    choice("drop", &["tail", "head"], "tail", "which packet leaves a class that must drop: its newest or its oldest", NS2),
    number("sampling", Unit::Count, 1.0, (1.0, 1e6), "packets between adjustments of relative delays", NS2),
    choice("delay_drops", &["own", "shared"], "own", "who drops for a delay bound: its class, or all by their loss shares", NS2),
    Param::off("projection")
        .about("mark flows before the queue that their windows will make exceeds b_lim")
        .from_source("Koo, Ahn and Chung §2.6; our reconstruction"),
    number("flows", Unit::Count, 10.0, (1.0, 64.0), "flows that the projection follows one by one", "Koo, Ahn and Chung §4.1"),
    number("alpha", Unit::Ratio, 0.9, (0.0, 0.999), "weight of the old estimate of a window", "Koo, Ahn and Chung §4.1"),
    number("b_lim", Unit::Ratio, 1.0, (0.01, 1.0), "backlog that must not be exceeded, as a share of the limit", "our choice"),
    Param::duration("rtt", Duration::ms(100))
        .within(1e-4, 10.0)
        .about("round-trip time that flows are taken to have")
        .from_source("our choice"),
    Param::auto("horizon", Unit::Duration, "rtt")
        .within(1e-4, 10.0)
        .about("how far the projection looks ahead")
        .from_source("our reconstruction"),
];

/// The others, and five for each class.
const PARAMS: [Param; OTHERS.len() + 5 * MAX] = {
    let mut all = [OTHERS[0]; OTHERS.len() + 5 * MAX];
    let mut index = 0;
    while index < OTHERS.len() {
        all[index] = OTHERS[index];
        index += 1;
    }
    let mut class = 0;
    while class < MAX {
        let own = index + 5 * class;
        let share = (1e-6, 1e6);
        all[own] = of_class(DELAY_SHARE[class], Unit::Number, share, "delay in relation to that of other classes");
        all[own + 1] = of_class(LOSS_SHARE[class], Unit::Number, share, "loss ratio in relation to that of other classes");
        all[own + 2] = of_class(DELAY_BOUND[class], Unit::Duration, (1e-6, 100.0), "longest delay");
        all[own + 3] = of_class(LOSS_BOUND[class], Unit::Ratio, (0.0, 1.0), "largest loss ratio in a busy period");
        all[own + 4] = of_class(RATE[class], Unit::Rate, (1.0, 1e13), "least rate, framing included");
        class += 1;
    }
    all
};

pub(super) const KIND: KindSpec = KindSpec {
    base: Kind {
        kind: "jobs",
        aliases: &[],
        title: "JoBS",
        summary: "Classes with promised delays, losses and rates, in relation to each other or absolute (JoBS)",
        params: &PARAMS,
        source: "Liebeherr and Christin 2001; ns-2.35",
    },
    family: Family::Classes,
    signal: "age of each class's head, backlogs and losses of classes; on arrival",
    marks: Marking::Possible,
    uses_weights: false,
};
