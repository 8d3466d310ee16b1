use super::*;
use crate::Network;
use goodqueue_base::units::Duration;
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Plan;
use goodqueue_sim::{Continue, Outcome, WorldSpec};
use goodqueue_tcp::{Flags, SackBlock};
use std::path::Path;

fn spec(more: &str) -> WorldSpec {
    let text = format!(
        "goodqueue = 1\nduration = '10 s'\naccess = {{ rate = '1 Gbit/s', delay = '0 s' }}\n\
         link.line = {{ rate = '10 Mbit/s', delay = '10 ms', buffer = '10 packets' }}\n\
         [[traffic]]\nname = 'mine'\nkind = 'bulk'\ncc = 'cubic'\n{more}\n"
    );
    let plan = Plan::parse("test", &text, Path::new("")).expect("a scenario");
    build::world(&plan.point(0).expect("a point"), 0)
}

fn run(spec: &WorldSpec, make: impl Fn(&FlowFacts<'_>) -> Result<Ends, CcError> + Sync) -> Outcome {
    let make = |flow: &FlowFacts<'_>| Ok(make(flow)?);
    Network::new(spec).attach("mine", &make).expect("a group").run(&mut |_| Continue::Yes).expect("a run")
}

/// Bytes that differ from place to place.
fn text(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + at / 251) as u8).collect()
}

/// Writes a text once, and closes.
fn writer(mut text: Vec<u8>) -> impl FnMut(Instant, &mut Stream) -> Option<Instant> {
    move |_, stream| {
        if !text.is_empty() {
            stream.write(&std::mem::take(&mut text));
            stream.close();
        }
        None
    }
}

/// Collects bytes until the end, and compares them with a text.
struct Reader {
    expected: Vec<u8>,
    got: Vec<u8>,
    complete: bool,
}

impl Program for Reader {
    fn run(&mut self, _: Instant, stream: &mut Stream) -> Option<Instant> {
        self.got.extend(stream.read());
        self.complete = stream.has_ended();
        if self.complete {
            assert!(self.got == self.expected, "the bytes that were sent");
        }
        None
    }

    fn is_complete(&self) -> bool {
        self.complete
    }
}

fn reader(expected: Vec<u8>) -> Reader {
    Reader { expected, got: Vec::new(), complete: false }
}

#[test]
fn bytes_arrive_in_order_across_a_queue_that_drops() {
    let outcome = run(&spec(""), |flow| connect(flow, writer(text(1_000_000)), reader(text(1_000_000))));
    let flow = &outcome.flows[0];
    assert_eq!(flow.delivered_bytes, 1_000_000);
    assert!(flow.retransmitted_packets > 0 && flow.completion.is_some(), "{flow:?}");
}

#[test]
fn a_stream_takes_as_long_as_a_flow_of_the_simulator() {
    let ours = {
        let spec = spec("size = '500 kB'");
        let world = goodqueue_sim::World::new(&spec).expect("a world");
        world.run(&mut |_| Continue::Yes).flows[0].completion.expect("it completes").as_secs_f64()
    };
    let outcome = run(&spec(""), |flow| connect(flow, writer(text(500_000)), reader(text(500_000))));
    let foreign = outcome.flows[0].completion.expect("it completes").as_secs_f64();
    // That of the simulator ends when the source hears of the last byte.
    assert!((foreign / ours - 1.0).abs() < 0.1, "{foreign} s and {ours} s");
}

#[test]
fn programs_answer_one_another() {
    /// Asks ten times, a while after each answer.
    struct Asks {
        left: u32,
        next: Option<Instant>,
        waiting: usize,
    }
    impl Program for Asks {
        fn run(&mut self, now: Instant, stream: &mut Stream) -> Option<Instant> {
            let got = stream.read().len();
            self.waiting = self.waiting.saturating_sub(got);
            if got > 0 && self.waiting == 0 && self.left > 0 {
                self.next = Some(now + Duration::ms(50));
            }
            if self.left > 0 && self.waiting == 0 && self.next.is_none_or(|next| now >= next) {
                stream.write(b"5000");
                (self.left, self.waiting, self.next) = (self.left - 1, 5000, None);
            }
            self.next
        }
        fn is_complete(&self) -> bool {
            self.left == 0 && self.waiting == 0
        }
    }
    let answer = |_: Instant, stream: &mut Stream| {
        let request = stream.read();
        if !request.is_empty() {
            stream.write(&text(String::from_utf8_lossy(&request).parse().expect("a number")));
        }
        None
    };
    let asks = || Asks { left: 10, next: None, waiting: 0 };
    let outcome = run(&spec(""), |flow| connect(flow, asks(), answer));
    let completion = outcome.flows[0].completion.expect("it completes").as_secs_f64();
    // A handshake, ten round trips of 20 ms with 4 ms of transmission, and nine pauses.
    assert!((0.70..0.80).contains(&completion), "{completion}");
}

#[test]
fn packets_survive_their_bytes() {
    let data = Packet {
        segment: Segment { number: 1 << 40, timestamp: Instant::from_nanos(77), payload: 100, ..Segment::default() },
        bytes: text(60),
    };
    let sack = [SackBlock { offset: 5, len: 9 }, SackBlock { offset: 50, len: 1 }, SackBlock::default()];
    let ack = Packet::acknowledgement(Segment {
        number: 9,
        sack,
        delay: 3,
        payload: 77,
        flags: Flags::ACK,
        ce: 4,
        ..Segment::default()
    });
    for (packet, len) in [(data, 124), (ack, 40)] {
        let mut buffer = Vec::new();
        packet.write(&mut buffer);
        assert_eq!((buffer.len(), Packet::read(&buffer)), (len, Some(packet)));
        for cut in 0..buffer.len() {
            // Acknowledgements can be cut between two blocks.
            assert!(Packet::read(&buffer[..cut]).is_none_or(|packet| packet.is_ack()));
        }
    }
}
