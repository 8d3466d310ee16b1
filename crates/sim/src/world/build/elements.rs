//! Links of a specification: wires, and links with queues.

use super::{JITTER_STREAM, LOSS_STREAM, QUEUE_STREAM};
use crate::ids::{Id, IdVec, LinkId, WireClassId, WireId};
use crate::link::{FlowControl, Link, Wire, WireClass};
use crate::packet::SimPacket;
use crate::probe::LinkProbe;
use crate::settle::SettleProbe;
use crate::spec::{LinkSpec, QueueSpec, WorldSpec};
use crate::world::error::{WorldError, WorldFault, fault};
use crate::world::path::Element;
use goodqueue_aqm::spec::{KindAndParams, LinkFacts, ParamError, ParamValues, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Qdisc};
use goodqueue_base::line::{RateCursor, RateSpec};
use goodqueue_base::units::{Duration, Instant, Rate, Rng};

/// The links of a specification, sorted into wires and links with queues.
pub(super) struct Elements {
    /// The element of each link of the specification; no wire is fused yet.
    pub(super) elements: Vec<Element>,
    pub(super) classes: IdVec<WireClassId, WireClass>,
    pub(super) wires: IdVec<WireId, Wire>,
    pub(super) links: IdVec<LinkId, Link>,
    /// The number of links that are reported.
    pub(super) observed: u32,
    /// The source of the wires' salt.
    pub(super) salt: Rng,
}

impl Elements {
    pub(super) fn new(spec: &WorldSpec, end: Instant) -> Result<Self, WorldError> {
        let mut all = Self {
            elements: Vec::new(),
            classes: IdVec::new(),
            wires: IdVec::new(),
            links: IdVec::new(),
            observed: 0,
            salt: Rng::stream(spec.seed, JITTER_STREAM),
        };
        for (number, link) in spec.links.iter().enumerate() {
            let element = if is_wire(link) {
                Element::Wire(add_wire(&mut all.classes, &mut all.wires, &mut all.salt, link)?)
            } else {
                let seen = all.number_of(link);
                Element::Link(all.links.push(queued_link(spec, number, link, seen, end)?))
            };
            all.elements.push(element);
        }
        Ok(all)
    }

    /// The number of a link among the reported ones, if it is reported.
    fn number_of(&mut self, link: &LinkSpec) -> Option<u32> {
        let first = link.counts_with.and_then(|first| self.elements.get(first as usize)?.link());
        let known = first.and_then(|first| self.links[first].probe.observed);
        let new = (link.observed && known.is_none()).then_some(self.observed);
        self.observed += u32::from(new.is_some());
        known.filter(|_| link.observed).or(new)
    }
}

/// Whether a link needs no queue.
pub(super) fn is_wire(link: &LinkSpec) -> bool {
    matches!((&link.queue, &link.rate), (QueueSpec::Unlimited, RateSpec::Constant(_)))
        && !link.observed
        && link.loss == 0.0
        && link.flow_control.is_none()
        && link.burst.is_zero()
}

/// Adds a link without queue.
pub(super) fn add_wire(
    classes: &mut IdVec<WireClassId, WireClass>,
    wires: &mut IdVec<WireId, Wire>,
    salt: &mut Rng,
    link: &LinkSpec,
) -> Result<WireId, WorldError> {
    let RateSpec::Constant(rate) = link.rate else {
        return fault(&link.name, WorldFault::WireVaries);
    };
    if rate.is_zero() {
        return fault(&link.name, WorldFault::WireStands);
    }
    let class = WireClass::new(rate, link.delay, link.framing, link.jitter);
    // Ends are mostly alike and neighbors in the list, so the search starts at the latest class.
    let known = classes.as_slice().iter().rposition(|known| known.is_like(&class));
    let index = known.unwrap_or(classes.len());
    if u16::try_from(index).is_err() {
        return fault(&link.name, WorldFault::TooMany { parts: "different access links", most: 65_536 });
    }
    if index == classes.len() {
        classes.push(class);
    }
    Ok(wires.push(Wire::new(WireClassId::at(index), salt.next_u64() as u16)))
}

/// Builds a link with a queue.
fn queued_link(spec: &WorldSpec, number: usize, link: &LinkSpec, seen: Option<u32>, end: Instant) -> Result<Link, WorldError> {
    if !link.jitter.is_zero() {
        return fault(&link.name, WorldFault::Jitter);
    }
    let stream = Rng::stream(spec.seed, QUEUE_STREAM + number as u64);
    let (qdisc, target) = discipline(link, link.rate.nominal(), stream)?;
    let mut probe = LinkProbe::new(link.name.clone(), seen, Instant::ZERO + spec.warmup, end);
    if let (RateSpec::Steps(steps), Some(_)) = (&link.rate, seen)
        && steps.len() > 1
    {
        probe.extras().settle = Some(SettleProbe::new(steps.iter().skip(1).map(|step| step.0).collect(), target));
    }
    Ok(Link {
        status: qdisc.status(),
        qdisc,
        rate: RateCursor::with_burst(&link.rate, link.burst),
        delay: link.delay,
        framing: link.framing,
        busy_until: Instant::ZERO,
        idle_notice_pending: false,
        transit: None,
        loss: link.loss,
        paused_by: 0,
        flow_control: link.flow_control.map(|most| Box::new(FlowControl { most, feeders: Vec::new(), pausing: false })),
        rng: Rng::stream(spec.seed, LOSS_STREAM + number as u64),
        probe,
        fifo: None,
    })
}

/// Builds the queue of a link. Returns it and the delay that its algorithm aims at.
pub(in crate::world) fn discipline(
    link: &LinkSpec,
    rate: Rate,
    stream: Rng,
) -> Result<(AnyQdisc<SimPacket>, Option<Duration>), WorldError> {
    let overhead = link.framing.added(link.mtu);
    let facts = LinkFacts { rate: Some(rate), delay: link.delay, mtu: link.mtu, overhead, limit: link.queue.limit() };
    let refuse = |error: ParamError| WorldError { subject: link.name.clone(), fault: error.into() };
    let queue = build(&link.queue, &facts, stream).map_err(refuse)?;
    let target = match link.queue.here() {
        QueueSpec::Discipline { queue, .. } => target(queue),
        QueueSpec::Unlimited | QueueSpec::Own { .. } | QueueSpec::ExternalScheduler { .. } => None,
    };
    Ok((queue, target))
}

fn build(queue: &QueueSpec, facts: &LinkFacts, stream: Rng) -> Result<AnyQdisc<SimPacket>, ParamError> {
    match queue {
        QueueSpec::Unlimited => AnyQdisc::build(goodqueue_aqm::sched::TAIL_DROP, &[], facts, EcnPolicy::Drop, stream),
        QueueSpec::Discipline { queue, ecn, .. } => AnyQdisc::build_over(queue, facts, *ecn, stream),
        QueueSpec::Own { kind, ecn, .. } => AnyQdisc::build_own(&**kind, facts, *ecn, stream),
        QueueSpec::ExternalScheduler { kind, .. } => AnyQdisc::open(&**kind, facts, stream),
    }
}

impl QueueSpec {
    /// Builds the queue for a link with these properties and drops it; the limit is that of
    /// `facts`. Of many equal queues it builds few, so that none takes much memory.
    ///
    /// # Errors
    /// The first parameter that does not go with the link or with another parameter, or the memory
    /// of them all.
    pub fn check(&self, facts: &LinkFacts) -> Result<(), ParamError> {
        let Self::Discipline { queue, ecn, .. } = self else {
            return build(self, facts, Rng::new(0)).map(|_| ());
        };
        ParamValues::new(queue.kind, &queue.params)?;
        queue.check_memory()?;
        AnyQdisc::<SimPacket>::build_over(&queue.smallest(), facts, *ecn, Rng::new(0)).map(|_| ())
    }
}

/// The delay that the algorithm of a queue, or of the queues within it, aims at.
fn target(queue: &KindAndParams) -> Option<Duration> {
    if let Some(of) = queue.of.as_deref() {
        return target(of);
    }
    let given = queue.params.iter().find(|(name, _)| *name == "target").map(|(_, value)| *value);
    match given.or_else(|| queue.kind.param("target")?.default_value())? {
        Value::Duration(target) => Some(target),
        _ => None,
    }
}
