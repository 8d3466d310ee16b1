//! What kinds of traffic a scenario can have and under which keys: for listings. A test holds it against the reader.

/// One kind of traffic.
#[derive(Clone, Copy, Debug)]
pub struct TrafficKind {
    /// The name in files.
    pub kind: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Keys of this kind alone.
    pub own: &'static [TrafficKey],
    /// What its packets are; each has keys of its own.
    pub transport: Transport,
}

/// What packets of a kind are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Segments of TCP connections.
    Tcp,
    /// Datagrams.
    Udp,
}

impl TrafficKind {
    /// Its keys; [`COMMON_KEYS`] belong to every kind.
    pub fn keys(&self) -> impl Iterator<Item = &'static TrafficKey> {
        let settings = match self.transport {
            Transport::Tcp => TCP_KEYS,
            Transport::Udp => UDP_KEYS,
        };
        self.own.iter().chain(settings)
    }
}

/// One key of a `[[traffic]]` table.
#[derive(Clone, Copy, Debug)]
pub struct TrafficKey {
    /// The key.
    pub name: &'static str,
    /// Its value when not given; `required` when there is none.
    pub default: &'static str,
    /// A value as written in a file.
    pub example: &'static str,
    /// One line of meaning.
    pub doc: &'static str,
}

const fn key(name: &'static str, default: &'static str, example: &'static str, doc: &'static str) -> TrafficKey {
    TrafficKey { name, default, example, doc }
}

/// Keys of every kind.
pub const COMMON_KEYS: &[TrafficKey] = &[
    key("name", "the kind", "\"video\"", "name of the group in results"),
    key("flows", "1", "16", "how many flows"),
    key("start", "\"0 s\"", "\"uniform 0 s .. 5 s\"", "when each flow starts, drawn for each where a range is given"),
    key("stop", "never", "\"50 s\"", "when all stop offering new data"),
    key(
        "direction",
        "\"down\"",
        "\"up\"",
        "which way data goes across the bottleneck; \"both\": each flow has one each way (voip, gaming)",
    ),
    key(
        "path",
        "over the one link",
        "[\"a\", \"b\"]",
        "nodes that data passes from sender to receiver, in networks of several links",
    ),
    key("return_path", "the same way back", "[\"b\", \"a\"]", "nodes that packets pass on the way back"),
    key("rtt_extra", "\"0 s\"", "\"uniform 0 ms .. 100 ms\"", "round-trip time in addition to that of the links"),
    key("rtt_shared_by", "1", "3", "how many flows in a row share one draw of rtt_extra: those behind one router"),
    key("class", "0", "5", "class of the packets, 0 to 7, the higher the more urgent; for queues that tell classes apart"),
    key("weight", "1", "2", "how much of the link each flow is to get beside others; for queues that weigh flows"),
    key(
        "host",
        "one for each flow",
        "1",
        "host that the flows end at, where data `down` goes; 1 to 127, for queues that tell hosts apart",
    ),
];

const PACKET_SIZE: TrafficKey = key("packet_size", "the link's mtu", "\"200 B\"", "IP length of each packet");
const UDP_ECN: TrafficKey = key("ecn", "false", "\"ect0\"", "ECN codepoint: false, true, \"ect0\" or \"ect1\"");

const UDP_KEYS: &[TrafficKey] = &[UDP_ECN];

/// Settings of TCP connections.
const TCP_KEYS: &[TrafficKey] = &[
    key("cc", "\"cubic\"", "\"reno\"", "congestion control, see gq list cc"),
    key("ecn", "the control's habit", "true", "true, false, or the feedback: \"classic\", \"mirror\", \"accurate\", \"l4s\""),
    key("mss", "fills the link's mtu", "\"1000 B\"", "largest payload of a segment"),
    key("timestamps", "true", "false", "the timestamps option, 12 bytes a segment"),
    key(
        "sack",
        "\"compressed\"",
        "\"plain\"",
        "selective acknowledgements: compressed (reports of a gap go together, as Linux has done since 4.18), plain (each at once), or false (none: New Reno's recovery)",
    ),
    key("loss_detection", "\"rack\"", "\"rfc6675\"", "how losses are found: by time or by counting"),
    key("slow_start_exit", "\"native\"", "\"hystart++\"", "how slow start may end: native, loss-only, hystart++"),
    key(
        "gso",
        "the control's habit",
        "false",
        "segmentation offload: segments leave in pieces of about a millisecond, two at least, whose ends are pushed, as Linux's; or one by one",
    ),
    key("initial_window", "10", "3", "initial window in segments"),
    key("rto_min", "\"200 ms\"", "\"1 s\"", "smallest retransmission timeout"),
    key("max_window", "grows as in Linux", "\"64 kB\"", "window the receiver offers, always the same"),
    key("ack", "\"delayed\"", "{ every = 20 }", "when to acknowledge: delayed, every-packet, or { every = N } segments"),
    key("max_ack_delay", "\"40 ms\"", "\"200 ms\"", "longest time an acknowledgement is held back"),
];

/// Every kind.
pub const KINDS: &[TrafficKind] = &[
    TrafficKind {
        kind: "bulk",
        summary: "TCP connections that send without end, or `size` bytes each",
        own: &[key("size", "no end", "\"1 MB\"", "bytes that each flow has to send")],
        transport: Transport::Tcp,
    },
    TrafficKind {
        kind: "bulk-with-pauses",
        summary: "a transfer over TCP, a pause, and again",
        own: &[
            key("size", "\"1 MB\"", "\"5 MB\"", "bytes of each transfer"),
            key(
                "pause",
                "\"uniform 5 s .. 15 s\"",
                "\"10 s\"",
                "time from the end of a transfer to the next, drawn each time where a range is given",
            ),
            key("keep_connection", "false", "true", "one connection for all transfers instead of a new one each"),
        ],
        transport: Transport::Tcp,
    },
    TrafficKind {
        kind: "short",
        summary: "transfers over TCP that begin at their own times, each on a new connection",
        own: &[
            key("size", "required", "\"64 MB\"", "bytes of each transfer"),
            key("interval", "required", "\"2 s\"", "mean time from the beginning of one transfer to the next"),
            key("arrivals", "\"periodic\"", "\"poisson\"", "how these times are distributed: periodic, poisson"),
        ],
        transport: Transport::Tcp,
    },
    TrafficKind {
        kind: "flow-list",
        summary: "transfers over TCP listed in a file: when each begins, its bytes, and perhaps its control and path",
        own: &[key("file", "required", "\"flows.csv\"", "file of comma-separated values, one transfer a line")],
        transport: Transport::Tcp,
    },
    TrafficKind {
        kind: "web",
        summary: "web connections at a given rate, each with requests, thinking servers and responses (PackMime-HTTP)",
        own: &[
            key("rate", "required", "5", "new connections a second, of each flow"),
            key("http", "\"1.0\"", "\"1.1\"", "1.0: one request a connection; 1.1: some carry several pages of several objects"),
            key(
                "server_delay_scale",
                "\"3.278689 ms\"",
                "\"0 ms\"",
                "scale of the Weibull distribution (shape 0.63) of the time a server thinks",
            ),
        ],
        transport: Transport::Tcp,
    },
    TrafficKind {
        kind: "page",
        summary: "web pages one after another, each of many objects over a few parallel connections",
        own: &[
            key("objects", "50", "100", "objects of a page"),
            key("size", "\"12 kB\"", "\"20 kB\"", "mean size of an object; sizes are log-normal, at least 1 kB"),
            key("connections", "6", "1", "connections at once, new for each page"),
            key("request_size", "\"350 B\"", "\"500 B\"", "bytes of a request"),
            key("server_delay", "\"0 s\"", "\"20 ms\"", "time from a request's arrival to the response"),
            key(
                "pause",
                "\"0 s\"",
                "\"uniform 5 s .. 15 s\"",
                "time from the end of a page to the next, drawn each time where a range is given",
            ),
        ],
        transport: Transport::Tcp,
    },
    TrafficKind {
        kind: "video",
        summary: "adaptive video over TCP: segments of the best bitrate that the throughput so far allows",
        own: &[
            key("ladder", "0.35, 0.7, 1.5, 3, 6 Mbit/s", "[\"1 Mbit/s\", \"4 Mbit/s\"]", "bitrates to choose from, rising"),
            key("segment", "\"2 s\"", "\"4 s\"", "media time of a segment"),
            key("buffer", "\"10 s\"", "\"30 s\"", "most media kept ahead"),
            key("request_size", "\"300 B\"", "\"500 B\"", "bytes of a request"),
        ],
        transport: Transport::Tcp,
    },
    TrafficKind {
        kind: "voip",
        summary: "calls: small UDP packets at constant gaps, judged by what the listener would hear",
        own: &[
            key("rate", "\"64 kbit/s\"", "\"32 kbit/s\"", "rate in IP bits"),
            key("packet_size", "\"100 B\"", "\"200 B\"", "IP length of each packet"),
        ],
        transport: Transport::Udp,
    },
    TrafficKind {
        kind: "gaming",
        summary: "games: small UDP packets at every tick, smaller ones from the player",
        own: &[
            key("interval", "\"16 ms\"", "\"33 ms\"", "time from one packet to the next"),
            key("packet_size", "\"130 B\"", "\"200 B\"", "IP length of each packet"),
            key("packet_size_up", "\"80 B\"", "\"60 B\"", "IP length of those the other way, with direction = \"both\""),
        ],
        transport: Transport::Udp,
    },
    TrafficKind {
        kind: "video-frames",
        summary: "video over UDP that does not respond: bursts of packets at constant gaps, every so many a large one",
        own: &[
            key("rate", "\"2 Mbit/s\"", "\"5 Mbit/s\"", "mean rate in IP bits"),
            key("interval", "\"40 ms\"", "\"20 ms\"", "time from one frame to the next"),
            key("group", "12", "30", "frames from one large frame to the next"),
            key("ratio", "5", "8", "size of a large frame over that of the others"),
            PACKET_SIZE,
        ],
        transport: Transport::Udp,
    },
    TrafficKind {
        kind: "cbr",
        summary: "UDP packets at constant gaps",
        own: &[key("rate", "required", "\"2 Mbit/s\"", "rate in IP bits"), PACKET_SIZE],
        transport: Transport::Udp,
    },
    TrafficKind {
        kind: "poisson",
        summary: "UDP packets at exponentially distributed gaps",
        own: &[
            key("rate", "required", "\"2 Mbit/s\"", "mean rate in IP bits"),
            PACKET_SIZE,
            key("sizes", "\"fixed\"", "\"exponential\"", "how packet sizes are distributed around packet_size"),
        ],
        transport: Transport::Udp,
    },
    TrafficKind {
        kind: "on-off",
        summary: "UDP packets at constant gaps during exponentially distributed bursts",
        own: &[
            key("peak", "required", "\"5 Mbit/s\"", "rate within a burst, in IP bits"),
            key("mean_on", "required", "\"20 ms\"", "mean length of a burst"),
            key("mean_off", "required", "\"80 ms\"", "mean length of a silence"),
            PACKET_SIZE,
        ],
        transport: Transport::Udp,
    },
    TrafficKind {
        kind: "echo",
        summary: "probes: small UDP packets that the far end sends back at once, for round-trip times and losses as ping shows them",
        own: &[
            key("interval", "\"100 ms\"", "\"20 ms\"", "time from one probe to the next"),
            key("packet_size", "\"84 B\"", "\"200 B\"", "IP length of each probe and of its answer, 44 B at least"),
        ],
        transport: Transport::Udp,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    fn read(traffic: &str) -> Result<Plan, String> {
        let text = format!(
            "goodqueue = 1\nduration = \"10 s\"\n[link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\n\
             buffer_up = \"1 bdp\"\n[[traffic]]\n{traffic}"
        );
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("flows.csv"), "start,size\n0 s,1 kB\n").expect("a file");
        Plan::parse("test", &text, folder.path()).map_err(|error| error.text())
    }

    #[test]
    fn every_key_is_read_and_no_key_is_missing() {
        for kind in KINDS {
            let all: Vec<&TrafficKey> = kind.keys().chain(COMMON_KEYS).collect();
            let mut text = format!("kind = \"{}\"\n", kind.kind);
            // `stop` must lie after the latest start; the run's end is no limit to it.
            all.iter().for_each(|key| text.push_str(&format!("{} = {}\n", key.name, key.example)));
            read(&text).unwrap_or_else(|error| panic!("{error}"));
            // An unknown key is answered with the list of known ones.
            let error = read(&format!("{text}xxxxxxxxxxxxxxxxxxxx = 1\n")).expect_err("no such key");
            let known = error.split(" has ").nth(1).expect("the list of known keys").split('\n').next().unwrap_or_default();
            for name in known.split(", ").map(|name| name.trim_matches('`')) {
                let unlisted = ["kind", "header"].contains(&name);
                assert!(unlisted || all.iter().any(|key| key.name == name), "{} lacks the key {name}", kind.kind);
            }
        }
    }

    #[test]
    fn required_keys_are_required_and_every_kind_is_listed() {
        for kind in KINDS {
            let required = kind.keys().filter(|key| key.default == "required").count();
            let faults = read(&format!("kind = \"{}\"\n", kind.kind)).map_or_else(|error| error.lines().count(), |_| 0);
            assert_eq!(faults, required, "{}", kind.kind);
        }
        let error = read("kind = \"zzz\"\n").expect_err("no such kind");
        let listed: Vec<String> = KINDS.iter().map(|kind| format!("`{}`", kind.kind)).collect();
        assert!(error.contains(&format!("allowed {}", listed.join(", "))), "{error}");
    }
}
