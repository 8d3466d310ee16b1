//! Segmentation offload: the pieces in which segments leave, and how their ends are acknowledged.

mod pipe;

use goodqueue_base::units::{Bytes, Duration, Rate};
use goodqueue_tcp::{CcConfig, Data, ReceiverConfig, SackReports, SenderConfig};
use pipe::{Log, Pipe};

fn config(kind: &'static str, offload: bool) -> SenderConfig {
    SenderConfig {
        cc: CcConfig { kind, params: Vec::new() },
        data: Data::Unlimited,
        offload: Some(offload),
        ..SenderConfig::default()
    }
}

/// Segments of one flow in the second half of a run of `2 * half`, over a buffer of one
/// bandwidth-delay product.
fn sent(config: &SenderConfig, receiver: &ReceiverConfig, mbit: u64, half: Duration) -> (Pipe, Vec<Log>) {
    let packets = (mbit * 20_000 / 8 / 1500) as usize;
    let mut pipe = Pipe::new(config, receiver).with_path(Rate::mbit(mbit), Duration::ms(10), packets);
    pipe.run(half);
    let before = pipe.log.len();
    pipe.run(half);
    let log = pipe.log.split_off(before);
    (pipe, log)
}

/// Number of new segments in each piece that ends with PSH.
fn pieces(log: &[Log]) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut first = 0;
    for (place, one) in log.iter().enumerate() {
        if place > 0 && one.at != log[place - 1].at {
            first = place;
        }
        if one.pushed {
            sizes.push(place + 1 - first);
            first = place + 1;
        }
    }
    sizes
}

/// At 10 Mbit/s a millisecond has less than two segments, so the two segments that an
/// acknowledgement releases leave as a pair. An additional segment leaves alone where the window
/// grows, and where one of the application's buffers of 45 segments ends.
#[test]
fn slow_flows_send_pairs() {
    let (_, log) = sent(&config("reno", true), &ReceiverConfig::default(), 10, Duration::secs(20));
    let sizes = pieces(&log);
    let pairs = sizes.iter().filter(|&&size| size == 2).count();
    assert!(
        pairs * 100 > sizes.len() * 98 && 2 * pairs * 100 > 80 * log.len(),
        "{pairs} of {} in {} segments",
        sizes.len(),
        log.len()
    );
}

/// `tcp_tso_autosize`: 1.2 times 100 Mbit/s are ten segments in 2^-10 s, and pairs wait until there
/// are ten.
#[test]
fn fast_flows_send_what_goes_out_in_a_millisecond() {
    let (_, log) = sent(&config("cubic", true), &ReceiverConfig::default(), 100, Duration::secs(10));
    let sizes = pieces(&log);
    let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
    assert!((7.0..=11.0).contains(&mean) && sizes.iter().all(|&size| size <= 20), "{mean}");
}

/// A window of three is halved: the result are single segments without PSH.
#[test]
fn a_piece_is_half_a_window_at_most() {
    let small = SenderConfig { initial_window: 3, data: Data::Bytes(Bytes::new(3 * 1448)), ..config("reno", true) };
    let mut pipe = Pipe::new(&small, &ReceiverConfig::default());
    pipe.finish(Duration::secs(5));
    assert_eq!(pipe.log.len(), 3);
    assert!(pipe.log.iter().all(|one| !one.pushed));
}

/// Linux receivers since 6.6 acknowledge the end of a piece at once, others every second segment.
#[test]
fn the_end_of_a_piece_is_answered_at_once() {
    let odd = SenderConfig { initial_window: 39, data: Data::Bytes(Bytes::new(60 * 1448)), ..config("reno", true) };
    let answered = |sack| {
        let receiver = ReceiverConfig { sack, ..ReceiverConfig::default() };
        let mut pipe = Pipe::new(&odd, &receiver);
        pipe.finish(Duration::secs(5));
        let ends: Vec<u64> = pipe.log.iter().filter(|one| one.pushed).map(|one| one.number + 1448).collect();
        assert!(ends.len() > 3);
        ends.iter().all(|&end| pipe.acks.iter().any(|(_, ack)| ack.number == end))
    };
    assert!(answered(SackReports::Compressed));
    assert!(!answered(SackReports::Plain));
}

/// Nothing waits longer than for the next acknowledgement: a flow with pieces fills the line as
/// well as one without.
#[test]
fn what_waits_costs_no_throughput() {
    for kind in ["reno", "cubic", "htcp", "bbr"] {
        let delivered = |offload| {
            sent(&config(kind, offload), &ReceiverConfig::default(), 100, Duration::secs(10)).0.receiver.delivered_bytes()
        };
        let (with, without) = (delivered(true) as f64, delivered(false) as f64);
        assert!((0.97..1.03).contains(&(with / without)), "{kind}: {with} and {without}");
    }
}
