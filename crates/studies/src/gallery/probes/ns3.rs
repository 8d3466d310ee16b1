//! Programs of ns-3's tests of queue disciplines: arrivals and departures at given times, without a
//! link and without senders.
//!
//! A measure names a program by its number in ns-3's test file and whether thresholds and limit are
//! in packets (0) or in bytes (1). Programs of randomized queues run with twenty seeds, and their
//! counts are summed.

use super::probe::{Probe, gauge, handle_timers};
use crate::gallery::expr::Fault;
use goodqueue_aqm::sched::{AnyQdisc, kind};
use goodqueue_aqm::spec::{KindAndParams, LinkFacts, Size, Value};
use goodqueue_aqm::{Class, Ecn, EcnPolicy, Limit, Qdisc, Reason, SimplePacket, Sink};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate, Rng};

/// Seeds of each randomized program.
const SEEDS: u64 = 20;

pub(super) const PROBES: &[Probe] = &[
    Probe::trial("red_drops", 2, |numbers| sum(numbers, red, Counts::dropped)),
    Probe::trial("red_marks", 2, |numbers| sum(numbers, red, |counts| counts.marks)),
    Probe::trial("ared_drops", 2, |numbers| sum(numbers, ared, |counts| counts.by_chance)),
    Probe::trial("pie_drops", 2, |numbers| sum(numbers, pie, |counts| counts.signal_drops)),
    Probe::trial("pie_overflows", 2, |numbers| sum(numbers, pie, |counts| counts.overflows)),
    Probe::trial("pie_marks", 2, |numbers| sum(numbers, pie, |counts| counts.marks)),
    Probe::trial("pie_highest", 2, |numbers| sum(numbers, pie, |counts| counts.highest).map(|sum| sum / SEEDS as f64)),
    Probe::trial("pie_steepest", 2, |numbers| sum(numbers, pie, |counts| counts.steepest).map(|sum| sum / SEEDS as f64)),
    Probe::trial("codel_left", 2, |numbers| Ok(codel(numbers)?.left)),
    Probe::trial("codel_drops", 2, |numbers| Ok(codel(numbers)?.dropped())),
    Probe::trial("codel_marks", 2, |numbers| Ok(codel(numbers)?.marks)),
    Probe::trial("codel_threshold_marks", 2, |numbers| Ok(codel(numbers)?.threshold_marks)),
    Probe::trial("cobalt_overflows", 1, |numbers| Ok(cobalt_full(numbers)?.overflows)),
    Probe::trial("cobalt_probability", 1, |numbers| Ok(cobalt_full(numbers)?.highest)),
    Probe::trial("cobalt_marks", 1, |numbers| Ok(cobalt_marks(numbers)?.marks)),
    Probe::trial("fq_left", 2, fq_left),
    Probe::trial("fq_turn", 2, fq_turn),
    Probe::trial("shaper_leaves", 2, shaper_leaves),
    Probe::trial("fifo_left", 1, fifo_left),
    Probe::trial("priority_inversions", 0, |_| priority_inversions()),
];

/// One step of a program.
#[derive(Clone, Copy)]
enum Step {
    Arrive { flow: u32, len: u32, ecn: Ecn },
    Leave,
}

/// The results of a program: counts of packets and of decisions of the queue.
#[derive(Clone, Default)]
struct Counts {
    overflows: f64,
    signal_drops: f64,
    /// Those of `signal_drops` on arrival while the probability was less than one.
    by_chance: f64,
    marks: f64,
    threshold_marks: f64,
    left: f64,
    highest: f64,
    /// The largest rise of the probability from one arrival to the next, from a probability of 0.1
    /// on.
    steepest: f64,
    /// Flows of the packets in the order in which they left.
    order: Vec<u32>,
    /// Whether each attempt to take a packet brought one.
    taken: Vec<bool>,
}

impl Counts {
    fn dropped(&self) -> f64 {
        self.signal_drops + self.overflows
    }
}

impl Sink<SimplePacket> for Counts {
    fn dropped(&mut self, _: SimplePacket, drop: goodqueue_aqm::Dropped) {
        if drop.reason.is_overflow() { self.overflows += 1.0 } else { self.signal_drops += 1.0 }
    }

    fn marked(&mut self, _: &SimplePacket, reason: Reason) {
        if reason == Reason::Threshold { self.threshold_marks += 1.0 } else { self.marks += 1.0 }
    }
}

/// A queue and what is done to it.
struct Program {
    kind: &'static str,
    of: Option<&'static str>,
    values: Vec<(&'static str, Value)>,
    limit: Limit,
    rate: Rate,
    mtu: u64,
    ecn: EcnPolicy,
    /// Steps and their times, in order.
    steps: Vec<(Duration, Step)>,
}

impl Program {
    fn new(kind: &'static str, limit: Limit) -> Self {
        let rate = Rate::kbit(1500);
        Self { kind, of: None, values: Vec::new(), limit, rate, mtu: 500, ecn: EcnPolicy::Drop, steps: Vec::new() }
    }

    fn with(mut self, name: &'static str, value: Value) -> Self {
        self.values.retain(|(known, _)| *known != name);
        self.values.push((name, value));
        self
    }

    fn number(self, name: &'static str, value: f64) -> Self {
        self.with(name, Value::Number(value))
    }

    fn switch(self, name: &'static str, value: bool) -> Self {
        self.with(name, Value::Switch(value))
    }

    fn span(self, name: &'static str, ms: u64) -> Self {
        self.with(name, Value::Duration(Duration::ms(ms)))
    }

    fn marking(mut self) -> Self {
        self.ecn = EcnPolicy::Mark;
        self
    }

    /// Adds `count` arrivals from `from` on, every `gap`.
    fn arrivals(mut self, count: u64, from: Duration, gap: Duration, step: Step) -> Self {
        self.steps.extend((0..count).map(|i| (from + gap * i, step)));
        self
    }

    fn burst(self, count: u64, len: u32, ecn: Ecn) -> Self {
        self.arrivals(count, Duration::ZERO, Duration::ZERO, Step::Arrive { flow: 0, len, ecn })
    }

    /// An attempt to take a packet at each of these times.
    fn takes(mut self, at: impl IntoIterator<Item = Duration>) -> Self {
        self.steps.extend(at.into_iter().map(|at| (at, Step::Leave)));
        self
    }

    fn run(mut self, seed: u64) -> Result<Counts, Fault> {
        // At one instant steps keep the order in which they were given, as ns-3's events do.
        self.steps.sort_by_key(|(at, _)| *at);
        let nothing = |reason: String| Fault::NoValue(reason);
        let named = |name: &str| kind(name).ok_or_else(|| nothing(format!("there is no {name}")));
        let link = LinkFacts {
            rate: Some(self.rate),
            delay: Duration::ms(20),
            mtu: Bytes::new(self.mtu),
            overhead: Bytes::ZERO,
            limit: self.limit,
        };
        let of = self.of.map(|of| named(of).map(|of| KindAndParams::new(of, Vec::new()))).transpose()?;
        let queue = KindAndParams::new(named(self.kind)?, self.values).over(of);
        let built = AnyQdisc::build_over(&queue, &link, self.ecn, Rng::new(seed));
        let mut queue: AnyQdisc<SimplePacket> = built.map_err(|error| nothing(error.to_string()))?;
        let mut counts = Counts::default();
        let mut before = 0.0;
        for (at, step) in self.steps {
            let now = Instant::from_nanos(1) + at;
            handle_timers(&mut queue, now);
            match step {
                Step::Arrive { flow, len, ecn } => {
                    let signaled = counts.signal_drops;
                    let packet = SimplePacket { flow, ecn, class: Class::new(flow as u8), ..SimplePacket::new(len) };
                    queue.enqueue(now, packet, &mut counts);
                    let probability = probability(&queue);
                    if probability < 1.0 {
                        counts.by_chance += counts.signal_drops - signaled;
                    }
                    if before > 0.1 {
                        counts.steepest = counts.steepest.max(probability - before);
                    }
                    counts.highest = counts.highest.max(probability);
                    before = probability;
                }
                Step::Leave => {
                    let taken = queue.dequeue(now, &mut counts);
                    counts.taken.push(taken.is_some());
                    counts.order.extend(taken.map(|departure| departure.packet.flow));
                }
            }
        }
        counts.left = queue.view().packets.get() as f64;
        Ok(counts)
    }
}

/// The queue's probability, if it has one.
fn probability(queue: &AnyQdisc<SimplePacket>) -> f64 {
    gauge(queue, &["probability", "drop_probability"])
}

/// The sum of a count over the seeds of a program.
fn sum(numbers: &[f64], program: fn(&[f64]) -> Result<Program, Fault>, of: fn(&Counts) -> f64) -> Result<f64, Fault> {
    (1..=SEEDS).map(|seed| Ok(of(&program(numbers)?.run(seed)?))).sum()
}

fn unknown(test: u32) -> Fault {
    Fault::NoValue(format!("there is no test {test}"))
}

/// A program's number, and whether its limit and thresholds are in bytes.
fn asked(numbers: &[f64]) -> (u32, bool) {
    (numbers[0] as u32, numbers.get(1).is_some_and(|unit| *unit > 0.0))
}

/// An amount of packets of this size, in packets or in bytes.
fn amount(packets: u64, len: u64, in_bytes: bool) -> (Value, Limit) {
    if in_bytes {
        (Value::Size(Size::Bytes((packets * len) as f64)), Limit::bytes(packets * len))
    } else {
        (Value::Size(Size::Packets(packets as f64)), Limit::packets(packets))
    }
}

fn thresholds(program: Program, min: u64, max: u64, in_bytes: bool) -> Program {
    program.with("min_th", amount(min, 500, in_bytes).0).with("max_th", amount(max, 500, in_bytes).0)
}

/// RED as ns-3 sets it, with a limit of 300 packets of 500 bytes.
fn red_base(name: &'static str, in_bytes: bool) -> Program {
    Program::new(name, amount(300, 500, in_bytes).1)
        .number("max_p", 0.02)
        .number("w_q", 0.002)
        .switch("gentle", true)
        .switch("wait", true)
        .switch("use_mark_p", false)
        .switch("queue_in_bytes", in_bytes)
        .with("mean_pktsize", Value::Size(Size::Bytes(500.0)))
}

/// Programs of red-queue-disc-test-suite.cc: 300 packets at one instant.
fn red(numbers: &[f64]) -> Result<Program, Fault> {
    let (test, in_bytes) = asked(numbers);
    let base = red_base("red", in_bytes);
    let wide = thresholds(red_base("red", in_bytes), 70, 150, in_bytes).number("w_q", 0.02);
    let steep = thresholds(red_base("red", in_bytes), 30, 90, in_bytes).number("max_p", 0.5);
    let program = match test {
        2 => thresholds(base, 70, 150, in_bytes),
        3 => wide,
        4 => thresholds(wide, 70, 100, in_bytes),
        5 => wide.number("max_p", 0.2),
        6 => wide.switch("gentle", false),
        7 => wide.switch("wait", false),
        8 | 10 => steep.marking(),
        9 | 11 => steep,
        12 => steep.with("adaptive", Value::Choice("feng")),
        other => return Err(unknown(other)),
    };
    let ecn = if matches!(test, 9 | 10) { Ecn::Ect0 } else { Ecn::NotEct };
    Ok(program.burst(300, 500, ecn))
}

/// Programs of adaptive-red-queue-disc-test-suite.cc.
fn ared(numbers: &[f64]) -> Result<Program, Fault> {
    let (test, in_bytes) = asked(numbers);
    let mut base = red_base("red", in_bytes);
    base.values.retain(|(name, _)| *name != "w_q");
    let automatic = |base: Program, about| thresholds(base, 70, 150, in_bytes).with("auto_w_q", Value::Choice(about));
    let slow = Rate::kbit(15);
    let mut program = match test {
        1 | 2 => automatic(base, "second"),
        3 | 4 => automatic(base, "rtt"),
        5 | 6 => automatic(base, "tenth"),
        7 | 8 => base.number("w_q", 0.002),
        9 => thresholds(red_base("red", in_bytes), 5, 15, in_bytes).number("max_p", 0.5),
        10 => base.number("max_p", 0.5).with("adaptive", Value::Choice("floyd")),
        other => return Err(unknown(other)),
    };
    match test {
        2 | 4 | 6 => program.rate = slow,
        8 => program.rate = Rate::mbit(150),
        _ => {}
    }
    let packet = Step::Arrive { flow: 0, len: 500, ecn: Ecn::NotEct };
    let gap = if test >= 9 { Duration::ms(10) } else { Duration::ZERO };
    Ok(program.arrivals(300, gap, gap, packet))
}

/// Programs of pie-queue-disc-test-suite.cc: 400 packets of 1000 bytes, one every 10 ms, taken one
/// by one more slowly.
fn pie(numbers: &[f64]) -> Result<Program, Fault> {
    let (test, in_bytes) = asked(numbers);
    let base = Program::new("pie", amount(300, 1000, in_bytes).1)
        .span("t_update", 15)
        .span("target", 15)
        .span("max_burst", 150)
        .switch("derandomize", false)
        .with("mean_pktsize", Value::Size(Size::Bytes(1000.0)));
    let own = |base: Program, update, target| base.span("t_update", update).span("target", target).span("max_burst", 100);
    let program = match test {
        2 | 4 => own(base, 30, 20),
        3 => own(base, 30, 80),
        5 => own(base, 90, 20),
        6 => base.with("estimator", Value::Choice("departure-rate")),
        7 => base.switch("cap_drop", false),
        8 => base,
        9 | 11 => base.number("mark_ecnth", 0.3).marking(),
        10 => base.number("mark_ecnth", 0.3),
        12 => base.switch("derandomize", true),
        other => return Err(unknown(other)),
    };
    let ecn = if matches!(test, 10 | 11) { Ecn::Ect0 } else { Ecn::NotEct };
    let gap = Duration::ms(match test {
        2 | 3 => 12,
        4 | 5 => 15,
        _ => 14,
    });
    let every = Duration::ms(10);
    Ok(program.arrivals(400, every, every, Step::Arrive { flow: 0, len: 1000, ecn }).takes((1..=400).map(|i| gap * i)))
}

/// Programs of codel-queue-disc-test-suite.cc. 1: 503 packets into a limit of 500. 2: no packet is
/// ECN-capable. 3: the queue marks, and all are. 4: it marks above 2 ms, too, and only the first
/// three are. 5: the same with all ECN-capable. The second number is how many packets are asked
/// for, at 10, 210, 210 and 420 ms, or at 1, 3, 10 and 210 ms in 5.
fn codel(numbers: &[f64]) -> Result<Counts, Fault> {
    let (test, asked) = (numbers[0] as u32, numbers[1] as usize);
    let base = Program::new("codel", Limit::packets(500));
    let program = match test {
        1 => base.burst(503, 1500, Ecn::NotEct),
        2 => base.burst(20, 1000, Ecn::NotEct),
        3 => base.marking().burst(20, 1000, Ecn::Ect0),
        4 => base.marking().span("ce_threshold", 2).burst(3, 1000, Ecn::Ect0).burst(17, 1000, Ecn::NotEct),
        5 => base.marking().span("ce_threshold", 2).burst(20, 1000, Ecn::Ect0),
        other => return Err(unknown(other)),
    };
    let times = if test == 5 { [1, 3, 10, 210] } else { [10, 210, 210, 420] };
    program.takes(times.into_iter().take(asked).map(Duration::ms)).run(1)
}

/// At a rate at which a few packets take no time: ns-3's COBALT does not know the rate.
fn fast(mut program: Program) -> Program {
    program.rate = Rate::gbit(10);
    program
}

/// 200 packets, one every 10 ms, into COBALT with a limit of 100, from which nothing is taken.
fn cobalt_full(numbers: &[f64]) -> Result<Counts, Fault> {
    let in_bytes = numbers[0] > 0.0;
    let every = Duration::ms(10);
    let packet = Step::Arrive { flow: 0, len: 1500, ecn: Ecn::NotEct };
    fast(Program::new("cobalt", amount(100, 1500, in_bytes).1)).arrivals(200, every, every, packet).run(1)
}

/// Puts 20 ECN-capable packets into COBALT and asks for packets at the first `numbers[0]` of the
/// times 10, 210, 210 and 420 ms.
fn cobalt_marks(numbers: &[f64]) -> Result<Counts, Fault> {
    let times = [10, 210, 210, 420].into_iter().take(numbers[0] as usize).map(Duration::ms);
    fast(Program::new("cobalt", Limit::packets(500))).marking().burst(20, 1000, Ecn::Ect0).takes(times).run(1)
}

/// Fair queues by number: FQ-CoDel and FQ-PIE.
fn fair(number: f64) -> &'static str {
    if number > 0.0 { "fq-pie" } else { "fq-codel" }
}

/// Three packets of one flow and two of another into a limit of four: the packets left of the flow
/// that the second number names.
fn fq_left(numbers: &[f64]) -> Result<f64, Fault> {
    let mut program = Program::new(fair(numbers[0]), Limit::packets(4));
    for flow in [0, 0, 0, 1, 1] {
        program = program.arrivals(1, Duration::ZERO, Duration::ZERO, Step::Arrive { flow, len: 120, ecn: Ecn::NotEct });
    }
    if numbers[0] > 0.0 {
        program = program.switch("fat_flow_drop", true);
    }
    let counts = program.takes((0..5).map(|_| Duration::ZERO)).run(1)?;
    Ok(counts.order.iter().filter(|flow| f64::from(**flow) == numbers[1]).count() as f64)
}

/// A quantum of 90 bytes and packets of 120: one of the first flow passes, then two of each flow
/// wait. The flow (0 or 1) that leaves at this turn.
fn fq_turn(numbers: &[f64]) -> Result<f64, Fault> {
    let mut program = Program::new(fair(numbers[0]), Limit::packets(10_240))
        .with("quantum", Value::Size(Size::Bytes(90.0)))
        .with("header", Value::Size(Size::Bytes(0.0)));
    let mut add = |flow| {
        program.steps.push((Duration::ZERO, Step::Arrive { flow, len: 120, ecn: Ecn::NotEct }));
        if program.steps.len() == 1 {
            program.steps.push((Duration::ZERO, Step::Leave));
        }
    };
    [0, 0, 0, 1, 1].into_iter().for_each(&mut add);
    let counts = program.takes((0..4).map(|_| Duration::ZERO)).run(1)?;
    let turn = counts.order.get(numbers[1] as usize);
    turn.map(|flow| f64::from(*flow)).ok_or_else(|| Fault::NoValue("nothing leaves at this turn".to_owned()))
}

/// Token buckets of tbf-queue-disc-test-suite.cc under ten packets of 1000 bytes. 2 and 3: one
/// every 90 ms, asked for every 100 ms, with 10 and 5 kB/s and as many bytes of burst as flow in a
/// second. 4: one every 40 ms, with 15 kB/s, a burst of a second and a peak of 20 kB/s. Whether the
/// attempt with this number, counted from 1, brings a packet.
fn shaper_leaves(numbers: &[f64]) -> Result<f64, Fault> {
    let (test, attempt) = (numbers[0] as u32, numbers[1] as usize);
    let rate = |bytes_s: u64| Value::Rate(Rate::bit_s(bytes_s * 8));
    let size = |bytes: f64| Value::Size(Size::Bytes(bytes));
    let base = Program::new("shaper", Limit::packets(100));
    let step = |len| Step::Arrive { flow: 0, len, ecn: Ecn::NotEct };
    let arrive = Duration::ms;
    let (mut program, times): (Program, Vec<Duration>) = match test {
        2 | 3 => {
            let bytes_s = if test == 2 { 10_000 } else { 5000 };
            let own = base.with("rate", rate(bytes_s)).with("burst", size(bytes_s as f64)).with("peak", rate(100_000));
            let own = own.with("mtu", size(1000.0)).arrivals(10, arrive(180), arrive(90), step(1000));
            (own, (1..=10).map(|i| Duration::ms((i + 1) * 100)).collect())
        }
        4 => {
            let own = base.with("rate", rate(15_000)).with("burst", size(15_000.0));
            let own = own.with("peak", rate(20_000)).with("mtu", size(1000.0)).arrivals(10, arrive(80), arrive(40), step(1000));
            (own, (0..10).map(|i| Duration::ms(100 + i / 2 * 100 + i % 2 * 40)).collect())
        }
        other => return Err(unknown(other)),
    };
    (program.mtu, program.rate) = (1000, Rate::mbit(10));
    let counts = program.takes(times).run(1)?;
    let taken = counts.taken.get(attempt.wrapping_sub(1)).copied();
    taken.map(|taken| f64::from(u8::from(taken))).ok_or_else(|| Fault::NoValue("there is no such attempt".to_owned()))
}

/// Four packets into a FIFO for three: how many stay.
fn fifo_left(numbers: &[f64]) -> Result<f64, Fault> {
    Ok(Program::new("tail-drop", amount(3, 250, numbers[0] > 0.0).1).burst(4, 250, Ecn::NotEct).run(1)?.left)
}

/// Packets of three classes, mixed: how often a more urgent one leaves after a less urgent one.
fn priority_inversions() -> Result<f64, Fault> {
    let mut program = Program::new("priority", Limit::packets(100)).number("bands", 3.0);
    for flow in [0, 2, 1, 2, 0, 1] {
        program = program.arrivals(1, Duration::ZERO, Duration::ZERO, Step::Arrive { flow, len: 500, ecn: Ecn::NotEct });
    }
    let counts = program.takes((0..6).map(|_| Duration::ZERO)).run(1)?;
    if counts.order.len() != 6 {
        return Err(Fault::NoValue("not all packets left".to_owned()));
    }
    Ok(counts.order.windows(2).filter(|pair| pair[1] > pair[0]).count() as f64)
}
