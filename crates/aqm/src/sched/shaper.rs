//! A token-bucket shaper: limits a queue to a rate, except for bursts of bounded size.
//!
//! *Signal*: the bytes that left, framing included, over time; and that of the queue within.
//!
//! *Law*: a bucket holds up to `burst` bytes of tokens and fills at `rate`. A packet may leave
//! while the tokens suffice for the largest packet, and consumes as many tokens as it has bytes.
//! Therefore at most `burst + rate * t` leaves in any time `t`. With `peak`, a second bucket of
//! `mtu` bytes that fills at `peak` must agree, and at most `min(mtu + peak * t, burst + rate * t)`
//! leaves. Packets that must wait stay in the queue within; the shaper's timer is the time at which
//! the first may leave.
//!
//! *Parameters*: see `KINDS`. `rate` is by default the rate of the link, which makes the shaper
//! nearly ineffective.
//!
//! *Deviations*: a token bucket checks whether there are tokens for the present packet. This one
//! requires tokens for a full packet, so that it need not see the packet before the queue within
//! has judged it, and that queue judges at the moment of departure. Rate and bounds are the same;
//! after a pause the burst may end up to one packet earlier.
//!
//! *Limits*: a packet larger than the MTU of the link overdraws the bucket, which is repaid before
//! the next packet. Has no effect if its rate is at least that of the link. The queue within is
//! told the lower of both rates.
//!
//! *Source*: RFC 2212 (the bound `M + min(p t, r t + b - M)`); Linux (`tbf`) for the names.

use crate::aqm::{FlowHash, QueueView};
use crate::counters::Counters;
use crate::framing;
use crate::outline::aside;
use crate::qdisc::{Departure, Packet, Qdisc, QueueStatus, Sink};
use crate::sched::priority::PriorityKind;
use crate::sched::{NESTED_BYTES, Nested, Scheduler, Setup};
use crate::spec::{Family, Given, Kind, KindSpec, LinkFacts, Param, ParamError, ParamFault, ParamValues, Size, TypedParam, Unit};
use alloc::boxed::Box;
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Rate, Rng};

/// The shaper's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaperParams {
    /// Rate in the long run, framing included.
    pub rate: Rate,
    /// Bytes that may leave at once.
    pub burst: Bytes,
    /// Rate within a burst; `None`: that of the link.
    pub peak: Option<Rate>,
    /// Bytes that may leave at once at the peak rate.
    pub mtu: Bytes,
    /// The largest packet, framing included.
    pub largest: Bytes,
    /// Bytes that each packet counts besides its own.
    pub framing: Framing,
}

/// Tokens of one bucket. A token is the right to send one bit for a billionth: at a rate of `r`
/// bit/s, `r` of them come in a nanosecond, so that nothing is ever rounded.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    gain: i64,
    depth: i64,
    level: i64,
    /// Time at which `level` was true.
    at: Instant,
    /// Enough for the largest packet.
    enough: i64,
}

/// Buckets of a gigabyte and rates of 10 Tbit/s fit 63 bits.
const TOKENS_PER_BYTE: i64 = 8_000_000_000;
const MAX_BURST: f64 = 1e9;
const MAX_RATE: f64 = 1e13;

fn tokens(bytes: Bytes) -> i64 {
    i64::try_from(bytes.get()).unwrap_or(i64::MAX).saturating_mul(TOKENS_PER_BYTE)
}

impl Bucket {
    fn new(rate: Rate, depth: Bytes, largest: Bytes) -> Self {
        let depth = tokens(depth);
        let gain = i64::try_from(rate.as_bit_s()).unwrap_or(i64::MAX).max(1);
        Self { gain, depth, level: depth, at: Instant::ZERO, enough: tokens(largest).min(depth) }
    }

    #[inline]
    fn level_at(&self, now: Instant) -> i64 {
        let span = i64::try_from(now.since(self.at).as_nanos()).unwrap_or(i64::MAX);
        self.level.saturating_add(span.saturating_mul(self.gain)).min(self.depth)
    }

    #[inline]
    fn take(&mut self, now: Instant, amount: i64) {
        self.level = self.level_at(now).saturating_sub(amount);
        self.at = self.at.max(now);
    }

    /// The time at which there is enough for the largest packet: `at` if there is already.
    #[inline]
    fn ready_at(&self) -> Instant {
        let missing = self.enough.saturating_sub(self.level);
        if missing <= 0 {
            return self.at;
        }
        let nanos = missing / self.gain + i64::from(missing % self.gain != 0);
        self.at + Duration::ns(nanos as u64)
    }
}

/// A queue `Q` behind a token bucket.
#[derive(Clone, Debug)]
pub struct Shaper<Q> {
    queue: Q,
    sustained: Bucket,
    peak: Option<Bucket>,
    rate: Rate,
    framing: Framing,
    /// Time at which the buckets will have enough tokens.
    ready_at: Instant,
    /// True until the host has been called at `ready_at` or later.
    is_armed: bool,
}

impl<Q> Shaper<Q> {
    /// Shapes `queue`, the buckets full.
    #[must_use]
    pub fn new(queue: Q, params: ShaperParams) -> Self {
        Self {
            queue,
            sustained: Bucket::new(params.rate, params.burst, params.largest),
            peak: params.peak.map(|peak| Bucket::new(peak, params.mtu, params.largest)),
            rate: params.rate,
            framing: params.framing,
            ready_at: Instant::ZERO,
            is_armed: false,
        }
    }

    /// The link's rate as the queue within sees it.
    fn seen_rate(&self, link: Option<Rate>) -> Rate {
        link.map_or(self.rate, |link| link.min(self.rate))
    }

    /// The host is here, so it need not be called to learn what time it is.
    #[inline]
    fn note_time(&mut self, now: Instant) {
        self.is_armed &= now < self.ready_at;
    }

    /// The time at which packets of what waits may leave, until the host has been called then.
    #[inline]
    fn release(&self, waiting: QueueView) -> Option<Instant> {
        (self.is_armed && !waiting.packets.is_zero()).then_some(self.ready_at)
    }

    #[inline]
    fn pay(&mut self, now: Instant, len: Bytes) {
        let amount = tokens(self.framing.wire(len));
        self.sustained.take(now, amount);
        self.ready_at = self.sustained.ready_at();
        if let Some(peak) = &mut self.peak {
            peak.take(now, amount);
            self.ready_at = self.ready_at.max(peak.ready_at());
        }
        self.is_armed = self.ready_at > now;
    }
}

impl<P: Packet, Q: Qdisc<P>> Qdisc<P> for Shaper<Q> {
    // Out of line, here and below, so that common disciplines do not pay for this code in
    // `AnyQdisc`.
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        self.note_time(now);
        self.queue.enqueue(now, packet, sink);
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        if now < self.ready_at && !self.queue.view().packets.is_zero() {
            return None;
        }
        // An empty queue is asked, too, so that its algorithm learns that it is idle.
        let departure = self.queue.dequeue(now, sink);
        if let Some(departure) = &departure {
            self.pay(now, departure.packet.len());
        }
        departure
    }

    #[inline(never)]
    fn next_timer(&self) -> Option<Instant> {
        self.release(self.queue.view()).into_iter().chain(self.queue.next_timer()).min()
    }

    #[inline(never)]
    fn held_until(&self) -> Instant {
        self.release(self.queue.view()).unwrap_or(Instant::ZERO)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn status(&self) -> QueueStatus {
        let within = self.queue.status();
        QueueStatus { held_until: self.release(within.waiting).unwrap_or(Instant::ZERO), ..within }
    }

    fn handle_timer(&mut self, now: Instant) {
        self.note_time(now);
        self.queue.handle_timer(now);
    }

    fn set_weight(&mut self, flow: FlowHash, weight: f64) {
        self.queue.set_weight(flow, weight);
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.queue.set_link_rate(now, Some(self.seen_rate(rate)));
    }

    fn reserve(&mut self, packets: usize) {
        self.queue.reserve(packets);
    }

    #[inline(never)]
    fn view(&self) -> QueueView {
        self.queue.view()
    }

    fn counters(&self) -> Counters {
        self.queue.counters()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("tokens_bytes", self.sustained.level as f64 / TOKENS_PER_BYTE as f64);
        self.queue.gauges(visit);
    }
}

const RFC: &str = "RFC 2212";
const RATE: TypedParam<Option<Rate>> = TypedParam::auto("rate", "the link's rate at the start")
    .within(1.0, MAX_RATE)
    .about("rate in the long run, framing included")
    .from_source(RFC);
const BURST: TypedParam<Option<Size>> = TypedParam::auto("burst", "one full packet with its framing")
    .within(1.0, MAX_BURST)
    .about("bytes that may leave at once after a pause, framing included")
    .from_source(RFC);
const PEAK: TypedParam<Option<Rate>> = TypedParam::auto("peak", "no bound but the link's")
    .within(1.0, MAX_RATE)
    .about("rate within a burst, framing included")
    .from_source(RFC);
const MTU: TypedParam<Option<Size>> = TypedParam::auto("mtu", "one full packet with its framing")
    .within(1.0, MAX_BURST)
    .about("bytes that may leave at once at the peak rate, framing included")
    .from_source(RFC);

const KIND: KindSpec = KindSpec::new(
    Kind {
        kind: "shaper",
        aliases: &["tbf", "TbfQueueDisc"],
        title: "Shaper",
        summary: "Lets the packets of a queue go no faster than a rate, but for bounded bursts",
        params: &[
            Param::auto("of", Unit::Queue, "tail-drop")
                .about("the queue that is shaped, with its own parameters")
                .from_source("Linux"),
            RATE.param,
            BURST.param,
            PEAK.param,
            MTU.param,
            framing::FRAMING.param,
            framing::OVERHEAD.param,
            framing::MPU.param,
            framing::CELLS.param,
        ],
        source: RFC,
    },
    Family::Wrapper,
    "bytes that left; that of the queue within",
)
.with_queue_bytes(NESTED_BYTES);

impl ShaperParams {
    /// The settings of kind `shaper`.
    ///
    /// # Errors
    /// When the rate is neither given nor known of the link, a bucket is too small for one packet,
    /// or the peak is below the rate.
    pub fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let framing = framing::build(given, link)?;
        let largest = framing.wire(link.mtu);
        let Some(rate) = RATE.read(given).or(link.rate).filter(|rate| !rate.is_zero()) else {
            return Err(RATE.fault(ParamFault::UnknownRate("give one above zero")));
        };
        let size = |size: &TypedParam<Option<Size>>| -> Result<Bytes, ParamError> {
            let bytes = size.bytes(given, link.mtu, link.rate)?.unwrap_or(largest);
            if bytes < largest {
                let (value, least) = (bytes.into(), largest.into());
                return Err(size.fault(ParamFault::TooSmall { value, why: "cannot hold one full packet", least }));
            }
            if bytes.get() as f64 > MAX_BURST {
                let (low, high) = (largest.into(), Bytes::new(MAX_BURST as u64).into());
                return Err(size.fault(ParamFault::OutOfRange { value: Given::Value(bytes.into()), low, high }));
            }
            Ok(bytes)
        };
        let (burst, mtu) = (size(&BURST)?, size(&MTU)?);
        let peak = PEAK.read(given);
        if let Some(peak) = peak {
            PEAK.at_least(peak, &RATE, rate)?;
        }
        Ok(Self { rate, burst, peak, mtu, largest, framing })
    }

    /// The facts of the link as the queue within sees them.
    #[must_use]
    pub fn facts_within(&self, link: &LinkFacts) -> LinkFacts {
        LinkFacts { rate: Some(link.rate.map_or(self.rate, |rate| rate.min(self.rate))), ..*link }
    }
}

/// The kind `shaper`.
#[derive(Clone, Copy, Debug)]
pub struct ShaperKind;

/// The queue that a shaper of a file holds back.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one per link, and a box would cost a pointer chase per packet")]
pub enum Shaped<P> {
    /// A queue that holds no other.
    Queue(Nested<P>),
    /// Strict priority between such queues.
    Priority(<PriorityKind as Scheduler>::Queue<P>),
}

choose!(Shaped { Queue, Priority });

impl Scheduler for ShaperKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = Box<Shaper<Shaped<P>>>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let params = aside(|| ShaperParams::build(given, setup.link))?;
        let link = params.facts_within(setup.link);
        let within = Setup { link: &link, ..setup };
        let shaper = match within.chosen.of.as_deref() {
            Some(chosen) if chosen.kind.kind == PriorityKind::KIND.kind => {
                let given = ParamValues::new(chosen.kind, &chosen.params)?;
                let within = Setup { chosen, ..within };
                PriorityKind::build(&given, within, |queue| aside(|| Box::new(Shaper::new(Shaped::Priority(queue), params))))?
            }
            of => {
                let queue = Nested::build(of, within)?;
                aside(|| Box::new(Shaper::new(Shaped::Queue(*queue), params)))
            }
        };
        Ok(keep(shaper))
    }
}

#[cfg(test)]
mod tests;
