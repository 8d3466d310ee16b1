//! The settings of the whole and of each class, from their parameters.

use super::{Htb, HtbClass, HtbFault, HtbParams, PRIORITIES};
use crate::framing;
use crate::qdisc::Packet;
use crate::queue::Limit;
use crate::sched::fair_queue::kinds::HEADER;
use crate::sched::{NESTED_BYTES, Nested, Setup};
use crate::spec::{
    Family, Kind, KindAndParams, KindSpec, LinkFacts, Param, ParamError, ParamFault, ParamValues, Size, TypedParam, Unit, Value,
};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use goodqueue_base::units::{Bytes, Duration, Packets, Rate, Rng};

/// A class as it is given.
#[derive(Clone, Debug)]
pub struct ClassAndParams {
    /// The class above, by its number; none for one at the root.
    pub parent: Option<u32>,
    /// Given parameters of [`CLASS`]; the others have their defaults.
    pub params: Vec<(&'static str, Value)>,
    /// The queue of a leaf; tail drop where none is given.
    pub of: Option<KindAndParams>,
}

const R2Q: TypedParam<u32> = TypedParam::count("r2q", 10)
    .within(1.0, 1e9)
    .about("a turn is so many times less than what a class sends in a second at its rate")
    .from_source("Linux");
const DIRECT: TypedParam<u32> =
    TypedParam::count("direct", 1000).within(0.0, 1e6).about("most packets without a class that wait").from_source("Linux");

const fn rate(name: &'static str, default: &'static str, doc: &'static str) -> TypedParam<Option<Rate>> {
    TypedParam::auto(name, default).within(8.0, 1e13).about(doc).from_source("Linux")
}

const fn bucket_size(name: &'static str, doc: &'static str) -> TypedParam<Option<Size>> {
    TypedParam::auto(name, "1600 B").within(0.0, 1e9).about(doc).from_source("tc")
}

const RATE: TypedParam<Option<Rate>> = rate("rate", "none: it must be given", "rate that the class may always use");
const CEIL: TypedParam<Option<Rate>> = rate("ceil", "rate", "rate that it may use with what its parent has left");
const BURST: TypedParam<Option<Size>> =
    bucket_size("burst", "bytes that it may send at once at its rate; a time is that of the bucket");
const CBURST: TypedParam<Option<Size>> = bucket_size("cburst", "bytes that it may send at once at its ceiling");
const PRIO: TypedParam<u32> = TypedParam::count("prio", 0)
    .within(0.0, PRIORITIES as f64 - 1.0)
    .about("order in which leaves get what others leave: the lowest number first")
    .from_source("Linux");
const QUANTUM: TypedParam<Option<Size>> = TypedParam::auto("quantum", "1/r2q s at its rate, within 1000 and 200000 B")
    .within(1.0, 1e9)
    .about("bytes of a leaf's turn among those of one priority")
    .from_source("Linux");
const LIMIT: TypedParam<Option<Size>> = TypedParam::auto("limit", "that of the whole queue")
    .within(0.0, 1e12)
    .about("most that may wait in a leaf")
    .from_source("Linux");
const DEFAULT: TypedParam<bool> =
    TypedParam::off("default").about("the leaf takes the packets that belong to no class").from_source("Linux");
const OF: Param =
    Param::auto("of", Unit::Queue, "tail-drop").about("the queue of a leaf, with its own parameters").from_source("Linux");

/// The parameters of one class.
pub const CLASS: Kind = Kind {
    kind: "class of htb",
    title: "Class",
    summary: "A class of a hierarchical token bucket",
    params: &[RATE.param, CEIL.param, BURST.param, CBURST.param, PRIO.param, QUANTUM.param, LIMIT.param, DEFAULT.param, OF],
    source: "Linux",
    ..Kind::PLAIN
};

/// The kind `htb`.
pub const KIND: KindSpec = KindSpec::new(
    Kind {
        kind: "htb",
        aliases: &[],
        title: "HTB",
        summary: "A tree of classes with rates and ceilings, which lend one another what they do not use",
        params: &[
            R2Q.param,
            DIRECT.param,
            HEADER.param,
            framing::FRAMING.param,
            framing::OVERHEAD.param,
            framing::MPU.param,
            framing::CELLS.param,
        ],
        source: "Linux sch_htb, Devera 2002",
    },
    Family::Classes,
    "bytes that left each class; that of the queue in each leaf",
)
.with_queue_bytes(NESTED_BYTES);

/// Unit of the kernel's buckets.
const TICK: u64 = 64;
/// Bytes of a bucket for which none are given.
const DEFAULT_BURST: u64 = 1600;

impl From<HtbFault> for ParamError {
    fn from(fault: HtbFault) -> Self {
        Self::new("class", ParamFault::Refused(fault.to_string()))
    }
}

/// The time of a bucket of this size, in whole ticks.
fn bucket(size: Option<Size>, rate: Rate, link: &LinkFacts) -> Duration {
    let bytes = match size {
        Some(Size::Time(time)) => return time,
        Some(size) => size.bytes(link.mtu, None).map_or(DEFAULT_BURST, Bytes::get),
        None => DEFAULT_BURST,
    };
    let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(rate.as_bit_s().max(1));
    Duration::ns(u64::try_from(nanos).unwrap_or(u64::MAX) / TICK * TICK)
}

/// The limit of a leaf; a time is what its ceiling sends in it.
fn limit(size: Size, ceil: Rate) -> Limit {
    match size {
        Size::Packets(packets) => Limit::packets((packets + 0.5) as u64),
        Size::Bytes(bytes) => Limit::bytes((bytes + 0.5) as u64),
        Size::Time(span) => Limit::bytes(ceil.bytes_in(span).get()),
    }
}

impl HtbClass {
    /// The settings of a class in a tree with this `r2q`.
    ///
    /// # Errors
    /// When a parameter is unknown or out of range, or the ceiling is below the rate.
    fn build(given: &ParamValues<'_>, parent: Option<u32>, r2q: u32, link: &LinkFacts) -> Result<Self, ParamError> {
        let rate = RATE.read(given).ok_or_else(|| RATE.fault(ParamFault::Refused("is missing".into())))?;
        let ceil = CEIL.read(given).unwrap_or(rate);
        CEIL.at_least(ceil, &RATE, rate)?;
        let by_rate = || Bytes::new((rate.as_bit_s() / 8 / u64::from(r2q)).clamp(1000, 200_000));
        Ok(Self {
            parent,
            rate,
            ceil,
            burst: bucket(BURST.read(given), rate, link),
            cburst: bucket(CBURST.read(given), ceil, link),
            quantum: framing::few_bytes(&QUANTUM, given, link)?.unwrap_or_else(by_rate),
            priority: PRIO.read(given) as u8,
        })
    }
}

/// Builds the tree of `classes`, whose leaves have random streams of their own.
///
/// # Errors
/// The first parameter that does not fit, or that an inner class cannot have.
pub fn build<P: Packet>(
    given: &ParamValues<'_>,
    classes: &[ClassAndParams],
    mut setup: Setup<'_>,
) -> Result<Box<Htb<P, Nested<P>>>, ParamError> {
    let (link, r2q) = (setup.link, R2Q.read(given));
    let values = classes.iter().map(|class| ParamValues::new(&CLASS, &class.params)).collect::<Result<Vec<_>, ParamError>>()?;
    let read = |(class, given): (&ClassAndParams, &ParamValues<'_>)| HtbClass::build(given, class.parent, r2q, link);
    let tree = classes.iter().zip(&values).map(read).collect::<Result<Vec<_>, ParamError>>()?;
    let mut is_inner = alloc::vec![false; classes.len()];
    for parent in classes.iter().filter_map(|class| class.parent) {
        // One that is no class is refused with the tree.
        if let Some(is_inner) = is_inner.get_mut(parent as usize) {
            *is_inner = true;
        }
    }
    let mut default = None;
    for (number, (class, given)) in (0..).zip(classes.iter().zip(&values)) {
        let of = class.of.as_ref().map(|_| OF.name);
        let of_leaves =
            [LIMIT.name(), DEFAULT.name(), PRIO.name(), QUANTUM.name()].into_iter().filter(|name| given.is_given(name));
        if let Some(name) = of_leaves.chain(of).next().filter(|_| is_inner[number as usize]) {
            return Err(ParamError::new(name, ParamFault::Refused("belongs to classes without others below them".into())));
        }
        if DEFAULT.read(given) && default.replace(number).is_some() {
            return Err(DEFAULT.fault(ParamFault::Refused("is on for two classes: allowed one".into())));
        }
    }
    let params = HtbParams {
        default,
        direct: Packets::new(u64::from(DIRECT.read(given))),
        header: HEADER.bytes(given, link.mtu, link.rate)?,
        framing: framing::build(given, link)?,
    };
    let htb = Htb::new(&tree, params, |number| {
        let (class, settings) = (&classes[number as usize], &tree[number as usize]);
        let limit = LIMIT.read(&values[number as usize]).map_or(link.limit, |size| limit(size, settings.ceil));
        let rate = Some(link.rate.map_or(settings.ceil, |rate| rate.min(settings.ceil)));
        let rng = Rng::new(setup.rng.next_u64());
        let within = Setup { of: class.of.as_ref(), link: &LinkFacts { rate, limit, ..*link }, ecn: setup.ecn, rng };
        Nested::build(within).map(|queue| *queue)
    })?;
    Ok(Box::new(htb))
}
