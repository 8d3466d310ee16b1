//! Cost of an acknowledgement at the sender (which sends two segments in response) and of a segment
//! at the receiver.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rng};
use goodqueue_tcp::{CcConfig, Flags, Receiver, ReceiverConfig, SackBlock, Segment, Sender, SenderConfig};

const MSS: u64 = 1448;
const GAP: Duration = Duration::us(1_200);
const ACKS: u64 = 200;

fn main() {
    divan::main();
}

fn poll_all(sender: &mut Sender, now: Instant) {
    while let Some(out) = sender.poll_transmit(now) {
        black_box(&out);
    }
}

/// A sender in congestion avoidance after one loss, with about `window` segments in flight.
fn warmed_up(kind: &'static str, window: u32) -> (Sender, Instant) {
    let config = SenderConfig {
        cc: CcConfig { kind, params: Vec::new() },
        initial_window: if kind == "reno" { window * 2 } else { window * 10 / 7 },
        ..SenderConfig::default()
    };
    let mut sender = Sender::new(&config, Rng::new(1)).expect("valid settings");
    let start = Instant::from_nanos(1_000_000);
    sender.connect(start);
    poll_all(&mut sender, start);
    let mut now = start + Duration::ns(GAP.as_nanos() * u64::from(window));
    let syn_ack = Segment { flags: Flags::SYN.with(Flags::ACK), timestamp: start, ..Segment::default() };
    sender.handle_ack(now, &syn_ack);
    poll_all(&mut sender, now);
    // The first segment is lost, the others arrive.
    for received in 1..config.initial_window {
        now += GAP;
        let mut ack = Segment { timestamp: now - GAP, flags: Flags::ACK, ..Segment::default() };
        ack.sack[0] = SackBlock { offset: MSS as u32, len: received * MSS as u32 };
        sender.handle_ack(now, &ack);
        poll_all(&mut sender, now);
    }
    let mut number = u64::from(config.initial_window) * MSS;
    for _ in 0..u64::from(window) * 2 {
        now += GAP + GAP;
        let ack = Segment { number, timestamp: now - GAP, flags: Flags::ACK, ..Segment::default() };
        sender.handle_ack(now, &ack);
        poll_all(&mut sender, now);
        number += 2 * MSS;
    }
    assert!(sender.ssthresh() < Bytes::MAX && sender.in_flight() == sender.cwnd(), "in congestion avoidance");
    (sender, now)
}

/// The first unacknowledged byte.
fn next_number(sender: &Sender) -> u64 {
    let done = sender.statistics();
    (done.sent_segments - done.retransmitted_segments) * MSS - sender.in_flight().get()
}

/// One acknowledgement of two segments, followed by two new segments.
#[divan::bench(args = ["reno", "cubic"], consts = [40, 400])]
fn steady_state<const WINDOW: u32>(bencher: Bencher, kind: &'static str) {
    let (sender, now) = warmed_up(kind, WINDOW);
    let first = next_number(&sender);
    bencher.counter(ItemsCount::new(ACKS)).with_inputs(|| sender.clone()).bench_local_values(|mut sender| {
        let mut now = now;
        let mut number = first;
        for _ in 0..ACKS {
            now += GAP + GAP;
            number += 2 * MSS;
            let ack = Segment { number, timestamp: now - GAP, flags: Flags::ACK, ..Segment::default() };
            sender.handle_ack(now, black_box(&ack));
            poll_all(&mut sender, now);
            black_box(sender.next_timeout());
        }
        sender
    });
}

/// A window with every twentieth segment lost: the selective acknowledgements of the whole
/// recovery. The cost of one must not depend on the window.
#[divan::bench(args = ["reno", "cubic"], consts = [400, 4_000, 40_000])]
fn recovery<const WINDOW: u32>(bencher: Bencher, kind: &'static str) {
    let (sender, now) = warmed_up(kind, WINDOW);
    let first = next_number(&sender);
    let arrivals = arrivals_with_losses(first, u64::from(WINDOW));
    let count = arrivals.len() as u64;
    bencher.counter(ItemsCount::new(count)).with_inputs(|| sender.clone()).bench_local_values(|mut sender| {
        let mut now = now;
        for ack in &arrivals {
            now += GAP;
            sender.handle_ack(now, black_box(ack));
            poll_all(&mut sender, now);
        }
        sender
    });
}

/// Acknowledgements of a receiver for `count` segments from `first` on, every twentieth missing.
fn arrivals_with_losses(first: u64, count: u64) -> Vec<Segment> {
    let mut receiver = Receiver::new(&ReceiverConfig::default());
    let mut now = Instant::ZERO;
    let mut acks = Vec::new();
    for number in 0..first / MSS + count {
        now += GAP;
        let offset = number * MSS;
        if offset >= first && number % 20 == 7 {
            continue;
        }
        let segment = Segment { number: offset, timestamp: now, payload: MSS as u16, ..Segment::default() };
        let ack = receiver.handle_segment(now, &segment, Ecn::NotEct);
        acks.extend(ack.filter(|ack| ack.has_blocks()));
    }
    acks
}

/// In-order segments, every second acknowledged.
#[divan::bench]
fn receiver_in_order(bencher: Bencher) {
    let receiver = Receiver::new(&ReceiverConfig::default());
    bencher.counter(ItemsCount::new(ACKS)).with_inputs(|| receiver.clone()).bench_local_values(|mut receiver| {
        let mut now = Instant::ZERO;
        for number in 0..ACKS {
            now += GAP;
            let segment = Segment { number: number * MSS, timestamp: now, payload: MSS as u16, ..Segment::default() };
            black_box(receiver.handle_segment(now, black_box(&segment), Ecn::NotEct));
            black_box(receiver.next_timeout());
        }
        receiver
    });
}

/// A hole below and growing blocks: every segment is answered with selective acknowledgements.
#[divan::bench]
fn receiver_out_of_order(bencher: Bencher) {
    let receiver = Receiver::new(&ReceiverConfig::default());
    bencher.counter(ItemsCount::new(ACKS)).with_inputs(|| receiver.clone()).bench_local_values(|mut receiver| {
        let mut now = Instant::ZERO;
        for number in (1..=ACKS).filter(|number| number % 20 != 7) {
            now += GAP;
            let segment = Segment { number: number * MSS, timestamp: now, payload: MSS as u16, ..Segment::default() };
            black_box(receiver.handle_segment(now, black_box(&segment), Ecn::NotEct));
        }
        receiver
    });
}
