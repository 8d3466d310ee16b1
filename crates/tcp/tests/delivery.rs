//! Every byte arrives once and in order, whatever the network does, and in bounded time.

mod pipe;

use goodqueue_base::units::{Bytes, Duration, Rng};
use goodqueue_tcp::cc::kinds;
use goodqueue_tcp::{AckPolicy, CcConfig, Data, EcnMode, LossDetection, ReceiverConfig, SackReports, SenderConfig};
use pipe::{Fate, Pipe};
use proptest::prelude::*;

/// Every control that there is.
fn kind(number: usize) -> &'static str {
    kinds()[number].kind
}

fn config(kind: &'static str, detection: LossDetection, segments: u64) -> SenderConfig {
    SenderConfig {
        cc: CcConfig { kind, params: Vec::new() },
        loss_detection: detection,
        data: Data::Bytes(Bytes::new(segments * 1448)),
        ..SenderConfig::default()
    }
}

#[test]
fn a_transfer_without_losses_takes_about_its_round_trips() {
    // LEDBAT has no slow start.
    for kind in kinds().iter().map(|spec| spec.kind).filter(|&kind| kind != "ledbat") {
        let mut pipe = Pipe::new(&config(kind, LossDetection::Rack, 100), &ReceiverConfig::default());
        pipe.finish(Duration::ms(200));
        assert_eq!(pipe.receiver.delivered_bytes(), 144_800);
        assert!(pipe.receiver.is_complete());
        let done = pipe.sender.statistics();
        assert_eq!((done.sent_segments, done.retransmitted_segments, done.timeouts, done.probes), (100, 0, 0, 0));
        // Handshake, then 10, 20, 40, 30 segments.
        let round_trips = pipe.now.as_secs_f64() / 0.020;
        assert!((5.0..7.0).contains(&round_trips), "{kind}: {round_trips}");
    }
}

#[test]
fn a_last_segment_of_any_size_is_delivered() {
    for bytes in [0, 1, 1447, 1448, 1449, 100_001] {
        let mut sender = config("cubic", LossDetection::Rack, 0);
        sender.data = Data::Bytes(Bytes::new(bytes));
        let mut pipe = Pipe::new(&sender, &ReceiverConfig::default());
        pipe.finish(Duration::secs(1));
        assert_eq!(pipe.receiver.delivered_bytes(), bytes);
    }
}

const DETECTIONS: [(LossDetection, SackReports); 4] = [
    (LossDetection::Rack, SackReports::Compressed),
    (LossDetection::Rack, SackReports::Plain),
    (LossDetection::Rfc6675, SackReports::Compressed),
    (LossDetection::Duplicates, SackReports::Off),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn random_loss_reordering_and_duplication_never_stop_a_transfer(
        seed in any::<u64>(),
        number in 0..kinds().len(),
        detection in 0..DETECTIONS.len(),
        loss in 0.0f64..0.3,
        ack_loss in 0.0f64..0.3,
        late in 0.0f64..0.2,
        twice in 0.0f64..0.1,
        marked in 0.0f64..0.1,
        max_window in prop_oneof![Just(u64::MAX), (1u64..50).prop_map(|segments| segments * 1448)],
        segments in 1u64..400,
        policy in 0usize..3,
    ) {
        let (detection, sack) = DETECTIONS[detection];
        let policy = [AckPolicy::Delayed, AckPolicy::EveryPacket, AckPolicy::EveryWindow { segments: 20 }][policy];
        let receiver = ReceiverConfig { ack_policy: policy, sack, ..ReceiverConfig::default() };
        let mut rng = Rng::new(seed);
        let mut ack_rng = Rng::new(seed ^ 1);
        let sender = SenderConfig {
            ecn: EcnMode::Classic,
            max_window: Bytes::new(max_window),
            ..config(kind(number), detection, segments)
        };
        let mut pipe = Pipe::new(&sender, &receiver)
            .with_fate(move |_, _| {
                let draw = rng.uniform();
                let extra = Duration::us((rng.uniform() * 30_000.0) as u64);
                if draw < loss {
                    Fate::Drop
                } else if draw < loss + late {
                    Fate::Late(extra)
                } else if draw < loss + late + twice {
                    Fate::Twice(extra)
                } else if draw < loss + late + twice + marked {
                    Fate::Mark
                } else {
                    Fate::Deliver
                }
            })
            .with_lost_acks(move |_| ack_rng.uniform() < ack_loss);
        // With lost acknowledgements, round-trip times look as long as timeouts, so the timer may
        // stay at its maximum of two minutes.
        pipe.finish(Duration::secs(200 * (segments + 100)));
        let sent = pipe.sender.statistics().sent_segments;
        prop_assert!(sent <= 10 * segments + 100, "{} segments sent for {}", sent, segments);
        prop_assert_eq!(pipe.receiver.delivered_bytes(), segments * 1448);
    }
}

#[test]
fn settings_outside_their_range_are_named_with_value_and_range() {
    use goodqueue_tcp::Sender;
    let message = |config: SenderConfig| Sender::new(&config, Rng::new(1)).map(|_| ()).unwrap_err().to_string();
    let base = SenderConfig::default();
    assert_eq!(message(SenderConfig { mss: Bytes::new(1), ..base.clone() }), "mss: 1 B is out of range: allowed 16 B to 65535 B");
    assert_eq!(
        message(SenderConfig { initial_window: 0, ..base.clone() }),
        "initial_window: 0 is out of range: allowed 1 to 1048576"
    );
    assert_eq!(
        message(SenderConfig { rto_min: Duration::ZERO, ..base.clone() }),
        "rto_min: 0 s is out of range: allowed 1 ns to 60 s"
    );
    let narrow = SenderConfig { max_window: Bytes::new(100), ..base };
    assert_eq!(message(narrow), "max_window: 100 B is below mss (1448 B): allowed from mss");
}
