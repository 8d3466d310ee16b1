use super::*;
use crate::{Endpoint, Network, Transmit};
use goodqueue_base::units::Ecn;
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Plan;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// 12 Mbit/s, so that 1500 bytes take a millisecond, 5 ms each way, and our TCP alongside.
fn spec(more: &str) -> WorldSpec {
    spec_with(more, &[])
}

/// The scenario of `spec` with other settings.
fn spec_with(more: &str, settings: &[(&str, &str)]) -> WorldSpec {
    let text = format!(
        "goodqueue = 1\nduration = '1 s'\naccess = {{ rate = '1 Gbit/s', delay = '0 s' }}\n\
         link.line = {{ rate = '12 Mbit/s', delay = '5 ms', buffer = '20 packets' }}\n{more}\n\
         [[traffic]]\nname = 'mine'\nkind = 'bulk'\nstart = '10 ms'\n"
    );
    let settings: Vec<(String, String)> = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let plan = Plan::parse("test", &text, Path::new("")).and_then(|plan| plan.with_overrides(&settings)).expect("a scenario");
    build::world(&plan.points().expect("points")[0], 0)
}

/// The arrivals that a scripted endpoint has seen.
type Seen = Rc<RefCell<Vec<(Instant, Vec<u8>, Ecn)>>>;

/// Sends what its script says, one entry for each poll that may send, and writes down what arrives.
#[derive(Default)]
struct Scripted {
    script: Vec<(Vec<u8>, Transmit)>,
    timeout: Option<Instant>,
    seen: Seen,
    endless: bool,
    delivered: u64,
}

impl Endpoint for Scripted {
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        self.delivered += datagram.payload.len() as u64;
        self.seen.borrow_mut().push((now, datagram.payload.to_vec(), datagram.ecn));
    }

    fn poll_transmit(&mut self, _: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if self.script.is_empty() {
            return None;
        }
        let (bytes, transmit) = if self.endless { self.script[0].clone() } else { self.script.remove(0) };
        buffer.extend(bytes);
        Some(transmit)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.timeout
    }

    fn delivered_bytes(&self) -> Option<u64> {
        Some(self.delivered)
    }
}

fn run(spec: &WorldSpec, make: &(dyn Fn() -> Ends + Sync)) -> Result<Outcome, NetError> {
    Network::new(spec).attach("mine", &|_| Ok(make())).expect("the group").run(&mut |_| Continue::Yes)
}

fn fault(source: fn() -> Scripted) -> String {
    run(&spec(""), &|| Ends::new(source(), Scripted::default())).expect_err("a fault").to_string()
}

fn sends(bytes: usize, transmit: Transmit) -> Scripted {
    Scripted { script: vec![(vec![7; bytes], transmit)], ..Scripted::default() }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::ms(millis)
}

thread_local! {
    /// The arrivals that the sink of a test has seen; the endpoints themselves are gone when a run
    /// has ended.
    static SEEN: Seen = Seen::default();
}

fn watched() -> Scripted {
    let seen = SEEN.with(Rc::clone);
    seen.borrow_mut().clear();
    Scripted { seen, ..Scripted::default() }
}

fn seen() -> Vec<(Instant, Vec<u8>, Ecn)> {
    SEEN.with(|seen| seen.borrow().clone())
}

#[test]
fn datagrams_cross_the_line_with_their_bytes_and_codepoint() {
    let transmit = Transmit { ecn: Ecn::Ect1, ..Transmit::NOW };
    let outcome = run(&spec(""), &|| Ends::new(sends(1472, transmit), watched())).expect("a run");
    let [(when, bytes, ecn)] = &seen()[..] else { panic!("one datagram") };
    // A millisecond on the line, two times 12 us and jitter on access links, and the delay.
    assert!(when.since(at(16)) < Duration::us(100), "{when:?}");
    assert_eq!((bytes.as_slice(), *ecn), (&[7; 1472][..], Ecn::Ect1));
    assert_eq!((outcome.flows[0].delivered_bytes, outcome.flows[0].sent_packets), (1472, 1));
}

#[test]
fn segments_of_one_buffer_are_datagrams() {
    let transmit = Transmit { segment_size: Some(1000), ..Transmit::NOW };
    run(&spec(""), &|| Ends::new(sends(2500, transmit), watched())).expect("a run");
    assert_eq!(seen().iter().map(|(_, bytes, _)| bytes.len()).collect::<Vec<_>>(), [1000, 1000, 500]);
}

#[test]
fn what_leaves_later_waits_and_is_not_overtaken() {
    let later = |millis| Transmit { at: Some(at(millis)), ..Transmit::NOW };
    run(&spec(""), &|| {
        let script = vec![(vec![1; 100], later(50)), (vec![2; 100], later(20)), (vec![3; 100], later(90))];
        Ends::new(Scripted { script, ..Scripted::default() }, watched())
    })
    .expect("a run");
    let arrivals: Vec<(u8, u64)> = seen().iter().map(|(when, bytes, _)| (bytes[0], when.as_nanos() / 1_000_000)).collect();
    assert_eq!(arrivals, [(1, 55), (2, 55), (3, 95)]);
}

#[test]
fn what_is_larger_than_the_path_vanishes() {
    let outcome = run(&spec(""), &|| Ends::new(sends(1473, Transmit::NOW), watched())).expect("a run");
    assert_eq!((seen().len(), outcome.flows[0].sent_packets), (0, 0));
}

#[test]
fn a_queue_drops_what_does_not_fit() {
    let outcome = run(&spec(""), &|| {
        let script = (0..40).map(|_| (vec![0; 1472], Transmit::NOW)).collect();
        Ends::new(Scripted { script, ..Scripted::default() }, watched())
    })
    .expect("a run");
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent_packets, flow.dropped_packets.map(|lost| lost + seen().len() as u64)), (40, Some(40)));
    assert!(flow.dropped_packets > Some(10), "{flow:?}");
}

#[test]
fn impossible_sizes_are_named() {
    assert_eq!(
        fault(|| sends(70_000, Transmit::NOW)),
        "mine[0], source, at 0.010000000 s: sends a datagram of 70000 bytes: the largest has 65507"
    );
    assert!(fault(|| sends(100, Transmit { segment_size: Some(0), ..Transmit::NOW })).contains("in segments of 0: allowed"));
    assert!(fault(|| sends(65, Transmit { segment_size: Some(1), ..Transmit::NOW })).contains("sends 65 bytes in segments of 1"));
}

#[test]
fn the_past_is_refused() {
    let past = fault(|| sends(100, Transmit { at: Some(at(9)), ..Transmit::NOW }));
    assert_eq!(past, "mine[0], source, at 0.010000000 s: sends 0.001000000 s in the past");
}

#[test]
fn endpoints_that_never_become_idle_are_ended() {
    let spins = fault(|| Scripted { timeout: Some(Instant::ZERO), ..Scripted::default() });
    assert!(spins.contains("does not become idle: 100000 calls at one instant"), "{spins}");
    let floods = fault(|| Scripted { endless: true, ..sends(0, Transmit::NOW) });
    assert!(floods.ends_with("sends more than 100000 datagrams at one instant"), "{floods}");
    let large = fault(|| Scripted { endless: true, ..sends(65_507, Transmit::NOW) });
    assert!(large.contains("bytes under way, 256 for each datagram included: allowed 209715200"), "{large}");
}

#[test]
fn empty_datagrams_that_wait_are_bounded() {
    /// Writes a thousand datagrams each microsecond, for the end of time.
    struct Hoards {
        left: u32,
        next: Instant,
    }
    impl Endpoint for Hoards {
        fn handle(&mut self, _: Instant, _: Datagram<'_>) {}
        fn poll_transmit(&mut self, _: Instant, _: &mut Vec<u8>) -> Option<Transmit> {
            self.left = self.left.checked_sub(1)?;
            Some(Transmit { at: Some(Instant::MAX), ..Transmit::NOW })
        }
        fn poll_timeout(&mut self) -> Option<Instant> {
            Some(self.next)
        }
        fn handle_timeout(&mut self, now: Instant) {
            (self.left, self.next) = (1000, now + Duration::us(1));
        }
    }
    let hoards = || Ends::new(Hoards { left: 0, next: at(10) }, Scripted::default());
    let error = run(&spec(""), &hoards).expect_err("a fault").to_string();
    // 209715200 / 256 = 819200 of them.
    assert_eq!(
        error,
        "mine[0], source, at 0.010819000 s: has 209715456 bytes under way, 256 for each datagram included: allowed 209715200"
    );
}

/// Sends datagrams with their number, twice as fast as the line is.
struct Numbered {
    next: Instant,
    number: u32,
}

impl Endpoint for Numbered {
    fn handle(&mut self, _: Instant, _: Datagram<'_>) {}

    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if now < self.next {
            return None;
        }
        (self.next, self.number) = (now + Duration::us(500), self.number + 1);
        buffer.extend(self.number.to_le_bytes());
        buffer.resize(1472, 0);
        Some(Transmit::NOW)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        Some(self.next)
    }
}

#[test]
fn datagrams_of_a_flow_arrive_once_and_in_their_order() {
    for queue in ["tail-drop", "codel", "fq-codel", "pie", "dualpi2", "red", "cake"] {
        let cross = "[[traffic]]\nname = 'cross'\nkind = 'bulk'\ncc = 'cubic'\n";
        let spec = spec_with(cross, &[("link.line.queue", queue), ("link.line.loss", "0.05")]);
        run(&spec, &|| Ends::new(Numbered { next: Instant::ZERO, number: 0 }, watched())).expect("a run");
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let numbers: Vec<u32> = seen().iter().map(|(_, bytes, _)| number(bytes)).collect();
        // Two thousand sent in a second, of which the line carries a thousand at most.
        assert!((300..=1000).contains(&numbers.len()), "{queue}: {}", numbers.len());
        assert!(numbers.is_sorted_by(|one, next| one < next), "{queue}: {numbers:?}");
    }
}

#[test]
fn a_source_that_does_nothing_and_one_that_panics_are_named() {
    assert_eq!(
        fault(Scripted::default),
        "mine[0], source, at 1.000000000 s: has sent nothing since the flow's start, and waits for no timeout"
    );
    struct Panics;
    impl Endpoint for Panics {
        fn handle(&mut self, _: Instant, _: Datagram<'_>) {
            panic!("cannot\nread this");
        }
        fn poll_transmit(&mut self, _: Instant, _: &mut Vec<u8>) -> Option<Transmit> {
            None
        }
        fn poll_timeout(&mut self) -> Option<Instant> {
            None
        }
    }
    let error = run(&spec(""), &|| Ends::new(sends(100, Transmit::NOW), Panics)).expect_err("a panic").to_string();
    assert!(error.starts_with("mine[0], sink, at 0.015") && error.ends_with("panicked: cannot read this"), "{error}");
}

#[test]
fn groups_that_cannot_be_taken_are_named() {
    let spec = spec("[[traffic]]\nname = 'calls'\nkind = 'cbr'\nrate = '1 Mbit/s'\n");
    let make = |_: &crate::FlowFacts<'_>| Ok(Ends::new(Scripted::default(), Scripted::default()));
    let unknown = Network::new(&spec).attach("yours", &make).err().expect("no such group");
    assert_eq!(unknown.to_string(), "the world has no group `yours`: it has `calls`, `mine`");
    let udp = Network::new(&spec).attach("calls", &make).expect("a group").run(&mut |_| Continue::Yes);
    assert_eq!(udp.expect_err("UDP").to_string(), "calls[0]: only plain TCP flows can have their ends outside");
    let refused = |_: &crate::FlowFacts<'_>| Err("no key".into());
    let refused = Network::new(&spec).attach("mine", &refused).expect("a group").run(&mut |_| Continue::Yes);
    assert_eq!(refused.expect_err("refused").to_string(), "mine[0]: no key");
}
