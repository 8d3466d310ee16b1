use super::*;
use crate::spec::{FlowSpec, LinkSpec, QueueSpec, SourceSpec};
use crate::trace::TimeCounts;
use crate::world::outside_flow::Content;
use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Rate};
use goodqueue_tcp::{Flags, ReceiverConfig, SackBlock, SenderConfig};

/// 12 Mbit/s, so that 1500 bytes take a millisecond, 5 ms each way, and room for three packets.
fn spec() -> WorldSpec {
    let queue = QueueSpec::plain(goodqueue_aqm::sched::TAIL_DROP, Limit::packets(3));
    let line = LinkSpec::wire("line", Rate::mbit(12), Duration::ms(5)).behind(queue);
    WorldSpec::line(line, vec![FlowSpec::new(vec![0], vec![1], SourceSpec::bulk("cubic"))])
}

fn longest_ms(times: &TimeCounts) -> f64 {
    times.quantile(1.0).expect("some").as_secs_f64() * 1e3
}

fn ticket(number: u32) -> Ticket {
    Ticket(number.try_into().expect("not zero"))
}

fn data(number: u64, of: u32) -> OutsidePacket {
    let segment = Segment { number, payload: 1448, ..Segment::default() };
    OutsidePacket { flow: 0, segment, ip_len: 1500, ecn: Ecn::NotEct, ticket: ticket(of) }
}

fn ack(number: u64, of: u32) -> OutsidePacket {
    let segment = Segment { number, flags: Flags::ACK, ..Segment::default() };
    OutsidePacket { flow: 0, segment, ip_len: 52, ecn: Ecn::NotEct, ticket: ticket(of) }
}

/// Handles the events of the first instant.
fn begun(spec: &WorldSpec) -> OutsideWorld {
    let mut world = OutsideWorld::new(spec).expect("a world");
    while world.next() == Instant::ZERO {
        world.step();
    }
    world
}

/// Runs the world until some packet's fate is known.
fn fates(world: &mut OutsideWorld) -> Vec<Fate> {
    let mut fates = Vec::new();
    loop {
        world.fates(&mut fates);
        if !fates.is_empty() || !world.step() {
            return fates;
        }
    }
}

#[test]
fn packets_cross_the_queue_and_the_delay_and_come_out() {
    let mut world = OutsideWorld::new(&spec()).expect("a world");
    let at = Instant::ZERO + Duration::ms(10);
    while world.next() <= at {
        world.step();
    }
    world.put(at, data(0, 7));
    assert_eq!(fates(&mut world), [Fate::Arrived { ticket: ticket(7), is_reverse: false, ecn: Ecn::NotEct }]);
    assert_eq!(world.now(), at + Duration::ms(6));
    world.put(world.now(), ack(1448, 8));
    assert_eq!(fates(&mut world), [Fate::Arrived { ticket: ticket(8), is_reverse: true, ecn: Ecn::NotEct }]);
    while world.step() {}
    let outcome = world.finish(Continue::Yes);
    assert_eq!((outcome.flows[0].delivered_bytes, outcome.flows[0].sent_packets), (1448, 1));
    // There: a millisecond for the data. Back: 52 bytes take 35 us more than nothing.
    let rtt = longest_ms(&outcome.groups[0].rtt);
    assert!((rtt - 11.035).abs() < 0.02, "{rtt}");
    assert!(outcome.complete);
}

#[test]
fn what_does_not_fit_is_reported_lost() {
    let mut world = begun(&spec());
    for number in 0..6_u32 {
        world.put(Instant::ZERO, data(u64::from(number) * 1448, number + 1));
    }
    // One in transmission, three waiting.
    let mut now = Vec::new();
    world.fates(&mut now);
    assert_eq!(now, [5, 6].map(|number| Fate::Lost { ticket: ticket(number) }));
    world.put(Instant::ZERO, data(0, 9));
    while world.step() {}
    let mut then = Vec::new();
    world.fates(&mut then);
    assert_eq!(then.len(), 5);
    let outcome = world.finish(Continue::Yes);
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent_packets, flow.retransmitted_packets, flow.dropped_packets), (7, 1, Some(3)));
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::ms(ms)
}

/// A flow that has sent 1000 bytes from each of these numbers on, at these times in milliseconds.
fn having_sent(segments: [(u64, u64); 4]) -> OutsideFlow {
    let mut ends = OutsideFlow::new(Content::Segments, None);
    for (ms, number) in segments {
        ends.take(at(ms), &Segment { number, payload: 1000, ..Segment::default() });
    }
    ends
}

#[test]
fn acknowledgements_of_what_was_sent_twice_say_no_time() {
    let mut ends = having_sent([(0, 0), (1, 1000), (2, 2000), (9, 1000)]);
    let ack = |number| Segment { number, flags: Flags::ACK, ..Segment::default() };
    assert_eq!(ends.acknowledged(at(10), &ack(1000)), Some(Duration::ms(10)));
    assert_eq!(ends.acknowledged(at(11), &ack(2000)), None, "which of the two?");
    assert_eq!(ends.acknowledged(at(12), &ack(3000)), Some(Duration::ms(10)));
    assert_eq!((ends.sent, ends.retransmitted), (4, 1));
}

#[test]
fn a_report_beyond_a_gap_tells_the_time_and_the_repair_none() {
    let mut ends = having_sent([(0, 0), (1, 1000), (2, 2000), (3, 3000)]);
    let ack = |number, offset, len| Segment {
        number,
        flags: Flags::ACK,
        sack: [SackBlock { offset, len }, SackBlock::default(), SackBlock::default()],
        ..Segment::default()
    };
    assert_eq!(ends.acknowledged(at(11), &ack(0, 1000, 1000)), Some(Duration::ms(10)));
    assert_eq!(ends.acknowledged(at(13), &ack(0, 1000, 2000)), Some(Duration::ms(11)), "what is new");
    assert_eq!(ends.acknowledged(at(14), &ack(0, 1000, 2000)), None, "nothing is");
    ends.take(at(20), &Segment { number: 0, payload: 1000, ..Segment::default() });
    assert_eq!(ends.acknowledged(at(30), &ack(3000, 0, 0)), None, "which copy of the first?");
    assert_eq!(ends.acknowledged(at(31), &ack(4000, 0, 0)), Some(Duration::ms(28)));
}

#[test]
fn limited_transfers_complete_when_the_sender_hears_of_it() {
    let mut limited = spec();
    let SourceSpec::Tcp { sender, .. } = &mut limited.flows[0].source else { panic!("TCP") };
    sender.data = goodqueue_tcp::Data::Bytes(Bytes::new(1448));
    let mut world = begun(&limited);
    world.put(Instant::ZERO, data(0, 1));
    fates(&mut world);
    world.put(world.now(), ack(1449, 2));
    while world.step() {}
    let outcome = world.finish(Continue::Yes);
    assert!(outcome.flows[0].completion.is_some_and(|time| time > Duration::ms(11)));
    assert_eq!(outcome.groups[0].transfers.as_ref().map(|transfers| transfers.complete), Some(1));
}

/// Returns the specification with a session of transfers in place of the flow: 2000 bytes every 100
/// ms, from 50 ms until 360 ms.
fn with_session() -> WorldSpec {
    let mut spec = spec();
    let flow = &mut spec.flows[0];
    let model = SessionSpec::Short {
        size: Bytes::new(2000),
        interval: Duration::ms(100),
        arrivals: crate::spec::Arrivals::Periodic,
        connections: 1,
    };
    flow.source = SourceSpec::Session {
        model,
        sender: SenderConfig::default(),
        receiver: ReceiverConfig::default(),
        header: Bytes::new(52),
    };
    flow.start = Instant::ZERO + Duration::ms(50);
    flow.stop = Some(Instant::ZERO + Duration::ms(360));
    spec.warmup = Duration::ms(100);
    spec
}

#[test]
fn session_transfers_are_separate_flows_and_count_together() {
    let mut world = OutsideWorld::new(&with_session()).expect("a world");
    let starts: Vec<_> = world.spec().flows.iter().map(|flow| flow.start.as_nanos() / 1_000_000).collect();
    assert_eq!(starts, [50, 150, 250, 350]);
    assert!(world.is_transfer(0));
    // The second is carried out, in the measured part; it is acknowledged in full.
    let at = Instant::ZERO + Duration::ms(150);
    while world.next() <= at {
        world.step();
    }
    for (number, payload, of) in [(0, 1448, 1), (1448, 552, 2)] {
        let segment = Segment { number, payload, ..Segment::default() };
        world.put(at, OutsidePacket { flow: 1, segment, ip_len: payload + 52, ecn: Ecn::NotEct, ticket: ticket(of) });
    }
    fates(&mut world);
    let packet = OutsidePacket { flow: 1, ..ack(2001, 3) };
    world.put(world.now(), packet);
    while world.step() {}
    let outcome = world.finish(Continue::Yes);
    assert_eq!(outcome.flows.len(), 1, "one flow of the specification");
    assert_eq!((outcome.flows[0].delivered_bytes, outcome.flows[0].sent_packets), (2000, 2));
    let transfers = outcome.groups[0].transfers.as_ref().expect("transfers");
    assert_eq!((transfers.begun, transfers.complete), (3, 1), "the first began before the measured part");
    assert_eq!(transfers.open, 3, "the first as well");
}

#[test]
fn transfers_of_several_connections_count_once() {
    let mut spec = with_session();
    let SourceSpec::Session { model: SessionSpec::Short { connections, .. }, .. } = &mut spec.flows[0].source else {
        panic!("short transfers")
    };
    *connections = 2;
    let mut world = OutsideWorld::new(&spec).expect("a world");
    assert_eq!(world.spec().flows.len(), 8);
    // Both connections of the second transfer send their half, and the first one of the third.
    let mut of = 0;
    for (ms, flow) in [(150, 2), (170, 3), (250, 4)] {
        let at = Instant::ZERO + Duration::ms(ms);
        while world.next() <= at {
            world.step();
        }
        world.fates(&mut Vec::new());
        let segment = Segment { number: 0, payload: 1000, ..Segment::default() };
        world.put(at, OutsidePacket { flow, segment, ip_len: 1052, ecn: Ecn::NotEct, ticket: ticket(of + 1) });
        fates(&mut world);
        world.put(world.now(), OutsidePacket { flow, ..ack(1001, of + 2) });
        of += 2;
    }
    while world.step() {}
    let outcome = world.finish(Continue::Yes);
    let transfers = outcome.groups[0].transfers.as_ref().expect("transfers");
    assert_eq!((transfers.begun, transfers.complete), (3, 1), "the first began before the measured part");
    // The second connection sends 20 ms after the first; its way and back take 10 ms and more.
    let took = longest_ms(&transfers.completion);
    assert!((30.0..32.0).contains(&took), "{took} ms");
    assert_eq!(transfers.by_size[0].len(), 1, "2000 bytes together");
}

#[test]
fn sessions_that_wait_for_answers_are_refused() {
    let mut spec = with_session();
    let SourceSpec::Session { model, .. } = &mut spec.flows[0].source else { panic!("a session") };
    *model = SessionSpec::BulkWithPauses {
        size: Bytes::new(1),
        pause: (Duration::ZERO, Duration::ZERO),
        connection: crate::spec::ConnectionUse::Fresh,
    };
    assert!(OutsideWorld::new(&spec).is_err_and(|error| error.to_string().contains("waits for answers")));
}

/// Poisson arrivals outside begin when those of the simulated session do.
#[test]
fn transfers_begin_when_the_simulators_do() {
    let mut spec = with_session();
    let SourceSpec::Session { model, .. } = &mut spec.flows[0].source else { panic!("a session") };
    *model = SessionSpec::Short {
        size: Bytes::new(100),
        interval: Duration::ms(20),
        arrivals: crate::spec::Arrivals::Poisson,
        connections: 1,
    };
    spec.warmup = Duration::ZERO;
    spec.recording.packets = true;
    let listed: Vec<_> = OutsideWorld::new(&spec).expect("a world").spec().flows.iter().map(|flow| flow.start).collect();
    let outcome = World::new(&spec).expect("a world").run(&mut |_| Continue::Yes);
    assert_eq!(outcome.groups[0].transfers.as_ref().map(|transfers| transfers.begun), Some(listed.len() as u64));
    let first = outcome.packets.iter().map(|event| event.at).min().expect("packets");
    assert!(first >= listed[0] && first.since(listed[0]) < Duration::ms(1), "{first:?} and {:?}", listed[0]);
}

/// The world of [`spec`] with a second group, whose flow stays simulated.
fn beside_our_own() -> WorldSpec {
    let mut spec = spec();
    spec.groups.push("ours".to_owned());
    spec.flows.push(FlowSpec { group: 1, ..FlowSpec::new(vec![0], vec![1], SourceSpec::bulk("cubic")) });
    spec
}

fn datagram(is_reverse: bool, of: u32) -> OutsideDatagram {
    OutsideDatagram { flow: 0, is_reverse, ip_len: 1200, ecn: Ecn::Ect0, ticket: ticket(of) }
}

#[test]
fn datagrams_travel_beside_simulated_connections() {
    let mut world = OutsideWorld::with_datagrams(&beside_our_own(), &[0]).expect("a world");
    let (mut fates, mut put) = (Vec::new(), 0);
    while world.next() <= world.end() {
        world.step();
        if world.now() >= Instant::ZERO + Duration::ms(100 + u64::from(put) * 10) && put < 50 {
            // More at once than the queue has room for, there and back in turn.
            for number in put + 1..=put + 5 {
                world.put_datagram(world.now(), datagram(put % 10 == 5, number));
            }
            put += 5;
        }
        world.fates(&mut fates);
    }
    assert_eq!(fates.len(), 50, "a fate for each of ours, and none for packets of simulated hosts");
    let lost = fates.iter().filter(|fate| matches!(fate, Fate::Lost { .. })).count() as u64;
    let outcome = world.finish(Continue::Yes);
    let (foreign, ours) = (&outcome.flows[0], &outcome.flows[1]);
    // Only the way there has a queue that drops.
    assert_eq!((foreign.sent_packets, foreign.dropped_packets), (25, Some(lost)));
    assert_eq!(foreign.delivered_bytes, (25 - lost) * 1200);
    assert!(lost > 0 && ours.delivered_bytes > 100_000, "{lost} lost, {} delivered", ours.delivered_bytes);
}

#[test]
fn what_ends_report_takes_the_place_of_bytes_on_the_line() {
    let mut limited = beside_our_own();
    let SourceSpec::Tcp { sender, .. } = &mut limited.flows[0].source else { panic!("TCP") };
    sender.data = goodqueue_tcp::Data::Bytes(Bytes::new(1000));
    let mut world = OutsideWorld::with_datagrams(&limited, &[0]).expect("a world");
    let at = Instant::ZERO + Duration::ms(40);
    while world.next() <= at {
        world.step();
    }
    world.put_datagram(at, datagram(false, 1));
    let reported = Reported { delivered_bytes: Some(1000), retransmitted_packets: 3, is_complete: true };
    world.report(at, 0, Reported { is_complete: false, ..reported });
    while world.step() {}
    world.report(world.now(), 0, reported);
    world.report_rtt(0, Duration::ms(33));
    let (end, outcome) = (world.now(), world.finish(Continue::Yes));
    let flow = &outcome.flows[0];
    assert_eq!((flow.delivered_bytes, flow.retransmitted_packets), (1000, 3));
    assert_eq!(flow.completion, Some(end.since(Instant::ZERO)));
    assert_eq!(outcome.groups[0].transfers.as_ref().map(|transfers| transfers.complete), Some(1));
    assert!((longest_ms(&outcome.groups[0].rtt) - 33.0).abs() < 0.1);
    let mut spec = beside_our_own();
    spec.flows[0].source = with_session().flows[0].source.clone();
    let error = OutsideWorld::with_datagrams(&spec, &[0]).err().expect("a session is no plain flow");
    assert_eq!(error.to_string(), "bulk[0]: only plain TCP flows can have their ends outside");
}
