//! The state table of the steering study row by row, and its rules on numbers.

use super::*;
use crate::Limit;
use crate::aqm::Reason;
use crate::sched::kind;
use crate::spec::{LinkFacts, ParamValues, Value};
use goodqueue_base::units::Rng;
use std::string::ToString;
use std::vec::Vec;

/// Signals whenever it is told to, so that only the loop is under test.
#[derive(Clone, Debug)]
struct Puppet {
    setpoint: Duration,
    is_due: bool,
    seen: Duration,
    signals: u32,
}

impl Aqm for Puppet {}

impl Steerable for Puppet {
    fn setpoint(&self) -> Duration {
        self.setpoint
    }
    fn move_setpoint(&mut self, setpoint: Duration) {
        self.setpoint = setpoint;
    }
    fn pace(&self) -> Pace {
        Pace { look_every: Duration::ZERO, raise_every: Duration::ZERO, signal_remembered: Duration::MAX }
    }
    fn judge_arrival(&mut self, _: &mut Env<'_>, _: PacketView, _: QueueView) -> Judgement {
        if self.is_due { Judgement::SignalDue } else { Judgement::Settled(Verdict::Pass) }
    }
    fn judge_departure(&mut self, env: &mut Env<'_>, head: PacketView, _: QueueView) -> Judgement {
        self.seen = head.sojourn(env.now);
        Judgement::Settled(Verdict::Pass)
    }
    fn signal(&mut self, _: &mut Env<'_>, _: PacketView) -> Verdict {
        self.signals += 1;
        Verdict::Signal(Reason::Early)
    }
    fn see_delay(&mut self, _: Instant, delay: Duration) {
        self.seen = delay;
    }
}

const NATIVE: Duration = Duration::us(2500);
/// A packet of 1250 bytes takes a millisecond.
const RATE: Rate = Rate::mbit(10);

/// A steered puppet before a link, a packet of which is exchanged at a time.
struct Line {
    steered: Steered<Puppet>,
    now: Instant,
    rate: Rate,
}

impl Line {
    fn new(policy: Policy) -> Self {
        let puppet = Puppet { setpoint: Duration::ZERO, is_due: false, seen: Duration::ZERO, signals: 0 };
        Self { steered: Steered::new(puppet, policy, Some(RATE), Bytes::new(1250)), now: Instant::from_nanos(1), rate: RATE }
    }

    fn act<T>(&mut self, act: impl FnOnce(&mut Steered<Puppet>, &mut Env<'_>) -> T) -> T {
        let mut rng = Rng::new(1);
        act(&mut self.steered, &mut Env { now: self.now, link_rate: Some(self.rate), overhead: Bytes::ZERO, rng: &mut rng })
    }

    fn packet(&self, sojourn: Duration) -> PacketView {
        PacketView { len: Bytes::new(1250), ecn: Ecn::NotEct, flow: FlowHash(0), enqueued_at: self.now - sojourn }
    }

    /// A packet arrives where `waiting` wait.
    fn arrive(&mut self, waiting: u64) -> Verdict {
        let (packet, bytes) = (self.packet(Duration::ZERO), Bytes::new(waiting * 1250));
        self.act(|steered, env| steered.on_arrival(env, packet, QueueView { backlog: bytes, packets: Packets::new(waiting) }))
    }

    fn depart(&mut self, sojourn: Duration) {
        let head = self.packet(sojourn);
        let queue = QueueView { backlog: Bytes::new(12_500), packets: Packets::new(10) };
        let verdict = self.act(|steered, env| steered.on_departure(env, head, queue));
        assert_eq!(verdict, Verdict::Pass);
    }

    /// Packets come at `share` of the link's rate for `span` and find a queue whose sojourn time is
    /// `sojourn`.
    fn load(&mut self, share: f64, span: Duration, sojourn: Duration) {
        let gap = Duration::ms(1).mul_f64(1.0 / share);
        let end = self.now + span;
        while self.now < end {
            self.now += gap;
            let waiting = sojourn.as_nanos().div_ceil(1_000_000);
            assert_eq!(self.arrive(waiting), Verdict::Pass);
            self.depart(sojourn);
        }
    }

    /// Sends a packet for which a signal is due. Returns true if it was given.
    fn signal(&mut self) -> bool {
        self.steered.inner.is_due = true;
        self.now += Duration::us(10);
        let verdict = self.arrive(10);
        self.steered.inner.is_due = false;
        verdict != Verdict::Pass
    }

    fn setpoint(&self) -> Duration {
        assert_eq!(self.steered.setpoint(), self.steered.inner.setpoint, "what the loop decided is what holds");
        self.steered.setpoint()
    }

    fn gauge(&self, name: &str) -> f64 {
        let mut value = None;
        self.steered.gauges(&mut |known, found| value = value.or((known == name).then_some(found)));
        value.expect("a known gauge")
    }
}

fn policy() -> Policy {
    Policy::new(NATIVE)
}

fn capped() -> Policy {
    let span = Duration::ms(2);
    Policy { u_low: 0.94, u_target: 0.95, target_max: NATIVE, thresh_vq: span, thresh_min: Duration::us(200), ..policy() }
}

#[test]
fn starts_at_the_algorithms_own_setpoint_within_the_bounds() {
    assert_eq!(Line::new(policy()).setpoint(), NATIVE);
    assert_eq!(Line::new(Policy { target_max: Duration::ms(1), ..policy() }).setpoint(), Duration::ms(1));
    assert_eq!(Line::new(Policy { thresh_min: Duration::ms(9), ..policy() }).setpoint(), Duration::ms(9));
}

/// Row 1: always below the setpoint. The link is not the bottleneck, no signal is due, and nothing
/// moves.
#[test]
fn persistently_below_moves_nothing() {
    let mut line = Line::new(policy());
    line.load(0.5, Duration::secs(60), Duration::ZERO);
    line.load(1.0, Duration::secs(60), Duration::ms(1));
    assert_eq!(line.setpoint(), NATIVE);
    assert_eq!(line.steered.inner.signals, 0);
}

/// Row 2: always above. The algorithm has not converged: signals are given, and nothing moves.
#[test]
fn persistently_above_moves_nothing() {
    let mut line = Line::new(policy());
    for _ in 0..100 {
        line.load(1.2, Duration::ms(200), Duration::ms(40));
        assert!(line.signal());
        assert_eq!(line.setpoint(), NATIVE);
    }
}

/// Row 3, too little use: the queue runs empty after a signal, and the rate is low. The setpoint
/// doubles in place of a signal.
#[test]
fn fluctuating_with_too_little_use_raises() {
    let mut line = Line::new(policy());
    let mut setpoints = Vec::new();
    for _ in 0..4 {
        line.load(0.8, Duration::ms(200), Duration::ZERO);
        assert!(line.signal(), "nothing is known of the queue since the last signal but this one");
        line.load(0.8, Duration::ms(200), Duration::ZERO);
        assert!(!line.signal(), "a raise withholds the signal");
        setpoints.push(line.setpoint());
    }
    assert_eq!(setpoints, [5, 10, 20, 30].map(Duration::ms));
}

/// Row 3, enough use and a standing part: the queue dips, but never far. The setpoint goes down by
/// what always stands.
#[test]
fn fluctuating_with_a_standing_part_lowers() {
    let mut line = Line::new(Policy { thresh_min_up: Duration::ms(10), ..policy() });
    for _ in 0..20 {
        line.load(1.0, Duration::ms(100), Duration::ms(7));
        line.load(1.0, Duration::ms(100), Duration::ms(10));
        assert!(line.signal());
    }
    // Dips of 3 ms and no deviation: 7 ms stand, whatever dips 7 ms deep are not dips any more.
    assert!(line.setpoint() < Duration::ms(8), "{}", line.setpoint());
    let lowest = line.setpoint();
    line.load(1.0, Duration::ms(100), lowest);
    assert!(line.signal());
    assert_eq!(line.setpoint(), lowest, "without a dip nothing moves");
}

/// Row 3, enough use and nothing standing: the queue always dips to the ground. Nothing moves.
#[test]
fn fluctuating_down_to_the_ground_at_full_use_stays() {
    let mut line = Line::new(policy());
    for _ in 0..20 {
        line.load(1.0, Duration::ms(100), Duration::ms(2));
        line.load(1.0, Duration::ms(10), Duration::ZERO);
        assert!(line.signal());
        assert_eq!(line.setpoint(), NATIVE);
    }
}

/// Row 3, too much use with a ceiling: the setpoint shrinks by a quarter, then the virtual queue
/// takes over.
#[test]
fn fluctuating_with_too_much_use_lowers_to_the_virtual_queue() {
    let mut line = Line::new(capped());
    line.load(1.0, Duration::ms(200), Duration::ms(3));
    assert!(line.signal());
    assert_eq!(line.setpoint(), Duration::ms(2), "0.75 of 2.5 ms is less than thresh_vq");
    assert!(line.steered.outer_loop.is_virtual());
    let rate = line.gauge("virtual_rate_bit_s");
    assert!((9.5e6..10e6).contains(&rate), "{rate}");
}

/// With the virtual queue: its rate moves with each signal, down to the ceiling and no further.
#[test]
fn the_virtual_rate_moves_within_its_bounds() {
    let mut line = Line::new(capped());
    let mut rates = Vec::new();
    for _ in 0..30 {
        line.load(1.0, Duration::ms(200), Duration::ZERO);
        assert!(line.signal());
        rates.push(line.gauge("virtual_rate_bit_s"));
    }
    assert!(rates.is_sorted_by(|a, b| a >= b), "{rates:?}");
    assert_eq!(*rates.last().expect("rates"), 9.5e6);
    assert_eq!(line.setpoint(), Duration::ms(2));
}

/// With the virtual queue and too little use: the virtual rate goes up in place of a signal, and at
/// the full rate the real queue counts again.
#[test]
fn too_little_use_gives_the_link_back() {
    let mut line = Line::new(capped());
    line.load(1.0, Duration::ms(200), Duration::ZERO);
    assert!(line.signal() && line.steered.outer_loop.is_virtual());
    let mut given = 0;
    while line.steered.outer_loop.is_virtual() {
        line.load(0.5, Duration::ms(500), Duration::ZERO);
        given += u32::from(line.signal());
        assert!(given < 20);
    }
    assert_eq!(line.gauge("virtual_rate_bit_s"), 10e6);
    assert_eq!(line.setpoint(), Duration::ms(2), "the setpoint moves only once the real queue counts");
    assert_eq!(line.steered.inner.seen, Duration::ZERO, "back to the real delay");
}

#[test]
fn no_raise_without_an_empty_queue_or_with_one_rate_high() {
    let mut line = Line::new(policy());
    line.load(0.8, Duration::ms(200), Duration::ms(1));
    assert!(line.signal());
    line.load(0.8, Duration::ms(200), Duration::ms(1));
    assert!(line.signal(), "the queue was never empty");
    // The average is high from here on: a single slow period is not enough.
    for _ in 0..50 {
        line.load(1.0, Duration::ms(200), NATIVE);
        assert!(line.signal());
    }
    line.load(0.9, Duration::ms(20), Duration::ZERO);
    assert!(line.signal(), "the average rate is high enough");
    assert_eq!(line.setpoint(), NATIVE);
}

#[test]
fn raises_go_at_least_to_the_algorithms_own_setpoint() {
    let mut setpoint = Duration::us(800);
    let mut line = Line::new(Policy { thresh_min_up: NATIVE, ..policy() });
    line.steered.outer_loop.setpoint = setpoint;
    for expected in [2_500, 5_000, 10_000, 20_000, 30_000].map(Duration::us) {
        line.load(0.5, Duration::ms(300), Duration::ZERO);
        assert!(line.signal());
        line.load(0.5, Duration::ms(300), Duration::ZERO);
        assert!(!line.signal());
        setpoint = line.setpoint();
        assert_eq!(setpoint, expected);
    }
    line.load(0.5, Duration::ms(300), Duration::ZERO);
    assert!(line.signal(), "there is no room: the signal is given");
    assert_eq!(line.setpoint(), Duration::ms(30));
}

/// 2.5 ms, an average dip of 1.2 ms, a deviation of 0.2 ms: 0.9 ms stand beyond the margin, 0.8 ms
/// of them in whole steps.
#[test]
fn lowering_goes_in_whole_steps() {
    // Two dips at one instant, 0.282843 ms below and above 1.2: their squared deviations average
    // (0.2 ms)^2.
    let mut outer_loop = Line::new(policy()).steered.outer_loop;
    let mut rng = Rng::new(1);
    let mut give = |outer_loop: &mut OuterLoop, dip: u64| {
        outer_loop.departure(NATIVE.saturating_sub(Duration::ns(dip)));
        outer_loop.arrival(Instant::ZERO, QueueView { backlog: Bytes::new(1), packets: Packets::new(1) });
        outer_loop.accept(Instant::ZERO, Bytes::new(12_500));
        let env = Env { now: Instant::ZERO + Duration::us(10), link_rate: Some(RATE), overhead: Bytes::ZERO, rng: &mut rng };
        outer_loop.give(&env, QueueView::default());
    };
    give(&mut outer_loop, 917_157);
    // 2.5 - 0.917 without deviation: 1.4 in whole steps; put back for the second look.
    assert_eq!(outer_loop.setpoint, Duration::us(1100));
    outer_loop.setpoint = NATIVE;
    give(&mut outer_loop, 1_482_843);
    assert_eq!(outer_loop.setpoint, Duration::us(1700));
}

#[test]
fn never_below_the_least_setpoint() {
    let mut line = Line::new(Policy { thresh_min: Duration::ms(2), gamma: 0.0, ..policy() });
    for _ in 0..10 {
        line.load(1.0, Duration::ms(100), Duration::us(2400));
        assert!(line.signal());
    }
    assert_eq!(line.setpoint(), Duration::ms(2));
}

#[test]
fn down_link_freezes_the_loop_and_a_new_rate_keeps_the_setpoint() {
    let mut line = Line::new(policy());
    line.load(0.5, Duration::ms(300), Duration::ZERO);
    assert!(line.signal());
    line.load(0.5, Duration::ms(300), Duration::ZERO);
    line.rate = Rate::ZERO;
    line.act(|steered, env| steered.on_rate_change(env));
    assert!(line.signal(), "signals are given without a look");
    assert_eq!(line.setpoint(), NATIVE);
    line.rate = Rate::mbit(5);
    line.act(|steered, env| steered.on_rate_change(env));
    line.load(0.9, Duration::ms(300), Duration::ms(1));
    assert!(line.signal(), "9 Mbit/s are more than a link of 5 Mbit/s carries");
    assert_eq!(line.setpoint(), NATIVE);
}

#[test]
fn the_virtual_queue_is_what_the_algorithm_sees() {
    let mut line = Line::new(capped());
    line.load(1.0, Duration::ms(200), Duration::ZERO);
    assert!(line.signal());
    line.load(1.0, Duration::ms(400), Duration::ZERO);
    let seen = line.steered.inner.seen;
    assert!(seen > Duration::ms(5), "at most 97.5 % are served, so it grows: {seen}");
    assert!((line.gauge("virtual_delay_s") - seen.as_secs_f64()).abs() < 2e-3);
    // A real delay that breaks the policy counts all the same.
    line.now += Duration::secs(10);
    line.depart(Duration::ms(40));
    assert_eq!(line.steered.inner.seen, Duration::ms(40));
}

#[test]
fn signals_are_looked_at_no_more_often_than_the_pace_allows() {
    let pace = Pace { look_every: Duration::ms(100), raise_every: Duration::ZERO, signal_remembered: Duration::ms(100) };
    let mut line = Line::new(policy());
    line.steered.outer_loop = OuterLoop::new(policy(), pace);
    line.steered.follow(Instant::ZERO, Some(RATE));
    line.load(0.5, Duration::ms(300), Duration::ZERO);
    assert!(line.signal());
    line.load(0.5, Duration::ms(50), Duration::ZERO);
    assert!(line.signal(), "too early for a raise");
    line.load(0.5, Duration::ms(60), Duration::ZERO);
    assert!(!line.signal());
    assert_eq!(line.setpoint(), Duration::ms(5));
    line.now += Duration::ms(200);
    assert!(line.signal());
    line.now += Duration::ms(200);
    line.load(0.5, Duration::ms(60), Duration::ZERO);
    assert!(line.signal(), "the queue ran empty too long after the signal");
}

fn refused(name: &'static str, values: &[(&'static str, Value)], rate: Option<Rate>) -> std::string::String {
    let spec = kind(name).expect("a listed kind");
    let link =
        LinkFacts { rate, delay: Duration::ms(10), mtu: Bytes::new(1500), overhead: Bytes::ZERO, limit: Limit::packets(100) };
    let given = ParamValues::new(spec, values).expect("single values are in range");
    crate::AnyAqm::build(&given, &link).expect_err("a contradiction").to_string()
}

#[test]
fn contradictions_are_refused() {
    let span = |name, micros| (name, Value::Duration(Duration::us(micros)));
    let share = |name, share| (name, Value::Number(share));
    for name in ["gsp-as", "codel-as", "pie-as"] {
        for (values, rate, message) in [
            (
                &[span("target_max", 100)][..],
                Some(RATE),
                "target_max: 100 us is shorter than thresh_min (200 us): allowed from thresh_min",
            ),
            (&[share("u_target", 0.9)], Some(RATE), "u_low: 0.99 is above u_target (0.9): allowed up to u_target"),
            (&[share("g_vq", 0.9)], Some(RATE), "g_vq: has no meaning with u_target = 1"),
            (
                &[share("u_low", 0.9), share("u_target", 0.95), span("thresh_vq", 100)],
                Some(RATE),
                "thresh_vq: 100 us is out of range: allowed 200 us to 30 ms",
            ),
            (&[], None, "rate: the link's rate is unknown: say what counts as full use"),
        ] {
            assert_eq!(refused(name, values, rate), message, "{name}");
        }
    }
}

#[test]
fn the_lists_of_parameters_are_whole() {
    for (name, inner, without) in
        [("gsp-as", "gsp", 2), ("codel-as", "codel", 2), ("pie-as", "pie", 4)].map(|(a, b, n)| (kind(a), kind(b), n))
    {
        let (outer, inner) = (name.expect("a kind").params, inner.expect("a kind").params);
        let kept = inner.iter().filter(|own| outer.iter().any(|known| known.name == own.name)).count();
        assert_eq!(kept + without, inner.len());
        let mut names: Vec<_> = outer.iter().map(|param| param.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), outer.len(), "each name once");
    }
}
