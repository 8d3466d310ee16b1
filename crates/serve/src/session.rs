//! Simulations that are watched and changed while they run.
//!
//! A `Session` advances up to four worlds side by side, shows what they do in frames, and obeys
//! [`Control`]s. Clock, audience and turns at computing come from its [`Environment`]: threads and
//! server-sent events in `gq serve`, a worker in a page without a server. Requests, answers and
//! refusals are the same for both.

mod api;
mod error;
mod explain;
mod kinds;
mod limits;
mod memory;
mod presets;
mod recordings;
mod scenario;
mod simulation;
mod state;

pub use api::{Answer, Api, Request, Sessions};
pub use error::ApiError;
pub use limits::Limits;
pub(crate) use memory::Memory;
pub use scenario::{NewSession, Scenario, Variant, VariantRequest};
pub use simulation::{Control, Environment, SessionResult};
pub(crate) use simulation::{Next, Session};
#[cfg(feature = "server")]
pub(crate) use {
    scenario::state_bytes,
    simulation::{about, result::Ending},
    state::StateEvent,
};
