//! Hosts that run scenarios: the host of an option, and whether it can run the points.

use crate::failure::Failure;
use crate::output::{itself, say};
use goodqueue_guests::backends::{BackendName, ProcessOwner, Settings, VoidRunPolicy};
use goodqueue_lab::run::backend::Backend;
use goodqueue_lab::run::runner::label;
use goodqueue_lab::scenario::plan::Point;

/// The host of this name as part of this command. `option` names it in messages.
pub fn open(option: &str, name: BackendName, voids: VoidRunPolicy) -> Result<Box<dyn Backend + Send>, Failure> {
    let settings = Settings { itself: itself().to_vec(), process: ProcessOwner::Own, voids, say };
    name.open(&settings).map_err(|unavailable| Failure::Input(format!("{option} {unavailable}")))
}

/// Refuses points that `host` cannot run. `option` names it in messages.
pub fn check(option: &str, host: &dyn Backend, points: &[Point]) -> Result<(), Failure> {
    points.iter().try_for_each(|point| {
        host.check(point).map_err(|refusal| {
            let place = if point.set.is_empty() { String::new() } else { format!(" (at {})", label(&point.set)) };
            Failure::Input(format!("{option} {}: {refusal}{place}", host.name()))
        })
    })
}
