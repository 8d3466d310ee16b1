//! Tests of the times of acknowledgements, and of the feedback of congestion.

mod pipe;

use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate};
use goodqueue_tcp::{
    AckPolicy, CcConfig, Data, EcnMode, Ending, Flags, Receiver, ReceiverConfig, SackReports, Segment, SenderConfig,
};
use pipe::{Fate, Pipe};

const MSS: u64 = 1448;
const GAP: Duration = Duration::us(500);

fn data(number: u64, now: Instant) -> Segment {
    Segment { number: number * MSS, payload: MSS as u16, timestamp: now, ..Segment::default() }
}

struct Feed {
    receiver: Receiver,
    now: Instant,
}

impl Feed {
    fn new(policy: AckPolicy) -> Self {
        let receiver = Receiver::new(&ReceiverConfig { ack_policy: policy, ..ReceiverConfig::default() });
        Self { receiver, now: Instant::from_nanos(1) }
    }

    fn take(&mut self, number: u64) -> Option<Segment> {
        self.take_with(number, Ecn::NotEct, Flags::default())
    }

    fn take_with(&mut self, number: u64, ecn: Ecn, flags: Flags) -> Option<Segment> {
        self.now += GAP;
        let segment = Segment { flags, ..data(number, self.now) };
        self.receiver.handle_segment(self.now, &segment, ecn)
    }

    /// Whether each of these segments was acknowledged at once.
    fn answered(&mut self, numbers: impl IntoIterator<Item = u64>) -> Vec<bool> {
        numbers.into_iter().map(|number| self.take(number).is_some()).collect()
    }
}

#[test]
fn first_segments_are_acknowledged_at_once_then_every_second() {
    let mut feed = Feed::new(AckPolicy::Delayed);
    // Sixteen, plus one for each of the first eight steps in which the window grows, as in real
    // receivers.
    assert_eq!(feed.answered(0..24), [true; 24]);
    assert_eq!(feed.answered(24..30), [false, true, false, true, false, true]);
}

#[test]
fn a_lone_segment_is_acknowledged_after_forty_milliseconds() {
    let mut feed = Feed::new(AckPolicy::Delayed);
    feed.answered(0..24);
    assert_eq!(feed.take(24), None);
    let due = feed.receiver.next_timeout().expect("a timer");
    assert_eq!(due.since(feed.now), Duration::ms(40));
    assert_eq!(feed.receiver.handle_timeout(feed.now), None, "too early");
    let ack = feed.receiver.handle_timeout(due).expect("an acknowledgement");
    assert_eq!(ack.number, 25 * MSS);
    assert_eq!(feed.receiver.next_timeout(), None);
    assert_eq!(feed.receiver.handle_timeout(due), None, "once");
}

#[test]
fn after_a_long_pause_acknowledgements_are_quick_again() {
    let mut feed = Feed::new(AckPolicy::Delayed);
    feed.answered(0..18);
    feed.now += Duration::secs(2);
    assert_eq!(feed.answered(18..34), [true; 16]);
    assert_eq!(feed.answered(34..36), [false, true]);
}

#[test]
fn data_out_of_order_or_filling_a_hole_is_acknowledged_at_once() {
    let mut feed = Feed::new(AckPolicy::Delayed);
    feed.answered(0..24);
    assert_eq!(feed.answered([25, 26, 27]), [true; 3]);
    let ack = feed.take(24).expect("the hole is filled");
    assert_eq!((ack.number, ack.blocks().len()), (28 * MSS, 0));
    assert_eq!(feed.answered([28, 29]), [false, true]);
}

/// A receiver with a round-trip time of 100 ms from the handshake and no quick acknowledgements
/// left.
fn settled() -> Feed {
    settled_with(SackReports::Compressed)
}

fn settled_with(sack: SackReports) -> Feed {
    settled_after(sack, Duration::ms(100))
}

fn settled_after(sack: SackReports, rtt: Duration) -> Feed {
    let receiver = Receiver::new(&ReceiverConfig { sack, ..ReceiverConfig::default() });
    let mut feed = Feed { receiver, now: Instant::from_nanos(1) };
    let syn = Segment { flags: Flags::SYN, timestamp: feed.now, ..Segment::default() };
    feed.receiver.handle_segment(feed.now, &syn, Ecn::NotEct).expect("an answer");
    feed.now += rtt;
    feed.answered(0..24);
    feed
}

#[test]
fn a_gap_is_reported_three_times_at_once_and_then_by_and_by() {
    let mut feed = settled();
    assert_eq!(feed.answered([25, 26, 27, 28]), [true, true, true, false]);
    let held_since = feed.now;
    assert_eq!(feed.answered([29, 30]), [false, false]);
    let due = feed.receiver.next_timeout().expect("a timer");
    assert_eq!(due.since(held_since), Duration::us(1_100), "a millisecond and the timer's slack, from the first that waits");
    let ack = feed.receiver.handle_timeout(due).expect("an acknowledgement");
    assert_eq!(
        ack.blocks().iter().map(|block| (u64::from(block.offset) / MSS, u64::from(block.len) / MSS)).collect::<Vec<_>>(),
        [(1, 6)]
    );
    assert_eq!(feed.answered([31, 24]), [false, true], "what fills the gap is acknowledged at once");
    assert_eq!(feed.receiver.next_timeout(), None);
    assert_eq!(feed.answered([36]), [true], "another gap counts again");
}

#[test]
fn linux_7_3_holds_reports_back_longer() {
    let held_back = |sack, rtt| {
        let mut feed = settled_after(sack, rtt);
        assert_eq!(feed.answered([25, 26, 27, 28]), [true, true, true, false]);
        feed.receiver.next_timeout().expect("a timer").since(feed.now)
    };
    // With the half millisecond that the first segment comes later, it is 2 ms.
    let short = Duration::us(1_500);
    assert_eq!(held_back(SackReports::Compressed, short), Duration::us(200));
    assert_eq!(held_back(SackReports::CompressedLonger, short), Duration::us(670));
    assert_eq!(held_back(SackReports::CompressedLonger, Duration::ms(100)), Duration::us(1_010));
}

#[test]
fn hosts_without_compression_report_each_segment_beyond_a_gap() {
    let mut feed = settled_with(SackReports::Plain);
    assert_eq!(feed.answered([25, 26, 27, 28, 29, 30]), [true; 6]);
    let ack = feed.take(29).expect("at once");
    assert_eq!(ack.received_twice(), Some(29 * MSS..30 * MSS));
    assert!(ack.received().eq(core::iter::once(25 * MSS..31 * MSS)));
}

#[test]
fn hosts_without_sack_only_repeat_themselves() {
    let mut feed = settled_with(SackReports::Off);
    let repeats: Vec<Segment> = [25, 26, 27, 28, 3].into_iter().filter_map(|number| feed.take(number)).collect();
    assert!(
        repeats.len() == 5 && repeats.iter().all(|ack| ack.number == 24 * MSS && ack.flags == Flags::ACK && !ack.has_blocks())
    );
}

#[test]
fn gap_reports_wait_for_a_twentieth_of_a_short_rtt() {
    let mut feed = Feed::new(AckPolicy::Delayed);
    let syn = Segment { flags: Flags::SYN, timestamp: feed.now, ..Segment::default() };
    feed.receiver.handle_segment(feed.now, &syn, Ecn::NotEct).expect("an answer");
    feed.now += Duration::us(9_500);
    // Long enough for the window of a steady flow to stop growing.
    feed.answered(0..100);
    assert_eq!(feed.answered([101, 102, 103, 104]), [true, true, true, false]);
    assert_eq!(feed.receiver.next_timeout().expect("a timer").since(feed.now), Duration::us(600));
}

#[test]
fn no_block_is_lost_between_merged_reports() {
    let mut feed = settled();
    // Every other segment is missing: each arrival opens a block, and an acknowledgement has room
    // for three.
    let mut reported = std::collections::BTreeSet::new();
    for number in (25..65).step_by(2) {
        if let Some(ack) = feed.take(number) {
            reported.extend(ack.blocks().iter().map(|block| (ack.number + u64::from(block.offset)) / MSS));
        }
    }
    let due = feed.receiver.next_timeout().expect("a timer");
    let last = feed.receiver.handle_timeout(due).expect("an acknowledgement");
    reported.extend(last.blocks().iter().map(|block| (last.number + u64::from(block.offset)) / MSS));
    assert_eq!(reported.into_iter().collect::<Vec<_>>(), (25..65).step_by(2).collect::<Vec<_>>());
}

/// Linux has sent its acknowledgement by then, and none is due for the segment itself.
#[test]
fn a_third_block_sends_what_waits_and_is_reported_with_the_next() {
    let mut feed = settled();
    // Blocks of 25 and 30; the reports from 28 on are merged.
    assert_eq!(feed.answered([25, 26, 27, 28, 30]), [true, true, true, false, false]);
    let ack = feed.take(33).expect("what waited");
    assert!(ack.received().all(|block| block.end <= 31 * MSS), "without the third block");
    assert_eq!(feed.receiver.next_timeout(), None);
    assert_eq!(feed.take(34), None);
    let due = feed.receiver.next_timeout().expect("a timer");
    let ack = feed.receiver.handle_timeout(due).expect("an acknowledgement");
    assert!(ack.received().any(|block| block == (33 * MSS..35 * MSS)), "both");
}

#[test]
fn echoed_time_is_of_the_first_unacknowledged_segment() {
    let mut feed = Feed::new(AckPolicy::Delayed);
    feed.answered(0..24);
    feed.take(24);
    let first = feed.now;
    assert_eq!(feed.take(25).unwrap().timestamp, first);
    // Out of order, the timestamp of the last in-order segment is repeated; a copy that fills the
    // hole carries its own.
    assert_eq!(feed.take(25).unwrap().timestamp, first);
    let ack = feed.take(26).unwrap();
    assert_eq!(ack.timestamp, feed.now);
}

#[test]
fn duplicates_are_reported_with_their_distance_below() {
    let mut feed = Feed::new(AckPolicy::Delayed);
    feed.answered(0..20);
    let ack = feed.take(17).expect("at once");
    assert!(ack.flags.has(Flags::DSACK));
    assert_eq!((ack.number, ack.blocks().len()), (20 * MSS, 1));
    assert_eq!((u64::from(ack.sack[0].offset), u64::from(ack.sack[0].len)), (3 * MSS, MSS));
    assert_eq!(feed.receiver.delivered_bytes(), 20 * MSS);
}

#[test]
fn every_packet_is_acknowledged_when_asked_for() {
    let mut feed = Feed::new(AckPolicy::EveryPacket);
    assert_eq!(feed.answered(0..50), [true; 50]);
}

#[test]
fn a_window_is_acknowledged_once() {
    let mut feed = Feed::new(AckPolicy::EveryWindow { segments: 20 });
    let answers = feed.answered(0..100);
    let answered: Vec<usize> = answers.iter().enumerate().filter(|(_, yes)| **yes).map(|(at, _)| at + 1).collect();
    assert_eq!(answered, [20, 40, 60, 80, 100]);
    assert_eq!(feed.answered([101]), [true], "out of order");
    assert_eq!(feed.answered([100]), [true], "fills the hole");
}

#[test]
fn sender_keeps_a_fixed_window_full_with_one_ack_per_window() {
    let sender = SenderConfig {
        cc: CcConfig { kind: "reno", params: Vec::new() },
        max_window: Bytes::new(20 * MSS),
        data: Data::Unlimited,
        ..SenderConfig::default()
    };
    let receiver = ReceiverConfig { ack_policy: AckPolicy::EveryWindow { segments: 20 }, ..ReceiverConfig::default() };
    let mut pipe = Pipe::new(&sender, &receiver).with_path(Rate::mbit(10), Duration::ms(5), usize::MAX);
    pipe.run(Duration::secs(2));
    let (acks, bytes) = (pipe.acks.len(), pipe.receiver.delivered_bytes());
    // While the window still grows to its limit, acknowledgements wait for the timer, and a loss
    // probe may be sent.
    let repeated = pipe.sender.statistics().retransmitted_segments;
    pipe.run(Duration::secs(10));
    let windows = (pipe.receiver.delivered_bytes() - bytes) / (20 * MSS);
    assert!((pipe.acks.len() - acks).abs_diff(windows as usize) <= 1);
    // 20 segments per 20 * 1.2 ms + 10 ms.
    assert!((290..=296).contains(&windows), "{windows}");
    assert_eq!(pipe.sender.statistics().retransmitted_segments, repeated);
}

#[test]
fn the_last_segment_of_a_stream_is_acknowledged_at_once() {
    let mut feed = Feed::new(AckPolicy::Delayed);
    feed.answered(0..16);
    assert!(feed.take_with(16, Ecn::NotEct, Flags::FIN).is_some());
    assert!(feed.receiver.is_complete());
}

#[test]
fn a_mark_is_echoed_until_the_sender_has_reduced() {
    let mut feed = Feed::new(AckPolicy::EveryPacket);
    assert!(!feed.take_with(0, Ecn::Ect0, Flags::default()).unwrap().flags.has(Flags::ECE));
    assert!(feed.take_with(1, Ecn::Ce, Flags::default()).unwrap().flags.has(Flags::ECE));
    assert!(feed.take_with(2, Ecn::Ect0, Flags::default()).unwrap().flags.has(Flags::ECE));
    assert!(!feed.take_with(3, Ecn::Ect0, Flags::CWR).unwrap().flags.has(Flags::ECE));
    assert!(feed.take_with(4, Ecn::Ce, Flags::CWR).unwrap().flags.has(Flags::ECE), "marked again");
}

fn marking(kind: &'static str, ecn: EcnMode, marked: impl Fn(u64) -> bool + 'static) -> Pipe {
    let sender = SenderConfig {
        cc: CcConfig { kind, params: Vec::new() },
        ecn,
        initial_window: 100,
        data: Data::Bytes(Bytes::new(600 * MSS)),
        ..SenderConfig::default()
    };
    let mut pipe = Pipe::new(&sender, &ReceiverConfig::default())
        .with_fate(move |segment, _| if marked(segment.number / MSS) { Fate::Mark } else { Fate::Deliver });
    pipe.finish(Duration::secs(10));
    pipe
}

#[test]
fn marks_reduce_the_window_once_per_rtt_without_retransmission() {
    for (kind, after) in [("reno", 50), ("cubic", 70)] {
        let pipe = marking(kind, EcnMode::Classic, |number| (50..60).contains(&number));
        let done = pipe.sender.statistics();
        assert_eq!((done.ecn_responses, done.retransmitted_segments), (1, 0), "{kind}");
        assert_eq!(pipe.log.iter().filter(|sent| sent.cwr).count(), 1, "{kind}");
        let threshold = pipe.sender.ssthresh().get() / MSS;
        // The window has grown by the segments acknowledged before the echo.
        assert!((after..=after * 3 / 2 + 2).contains(&threshold), "{kind}: {threshold}");
    }
}

#[test]
fn marks_in_two_windows_reduce_twice() {
    let pipe = marking("reno", EcnMode::Classic, |number| number == 50 || number == 300);
    assert_eq!(pipe.sender.statistics().ecn_responses, 2);
    assert_eq!(pipe.log.iter().filter(|sent| sent.cwr).count(), 2);
}

#[test]
fn without_negotiation_nothing_is_marked_and_nothing_answered() {
    let pipe = marking("reno", EcnMode::Off, |number| number == 50);
    assert_eq!(pipe.sender.statistics().ecn_responses, 0);
}

/// A receiver of a connection with this kind of feedback, past the quick acknowledgements of its
/// start.
fn feed_with(flags: Flags) -> Feed {
    let mut feed = Feed::new(AckPolicy::Delayed);
    let syn = Segment { flags: Flags::SYN.with(Flags::ECE).with(Flags::CWR).with(flags), ..Segment::default() };
    let answer = feed.receiver.handle_segment(feed.now, &syn, Ecn::Ect0).expect("an answer");
    assert!(answer.flags.has(Flags::SYN.with(Flags::ACK).with(Flags::ECE).with(flags)));
    for number in 0..24 {
        feed.take_with(number, Ecn::Ect0, Flags::default());
    }
    feed
}

/// Acknowledgements for a segment, immediate and by a due timer: the number acknowledged, in
/// segments, and the echo.
fn answers(feed: &mut Feed, number: u64, ecn: Ecn) -> Vec<(u64, bool)> {
    let first = feed.take_with(number, ecn, Flags::default());
    let due = feed.receiver.next_timeout().filter(|&due| due <= feed.now);
    let second = due.and_then(|_| feed.receiver.handle_timeout(feed.now));
    first.into_iter().chain(second).map(|ack| (ack.number / MSS, ack.flags.has(Flags::ECE))).collect()
}

/// RFC 8257 §3.2: every segment is acknowledged with its own mark; acknowledgements are delayed
/// only within a run of equal marks.
#[test]
fn a_mirror_acknowledges_the_old_state_before_the_new_one() {
    let mut feed = feed_with(Flags::MIRROR);
    assert_eq!(answers(&mut feed, 24, Ecn::Ect0), []);
    // One unmarked segment awaits its acknowledgement when the marks begin, so there are two
    // acknowledgements.
    assert_eq!(answers(&mut feed, 25, Ecn::Ce), [(25, false), (26, true)]);
    assert_eq!(answers(&mut feed, 26, Ecn::Ce), []);
    assert_eq!(answers(&mut feed, 27, Ecn::Ce), [(28, true)]);
    // Nothing is pending when the marks end, so there is one.
    assert_eq!(answers(&mut feed, 28, Ecn::Ect0), [(29, false)]);
    assert_eq!(answers(&mut feed, 29, Ecn::Ect0), []);
    assert_eq!(answers(&mut feed, 30, Ecn::Ect0), [(31, false)]);
}

/// RFC 9768 §3.2.2: the count never stops, the start of a run of marks is reported at once, and no
/// echo stays pending.
#[test]
fn a_counter_counts_every_mark_and_reports_the_first_at_once() {
    let mut feed = feed_with(Flags::AE);
    assert_eq!(feed.take_with(24, Ecn::Ect0, Flags::default()), None);
    let ack = feed.take_with(25, Ecn::Ect0, Flags::default()).unwrap();
    assert_eq!((ack.ce, ack.flags), (0, Flags::ACK));
    let ack = feed.take_with(26, Ecn::Ce, Flags::default()).expect("the first mark is reported at once");
    assert_eq!((ack.ce, ack.flags), (1, Flags::ACK));
    assert_eq!(feed.take_with(27, Ecn::Ce, Flags::default()), None);
    assert_eq!(feed.take_with(28, Ecn::Ce, Flags::default()).unwrap().ce, 3);
    for number in 29..29 + 512 {
        feed.take_with(number, Ecn::Ce, Flags::default());
    }
    assert_eq!(feed.take_with(600, Ecn::Ect0, Flags::default()).unwrap().ce, 3, "512 more, modulo 256");
}

#[test]
fn acknowledgements_tell_the_time_from_sender_to_receiver() {
    let pipe = marking("reno", EcnMode::Off, |_| false);
    let acks = || pipe.acks.iter().filter(|(_, ack)| ack.number > 0);
    let unit = Segment::DELAY_UNIT.as_nanos();
    assert!(acks().all(|(at, ack)| u64::from(ack.delay) == at.since(ack.timestamp).as_nanos() / unit));
    // 10 ms of propagation and 120 us to send a segment at 100 Mbit/s.
    let least = acks().map(|(_, ack)| u64::from(ack.delay) * unit).min().unwrap();
    assert!((10_119_000..10_121_000).contains(&least), "{least}");
}

#[test]
fn a_window_that_opens_with_nothing_in_flight_lets_data_go() {
    let config = SenderConfig { data: Data::Messages, ..SenderConfig::default() };
    let mut pipe = Pipe::new(&config, &ReceiverConfig::default());
    pipe.run(Duration::secs(1));
    pipe.sender.write(Bytes::new(1000 * MSS), Ending::More);
    let ack = |number: u64, room: u64| Segment {
        number: number * MSS,
        flags: Flags::ACK,
        payload: Segment::offer(room).0,
        ..Segment::default()
    };
    let mut sent = 0;
    let mut flight = |sender: &mut goodqueue_tcp::Sender, now| {
        sent += std::iter::from_fn(|| sender.poll_transmit(now)).count() as u64;
        sent
    };
    let mut last = 0;
    // Acknowledged, but not read.
    loop {
        let all = flight(&mut pipe.sender, pipe.now);
        if all == last {
            break;
        }
        last = all;
        pipe.now += Duration::ms(10);
        pipe.sender.handle_ack(pipe.now, &ack(last, 0));
    }
    assert!((30..60).contains(&last), "{last} of 1000: the first window");
    pipe.now += Duration::ms(10);
    pipe.sender.handle_ack(pipe.now, &ack(last, 12 * 1024));
    assert_eq!(flight(&mut pipe.sender, pipe.now), last + 8);
}
