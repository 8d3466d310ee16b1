//! What kinds of traffic a scenario can have and under which keys: for listings. A test holds it against the reader.

/// One kind of traffic.
#[derive(Clone, Copy, Debug)]
pub struct TrafficKind {
    /// The name in files.
    pub kind: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Its own keys; [`COMMON_KEYS`] belong to every kind.
    pub keys: &'static [TrafficKey],
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
    key("direction", "\"down\"", "\"up\"", "which way data goes across the bottleneck"),
    key(
        "path",
        "over the one link",
        "[\"a\", \"b\"]",
        "nodes that data passes from sender to receiver, in networks of several links",
    ),
    key("return_path", "the same way back", "[\"b\", \"a\"]", "nodes that packets pass on the way back"),
    key("rtt_extra", "\"0 s\"", "\"uniform 0 ms .. 100 ms\"", "round-trip time in addition to that of the links"),
    key("class", "0", "5", "class of the packets, 0 to 7, the higher the more urgent; for queues that tell classes apart"),
    key("weight", "1", "2", "how much of the link each flow is to get beside others; for queues that weigh flows"),
];

const PACKET_SIZE: TrafficKey = key("packet_size", "the link's mtu", "\"200 B\"", "IP length of each packet");
const UDP_ECN: TrafficKey = key("ecn", "false", "\"ect0\"", "ECN codepoint: false, true, \"ect0\" or \"ect1\"");

/// Every kind.
pub const KINDS: &[TrafficKind] = &[
    TrafficKind {
        kind: "bulk",
        summary: "TCP connections that send without end, or `size` bytes each",
        keys: &[
            key("cc", "\"cubic\"", "\"reno\"", "congestion control, see gq list cc"),
            key("size", "no end", "\"1 MB\"", "bytes that each flow has to send"),
            key(
                "ecn",
                "the control's habit",
                "true",
                "true, false, or the feedback: \"classic\", \"mirror\", \"accurate\", \"l4s\"",
            ),
            key("mss", "fills the link's mtu", "\"1000 B\"", "largest payload of a segment"),
            key("timestamps", "true", "false", "the timestamps option, 12 bytes a segment"),
            key("loss_detection", "\"rack\"", "\"rfc6675\"", "how losses are found: by time or by counting"),
            key("slow_start_exit", "\"native\"", "\"hystart++\"", "how slow start may end: native, loss-only, hystart++"),
            key("initial_window", "10", "3", "initial window in segments"),
            key("rto_min", "\"200 ms\"", "\"1 s\"", "smallest retransmission timeout"),
            key("max_window", "no limit", "\"64 kB\"", "largest window the receiver offers"),
            key("ack", "\"delayed\"", "{ every = 20 }", "when to acknowledge: delayed, every-packet, or { every = N } segments"),
            key("max_ack_delay", "\"40 ms\"", "\"200 ms\"", "longest time an acknowledgement is held back"),
        ],
    },
    TrafficKind {
        kind: "cbr",
        summary: "UDP packets at constant gaps",
        keys: &[key("rate", "required", "\"2 Mbit/s\"", "rate in IP bits"), PACKET_SIZE, UDP_ECN],
    },
    TrafficKind {
        kind: "poisson",
        summary: "UDP packets at exponentially distributed gaps",
        keys: &[
            key("rate", "required", "\"2 Mbit/s\"", "mean rate in IP bits"),
            PACKET_SIZE,
            key("sizes", "\"fixed\"", "\"exponential\"", "how packet sizes are distributed around packet_size"),
            UDP_ECN,
        ],
    },
    TrafficKind {
        kind: "on-off",
        summary: "UDP packets at constant gaps during exponentially distributed bursts",
        keys: &[
            key("peak", "required", "\"5 Mbit/s\"", "rate within a burst, in IP bits"),
            key("mean_on", "required", "\"20 ms\"", "mean length of a burst"),
            key("mean_off", "required", "\"80 ms\"", "mean length of a silence"),
            PACKET_SIZE,
            UDP_ECN,
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use std::path::Path;

    fn read(traffic: &str) -> Result<Plan, String> {
        let text = format!(
            "goodqueue = 1\nduration = \"10 s\"\n[link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\n\
             buffer_up = \"1 bdp\"\n[[traffic]]\n{traffic}"
        );
        Plan::parse("test", &text, Path::new("")).map_err(|error| error.text())
    }

    #[test]
    fn every_key_is_read_and_no_key_is_missing() {
        for kind in KINDS {
            let all: Vec<&TrafficKey> = kind.keys.iter().chain(COMMON_KEYS).collect();
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
            let required = kind.keys.iter().filter(|key| key.default == "required").count();
            let faults = read(&format!("kind = \"{}\"\n", kind.kind)).map_or_else(|error| error.lines().count(), |_| 0);
            assert_eq!(faults, required, "{}", kind.kind);
        }
        let error = read("kind = \"zzz\"\n").expect_err("no such kind");
        let listed: Vec<String> = KINDS.iter().map(|kind| format!("`{}`", kind.kind)).collect();
        assert!(error.contains(&format!("allowed {}", listed.join(", "))), "{error}");
    }
}
