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
    /// pfSense or OPNsense, whose limiters are FreeBSD's.
    PfSense,
}

/// The hardware by its name on the command line, with the kinds of queues it has.
const HARDWARE: &[(&str, Hardware, &[&str])] = &[
    ("any", Hardware::Any, &["cake", "fq-codel", "fq-pie", "codel", "pie"]),
    ("linux", Hardware::Linux, &["cake", "fq-codel", "fq-pie", "codel", "pie"]),
    ("openwrt", Hardware::OpenWrt, &["cake", "fq-codel"]),
    ("libreqos", Hardware::LibreQos, &["cake", "fq-codel"]),
    // Its RED takes thresholds without a gentle line, which is another algorithm than ours.
    ("routeros", Hardware::RouterOs, &["cake", "fq-codel", "codel", "tail-drop"]),
    ("pfsense", Hardware::PfSense, &["fq-codel", "fq-pie", "codel", "pie"]),
    ("opnsense", Hardware::PfSense, &["fq-codel", "fq-pie", "codel", "pie"]),
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

    /// Whether the two directions may have queues of different kinds; sqm-scripts has one for both.
    #[must_use]
    pub fn mixes_kinds(self) -> bool {
        self != Self::OpenWrt
    }

    /// The kinds of queues it has.
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
/// Round-trip times between these are not far from what CoDel's interval is for. Our choice.
const NEAR_CODEL_INTERVAL: [Duration; 2] = [Duration::ms(40), Duration::ms(125)];
/// Turns of a fair queue on slow lines, as sqm-scripts and cake have them.
const SHORT_TURN: Bytes = Bytes::new(300);
/// Acknowledgements of downloads fill the uplink where the rates differ by this factor. Our choice.
const LOPSIDED: u64 = 10;

/// The queue that is tried first: the kind with its defaults, and with more than one device behind
/// the router cake's fairness between them.
#[must_use]
pub fn usual(kind: &'static str, line: &Line, heading: Direction) -> Choice {
    let plain = Choice::plain(kind);
    if kind != "cake" || line.access.hosts < 2 {
        return plain;
    }
    let isolation = match heading {
        Direction::Down => "dual-dsthost",
        Direction::Up => "dual-srchost",
    };
    plain.with(&[("isolation", Value::Choice(isolation)), ("nat", Value::Switch(true))])
}

/// Settings of a kind that are usual for such a line, the first one of the race first.
///
/// CoDel's target is at least one and a half full packets at the rate (RFC 8289 §5.2.2 has one MTU,
/// sqm-scripts one and a half), and turns are short there. `interval` is the longest round-trip
/// time expected and `target` a twentieth of that (RFC 8289 §4, `rtt` of tc-cake(8)).
#[must_use]
pub fn variants(kind: &'static str, line: &Line, heading: Direction) -> Vec<Choice> {
    let usual = usual(kind, line, heading);
    let mut choices = vec![usual.clone()];
    let longest = Duration::ms(line.rtt.high.as_nanos().div_ceil(1_000_000).clamp(10, 1_000));
    let times =
        |interval: Duration, target: Duration| [("interval", Value::Duration(interval)), ("target", Value::Duration(target))];
    if matches!(kind, "codel" | "fq-codel" | "cobalt") {
        let rate = line.rate(heading).as_bit_s().max(1);
        let packets = Duration::from_secs_f64(PACKETS_PER_TARGET * 1514.0 * 8.0 / rate as f64);
        let packets = Duration::ms(packets.as_nanos().div_ceil(1_000_000)).min(CODEL_INTERVAL);
        let turn: &[_] = if kind == "fq-codel" { &[("quantum", Value::Bytes(SHORT_TURN))] } else { &[] };
        let is_slow = packets > CODEL_TARGET;
        if is_slow {
            choices.push(usual.with(&[("target", Value::Duration(packets))]).with(turn));
        }
        let [near, far] = NEAR_CODEL_INTERVAL;
        if longest < near || longest > far {
            let twentieth = Duration::ns(longest.as_nanos() / 20);
            choices.push(if is_slow {
                usual.with(&times(longest.max(packets), twentieth.max(packets))).with(turn)
            } else {
                usual.with(&times(longest, twentieth))
            });
        }
    }
    if kind == "cake" {
        let is_far = longest.as_nanos().abs_diff(CODEL_INTERVAL.as_nanos()) > CODEL_INTERVAL.as_nanos() / 4;
        if is_far {
            choices.push(usual.with(&times(longest, Duration::ns(longest.as_nanos() / 20))));
        }
        if heading == Direction::Up && line.down.as_bit_s() >= LOPSIDED * line.up.as_bit_s() {
            choices.push(usual.with(&[("ack_filter", Value::Choice("on"))]));
        }
    }
    choices
}

/// Fair queueing that marks L4S packets early: the alternative to [`L4S`].
#[must_use]
pub fn marking_early() -> Choice {
    Choice::plain("fq-codel").with(&[("ce_threshold", Value::Duration(Duration::ms(1)))])
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

    fn shown(kind: &'static str, line: &Line) -> Vec<String> {
        variants(kind, line, Direction::Up).iter().map(Choice::to_string).collect()
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
        assert_eq!(shown("fq-codel", &line(50, 100)), ["fq-codel"]);
        assert_eq!(shown("fq-codel", &line(1, 100)), ["fq-codel", "fq-codel:target=19 ms:quantum=300 B"]);
        assert_eq!(shown("codel", &line(1, 100)), ["codel", "codel:target=19 ms"]);
        assert_eq!(
            shown("fq-codel", &line(1, 10)).last().map(String::as_str),
            Some("fq-codel:interval=19 ms:target=19 ms:quantum=300 B")
        );
    }

    #[test]
    fn far_and_near_lines_get_an_interval_of_their_own() {
        assert_eq!(shown("cake", &line(50, 600)), ["cake", "cake:interval=600 ms:target=30 ms"]);
        assert_eq!(shown("fq-codel", &line(50, 600)), ["fq-codel", "fq-codel:interval=600 ms:target=30 ms"]);
        assert_eq!(shown("codel", &line(1000, 1)), ["codel", "codel:interval=10 ms:target=500 us"]);
        assert_eq!(shown("cobalt", &line(50, 60)), ["cobalt"]);
        assert_eq!(shown("cake", &line(50, 90)), ["cake"]);
        assert_eq!(shown("pie", &line(1, 600)), ["pie"]);
    }

    #[test]
    fn cake_thins_acknowledgements_of_a_narrow_uplink() {
        let narrow = Line { down: Rate::mbit(20), ..line(2, 90) };
        assert_eq!(shown("cake", &narrow), ["cake", "cake:ack_filter=on"]);
        assert_eq!(variants("cake", &narrow, Direction::Down).len(), 1);
    }

    #[test]
    fn several_devices_share_by_device() {
        let line = Line { access: Access { hosts: 4, ..Access::default() }, ..line(50, 90) };
        let queues = [Direction::Down, Direction::Up].map(|heading| usual("cake", &line, heading).to_string());
        assert_eq!(queues, ["cake:isolation=dual-dsthost:nat=true", "cake:isolation=dual-srchost:nat=true"]);
        assert_eq!(shown("fq-codel", &line), ["fq-codel"]);
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
        let typed = |kind| variants(kind, &far, Direction::Up).last().map(Choice::typed).expect("a choice");
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
