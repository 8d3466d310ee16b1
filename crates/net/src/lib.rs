//! The network of a scenario file for transports that do no input or output of their own.
//!
//! Links, queues, recorded rates and cross traffic are those of a scenario; the ends of some of its
//! flows are [`Endpoint`]s of the program: a QUIC stack, a protocol under development, a model.
//! Time is virtual, everything runs in one thread without sockets, and equal seeds give equal
//! bytes.
//!
//! A group of `bulk` traffic of the scenario names the place of these flows: their number, starts,
//! path, class and size. [`Experiment::attach`] puts endpoints there in place of our TCP. Without
//! that, the same file runs with our TCP, which gives a reference.
//!
//! ```
//! use goodqueue_lab::scenario::plan::Plan;
//! use goodqueue_net::{Datagram, Endpoint, Ends, Experiment, Instant, Transmit};
//!
//! /// Sends a datagram of a kilobyte for each one that arrives, and a first one.
//! struct PingPong(u32);
//! impl Endpoint for PingPong {
//!     fn handle(&mut self, _: Instant, _: Datagram<'_>) {
//!         self.0 += 1;
//!     }
//!     fn poll_transmit(&mut self, _: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
//!         self.0 = self.0.checked_sub(1)?;
//!         buffer.resize(1000, 0);
//!         Some(Transmit::NOW)
//!     }
//!     fn poll_timeout(&mut self) -> Option<Instant> {
//!         None
//!     }
//! }
//!
//! let scenario = "goodqueue = 1\nduration = '2 s'\n\
//!     link.line = { rate = '10 Mbit/s', delay = '10 ms', buffer = '1 bdp', queue = 'codel' }\n\
//!     [[traffic]]\nname = 'mine'\nkind = 'bulk'\n\
//!     [[traffic]]\nname = 'cross'\nkind = 'bulk'\ncc = 'cubic'\n";
//! let plan = Plan::parse("example", scenario, "".as_ref())?;
//! let report =
//!     Experiment::new(&plan).attach("mine", |_| Ok(Ends::new(PingPong(1), PingPong(0)))).run()?;
//! let point = report.points[0].summary.as_ref().ok_or("no run finished")?;
//! let goodput = |group: usize| point.groups[group].1.figures.figure("goodput_bit_s").mean;
//! let (mine, cross) = (goodput(0), goodput(1));
//! assert!(mine < Some(400_000.0) && cross > Some(8e6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What an endpoint must do
//!
//! [`Endpoint`] describes the calls. An endpoint that sends impossible sizes, sends in the past,
//! never becomes idle at one instant, keeps too much under way or panics ends the run with an
//! [`EndpointError`] that names it and the time; memory stays bounded. An endpoint that does not
//! return from a call cannot be stopped, as there is one thread.
#![forbid(unsafe_code)]

mod drive;
mod endpoint;
mod error;
mod experiment;
mod limits;
mod network;
pub mod tcp;

pub use endpoint::{Datagram, Endpoint, Ends, FlowFacts, Recovery, Transmit};
pub use error::{EndpointError, Fault, NetError, Side};
pub use experiment::Experiment;
pub use goodqueue_base::units::{Duration, Ecn, Instant};
pub use network::Network;
