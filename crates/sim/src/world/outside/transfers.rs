//! Sessions whose transfers begin at times of their own, each as flows that are known beforehand: a host outside opens connections, and knows
//! no models of programs.

use crate::outcome::{FlowOutcome, Outcome};
use crate::session::{Action, Desk, Event, MOST_OPEN, Session, Way};
use crate::spec::{FlowSpec, SessionSpec, SourceSpec, WorldSpec};
use crate::world::build::{fault, session_rng};
use crate::world::{World, WorldError};
use goodqueue_tcp::{Data, SenderConfig};
use goodqueue_units::{Bytes, Instant};

/// More flows than this would not be told apart by their ports.
const MOST_FLOWS: usize = 50_000;

/// A specification in which each transfer of a session is a flow.
#[derive(Clone, Debug)]
pub(super) struct Unfolded {
    pub(super) spec: WorldSpec,
    /// The flow of the original that each belongs to, and whether it is a transfer of it.
    origin: Vec<(u32, bool)>,
    /// Flows of the original, without figures.
    whole: Vec<FlowOutcome>,
}

/// Can the transfers of this session be listed before it runs?
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
                let name = spec.groups.get(flow.group as usize).map_or("?", String::as_str);
                return fault(
                    format!("{name}[{}]", flow.index),
                    "the ends of a session that waits for answers cannot be outside",
                );
            }
            for (start, size) in transfers(spec, number, flow, model, end) {
                let sender = SenderConfig { data: Data::Bytes(Bytes::new(size)), ..sender.clone() };
                let source = SourceSpec::Tcp { sender, receiver: receiver.clone(), header: *header };
                flows.push(FlowSpec { start, stop: None, source, ..flow.clone() });
                origin.push((number, true));
            }
        }
        if flows.len() > MOST_FLOWS {
            return fault("traffic", format!("{} connections with ends outside are more than {MOST_FLOWS}", flows.len()));
        }
        let whole =
            |flow: &FlowSpec| FlowOutcome { group: flow.group, index: flow.index, weight: flow.weight, ..FlowOutcome::default() };
        let whole = spec.flows.iter().map(whole).collect();
        Ok(Self { spec: WorldSpec { flows, ..spec.clone() }, origin, whole })
    }

    pub(super) fn origins(&self) -> Vec<u32> {
        self.origin.iter().map(|(number, _)| *number).collect()
    }

    pub(super) fn is_transfer(&self, flow: u32) -> bool {
        self.origin.get(flow as usize).is_some_and(|(_, is_transfer)| *is_transfer)
    }

    /// Of a world that is over: transfers count as those of sessions do, begun and ended in the measured part.
    pub(super) fn count(&self, world: &mut World) {
        let begin = Instant::ZERO + world.warmup;
        let counted = |flow: &FlowSpec| flow.start >= begin && flow.start <= world.end;
        let transfers = self.spec.flows.iter().zip(&self.origin).filter(|(_, (_, is_transfer))| *is_transfer);
        let mut begun = vec![0; self.spec.groups.len()];
        for (flow, _) in transfers.filter(|(flow, _)| counted(flow)) {
            begun[flow.group as usize] += 1;
        }
        for (completions, begun) in world.completions.iter_mut().zip(begun) {
            completions.begun += begun;
        }
        world.limited.retain(|(flow, _)| !self.is_transfer(*flow) || counted(&self.spec.flows[*flow as usize]));
    }

    /// Figures of flows and packets by the numbers of the original.
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

fn add(whole: &mut FlowOutcome, part: &FlowOutcome) {
    whole.delivered_bytes += part.delivered_bytes;
    whole.sent_packets += part.sent_packets;
    whole.retransmitted_packets += part.retransmitted_packets;
    whole.dropped_packets += part.dropped_packets;
    whole.marked_packets += part.marked_packets;
    whole.timeouts += part.timeouts;
    whole.loss_runs += part.loss_runs;
    whole.longest_loss_run = whole.longest_loss_run.max(part.longest_loss_run);
}

/// When each transfer of a session begins, and its bytes: what the model wants when every transfer is over at once, which changes nothing
/// for models whose times are their own. The times are those of the simulated session.
fn transfers(spec: &WorldSpec, number: u32, flow: &FlowSpec, model: &SessionSpec, end: Instant) -> Vec<(Instant, u64)> {
    let (mut rng, _) = session_rng(spec.seed, number);
    let mut model = Session::new(model, MOST_OPEN);
    let (mut found, mut actions) = (Vec::new(), Vec::new());
    let mut wake = Some((flow.start, Event::Start));
    while let Some((now, event)) = wake.take() {
        if now > end || flow.stop.is_some_and(|stop| now >= stop) || found.len() > MOST_FLOWS {
            break;
        }
        model.handle(event, &mut Desk { now, rng: &mut rng, actions: &mut actions });
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
            model.handle(Event::Acknowledged(channel, Way::Data), &mut Desk { now, rng: &mut rng, actions: &mut actions });
        }
        actions.clear();
    }
    found
}
