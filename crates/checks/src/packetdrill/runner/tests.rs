use super::*;
use crate::packetdrill::parse;
use crate::packetdrill::script::Call;
use crate::packetdrill::shell::Setting;
use crate::packetdrill::stack::{Compared, Returned};
use proptest::prelude::*;

/// A stack that sends planned packets at planned times.
#[derive(Default)]
struct Told {
    plan: VecDeque<(Instant, Packet)>,
    inbound: Vec<Packet>,
    push: Option<Compared>,
    /// A call returns from this time on.
    returns: Instant,
}

impl Stack for Told {
    fn configure(&mut self, setting: &Setting) -> Result<(), NotModelled> {
        Err(NotModelled(setting.name.clone()))
    }

    fn call(&mut self, now: Instant, call: &Call) -> Result<Returned, NotModelled> {
        if now < self.returns {
            return Ok(Returned::Blocked);
        }
        match call.name.as_str() {
            "socket" => Ok(Returned::Value(77)),
            "same" => Ok(Returned::Value(call.arguments[0].as_integer().unwrap_or(-1))),
            "fails" => Ok(Returned::Error("EAGAIN")),
            other => Err(NotModelled::new(other)),
        }
    }

    fn handle_packet(&mut self, _: Instant, packet: &Packet) -> Result<(), NotModelled> {
        self.inbound.push(packet.clone());
        Ok(())
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        let due = self.plan.front().is_some_and(|(at, _)| *at <= now);
        due.then(|| self.plan.pop_front()).flatten().map(|(_, packet)| packet)
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.plan.front().map(|(at, _)| *at)
    }

    fn handle_timeout(&mut self, _: Instant) -> Result<(), NotModelled> {
        Ok(())
    }

    fn info(&self, _: Instant, field: &str) -> Result<f64, NotModelled> {
        if field == "tcpi_snd_cwnd" { Ok(10.0) } else { Err(NotModelled::new(field)) }
    }

    fn push(&self) -> Compared {
        self.push.unwrap_or(Compared::Yes)
    }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::ms(millis)
}

fn data(seq: u32, len: u32) -> Packet {
    Packet { seq, len, ack: 1, flags: TcpFlags::ACK, ..Packet::default() }
}

fn told(plan: Vec<(u64, Packet)>) -> Told {
    Told { plan: plan.into_iter().map(|(millis, packet)| (at(millis), packet)).collect(), ..Told::default() }
}

fn judge(text: &str, mut stack: Told) -> Verdict {
    run(&parse(text).unwrap(), &mut stack, &Settings::default())
}

fn says(text: &str, stack: Told) -> String {
    judge(text, stack).to_string()
}

#[test]
fn a_segment_may_be_off_by_the_tolerance_and_no_more() {
    let script = "0.1 > . 1:1001(1000) ack 1";
    // 12.5 % of 100 ms is more than 4 ms.
    for (millis, passes) in [(88, true), (87, false), (112, true), (113, false)] {
        assert_eq!(judge(script, told(vec![(millis, data(1, 1000))])) == Verdict::Pass, passes, "{millis}");
    }
    let text = says("0.02 > . 1:1001(1000) ack 1", told(vec![(25, data(1, 1000))]));
    assert_eq!(text, "fails: line 1: time: expected 0.020000 s (± 4 ms), got 0.025000 s");
    let narrow = "--tolerance_usecs=1000\n--tolerance_percent=0\n0.1 > . 1:1001(1000) ack 1";
    assert_eq!(judge(narrow, told(vec![(101, data(1, 1000))])), Verdict::Pass);
    assert_ne!(judge(narrow, told(vec![(102, data(1, 1000))])), Verdict::Pass);
}

#[test]
fn ranges_and_any_time_are_kept() {
    let range = "+.1~+.2 > . 1:1001(1000) ack 1";
    for (millis, passes) in [(80, false), (96, true), (204, true), (230, false)] {
        assert_eq!(judge(range, told(vec![(millis, data(1, 1000))])) == Verdict::Pass, passes, "{millis}");
    }
    assert_eq!(judge("* > . 1:1001(1000) ack 1", told(vec![(90_000, data(1, 1000))])), Verdict::Pass);
}

#[test]
fn a_large_segment_may_leave_in_several() {
    let parts = || told(vec![(0, data(1, 1000)), (1, data(1001, 1000)), (1, data(2001, 500))]);
    assert_eq!(judge("0 > . 1:2501(2500) ack 1", parts()), Verdict::Pass);
    let strict = "--strict_segments\n0 > . 1:2501(2500) ack 1";
    assert_eq!(says(strict, parts()), "fails: line 2: segment: expected . 1:2501(2500) ack 1, got . 1:1001(1000) ack 1");
    let hole = told(vec![(0, data(1, 1000)), (0, data(2001, 500))]);
    assert_eq!(
        says("0 > . 1:2501(2500) ack 1", hole),
        "fails: line 1: segment: expected . 1:2501(2500) ack 1, got . 1:1001(1000) ack 1, then . 2001:2501(500) ack 1"
    );
}

#[test]
fn the_first_difference_is_named() {
    let one = |packet: Packet| told(vec![(0, packet)]);
    for (script, packet, message) in [
        ("0 > P. 1:2(1) ack 1", data(1, 1), "flags: expected P. 1:2(1) ack 1, got . 1:2(1) ack 1"),
        ("0 > . 1:2(1) ack 2", data(1, 1), "acknowledgement: expected . 1:2(1) ack 2, got . 1:2(1) ack 1"),
        ("0 > [ect0] . 1:2(1) ack 1", data(1, 1), "ECN codepoint: expected [ect0] . 1:2(1) ack 1, got . 1:2(1) ack 1"),
        ("0 > . 1:2(1) ack 1 win 5", data(1, 1), "window: expected . 1:2(1) ack 1 win 5, got . 1:2(1) ack 1 win 0"),
        ("0 > . 1:2(1) ack 1 <nop>", data(1, 1), "options: expected . 1:2(1) ack 1 <nop>, got . 1:2(1) ack 1"),
        ("0 > . 1:2(1) ack 1", data(2, 1), "segment: expected . 1:2(1) ack 1, got . 2:3(1) ack 1"),
    ] {
        assert_eq!(says(script, one(packet)), format!("fails: line 1: {message}"));
    }
    assert_eq!(says("0 > . 1:2(1) ack 1", told(vec![])), "fails: line 1: segment: expected . 1:2(1) ack 1, got none");
    let ignoring = Told { push: Some(Compared::No), ..one(data(1, 1)) };
    assert_eq!(judge("0 > P. 1:2(1) ack 1 <...>", ignoring), Verdict::Pass);
}

#[test]
fn numbers_and_timestamps_are_relative_to_the_first_ones() {
    let stamped = |seq: u32, len: u32, flags, value| Packet {
        options: vec![TcpOption::Timestamp { value, echo: 0 }],
        flags,
        ..data(seq, len)
    };
    let isn = 0xffff_fff0;
    let mut stack =
        told(vec![(0, stamped(isn, 0, TcpFlags::SYN, 5000)), (100, stamped(isn.wrapping_add(1), 1000, TcpFlags::ACK, 5100))]);
    let script = parse(
        "--tcp_ts_tick_usecs=1000\n0 > S 0:0(0) <TS val 100 ecr 0>\n\
         .1 > . 1:1001(1000) ack 1 <TS val 200 ecr 0>\n\
         +0 < . 1:1(0) ack 1001 win 9 <TS val 7 ecr 200,sack 2001:3001>\n+0 < . 1:1(0) ack 1001 win 9 <TS val 7 ecr 150>",
    );
    assert_eq!(run(&script.unwrap(), &mut stack, &Settings::default()), Verdict::Pass);
    assert_eq!(stack.inbound[0].ack, isn.wrapping_add(1001));
    assert_eq!(stack.inbound[0].timestamp(), Some((7, 5100)));
    assert_eq!(stack.inbound[0].sack(), [(isn.wrapping_add(2001), isn.wrapping_add(3001))]);
    // Not named before: as far from the first one as in the script.
    assert_eq!(stack.inbound[1].timestamp(), Some((7, 5050)));
}

#[test]
fn calls_are_compared_and_descriptors_translated() {
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 same(3) = 77\n+0 same(4) = 4\n+0 fails(3) = -1 EAGAIN (x)";
    assert_eq!(judge(text, told(vec![])), Verdict::Pass);
    assert_eq!(judge("0 fails(4) = -1 EWOULDBLOCK (x)", told(vec![])), Verdict::Pass);
    assert_eq!(says("0 same(4) = 5", told(vec![])), "fails: line 1: call: expected same = 5, got 4");
    assert_eq!(says("0 fails(4) = 5", told(vec![])), "fails: line 1: call: expected fails = 5, got -1 EAGAIN");
    assert_eq!(says("0 strange(4) = 5", told(vec![])), "does not apply: line 1: strange");
}

#[test]
fn a_call_that_blocks_returns_when_it_should() {
    let stack = |millis| Told { returns: at(millis), ..told(vec![(50, data(1, 1))]) };
    let text = "0...0.05 same(4) = 4\n0.05 > . 1:2(1) ack 1";
    assert_eq!(judge(text, stack(50)), Verdict::Pass);
    assert_eq!(says(text, stack(0)), "fails: line 1: call: expected same blocks until 0.050000 s, got it returns at once");
    assert_eq!(says(text, stack(90)), "fails: line 1: call: expected same returns, got it blocks at the end of the script");
    assert_eq!(says("0 same(4) = 4", stack(9)), "fails: line 1: call: expected same returns 4, got it blocks");
}

#[test]
fn code_sees_the_state_and_keeps_variables() {
    let text = "0 %{ cwnd = 4 }%\n+0 %{ cwnd += 6; assert tcpi_snd_cwnd == cwnd, cwnd }%";
    assert_eq!(judge(text, told(vec![])), Verdict::Pass);
    assert_eq!(
        says("0 %{\nassert tcpi_snd_cwnd > 10, tcpi_snd_cwnd\n}%", told(vec![])),
        "fails: line 2: assertion: expected tcpi_snd_cwnd > 10, got tcpi_snd_cwnd = 10"
    );
    assert_eq!(says("0 %{ assert tcpi_fancy == 1 }%", told(vec![])), "does not apply: line 1: tcpi_fancy");
}

#[test]
fn what_is_not_modelled_does_not_pass() {
    for (text, message) in [
        ("`sysctl -q net.ipv4.tcp_sack=0`\n0 same(1) = 1", "line 1: net.ipv4.tcp_sack"),
        ("`rm x`\n0 same(1) = 1", "line 1: the command `rm x`"),
        ("--wire_client\n0 same(1) = 1", "line 1: --wire_client="),
        ("0 < icmp unreachable", "line 1: icmp packets"),
        ("0 < . 1:1(0) ack 1", "line 1: an inbound segment without a window"),
    ] {
        assert_eq!(says(text, told(vec![])), format!("does not apply: {message}"));
    }
}

#[test]
fn a_stack_that_never_rests_is_stopped() {
    struct Restless;
    impl Stack for Restless {
        fn configure(&mut self, _: &Setting) -> Result<(), NotModelled> {
            Ok(())
        }
        fn call(&mut self, _: Instant, _: &Call) -> Result<Returned, NotModelled> {
            Ok(Returned::Value(0))
        }
        fn handle_packet(&mut self, _: Instant, _: &Packet) -> Result<(), NotModelled> {
            Ok(())
        }
        fn poll_transmit(&mut self, _: Instant) -> Option<Packet> {
            Some(Packet::default())
        }
        fn next_timeout(&self) -> Option<Instant> {
            Some(Instant::ZERO)
        }
        fn handle_timeout(&mut self, _: Instant) -> Result<(), NotModelled> {
            Ok(())
        }
        fn info(&self, _: Instant, field: &str) -> Result<f64, NotModelled> {
            Err(NotModelled::new(field))
        }
    }
    let script = parse("0 foo() = 0").unwrap();
    assert!(matches!(run(&script, &mut Restless, &Settings::default()), Verdict::Fail(Difference { what: "work", .. })));
}

proptest! {
    #[test]
    fn no_script_is_too_strange_for_our_stack(
        lines in prop::collection::vec(
            prop_oneof![
                Just("+.01 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>"),
                Just("+.01 < . 1:1(0) ack 1 win 257"),
                Just("+.1 < . 1:1001(1000) ack 1 win 257"),
                Just("+.1 < . 2001:3001(1000) ack 1 win 257"),
                Just("+.1 < [ce] . 1:3001(3000) ack 3001 win 257 <sack 1:4294967295 4294967295:1,nop,nop>"),
                Just("+.1 < . 1:1(0) ack 2001 win 65535 <sack 5001:6001 3001:4001,nop,nop>"),
                Just("+.1 < E. 1:1(0) ack 4294967295 win 1"),
                Just("+.1 < F. 1:1(0) ack 1 win 257"),
                Just("+0 > S. 0:0(0) ack 1 <...>"),
                Just("* > . 1:1001(1000) ack 1 <...>"),
                Just("+0 accept(3, ..., ...) = 4"),
                Just("+0 connect(3, ..., ...) = 0"),
                Just("+0 write(4, ..., 2147483647) = 2147483647"),
                Just("+0 write(4, ..., 100) = 100"),
                Just("+0 close(4) = 0"),
                Just("+100 %{ assert tcpi_snd_cwnd >= 1 and tcpi_unacked >= 0 }%"),
            ],
            1..30,
        ),
        strict in any::<bool>(),
    ) {
        let open = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = 0\n";
        let option = if strict { "--strict_segments\n" } else { "" };
        let script = parse(&format!("{option}{open}{}", lines.join("\n"))).unwrap();
        let _ = run(&script, &mut crate::packetdrill::goodqueue::Goodqueue::new(), &Settings::default());
    }
}
