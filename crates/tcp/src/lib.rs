//! Sans-IO TCP: senders and receivers as state machines that take time and segments and return
//! segments.
//!
//! Sequence numbers are byte offsets in `u64`, so nothing wraps inside; a host that needs 32-bit
//! numbers truncates at its edge.
//!
//! A host gives a [`Sender`] acknowledgements ([`handle_ack`](Sender::handle_ack)) and expired
//! timers ([`handle_timeout`](Sender::handle_timeout)), and after each of these polls it for
//! segments until there are none ([`poll_transmit`](Sender::poll_transmit)). It gives a
//! [`Receiver`] segments and expired timers, and sends the acknowledgements that come back. Both
//! state when their timer is due ([`next_timeout`](Sender::next_timeout)); a host may keep one lazy
//! timer each, since an early call is harmless. Layers, bottom up: `segment`, `segmentation`;
//! `rtt`, `scoreboard`, `rack`, `prr`, `sample`, `pacing` (one question each); [`cc`] (how much may
//! be in flight); `sender` and `receiver` (state machines).
//!
//! ```
//! use goodqueue_tcp::{Data, Receiver, ReceiverConfig, Sender, SenderConfig, Transmit};
//! use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rng};
//!
//! let config = SenderConfig { data: Data::Bytes(Bytes::new(100_000)), ..SenderConfig::default() };
//! let mut sender = Sender::new(&config, Rng::new(1))?;
//! let mut receiver = Receiver::new(&ReceiverConfig::default());
//! let mut now = Instant::ZERO;
//! sender.connect(now);
//! // A perfect network: whole windows arrive at once, half a round trip of 10 ms later, and so do the
//! // acknowledgements.
//! while !sender.is_finished() {
//!     let window = core::iter::from_fn(|| sender.poll_transmit(now)).collect::<Vec<_>>();
//!     now += Duration::ms(5);
//!     let answer = |out: &Transmit| receiver.handle_segment(now, &out.segment, Ecn::NotEct);
//!     let answers = window.iter().filter_map(answer).collect::<Vec<_>>();
//!     now += Duration::ms(5);
//!     answers.iter().for_each(|ack| sender.handle_ack(now, ack));
//! }
//! assert_eq!(receiver.delivered_bytes(), 100_000);
//! // The handshake, then 10, 20, 40 segments.
//! assert_eq!(now, Instant::ZERO + Duration::ms(40));
//! # Ok::<(), goodqueue_tcp::CcError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod cc;
mod config;
#[doc(hidden)]
pub mod hot;
mod pacing;
mod prr;
mod rack;
mod receiver;
mod rtt;
mod sample;
mod scoreboard;
mod segment;
mod segmentation;
mod sender;
mod windowed;
pub mod wire;

pub use cc::{AnyCc, CcError, CongestionControl, ModelPhase, PathModel, kinds};
pub use config::{AckPolicy, CcConfig, Data, EcnMode, LossDetection, ReceiverConfig, SackReports, SenderConfig, SlowStartExit};
pub use receiver::Receiver;
pub use segment::{Flags, SackBlock, Segment};
pub use sender::{Ending, Sender, SenderStatistics, Tally, Transmit};
