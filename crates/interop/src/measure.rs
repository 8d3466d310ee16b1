//! Protocol and arithmetic of `gq measure`, without sockets and clocks.
//!
//! Two machines share a [`Key`]. The *server* admits clients that have it ([`Gate`]), answers
//! probes, and sends or counts bytes; the *client* sends [`Probes`], opens connections as [`Ramp`]
//! says, and makes a [`Measurement`] of what it saw. [`Change`] compares two of them.
//!
//! Every connection begins with a [`Message`] of 128 bytes whose code proves knowledge of the key,
//! and is answered by one of the same size. Probes and their answers are datagrams of 64 bytes.
//!
//! ```
//! use goodqueue_interop::measure::{Gate, Key, Limits, Message, Kind};
//! use goodqueue_base::units::Instant;
//! use std::net::{IpAddr, Ipv4Addr};
//!
//! let (key, peer) = (Key::from_random([7; 32]), IpAddr::V4(Ipv4Addr::LOCALHOST));
//! let mut gate = Gate::new(key.clone(), Limits::default());
//! let hello = Message { nonce: [1; 16], ..Message::of(Kind::Hello) };
//! let challenge = gate.challenge(&hello.sealed(&key), [2; 16]).expect("it knows the key");
//! let session = key.of_session(&[1; 16], &[2; 16]);
//! let open = Message { nonce: [2; 16], ..Message::of(Kind::Open) };
//! let welcome = gate.open(Instant::ZERO, peer, &challenge, &open.sealed(&session)).expect("it is the first");
//! assert_eq!(Message::read(&welcome, &session).map(|message| message.kind), Some(Kind::Welcome));
//! ```

mod allowance;
mod change;
mod delays;
mod frames;
mod gate;
mod key;
mod measurement;
mod message;
mod probes;
mod ramp;
mod responsiveness;
mod volume;

pub use change::Change;
pub use delays::{Delays, Quantiles};
pub use frames::{FRAME, Frames};
pub use gate::{Challenge, Gate, Limits, Purpose, Refused};
pub use key::{Key, KeyError};
pub use measurement::{ClockFit, DirectionResult, End, Fault, Measurement, SCHEMA};
pub use message::{Kind, Message, PROBE_BYTES};
pub use probes::{Clock, Probes, Window};
pub use ramp::{INTERVALS, JUDGED, Ramp, Step};
pub use responsiveness::{Responsiveness, Trips, pause};
pub use volume::{Family, Volume};

/// The port unless another is given.
pub const PORT: u16 = 8018;
