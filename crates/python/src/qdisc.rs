//! One queue, driven by a program packet by packet.

use crate::custom::{PythonError, codepoint, moment};
use crate::plan::Plan;
use goodqueue_aqm::spec::LinkFacts;
use goodqueue_aqm::{AnyQdisc, Class, Counters, Dropped, Ecn, EcnPolicy, FlowHash, Packet, Qdisc, Reason, Rng, Sink, Tally};
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Rate};
use goodqueue_lab::scenario::plan::Direction;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt;
use std::sync::Arc;

/// The largest IP packet.
pub const MAX_BYTES: i64 = 65_535;

/// A packet that consists of metadata only.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub number: u64,
    pub flow: u32,
    pub len: u16,
    pub ecn: Ecn,
    pub class: Class,
}

impl Packet for Held {
    #[inline]
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.len))
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    #[inline]
    fn flow(&self) -> FlowHash {
        FlowHash(self.flow)
    }
    #[inline]
    fn class(&self) -> Class {
        self.class
    }
}

/// A packet's event: name, number, flow, size, codepoint, reason and sojourn time.
type Event = (&'static str, u64, u32, u16, &'static str, Option<&'static str>, Option<f64>);

fn event(name: &'static str, packet: &Held, reason: Option<Reason>, sojourn: Option<Duration>) -> Event {
    let reason = reason.map(Reason::name);
    let sojourn = sojourn.map(|span| span.as_secs_f64());
    (name, packet.number, packet.flow, packet.len, codepoint(packet.ecn), reason, sojourn)
}

/// Records what a queue reports.
struct Log {
    now: Instant,
    events: Vec<Event>,
    /// Number of the packet dropped last.
    dropped: Option<u64>,
}

impl Log {
    fn new(now: Instant) -> Self {
        Self { now, events: Vec::new(), dropped: None }
    }
}

impl Sink<Held> for Log {
    fn dropped(&mut self, packet: Held, drop: Dropped) {
        self.dropped = Some(packet.number).max(self.dropped);
        self.events.push(event("dropped", &packet, Some(drop.reason), Some(self.now.since(drop.enqueued_at))));
    }
    fn marked(&mut self, packet: &Held, reason: Reason) {
        self.events.push(event("marked", packet, Some(reason), None));
    }
}

/// A queue and its transmitter.
#[pyclass(name = "Qdisc", module = "goodqueue._core")]
pub struct Driven {
    /// The kind, followed by a colon and the algorithm or queue that it contains.
    name: String,
    pub queue: AnyQdisc<Held>,
    pub now: Instant,
    /// The number of the next packet.
    pub next: u64,
    pub rate: Rate,
    pub framing: Framing,
    /// Time at which the transmitter is free again; `MAX` while it waits for a packet.
    pub service: Instant,
    pub is_own: bool,
    pub trouble: Arc<PythonError>,
}

#[pymethods]
impl Driven {
    /// Creates the queue of a plan's only link.
    #[new]
    fn new(py: Python<'_>, plan: &Plan, seed: u64) -> PyResult<Self> {
        let point = plan.plan.point(0).map_err(|error| crate::error::scenario_error(py, &error))?;
        let link = point.plan.links.first().ok_or_else(|| PyRuntimeError::new_err("a scenario without links"))?;
        let direction = link.direction(Direction::Down);
        let queue = direction.queue.as_ref().ok_or_else(|| PyRuntimeError::new_err("a link without a queue"))?;
        let rate = direction.nominal_rate();
        let facts =
            LinkFacts { rate: Some(rate), delay: direction.delay, mtu: link.mtu, overhead: link.overhead(), limit: queue.limit };
        let (rng, ecn): (Rng, EcnPolicy) = (Rng::new(seed), queue.ecn);
        let built = match &queue.own {
            Some(own) => AnyQdisc::build_own(&**own, &facts, ecn, rng),
            None => AnyQdisc::build_over(&queue.chosen, &facts, ecn, rng),
        };
        plan.trouble.raise()?;
        Ok(Self {
            name: queue.name(),
            queue: built.map_err(|error| PyValueError::new_err(error.to_string()))?,
            now: Instant::ZERO,
            next: 0,
            rate,
            framing: link.framing,
            service: Instant::MAX,
            is_own: queue.own.is_some(),
            trouble: plan.trouble.clone(),
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Offers a packet and returns the events that followed.
    fn enqueue(&mut self, py: Python<'_>, time: f64, size: i64, flow: i64, ecn: &str, class: i64) -> PyResult<Vec<Event>> {
        let packet = Held {
            number: self.next,
            flow: ranged(flow, u32::MAX.into()).map_err(|why| refuse(py, "flow", why))? as u32,
            len: sized(size).map_err(|why| refuse(py, "size", why))?,
            ecn: named(ecn).map_err(|why| refuse(py, "ecn", why))?,
            class: Class::new(ranged(class, 7).map_err(|why| refuse(py, "class_", why))? as u8),
        };
        let now = self.advance(py, time)?;
        self.next += 1;
        let mut log = Log::new(now);
        self.queue.enqueue(now, packet, &mut log);
        self.trouble.raise()?;
        if log.dropped != Some(packet.number) {
            let ecn =
                if log.events.iter().any(|event| event.0 == "marked" && event.1 == packet.number) { Ecn::Ce } else { packet.ecn };
            log.events.push(event("enqueued", &Held { ecn, ..packet }, None, None));
        }
        Ok(log.events)
    }

    /// Requests the next packet and returns drops, marks and the departure.
    fn dequeue(&mut self, py: Python<'_>, time: f64) -> PyResult<Vec<Event>> {
        let now = self.advance(py, time)?;
        let mut log = Log::new(now);
        if let Some(departure) = self.queue.dequeue(now, &mut log) {
            log.events.push(event("departed", &departure.packet, None, Some(departure.sojourn(now))));
        }
        self.trouble.raise()?;
        Ok(log.events)
    }

    /// Runs timers up to a time.
    fn advance_to(&mut self, py: Python<'_>, time: f64) -> PyResult<()> {
        self.advance(py, time).map(drop)
    }

    /// Sets the rate of the link.
    fn set_rate(&mut self, py: Python<'_>, time: f64, rate: &str) -> PyResult<()> {
        let rate = goodqueue_lab::quantity::rate(rate).map_err(|error| refuse(py, "rate", error))?;
        let now = self.advance(py, time)?;
        self.rate = rate;
        self.queue.set_link_rate(now, Some(rate));
        self.trouble.raise()
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.now.as_secs_f64()
    }
    #[getter]
    fn packets(&self) -> u64 {
        self.queue.view().packets.get()
    }
    #[getter]
    fn backlog(&self) -> u64 {
        self.queue.view().backlog.get()
    }
    #[getter]
    fn next_timer_s(&self) -> Option<f64> {
        self.queue.next_timer().map(Instant::as_secs_f64)
    }

    /// Gauges by name.
    fn gauges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (gauges, mut trouble) = (PyDict::new(py), Ok(()));
        self.queue.gauges(&mut |name, value| {
            if trouble.is_ok() {
                trouble = gauges.set_item(name, value);
            }
        });
        self.trouble.raise()?;
        trouble.map(|()| gauges)
    }

    /// Counters of arrivals, departures, marks and drops: packets and bytes by name.
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters: Counters = self.queue.counters();
        let all = PyDict::new(py);
        let pair = |tally: Tally| (tally.packets.get(), tally.bytes.get());
        all.set_item("arrived", pair(counters.arrived))?;
        all.set_item("departed", pair(counters.departed))?;
        all.set_item("marked", pair(counters.marked))?;
        for reason in Reason::ALL {
            let dropped = counters.dropped(reason);
            if dropped.packets.get() > 0 {
                all.set_item(format!("dropped.{}", reason.name()), pair(dropped))?;
            }
        }
        Ok(all)
    }
}

impl Driven {
    /// Advances the clock and runs the timers of the queue.
    fn advance(&mut self, py: Python<'_>, time: f64) -> PyResult<Instant> {
        let time = moment(time).map_err(|why| refuse(py, "time", format!("{time} {why}")))?;
        if time < self.now {
            let why = format!("{} s is before {} s: time must not run backwards", time.as_secs_f64(), self.now.as_secs_f64());
            return Err(refuse(py, "time", &why));
        }
        let mut count = 0_u64;
        while self.queue.next_timer().is_some_and(|due| due <= time) {
            let due = self.queue.next_timer().unwrap_or(time).max(self.now);
            self.now = due;
            self.queue.handle_timer(due);
            count += 1;
            if count.is_multiple_of(1 << 16) {
                py.check_signals()?;
            }
            self.trouble.raise()?;
        }
        self.now = time;
        Ok(time)
    }
}

/// Error for an invalid argument.
pub fn refuse(py: Python<'_>, argument: &str, why: impl fmt::Display) -> PyErr {
    crate::error::arrival_error(py, &format!("{argument}: {why}"))
}

/// A number that a packet cannot have.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub enum OutOfRange {
    #[error("{number} is out of range: allowed 0 to {most}")]
    Number { number: i64, most: i64 },
    #[error("{0} is out of range: allowed 1 to {MAX_BYTES} bytes")]
    Size(i64),
}

/// Checks that a number is between 0 and `most`.
pub fn ranged(number: i64, most: i64) -> Result<i64, OutOfRange> {
    if (0..=most).contains(&number) { Ok(number) } else { Err(OutOfRange::Number { number, most }) }
}

/// Checks the length of a packet.
pub fn sized(number: i64) -> Result<u16, OutOfRange> {
    match u16::try_from(number) {
        Ok(len) if len > 0 => Ok(len),
        _ => Err(OutOfRange::Size(number)),
    }
}

/// A word that names no codepoint.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{0}` is not known: allowed `not-ect`, `ect0`, `ect1`, `ce`")]
struct NoCodepoint(String);

fn named(ecn: &str) -> Result<Ecn, NoCodepoint> {
    let all = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
    let known = all.into_iter().find(|known| codepoint(*known) == ecn);
    known.ok_or_else(|| NoCodepoint(ecn.to_owned()))
}
