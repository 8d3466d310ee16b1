//! Active queue management: every major algorithm behind one trait, and on request a packet-level
//! simulator.
//!
//! A queue is embedded with five names: your packets implement [`Packet`], what takes dropped ones
//! is a [`Sink`], and a [`ManagedQueue`] runs an algorithm of [`aqm::algo`] behind [`Qdisc`], told
//! of time as an [`Instant`].
//!
//! ```
//! use goodqueue::aqm::algo::codel::CoDel;
//! use goodqueue::aqm::{Limit, NoSink, SimplePacket};
//! use goodqueue::units::Duration;
//! use goodqueue::{Instant, ManagedQueue, Qdisc};
//!
//! let mut queue = ManagedQueue::new(CoDel::default(), Limit::packets(1000));
//! let start = Instant::from_nanos(1);
//! queue.enqueue(start, SimplePacket::new(1500), &mut NoSink);
//! let out = queue.dequeue(start + Duration::ms(3), &mut NoSink).expect("one packet waits");
//! assert_eq!(out.sojourn(start + Duration::ms(3)), Duration::ms(3));
//! ```
//!
//! With features: `sim` simulates links, queues and TCP packet by packet; `lab` reads scenario
//! files and compares queues; `net` lends the network of a scenario to a transport.
#![no_std]
#![forbid(unsafe_code)]

pub use goodqueue_aqm as aqm;
pub use goodqueue_aqm::{ManagedQueue, Packet, Qdisc, Sink};
pub use goodqueue_base::units::Instant;
pub use goodqueue_base::{line, spec, units};
#[cfg(feature = "lab")]
pub use goodqueue_lab as lab;
#[cfg(feature = "net")]
pub use goodqueue_net as net;
#[cfg(feature = "sim")]
pub use goodqueue_sim as sim;
