//! Sessions whose transfers begin at times of their own, unfolded into flows that are known
//! beforehand: a host outside opens connections, and has no models of programs.

use crate::completions::Ideal;
use crate::ids::{FlowId, Id};
use crate::outcome::{FlowOutcome, Outcome};
use crate::session::{Action, Event, MAX_OPEN, Payload, Session, SessionContext};
use crate::spec::{FlowSpec, SessionSpec, SourceSpec, WorldSpec};
use crate::world::build::session_rng;
use crate::world::error::{WorldError, WorldFault, fault};
use crate::world::flow_ends::Flow;
use crate::world::state::World;
use goodqueue_base::units::{Bytes, Instant};
use goodqueue_tcp::{Data, SenderConfig};

/// Largest number of flows that ports tell apart.
const MAX_FLOWS: u32 = 50_000;

/// A specification in which each transfer of a session is a flow.
#[derive(Clone, Debug)]
pub(super) struct Unfolded {
    pub(super) spec: WorldSpec,
    /// The origin of each flow.
    origin: Vec<Origin>,
    /// The flows of the original, without figures.
    whole: Vec<FlowOutcome>,
}

/// Origin of a flow in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    /// The flow of the original.
    flow: u32,
    /// Number of the transfer of that flow; `None` for one that is no session.
    transfer: Option<u32>,
}

/// Whether the transfers of this session can be listed before it runs.
pub(super) const fn is_open_loop(model: &SessionSpec) -> bool {
    matches!(model, SessionSpec::Short { .. } | SessionSpec::List { .. })
}

/// Connections that share each transfer of this session.
pub(super) fn connections(model: &SessionSpec) -> u32 {
    if let SessionSpec::Short { connections, .. } = model { (*connections).max(1) } else { 1 }
}

impl Unfolded {
    pub(super) fn new(spec: &WorldSpec) -> Result<Self, WorldError> {
        let end = Instant::ZERO + spec.warmup + spec.duration;
        let (mut flows, mut origin) = (Vec::new(), Vec::new());
        for (number, flow) in (0..).zip(&spec.flows) {
            let SourceSpec::Session { model, sender, receiver, header } = &flow.source else {
                flows.push(flow.clone());
                origin.push(Origin { flow: number, transfer: None });
                continue;
            };
            if !is_open_loop(model) {
                return fault(spec.name_of(flow), WorldFault::AnswersOutside);
            }
            for (place, (start, size)) in (0..).zip(begun(spec, number, flow, model, end)) {
                let sender = SenderConfig { data: Data::Bytes(Bytes::new(size)), ..sender.clone() };
                let source = SourceSpec::Tcp { sender, receiver: receiver.clone(), header: *header };
                flows.push(FlowSpec { start, stop: None, source, ..flow.clone() });
                origin.push(Origin { flow: number, transfer: Some(place / connections(model)) });
            }
        }
        if flows.len() > MAX_FLOWS as usize {
            return fault("traffic", WorldFault::TooMany { parts: "connections with ends outside", most: MAX_FLOWS });
        }
        let whole = |flow: &FlowSpec| FlowOutcome {
            group: flow.group,
            index: flow.index,
            weight: flow.weight,
            dropped_packets: Some(0),
            marked_packets: Some(0),
            timeouts: Some(0),
            ..FlowOutcome::default()
        };
        let whole = spec.flows.iter().map(whole).collect();
        Ok(Self { spec: WorldSpec { flows, ..spec.clone() }, origin, whole })
    }

    /// The specification as it is.
    pub(super) fn identity(spec: &WorldSpec) -> Self {
        let origin = (0..).zip(&spec.flows).map(|(flow, _)| Origin { flow, transfer: None }).collect();
        // Each is replaced by that of the same flow.
        let whole = vec![FlowOutcome::default(); spec.flows.len()];
        Self { spec: spec.clone(), origin, whole }
    }

    pub(super) fn origins(&self) -> Vec<u32> {
        self.origin.iter().map(|origin| origin.flow).collect()
    }

    pub(super) fn is_transfer(&self, flow: u32) -> bool {
        self.origin.get(flow as usize).is_some_and(|origin| origin.transfer.is_some())
    }

    /// Makes the transfers of a finished world count as those of sessions do: where the last of
    /// their connections ended.
    pub(super) fn count(&self, world: &mut World) {
        let (begin, end) = (Instant::ZERO + world.clock.warmup, world.clock.end);
        let limited = std::mem::take(&mut world.figures.limited);
        let (parts, plain): (Vec<_>, Vec<_>) = limited.into_iter().partition(|(flow, _)| self.is_transfer(flow.get()));
        world.figures.limited = plain;
        let origin = |(flow, _): &(FlowId, Ideal)| self.origin[flow.index()];
        for parts in parts.chunk_by(|one, other| origin(one) == origin(other)) {
            let [(flow, ideal), ..] = parts else { continue };
            let Flow { start, group, .. } = world.ends.flows[*flow];
            let completions = &mut world.figures.completions[group];
            completions.begun += u64::from((begin..=end).contains(&start));
            let mut ends = parts.iter().map(|(flow, _)| world.ends.flows[*flow].completed_at);
            match ends.try_fold(start, |latest, at| Some(latest.max(at?))) {
                Some(at) if at >= begin => {
                    let bytes = parts.iter().map(|(flow, _)| size(&self.spec.flows[flow.index()])).sum();
                    completions.add(bytes, at.since(start), ideal.time(start, bytes, 2));
                }
                Some(_) => {}
                None => completions.open += u64::from(start <= end),
            }
        }
    }

    /// The figures of flows and packets with the numbers of the original.
    pub(super) fn fold(self, mut outcome: Outcome) -> Outcome {
        let mut flows = self.whole;
        for (part, origin) in outcome.flows.iter().zip(&self.origin) {
            let whole = &mut flows[origin.flow as usize];
            if origin.transfer.is_some() { add(whole, part) } else { *whole = part.clone() }
        }
        for event in &mut outcome.packets {
            if let Some(origin) = self.origin.get(event.flow as usize) {
                event.flow = origin.flow;
            }
        }
        Outcome { flows, ..outcome }
    }
}

/// Bytes of a flow that is a transfer's.
fn size(flow: &FlowSpec) -> u64 {
    match flow.source.tcp() {
        Some((SenderConfig { data: Data::Bytes(size), .. }, ..)) => size.get(),
        _ => 0,
    }
}

/// The sum of two counts; `None` where one is not known.
fn sum(whole: Option<u64>, part: Option<u64>) -> Option<u64> {
    Some(whole? + part?)
}

fn add(whole: &mut FlowOutcome, part: &FlowOutcome) {
    whole.delivered_bytes += part.delivered_bytes;
    whole.sent_packets += part.sent_packets;
    whole.retransmitted_packets += part.retransmitted_packets;
    whole.dropped_packets = sum(whole.dropped_packets, part.dropped_packets);
    whole.marked_packets = sum(whole.marked_packets, part.marked_packets);
    whole.timeouts = sum(whole.timeouts, part.timeouts);
    whole.loss_runs += part.loss_runs;
    whole.longest_loss_run = whole.longest_loss_run.max(part.longest_loss_run);
}

/// The start and bytes of each connection of a session, at the times of the simulated session. The
/// [`connections`] of a transfer follow one another.
///
/// The model runs with transfers that end at once, which makes no difference to models whose times
/// are their own.
pub(super) fn begun(spec: &WorldSpec, number: u32, flow: &FlowSpec, model: &SessionSpec, end: Instant) -> Vec<(Instant, u64)> {
    let (mut rng, _) = session_rng(spec.seed, FlowId::new(number));
    let mut model = Session::new(model, MAX_OPEN);
    let (mut found, mut actions) = (Vec::new(), Vec::new());
    let mut wake = Some((flow.start, Event::Start));
    while let Some((now, event)) = wake.take() {
        if now > end || flow.stop.is_some_and(|stop| now >= stop) || found.len() > MAX_FLOWS as usize {
            break;
        }
        model.handle(event, &mut SessionContext { now, rng: &mut rng, actions: &mut actions });
        let mut over = Vec::new();
        for action in actions.drain(..) {
            match action {
                Action::Send { channel, bytes, .. } => {
                    found.push((now, bytes));
                    over.push(channel);
                }
                Action::Wake(at) => wake = Some((at, Event::Alarm)),
                _ => {}
            }
        }
        for channel in over {
            model.handle(
                Event::Acknowledged(channel, Payload::Data),
                &mut SessionContext { now, rng: &mut rng, actions: &mut actions },
            );
        }
        actions.clear();
    }
    found
}
