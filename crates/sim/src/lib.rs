//! Packet-level discrete-event simulator: links with queues, TCP end hosts, traffic, and probes.
//!
//! A [`World`] is built from a [`WorldSpec`] and run once; it owns all its state, so that thousands
//! run side by side. The loop takes the earliest event and handles it; every result is a function
//! of the specification and its seed. An [`OpenWorld`] can be observed and changed while it runs.
//!
//! ```
//! use goodqueue_aqm::{Limit, sched};
//! use goodqueue_base::units::{Duration, Rate};
//! use goodqueue_sim::{Continue, FlowSpec, LinkSpec, QueueSpec, SourceSpec, World, WorldSpec};
//!
//! let queue = QueueSpec::plain(sched::kind("codel").expect("a known kind"), Limit::packets(100));
//! let link = LinkSpec::wire("bottleneck", Rate::mbit(10), Duration::ms(10)).behind(queue);
//! // Data crosses link 0, the bottleneck; acknowledgements cross link 1, the wire back.
//! let flow = FlowSpec::new(vec![0], vec![1], SourceSpec::bulk("cubic"));
//! let spec = WorldSpec { duration: Duration::secs(10), ..WorldSpec::line(link, vec![flow]) };
//!
//! let outcome = World::new(&spec)?.run(&mut |_| Continue::Yes);
//! let link = &outcome.links[0];
//! assert!(link.sent_bits > 0.9 * link.capacity_bits);
//! assert!(link.sojourn.quantile(0.5).is_some_and(|median| median < Duration::ms(10)));
//! # Ok::<(), goodqueue_sim::WorldError>(())
//! ```
#![deny(unsafe_code)]

mod agenda;
pub mod call;
mod completions;
mod fifo;
mod ids;
mod lane;
mod link;
mod losses;
mod outcome;
mod packet;
mod probe;
mod random;
mod session;
mod settle;
mod spec;
mod sys;
mod thinning;
mod timers;
pub mod trace;
mod traffic;
mod watch;
mod world;

pub use call::Content;
pub use completions::SIZE_CLASSES;
pub use goodqueue_base::line::{Opportunities, OpportunitiesError, RateSpec};
pub use outcome::{
    CallOutcome, FlowOutcome, GroupOutcome, LinkOutcome, Outcome, Series, SeriesColumn, TransferOutcome, VideoOutcome,
};
pub use settle::Settling;
pub use spec::{
    Arrivals, ConnectionUse, Datagrams, FlowSpec, HostNumber, HttpVersion, LinkId, LinkSpec, PageSpec, QueueSpec, Recording,
    SessionSpec, SharedHost, SizeLaw, SourceSpec, Transfer, VideoSpec, WebSpec, WorldSpec,
};
pub use watch::Interval;
pub use world::{
    CarriedTransfer, Change, Continue, Fate, FlowView, GroupView, Held, LinkView, OpenWorld, OutsideDatagram, OutsidePacket,
    OutsideWorld, PacketLog, Progress, Reported, Ticket, View, World, WorldError, WorldFault, carried_outcomes,
    planned_transfers,
};
