//! Calls as they are heard: a receiver that adapts its delay, and the E-model's rating of what it
//! plays.
//!
//! A [`Listener`] takes the packets of one call. Of speech, its [`Playout`] decides when each frame
//! is played, or that it is lost; every [`Stretch`] of 8 s is rated by [`emodel`].

mod bursts;
pub(crate) mod codec;
pub mod emodel;
mod listener;
pub(crate) mod playout;
mod stretch;

pub use bursts::Bursts;
pub use codec::{Codec, Content};
pub use listener::Listener;
pub use playout::{Heard, Playout};
pub use stretch::Stretch;
