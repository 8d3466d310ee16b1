//! The candidates: a queue for each direction, and the share of the measured rate to shape to.

use crate::run::recommend::corners::Line;
use crate::scenario::toml_text::quoted;
use goodqueue_base::spec::{Size, Value};
use goodqueue_base::units::{Bytes, Direction, Duration, Rate};
use std::fmt;

/// The platform that the router runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hardware {
    /// Any platform: all queues that are deployed widely enough to be named to people.
    Any,
    /// A Linux host with `tc`.
    Linux,
    /// OpenWrt with sqm-scripts.
    OpenWrt,
    /// LibreQoS.
    LibreQos,
    /// MikroTik's RouterOS 7.
    RouterOs,
    /// pfSense, whose limiters are FreeBSD's.
    PfSense,
    /// OPNsense, whose pipes are the same limiters.
    OpnSense,
}

/// The hardware by its name on the command line, with the kinds of queues it has in the order in
/// which its users reach for them: with cake one line sets shaper, queue and framing.
const HARDWARE: &[(&str, Hardware, &[&str])] = &[
    ("any", Hardware::Any, &["cake", "fq-codel", "fq-pie", "codel", "pie"]),
    ("linux", Hardware::Linux, &["cake", "fq-codel", "fq-pie", "codel", "pie"]),
    ("openwrt", Hardware::OpenWrt, &["cake", "fq-codel"]),
    ("libreqos", Hardware::LibreQos, &["cake", "fq-codel"]),
    // Its RED takes thresholds without a gentle line, which is another algorithm than ours.
    ("routeros", Hardware::RouterOs, &["cake", "fq-codel", "codel", "tail-drop"]),
    ("pfsense", Hardware::PfSense, &["fq-codel", "fq-pie", "codel", "pie"]),
    ("opnsense", Hardware::OpnSense, &["fq-codel", "fq-pie", "codel", "pie"]),
];

/// The queue of L4S, on the hardware that has it: Linux since 6.17.
pub const L4S: &str = "dualpi2";

impl Hardware {
    /// The names, in the order of messages.
    pub fn names() -> impl Iterator<Item = &'static str> {
        HARDWARE.iter().map(|(name, ..)| *name)
    }

    /// The hardware of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        HARDWARE.iter().find(|(known, ..)| *known == name).map(|(_, hardware, _)| *hardware)
    }

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        HARDWARE.iter().find(|(_, hardware, _)| *hardware == self).map_or("", |(name, ..)| name)
    }

    /// Whether it can have [`L4S`].
    #[must_use]
    pub fn has_l4s(self) -> bool {
        matches!(self, Self::Any | Self::Linux)
    }

    /// The kinds of queues it has, the usual one first.
    #[must_use]
    pub fn kinds(self) -> &'static [&'static str] {
        HARDWARE.iter().find(|(_, hardware, _)| *hardware == self).map_or(&[], |(.., kinds)| kinds)
    }
}

/// A queue with the parameters that differ from its defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The kind.
    pub kind: &'static str,
    /// Parameters that are set.
    pub parameters: Vec<(&'static str, Value)>,
}

/// The parameter that belongs to the outermost queue of a scenario.
const LIMIT: &str = "limit";

impl Choice {
    /// A kind with its defaults.
    #[must_use]
    pub const fn plain(kind: &'static str) -> Self {
        Self { kind, parameters: Vec::new() }
    }

    /// The choice with further parameters.
    fn with(&self, parameters: &[(&'static str, Value)]) -> Self {
        Self { kind: self.kind, parameters: [self.parameters.as_slice(), parameters].concat() }
    }

    /// A plain buffer on the router that holds what is under way at `rate` and one `rtt`.
    #[must_use]
    pub fn deep_buffer(rate: Rate, rtt: Duration) -> Self {
        let packets = (rate.as_bit_s() as f64 * rtt.as_secs_f64() / (1_500.0 * 8.0)).ceil().max(10.0);
        Self::plain("tail-drop").with(&[(LIMIT, Value::Size(Size::Packets(packets)))])
    }

    /// The queue as a table of a scenario, under a shaper of this rate where one is given. `keys`
    /// are further keys of the shaper.
    #[must_use]
    pub fn toml(&self, shaped: Option<Rate>, keys: &[String]) -> String {
        let parameter = |(name, value): &(&str, Value)| match value {
            Value::Switch(_) | Value::Number(_) => format!("{name} = {value}"),
            _ => format!("{name} = {}", quoted(&value.to_string())),
        };
        let (outer, own): (Vec<_>, Vec<_>) = self.parameters.iter().partition(|(name, _)| *name == LIMIT && shaped.is_some());
        let own = own.into_iter().map(parameter);
        let own: Vec<String> = [format!("kind = \"{}\"", self.kind)].into_iter().chain(own).collect();
        let own = format!("{{ {} }}", own.join(", "));
        let Some(rate) = shaped else { return own };
        let shaper = [format!("kind = \"shaper\", rate = \"{rate}\"")].into_iter();
        let all: Vec<String> =
            shaper.chain(keys.iter().cloned()).chain(outer.into_iter().map(parameter)).chain([format!("of = {own}")]).collect();
        format!("{{ {} }}", all.join(", "))
    }
}

impl Choice {
    /// The queue as it is typed: words and values of `tc`, cake's `rtt` for its two times.
    #[must_use]
    pub fn typed(&self) -> String {
        let word = |(name, value): &(&'static str, Value)| {
            let bare: String = value.to_string().split(' ').collect();
            match (self.kind, *name) {
                ("cake", "isolation") => bare,
                ("cake", "nat") => "nat".to_owned(),
                ("cake", "ack_filter") => "ack-filter".to_owned(),
                ("cake", "interval") => format!("rtt {bare}"),
                ("cake", "target") => String::new(),
                (_, "quantum") => format!("quantum {}", bare.trim_end_matches('B')),
                _ => format!("{name} {bare}"),
            }
        };
        let words = self.parameters.iter().map(word).filter(|word| !word.is_empty());
        [self.kind.to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)?;
        self.parameters.iter().try_for_each(|(name, value)| write!(f, ":{name}={value}"))
    }
}

/// A choice to try: the queue of each direction, and the shaped rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The queue toward the user.
    pub down: Choice,
    /// The queue from the user.
    pub up: Choice,
    /// The shaped rate over the measured one, in (0, 1], down and up; `None`: nothing on the
    /// router, packets wait in the modem.
    pub shaped: [Option<f64>; 2],
}

const PLAIN: Choice = Choice::plain("tail-drop");

impl Candidate {
    /// Nothing is set up.
    pub const NOTHING: Self = Self { down: PLAIN, up: PLAIN, shaped: [None; 2] };

    /// The candidate with this queue in both directions.
    #[must_use]
    pub fn both(queue: &Choice, shaped: f64) -> Self {
        Self { down: queue.clone(), up: queue.clone(), shaped: [Some(shaped); 2] }
    }

    /// The candidate with nothing set up in the directions in which `keep` is false.
    #[must_use]
    pub fn only(mut self, keep: impl Fn(Direction) -> bool) -> Self {
        if !keep(Direction::Down) {
            (self.down, self.shaped[0]) = (PLAIN, None);
        }
        if !keep(Direction::Up) {
            (self.up, self.shaped[1]) = (PLAIN, None);
        }
        self
    }

    /// Whether any direction is shaped.
    #[must_use]
    pub fn is_shaped(&self) -> bool {
        self.shaped != [None; 2]
    }

    /// Whether it has the queues of another, at whatever rates.
    #[must_use]
    pub fn has_queues_of(&self, other: &Self) -> bool {
        let shapes = |one: &Self| one.shaped.map(|share| share.is_some());
        self.down == other.down && self.up == other.up && shapes(self) == shapes(other)
    }

    /// The kind of the queue that is set up: toward the user, unless nothing is there.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.shaped[0].is_some() { self.down.kind } else { self.up.kind }
    }

    /// The shaped share in per cent, the greater one where they differ.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        self.shaped.into_iter().flatten().reduce(f64::max).map(percent)
    }

    /// The shaped rates on a line, down and up.
    #[must_use]
    pub fn shaped_rates(&self, line: &Line) -> [Option<Rate>; 2] {
        let rate = |(share, measured): (Option<f64>, Rate)| {
            share.map(|share| Rate::bit_s(((measured.as_bit_s() as f64 * share).round() as u64).max(1)))
        };
        let [down, up] = self.shaped;
        [(down, line.down), (up, line.up)].map(rate)
    }
}

fn percent(share: f64) -> f64 {
    (share * 1000.0).round() / 10.0
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { down, up, .. } = self;
        match self.shaped.map(|share| share.map(percent)) {
            [None, None] => f.write_str("nothing set up"),
            [Some(share), None] => write!(f, "{down} down at {share} %, nothing up"),
            [None, Some(share)] => write!(f, "{up} up at {share} %, nothing down"),
            [Some(share), Some(other)] if share != other => write!(f, "{down} down at {share} %, {up} up at {other} %"),
            [Some(share), Some(_)] if down == up => write!(f, "{down} at {share} %"),
            [Some(share), Some(_)] => write!(f, "{down} down, {up} up at {share} %"),
        }
    }
}

/// Full packets per CoDel target: below this the target is shorter than a packet takes.
const PACKETS_PER_TARGET: f64 = 1.5;
const CODEL_TARGET: Duration = Duration::ms(5);
const CODEL_INTERVAL: Duration = Duration::ms(100);
/// Longest round-trip times between these work well with CoDel's default interval (RFC 8289:
/// 100 ms is excellent from 10 to 300 ms).
const NEAR_CODEL_INTERVAL: [Duration; 2] = [Duration::ms(10), Duration::ms(300)];
/// Intervals that are set: cake's `metro` is the least that is more than a building's, `satellite`
/// the most.
const CODEL_INTERVALS: [Duration; 2] = [Duration::ms(10), Duration::ms(1_000)];
/// Turns of a fair queue on slow lines, as sqm-scripts and cake have them.
const SHORT_TURN: Bytes = Bytes::new(300);
/// Acknowledgements of a download, one for each packet of 1500 bytes and about 100 bytes on the
/// wire, fill an uplink that is slower by this factor.
const LOPSIDED: u64 = 15;

/// The settings with which a kind is tried: those that its users type on such a line.
///
/// - CoDel's `interval` is the longest round-trip time and its `target` a twentieth of that where
///   the default does not work well (RFC 8289 §4, and `rtt` of tc-cake(8)).
/// - CoDel's `target` is at least one and a half full packets at the rate (RFC 8289 §5.2.2 has one,
///   sqm-scripts one and a half), and turns are short there; cake does so by itself.
/// - Cake shares between devices where there are several, and thins acknowledgements that would
///   fill the uplink.
#[must_use]
pub fn usual(kind: &'static str, line: &Line, heading: Direction) -> Choice {
    let mut choice = Choice::plain(kind);
    let has_codel = matches!(kind, "codel" | "fq-codel" | "cobalt");
    let longest = Duration::ms(line.rtt.high.as_nanos().div_ceil(1_000_000)).clamp(CODEL_INTERVALS[0], CODEL_INTERVALS[1]);
    let packets = packets_time(line, heading);
    let is_slow = has_codel && packets > CODEL_TARGET;
    let [near, far] = NEAR_CODEL_INTERVAL;
    let interval = ((has_codel || kind == "cake") && (longest <= near || longest > far)).then_some(longest);
    let target = interval.map(|interval| Duration::ns(interval.as_nanos() / 20));
    let target = if is_slow { Some(target.unwrap_or(CODEL_TARGET).max(packets)) } else { target };
    let interval = interval.map(|interval| interval.max(target.unwrap_or(interval)));
    let mut set = |name, value: Option<Value>| choice.parameters.extend(value.map(|value| (name, value)));
    set("interval", interval.map(Value::Duration));
    set("target", target.map(Value::Duration));
    set("quantum", (is_slow && kind == "fq-codel").then_some(Value::Bytes(SHORT_TURN)));
    let is_cake = kind == "cake";
    let isolation = if heading == Direction::Down { "dual-dsthost" } else { "dual-srchost" };
    let has_devices = is_cake && line.access.hosts > 1;
    set("isolation", has_devices.then_some(Value::Choice(isolation)));
    set("nat", has_devices.then_some(Value::Switch(true)));
    let is_lopsided = heading == Direction::Up && line.down.as_bit_s() >= LOPSIDED * line.up.as_bit_s();
    set("ack_filter", (is_cake && is_lopsided).then_some(Value::Choice("on")));
    choice
}

/// Fair queueing that marks L4S packets early, from 1 ms or one and a half packets on: the
/// alternative to [`L4S`].
#[must_use]
pub fn marking_early(line: &Line, heading: Direction) -> Choice {
    usual("fq-codel", line, heading).with(&[("ce_threshold", Value::Duration(packets_time(line, heading).max(Duration::ms(1))))])
}

/// A full packet with the header of its frame.
pub const FULL_PACKET: Bytes = Bytes::new(1_514);

/// The transmission time of one and a half full packets, in whole milliseconds.
fn packets_time(line: &Line, heading: Direction) -> Duration {
    let seconds = PACKETS_PER_TARGET * FULL_PACKET.get() as f64 * 8.0 / line.rate(heading).as_bit_s().max(1) as f64;
    Duration::ms(Duration::from_secs_f64(seconds).as_nanos().div_ceil(1_000_000)).min(CODEL_INTERVAL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::recommend::access::Access;
    use crate::run::recommend::corners::Range;

    fn line(mbit: u64, rtt_ms: u64) -> Line {
        Line {
            down: Rate::mbit(mbit),
            up: Rate::mbit(mbit),
            varies: 0.0,
            rtt: Range::exactly(Duration::ms(rtt_ms)),
            buffer: Range::exactly(Duration::ms(100)),
            flows: None,
            control: Range::exactly("cubic"),
            access: Access::default(),
        }
    }

    fn shown(kind: &'static str, line: &Line) -> String {
        usual(kind, line, Direction::Up).to_string()
    }

    #[test]
    fn every_kind_of_every_hardware_exists() {
        for (name, hardware, kinds) in HARDWARE {
            assert_eq!(Hardware::named(name), Some(*hardware));
            for kind in kinds.iter().chain([&L4S]) {
                assert!(goodqueue_aqm::sched::kind(kind).is_some_and(|spec| spec.kind == *kind), "{kind}");
            }
        }
    }

    #[test]
    fn slow_lines_get_a_longer_target_and_short_turns() {
        assert_eq!(shown("fq-codel", &line(50, 100)), "fq-codel");
        assert_eq!(shown("fq-codel", &line(1, 100)), "fq-codel:target=19 ms:quantum=300 B");
        assert_eq!(shown("codel", &line(1, 100)), "codel:target=19 ms");
        assert_eq!(shown("fq-codel", &line(1, 5)), "fq-codel:interval=19 ms:target=19 ms:quantum=300 B");
    }

    #[test]
    fn far_and_near_lines_get_an_interval_of_their_own() {
        assert_eq!(shown("cake", &line(50, 600)), "cake:interval=600 ms:target=30 ms");
        assert_eq!(shown("fq-codel", &line(50, 600)), "fq-codel:interval=600 ms:target=30 ms");
        assert_eq!(shown("codel", &line(1000, 1)), "codel:interval=10 ms:target=500 us");
        assert_eq!(shown("cobalt", &line(50, 60)), "cobalt");
        assert_eq!(shown("cake", &line(50, 20)), "cake");
        assert_eq!(shown("pie", &line(1, 600)), "pie");
    }

    #[test]
    fn cake_thins_acknowledgements_of_a_narrow_uplink() {
        let narrow = Line { down: Rate::mbit(32), ..line(2, 90) };
        assert_eq!(shown("cake", &narrow), "cake:ack_filter=on");
        assert_eq!(usual("cake", &narrow, Direction::Down), Choice::plain("cake"));
    }

    #[test]
    fn several_devices_share_by_device() {
        let line = Line { access: Access { hosts: 4, ..Access::default() }, ..line(50, 90) };
        let queues = [Direction::Down, Direction::Up].map(|heading| usual("cake", &line, heading).to_string());
        assert_eq!(queues, ["cake:isolation=dual-dsthost:nat=true", "cake:isolation=dual-srchost:nat=true"]);
        assert_eq!(shown("fq-codel", &line), "fq-codel");
    }

    #[test]
    fn a_candidate_says_what_it_is() {
        let same = Candidate::both(&Choice::plain("cake"), 0.9);
        let mixed = Candidate { up: Choice::plain("fq-codel"), ..same.clone() };
        let up = same.clone().only(|heading| heading == Direction::Up);
        assert_eq!(
            [&Candidate::NOTHING, &same, &mixed, &up].map(ToString::to_string),
            ["nothing set up", "cake at 90 %", "cake down, fq-codel up at 90 %", "cake up at 90 %, nothing down"]
        );
        assert_eq!(same.shaped_rates(&line(50, 20)), [Some(Rate::mbit(45)); 2]);
        assert_eq!(up.shaped_rates(&line(50, 20)), [None, Some(Rate::mbit(45))]);
        assert_eq!((up.percent(), up.kind(), same.only(|_| false)), (Some(90.0), "cake", Candidate::NOTHING));
    }

    #[test]
    fn a_queue_is_typed_in_words_of_tc() {
        let far = line(1, 600);
        let typed = |kind| usual(kind, &far, Direction::Up).typed();
        assert_eq!(typed("cake"), "cake rtt 600ms");
        assert_eq!(typed("fq-codel"), "fq-codel interval 600ms target 30ms quantum 300");
        let several = Line { access: Access { hosts: 2, ..Access::default() }, ..line(50, 90) };
        assert_eq!(usual("cake", &several, Direction::Down).typed(), "cake dual-dsthost nat");
    }

    #[test]
    fn a_limit_belongs_to_the_shaper() {
        let deep = Choice::deep_buffer(Rate::mbit(12), Duration::ms(100));
        assert_eq!(deep.toml(None, &[]), "{ kind = \"tail-drop\", limit = \"100 packets\" }");
        assert_eq!(
            deep.toml(Some(Rate::mbit(10)), &[]),
            "{ kind = \"shaper\", rate = \"10 Mbit/s\", limit = \"100 packets\", of = { kind = \"tail-drop\" } }"
        );
    }
}
