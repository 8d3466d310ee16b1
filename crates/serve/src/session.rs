//! Simulations that are watched and changed while they run.
//!
//! A [`Session`] advances up to four worlds side by side, shows what they do in frames, and obeys
//! [`Control`]s. Clock, audience and turns at computing come from its [`Environment`]: threads and
//! server-sent events in `gq serve`, a worker in a page without a server. Requests, answers and
//! refusals are the same for both.

mod explain;
mod failure;
mod kinds;
mod limits;
mod memory;
mod presets;
mod recordings;
mod scenario;
mod simulation;

pub use failure::Failure;
pub use kinds::all as kinds;
pub use limits::Limits;
pub use memory::{Memory, OutOfMemory, Share};
pub use presets::all as presets;
pub use recordings::{RecordingStore, Shown, Upload};
pub use scenario::{Request, Scenario, Variant, VariantRequest, check, state_bytes};
pub use simulation::{Control, Ending, Environment, Next, Session, SessionResult, about, speed, time};
