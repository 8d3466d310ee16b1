//! Kinds of traffic and the keys of `[[traffic]]` tables.

use goodqueue_base::spec::{Default, Kind, Param, Unit, Value};
use goodqueue_base::units::{Bytes, Class, Duration, Rate};
use goodqueue_sim::HostNumber;
use goodqueue_sim::call::Codec;
use std::ops::Deref;

use crate::scenario::limits::{MAX_DATA, MAX_DELAY_S, MAX_FLOWS, MAX_RATE, MAX_S};

/// A kind of traffic, as the reader tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the table below describes each")]
pub enum TrafficKind {
    Bulk,
    BulkWithPauses,
    Short,
    FlowList,
    Web,
    Page,
    Video,
    /// Datagrams.
    Udp(UdpKind),
}

/// A kind of traffic over UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the table below describes each")]
pub enum UdpKind {
    Voip,
    Gaming,
    VideoFrames,
    Cbr,
    Poisson,
    Train,
    OnOff,
    Echo,
}

impl TrafficKind {
    /// The description of this kind.
    ///
    /// # Panics
    ///
    /// Never: a test finds every kind in the table.
    #[must_use]
    pub fn spec(self) -> &'static TrafficSpec {
        KINDS.iter().find(|spec| spec.of == self).expect("every kind is described")
    }

    /// Keys of all kinds on the same transport.
    #[must_use]
    pub const fn transport_keys(self) -> &'static Kind {
        match self {
            Self::Udp(_) => &UDP,
            Self::Bulk | Self::BulkWithPauses | Self::Short | Self::FlowList | Self::Web | Self::Page | Self::Video => &TCP,
        }
    }
}

/// The description of one kind of traffic. Its parameters are the keys of this kind alone.
#[derive(Clone, Copy, Debug)]
pub struct TrafficSpec {
    /// Names, summary, own keys.
    pub base: Kind,
    /// The kind that it describes.
    pub of: TrafficKind,
    /// The directions in which data may go across the bottleneck.
    pub ways: Ways,
    /// Whether it reads a file next to the scenario, which pages without files cannot offer.
    pub needs_file: bool,
    /// Whether it stands for something that most lines carry, so that lists have it among the
    /// first.
    pub usual: bool,
}

impl Deref for TrafficSpec {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.base
    }
}

impl TrafficSpec {
    /// All keys of its table but `kind`: its own, its transport's, and those of every kind.
    pub fn keys(&self) -> impl Iterator<Item = &'static Param> {
        self.base.params.iter().chain(self.of.transport_keys().params).chain(COMMON.params)
    }
}

/// The directions in which data of one group may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// One way.
    One,
    /// One way, or one flow each way.
    Both,
}

/// Keys of every kind.
pub const COMMON: Kind = Kind {
    params: &[
        Param::auto("name", Unit::Text, "the kind").about("name of the group in results").for_instance("\"video\""),
        Param::count("flows", 1.0).within(0.0, MAX_FLOWS as f64).about("how many flows").for_instance("16"),
        timing("start", Duration::ZERO, MAX_S)
            .about("when each flow starts; drawn per flow if a range is given")
            .for_instance("\"uniform 0 s .. 5 s\""),
        Param::auto("stop", Unit::Duration, "never")
            .within(0.0, MAX_S)
            .about("when all stop offering new data")
            .for_instance("\"50 s\""),
        Param::new("direction", Unit::Form("down, up; for some kinds both"), Default::Value(Value::Choice("down")))
            .about("direction of the data across the bottleneck; \"both\": each flow goes both ways (voip, gaming)")
            .for_instance("\"up\""),
        Param::auto("path", Unit::Nodes, "over the one link")
            .about("nodes that data passes from sender to receiver, in networks of several links")
            .for_instance("[\"a\", \"b\"]"),
        Param::auto("return_path", Unit::Nodes, "the same way back")
            .about("nodes that packets pass on the way back")
            .for_instance("[\"b\", \"a\"]"),
        timing("rtt_extra", Duration::ZERO, MAX_DELAY_S)
            .about("round-trip time in addition to that of the links")
            .for_instance("\"uniform 0 ms .. 100 ms\""),
        Param::count("rtt_shared_by", 1.0)
            .within(1.0, MAX_FLOWS as f64)
            .about("how many consecutive flows share one draw of rtt_extra, as those behind one router")
            .for_instance("3"),
        Param::count("class", 0.0)
            .within(0.0, Class::COUNT as f64 - 1.0)
            .about("class of the packets, higher is more urgent; for queues that distinguish classes")
            .for_instance("5"),
        // Wide enough for every ratio, narrow enough for times that follow from a weight.
        Param::number("weight", 1.0)
            .within(0.001, 1_000.0)
            .about("weight of each flow: its share of the link relative to other flows; for queues that weigh flows")
            .for_instance("2"),
        Param::auto("leaf", Unit::Text, "none: that of the queue's default class")
            .about("leaf that the flows belong to, both ways, in queues of classes")
            .for_instance("\"gold\""),
        Param::auto("host", Unit::Count, "one for each flow")
            .within(1.0, HostNumber::MAX as f64)
            .about("host at which the flows end (the receiver of data that goes down); for queues that distinguish hosts")
            .for_instance("1"),
        Param::off("background").about("whether nobody waits for it: it loads the line, and decides nothing between queues"),
    ],
    ..Kind::PLAIN
};

/// Keys of kinds over UDP.
pub const UDP: Kind = Kind {
    params: &[Param::new("ecn", Unit::SwitchOr(&["ect0", "ect1"]), Default::Value(Value::Switch(false)))
        .about("ECN codepoint: false, true, \"ect0\" or \"ect1\"")
        .for_instance("\"ect0\"")],
    ..Kind::PLAIN
};

/// Keys of TCP connections.
pub const TCP: Kind = Kind {
    params: &[
        Param::new("cc", Unit::Form("a congestion control, or { kind = \"cubic\", … } with parameters"), CUBIC)
            .about("congestion control, see gq list cc")
            .for_instance("\"reno\""),
        Param::auto("ecn", Unit::SwitchOr(&["classic", "mirror", "accurate", "l4s"]), "the control's habit")
            .about("true, false, or the feedback: \"classic\", \"mirror\", \"accurate\", \"l4s\"")
            .for_instance("true"),
        // The smallest segment that every host must take (RFC 9293 §3.7.1 less options).
        Param::auto("mss", Unit::Bytes, "fills the link's mtu")
            .within(48.0, 65_495.0)
            .about("largest payload of a segment")
            .for_instance("\"1000 B\""),
        Param::on("timestamps").about("the timestamps option, 12 bytes per segment").for_instance("false"),
        Param::auto("header", Unit::Bytes, "52 B, 40 B without timestamps")
            .within(40.0, 120.0)
            .about("IP and TCP headers of a segment; instead of timestamps")
            .for_instance("\"60 B\""),
        Param::new(
            "sack",
            Unit::SwitchOr(&["compressed", "compressed-7.3", "plain"]),
            Default::Value(Value::Choice("compressed")),
        )
        .about(
            "selective acknowledgements: compressed (as Linux from 4.18 to 6.12, or as 7.3), plain (each gap is reported at \
                 once), or false (NewReno)",
        )
        .for_instance("\"plain\""),
        Param::choice("loss_detection", &["rack", "rfc6675"], "rack")
            .about("how losses are detected: by time (rack) or by counting (rfc6675)")
            .for_instance("\"rfc6675\""),
        Param::choice("slow_start_exit", &["native", "loss-only", "hystart++"], "native")
            .about("how slow start may end: native, loss-only, hystart++")
            .for_instance("\"hystart++\""),
        Param::auto("gso", Unit::Switch, "the control's habit")
            .about("segmentation offload as in Linux; false sends segments one by one")
            .for_instance("false"),
        Param::count("initial_window", 10.0).within(1.0, 1_000.0).about("initial window in segments").for_instance("3"),
        Param::duration("rto_min", Duration::ms(200))
            .within(0.001, 60.0)
            .about("smallest retransmission timeout")
            .for_instance("\"1 s\""),
        Param::auto("max_window", Unit::Bytes, "grows as in Linux")
            .within(1.0, MAX_DATA)
            .about("constant window that the receiver offers")
            .for_instance("\"64 kB\""),
        Param::new("ack", Unit::Form("delayed, every-packet or { every = N }"), Default::Value(Value::Choice("delayed")))
            .about("when to acknowledge: delayed, every-packet, or { every = N } segments")
            .for_instance("{ every = 20 }"),
        Param::duration("max_ack_delay", Duration::ms(40))
            .within(0.001, 1.0)
            .about("longest delay of an acknowledgement")
            .for_instance("\"200 ms\""),
    ],
    ..Kind::PLAIN
};

const CUBIC: Default = Default::Value(Value::Choice("cubic"));

/// Bitrates of videos that name none.
pub const LADDER: [Rate; 5] = [Rate::kbit(350), Rate::kbit(700), Rate::kbit(1_500), Rate::mbit(3), Rate::mbit(6)];

const fn timing(name: &'static str, default: Duration, longest_s: f64) -> Param {
    Param::new(name, Unit::Timing, Default::Value(Value::Duration(default))).within(0.0, longest_s)
}

/// The key for the bytes of each transfer; `default` is `None` where it must be given.
const fn size(default: Option<Bytes>) -> Param {
    let default = match default {
        Some(size) => Default::Value(Value::Bytes(size)),
        None => Default::Required,
    };
    Param::new("size", Unit::Bytes, default).within(1.0, MAX_DATA).about("bytes of each transfer")
}

/// IP length of each packet, `least` and more.
const fn packet_size(default: Default, least: f64) -> Param {
    Param::new("packet_size", Unit::Bytes, default)
        .within(least, MAX_PACKET)
        .about("IP length of each packet")
        .for_instance("\"200 B\"")
}

const fn of_bytes(bytes: u64) -> Default {
    Default::Value(Value::Bytes(Bytes::new(bytes)))
}

const FULL: Default = Default::Auto("the link's mtu");
/// IP and UDP headers.
const MIN_PACKET: f64 = 28.0;
/// Headers and room for a number and a time: what probes in a real network carry.
const MIN_PROBE: f64 = MIN_PACKET + 16.0;
const MAX_PACKET: f64 = 65_535.0;

const fn rate(name: &'static str, default: Default) -> Param {
    Param::new(name, Unit::Rate, default).within(1.0, MAX_RATE.as_bit_s() as f64).about("rate in IP bits")
}

const fn of_kbit(kbit: u64) -> Default {
    Default::Value(Value::Rate(Rate::kbit(kbit)))
}

const fn interval(default: Default) -> Param {
    span("interval", default).about("time from one packet to the next")
}

const fn of_ms(ms: u64) -> Default {
    Default::Value(Value::Duration(Duration::ms(ms)))
}

const fn span(name: &'static str, default: Default) -> Param {
    Param::new(name, Unit::Duration, default).within(1e-6, MAX_S)
}

/// Requests are sent before anything is known of the path, so they are small.
const fn request_size(bytes: u64) -> Param {
    Param::bytes("request_size", Bytes::new(bytes)).within(1.0, 1e6).about("bytes of a request").for_instance("\"500 B\"")
}

const fn pause(default: Default) -> Param {
    Param::new("pause", Unit::Timing, default).within(0.0, MAX_S)
}

impl TrafficSpec {
    const fn unusual(self) -> Self {
        Self { usual: false, ..self }
    }
}

const fn tcp(of: TrafficKind, base: Kind) -> TrafficSpec {
    TrafficSpec { base, of, ways: Ways::One, needs_file: false, usual: true }
}

const fn udp(of: UdpKind, base: Kind) -> TrafficSpec {
    TrafficSpec { base, of: TrafficKind::Udp(of), ways: Ways::One, needs_file: false, usual: true }
}

const fn kind(kind: &'static str, summary: &'static str, params: &'static [Param]) -> Kind {
    Kind { kind, title: kind, summary, params, ..Kind::PLAIN }
}

/// Every kind, in the order of [`TrafficKind`].
pub static KINDS: &[TrafficSpec] = &[
    tcp(
        TrafficKind::Bulk,
        kind(
            "bulk",
            "TCP connections that send without end, or `size` bytes each",
            &[Param::auto("size", Unit::Bytes, "no end")
                .within(1.0, MAX_DATA)
                .about("bytes that each flow has to send")
                .for_instance("\"1 MB\"")],
        ),
    ),
    tcp(
        TrafficKind::BulkWithPauses,
        kind(
            "bulk-with-pauses",
            "a transfer over TCP, a pause, and again",
            &[
                size(Some(Bytes::new(1_000_000))).for_instance("\"5 MB\""),
                pause(Default::Value(Value::Range(Duration::secs(5), Duration::secs(15))))
                    .about("time from the end of a transfer to the next, drawn each time where a range is given")
                    .for_instance("\"10 s\""),
                Param::off("keep_connection")
                    .about("one connection for all transfers instead of a new one each")
                    .for_instance("true"),
            ],
        ),
    )
    .unusual(),
    tcp(
        TrafficKind::Short,
        kind(
            "short",
            "transfers over TCP that begin at their own times, each on new connections",
            &[
                size(None).for_instance("\"64 MB\""),
                span("interval", Default::Required)
                    .about("mean time from the beginning of one transfer to the next")
                    .for_instance("\"2 s\""),
                Param::choice("arrivals", &["periodic", "poisson"], "periodic")
                    .about("how these times are distributed: periodic, poisson")
                    .for_instance("\"poisson\""),
                Param::count("connections", 1.0)
                    .within(1.0, 1_000.0)
                    .about("new connections that share each transfer, which is complete when all are")
                    .for_instance("4"),
            ],
        ),
    ),
    TrafficSpec {
        needs_file: true,
        usual: false,
        ..tcp(
            TrafficKind::FlowList,
            kind(
                "flow-list",
                "transfers over TCP listed in a file: when each begins, its bytes, and perhaps its control and path",
                &[Param::required("file", Unit::Text)
                    .about("file of comma-separated values, one transfer per line")
                    .for_instance("\"flows.csv\"")],
            ),
        )
    },
    tcp(
        TrafficKind::Web,
        kind(
            "web",
            "web connections at a given rate, each with requests, thinking servers and responses (PackMime-HTTP)",
            &[
                Param::required("rate", Unit::Number)
                    .within(0.0, 1e6)
                    .about("new connections per second, of each flow")
                    .for_instance("5"),
                Param::choice("http", &["1.0", "1.1"], "1.0")
                    .about("1.0: one request per connection; 1.1: some carry several pages of several objects")
                    .for_instance("\"1.1\""),
                // A constant of PackMime's law, 1/305 s.
                Param::duration("server_delay_scale", Duration::ns(3_278_689))
                    .within(0.0, 60.0)
                    .about("scale of the Weibull distribution (shape 0.63) of the processing time of the server")
                    .for_instance("\"0 ms\""),
            ],
        ),
    ),
    tcp(
        TrafficKind::Page,
        kind(
            "page",
            "web pages one after another, each of many objects over a few parallel connections",
            &[
                Param::count("objects", 50.0).within(1.0, 100_000.0).about("objects of a page").for_instance("100"),
                Param::bytes("size", Bytes::new(12_000))
                    .within(1_000.0, (1u64 << 26) as f64)
                    .about("mean size of an object; sizes are log-normal, at least 1 kB")
                    .for_instance("\"20 kB\""),
                Param::count("connections", 6.0)
                    .within(1.0, 1_000.0)
                    .about("connections at once, new for each page")
                    .for_instance("1"),
                request_size(350),
                Param::duration("server_delay", Duration::ZERO)
                    .within(0.0, MAX_S)
                    .about("time from a request's arrival to the response")
                    .for_instance("\"20 ms\""),
                pause(Default::Value(Value::Duration(Duration::ZERO)))
                    .about("time from the end of a page to the next, drawn each time where a range is given")
                    .for_instance("\"uniform 5 s .. 15 s\""),
            ],
        ),
    ),
    tcp(
        TrafficKind::Video,
        kind(
            "video",
            "adaptive video over TCP: segments of the best bitrate that the throughput so far allows",
            &[
                Param::auto("ladder", Unit::Form("list of rates"), "0.35, 0.7, 1.5, 3, 6 Mbit/s")
                    .about("bitrates to choose from, rising")
                    .for_instance("[\"1 Mbit/s\", \"4 Mbit/s\"]"),
                Param::duration("segment", Duration::secs(2))
                    .within(0.01, MAX_S)
                    .about("media time of a segment")
                    .for_instance("\"4 s\""),
                Param::duration("buffer", Duration::secs(10))
                    .within(0.01, MAX_S)
                    .about("most media kept ahead, one segment at least")
                    .for_instance("\"30 s\""),
                Param::off("abandon")
                    .about("give a segment up that takes longer than 1.8 times its media time, for one of a lower bitrate")
                    .for_instance("true"),
                request_size(300),
            ],
        ),
    ),
    TrafficSpec {
        ways: Ways::Both,
        ..udp(
            UdpKind::Voip,
            kind(
                "voip",
                "calls: small UDP packets at constant gaps, judged by what the listener would hear",
                &[
                    Param::choice("codec", &[Codec::Opus.name(), Codec::Pcmu.name()], Codec::Opus.name())
                        .about("opus: 32 kbit/s with forward error correction; pcmu: G.711, 64 kbit/s; a frame of 20 ms in each packet")
                        .from_source(
                            "opus: RFC 6716 §2.1.7; pcmu: RFC 3551 §4.2; UNVERIFIED: the fullband scale of voip.mos_of_codec, which \
                             decides nothing",
                        )
                        .for_instance("\"pcmu\""),
                    rate("rate", Default::Auto("a packet every 20 ms")).for_instance("\"100 kbit/s\""),
                    packet_size(Default::Auto("130 B for opus, 200 B for pcmu"), MIN_PACKET),
                ],
            ),
        )
    },
    TrafficSpec {
        ways: Ways::Both,
        ..udp(
            UdpKind::Gaming,
            kind(
                "gaming",
                "games: small UDP packets at every tick, smaller ones from the player",
                &[
                    interval(of_ms(16)).for_instance("\"33 ms\""),
                    packet_size(of_bytes(130), MIN_PACKET),
                    Param::new("packet_size_up", Unit::Bytes, of_bytes(80))
                        .within(MIN_PACKET, MAX_PACKET)
                        .about("IP length of those the other way, with direction = \"both\"")
                        .for_instance("\"60 B\""),
                ],
            ),
        )
    },
    udp(
        UdpKind::VideoFrames,
        kind(
            "video-frames",
            "video over UDP that does not respond: bursts of packets at constant gaps, one of several a large one",
            &[
                rate("rate", of_kbit(2_000)).about("mean rate in IP bits").for_instance("\"5 Mbit/s\""),
                span("interval", of_ms(40)).about("time from one frame to the next").for_instance("\"20 ms\""),
                Param::count("group", 12.0)
                    .within(1.0, 10_000.0)
                    .about("frames from one large frame to the next")
                    .for_instance("30"),
                Param::number("ratio", 5.0)
                    .within(1.0, 1_000.0)
                    .about("size of a large frame over that of the others")
                    .for_instance("8"),
                packet_size(FULL, MIN_PACKET),
            ],
        ),
    )
    .unusual(),
    udp(
        UdpKind::Cbr,
        kind(
            "cbr",
            "UDP packets at constant gaps",
            &[rate("rate", Default::Required).for_instance("\"2 Mbit/s\""), packet_size(FULL, MIN_PACKET)],
        ),
    ),
    udp(
        UdpKind::Poisson,
        kind(
            "poisson",
            "UDP packets at exponentially distributed gaps",
            &[
                rate("rate", Default::Required).about("mean rate in IP bits").for_instance("\"2 Mbit/s\""),
                packet_size(FULL, MIN_PACKET),
                Param::choice("sizes", &["fixed", "exponential"], "fixed")
                    .about("how packet sizes are distributed around packet_size")
                    .for_instance("\"exponential\""),
            ],
        ),
    )
    .unusual(),
    udp(
        UdpKind::Train,
        kind(
            "train",
            "trains of UDP packets, as tools send that measure a path by how its packets spread",
            &[
                Param::count("length", 10.0).within(1.0, 1e6).about("packets of a train").for_instance("2"),
                Param::duration("gap", Duration::ZERO)
                    .within(0.0, MAX_S)
                    .about("time from one packet of a train to the next; 0 s: all at once")
                    .for_instance("\"1 ms\""),
                interval(of_ms(1_000)).about("time from the beginning of one train to the next").for_instance("\"100 ms\""),
                packet_size(FULL, MIN_PACKET),
            ],
        ),
    )
    .unusual(),
    udp(
        UdpKind::OnOff,
        kind(
            "on-off",
            "UDP packets at constant gaps during exponentially distributed bursts",
            &[
                rate("peak", Default::Required).about("rate within a burst, in IP bits").for_instance("\"5 Mbit/s\""),
                span("mean_on", Default::Required).about("mean length of a burst").for_instance("\"20 ms\""),
                span("mean_off", Default::Required).about("mean length of a silence").for_instance("\"80 ms\""),
                packet_size(FULL, MIN_PACKET),
            ],
        ),
    )
    .unusual(),
    udp(
        UdpKind::Echo,
        kind(
            "echo",
            "probes: small UDP packets that the far end sends back at once, for round-trip times and losses as ping shows them",
            &[
                interval(of_ms(100)).about("time from one probe to the next").for_instance("\"20 ms\""),
                // The size of ping's packets: 56 bytes behind the headers of IP and ICMP.
                packet_size(of_bytes(84), MIN_PROBE).about("IP length of each probe and of its answer"),
            ],
        ),
    ),
];

#[cfg(test)]
mod tests;
