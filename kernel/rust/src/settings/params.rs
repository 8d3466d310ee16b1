//! Settings of a queue: those that every queue has, and those of its kind.

use goodqueue_aqm::spec::{KindSpec, Param, Size};
use goodqueue_base::spec::{Default, Unit};
use goodqueue_base::units::Duration;

/// Most bytes of a queue.
pub(super) const MAX_BYTES: u64 = 1_000_000_000;

/// The settings that every queue has besides the parameters of its kind.
const HOST: [Param; 7] = [
    Param::new("kind", Unit::Text, Default::Required)
        .about("the kind of queue, with what it contains behind a colon")
        .for_instance("shaper:fair:pie"),
    Param::size("limit", Size::Packets(1000.0)).within(1.0, MAX_BYTES as f64).about("the most that waits"),
    Param::auto("ecn", Unit::Switch, "as the kind does").about("mark ECN-capable packets instead of dropping them"),
    Param::auto("link", Unit::Rate, "unknown").within(1_000.0, 1e12).about("rate of the line, which some kinds must know"),
    Param::duration("delay", Duration::ZERO).within(0.0, 10.0).about("one-way delay of the line, for automatic settings"),
    Param::auto("link_overhead", Unit::Bytes, "that of the device")
        .within(0.0, 10_000.0)
        .about("framing of each packet on the line"),
    Param::auto("seed", Unit::Count, "random").within(0.0, 9_007_199_254_740_992.0).about("of the queue's random numbers"),
];

/// The setting of every queue that has this name.
pub(crate) fn host(name: &str) -> Option<&'static Param> {
    HOST.iter().find(|param| param.name == name)
}

/// The parameters of a kind that are not another algorithm.
pub(crate) fn settable(spec: &'static KindSpec) -> impl Iterator<Item = &'static Param> {
    spec.params.iter().filter(|param| !param.unit.is_another())
}
