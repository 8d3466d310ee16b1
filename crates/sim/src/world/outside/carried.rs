//! Transfers of sessions that senders elsewhere carry: when each begins, and their figures.

use super::transfers::{begun, connections, is_open_loop};
use crate::completions::Completions;
use crate::outcome::TransferOutcome;
use crate::spec::{FlowSpec, SourceSpec, Transfer, WorldSpec};
use crate::world::build::ideal;
use goodqueue_base::units::{Bytes, Duration, Instant};

/// A connection of a transfer that a sender elsewhere has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedTransfer {
    /// Place among the [`planned_transfers`] of its flow.
    pub place: u32,
    /// When it began, since the start of the world.
    pub began: Instant,
    /// Bytes that the connection sends.
    pub size: Bytes,
    /// Time to its end; `None` while it has none.
    pub took: Option<Duration>,
}

/// The connections of each flow's transfers until the end of a specification, at the times and
/// sizes that the simulator draws; those that share a transfer follow one another. `None` for flows
/// that are no session, and for sessions that wait for answers.
#[must_use]
pub fn planned_transfers(spec: &WorldSpec) -> Vec<Option<Vec<Transfer>>> {
    let end = Instant::ZERO + spec.warmup + spec.duration;
    let planned = |(number, flow): (u32, &FlowSpec)| {
        let SourceSpec::Session { model, .. } = &flow.source else { return None };
        let begun = is_open_loop(model).then(|| begun(spec, number, flow, model, end))?;
        let transfer = |(at, size): (Instant, u64)| Transfer { at: at.since(flow.start), size: Bytes::new(size) };
        Some(begun.into_iter().map(transfer).collect())
    };
    (0..).zip(&spec.flows).map(planned).collect()
}

/// The figures of each group of a specification, of the transfers of its flows that ended in the
/// measured part, with the last of their connections, and those that had not ended; `None` for
/// groups without any.
#[must_use]
pub fn carried_outcomes(spec: &WorldSpec, carried: &[Vec<CarriedTransfer>]) -> Vec<Option<TransferOutcome>> {
    let mut groups = vec![Completions::default(); spec.groups.len()];
    for (flow, parts) in spec.flows.iter().zip(carried) {
        let SourceSpec::Session { model, .. } = &flow.source else { continue };
        let (Some(ideal), Some(group)) = (ideal(spec, flow), groups.get_mut(flow.group as usize)) else { continue };
        let connections = connections(model);
        let mut parts = parts.clone();
        parts.sort_by_key(|part| part.place);
        for parts in parts.chunk_by(|one, other| one.place / connections == other.place / connections) {
            let began = parts.iter().map(|part| part.began).min().unwrap_or_default();
            group.begun += u64::from(began >= Instant::ZERO + spec.warmup);
            let mut ends = parts.iter().map(|part| Some(part.began + part.took?));
            match ends.try_fold(began, |latest, end| Some(latest.max(end?))) {
                Some(end) => {
                    // Those that ended before the measured part are not here; all send as much.
                    let sizes: u64 = parts.iter().map(|part| part.size.get()).sum();
                    let size = sizes / parts.len() as u64 * u64::from(connections);
                    group.add(size, end.since(began), ideal.time(began, size, 2));
                }
                None => group.open += 1,
            }
        }
    }
    groups.iter().map(Completions::outcome).collect()
}
