//! The interface of an end of a flow.

use goodqueue_base::units::{Duration, Ecn, Instant};
use goodqueue_tcp::{ReceiverConfig, SenderConfig};

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// UDP payload.
    pub payload: &'a [u8],
    /// The ECN codepoint on arrival.
    pub ecn: Ecn,
}

/// The properties of the datagrams that an endpoint has written into a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Their ECN codepoint.
    pub ecn: Ecn,
    /// Length of each datagram but the last, for several in one buffer (segmentation offload);
    /// `None` for one datagram.
    pub segment_size: Option<usize>,
    /// When they leave; `None`: now. Datagrams of an endpoint leave in the order in which they were
    /// written.
    pub at: Option<Instant>,
}

impl Transmit {
    /// One datagram that leaves now, without ECN.
    pub const NOW: Self = Self { ecn: Ecn::NotEct, segment_size: None, at: None };
}

/// The state of a sender's path and losses, as far as it is known; `None` for what the sender does
/// not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Congestion window in bytes.
    pub cwnd: Option<u64>,
    /// Bytes in flight.
    pub in_flight: Option<u64>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Packets it has sent again, or taken for lost, so far.
    pub lost_packets: u64,
}

/// One end of a flow: a state machine that takes datagrams and timeouts as input, and is polled for
/// datagrams to send.
///
/// The network calls [`handle`](Self::handle) for each datagram that arrives and
/// [`handle_timeout`](Self::handle_timeout) when the time of [`poll_timeout`](Self::poll_timeout)
/// has come. After each of these, and once at the flow's start, it calls
/// [`poll_transmit`](Self::poll_transmit) until there is nothing more, and then `poll_timeout`.
pub trait Endpoint {
    /// A datagram has arrived.
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>);

    /// The next datagram, written into `buffer`, which is empty; `None` when there is nothing to
    /// send now.
    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit>;

    /// When it is to be called next if nothing arrives; `None` for never.
    fn poll_timeout(&mut self) -> Option<Instant>;

    /// The time of [`poll_timeout`](Self::poll_timeout) has come. Endpoints that look at the clock
    /// in `poll_transmit` need not do anything.
    fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
    }

    /// Bytes that its application has received so far, each once: the goodput of a flow is what its
    /// sink says here. `None` counts datagrams in place of that.
    fn delivered_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether the flow has done all it had to do, as far as this end knows: it is complete when
    /// either end reports it.
    fn is_complete(&self) -> bool {
        false
    }

    /// The state of the path as the endpoint knows it, for series and round-trip times; asked of
    /// sources.
    fn recovery(&mut self) -> Recovery {
        Recovery::default()
    }
}

/// Both ends of a flow.
pub struct Ends {
    /// The end that most data comes from; begins.
    pub source: Box<dyn Endpoint>,
    /// The other end.
    pub sink: Box<dyn Endpoint>,
}

impl Ends {
    /// Makes the two ends of a flow from two endpoints.
    pub fn new(source: impl Endpoint + 'static, sink: impl Endpoint + 'static) -> Self {
        Self { source: Box::new(source), sink: Box::new(sink) }
    }
}

/// The flow that endpoints are made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowFacts<'a> {
    /// The group of the flow.
    pub group: &'a str,
    /// The number of the flow within the group, from zero.
    pub index: u32,
    /// When it starts.
    pub start: Instant,
    /// Bytes that the scenario has it transfer; `None` without end.
    pub size: Option<u64>,
    /// For random numbers of its ends: another one for each flow of each replication.
    pub seed: u64,
    /// The scenario's settings for the sender of the flow, for ends that run our TCP.
    pub sender: &'a SenderConfig,
    /// Those for the receiver.
    pub receiver: &'a ReceiverConfig,
}
