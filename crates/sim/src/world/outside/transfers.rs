//! Sessions whose transfers begin at times of their own, unfolded into flows that are known
//! beforehand: a host outside opens connections, and has no models of programs.

use crate::ids::FlowId;
use crate::outcome::{FlowOutcome, Outcome};
use crate::session::{Action, Event, MAX_OPEN, Payload, Session, SessionContext};
use crate::spec::{FlowSpec, SessionSpec, SourceSpec, WorldSpec};
use crate::world::build::session_rng;
use crate::world::error::{WorldError, fault};
use crate::world::flow_ends::Flow;
use crate::world::state::World;
use goodqueue_base::units::{Bytes, Instant};
use goodqueue_tcp::{Data, SenderConfig};

/// Largest number of flows that ports tell apart.
const MAX_FLOWS: usize = 50_000;

/// A specification in which each transfer of a session is a flow.
#[derive(Clone, Debug)]
pub(super) struct Unfolded {
    pub(super) spec: WorldSpec,
    /// The flow of the original for each flow, and whether it is a transfer of that.
    origin: Vec<(u32, bool)>,
    /// The flows of the original, without figures.
    whole: Vec<FlowOutcome>,
}

/// Whether the transfers of this session can be listed before it runs.
pub(super) const fn is_open_loop(model: &SessionSpec) -> bool {
    matches!(model, SessionSpec::Short { .. } | SessionSpec::List { .. })
}

impl Unfolded {
    pub(super) fn new(spec: &WorldSpec) -> Result<Self, WorldError> {
        let end = Instant::ZERO + spec.warmup + spec.duration;
        let (mut flows, mut origin) = (Vec::new(), Vec::new());
        for (number, flow) in (0..).zip(&spec.flows) {
            let SourceSpec::Session { model, sender, receiver, header } = &flow.source else {
                flows.push(flow.clone());
                origin.push((number, false));
                continue;
            };
            if !is_open_loop(model) {
                return fault(spec.name_of(flow), "the ends of a session that waits for answers cannot be outside");
            }
            for (start, size) in begun(spec, number, flow, model, end) {
                let sender = SenderConfig { data: Data::Bytes(Bytes::new(size)), ..sender.clone() };
                let source = SourceSpec::Tcp { sender, receiver: receiver.clone(), header: *header };
                flows.push(FlowSpec { start, stop: None, source, ..flow.clone() });
                origin.push((number, true));
            }
        }
        if flows.len() > MAX_FLOWS {
            return fault("traffic", format!("{} connections with ends outside are more than {MAX_FLOWS}", flows.len()));
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
        let origin = (0..).zip(&spec.flows).map(|(number, _)| (number, false)).collect();
        // Each is replaced by that of the same flow.
        let whole = vec![FlowOutcome::default(); spec.flows.len()];
        Self { spec: spec.clone(), origin, whole }
    }

    pub(super) fn origins(&self) -> Vec<u32> {
        self.origin.iter().map(|(number, _)| *number).collect()
    }

    pub(super) fn is_transfer(&self, flow: u32) -> bool {
        self.origin.get(flow as usize).is_some_and(|(_, is_transfer)| *is_transfer)
    }

    /// Makes the transfers of a finished world count as those of sessions do: where they ended.
    pub(super) fn count(&self, world: &mut World) {
        let begin = Instant::ZERO + world.clock.warmup;
        let (flows, end) = (&world.ends.flows, world.clock.end);
        world.figures.limited.retain(|(number, _)| {
            if !self.is_transfer(number.get()) {
                return true;
            }
            let Flow { completed_at, start, group, .. } = flows[*number];
            let completions = &mut world.figures.completions[group];
            completions.begun += u64::from((begin..=end).contains(&start));
            completions.open += u64::from(start <= end && completed_at.is_none());
            completed_at.is_some_and(|at| at >= begin)
        });
    }

    /// The figures of flows and packets with the numbers of the original.
    pub(super) fn fold(self, mut outcome: Outcome) -> Outcome {
        let mut flows = self.whole;
        for (part, (origin, is_transfer)) in outcome.flows.iter().zip(&self.origin) {
            let whole = &mut flows[*origin as usize];
            if *is_transfer { add(whole, part) } else { *whole = part.clone() }
        }
        for event in &mut outcome.packets {
            if let Some((origin, _)) = self.origin.get(event.flow as usize) {
                event.flow = *origin;
            }
        }
        Outcome { flows, ..outcome }
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

/// The start and bytes of each transfer of a session, at the times of the simulated session.
///
/// The model runs with transfers that end at once, which makes no difference to models whose times
/// are their own.
pub(super) fn begun(spec: &WorldSpec, number: u32, flow: &FlowSpec, model: &SessionSpec, end: Instant) -> Vec<(Instant, u64)> {
    let (mut rng, _) = session_rng(spec.seed, FlowId::new(number));
    let mut model = Session::new(model, MAX_OPEN);
    let (mut found, mut actions) = (Vec::new(), Vec::new());
    let mut wake = Some((flow.start, Event::Start));
    while let Some((now, event)) = wake.take() {
        if now > end || flow.stop.is_some_and(|stop| now >= stop) || found.len() > MAX_FLOWS {
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
