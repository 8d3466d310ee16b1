//! Transfers of sessions that senders elsewhere carry: when each begins, and their figures.

use super::transfers::{begun, is_open_loop};
use crate::completions::Completions;
use crate::outcome::TransferOutcome;
use crate::spec::{FlowSpec, SourceSpec, Transfer, WorldSpec};
use crate::world::build::ideal;
use goodqueue_base::units::{Bytes, Duration, Instant};

/// A transfer that a sender elsewhere has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedTransfer {
    /// When it began, since the start of the world.
    pub began: Instant,
    /// Bytes of the transfer.
    pub size: Bytes,
    /// Time to its end; `None` while it has none.
    pub took: Option<Duration>,
}

/// The transfers of each flow of a specification until its end, at the times and sizes that the
/// simulator draws; `None` for flows that are no session, and for sessions that wait for answers.
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
/// measured part, and those that had not ended; `None` for groups without any.
#[must_use]
pub fn carried_outcomes(spec: &WorldSpec, carried: &[Vec<CarriedTransfer>]) -> Vec<Option<TransferOutcome>> {
    let mut groups = vec![Completions::default(); spec.groups.len()];
    for (flow, transfers) in spec.flows.iter().zip(carried) {
        let (Some(ideal), Some(group)) = (ideal(spec, flow), groups.get_mut(flow.group as usize)) else { continue };
        for CarriedTransfer { began, size, took } in transfers {
            group.begun += u64::from(*began >= Instant::ZERO + spec.warmup);
            match took {
                Some(took) => group.add(size.get(), *took, ideal.time(*began, size.get(), 2)),
                None => group.open += 1,
            }
        }
    }
    groups.iter().map(Completions::outcome).collect()
}
