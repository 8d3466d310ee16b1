//! Sessions: what their models do over a real path, packet by packet.

mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate};
use goodqueue_sim::call::Codec;
use goodqueue_sim::{
    Arrivals, ConnectionUse, Content, HttpVersion, Outcome, PageSpec, SessionSpec, SourceSpec, TransferOutcome, VideoSpec,
    WebSpec, WorldSpec,
};
use goodqueue_tcp::{CcConfig, ReceiverConfig, SenderConfig};
use std::fmt::Write as _;
use support::{bottleneck, bulk, dumbbell, queue, run};

fn session(model: SessionSpec) -> SourceSpec {
    SourceSpec::Session {
        model,
        sender: SenderConfig { cc: CcConfig { kind: "reno", params: Vec::new() }, ..SenderConfig::default() },
        receiver: ReceiverConfig::default(),
        header: Bytes::new(52),
    }
}

/// One session alone at 10 Mbit/s and 20.4 ms of base round-trip time.
fn alone(model: SessionSpec, seconds: u64) -> WorldSpec {
    at(Rate::mbit(10), vec![session(model)], seconds)
}

fn at(rate: Rate, sources: Vec<SourceSpec>, seconds: u64) -> WorldSpec {
    let link = bottleneck(rate, Duration::ms(10), queue("tail-drop", Limit::packets(100)));
    dumbbell(link, sources, Duration::ZERO, Duration::ZERO, Duration::secs(seconds))
}

fn transfers(outcome: &Outcome) -> &TransferOutcome {
    outcome.groups[0].transfers.as_ref().expect("there were transfers")
}

fn short(size: u64, interval: Duration, arrivals: Arrivals) -> SessionSpec {
    SessionSpec::Short { size: Bytes::new(size), interval, arrivals, connections: 1 }
}

fn page(objects: u32, connections: u32) -> SessionSpec {
    SessionSpec::Page(PageSpec {
        objects,
        object: Bytes::new(12_000),
        connections,
        request: Bytes::new(350),
        server_delay: Duration::ZERO,
        pause: (Duration::secs(1), Duration::secs(1)),
    })
}

fn video(ladder_mbit: &[u64]) -> SessionSpec {
    SessionSpec::Video(VideoSpec {
        ladder: ladder_mbit.iter().map(|mbit| Rate::mbit(*mbit)).collect(),
        segment: Duration::secs(2),
        buffer: Duration::secs(10),
        request: Bytes::new(300),
        gives_up: false,
    })
}

fn web(rate: f64, version: HttpVersion) -> SessionSpec {
    SessionSpec::Web(WebSpec { connections_per_s: rate, version, server_delay_scale: Duration::us(3279) })
}

#[test]
fn a_short_transfer_takes_a_handshake_and_its_data() {
    let outcome = run(&alone(short(1_448, Duration::secs(1), Arrivals::Periodic), 10));
    let transfers = transfers(&outcome);
    // The eleventh begins at the very end.
    assert_eq!((transfers.begun, transfers.complete, transfers.refused), (11, 10, 0));
    // Two round trips of 20.4 ms, 1.2 ms for the segment; small packets and jitter take the rest.
    let slowest = transfers.completion.quantile(1.0).expect("some").as_secs_f64() * 1e3;
    assert!((42.0..42.4).contains(&slowest), "{slowest} ms");
    let slowdown = transfers.slowdown_millionths.mean().expect("some") / 1e6;
    assert!((1.0..1.01).contains(&slowdown), "{slowdown}");
    assert_eq!(outcome.flows[0].delivered_bytes, 10 * 1_448);
    assert_eq!(outcome.flows[0].retransmitted_packets, 0);
}

/// A megabyte takes 8.8 s at 1 Mbit/s, and one begins every 10 s: no part of 5 s holds one whole.
#[test]
fn a_transfer_counts_in_the_part_in_which_it_ends() {
    let counted = |warmup| {
        let mut spec = at(Rate::mbit(1), vec![session(short(1_000_000, Duration::secs(10), Arrivals::Periodic))], 5);
        spec.warmup = Duration::secs(warmup);
        let outcome = run(&spec);
        let transfers = transfers(&outcome);
        (transfers.begun, transfers.complete, transfers.completion.len(), transfers.open)
    };
    assert_eq!([9, 14, 19, 24].map(counted), [(1, 0, 0, 1), (0, 1, 1, 0), (1, 0, 0, 1), (0, 1, 1, 0)]);
}

#[test]
fn short_transfer_delivers_every_byte_without_padding() {
    for size in [1, 1_447, 1_449, 14_480, 100_001] {
        let outcome = run(&alone(short(size, Duration::secs(1), Arrivals::Periodic), 9));
        assert_eq!(outcome.flows[0].delivered_bytes, 9 * size, "{size}");
        assert_eq!(outcome.flows.len(), 1);
    }
}

#[test]
fn transfers_that_overlap_each_have_their_connection() {
    // A megabyte every half second is 16 Mbit/s, more than the link carries: more and more are
    // open. The times are random, since a handshake repeated every second would meet the full queue
    // of transfers that begin every second for ever.
    let outcome = run(&alone(short(1_000_000, Duration::ms(500), Arrivals::Poisson), 60));
    let transfers = transfers(&outcome);
    assert!((90..150).contains(&transfers.begun), "{} begun", transfers.begun);
    assert!((30..75).contains(&transfers.complete), "{} complete", transfers.complete);
    let goodput = outcome.flows[0].delivered_bytes as f64 * 8.0 / 60.0;
    assert!(goodput > 9e6, "{goodput}");
}

#[test]
fn pauses_separate_transfers_and_connections_can_be_kept() {
    let pause = (Duration::secs(1), Duration::secs(2));
    let typical_ms = |size, connection| {
        let outcome = run(&alone(SessionSpec::BulkWithPauses { size: Bytes::new(size), pause, connection }, 60));
        let transfers = transfers(&outcome);
        assert!(outcome.flows[0].delivered_bytes >= transfers.complete * size);
        (transfers.complete, transfers.completion.quantile(0.5).expect("some").as_secs_f64() * 1e3)
    };
    // A megabyte takes nearly a second, a pause one and a half.
    let (complete, _) = typical_ms(1_000_001, ConnectionUse::Fresh);
    assert!((20..32).contains(&complete), "{complete} complete");
    // A transfer that fits into the initial window takes two round trips on a new connection and
    // one on an open one.
    let (_, fresh) = typical_ms(14_000, ConnectionUse::Fresh);
    let (_, kept) = typical_ms(14_000, ConnectionUse::Kept);
    assert!((20.0..21.0).contains(&(fresh - kept)), "fresh {fresh} ms, kept {kept} ms");
}

#[test]
fn a_page_of_one_object_takes_two_round_trips() {
    let outcome = run(&alone(page(1, 6), 100));
    let transfers = transfers(&outcome);
    assert!(transfers.page_load.len() > 80, "{} pages", transfers.page_load.len());
    // Handshake, request and response: two round trips of 20.4 ms, and the object's transmission,
    // up to a second for the largest.
    let fastest = transfers.page_load.shortest().expect("some").as_secs_f64() * 1e3;
    assert!((42.0..44.0).contains(&fastest), "{fastest} ms");
    assert_eq!(transfers.page_load.len(), transfers.complete);
    // The first byte of a response is there one round trip after the handshake and the request.
    let first = transfers.first_byte.quantile(0.5).expect("some").as_secs_f64() * 1e3;
    assert!((40.8..45.0).contains(&first), "{first} ms");
}

#[test]
fn pages_use_their_connections_for_all_their_objects() {
    let outcome = run(&alone(page(50, 6), 100));
    let six = transfers(&outcome);
    let pages = six.page_load.len();
    assert!(pages > 30, "{pages} pages");
    assert!((50 * pages..50 * pages + 50).contains(&six.complete), "{} objects", six.complete);
    // An object without loss needs a round trip on an open connection.
    assert!(six.completion.shortest().expect("some") > Duration::us(20_400));
    let one_by_one = run(&alone(page(50, 1), 100));
    let load = |transfers: &TransferOutcome| transfers.page_load.quantile(0.5).expect("some");
    assert!(load(transfers(&one_by_one)) > load(six) * 2, "six connections are quicker than one");
}

#[test]
fn video_settles_on_what_the_link_carries() {
    let outcome = run(&alone(video(&[1, 2, 4, 8, 16]), 120));
    let video = outcome.groups[0].videos[0];
    let bitrate = video.media_bits as f64 / video.media.as_secs_f64();
    // 0.8 times some 9.5 Mbit/s is below 8.
    assert!((3.5e6..4.0e6).contains(&bitrate), "{bitrate}");
    assert_eq!(video.stalls, 0);
    assert!((1..=4).contains(&video.switches), "{} switches", video.switches);
    // The buffer holds ten seconds at most, so media and playing stay together.
    assert!(video.media.as_secs_f64() - video.played.as_secs_f64() <= 10.0);
    assert!((119.0..120.0).contains(&video.played.as_secs_f64()), "{}", video.played);
}

#[test]
fn video_stalls_where_even_its_lowest_quality_does_not_fit() {
    let outcome = run(&alone(video(&[20]), 600));
    let video = outcome.groups[0].videos[0];
    // The link carries a little under half of it.
    let share = video.played.as_secs_f64() / (video.played.as_secs_f64() + video.stalled.as_secs_f64());
    assert!((0.46..0.49).contains(&share), "{share}");
    assert!(video.stalls > 5);
}

#[test]
fn a_player_that_gives_up_hardly_stalls_when_others_come() {
    // Sixteen downloads begin when the video has settled on 15 Mbit/s, and leave it a seventeenth.
    let stalled = |gives_up: bool| {
        let SessionSpec::Video(spec) = video(&[1, 8, 15]) else { panic!("a video") };
        let film = session(SessionSpec::Video(VideoSpec { gives_up, ..spec }));
        let sources = [vec![film], vec![bulk("reno"); 16]].concat();
        let mut spec = at(Rate::mbit(20), sources, 60);
        spec.links[0].queue = queue("fq-codel", Limit::packets(1000));
        spec.flows.iter_mut().skip(1).for_each(|flow| flow.start = Instant::ZERO + Duration::secs(20));
        run(&spec).groups[0].videos[0].stalled
    };
    let (waits, gives_up) = (stalled(false), stalled(true));
    assert!(waits > Duration::secs(8) && gives_up < Duration::secs(2), "{waits} and {gives_up}");
}

#[test]
fn web_connections_come_at_their_rate_and_end() {
    for version in [HttpVersion::Http10, HttpVersion::Http11] {
        let outcome = run(&at(Rate::mbit(100), vec![session(web(50.0, version))], 60));
        let transfers = transfers(&outcome);
        let a_second = transfers.begun as f64 / 60.0;
        match version {
            HttpVersion::Http10 => assert!((40.0..60.0).contains(&a_second), "{a_second}"),
            HttpVersion::Http11 => assert!((45.0..90.0).contains(&a_second), "{a_second}"),
        }
        assert!(transfers.complete as f64 > 0.98 * transfers.begun as f64, "{} of {}", transfers.complete, transfers.begun);
        // Two round trips at least.
        assert!(transfers.completion.shortest().expect("some") > Duration::us(20_400));
    }
}

fn call(content: Content, packet_size: u64, interval: Duration) -> SourceSpec {
    SourceSpec::Call { content, interval, packet_size: Bytes::new(packet_size), ecn: Ecn::NotEct }
}

fn frames() -> SourceSpec {
    let (rate, interval) = (Rate::mbit(2), Duration::ms(40));
    SourceSpec::Frames { rate, interval, group: 12, ratio: 5.0, packet_size: Bytes::new(1500), ecn: Ecn::NotEct }
}

#[test]
fn calls_are_heard_with_their_delays_and_losses() {
    let voice = || call(Content::Voice(Codec::Pcmu), 100, Duration::us(12_500));
    let quiet = run(&at(Rate::mbit(10), vec![voice()], 100));
    let heard = &quiet.groups[0].calls[0];
    // The last one is on its way at the end.
    assert_eq!((heard.received, heard.lost, heard.late), (8_000, 0, 0));
    // 10.2 ms of propagation, transmission of 100 bytes at 10 Mbit/s and twice at 1 Gbit/s, jitter.
    assert!((10.2e-3..10.35e-3).contains(&heard.delay_p99.as_secs_f64()), "{}", heard.delay_p99);
    // A full buffer of a hundred packets takes 120 ms, and an overload loses a share.
    let full = SourceSpec::Cbr { rate: Rate::mbit(12), packet_size: Bytes::new(1500), ecn: Ecn::NotEct };
    let busy = run(&at(Rate::mbit(10), vec![voice(), full], 100));
    let heard = &busy.groups[0].calls[0];
    assert!(heard.lost > 0 && heard.longest_loss_run >= 1, "{heard:?}");
    assert!((0.115..0.135).contains(&heard.delay_p50.as_secs_f64()), "{}", heard.delay_p50);
    // The packets that queues dropped are those that the listener misses, but for the last ones,
    // which nothing has followed yet.
    let (flow, missed) = (&busy.flows[0], heard.lost);
    let dropped = flow.dropped_packets.expect("the simulator counts them");
    assert!((missed..missed + 2).contains(&dropped), "{dropped} dropped, {missed} missed");
    let under_way = flow.sent_packets - dropped - heard.received;
    assert!(under_way <= 11, "{under_way} under way");
}

#[test]
fn fingerprints_of_models_do_not_change() {
    let pauses = (Duration::secs(1), Duration::secs(2));
    let bulk = |connection| SessionSpec::BulkWithPauses { size: Bytes::new(1_000_000), pause: pauses, connection };
    let cases = [
        ("bulk-with-pauses", session(bulk(ConnectionUse::Fresh))),
        ("kept connection", session(bulk(ConnectionUse::Kept))),
        ("short", session(short(100_000, Duration::ms(300), Arrivals::Poisson))),
        ("web, HTTP/1.0", session(web(20.0, HttpVersion::Http10))),
        ("web, HTTP/1.1", session(web(20.0, HttpVersion::Http11))),
        ("page", session(page(50, 6))),
        ("video", session(video(&[1, 2, 4]))),
        ("voip", call(Content::Voice(Codec::Pcmu), 100, Duration::us(12_500))),
        ("gaming", call(Content::Game, 130, Duration::ms(16))),
        ("video-frames", frames()),
    ];
    let mut table = String::new();
    for (name, source) in cases {
        let outcome = run(&at(Rate::mbit(10), vec![source.clone(), source], 20));
        let begun = outcome.groups[0].transfers.as_ref().map_or(0, |transfers| transfers.begun);
        let packets = outcome.links[0].departed_whole_run;
        writeln!(table, "{name:18} {:016x} departed {packets:6} begun {begun:5}", outcome.fingerprint).expect("a string");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn stopping_begins_nothing_new_and_ends_what_is_open() {
    let mut spec = alone(short(20_000, Duration::ms(100), Arrivals::Poisson), 20);
    spec.flows[0].stop = Some(Instant::ZERO + Duration::secs(10));
    let outcome = run(&spec);
    let transfers = transfers(&outcome);
    assert!((70..140).contains(&transfers.begun), "{}", transfers.begun);
    assert_eq!(transfers.begun, transfers.complete);
}

#[test]
fn losses_and_competition_lose_no_transfer() {
    let mut sources = vec![bulk("cubic"), session(page(20, 6)), session(web(20.0, HttpVersion::Http11)), session(video(&[1, 2]))];
    sources.push(session(short(30_000, Duration::ms(300), Arrivals::Poisson)));
    for kind in ["tail-drop", "fq-codel"] {
        let link = bottleneck(Rate::mbit(10), Duration::ms(10), queue(kind, Limit::packets(60)));
        let mut spec = dumbbell(link, sources.clone(), Duration::secs(1), Duration::secs(2), Duration::secs(60));
        spec.links[0].loss = 0.01;
        let outcome = run(&spec);
        let transfers = transfers(&outcome);
        assert!(transfers.begun > 1_000 && transfers.complete as f64 > 0.9 * transfers.begun as f64, "{kind}: {transfers:?}");
        assert_eq!(outcome.fingerprint, run(&spec).fingerprint, "two runs differ");
    }
}
