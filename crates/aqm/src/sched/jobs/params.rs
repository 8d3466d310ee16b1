//! The promises to each class, and the parameters of kind `jobs`.

use crate::spec::{Family, Kind, KindSpec, LinkFacts, Param, ParamError, ParamFault, ParamValues, TypedParam};
use goodqueue_base::units::{Class, Duration, Rate};
use goodqueue_base::words;

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

words! {
    /// The packets that leave a class that must drop.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DropEnd {
        /// The newest.
        Tail = "tail",
        /// The oldest.
        Head = "head",
    }
}

/// Packets of one burst may be this far apart.
const MIN_RTT: Duration = Duration::ms(1);

/// The projection that marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionParams {
    /// Flows that are followed.
    pub flows: usize,
    /// Weight of the old estimate of a window.
    pub alpha: f64,
    /// Backlog that must not be exceeded, as a share of the limit.
    pub b_lim: f64,
    /// Time span that the projection covers; `None`: the round-trip time of the packet's flow.
    pub horizon: Option<Duration>,
    /// Round-trip time of a flow until its own is measured.
    pub rtt: Duration,
    /// Time below which nothing is taken for a round trip.
    pub shortest: Duration,
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

/// The parameters of one class's promise.
struct ClassParams {
    delay_share: TypedParam<Option<f64>>,
    loss_share: TypedParam<Option<f64>>,
    delay_bound: TypedParam<Option<Duration>>,
    loss_bound: TypedParam<Option<f64>>,
    rate: TypedParam<Option<Rate>>,
}

impl ClassParams {
    const COUNT: usize = 5;

    const fn list(&self) -> [&Param; Self::COUNT] {
        [&self.delay_share.param, &self.loss_share.param, &self.delay_bound.param, &self.loss_bound.param, &self.rate.param]
    }
}

const fn promised<T: Copy>(param: TypedParam<T>, range: (f64, f64), doc: &'static str) -> TypedParam<T> {
    param.within(range.0, range.1).about(doc).from_source("Liebeherr and Christin 2001")
}

macro_rules! classes {
    ($($class:literal)+) => {
        [$(ClassParams {
            delay_share: promised(
                TypedParam::auto(concat!("delay_share_", $class), "not promised"),
                (1e-6, 1e6),
                "delay in relation to that of other classes",
            ),
            loss_share: promised(
                TypedParam::auto(concat!("loss_share_", $class), "not promised"),
                (1e-6, 1e6),
                "loss ratio in relation to that of other classes",
            ),
            delay_bound: promised(
                TypedParam::auto(concat!("delay_bound_", $class), "not promised"),
                (1e-6, 100.0),
                "longest delay",
            ),
            loss_bound: promised(
                TypedParam::auto_ratio(concat!("loss_bound_", $class), "not promised"),
                (0.0, 1.0),
                "largest loss ratio in a busy period",
            ),
            rate: promised(
                TypedParam::auto(concat!("rate_", $class), "not promised"),
                (1.0, 1e13),
                "least rate, framing included",
            ),
        }),+]
    };
}

/// The parameters of each class. Not a constant, of which a copy would go on the stack.
static OF_CLASS: [ClassParams; MAX] = classes![0 1 2 3 4 5 6 7];

impl JobsParams {
    /// The settings of kind `jobs`.
    ///
    /// # Errors
    /// When a class is promised something that does not exist, the link's rate is unknown, or the
    /// projection is off and has parameters.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let classes = CLASSES.read(given) as usize;
        let missing = OF_CLASS[classes..].iter().flat_map(|class| class.list());
        if let Some(param) = missing.map(|param| param.name).find(|name| given.is_given(name)) {
            return Err(ParamError::new(param, ParamFault::NoSuchClass(classes as u32)));
        }
        link.needed_rate("jobs")?;
        let promise = |class: &ClassParams| Promise {
            delay_share: class.delay_share.read(given),
            loss_share: class.loss_share.read(given),
            delay_bound: class.delay_bound.read(given).map(Duration::as_secs_f64),
            loss_bound: class.loss_bound.read(given),
            rate: class.rate.read(given).map_or(0.0, |rate| rate.as_bytes_s_f64()),
        };
        let projects = PROJECTION.read(given);
        if !projects {
            let of_projection = [FLOWS.name(), ALPHA.name(), B_LIM.name(), RTT.name(), HORIZON.name()];
            given.refuse_unused(&of_projection, PROJECTION.name(), false)?;
        }
        let projection = ProjectionParams {
            flows: FLOWS.read(given) as usize,
            alpha: ALPHA.read(given),
            b_lim: B_LIM.read(given),
            horizon: HORIZON.read(given),
            rtt: RTT.read(given),
            shortest: link.delay.max(MIN_RTT),
        };
        Ok(Self {
            promises: OF_CLASS[..classes].iter().rev().map(promise).collect(),
            separate: BUFFERS.read(given) == "separate",
            drop: DROP.read(given),
            sampling: SAMPLING.read(given),
            shares_pain: DELAY_DROPS.read(given) == "shared",
            projection: projects.then_some(projection),
        })
    }
}

const NS2: &str = "ns-2.35";

const KOO: &str = "Koo, Ahn and Chung §4.1";

const CLASSES: TypedParam<u32> = TypedParam::count("classes", 4)
    .within(1.0, MAX as f64)
    .about("how many; packets of higher classes belong to the highest")
    .from_source(NS2);
const BUFFERS: TypedParam<&str> = TypedParam::word("buffers", &["shared", "separate"], "shared")
    .about("do classes share the limit, or have equal parts of it")
    .from_source(NS2);
const DROP: TypedParam<DropEnd> = TypedParam::choice("drop", "tail")
    .about("which packet leaves a class that must drop: its newest or its oldest")
    .from_source(NS2);
const SAMPLING: TypedParam<u32> =
    TypedParam::count("sampling", 1).within(1.0, 1e6).about("packets between adjustments of relative delays").from_source(NS2);
const DELAY_DROPS: TypedParam<&str> = TypedParam::word("delay_drops", &["own", "shared"], "own")
    .about("who drops for a delay bound: its class, or all by their loss shares")
    .from_source(NS2);
const PROJECTION: TypedParam<bool> = TypedParam::off("projection")
    .about("mark flows before the queue that their windows will make exceeds b_lim")
    .from_source("Koo, Ahn and Chung §2.6; our reconstruction");
const FLOWS: TypedParam<u32> = TypedParam::count("flows", 4096)
    .within(1.0, 65_536.0)
    .about("flows that the projection follows; another takes the place of the one silent longest")
    .from_source("our choice");
const ALPHA: TypedParam<f64> =
    TypedParam::ratio("alpha", 0.9).within(0.0, 0.999).about("weight of the old estimate of a window").from_source(KOO);
const B_LIM: TypedParam<f64> = TypedParam::ratio("b_lim", 1.0)
    .within(0.01, 1.0)
    .about("backlog that must not be exceeded, as a share of the limit")
    .from_source("our choice");
const RTT: TypedParam<Duration> = TypedParam::duration("rtt", Duration::ms(100))
    .within(1e-4, 10.0)
    .about("round-trip time of a flow until its own is measured")
    .from_source("our choice");
const HORIZON: TypedParam<Option<Duration>> = TypedParam::auto("horizon", "the round-trip time of the packet's flow")
    .within(1e-4, 10.0)
    .about("how far the projection looks ahead")
    .from_source("our reconstruction");

const OTHERS: [Param; 11] = [
    CLASSES.param,
    BUFFERS.param,
    DROP.param,
    SAMPLING.param,
    DELAY_DROPS.param,
    PROJECTION.param,
    FLOWS.param,
    ALPHA.param,
    B_LIM.param,
    RTT.param,
    HORIZON.param,
];

/// The others, and those of each class.
const PARAMS: [Param; OTHERS.len() + ClassParams::COUNT * MAX] = {
    let mut all = [OTHERS[0]; OTHERS.len() + ClassParams::COUNT * MAX];
    let mut place = 0;
    while place < all.len() {
        all[place] = match place.checked_sub(OTHERS.len()) {
            None => OTHERS[place],
            Some(own) => *OF_CLASS[own / ClassParams::COUNT].list()[own % ClassParams::COUNT],
        };
        place += 1;
    }
    all
};

pub(super) const KIND: KindSpec = KindSpec::new(
    Kind {
        kind: "jobs",
        aliases: &[],
        title: "JoBS",
        summary: "Classes with promised delays, losses and rates, in relation to each other or absolute (JoBS)",
        params: &PARAMS,
        source: "Liebeherr and Christin 2001; ns-2.35",
    },
    Family::Classes,
    "age of each class's head, backlogs and losses of classes; on arrival",
);
