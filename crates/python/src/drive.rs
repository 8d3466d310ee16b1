//! Many packets at once through one queue: arrays of arrivals in, a table of verdicts out.

use crate::custom::LATEST;
use crate::qdisc::{Driven, Held, OutOfRange, ranged, refuse, sized};
use crate::table::Table;
use crate::tables::{Made, batch, column, one};
use arrow_array::types::UInt32Type;
use arrow_array::{DictionaryArray, Float64Array, StringArray, UInt32Array, UInt64Array};
use goodqueue_aqm::{Class, Dropped, Ecn, Packet, Qdisc, Reason, Sink};
use goodqueue_base::units::{Duration, Instant, Packets};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use std::fmt::Display;
use std::sync::Arc;

/// Packets between two checks of the interpreter's signals.
const LOOK_EVERY: usize = 1 << 16;

const VERDICTS: [&str; 4] = ["waiting", "passed", "marked", "dropped"];
const WAITING: u8 = 0;
const PASSED: u8 = 1;
const MARKED: u8 = 2;
const DROPPED: u8 = 3;
const NO_REASON: u8 = u8::MAX;
const NEVER: u64 = u64::MAX;

/// Arrivals as columns; `None` for columns that were not given.
struct Arrivals {
    times: Vec<Instant>,
    sizes: Vec<i64>,
    flows: Option<Vec<i64>>,
    ecn: Option<Vec<i64>>,
    classes: Option<Vec<i64>>,
}

impl Arrivals {
    /// The packet of a row, whose values [`check`] has validated.
    fn packet(&self, row: usize, first: u64) -> Held {
        let at = |column: &Option<Vec<i64>>| column.as_ref().map_or(0, |values| values[row]);
        Held {
            number: first + row as u64,
            flow: at(&self.flows) as u32,
            len: self.sizes[row] as u16,
            ecn: Ecn::from_bits(at(&self.ecn) as u8),
            class: Class::new(at(&self.classes) as u8),
        }
    }
}

/// Outcome of each packet, in the order of arrival.
struct Fates {
    now: Instant,
    first: u64,
    verdicts: Vec<u8>,
    reasons: Vec<u8>,
    left: Vec<u64>,
    sojourns: Vec<u64>,
}

impl Fates {
    fn new(first: u64, count: usize) -> Self {
        Self {
            now: Instant::ZERO,
            first,
            verdicts: vec![WAITING; count],
            reasons: vec![NO_REASON; count],
            left: vec![NEVER; count],
            sojourns: vec![NEVER; count],
        }
    }

    /// Row of a packet; `None` if it arrived before this call.
    fn row(&self, packet: &Held) -> Option<usize> {
        packet.number.checked_sub(self.first).map(|row| row as usize)
    }

    fn leaves(&mut self, row: usize, sojourn: Duration) {
        self.left[row] = self.now.as_nanos();
        self.sojourns[row] = sojourn.as_nanos();
    }

    fn table(self) -> Made {
        let count = self.verdicts.len();
        let seconds = |values: Vec<u64>| -> Float64Array {
            let second = |value: u64| (value != NEVER).then(|| Duration::ns(value).as_secs_f64());
            values.into_iter().map(second).collect()
        };
        let words = |keys: UInt32Array, words: &[&'static str]| {
            DictionaryArray::<UInt32Type>::try_new(keys, Arc::new(StringArray::from_iter_values(words)))
        };
        let verdicts = UInt32Array::from_iter_values(self.verdicts.iter().map(|&verdict| u32::from(verdict)));
        let reason = |&reason: &u8| (reason != NO_REASON).then_some(u32::from(reason));
        let reasons: UInt32Array = self.reasons.iter().map(reason).collect();
        batch(vec![
            column("number", UInt64Array::from_iter_values((0..count as u64).map(|row| self.first + row)), false),
            column("verdict", words(verdicts, &VERDICTS)?, false),
            column("reason", words(reasons, &Reason::ALL.map(Reason::name))?, true),
            column("left_s", seconds(self.left), true),
            column("sojourn_s", seconds(self.sojourns), true),
        ])
    }
}

impl Sink<Held> for Fates {
    fn dropped(&mut self, packet: Held, drop: Dropped) {
        if let Some(row) = self.row(&packet) {
            self.verdicts[row] = DROPPED;
            self.reasons[row] = drop.reason as u8;
            self.leaves(row, self.now.since(drop.enqueued_at));
        }
    }
    fn marked(&mut self, packet: &Held, reason: Reason) {
        if let Some(row) = self.row(packet) {
            self.verdicts[row] = MARKED;
            self.reasons[row] = reason as u8;
        }
    }
}

/// The server of the queue.
enum Server<'a> {
    /// A transmitter at the rate of the queue.
    Link,
    /// A caller that requests packets at these times.
    Asked { times: &'a [Instant], next: usize },
}

/// Runs a queue and its server through time.
struct Drive<'a> {
    driven: &'a mut Driven,
    fates: Fates,
    server: Server<'a>,
}

impl Drive<'_> {
    /// Time of the next request for a packet.
    fn service(&self) -> Instant {
        match &self.server {
            Server::Link => self.driven.service,
            Server::Asked { times, next } => times.get(*next).copied().unwrap_or(Instant::MAX),
        }
    }

    fn serve(&mut self, now: Instant) {
        let departure = self.driven.queue.dequeue(now, &mut self.fates);
        if let Server::Asked { next, .. } = &mut self.server {
            *next += 1;
        } else {
            let sending = departure
                .as_ref()
                .map(|leaving| self.driven.rate.transmission_time(self.driven.framing.wire(leaving.packet.len())));
            self.driven.service = sending.map_or(Instant::MAX, |span| now + span);
        }
        let Some(departure) = departure else { return };
        if let Some(row) = self.fates.row(&departure.packet) {
            if self.fates.verdicts[row] == WAITING {
                self.fates.verdicts[row] = PASSED;
            }
            self.fates.leaves(row, departure.sojourn(now));
        }
    }

    /// Runs timers and services up to and including a time. Returns false when none is due.
    fn step(&mut self, until: Instant) -> bool {
        let timer = self.driven.queue.next_timer().unwrap_or(Instant::MAX);
        let service = self.service();
        let next = timer.min(service).max(self.driven.now);
        if next > until || next == Instant::MAX {
            return false;
        }
        self.driven.now = next;
        self.fates.now = next;
        if timer <= service {
            self.driven.queue.handle_timer(next);
            self.wake(next);
        } else {
            self.serve(next);
        }
        true
    }

    /// Makes an idle transmitter check for packets.
    fn wake(&mut self, now: Instant) {
        let idle = matches!(self.server, Server::Link) && self.driven.service == Instant::MAX;
        if idle && self.driven.queue.view().packets > Packets::ZERO {
            self.serve(now);
        }
    }

    fn arrive(&mut self, packet: Held, now: Instant) {
        self.driven.now = now;
        self.fates.now = now;
        self.driven.queue.enqueue(now, packet, &mut self.fates);
        self.wake(now);
    }

    /// Whether, after the last arrival, packets still wait and will be requested.
    fn has_work(&self) -> bool {
        match &self.server {
            Server::Link => self.driven.queue.view().packets > Packets::ZERO || self.driven.service != Instant::MAX,
            Server::Asked { times, next } => *next < times.len(),
        }
    }

    fn run(&mut self, arrivals: &Arrivals) -> PyResult<()> {
        let (first, mut steps) = (self.fates.first, 0_usize);
        let mut look = |trouble: &crate::custom::PythonError| {
            steps += 1;
            let due = steps.is_multiple_of(LOOK_EVERY) || trouble.is_there();
            if due { Python::attach(|py| py.check_signals()).and_then(|()| trouble.raise()) } else { Ok(()) }
        };
        for (row, &at) in arrivals.times.iter().enumerate() {
            while self.step(at) {
                look(&self.driven.trouble)?;
            }
            self.arrive(arrivals.packet(row, first), at);
            look(&self.driven.trouble)?;
        }
        while self.has_work() && self.step(Instant::MAX) {
            look(&self.driven.trouble)?;
        }
        self.driven.trouble.raise()
    }
}

/// Passes arrivals through a queue.
#[pyfunction]
#[pyo3(signature = (qdisc, time, size, flow, ecn, class, serve))]
#[allow(clippy::too_many_arguments, reason = "one for each column")]
pub fn drive(
    py: Python<'_>,
    qdisc: &Bound<'_, Driven>,
    time: &Bound<'_, PyAny>,
    size: &Bound<'_, PyAny>,
    flow: Option<&Bound<'_, PyAny>>,
    ecn: Option<&Bound<'_, PyAny>>,
    class: Option<&Bound<'_, PyAny>>,
    serve: Option<&Bound<'_, PyAny>>,
) -> PyResult<Table> {
    let mut driven = qdisc.try_borrow_mut()?;
    let times = instants(py, "time", time, driven.now)?;
    let whole = |name: &str, column: Option<&Bound<'_, PyAny>>, most: i64| -> PyResult<Option<Vec<i64>>> {
        let Some(column) = column else { return Ok(None) };
        let values = PyBuffer::<i64>::get(column)?.to_vec(py)?;
        check(py, name, &values, times.len(), |value| ranged(value, most).map(drop))?;
        Ok(Some(values))
    };
    let sizes = PyBuffer::<i64>::get(size)?.to_vec(py)?;
    check(py, "size", &sizes, times.len(), |value| sized(value).map(drop))?;
    let flows = whole("flow", flow, u32::MAX.into())?;
    let ecn = whole("ecn", ecn, 3)?;
    let classes = whole("class_", class, 7)?;
    let asked = serve.map(|column| instants(py, "serve", column, driven.now)).transpose()?;
    let arrivals = Arrivals { times, sizes, flows, ecn, classes };
    let count = arrivals.times.len();
    let (first, own) = (driven.next, driven.is_own);
    driven.next += count as u64;
    let server = asked.as_ref().map_or(Server::Link, |times| Server::Asked { times, next: 0 });
    let mut drive = Drive { driven: &mut driven, fates: Fates::new(first, count), server };
    // An algorithm in Python needs the lock for each packet; reacquiring it each time costs more
    // than the algorithm itself.
    if own { drive.run(&arrivals) } else { py.detach(|| drive.run(&arrivals)) }?;
    Table::made("drive", Some(one(drive.fates.table())))
}

fn check(
    py: Python<'_>,
    name: &str,
    values: &[i64],
    rows: usize,
    allowed: impl Fn(i64) -> Result<(), OutOfRange>,
) -> PyResult<()> {
    if values.len() != rows {
        return Err(refuse(py, name, format!("has {} values, but time has {rows}", values.len())));
    }
    for (row, &value) in values.iter().enumerate() {
        allowed(value).map_err(|why| refuse(py, &format!("{name}[{row}]"), why))?;
    }
    Ok(())
}

/// Reads a column of seconds, or of whole nanoseconds.
fn instants(py: Python<'_>, name: &str, column: &Bound<'_, PyAny>, from: Instant) -> PyResult<Vec<Instant>> {
    let at = |row: usize, why: &dyn Display| refuse(py, &format!("{name}[{row}]"), why);
    let times: Vec<Instant> = if let Ok(buffer) = PyBuffer::<i64>::get(column) {
        let values = buffer.to_vec(py)?.into_iter().enumerate();
        let most = (LATEST * 1e9) as i64;
        let whole =
            |(row, value)| ranged(value, most).map(|value| Instant::from_nanos(value as u64)).map_err(|why| at(row, &why));
        values.map(whole).collect::<PyResult<_>>()?
    } else {
        let values = PyBuffer::<f64>::get(column)?.to_vec(py)?.into_iter().enumerate();
        let second = |(row, value): (usize, f64)| crate::custom::moment(value).map_err(|why| at(row, &format!("{value} {why}")));
        values.map(second).collect::<PyResult<_>>()?
    };
    let mut before = from;
    for (row, &time) in times.iter().enumerate() {
        if time < before {
            let (time, before) = (time.as_secs_f64(), before.as_secs_f64());
            return Err(at(row, &format!("{time} s is before {before} s: time must not run backwards")));
        }
        before = time;
    }
    Ok(times)
}
