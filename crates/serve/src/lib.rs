//! Simulations that are watched and changed while they run.
//!
//! - [`session`]: the simulation, its frames and its controls.
//! - `server`: `gq serve`, with the feature of that name.
//! - [`wasm`]: the same answers in a page without a server.

mod lock;
#[cfg(feature = "server")]
pub mod server;
pub mod session;
pub mod wasm;
