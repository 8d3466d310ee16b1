//! `gq serve`: simulations watched and changed while they run, finished runs, the gallery and the
//! live bridge, for a browser.
//!
//! A request passes `guard` (who may ask at all), then `api` (the request itself). A simulation is
//! a `session`: a thread of its own that drives a `session::Session` and publishes what it
//! shows; a page that does not keep up is let go, the simulation never waits. `docs/serve.md` tells
//! how it is used.

mod api;
mod assets;
mod backends;
mod bridge;
mod clock;
mod fair_share;
mod gallery;
mod guard;
mod limits;
mod listen;
mod registry;
mod runs;
mod session;
mod stream;
mod token;

pub use backends::Offer;
pub use limits::{Limits, SessionLimits};
pub use listen::{Options, Server, ServerError};
