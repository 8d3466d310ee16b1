//! The loop: world and endpoints take turns on one clock.
//!
//! The earliest event is next; at one instant samples come first, then the world, then endpoints in
//! the order of their flows, sinks before sources. So a run is a function of its specification.

mod end;

use crate::endpoint::{Datagram, Ends};
use crate::error::{EndpointError, Fault, NetError, Side};
use end::{End, Leaving};
use goodqueue_base::units::{Duration, Instant};
use goodqueue_sim::{
    Continue, Fate, Outcome, OutsideDatagram, OutsideWorld, Progress, Reported, Series, SeriesColumn, Ticket, WorldSpec,
};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Turns between two calls of the progress callback.
const TURNS: u32 = 4096;
/// Sampled values of a flow, named as those of our own senders.
const SAMPLED: [&str; 4] = ["cwnd_bytes", "in_flight_bytes", "srtt_s", "goodput_bit_s"];

/// A flow between two endpoints.
struct Flow {
    /// Number in the specification.
    number: u32,
    /// `group[index]`.
    title: String,
    start: Instant,
    stop: Option<Instant>,
    /// Largest IP packet that each direction carries: from the source, from the sink.
    mtu: [usize; 2],
    srtt: Option<Duration>,
    is_complete: bool,
    sampled_bytes: u64,
    series: Series,
}

/// Datagrams under way, by ticket.
#[derive(Default)]
struct Store {
    /// Index 0 is ticket 1. Payload, and the end that sent it.
    places: Vec<(Vec<u8>, usize)>,
    free: Vec<NonZeroU32>,
}

impl Store {
    fn keep(&mut self, payload: Vec<u8>, end: usize) -> Ticket {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push((Vec::new(), 0));
            // Their number is bounded by what may be under way.
            NonZeroU32::new(self.places.len() as u32).unwrap_or(NonZeroU32::MAX)
        });
        self.places[number.get() as usize - 1] = (payload, end);
        Ticket(number)
    }

    fn take(&mut self, ticket: Ticket) -> (Vec<u8>, usize) {
        self.free.push(ticket.0);
        std::mem::take(&mut self.places[ticket.0.get() as usize - 1])
    }
}

pub struct Drive<'a> {
    spec: &'a WorldSpec,
    world: OutsideWorld,
    flows: Vec<Flow>,
    /// Sink and source of each flow in turn.
    ends: Vec<End>,
    /// When each end is due; no end is in it twice.
    due: BTreeSet<(Instant, usize)>,
    store: Store,
    fates: Vec<Fate>,
    next_sample: Instant,
}

impl<'a> Drive<'a> {
    pub fn new(spec: &'a WorldSpec, world: OutsideWorld) -> Self {
        let period = spec.recording.sample_every.filter(|period| !period.is_zero());
        Self {
            spec,
            world,
            flows: Vec::new(),
            ends: Vec::new(),
            due: BTreeSet::new(),
            store: Store::default(),
            fates: Vec::new(),
            next_sample: period.map_or(Instant::MAX, |period| Instant::ZERO + period),
        }
    }

    /// Adds the ends of flow `number` of the specification.
    pub fn add(&mut self, number: u32, title: String, ends: Ends) {
        let spec = &self.spec.flows[number as usize];
        let mtu = |links: &[u32]| links.iter().map(|link| self.spec.links[*link as usize].mtu.get() as usize).min();
        let columns = SAMPLED.iter().map(|name| SeriesColumn { name: (*name).to_owned(), values: Vec::new() }).collect();
        let group = &self.spec.groups[spec.group as usize];
        self.flows.push(Flow {
            number,
            title,
            start: spec.start,
            stop: spec.stop,
            mtu: [&spec.forward, &spec.reverse].map(|route| mtu(route).unwrap_or(usize::MAX)),
            srtt: None,
            is_complete: false,
            sampled_bytes: 0,
            series: Series { subject: format!("flow:{group}:{}", spec.index), times: Arc::default(), columns },
        });
        for endpoint in [ends.sink, ends.source] {
            self.due.insert((spec.start, self.ends.len()));
            self.ends.push(End::new(endpoint, spec.start));
        }
    }

    /// Runs to the end.
    pub fn run(mut self, progress: &mut dyn FnMut(Progress) -> Continue) -> Result<Outcome, NetError> {
        let mut turns = 0_u32;
        loop {
            let world_at = self.world.next();
            let (due_at, end) = self.due.first().copied().unwrap_or((Instant::MAX, 0));
            let at = world_at.min(due_at).min(self.next_sample);
            if at > self.world.end() || at == Instant::MAX {
                break;
            }
            if self.next_sample == at {
                self.sample(at);
            } else if world_at <= due_at {
                self.world.step();
                self.deliver()?;
            } else {
                self.wake(end, due_at)?;
            }
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(TURNS) && progress(self.world.progress()) == Continue::Stop {
                return Ok(self.finish(Continue::Stop));
            }
        }
        self.check_silence()?;
        Ok(self.finish(Continue::Yes))
    }

    /// Gives endpoints what has arrived for them.
    fn deliver(&mut self) -> Result<(), EndpointError> {
        self.world.fates(&mut self.fates);
        if self.fates.is_empty() {
            return Ok(());
        }
        let now = self.world.now();
        let mut fates = std::mem::take(&mut self.fates);
        for fate in fates.drain(..) {
            let (Fate::Arrived { ticket, .. } | Fate::Lost { ticket }) = fate;
            let (payload, from) = self.store.take(ticket);
            self.ends[from].settle(payload.len());
            let Fate::Arrived { ecn, .. } = fate else { continue };
            // The other end of the flow.
            self.arrive(from ^ 1, now, Datagram { payload: &payload, ecn })?;
        }
        self.fates = fates;
        Ok(())
    }

    fn arrive(&mut self, end: usize, now: Instant, datagram: Datagram<'_>) -> Result<(), EndpointError> {
        if self.is_over(end, now) {
            return Ok(());
        }
        self.ends[end].handle(now, datagram).map_err(|fault| self.error(end, now, fault))?;
        self.serve(end, now)
    }

    /// The time of an end has come.
    fn wake(&mut self, end: usize, now: Instant) -> Result<(), EndpointError> {
        self.due.remove(&(now, end));
        self.ends[end].due = Instant::MAX;
        if self.is_over(end, now) {
            return Ok(());
        }
        self.ends[end].wake(now).map_err(|fault| self.error(end, now, fault))?;
        self.serve(end, now)
    }

    /// Takes what an end wants to send now, and when it wants to be called next.
    fn serve(&mut self, end: usize, now: Instant) -> Result<(), EndpointError> {
        self.ends[end].poll(now).map_err(|fault| self.error(end, now, fault))?;
        while let Some(leaving) = self.ends[end].next_leaving(now) {
            self.send(end, now, leaving);
        }
        self.report(end, now);
        let due = self.ends[end].next_due(now).map_err(|fault| self.error(end, now, fault))?;
        let known = std::mem::replace(&mut self.ends[end].due, due);
        if known != due {
            self.due.remove(&(known, end));
            if due != Instant::MAX {
                self.due.insert((due, end));
            }
        }
        // Datagrams that a queue has dropped at once need not be kept.
        self.settle();
        Ok(())
    }

    fn send(&mut self, end: usize, now: Instant, Leaving { payload, ecn, .. }: Leaving) {
        let (flow, side) = (&self.flows[end / 2], side(end));
        let ip_len = payload.len() + crate::limits::HEADERS;
        if ip_len > flow.mtu[usize::from(side == Side::Sink)] {
            // As a socket that must not fragment: probes for larger packets depend on it.
            self.ends[end].settle(payload.len());
            return;
        }
        let (flow, is_reverse) = (flow.number, side == Side::Sink);
        let ticket = self.store.keep(payload, end);
        self.world.put_datagram(now, OutsideDatagram { flow, is_reverse, ip_len: ip_len as u16, ecn, ticket });
    }

    /// Discards what is lost; what has arrived stays for [`Self::deliver`].
    fn settle(&mut self) {
        self.world.fates(&mut self.fates);
        let (store, ends) = (&mut self.store, &mut self.ends);
        self.fates.retain(|fate| {
            let Fate::Lost { ticket } = fate else { return true };
            let (payload, from) = store.take(*ticket);
            ends[from].settle(payload.len());
            false
        });
    }

    /// Passes on what the ends of a flow say of it.
    fn report(&mut self, end: usize, now: Instant) {
        let flow = &mut self.flows[end / 2];
        let source = side(end) == Side::Source;
        let recovery = if source { self.ends[end].endpoint.recovery() } else { Default::default() };
        flow.is_complete = flow.is_complete || self.ends[end].endpoint.is_complete();
        let delivered_bytes = if source { None } else { self.ends[end].endpoint.delivered_bytes() };
        let reported = Reported { delivered_bytes, retransmitted_packets: recovery.lost_packets, is_complete: flow.is_complete };
        self.world.report(now, flow.number, reported);
        if let Some(srtt) = recovery.srtt.filter(|_| source && flow.srtt != recovery.srtt) {
            flow.srtt = Some(srtt);
            self.world.report_rtt(flow.number, srtt);
        }
    }

    fn sample(&mut self, now: Instant) {
        let Some(period) = self.spec.recording.sample_every else { return };
        self.next_sample = now + period;
        for (number, flow) in self.flows.iter_mut().enumerate() {
            let recovery = self.ends[2 * number + 1].endpoint.recovery();
            let sink = &self.ends[2 * number].endpoint;
            let bytes = |bytes: Option<u64>| bytes.map_or(f64::NAN, |bytes| bytes as f64);
            let goodput = sink.delivered_bytes().map_or(f64::NAN, |delivered| {
                let more = delivered.saturating_sub(flow.sampled_bytes);
                flow.sampled_bytes = delivered;
                more as f64 * 8.0 / period.as_secs_f64()
            });
            let srtt = recovery.srtt.map_or(f64::NAN, Duration::as_secs_f64);
            Arc::make_mut(&mut flow.series.times).push(now);
            let values = [bytes(recovery.cwnd), bytes(recovery.in_flight), srtt, goodput];
            for (column, value) in flow.series.columns.iter_mut().zip(values) {
                column.values.push(value);
            }
        }
    }

    /// Whether the flow of an end has stopped.
    fn is_over(&self, end: usize, now: Instant) -> bool {
        self.flows[end / 2].stop.is_some_and(|stop| now >= stop)
    }

    /// A source that never did anything is a mistake of its author.
    fn check_silence(&mut self) -> Result<(), EndpointError> {
        let over = self.world.end();
        for number in 0..self.flows.len() {
            let (end, start) = (2 * number + 1, self.flows[number].start);
            if start < over && !self.ends[end].has_sent && self.ends[end].due == Instant::MAX {
                return Err(self.error(end, over, Fault::Silent));
            }
        }
        Ok(())
    }

    fn error(&self, end: usize, at: Instant, fault: Fault) -> EndpointError {
        EndpointError { flow: self.flows[end / 2].title.clone(), side: side(end), at, fault }
    }

    fn finish(self, wants: Continue) -> Outcome {
        let mut outcome = self.world.finish(wants);
        if self.spec.recording.sample_every.is_some() {
            outcome.series.extend(self.flows.into_iter().map(|flow| flow.series));
        }
        outcome
    }
}

const fn side(end: usize) -> Side {
    if end.is_multiple_of(2) { Side::Sink } else { Side::Source }
}

#[cfg(test)]
mod tests;
