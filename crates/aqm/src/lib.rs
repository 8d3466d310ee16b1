//! Active queue management: algorithms that judge packets, queues that keep packets and counters,
//! schedulers that share a link.
//!
//! The layers, in reading order:
//!
//! 1. [`Aqm`]: an **algorithm** judges one packet at a time and stores none.
//! 2. [`ManagedQueue`]: a **queue** keeps packets, limits, time stamps, counters and ECN policy,
//!    and carries out verdicts.
//! 3. [`Qdisc`]: all that a **host** (simulator, packet forwarder, your program) ever calls.
//! 4. [`FairQueue`]: schedulers, generic over the algorithm each of their queues runs.
//! 5. [`steering`]: an outer loop that moves an algorithm's setpoint; [`smoothing`]: the averages
//!    it needs.
//! 6. [`spec`]: names, parameters, units, defaults, ranges and sources of every algorithm, for
//!    files and command lines.
//! 7. [`custom`]: algorithms of a program's own, in addition to the listed ones.
//!
//! Time and randomness enter as arguments only; there is no clock, no I/O, no logging and no unsafe
//! code here.
//!
//! ```
//! use goodqueue_aqm::algo::codel::CoDel;
//! use goodqueue_aqm::{Limit, ManagedQueue, NoSink, Qdisc, SimplePacket};
//! use goodqueue_base::units::{Duration, Instant};
//!
//! let mut queue = ManagedQueue::new(CoDel::default(), Limit::packets(1000));
//! let start = Instant::from_nanos(1);
//! queue.enqueue(start, SimplePacket::new(1500), &mut NoSink);
//! let out = queue.dequeue(start + Duration::ms(3), &mut NoSink).expect("one packet waits");
//! assert_eq!(out.sojourn(start + Duration::ms(3)), Duration::ms(3));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod ack;
#[macro_use]
pub mod algo;
mod aqm;
mod arithmetic;
mod books;
mod counters;
pub mod custom;
pub mod external;
pub mod framing;
pub mod math;
mod outline;
mod pool;
mod qdisc;
mod queue;
pub mod sched;
pub mod smoothing;
pub mod spec;
pub mod steering;
mod tick;

pub use ack::{PureAck, SackRange};
pub use algo::AnyAqm;
pub use aqm::{Aqm, Comparison, Endpoints, Env, FlowHash, HostHash, PacketView, QueueView, Reason, Verdict};
pub use arithmetic::Arithmetic;
pub use books::EcnPolicy;
pub use counters::{Counters, Tally};
pub use goodqueue_base::units::{Class, Ecn, Rng};
pub use qdisc::{Departure, Dropped, NoSink, Packet, Qdisc, QueueStatus, SimplePacket, Sink};
pub use queue::{Limit, ManagedQueue};
pub use sched::fair_queue::{FairQueue, FairQueueParams, Hashing, Share, Victim};
pub use sched::flow_table::{DropFrom, ShownBacklog};
pub use sched::jobs::{Jobs, JobsParams};
pub use sched::priority::Priority;
pub use sched::shaper::{Shaper, ShaperParams};
pub use sched::weighted::{WeightedQueue, WeightedQueueParams};
pub use sched::{AnyQdisc, Scheduler, Setup};
