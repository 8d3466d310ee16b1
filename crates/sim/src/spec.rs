//! The specification of a world: links, flows and recording. Plain values; everything random is
//! drawn from `seed`.

use crate::call::Content;
use goodqueue_aqm::custom::CustomKind;
use goodqueue_aqm::external::ExternalQueueKind;
use goodqueue_aqm::spec::{KindAndParams, KindSpec};
use goodqueue_aqm::{EcnPolicy, Limit};
use goodqueue_base::line::RateSpec;
use goodqueue_base::units::{Bytes, Class, Duration, Framing, Instant, Rate};
use goodqueue_tcp::{CcConfig, ReceiverConfig, SenderConfig};
use std::sync::Arc;

/// Index into [`WorldSpec::links`].
pub type LinkId = u32;

/// A whole simulated world.
#[derive(Clone, Debug)]
pub struct WorldSpec {
    /// All links, one direction each.
    pub links: Vec<LinkSpec>,
    /// All flows.
    pub flows: Vec<FlowSpec>,
    /// Names of the groups that [`FlowSpec::group`] points into.
    pub groups: Vec<String>,
    /// Excluded from every figure.
    pub warmup: Duration,
    /// The measured part, after the warm-up.
    pub duration: Duration,
    /// Root of every random stream of this world.
    pub seed: u64,
    /// Records to make besides the summary figures.
    pub recording: Recording,
}

impl WorldSpec {
    /// One group of flows whose forward route is link 0 and whose reverse route is link 1: this
    /// link, and a wire of its rate and delay. Measured from the start, for one second.
    #[must_use]
    pub fn line(link: LinkSpec, flows: Vec<FlowSpec>) -> Self {
        let back = LinkSpec { name: format!("{}.up", link.name), queue: QueueSpec::Unlimited, observed: false, ..link.clone() };
        Self {
            links: vec![link, back],
            flows,
            groups: vec!["bulk".to_owned()],
            warmup: Duration::ZERO,
            duration: Duration::secs(1),
            seed: 1,
            recording: Recording::default(),
        }
    }

    /// Propagation delay of a route.
    pub(crate) fn delay(&self, route: &[LinkId]) -> Duration {
        route.iter().fold(Duration::ZERO, |sum, link| sum + self.links[*link as usize].delay)
    }

    /// The name of a flow in messages.
    pub(crate) fn name_of(&self, flow: &FlowSpec) -> String {
        format!("{}[{}]", self.groups.get(flow.group as usize).map_or("?", String::as_str), flow.index)
    }
}

/// One direction of a link: a queue, a transmitter and a pipe.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Name in results.
    pub name: String,
    /// Transmission rate.
    pub rate: RateSpec,
    /// Depth of a token bucket, for a shaper in place of a wire: after a pause this many bytes,
    /// framing included, take no time. Zero for a wire. Only with a constant rate.
    pub burst: Bytes,
    /// One-way propagation delay.
    pub delay: Duration,
    /// Random extra delay of each packet, uniform from zero to this; the order of packets is kept.
    /// Only for links without queue. Real hosts are irregular; perfectly regular ones would lock
    /// into phase with a bottleneck of commensurable rate (Floyd and Jacobson 1991).
    pub jitter: Duration,
    /// Bytes that this link adds to each packet.
    pub framing: Framing,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// The queue in front of the transmitter.
    pub queue: QueueSpec,
    /// Probability that a transmitted packet is lost on the wire, in [0, 1).
    pub loss: f64,
    /// Flow control: while this many packets or bytes wait here, the transmitters of links that
    /// lead here pause (Ethernet pause frames, or a driver that stops its stack; without delay).
    /// `None`: they never pause. Needs a queue, here and there.
    pub flow_control: Option<Limit>,
    /// Whether to record and report it.
    pub observed: bool,
    /// The first of several equal links that are reported as one, if this is another one of them:
    /// counts and rates are their sums, queues the mean of one.
    pub counts_with: Option<LinkId>,
}

impl LinkSpec {
    /// A wire for packets of up to 1500 bytes: no framing, no loss, no limit, not observed.
    pub fn wire(name: impl Into<String>, rate: Rate, delay: Duration) -> Self {
        Self {
            name: name.into(),
            rate: RateSpec::Constant(rate),
            burst: Bytes::ZERO,
            delay,
            jitter: Duration::ZERO,
            framing: Framing::NONE,
            mtu: Bytes::new(1500),
            queue: QueueSpec::Unlimited,
            loss: 0.0,
            flow_control: None,
            observed: false,
            counts_with: None,
        }
    }

    /// Returns this link behind a queue, observed.
    #[must_use]
    pub fn behind(self, queue: QueueSpec) -> Self {
        Self { queue, observed: true, ..self }
    }
}

/// The queue in front of a transmitter.
#[derive(Clone, Debug)]
pub enum QueueSpec {
    /// A FIFO without limit, for access links that are never the subject. Needs a constant rate.
    Unlimited,
    /// A queue discipline.
    Discipline {
        /// The discipline, whose parameters are already checked.
        queue: KindAndParams,
        /// Mark or drop.
        ecn: EcnPolicy,
        /// Hard limit.
        limit: Limit,
    },
    /// One queue under an algorithm of the program's own.
    Own {
        /// Builds it.
        kind: Arc<dyn CustomKind>,
        /// Mark or drop.
        ecn: EcnPolicy,
        /// Hard limit.
        limit: Limit,
    },
    /// A discipline that another program runs.
    ExternalScheduler {
        /// Opens it.
        kind: Arc<dyn ExternalQueueKind>,
        /// The queue that the other program runs.
        of: Box<QueueSpec>,
    },
}

impl QueueSpec {
    /// The queue that another program runs, or else this one.
    #[must_use]
    pub fn here(&self) -> &Self {
        match self {
            Self::ExternalScheduler { of, .. } => of,
            Self::Unlimited | Self::Discipline { .. } | Self::Own { .. } => self,
        }
    }

    /// The queue's hard limit.
    #[must_use]
    pub const fn limit(&self) -> Limit {
        match self {
            Self::Unlimited => Limit::NONE,
            Self::Discipline { limit, .. } | Self::Own { limit, .. } => *limit,
            Self::ExternalScheduler { of, .. } => of.limit(),
        }
    }

    /// A discipline with its defaults, without marking.
    #[must_use]
    pub const fn plain(kind: &'static KindSpec, limit: Limit) -> Self {
        Self::Discipline { queue: KindAndParams::new(kind, Vec::new()), ecn: EcnPolicy::Drop, limit }
    }
}

/// One flow: a source, a sink, and the links between them.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Index into [`WorldSpec::groups`].
    pub group: u32,
    /// Number within its group, from zero.
    pub index: u32,
    /// Links from source to sink, in order; at least one.
    pub forward: Vec<LinkId>,
    /// Links from sink to source, in order; at least one where the sink answers
    /// ([`SourceSpec::is_answered`]).
    pub reverse: Vec<LinkId>,
    /// Start of the flow.
    pub start: Instant,
    /// Time at which it stops offering new data; `None`: never.
    pub stop: Option<Instant>,
    /// Class of its packets, both ways.
    pub class: Class,
    /// Share of a link relative to other flows, in both directions, where the queue has weights;
    /// above zero, usually 1.
    pub weight: f64,
    /// The leaf that it belongs to where the queue is a hierarchy of classes that has it, in both
    /// directions.
    pub leaf: Option<Arc<str>>,
    /// The end that is a host of several flows; the other end, or both, are hosts of their own.
    pub shared_host: Option<SharedHost>,
    /// The source of its data.
    pub source: SourceSpec,
}

impl FlowSpec {
    /// The first flow of the first group, from the start to the end.
    #[must_use]
    pub const fn new(forward: Vec<LinkId>, reverse: Vec<LinkId>, source: SourceSpec) -> Self {
        Self {
            group: 0,
            index: 0,
            forward,
            reverse,
            start: Instant::ZERO,
            stop: None,
            class: Class::DEFAULT,
            weight: 1.0,
            leaf: None,
            shared_host: None,
            source,
        }
    }
}

/// A host at the end of several flows, for queues that tell hosts apart. Hosts with equal numbers
/// are one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedHost {
    /// The host sends the flow's data.
    Source(HostNumber),
    /// The host receives the flow's data.
    Sink(HostNumber),
}

/// The number of a shared host, 1 to [`HostNumber::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostNumber(u16);

impl HostNumber {
    /// The largest.
    pub const MAX: u16 = 127;

    /// `None` out of range.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number >= 1 && number <= Self::MAX { Some(Self(number)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// The source of a flow. Packet sizes of UDP sources are IP lengths, rates are in IP bits.
#[derive(Clone, Debug)]
pub enum SourceSpec {
    /// A TCP connection. Each segment has `header` bytes of IP and TCP headers and options (40, or
    /// 52 with timestamps).
    Tcp {
        /// Sender settings.
        sender: SenderConfig,
        /// Receiver settings.
        receiver: ReceiverConfig,
        /// IP and TCP header bytes per segment.
        header: Bytes,
    },
    /// Transfers, pages or video over TCP connections that come and go. Every connection has these
    /// settings at both ends; `data` of the sender is ignored. Requests use the flow's reverse
    /// route.
    Session {
        /// The model of the program.
        model: SessionSpec,
        /// Sender settings.
        sender: SenderConfig,
        /// Receiver settings.
        receiver: ReceiverConfig,
        /// IP and TCP header bytes per segment.
        header: Bytes,
    },
    /// UDP packets at constant gaps.
    Cbr {
        /// Rate in IP bits.
        rate: Rate,
        /// IP length.
        packet_size: Bytes,
        /// Codepoint they carry.
        ecn: goodqueue_base::units::Ecn,
    },
    /// UDP packets at constant gaps that somebody listens to.
    Call {
        /// The content of the packets.
        content: Content,
        /// Time from one packet to the next.
        interval: Duration,
        /// IP length.
        packet_size: Bytes,
        /// Codepoint they carry.
        ecn: goodqueue_base::units::Ecn,
    },
    /// UDP packets at constant gaps that the sink returns immediately, with the same length and
    /// codepoint: they measure round-trip times.
    Echo {
        /// Time from one packet to the next.
        interval: Duration,
        /// IP length, both ways; more than a UDP packet without payload has.
        packet_size: Bytes,
        /// Codepoint they carry, both ways.
        ecn: goodqueue_base::units::Ecn,
    },
    /// Frames at constant gaps, each a burst of UDP packets: every `group`-th frame is large, the
    /// others are small.
    Frames {
        /// Mean rate in IP bits.
        rate: Rate,
        /// Time from one frame to the next.
        interval: Duration,
        /// Frames from one large one to the next, at least 1.
        group: u32,
        /// Size of a large frame over that of a small one, at least 1.
        ratio: f64,
        /// IP length of full packets.
        packet_size: Bytes,
        /// Codepoint they carry.
        ecn: goodqueue_base::units::Ecn,
    },
    /// UDP packets at exponentially distributed gaps.
    Poisson {
        /// Mean rate in IP bits.
        rate: Rate,
        /// Mean IP length.
        packet_size: Bytes,
        /// Distribution of lengths around the mean.
        sizes: SizeLaw,
        /// Codepoint they carry.
        ecn: goodqueue_base::units::Ecn,
    },
    /// Trains of UDP packets: `length` packets at constant gaps, and again after `interval`.
    Train {
        /// Packets of a train, at least 1.
        length: u32,
        /// Time from one packet of a train to the next.
        gap: Duration,
        /// Time from the beginning of a train to that of the next, at least that of `length - 1`
        /// gaps.
        interval: Duration,
        /// IP length.
        packet_size: Bytes,
        /// Codepoint they carry.
        ecn: goodqueue_base::units::Ecn,
    },
    /// UDP packets at constant gaps during exponentially distributed bursts.
    OnOff {
        /// Rate within a burst, in IP bits.
        peak: Rate,
        /// Mean length of a burst.
        mean_on: Duration,
        /// Mean length of a silence.
        mean_off: Duration,
        /// IP length.
        packet_size: Bytes,
        /// Codepoint they carry.
        ecn: goodqueue_base::units::Ecn,
    },
}

impl SourceSpec {
    /// Endless data over TCP with timestamps under this congestion control, with defaults for
    /// everything else.
    #[must_use]
    pub fn bulk(cc: &'static str) -> Self {
        let sender = SenderConfig { cc: CcConfig { kind: cc, params: Vec::new() }, ..SenderConfig::default() };
        Self::Tcp { sender, receiver: ReceiverConfig::default(), header: Bytes::new(52) }
    }

    /// Settings of its TCP connections, and their headers; `None` for UDP.
    #[must_use]
    pub const fn tcp(&self) -> Option<(&SenderConfig, &ReceiverConfig, Bytes)> {
        match self {
            Self::Tcp { sender, receiver, header } | Self::Session { sender, receiver, header, .. } => {
                Some((sender, receiver, *header))
            }
            _ => None,
        }
    }

    /// The mean rate, packet size and codepoint of its datagrams; `None` for TCP.
    #[must_use]
    pub fn datagrams(&self) -> Option<Datagrams> {
        let per = |packet_size: Bytes, time: Duration| packet_size.bits() as f64 / time.as_secs_f64().max(1e-9);
        let (mean_bit_s, packet_size, ecn) = match *self {
            Self::Tcp { .. } | Self::Session { .. } => return None,
            Self::Call { interval, packet_size, ecn, .. } | Self::Echo { interval, packet_size, ecn } => {
                (per(packet_size, interval), packet_size, ecn)
            }
            Self::Cbr { rate, packet_size, ecn }
            | Self::Frames { rate, packet_size, ecn, .. }
            | Self::Poisson { rate, packet_size, ecn, .. } => (rate.as_bit_s() as f64, packet_size, ecn),
            Self::Train { length, interval, packet_size, ecn, .. } => {
                (per(packet_size, interval) * f64::from(length), packet_size, ecn)
            }
            Self::OnOff { peak, mean_on, mean_off, packet_size, ecn } => {
                let share = mean_on.as_secs_f64() / (mean_on.as_secs_f64() + mean_off.as_secs_f64());
                (peak.as_bit_s() as f64 * share, packet_size, ecn)
            }
        };
        Some(Datagrams { mean_bit_s, packet_size, ecn })
    }

    /// Whether the sink sends something back.
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        self.tcp().is_some() || matches!(self, Self::Echo { .. })
    }
}

/// The mean rate, packet size and codepoint of a source's datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Datagrams {
    /// Mean rate in IP bits per second.
    pub mean_bit_s: f64,
    /// Mean IP length, or that of full packets.
    pub packet_size: Bytes,
    /// Codepoint they carry.
    pub ecn: goodqueue_base::units::Ecn,
}

/// The use that a session makes of its connections.
#[derive(Clone, Debug)]
pub enum SessionSpec {
    /// A transfer, a pause, and again.
    BulkWithPauses {
        /// Bytes of each transfer.
        size: Bytes,
        /// Shortest and longest pause after a transfer, uniform between.
        pause: (Duration, Duration),
        /// A connection for each transfer, or one for all.
        connection: ConnectionUse,
    },
    /// Transfers that begin at their own times, each on new connections.
    Short {
        /// Bytes of each transfer.
        size: Bytes,
        /// Mean time from the beginning of one to the beginning of the next.
        interval: Duration,
        /// Distribution of the times.
        arrivals: Arrivals,
        /// Connections that share each transfer, at least one.
        connections: u32,
    },
    /// Transfers of a list, each on a connection of its own.
    List {
        /// Ordered by time.
        transfers: Arc<[Transfer]>,
    },
    /// Web connections at a given rate (PackMime-HTTP).
    Web(WebSpec),
    /// Web pages, one after another.
    Page(PageSpec),
    /// Adaptive video.
    Video(VideoSpec),
}

/// One transfer of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Start of the transfer, after the flow's own start.
    pub at: Duration,
    /// Bytes of the transfer, at least one.
    pub size: Bytes,
}

/// Whether a connection is reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionUse {
    /// A new one for each transfer.
    Fresh,
    /// One connection for all.
    Kept,
}

/// The distribution of the times between beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Equal times, the first beginning at once.
    Periodic,
    /// Exponentially distributed times.
    Poisson,
}

/// Web connections as PackMime-HTTP has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WebSpec {
    /// New connections per second, above zero.
    pub connections_per_s: f64,
    /// One request a connection, or several.
    pub version: HttpVersion,
    /// Scale of the Weibull distribution (shape 0.63) of the time a server thinks.
    pub server_delay_scale: Duration,
}

/// The contents of a web session's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpVersion {
    /// One request each.
    Http10,
    /// Some carry several pages of several objects.
    Http11,
}

/// Web pages, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSpec {
    /// Objects of a page, at least one.
    pub objects: u32,
    /// Mean size of an object; sizes are log-normal, at least 1 kB.
    pub object: Bytes,
    /// Connections at once, at least one.
    pub connections: u32,
    /// Bytes of a request.
    pub request: Bytes,
    /// Time from a request's arrival to the response.
    pub server_delay: Duration,
    /// Shortest and longest pause after a page, uniform between.
    pub pause: (Duration, Duration),
}

/// Adaptive video.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VideoSpec {
    /// Bitrates there are, rising; at least one.
    pub ladder: Vec<Rate>,
    /// Media time of a segment, above zero.
    pub segment: Duration,
    /// Most media kept ahead, at least one segment.
    pub buffer: Duration,
    /// Bytes of a request.
    pub request: Bytes,
    /// Whether a segment that takes too long is given up for one of a lower bitrate.
    pub gives_up: bool,
}

/// The distribution of packet lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeLaw {
    /// Equal lengths.
    #[default]
    Fixed,
    /// Exponentially distributed lengths, rounded up to whole bytes, at most 65535.
    Exponential,
}

/// The records to make besides the summary figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Sample queues, gauges and senders at this period; `None`: not at all.
    pub sample_every: Option<Duration>,
    /// Keep one record for each packet event at observed links.
    pub packets: bool,
}
