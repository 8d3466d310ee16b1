//! Keys of `[link.NAME]` tables. Those ending in `_up` describe the return direction.

use crate::scenario::limits::{MAX_DELAY_S, MAX_LINKS};
use goodqueue_base::spec::{Default, Kind, Param, Unit, Value};
use goodqueue_base::units::{Bytes, Direction};

/// All keys of a link.
pub const LINK: Kind = Kind {
    kind: "link",
    title: "Link",
    summary: "a link between two nodes; alone it is the bottleneck of a dumbbell",
    params: &[
        Param::required("rate", RATE).about("transmission rate: constant, stepped or recorded").for_instance("\"10 Mbit/s\""),
        Param::required("delay", Unit::Duration)
            .within(0.0, MAX_DELAY_S)
            .about("one-way propagation delay")
            .for_instance("\"5 ms\""),
        Param::new("overhead", OVERHEAD, Default::Value(Value::Bytes(Bytes::ZERO)))
            .about("framing added to each packet on this link: bytes, or keywords of tc-cake with their least size and cells")
            .for_instance("\"pppoe-ptm ether-vlan\""),
        Param::auto("mpu", Unit::Bytes, "that of the overhead's keywords")
            .within(0.0, MAX_FRAMING)
            .about("least size of a packet on this link, overhead included")
            .for_instance("\"64 B\""),
        Param::auto("cells", Unit::Choice(&["none", "atm", "ptm"]), "those of the overhead's keywords")
            .about("cells that carry the packets: 53 bytes for 48 (atm), 65 for 64 (ptm)")
            .for_instance("\"atm\""),
        // From a TCP header with options and some data to the largest IP packet.
        Param::bytes("mtu", Bytes::new(1_500)).within(128.0, 65_535.0).about("largest IP packet").for_instance("\"9000 B\""),
        Param::auto("buffer", Unit::Buffer, "required, or limit in queue")
            .about("how much may wait, framing not counted")
            .for_instance("\"1 bdp\""),
        Param::new("queue", Unit::Queue, TAIL_DROP).about("the algorithm").for_instance("\"codel\""),
        loss("loss").about("share of packets lost on the wire").for_instance("\"0.1 %\""),
        burst("burst", Default::Value(Value::Bytes(Bytes::ZERO))),
        Param::auto("rate_up", RATE, "rate, or its mean if recorded").about("as rate").for_instance("\"1 Mbit/s\""),
        Param::auto("delay_up", Unit::Duration, "delay").within(0.0, MAX_DELAY_S).about("as delay").for_instance("\"5 ms\""),
        Param::auto("buffer_up", Unit::Buffer, "required when traffic goes up").about("as buffer").for_instance("\"1 bdp\""),
        Param::new("queue_up", Unit::Queue, TAIL_DROP).about("as queue").for_instance("\"codel\""),
        loss("loss_up").about("as loss").for_instance("\"0.1 %\""),
        burst("burst_up", Default::Value(Value::Bytes(Bytes::ZERO))).about("as burst"),
        Param::auto("from", Unit::Text, "required with several links").about("the node it leads from").for_instance("\"a\""),
        Param::auto("to", Unit::Text, "required with several links").about("the node it leads to").for_instance("\"b\""),
        Param::off("one_way").about("whether it has no return direction").for_instance("true"),
        flow_control("flow_control")
            .about("while this amount of queue waits here, links that lead here pause")
            .for_instance("\"10 packets\""),
        flow_control("flow_control_up").about("as flow_control").for_instance("\"10 packets\""),
        Param::count("count", 1.0)
            .within(1.0, MAX_LINKS as f64)
            .about("how many equal links this stands for, each with traffic of its own")
            .for_instance("100"),
    ],
    ..Kind::PLAIN
};

/// The end of the keys of the return direction.
pub(crate) const UP: &str = "_up";
/// Most bytes of framing.
pub(crate) const MAX_FRAMING: f64 = 10_000.0;
const OVERHEAD: Unit = Unit::Form("size, or keywords like pppoe-ptm");
const RATE: Unit = Unit::Form("rate, or { steps = … } or { trace = \"FILE\" }");
const TAIL_DROP: Default = Default::Value(Value::Choice("tail-drop"));

/// A link that loses everything would keep senders waiting for ever.
const fn loss(name: &'static str) -> Param {
    Param::ratio(name, 0.0).within(0.0, 0.99)
}

const fn burst(name: &'static str, default: Default) -> Param {
    Param::new(name, Unit::Bytes, default)
        .within(0.0, 1e9)
        .about("depth of a token bucket: after a pause this much leaves at once, as with Linux's tbf; constant rates only")
        .for_instance("\"32 kB\"")
}

const fn flow_control(name: &'static str) -> Param {
    Param::new(name, Unit::Form("amount of queue, or none"), Default::Value(Value::Choice("none")))
}

/// The key that describes, for this direction, what `name` describes for the one that the file
/// does.
pub(crate) fn key(name: &str, heading: Direction) -> &'static str {
    let is_it = |known: &&str| match heading {
        Direction::Down => *known == name,
        Direction::Up => known.strip_suffix(UP) == Some(name),
    };
    LINK.params.iter().map(|param| param.name).find(is_it).expect("the reader asks for keys that the table lists")
}
