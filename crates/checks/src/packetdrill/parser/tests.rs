use super::*;
use crate::packetdrill::script::{EcnCheck, ScriptPacket, Value};
use goodqueue_base::units::Ecn;
use goodqueue_tcp::wire::{TcpFlags, TcpOption};
use proptest::prelude::*;

fn only(text: &str) -> Event {
    let script = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(script.events.len(), 1, "{text}");
    script.events.into_iter().next().unwrap()
}

fn packet(text: &str) -> ScriptPacket {
    match only(text).action {
        Action::Inbound(packet) | Action::Outbound(packet) => packet,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_form_of_time_is_read() {
    let us = Duration::us;
    for (text, time) in [
        ("0 `x`\n0 `x`", EventTime::Absolute(us(0))),
        ("1.5 > . 1:1(0) ack 1", EventTime::Absolute(us(1_500_000))),
        ("+.1 > . 1:1(0) ack 1", EventTime::Relative(us(100_000))),
        ("* > . 1:1(0) ack 1", EventTime::Any),
        ("0.1~0.2 > . 1:1(0) ack 1", EventTime::AbsoluteRange(us(100_000), us(200_000))),
        ("+0~+0.1 > . 1:1(0) ack 1", EventTime::RelativeRange(us(0), us(100_000))),
    ] {
        assert_eq!(parse(text).unwrap().events[0].time, time, "{text}");
    }
}

#[test]
fn segments_are_read_with_all_their_parts() {
    let full =
        packet("0 < [ce] P. 1:1001(1000) ack 5 win 257 urg 3 <nop,eol,mss 1460,wscale 7,sackOK,sack 1:2 3:4,TS val 1 ecr 2>");
    assert_eq!(full.ecn, Some(EcnCheck::Exactly(Ecn::Ce)));
    assert_eq!(full.flags, TcpFlags::PSH.with(TcpFlags::ACK));
    assert_eq!((full.seq, full.len, full.ack, full.window, full.urgent), (1, 1000, 5, Some(257), 3));
    let options = full.options.unwrap();
    assert_eq!(options[5], TcpOption::Sack(vec![(1, 2), (3, 4)]));
    assert_eq!(options[6], TcpOption::Timestamp { value: 1, echo: 2 });
    assert_eq!(packet("0 > S. 0:0(0) ack 1 <...>").options, None);
    assert_eq!(packet("0 > - 0:0(0)").flags, TcpFlags::NONE);
    assert_eq!(packet("0 > 80 > 1234 . 1:1(0) ack 1").seq, 1);
    assert_eq!(packet("0 > [ect01] . 1:1(0) ack 1").ecn, Some(EcnCheck::EitherEct));
}

#[test]
fn accurate_ecn_has_letters_a_counter_and_an_option() {
    assert_eq!(packet("0 > SEWA 0:0(0)").flags.ace(), 7);
    assert_eq!(packet("0 > .5 1:1(0) ack 1").flags, packet("0 > EA. 1:1(0) ack 1").flags);
    assert_eq!(packet("0 > P5. 1:1(0) ack 1").flags, packet("0 > EAP. 1:1(0) ack 1").flags);
    let options = packet("0 > . 1:1(0) ack 1 <ECN e1b 1 ceb 0 e0b 5,nop>").options.unwrap();
    assert_eq!(options[0], TcpOption::AccEcn { first: Ecn::Ect1, counters: vec![1, 0, 5] });
    assert_eq!(options[0].to_string(), "ECN e1b 1 ceb 0 e0b 5");
    let options = packet("0 > . 1:1(0) ack 1 <ECN e0b 7 ceb 2,nop,nop,nop,ECN>").options.unwrap();
    assert_eq!(options[0], TcpOption::AccEcn { first: Ecn::Ect0, counters: vec![7, 2] });
    assert_eq!((options[0].len(), options[4].len()), (8, 2));
}

#[test]
fn a_segment_is_written_as_it_was_read() {
    for text in [
        "[ect0] P. 1:1001(1000) ack 1",
        "S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>",
        ". 1:1(0) ack 2001 win 320 <sack 1001:2001 4001:5001,nop,nop>",
        "S. 0:0(0) ack 1 <...>",
    ] {
        assert_eq!(packet(&format!("0 > {text}")).to_string(), text);
    }
}

#[test]
fn calls_are_read_with_arguments_results_and_errors() {
    let Action::Call(call) = only(
        "+.1...0.2 sendmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 40}], msg_flags=0}, MSG_MORE|MSG_EOR) = -1 EAGAIN (Try again)",
    )
    .action
    else {
        panic!("it is a call")
    };
    assert_eq!((call.name.as_str(), call.errno.as_deref()), ("sendmsg", Some("EAGAIN")));
    assert_eq!((call.result, call.end), (Value::Integer(-1), Some(Duration::ms(200))));
    assert_eq!(call.arguments[1].field("msg_iov").unwrap().to_string(), "[{..., 40}]");
    assert_eq!(call.arguments[2].words(), ["MSG_MORE", "MSG_EOR"]);
    only("0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)");
    only("0 bind(3, {sa_family = AF_INET, sin_port = htons(8080), sin_addr = inet_addr(\"192.0.2.1\")}, ...) = 0");
}

#[test]
fn options_commands_and_code_are_kept_apart() {
    let script = parse("--tolerance_usecs=10000 --define=N=7\n`first`\n0 %{ assert 1 }%\n+0 foo(N) = 0\n`last`").unwrap();
    assert_eq!(script.options[0].value, "10000");
    assert_eq!(script.init.unwrap().1, "first");
    assert_eq!(script.cleanup.unwrap().1, "last");
    let Action::Call(call) = &script.events[1].action else { panic!("it is a call") };
    assert_eq!(call.arguments, [Value::Integer(7)]);
}

#[test]
fn what_is_no_tcp_is_recognized() {
    for text in [
        "0 < icmp unreachable frag_needed mtu 1000 [1:1461(1460)]",
        "0 > udp (100)",
        "0 < [1:1(0)] icmp x",
        "0 < ipv4 1.2.3.4 > 5.6.7.8: . 1:1(0) ack 1 win 1",
    ] {
        assert!(matches!(only(text).action, Action::Foreign(_)), "{text}");
    }
}

#[test]
fn every_fault_names_its_place_and_what_is_allowed() {
    for (text, message) in [
        ("", "1:1: the script has no event"),
        ("x", "1:1: expected the time of an event, found `x`"),
        ("0 < X 0:0(0)", "1:5: `X` in `X` is no flag: allowed F S R P U E W A and `.`"),
        ("0 < . 1:3(1) ack 1", "1:7: 1:3(1) is inconsistent: 1 and 1 is not 3"),
        ("0 < . 1:1(0) ack 1 win 70000", "1:24: the window is 70000: allowed 0 to 65535"),
        (
            "0 < . 1:1(0) ack 1 win 1 <foo>",
            "1:27: the option `foo` is unknown: allowed nop, eol, mss, wscale, sackOK, sack, TS, ECN, FO, FOEXP, md5",
        ),
        ("0 < . 1:1(0) ack 1 win 1 <...>", "1:31: `<...>` is for outbound packets"),
        ("0 < [ect01] . 1:1(0) ack 1", "1:13: [ect01] is for outbound packets"),
        ("0 < [x] . 1:1(0)", "1:6: `x` is unknown: allowed noecn, ect0, ect1, ce, ect01, tos, ttl, flowlabel"),
        ("* < . 1:1(0) ack 1 win 1", "1:1: `*` and ranges of time are for outbound packets"),
        ("+1~+.5 > . 1:1(0) ack 1", "1:1: the range of time ends before it begins"),
        ("1e9 foo() = 1", "1:5: expected `(`, found `foo`"),
        ("2000000 foo() = 1", "1:1: the time `2000000` is outside the range 0 to 1000000 s"),
        ("0 foo(1 = 2", "1:9: expected `,` or `)`, found `=`"),
        ("0 foo() = ", "1:11: expected a value, found the end of the script"),
        ("0 .. foo() = 1", "1:3: expected `<`, `>`, a call, a command or code, found `.`"),
        ("0 > .8 1:1(0) ack 1", "1:5: `.8` is no ACE counter: allowed .0 to .7"),
        ("0 > . 1:1(0) ack 1 <ECN e0b 1 e1b 2>", "1:31: expected `,` or `>`, found `e1b`"),
        ("0 > . 1:1(0) ack 1 <ECN ceb 1>", "1:25: expected `,` or `>`, found `ceb`"),
        ("0 > . 1:1(0) ack 1 <ECN e0b 16777216>", "1:29: the counter is 16777216: allowed 0 to 16777215"),
        ("--define=x\n0 foo() = 1", "1:1: expected --define=NAME=VALUE"),
        (
            "0 > . 1:1(0) ack 1 <nop,TS val 1 ecr 1,TS val 1 ecr 1,TS val 1 ecr 1,TS val 1 ecr 1>",
            "1:20: the options have 41 bytes: allowed are at most 40",
        ),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn nesting_and_sizes_are_bounded() {
    let deep = format!("0 foo({}1{}) = 0", "[".repeat(10_000), "]".repeat(10_000));
    assert!(parse(&deep).unwrap_err().to_string().ends_with("values are nested more than 32 deep"));
    let fields = format!("0 foo({}1) = 0", "a=".repeat(10_000));
    assert!(parse(&fields).unwrap_err().to_string().ends_with("values are nested more than 32 deep"));
    let wide = format!("0 foo({}1) = 0", "1,".repeat(10_000));
    assert!(parse(&wide).unwrap_err().to_string().ends_with("the list has more than 4096 values"));
    let long = "0 foo() = 0\n".repeat(100_001);
    let message = parse(&long[..crate::packetdrill::MAX_SCRIPT.min(long.len())]).map(|script| script.events.len());
    assert!(message.is_err() || message.is_ok_and(|events| events <= MAX_EVENTS));
    assert!(parse(&" ".repeat(crate::packetdrill::MAX_SCRIPT + 1)).unwrap_err().to_string().contains("allowed are at most"));
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "(?s)[ 0-9a-zA-Z.<>:()\\[\\]{}=|,+*~%`\"\n/-]{0,200}") {
        let _ = parse(&text);
    }
}
