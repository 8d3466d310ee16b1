//! Quantities with their unit in the type (time, rate, size, probability) and the packet fields
//! that queues can see.
//!
//! Everything here is plain data: no allocation, no clock, no environment. All arithmetic is
//! exact integer arithmetic unless a function says how it rounds.

mod bytes;
mod class;
mod decimal;
mod direction;
mod ecn;
mod framing;
mod probability;
mod rate;
mod rng;
mod time;

pub use bytes::{Bytes, Packets};
pub use class::Class;
pub use direction::Direction;
pub use ecn::Ecn;
pub use framing::{Cells, Framing, NoKeyword};
pub use probability::{Probability, ProbabilityError};
pub use rate::Rate;
pub use rng::{Rng, mix};
pub use time::{Duration, Instant};
