//! Strict priority: several queues, of which the most urgent one with a packet to send is always
//! served first.
//!
//! *Signal*: the class of the packet; and that of the queue within each band.
//!
//! *Law*: with `bands` queues numbered from 0, a packet of class `c` goes to band `bands - 1 - c`,
//! at least 0: class 0 to the last band, each higher class to the band before, all remaining
//! classes to the first. A departure takes from the first band that has a packet ready. A
//! transmission in progress is not interrupted.
//!
//! *Parameters*: see `KINDS`. The defaults are those of Linux.
//!
//! *Deviations*: Linux maps priorities to bands by a table; here the class order is the band order,
//! which is all that RFC 2474 asks of class selectors. A band that withholds its packets (a shaper)
//! does not block the next one.
//!
//! *Limits*: a band can starve all bands below it; use a shaper or a policer where that must not
//! happen. The limit holds for each band, so that full lower bands never take the room of an urgent
//! packet: together the bands may hold `bands` times as much. The queues within are told the rate
//! of the whole link.
//!
//! *Source*: Cobham 1954 for its delays; RFC 2474 §4.2.2.2 for the classes; Linux (`prio`) for the
//! defaults.

use crate::aqm::{FlowHash, QueueView};
use crate::counters::Counters;
use crate::outline::aside;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::sched::{NESTED_BYTES, Nested, Scheduler, Setup};
use crate::spec::{Family, Kind, KindSpec, Param, ParamError, ParamValues, TypedParam, Unit};
use alloc::boxed::Box;
use alloc::vec::Vec;
use goodqueue_base::units::{Class, Instant, Rate, Rng};

/// One queue of several.
#[derive(Clone, Debug)]
struct Band<Q> {
    queue: Q,
    /// True if the queue was notified that a departure found it empty, and nothing has arrived
    /// since.
    knows_idle: bool,
}

/// Queues `Q` served in strict order.
#[derive(Clone, Debug)]
pub struct Priority<Q> {
    bands: Vec<Band<Q>>,
}

impl<Q> Priority<Q> {
    /// Serves `most_urgent` first and `others` in their order.
    #[must_use]
    pub fn new(most_urgent: Q, others: impl IntoIterator<Item = Q>) -> Self {
        let queues = core::iter::once(most_urgent).chain(others);
        Self { bands: queues.map(|queue| Band { queue, knows_idle: false }).collect() }
    }
}

impl<P: Packet, Q: Qdisc<P>> Qdisc<P> for Priority<Q> {
    // Out of line, here and below, so that common disciplines do not pay for this code in
    // `AnyQdisc`.
    #[inline(never)]
    fn enqueue(&mut self, now: Instant, packet: P, sink: &mut dyn Sink<P>) {
        let band = packet.class().band(self.bands.len());
        let band = &mut self.bands[band];
        band.knows_idle = false;
        band.queue.enqueue(now, packet, sink);
    }

    #[inline(never)]
    fn dequeue(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        for band in self.bands.iter_mut().filter(|band| !band.knows_idle) {
            if let Some(departure) = band.queue.dequeue(now, sink) {
                return Some(departure);
            }
            band.knows_idle = band.queue.view().packets.is_zero();
        }
        None
    }

    #[inline(never)]
    fn next_timer(&self) -> Option<Instant> {
        self.bands.iter().filter_map(|band| band.queue.next_timer()).min()
    }

    fn handle_timer(&mut self, now: Instant) {
        self.bands.iter_mut().for_each(|band| band.queue.handle_timer(now));
    }

    fn set_weight(&mut self, flow: FlowHash, weight: f64) {
        self.bands.iter_mut().for_each(|band| band.queue.set_weight(flow, weight));
    }

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.bands.iter_mut().for_each(|band| band.queue.set_link_rate(now, rate));
    }

    fn reserve(&mut self, packets: usize) {
        self.bands.iter_mut().for_each(|band| band.queue.reserve(packets));
    }

    #[inline(never)]
    fn view(&self) -> QueueView {
        self.bands.iter().map(|band| band.queue.view()).sum()
    }

    fn counters(&self) -> Counters {
        self.bands.iter().map(|band| band.queue.counters()).fold(Counters::default(), |sum, counters| sum + counters)
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        const NAMES: [&str; Class::COUNT] = [
            "band_0_packets",
            "band_1_packets",
            "band_2_packets",
            "band_3_packets",
            "band_4_packets",
            "band_5_packets",
            "band_6_packets",
            "band_7_packets",
        ];
        for (name, band) in NAMES.iter().zip(&self.bands) {
            visit(name, band.queue.view().packets.get() as f64);
        }
    }
}

const BANDS: TypedParam<u32> = TypedParam::count("bands", 3)
    .within(1.0, Class::COUNT as f64)
    .about("queues; class 0 goes to the last of them, each higher class to the one before")
    .as_queues(&[])
    .from_source("Linux");

const KIND: KindSpec = KindSpec::new(
    Kind {
        kind: "priority",
        aliases: &["prio", "PrioQueueDisc"],
        title: "Strict priority",
        summary: "Strict priority between queues, chosen by the packet's class",
        params: &[
            Param::auto("of", Unit::Queue, "tail-drop")
                .about("the queue of each band, with its own parameters")
                .from_source("Linux"),
            BANDS.param,
        ],
        source: "RFC 2474 §4.2.2.2",
    },
    Family::Classes,
    "the packet's class; that of the queue in each band",
)
.with_queue_bytes(NESTED_BYTES);

/// The kind `priority`.
#[derive(Clone, Copy, Debug)]
pub struct PriorityKind;

impl Scheduler for PriorityKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = Box<Priority<Nested<P>>>;

    /// Gives each band a separate random stream.
    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        mut setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let bands = BANDS.read(given) as usize;
        let mut queue = Priority { bands: Vec::with_capacity(bands) };
        for _ in 0..bands {
            let rng = Rng::new(setup.rng.next_u64());
            let inner = Nested::build(setup.chosen.of.as_deref(), Setup { rng, ..setup.clone() })?;
            aside(|| queue.bands.push(Band { queue: *inner, knows_idle: false }));
        }
        Ok(keep(Box::new(queue)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algo::tail_drop::TailDrop;
    use crate::{Limit, ManagedQueue, NoSink, SimplePacket};
    use std::vec::Vec;

    fn priority(bands: usize) -> Priority<ManagedQueue<SimplePacket, TailDrop>> {
        let queue = ManagedQueue::new(TailDrop, Limit::packets(3));
        Priority::new(queue.clone(), core::iter::repeat_n(queue, bands - 1))
    }

    fn packet(id: u64, class: u8) -> SimplePacket {
        SimplePacket { id, class: Class::new(class), ..SimplePacket::new(1000) }
    }

    fn departures(queue: &mut impl Qdisc<SimplePacket>) -> Vec<u64> {
        core::iter::from_fn(|| queue.dequeue(Instant::from_nanos(9), &mut NoSink)).map(|d| d.packet.id).collect()
    }

    #[test]
    fn serves_higher_classes_first_and_each_band_in_order() {
        let mut queue = priority(3);
        for (id, class) in [0, 1, 7, 0, 2, 1].into_iter().enumerate() {
            queue.enqueue(Instant::from_nanos(1), packet(id as u64, class), &mut NoSink);
        }
        assert_eq!(departures(&mut queue), [2, 4, 1, 5, 0, 3]);
        assert!(queue.counters().conserves(queue.view()));
    }

    #[test]
    fn a_full_band_takes_no_room_from_others() {
        let mut queue = priority(2);
        (0..10).for_each(|id| queue.enqueue(Instant::from_nanos(1), packet(id, 0), &mut NoSink));
        (10..12).for_each(|id| queue.enqueue(Instant::from_nanos(1), packet(id, 1), &mut NoSink));
        assert_eq!(queue.counters().overflow().packets.get(), 7);
        assert_eq!(departures(&mut queue), [10, 11, 0, 1, 2]);
    }

    #[test]
    fn one_band_is_the_queue_itself() {
        let mut queue = priority(1);
        (0..3).for_each(|id| queue.enqueue(Instant::from_nanos(1), packet(id, id as u8), &mut NoSink));
        assert_eq!(departures(&mut queue), [0, 1, 2]);
    }

    /// Counts how often it hears of idleness.
    #[derive(Clone, Debug, Default)]
    struct Listener(u32);

    impl crate::Aqm for Listener {
        fn on_idle(&mut self, _: Instant) {
            self.0 += 1;
        }
    }

    #[test]
    fn an_empty_band_hears_of_it_once() {
        let listener = || ManagedQueue::new(Listener::default(), Limit::NONE);
        let mut queue = Priority::new(listener(), [listener()]);
        for round in 1..=3 {
            queue.enqueue(Instant::from_nanos(1), packet(0, 1), &mut NoSink);
            queue.enqueue(Instant::from_nanos(1), packet(1, 0), &mut NoSink);
            assert_eq!(departures(&mut queue), [0, 1]);
            assert_eq!(departures(&mut queue), [0_u64; 0]);
            assert_eq!([0, 1].map(|band| queue.bands[band].queue.aqm().0), [round; 2]);
        }
    }
}
