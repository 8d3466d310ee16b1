//! The list of controls and the properties of all of them; [`Script`] drives a control step by
//! step.

use super::*;
use alloc::vec;
use alloc::vec::Vec;
use goodqueue_base::spec::{Unit, Value};
use goodqueue_base::units::{Duration, Rng};
use proptest::prelude::*;
use std::string::ToString;

pub(super) const MSS: u32 = 1_000;

/// A control with a clock that receives acknowledgements as a sender would pass them on.
#[derive(Clone)]
pub(super) struct Script {
    pub(super) cc: AnyCc,
    pub(super) now: Instant,
    pub(super) una: u64,
    pub(super) rtt: Duration,
    pub(super) needs: Needs,
}

impl Script {
    pub(super) fn new(kind: &'static str, params: &[(&'static str, Value)], exit: SlowStartExit, initial_window: u32) -> Self {
        let config = CcConfig { kind, params: params.to_vec() };
        let mut cc = AnyCc::new(&config, MSS, exit, Rng::new(1)).expect("valid settings");
        let needs = needs(kind).expect("a known kind");
        let now = Instant::from_nanos(1_000_000_000);
        cc.on_established(&Established { now, initial_window, srtt: Duration::ms(100), ecn: needs.ecn });
        Self { cc, now, una: 0, rtt: Duration::ms(100), needs }
    }

    pub(super) fn window(&self) -> u32 {
        (self.cc.cwnd().get() / u64::from(MSS)) as u32
    }

    pub(super) fn threshold(&self) -> u32 {
        (self.cc.ssthresh().get() / u64::from(MSS)) as u32
    }

    pub(super) fn sample(&self, delivered: u32, growth: Growth) -> AckSample {
        AckSample {
            now: self.now,
            delivered,
            growth,
            rtt: Some(self.rtt),
            srtt: self.rtt,
            min_rtt: self.rtt,
            una: self.una,
            nxt: self.una + u64::from(self.window()),
            in_flight: self.window(),
            marked: 0,
            state: State::Open,
        }
    }

    /// Sends one acknowledgement of `delivered` segments.
    pub(super) fn ack(&mut self, delivered: u32) {
        self.una += u64::from(delivered);
        self.pass_on(&self.sample(delivered, Growth::Allowed));
    }

    /// Passes a sample to the control, with half the round-trip time as one-way delay.
    pub(super) fn pass_on(&mut self, sample: &AckSample) {
        if self.needs.feedback == Feedback::Plain {
            self.cc.on_ack(sample);
            return;
        }
        let detail = Detail {
            rate: None,
            lost: 0,
            prior_in_flight: sample.in_flight,
            delivered_in_all: self.una,
            lost_in_all: 0,
            one_way_delay: self.rtt.div(2),
            next_release: self.now,
            window_limited: true,
            held_back: false,
        };
        self.cc.on_detailed_ack(sample, &detail);
    }

    /// Acknowledges one window, one segment at a time, spread over a round-trip time.
    pub(super) fn round(&mut self) {
        let window = self.window();
        for _ in 0..window {
            self.now += self.rtt.div(u64::from(window));
            self.ack(1);
        }
    }

    pub(super) fn congestion(&self) -> Congestion {
        Congestion { now: self.now, flight: self.window() }
    }

    pub(super) fn lose(&mut self) {
        self.cc.on_loss(&self.congestion());
    }

    pub(super) fn time_out(&mut self, response: Response) {
        let flight = self.window();
        self.cc.on_rto(&Timeout { now: self.now, flight, in_flight: 0, nxt: self.una + u64::from(flight), response });
    }
}

/// Controls that change their window on events; the others follow a model of the path.
fn by_events() -> impl Iterator<Item = &'static ControlSpec> {
    kinds().iter().filter(|spec| spec.needs.start == Start::Slow)
}

#[test]
fn every_listed_control_can_be_built_with_its_defaults() {
    for spec in kinds() {
        let script = Script::new(spec.kind, &[], SlowStartExit::Native, 10);
        assert_eq!(script.window(), 10, "{}", spec.kind);
        assert!(!spec.summary.is_empty() && !spec.source.is_empty());
        for param in spec.params {
            let default = param.default_value().expect("controls have plain defaults");
            assert_eq!(param.check(default), Ok(()), "{}", spec.kind);
            let ends = [(param.range.0, 0), (param.range.1, 1)].map(|(end, word)| match param.unit {
                Unit::Duration => Value::Duration(Duration::from_secs_f64(end)),
                Unit::Switch => Value::Switch(end > 0.0),
                Unit::Choice(words) => Value::Choice(words[word]),
                _ => Value::Number(end),
            });
            for value in ends {
                Script::new(spec.kind, &[(param.name, value)], SlowStartExit::Native, 10);
            }
        }
    }
}

#[test]
fn settings_that_do_not_exist_or_fit_are_named() {
    let build = |kind, params: Vec<(&'static str, Value)>| {
        AnyCc::new(&CcConfig { kind, params }, MSS, SlowStartExit::Native, Rng::new(1)).map(|_| ()).unwrap_err().to_string()
    };
    assert!(build("vegas", vec![]).contains("reno, cubic"));
    assert_eq!(build("reno", vec![("gamma", Value::Number(1.0))]), "cc.gamma: `reno` has no such parameter");
    assert_eq!(build("reno", vec![("beta", Value::Number(2.0))]), "cc.beta: 2 is out of range: allowed 0.1 to 0.99");
    assert!(build("reno", vec![("beta", Value::Number(f64::NAN))]).contains("NaN"));
    let config = CcConfig { kind: "bbr", params: vec![] };
    let refused = AnyCc::new(&config, MSS, SlowStartExit::HystartPlusPlus, Rng::new(1)).map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "slow_start_exit: `bbr` starts in its own way; leave it \"native\"");
}

#[test]
fn a_held_window_does_not_grow() {
    for spec in by_events() {
        let mut script = Script::new(spec.kind, &[], SlowStartExit::Native, 10);
        for _ in 0..100 {
            let sample = script.sample(2, Growth::Held);
            script.pass_on(&AckSample { state: State::Recovery, ..sample });
        }
        assert_eq!(script.window(), 10, "{}", spec.kind);
    }
}

#[test]
fn an_undone_reduction_gives_the_window_back() {
    for spec in by_events() {
        let mut script = Script::new(spec.kind, &[], SlowStartExit::LossOnly, 100);
        script.lose();
        script.ack(0);
        assert!(script.window() < 100);
        script.cc.on_undo(script.now);
        assert_eq!(script.window(), 100, "{}", spec.kind);
    }
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Ack(u32, u64),
    Loss,
    Mark,
    Timeout(Response),
    Undo,
    Idle(u64),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        20 => (1u32..50, 1u64..2_000).prop_map(|(n, ms)| Operation::Ack(n, ms)),
        1 => Just(Operation::Loss),
        1 => Just(Operation::Mark),
        1 => prop_oneof![Just(Response::Reduce), Just(Response::Repeat)].prop_map(Operation::Timeout),
        1 => Just(Operation::Undo),
        1 => (1u64..3_600).prop_map(Operation::Idle),
    ]
}

proptest! {
    /// Checks that, whatever happens, the window is positive, and reductions never raise it.
    #[test]
    fn no_life_breaks_a_control(
        kind in 0..kinds().len(),
        exit in prop_oneof![Just(SlowStartExit::Native), Just(SlowStartExit::LossOnly), Just(SlowStartExit::HystartPlusPlus)],
        life in proptest::collection::vec(operation(), 1..300),
    ) {
        let spec = &kinds()[kind];
        let exit = if spec.needs.start == Start::Own { SlowStartExit::Native } else { exit };
        let mut script = Script::new(spec.kind, &[], exit, 10);
        for step in life {
            let before = script.window();
            match step {
                Operation::Ack(delivered, ms) => {
                    script.rtt = Duration::ms(ms);
                    script.now += Duration::ms(1);
                    script.ack(delivered);
                    if spec.needs == Needs::PLAIN && spec.kind != "compound" {
                        prop_assert!(script.window() >= before && script.window() <= before + delivered);
                    }
                }
                Operation::Loss => script.lose(),
                Operation::Mark => script.cc.on_ecn(&script.congestion()),
                Operation::Timeout(response) => script.time_out(response),
                Operation::Undo => script.cc.on_undo(script.now),
                Operation::Idle(seconds) => {
                    script.now += Duration::secs(seconds);
                    script.cc.on_sent(&Sent { now: script.now, silence: Duration::secs(seconds) });
                }
            }
            prop_assert!(script.window() >= 1);
            if matches!(step, Operation::Loss | Operation::Mark | Operation::Timeout(_)) {
                prop_assert!(script.window() <= before.max(2));
            }
        }
    }
}
