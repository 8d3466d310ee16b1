//! Packet-level discrete-event simulator: links with queues, TCP end hosts, traffic, and probes.
//!
//! A [`World`] is built from a [`WorldSpec`] and run once; it owns all its state, so thousands run side by side. The loop
//! takes the earliest event and lets it act; everything that happens is a function of the specification and its seed.
//! An [`OpenWorld`] is one that can be looked at and changed on the way.
#![deny(unsafe_code)]

mod agenda;
mod call;
mod completions;
mod lane;
mod link;
mod losses;
mod outcome;
mod packet;
mod probe;
mod random;
mod rate;
mod session;
mod settle;
mod spec;
mod sys;
mod timers;
mod traffic;
mod watch;
mod world;

pub use completions::SIZE_CLASSES;
pub use outcome::{
    CallOutcome, Content, FlowOutcome, GroupOutcome, LinkOutcome, Outcome, Series, SeriesColumn, SojournHistogram,
    TransferOutcome, VideoOutcome,
};
pub use settle::Settling;
pub use spec::{
    Arrivals, ConnectionUse, FlowSpec, HostNumber, HttpVersion, LinkId, LinkSpec, OpportunityTrace, PageSpec, QueueSpec,
    RateSpec, Recording, SessionSpec, SharedHost, SizeLaw, SourceSpec, Transfer, VideoSpec, WebSpec, WorldSpec,
};
pub use watch::Interval;
pub use world::{
    Change, Continue, Fate, FlowView, GroupView, LinkView, OpenWorld, OutsidePacket, OutsideWorld, PacketLog, Progress, Ticket,
    View, World, WorldError,
};
