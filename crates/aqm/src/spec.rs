//! Descriptions of the queue kinds: what files, command lines and documentation are made from.

use crate::queue::Limit;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;
use goodqueue_base::named;
pub use goodqueue_base::spec::{
    BoundedValue, Choice, ClassFault, Decimal, Default, Given, Kind, Param, ParamError, ParamFault, ParamValues, Role, Setting,
    Size, TypedParam, Unit, Value, join, with_default,
};
use goodqueue_base::units::{Bytes, Duration, Rate};

/// The most memory that a queue may take before it holds anything.
pub const MAX_STATE: Bytes = Bytes::new(1 << 30);

/// One kind of queue, as named in files.
///
/// Its parameters are those of its own; `kind`, `ecn` and `limit` belong to every queue.
#[derive(Clone, Copy, Debug)]
pub struct KindSpec {
    /// Names, summary, parameters, source.
    pub base: Kind,
    /// The family of algorithms that it belongs to.
    pub family: Family,
    /// The signal that it measures and the place where it acts.
    pub signal: &'static str,
    /// Whether it marks packets instead of dropping them.
    pub marks: Marking,
    /// Whether it serves flows by their weight ([`crate::Qdisc::set_weight`]).
    pub uses_weights: bool,
    /// Bytes that each of its queues takes before it holds anything, at most: of an algorithm,
    /// those besides its value.
    pub queue_bytes: u64,
    /// The parameters of each class, for a kind that has classes.
    pub class: Option<&'static Kind>,
}

impl KindSpec {
    /// A kind that marks where it may, and to which weights mean nothing.
    #[must_use]
    pub const fn new(base: Kind, family: Family, signal: &'static str) -> Self {
        Self { base, family, signal, marks: Marking::Possible, uses_weights: false, queue_bytes: 0, class: None }
    }

    /// Sets whether it marks.
    #[must_use]
    pub const fn marking(self, marks: Marking) -> Self {
        Self { marks, ..self }
    }

    /// Sets the bytes of each of its queues.
    #[must_use]
    pub const fn with_queue_bytes(self, queue_bytes: u64) -> Self {
        Self { queue_bytes, ..self }
    }

    /// Gives it classes with these parameters.
    #[must_use]
    pub const fn with_classes(self, class: &'static Kind) -> Self {
        Self { class: Some(class), ..self }
    }

    /// The description of an algorithm of a program's own ([`crate::custom`]), of which nothing but
    /// `base` is known.
    #[must_use]
    pub const fn own(base: Kind) -> Self {
        Self::new(base, Family::Own, "its own")
    }
}

impl Deref for KindSpec {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.base
    }
}

named! {
    /// A family of algorithms that share an idea.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Family {
        /// A limit and nothing else.
        TailDrop = "tail-drop",
        /// Random early detection: probabilities from the average queue.
        Red = "red",
        /// Probabilities from overflows and idle times.
        Blue = "blue",
        /// Proportional-integral controllers.
        Pi = "pi",
        /// Controlled delay: sojourn times over an interval.
        CoDel = "codel",
        /// A threshold of the queue alone.
        Threshold = "threshold",
        /// Tokens that packets pay for.
        Policing = "policing",
        /// Virtual queues and prices.
        VirtualQueue = "virtual-queue",
        /// Queues of their own for flows.
        FlowQueueing = "flow-queueing",
        /// A low-latency queue coupled to a classic one.
        DualQueue = "dual-queue",
        /// Classes of service.
        Classes = "classes",
        /// A discipline around another queue.
        Wrapper = "wrapper",
        /// An algorithm of the program's own.
        Own = "own",
    }
}

/// Whether a kind marks packets instead of dropping them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// Drops only.
    Never,
    /// Marks where `ecn = true` allows it, and drops otherwise.
    Possible,
    /// Marks and never drops: without `ecn = true` it does nothing.
    Only,
}

impl Marking {
    /// Whether it can mark at all.
    #[must_use]
    pub const fn is_possible(self) -> bool {
        !matches!(self, Self::Never)
    }
}

/// A kind and what is given for its parameters.
#[derive(Clone, Debug)]
pub struct KindAndParams {
    /// The kind.
    pub kind: &'static KindSpec,
    /// Given parameters; the others have their defaults.
    pub params: Vec<(&'static str, Value)>,
    /// The algorithm or queue within, for kinds that have one.
    pub of: Option<Box<KindAndParams>>,
    /// The classes, for kinds that have them.
    pub classes: Vec<ClassAndParams>,
}

/// A class of a hierarchy as it is given.
#[derive(Clone, Debug)]
pub struct ClassAndParams {
    /// The name by which flows find it, unlike those of the other classes.
    pub name: String,
    /// The class above, by its number; none for one at the root.
    pub parent: Option<u32>,
    /// Given parameters; the others have their defaults.
    pub params: Vec<(&'static str, Value)>,
    /// The queue of a leaf; tail drop where none is given.
    pub of: Option<KindAndParams>,
}

impl KindAndParams {
    /// `kind` with these parameters, over nothing else.
    #[must_use]
    pub const fn new(kind: &'static KindSpec, params: Vec<(&'static str, Value)>) -> Self {
        Self { kind, params, of: None, classes: Vec::new() }
    }

    /// The same over this algorithm or queue.
    #[must_use]
    pub fn over(self, of: Option<Self>) -> Self {
        Self { of: of.map(Box::new), ..self }
    }

    /// The names of the classes without others below them.
    #[must_use]
    pub fn leaves(&self) -> BTreeSet<&str> {
        let inner: BTreeSet<u32> = self.classes.iter().filter_map(|class| class.parent).collect();
        let leaves = (0..).zip(&self.classes).filter(|(number, _)| !inner.contains(number));
        leaves.map(|(_, class)| class.name.as_str()).collect()
    }

    /// All that is directly within: the algorithm or queue, or those of the classes.
    fn within(&self) -> impl Iterator<Item = &Self> {
        self.of.as_deref().into_iter().chain(self.classes.iter().filter_map(|class| class.of.as_ref()))
    }

    /// The kind's name, with that of the algorithm or queue within behind a colon: `codel`,
    /// `fair:pie`, `shaper:priority:codel`. Of several classes, those are named that all have.
    #[must_use]
    pub fn name(&self) -> String {
        let mut within = self.within().map(Self::name);
        match within.next() {
            Some(inner) if within.all(|other| other == inner) => alloc::format!("{}:{inner}", self.kind.kind),
            _ => self.kind.kind.into(),
        }
    }

    /// The memory that the queue takes before it holds anything, at most, with all that is within.
    #[must_use]
    pub fn state_bytes(&self) -> Bytes {
        let value = |param: &Param| {
            let given = self.params.iter().find(|(name, _)| *name == param.name).map(|(_, value)| *value);
            given.or_else(|| param.default_value())
        };
        let queues = self.kind.params.iter().map(|param| value(param).map_or(1, |value| param.queues(value)));
        let within = self.within().map(|of| of.state_bytes().get()).fold(0, u64::saturating_add);
        let each = self.kind.queue_bytes.saturating_mul(self.classes.len().max(1) as u64).saturating_add(within);
        Bytes::new(queues.fold(each, u64::saturating_mul))
    }

    /// Refuses what would take more memory than [`MAX_STATE`] before it holds anything. Queues of
    /// classes are judged one by one, as those of links are: each is listed, and takes its memory
    /// when packets come.
    ///
    /// # Errors
    /// Names the memory and what is allowed.
    pub fn check_memory(&self) -> Result<(), ParamError> {
        for class in &self.classes {
            class.of.iter().try_for_each(Self::check_memory).map_err(|error| error.in_class(&class.name))?;
        }
        let needed = if self.classes.is_empty() { self.state_bytes() } else { Bytes::ZERO };
        if needed <= MAX_STATE {
            return Ok(());
        }
        let why = "of memory are too much for queues that hold nothing yet";
        let fault = ParamFault::TooLarge { value: Value::Bytes(needed), why, most: Value::Bytes(MAX_STATE) };
        Err(ParamError::new("kind", fault))
    }

    /// The same over as few queues as there may be: enough to find a fault of its parameters.
    #[must_use]
    pub fn smallest(&self) -> Self {
        let is_number_of_queues = |param: &&Param| param.unit == Unit::Count && matches!(param.role, Role::Queues(_));
        let fewest = self.kind.params.iter().filter(is_number_of_queues).map(|param| (param.name, Value::Number(param.range.0)));
        let given = self.params.iter().copied();
        let others = given.filter(|(name, _)| !fewest.clone().any(|(known, _)| known == *name));
        let of_class = |class: &ClassAndParams| ClassAndParams { of: class.of.as_ref().map(Self::smallest), ..class.clone() };
        Self {
            kind: self.kind,
            params: fewest.clone().chain(others).collect(),
            of: self.of.as_ref().map(|of| Box::new(of.smallest())),
            classes: self.classes.iter().map(of_class).collect(),
        }
    }

    /// Whether it can mark. What is within decides.
    #[must_use]
    pub fn marks(&self) -> bool {
        let holds_others = self.kind.is_over_another() || self.kind.class.is_some();
        self.kind.marks.is_possible() && if holds_others { self.within().any(Self::marks) } else { true }
    }

    /// Whether ECN marking is on by default. Kinds that require marking declare their own `ecn`
    /// parameter with default `true`.
    #[must_use]
    pub fn marks_unasked(&self) -> bool {
        let is_on = |param: &Param| param.name == "ecn" && param.default == Default::Value(Value::Switch(true));
        let mut within = self.within().peekable();
        if within.peek().is_none() { self.kind.params.iter().any(is_on) } else { within.any(Self::marks_unasked) }
    }

    /// Whether it serves flows by their weight.
    #[must_use]
    pub fn weighs_flows(&self) -> bool {
        self.kind.uses_weights || self.within().any(Self::weighs_flows)
    }
}

impl KindSpec {
    /// Whether it has another algorithm or queue within, which a file names in a parameter.
    #[must_use]
    pub fn is_over_another(&self) -> bool {
        self.params.iter().any(|param| param.unit.is_another())
    }

    /// Whether a file must name the algorithm within.
    #[must_use]
    pub fn needs_another(&self) -> bool {
        self.params.iter().any(|param| param.unit == Unit::Algorithm)
    }
}

/// The facts of the link that are known when a queue is built.
#[derive(Clone, Copy, Debug)]
pub struct LinkFacts {
    /// The rate at the start, if known.
    pub rate: Option<Rate>,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// Framing bytes per packet.
    pub overhead: Bytes,
    /// The queue's limit.
    pub limit: Limit,
}

impl LinkFacts {
    /// The rate at the start, which queues of `kind` need.
    ///
    /// # Errors
    /// When it is unknown.
    pub(crate) fn needed_rate(&self, kind: &'static str) -> Result<Rate, ParamError> {
        self.rate.ok_or_else(|| ParamError::new("kind", ParamFault::NeedsRate(kind)))
    }
}
