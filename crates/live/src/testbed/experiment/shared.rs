//! State shared by the threads of one flow.

use super::Source;
use super::caller::Call;
use super::prober::Prober;
use super::transfer_log::Log;
use crate::testbed::namespace::Namespace;
use goodqueue_sim::trace::TimeCounts;
use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Where a connection comes from and goes to.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) from: &'a Namespace,
    pub(super) to: SocketAddr,
}

/// One flow's sockets and counts.
#[derive(Debug)]
pub(super) struct Shared {
    /// Held while counts change that belong together, and while all are read.
    pub(super) counting: Mutex<()>,
    pub(super) delivered: AtomicU64,
    pub(super) sent: AtomicU64,
    /// Packets sent again, by connections that have ended; open ones are counted in `stream`.
    pub(super) retransmitted: AtomicU64,
    pub(super) stream: Mutex<Option<TcpStream>>,
    pub(super) rtt: Mutex<TimeCounts>,
    pub(super) failure: Mutex<Option<String>>,
    /// Probes of an echo; `None` for other flows.
    pub(super) prober: Option<Prober>,
    /// The transfers of a flow of them; `None` for other flows.
    pub(super) transfers: Option<Log>,
    /// The packets of a call; `None` for other flows.
    pub(super) call: Option<Call>,
}

impl Shared {
    pub(super) fn new(source: &Source) -> Self {
        Self {
            prober: if let Source::Echo { interval, .. } = source { Some(Prober::new(*interval)) } else { None },
            call: Call::of(source),
            transfers: matches!(source, Source::Transfers { .. }).then(Log::new),
            counting: Mutex::new(()),
            delivered: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            retransmitted: AtomicU64::new(0),
            stream: Mutex::new(None),
            rtt: Mutex::new(TimeCounts::new()),
            failure: Mutex::new(None),
        }
    }
}
