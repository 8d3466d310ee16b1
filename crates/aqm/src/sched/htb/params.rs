//! The settings of the whole and of each class, from their parameters.

use super::{Htb, HtbClass, HtbFault, HtbParams, PRIORITIES, TURN_BY_RATE, turn_by_rate};
use crate::framing;
use crate::outline::aside;
use crate::qdisc::Packet;
use crate::queue::Limit;
use crate::sched::fair_queue::kinds::HEADER;
use crate::sched::{NESTED_BYTES, Nested, Scheduler, Setup};
use crate::spec::{
    ClassAndParams, Family, Kind, KindSpec, LinkFacts, Param, ParamError, ParamFault, ParamValues, Size, TypedParam, Unit,
};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use goodqueue_base::units::{Bytes, Duration, Rate, Rng};

const R2Q: TypedParam<u32> = TypedParam::count("r2q", 10)
    .within(1.0, 1e9)
    .about("a turn is so many times less than what a class sends in a second at its rate")
    .from_source("Linux");
const DIRECT: TypedParam<Option<u32>> = TypedParam::auto("direct", "limit of the queue")
    .within(0.0, 1e6)
    .about("most packets without a class that wait")
    .from_source("Linux");

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
const CLASS: Kind = Kind {
    kind: "class of htb",
    title: "Class",
    summary: "A class of a hierarchical token bucket",
    params: &[RATE.param, CEIL.param, BURST.param, CBURST.param, PRIO.param, QUANTUM.param, LIMIT.param, DEFAULT.param, OF],
    source: "Linux",
    ..Kind::PLAIN
};

const KIND: KindSpec = KindSpec::new(
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
        source: "Linux sch_htb; Devera 2002",
    },
    Family::Classes,
    "bytes that left each class; that of the queue in each leaf",
)
.with_queue_bytes(NESTED_BYTES)
.with_classes(&CLASS);

/// Unit of the kernel's buckets.
const TICK: u64 = 64;
/// Bytes of a bucket for which none are given.
const DEFAULT_BURST: u64 = 1600;

/// A class that is in no tree.
#[cold]
fn misplaced(fault: HtbFault, classes: &[ClassAndParams]) -> ParamError {
    let error = ParamError::new("parent", ParamFault::Refused(fault.why()));
    match classes.get(fault.class() as usize) {
        Some(class) => error.in_class(&class.name),
        None => error,
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
        let [least, most] = TURN_BY_RATE.map(Bytes::new);
        let by_rate = || turn_by_rate(rate, r2q).clamp(least, most);
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

/// The kind `htb`.
#[derive(Clone, Copy, Debug)]
pub struct HtbKind;

impl Scheduler for HtbKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = Box<Htb<P, Nested<P>>>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let plan = aside(|| Plan::read(given, &setup.chosen.classes, setup.link))?;
        let classes = &setup.chosen.classes;
        let queues = plan.queues(setup)?;
        aside(|| {
            let mut htb = Htb::new(&plan.tree, plan.params, queues).map_err(|fault| misplaced(fault, classes))?;
            (0..).zip(classes).for_each(|(number, class)| htb.name(number, &class.name));
            Ok(keep(Box::new(htb)))
        })
    }
}

/// The settings of the whole, of each class and of the queues of leaves. Reading them and building
/// the queues are calls of their own, for stacks of few kilobytes.
struct Plan {
    tree: Vec<HtbClass>,
    params: HtbParams,
    /// The link as the queue of each leaf sees it; none of inner classes.
    leaves: Vec<Option<LinkFacts>>,
}

impl Plan {
    fn read(given: &ParamValues<'_>, classes: &[ClassAndParams], link: &LinkFacts) -> Result<Box<Self>, ParamError> {
        let r2q = R2Q.read(given);
        let mut values = Vec::with_capacity(classes.len());
        let mut tree = Vec::with_capacity(classes.len());
        let mut is_inner = alloc::vec![false; classes.len()];
        for class in classes {
            let of_class = |error: ParamError| error.in_class(&class.name);
            let given = ParamValues::new(&CLASS, &class.params).map_err(of_class)?;
            tree.push(HtbClass::build(&given, class.parent, r2q, link).map_err(of_class)?);
            values.push(given);
            // One that is no class is refused below.
            if let Some(is_inner) = class.parent.and_then(|parent| is_inner.get_mut(parent as usize)) {
                *is_inner = true;
            }
        }
        super::check(&tree).map_err(|fault| misplaced(fault, classes))?;
        let mut default = None;
        for (number, (class, given)) in (0..).zip(classes.iter().zip(&values)) {
            let of = class.of.as_ref().map(|_| OF.name);
            let of_leaves =
                [LIMIT.name(), DEFAULT.name(), PRIO.name(), QUANTUM.name()].into_iter().filter(|name| given.is_given(name));
            if let Some(name) = of_leaves.chain(of).next().filter(|_| is_inner[number as usize]) {
                let fault = ParamFault::Refused("belongs to classes without others below them".into());
                return Err(ParamError::new(name, fault).in_class(&class.name));
            }
            if DEFAULT.read(given) && default.replace(number).is_some() {
                return Err(DEFAULT
                    .fault(ParamFault::Refused("is on for two classes: allowed one".into()))
                    .in_class(&class.name));
            }
        }
        let params = HtbParams {
            default,
            direct: DIRECT.read(given).map_or(link.limit, |packets| Limit::packets(u64::from(packets))),
            header: HEADER.bytes(given, link.mtu, link.rate)?,
            framing: framing::build(given, link)?,
        };
        let leaf = |number: usize| {
            let ceil = tree[number].ceil;
            let limit = LIMIT.read(&values[number]).map_or(link.limit, |size| limit(size, ceil));
            let rate = Some(link.rate.map_or(ceil, |rate| rate.min(ceil)));
            (!is_inner[number]).then_some(LinkFacts { rate, limit, ..*link })
        };
        let leaves = (0..tree.len()).map(leaf).collect();
        Ok(Box::new(Self { tree, params, leaves }))
    }

    /// The queues of the leaves, with random streams of their own.
    fn queues<P: Packet>(&self, mut setup: Setup<'_>) -> Result<Vec<Option<Box<Nested<P>>>>, ParamError> {
        let mut queues = Vec::with_capacity(self.leaves.len());
        for (class, leaf) in setup.chosen.classes.iter().zip(&self.leaves) {
            let Some(link) = leaf else {
                queues.push(None);
                continue;
            };
            let rng = Rng::new(setup.rng.next_u64());
            let queue = Nested::build(class.of.as_ref(), Setup { link, rng, ..setup.clone() });
            queues.push(Some(queue.map_err(|error| of_leaf(error, class))?));
        }
        Ok(queues)
    }
}

/// A fault of the queue of a leaf.
#[cold]
fn of_leaf(error: ParamError, class: &ClassAndParams) -> ParamError {
    let is_its_own = error.param == OF.name;
    let fault = if is_its_own { error.fault } else { ParamFault::Refused(error.to_string()) };
    ParamError::new(OF.name, fault).in_class(&class.name)
}
