//! Worlds whose TCP senders are elsewhere: calls are the simulator's, and so are the times and
//! sizes of transfers.

use goodqueue_aqm::{Limit, sched};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate};
use goodqueue_sim::call::Codec;
use goodqueue_sim::{
    Arrivals, CarriedTransfer, Content, Continue, FlowSpec, LinkSpec, OutsideWorld, QueueSpec, SessionSpec, SourceSpec, Transfer,
    World, WorldSpec, carried_outcomes, planned_transfers,
};

/// 10 Mbit/s and 5 ms each way, for twenty seconds after one.
fn world(source: SourceSpec) -> WorldSpec {
    let link = LinkSpec::wire("line", Rate::mbit(10), Duration::ms(5));
    let link = link.behind(QueueSpec::plain(sched::TAIL_DROP, Limit::packets(100)));
    WorldSpec {
        warmup: Duration::secs(1),
        duration: Duration::secs(20),
        ..WorldSpec::line(link, vec![FlowSpec::new(vec![0], vec![1], source)])
    }
}

fn short(connections: u32) -> WorldSpec {
    let SourceSpec::Tcp { sender, receiver, header } = SourceSpec::bulk("cubic") else { panic!("bulk is TCP") };
    let (size, interval) = (Bytes::new(20_000), Duration::ms(500));
    let model = SessionSpec::Short { size, interval, arrivals: Arrivals::Poisson, connections };
    world(SourceSpec::Session { model, sender, receiver, header })
}

#[test]
fn calls_beside_senders_elsewhere_are_heard_the_same() {
    let (interval, packet_size, ecn) = (Codec::FRAME, Codec::Opus.packet_size(), Ecn::NotEct);
    let spec = world(SourceSpec::Call { content: Content::Voice(Codec::Opus), interval, packet_size, ecn });
    let mut outside = OutsideWorld::new(&spec).expect("a world");
    while outside.step() {}
    let [one, other] = [outside.finish(Continue::Yes), World::new(&spec).expect("a world").run(&mut |_| Continue::Yes)];
    assert_eq!(one.groups[0].calls, other.groups[0].calls);
    let heard = one.groups[0].calls[0].heard.as_ref().expect("speech is heard");
    assert!(heard.windows.len() >= 2 && one.groups[0].calls[0].lost == 0);
}

/// All of these that begin in the measured part, ended after 72 ms.
fn begun(spec: &WorldSpec, transfers: &[Transfer]) -> Vec<CarriedTransfer> {
    let began = |(place, transfer): (u32, &Transfer)| CarriedTransfer {
        place,
        began: Instant::ZERO + transfer.at,
        size: transfer.size,
        took: Some(Duration::ms(72)),
    };
    (0..).zip(transfers).filter(|(_, transfer)| transfer.at >= spec.warmup).map(began).collect()
}

#[test]
fn transfers_are_planned_as_the_simulator_begins_them() {
    let spec = short(1);
    let simulated = World::new(&spec).expect("a world").run(&mut |_| Continue::Yes);
    let planned = planned_transfers(&spec);
    let transfers = planned[0].as_ref().expect("a session");
    let mut carried = begun(&spec, transfers);
    carried[0].took = None;
    let figures = carried_outcomes(&spec, &[carried]).remove(0).expect("transfers");
    assert_eq!(Some(figures.begun), simulated.groups[0].transfers.as_ref().map(|transfers| transfers.begun));
    assert_eq!((figures.complete, figures.open), (figures.begun - 1, 1));
    // Two round trips of 10 ms, and 14 segments with 52 bytes more each at 10 Mbit/s: 36.6 ms.
    let slowdown = figures.slowdown_millionths.mean().expect("some") * 1e-6;
    assert!((slowdown - 72.0 / 36.58).abs() < 0.01, "{slowdown}");
    assert_eq!(planned_transfers(&world(SourceSpec::bulk("cubic"))), [None]);
}

#[test]
fn carried_transfers_count_where_they_end() {
    let spec = short(1);
    let of = |place, ms, took| CarriedTransfer { place, began: Instant::ZERO + Duration::ms(ms), size: Bytes::new(20_000), took };
    let carried = vec![of(0, 900, Some(Duration::ms(200))), of(1, 950, None), of(2, 1_100, Some(Duration::ms(72)))];
    let figures = carried_outcomes(&spec, &[carried]).remove(0).expect("transfers");
    assert_eq!((figures.begun, figures.complete, figures.open), (1, 2, 1));
}

#[test]
fn a_carried_transfer_ends_with_its_last_connection() {
    let spec = short(4);
    let simulated = World::new(&spec).expect("a world").run(&mut |_| Continue::Yes);
    let planned = planned_transfers(&spec).remove(0).expect("a session");
    assert!(planned.iter().all(|part| part.size == Bytes::new(5_000)));
    let mut carried = begun(&spec, &planned);
    // In any order; the first transfer has a slow connection, the last one never ends.
    carried[2].took = Some(Duration::ms(90));
    carried.last_mut().expect("transfers").took = None;
    carried.reverse();
    let figures = carried_outcomes(&spec, std::slice::from_ref(&carried)).remove(0).expect("transfers");
    assert_eq!(Some(figures.begun), simulated.groups[0].transfers.as_ref().map(|transfers| transfers.begun));
    assert_eq!((figures.begun * 4, figures.complete), (carried.len() as u64, figures.begun - 1));
    assert_eq!(
        [figures.completion.shortest(), figures.completion.quantile(1.0)]
            .map(|took| (took.expect("some").as_nanos() + 500_000) / 1_000_000),
        [72, 90]
    );
}
