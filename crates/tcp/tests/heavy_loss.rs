//! A large part of a window is lost: every control recovers without a pause, by time and by
//! counting. Except in the first test segments leave one by one, since with pieces it is random
//! what is delivered after a retransmission.

mod pipe;

use goodqueue_base::units::{Bytes, Duration, Rate, Rng};
use goodqueue_tcp::{CcConfig, Data, LossDetection, ReceiverConfig, SenderConfig, kinds};
use pipe::{Fate, Pipe};
use std::collections::{HashMap, HashSet};

const MSS: u64 = 1448;
const WINDOW: u64 = 100;
const SEGMENTS: u64 = 400;
const SHARES: [u64; 3] = [30, 60, 90];

/// The pattern of losses in the first window: `share` percent of its segments.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Head,
    Tail,
    /// Evenly spread; 50 % means every other one.
    Alternating,
    Random(u64),
}

const PATTERNS: [Pattern; 6] =
    [Pattern::Head, Pattern::Tail, Pattern::Alternating, Pattern::Random(1), Pattern::Random(2), Pattern::Random(3)];

fn lost(pattern: Pattern, share: u64) -> HashSet<u64> {
    match pattern {
        Pattern::Head => (0..share).collect(),
        Pattern::Tail => (WINDOW - share..WINDOW).collect(),
        Pattern::Alternating => (0..WINDOW).filter(|n| (n + 1) * share / 100 > n * share / 100).collect(),
        Pattern::Random(seed) => {
            let mut rng = Rng::new(seed);
            let mut left: Vec<u64> = (0..WINDOW).collect();
            (0..share).map(|_| left.swap_remove(rng.below(left.len() as u64) as usize)).collect()
        }
    }
}

fn transfer(
    kind: &'static str,
    (detection, offload): (LossDetection, bool),
    segments: u64,
    copies: usize,
    lost: HashSet<u64>,
) -> Pipe {
    let config = SenderConfig {
        cc: CcConfig { kind, params: Vec::new() },
        loss_detection: detection,
        offload: Some(offload),
        initial_window: WINDOW as u32,
        max_window: Bytes::new(1 << 24),
        data: Data::Bytes(Bytes::new(segments * MSS)),
        ..SenderConfig::default()
    };
    let mut left: HashMap<u64, usize> = lost.into_iter().map(|number| (number, copies)).collect();
    let mut pipe =
        Pipe::new(&config, &ReceiverConfig::default()).with_fate(move |segment, _| match left.get_mut(&(segment.number / MSS)) {
            Some(copies) if *copies > 0 => {
                *copies -= 1;
                Fate::Drop
            }
            _ => Fate::Deliver,
        });
    pipe.finish(Duration::secs(60));
    assert_eq!(pipe.receiver.delivered_bytes(), segments * MSS);
    pipe
}

/// Longest time between two sent segments.
fn longest_pause(pipe: &Pipe) -> Duration {
    let pause = |pair: &[pipe::Log]| pair[1].at.since(pair[0].at);
    pipe.log.windows(2).map(pause).max().unwrap_or(Duration::ZERO)
}

/// The first round trip, whose data follows the handshake's third segment of 52 bytes.
const RTT: Duration = Duration::us(20_125);

fn each(
    (detection, offload): (LossDetection, bool),
    segments: u64,
    copies: usize,
    shares: &[u64],
    mut check: impl FnMut(&str, u64, &Pipe),
) {
    for spec in kinds() {
        for &share in shares {
            for pattern in PATTERNS {
                let lost = lost(pattern, share);
                assert_eq!(lost.len() as u64, share);
                let pipe = transfer(spec.kind, (detection, offload), segments, copies, lost);
                check(
                    &format!("{} {detection:?} {share} % {pattern:?}: {:?}", spec.kind, pipe.sender.statistics()),
                    share,
                    &pipe,
                );
            }
        }
    }
}

#[test]
fn with_more_to_send_no_share_of_a_window_needs_a_timeout() {
    let ways = [LossDetection::Rack, LossDetection::Rfc6675].map(|detection| [true, false].map(|offload| (detection, offload)));
    for (detection, offload) in ways.into_iter().flatten() {
        each((detection, offload), SEGMENTS, 1, &SHARES, |case, share, pipe| {
            let done = pipe.sender.statistics();
            // Counting may retransmit one segment unnecessarily, to be sure of the last (RFC 6675
            // §4, rule 4).
            let in_vain = done.retransmitted_segments - share;
            assert!(done.timeouts == 0 && in_vain <= u64::from(detection == LossDetection::Rfc6675), "{case}");
            assert!(longest_pause(pipe) <= RTT, "{case}: {}", longest_pause(pipe));
        });
    }
}

/// A probe finds a lost tail two round trips after the last segment left, here after it had waited
/// in the queue; without probes the timer does.
#[test]
fn the_last_window_needs_a_probe_at_most() {
    each((LossDetection::Rack, false), WINDOW, 1, &SHARES, |case, share, pipe| {
        let done = pipe.sender.statistics();
        assert_eq!((done.timeouts, done.retransmitted_segments), (0, share), "{case}");
        assert!(done.probes <= 1 && longest_pause(pipe) < RTT * 5, "{case}: {}", longest_pause(pipe));
    });
    each((LossDetection::Rfc6675, false), WINDOW, 1, &SHARES, |case, _, pipe| {
        let done = pipe.sender.statistics();
        assert!(done.timeouts <= 1 && longest_pause(pipe) < Duration::ms(300), "{case}: {}", longest_pause(pipe));
    });
}

/// The retransmissions are lost, too: data delivered after them reveals this by time, but not by
/// counting.
#[test]
fn lost_copies_are_found_by_what_is_delivered_later() {
    each((LossDetection::Rack, false), SEGMENTS, 2, &[30], |case, share, pipe| {
        let done = pipe.sender.statistics();
        assert_eq!((done.timeouts, done.retransmitted_segments), (0, 2 * share), "{case}");
        assert!(longest_pause(pipe) <= RTT, "{case}: {}", longest_pause(pipe));
    });
    each((LossDetection::Rfc6675, false), SEGMENTS, 2, &[30], |case, _, pipe| {
        assert!(pipe.sender.statistics().timeouts >= 1, "{case}");
    });
}

/// Everything sent for a while is lost, several times over: each timeout repairs at least one
/// segment, and the next comes after a round trip and the smallest timeout, without doubling.
#[test]
fn nothing_arriving_costs_a_timeout_for_each_segment_at_most() {
    for detection in [LossDetection::Rack, LossDetection::Rfc6675] {
        each((detection, false), SEGMENTS, 3, &[60, 90], |case, share, pipe| {
            let done = pipe.sender.statistics();
            assert!(done.timeouts <= share, "{case}");
            assert!(longest_pause(pipe) < Duration::ms(500), "{case}: {}", longest_pause(pipe));
        });
    }
}

/// Byte offsets beyond 32 bits: every third segment of a few around 4 GiB is lost, and one in a
/// thousand before. (Losing a third of several consecutive windows would leave a window too small
/// for three duplicates.)
#[test]
fn sequence_numbers_beyond_four_gibibytes_are_repaired_alike() {
    const LARGE: u64 = 65_495;
    let crossing = (1u64 << 32) / LARGE;
    for detection in [LossDetection::Rack, LossDetection::Rfc6675] {
        let config = SenderConfig {
            mss: Bytes::new(LARGE),
            loss_detection: detection,
            max_window: Bytes::new(400 * LARGE),
            data: Data::Bytes(Bytes::new((crossing + 1_000) * LARGE)),
            ..SenderConfig::default()
        };
        let receiver = ReceiverConfig { mss: Bytes::new(LARGE), ..ReceiverConfig::default() };
        let mut rng = Rng::new(4);
        let mut left: HashSet<u64> = (0..crossing - 200).filter(|_| rng.fires(0.001)).collect();
        left.extend((crossing - 8..crossing + 8).filter(|number| number % 3 == 0));
        let lost = left.len() as u64;
        let mut pipe = Pipe::new(&config, &receiver)
            .with_path(Rate::gbit(40), Duration::ms(1), usize::MAX)
            .with_fate(move |segment, _| if left.remove(&(segment.number / LARGE)) { Fate::Drop } else { Fate::Deliver });
        pipe.finish(Duration::secs(60));
        assert_eq!(pipe.receiver.delivered_bytes(), (crossing + 1_000) * LARGE);
        let done = pipe.sender.statistics();
        assert_eq!((done.timeouts, done.retransmitted_segments), (0, lost), "{detection:?}");
    }
}
