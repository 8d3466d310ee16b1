//! Keys of the `[access]` table.

use crate::scenario::limits::{MAX_DELAY_S, MAX_JITTER_S, MAX_RATE};
use goodqueue_base::spec::{Kind, Param, Unit};
use goodqueue_base::units::{Duration, Rate};

/// All keys of the hosts' links.
pub const ACCESS: Kind = Kind {
    kind: "access",
    title: "Access links",
    summary: "the links of the hosts; each flow has its own, and they never drop",
    params: &[
        Param::rate("rate", Rate::gbit(1))
            .within(1.0, MAX_RATE.as_bit_s() as f64)
            .about("transmission rate")
            .for_instance("\"100 Mbit/s\""),
        Param::duration("delay", Duration::us(100))
            .within(0.0, MAX_DELAY_S)
            .about("one-way delay of each")
            .for_instance("\"1 ms\""),
        Param::auto("jitter", Unit::Duration, "the sending time of one full packet, 12 us at 1 Gbit/s")
            .within(0.0, MAX_JITTER_S)
            .about(
                "random extra delay of each packet, uniform from zero to this, order kept; without it, sources of equal rate \
                 stay synchronized with each other and the bottleneck",
            )
            .for_instance("\"50 us\""),
        Param::choice("ends", &["both", "sender"], "both")
            .about("where the access links are: at sender and receiver, or at the sender only")
            .for_instance("\"sender\""),
    ],
    ..Kind::PLAIN
};
