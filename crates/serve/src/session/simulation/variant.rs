//! One of a session's worlds, and what a page is shown of it.

use super::calls::Calls;
use super::packets::{Packets, Shown, Waiting};
use super::rates::{FrameTotals, RateMeter, Rates};
use crate::session::error::ApiError;
use crate::session::memory::{CONNECTION_BYTES, PACKET_BYTES};
use crate::session::scenario::{Scenario, connections, queue_at, state_bytes};
use goodqueue_base::units::{Duration, Instant};
use goodqueue_lab::run::backend::sampling_period;
use goodqueue_lab::run::runner::PointResult;
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::{Point, Queue};
use goodqueue_sim::{Change, FlowView, LinkView, OpenWorld, Outcome, PacketLog, Recording, WorldError};
use serde_json::{Map, Value, json};

/// Flows that a page is shown.
const MAX_FLOWS: usize = 64;
/// Events of one turn, for which other sessions and an order to stop wait.
const EVENTS_PER_TURN: u64 = 100_000;
/// Events of one turn where each event is looked at.
const SLOW_EVENTS_PER_TURN: u64 = 5_000;
/// Packets of one frame and variant that are shown one by one.
pub(super) const MAX_SHOWN: usize = 2000;
/// Packet events kept for one frame.
const MAX_KEPT: usize = 10 * MAX_SHOWN;

/// Level of detail at which a world is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// In figures only.
    Fast,
    /// Event by event.
    Slow,
}

/// A world with its queue.
pub struct Variant {
    pub(super) world: OpenWorld,
    /// Number of the link in question among the observed ones.
    link: u32,
    queue: Queue,
    packets: Packets,
    rates: RateMeter,
    calls: Calls,
    /// Packet events that no page has been sent yet.
    shown: Vec<Shown>,
    /// Memory of a world that holds nothing.
    state_bytes: u64,
    /// Connections that it may have as soon as it begins.
    connections: u64,
}

impl Variant {
    /// Builds the world of a variant.
    pub fn new(scenario: &Scenario, number: usize) -> Result<Self, ApiError> {
        let point = &scenario.variants[number].point;
        let mut spec = build::world(point, 0);
        let period = sampling_period(spec.warmup + spec.duration);
        spec.recording = Recording { sample_every: Some(period), packets: false };
        let observed: Vec<&str> = spec.links.iter().filter(|link| link.observed).map(|link| link.name.as_str()).collect();
        let place = observed.iter().position(|name| *name == scenario.link);
        let queue = queue_at(point, &scenario.link).cloned();
        let (Some(link), Some(queue)) = (place, queue) else {
            return Err(ApiError::unprocessable(format!(
                "link.{}: needs a buffer: only a queue with a limit can be watched",
                scenario.link
            )));
        };
        let mut world = OpenWorld::new(spec)?;
        world.keep_packets(PacketLog::Keep);
        let packets = Packets::default();
        let (rates, shown, state_bytes) = (RateMeter::default(), Vec::new(), state_bytes(point));
        let connections = connections(point);
        let calls = Calls::of(&mut world);
        Ok(Self { world, link: link as u32, queue, packets, rates, calls, shown, state_bytes, connections })
    }

    /// Goes on toward `until`, for a number of events; true when it got there.
    pub fn advance(&mut self, until: Instant, pace: Pace) -> bool {
        match pace {
            Pace::Fast => {
                let there = self.world.run_until(until, EVENTS_PER_TURN);
                let events = self.world.take_packets();
                self.packets.follow(&events, self.link);
                there
            }
            Pace::Slow => (0..SLOW_EVENTS_PER_TURN).any(|_| self.advance_by_one(until)),
        }
    }

    /// One event, with the reason of each drop and mark as it is decided.
    fn advance_by_one(&mut self, until: Instant) -> bool {
        let there = self.world.run_until(until, 1);
        let events = self.world.take_packets();
        self.packets.show(&events, self.link, &self.queue, &self.world, &mut self.shown);
        if self.shown.len() > MAX_KEPT {
            // More than a page is sent anyhow: the older half is forgotten.
            self.shown.drain(..MAX_KEPT / 2);
        }
        there
    }

    /// The memory it takes, estimated from what it holds.
    pub fn bytes(&self) -> u64 {
        let held = self.world.held();
        // Those that it begins with are in its state.
        let later = held.connections.saturating_sub(self.connections);
        self.state_bytes + held.packets * PACKET_BYTES + later * CONNECTION_BYTES
    }

    /// Packet events since the last call.
    pub fn take_shown(&mut self) -> Vec<Shown> {
        std::mem::take(&mut self.shown)
    }

    /// Returns the packets that wait.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.packets.waiting()
    }

    /// Describes the time since the last call: link, groups, flows, gauges.
    pub fn frame(&mut self) -> Value {
        let view = self.world.look(MAX_FLOWS);
        let link = &view.links[self.link as usize];
        let rates = self.rates.add(FrameTotals {
            span_s: view.span.as_secs_f64(),
            sent_bits: link.interval.sent.bits() as f64,
            capacity_bits: link.capacity_bits,
            groups: view.groups.iter().map(|group| group.delivered.get()).collect(),
            flows: view.flows.iter().map(|flow| flow.delivered.get()).collect(),
        });
        let calls = self.calls.look(&mut self.world);
        let names = &self.world.spec().groups;
        let flows: Vec<Value> = view
            .flows
            .iter()
            .zip(&rates.flows)
            .map(|(flow, goodput)| show_flow(flow, &names[flow.group as usize], *goodput))
            .collect();
        let groups: Vec<Value> = names
            .iter()
            .zip(&rates.groups)
            .zip(calls)
            .map(|((name, goodput), call)| json!({ "name": name, "goodput_bit_s": goodput, "call": call }))
            .collect();
        json!({ "link": show_link(link, rates), "groups": groups, "flows": flows, "gauges": gauges(link) })
    }

    /// Puts a queue in the place of the present one; `point` are the settings with it.
    pub fn replace_queue(&mut self, link: &str, queue: Queue, point: &Point) -> Result<(), WorldError> {
        self.world.change(Change::Queue { link: link.to_owned(), queue: build::discipline(&queue) })?;
        self.queue = queue;
        self.state_bytes = state_bytes(point);
        Ok(())
    }

    pub fn more_flows(&self, scenario: &Scenario, number: usize, group: usize, count: u32) -> Change {
        let plan = &scenario.variants[number].point.plan;
        let (links, flows) = build::more_flows(plan, self.world.spec(), group, count, self.world.now());
        Change::Flows { links, flows }
    }

    /// The result, and its fingerprint. `None` when it ended before measuring began.
    pub fn finish(self, scenario: &Scenario, number: usize) -> Option<(PointResult, u64)> {
        let warmup = self.world.spec().warmup;
        let measured: Duration = self.world.now().since(Instant::ZERO).saturating_sub(warmup);
        let outcome: Outcome = self.world.finish();
        let fingerprint = outcome.fingerprint;
        (!measured.is_zero()).then(|| (PointResult::of_one_run(&scenario.variants[number].point, outcome, measured), fingerprint))
    }
}

fn show_link(link: &LinkView, rates: &Rates) -> Value {
    let interval = &link.interval;
    let sojourn = (interval.departed > 0).then(|| {
        json!({
            "mean": interval.sojourn_mean.as_secs_f64(), "p95": interval.sojourn_p95.as_secs_f64(),
            "max": interval.sojourn_max.as_secs_f64(),
        })
    });
    json!({
        "rate_bit_s": link.rate.as_bit_s(),
        "queue_packets": link.waiting.packets.get(),
        "queue_bytes": link.waiting.backlog.get(),
        "sojourn_s": sojourn,
        "throughput_bit_s": rates.throughput,
        "utilization": rates.utilization,
        "drops": { "overflow": link.counters.overflow().packets.get(), "early": link.counters.early().packets.get() },
        "marks": link.counters.marked.packets.get(),
        "arrived": link.counters.arrived.packets.get(),
    })
}

fn show_flow(flow: &FlowView, group: &str, goodput: f64) -> Value {
    let mut shown = json!({ "group": group, "index": flow.index, "goodput_bit_s": goodput });
    if let Some((cwnd, mss)) = flow.window {
        shown["cwnd_packets"] = json!(cwnd.get() as f64 / mss.get().max(1) as f64);
    }
    if let Some(rtt) = flow.rtt {
        shown["rtt_s"] = json!(rtt.as_secs_f64());
    }
    shown
}

fn gauges(link: &LinkView) -> Value {
    Value::Object(link.gauges.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect::<Map<_, _>>())
}
