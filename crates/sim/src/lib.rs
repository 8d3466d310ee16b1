//! Packet-level discrete-event simulator: links with queues, TCP end hosts, traffic, and probes.
//!
//! A [`World`] is built from a [`WorldSpec`] and run once; it owns all its state, so that thousands
//! run side by side. The loop takes the earliest event and handles it; every result is a function
//! of the specification and its seed. An [`OpenWorld`] can be observed and changed while it runs.
#![deny(unsafe_code)]

mod agenda;
mod call;
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
mod timers;
pub mod trace;
mod traffic;
mod watch;
mod world;

pub use completions::SIZE_CLASSES;
pub use goodqueue_base::line::{Opportunities, OpportunitiesError, RateSpec};
pub use outcome::{
    CallOutcome, Content, FlowOutcome, GroupOutcome, LinkOutcome, Outcome, Series, SeriesColumn, SojournHistogram,
    TransferOutcome, VideoOutcome,
};
pub use settle::Settling;
pub use spec::{
    Arrivals, ConnectionUse, Datagrams, FlowSpec, HostNumber, HttpVersion, LinkId, LinkSpec, PageSpec, QueueSpec, Recording,
    SessionSpec, SharedHost, SizeLaw, SourceSpec, Transfer, VideoSpec, WebSpec, WorldSpec,
};
pub use watch::Interval;
pub use world::{
    Change, Continue, Fate, FlowView, GroupView, Held, LinkView, OpenWorld, OutsideDatagram, OutsidePacket, OutsideWorld,
    PacketLog, Progress, Reported, Ticket, View, World, WorldError,
};
