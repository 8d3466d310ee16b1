//! The state machines under arbitrary segments (reordered, repeated, lost, invented) and jumps of
//! time: no panic, no endless loop, and data delivered once and in order.

use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rng};
use goodqueue_tcp::{
    AckPolicy, CcConfig, Data, EcnMode, Flags, LossDetection, Receiver, ReceiverConfig, SackBlock, Segment, Sender, SenderConfig,
    kinds,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const MSS: u64 = 1_000;
const SEGMENTS: u64 = 500;

/// An event at a sender.
#[derive(Clone, Debug)]
enum Operation {
    /// An acknowledgement near what was sent: number and blocks in segments relative to the last
    /// acknowledged one.
    Ack { number: i64, blocks: Vec<(u32, u32)>, flags: u8, echo_age_us: u64, ce: u8 },
    /// An acknowledgement of random bits.
    Noise { number: u64, blocks: Vec<(u32, u32)>, flags: u8, echo: u64, ce: u8, payload: u16, delay: u32 },
    /// Time passes, possibly beyond several timers.
    Wait(u64),
    /// The next timer fires on time.
    Timer,
    /// Polling stops here, as in a host whose own queue is full.
    Hold,
}

fn blocks() -> impl Strategy<Value = Vec<(u32, u32)>> {
    proptest::collection::vec((0u32..80, 0u32..30), 0..=3)
}

fn operation() -> impl Strategy<Value = Operation> {
    let flags = prop_oneof![8 => Just(0u8), 1 => any::<u8>()];
    let ack = (-3i64..40, blocks(), flags, 0u64..2_000_000, any::<u8>());
    let noise = (any::<u64>(), proptest::collection::vec((any::<u32>(), any::<u32>()), 0..=3), any::<u8>(), any::<u64>());
    let noise = (noise, any::<u8>(), any::<u16>(), any::<u32>());
    prop_oneof![
        10 => ack.prop_map(|(number, blocks, flags, echo_age_us, ce)| Operation::Ack { number, blocks, flags, echo_age_us, ce }),
        1 => noise.prop_map(|((number, blocks, flags, echo), ce, payload, delay)| {
            Operation::Noise { number, blocks, flags, echo, ce, payload, delay }
        }),
        3 => prop_oneof![1u64..1_000_000, 1u64..100_000_000, 1u64..200_000_000_000, Just(86_400_000_000_000)].prop_map(Operation::Wait),
        3 => Just(Operation::Timer),
        1 => Just(Operation::Hold),
    ]
}

/// A sender with a clock, and what it has sent so far.
struct Driven {
    sender: Sender,
    now: Instant,
    /// One above the highest byte sent; the highest cumulative acknowledgement of sent data.
    sent: u64,
    acked: u64,
    /// Segments without data or flags.
    empty: u64,
}

impl Driven {
    /// Polls all available segments; fails if the sender never stops.
    fn drain(&mut self, most: usize) {
        for _ in 0..most {
            let Some(out) = self.sender.poll_transmit(self.now) else { return };
            let segment = out.segment;
            let end = segment.number + u64::from(segment.payload);
            assert!(end <= SEGMENTS * MSS, "beyond the end of the data");
            if segment.payload == 0 && !segment.flags.has(Flags::SYN) {
                // Only the third segment of the handshake may be empty.
                assert!(self.empty == 0, "an empty segment");
                self.empty += 1;
                continue;
            }
            assert!(out.retransmission || segment.flags.has(Flags::SYN) || segment.number == self.sent, "new data leaves a gap");
            self.sent = self.sent.max(end);
        }
        assert!(most < 1_000, "it never stops sending");
    }

    fn serve_timer(&mut self) {
        let Some(due) = self.sender.next_timeout() else { return };
        self.now = self.now.max(due);
        for _ in 0..20 {
            self.sender.handle_timeout(self.now);
            self.drain(10_000);
            if self.sender.next_timeout().is_none_or(|due| due > self.now) {
                return;
            }
        }
        panic!("the timer stands still at {}", self.now);
    }

    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Wait(nanos) => self.now += Duration::ns(*nanos),
            Operation::Timer => self.serve_timer(),
            Operation::Hold => {
                self.drain(2);
                goodqueue_tcp::hot::hold(&mut self.sender, self.now);
            }
            Operation::Ack { number, blocks, flags, echo_age_us, ce } => {
                let number = (self.acked / MSS).saturating_add_signed(*number) * MSS;
                if number <= self.sent {
                    self.acked = self.acked.max(number);
                }
                let blocks: Vec<_> = blocks.iter().map(|&(offset, len)| (offset * MSS as u32, len * MSS as u32)).collect();
                let echo = self.now.as_nanos().saturating_sub(echo_age_us * 1_000);
                self.acknowledge(number, echo, &blocks, flags | Flags::ACK.0, *ce, 0, 0);
            }
            Operation::Noise { number, blocks, flags, echo, ce, payload, delay } => {
                if *number <= self.sent && flags & Flags::SYN.0 == 0 {
                    self.acked = self.acked.max(*number);
                }
                self.acknowledge(*number, *echo, blocks, *flags, *ce, *payload, *delay);
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of a segment")]
    fn acknowledge(&mut self, number: u64, echo: u64, blocks: &[(u32, u32)], flags: u8, ce: u8, payload: u16, delay: u32) {
        let mut ack = Segment {
            number,
            timestamp: Instant::from_nanos(echo),
            flags: Flags(flags),
            ce,
            payload,
            delay,
            ..Segment::default()
        };
        for (block, &(offset, len)) in ack.sack.iter_mut().zip(blocks) {
            *block = SackBlock { offset, len };
        }
        self.sender.handle_ack(self.now, &ack);
    }
}

fn driven(kind: usize, loss_detection: LossDetection, ecn: EcnMode, max_window: u64) -> Driven {
    let config = SenderConfig {
        mss: Bytes::new(MSS),
        cc: CcConfig { kind: kinds()[kind].kind, params: Vec::new() },
        loss_detection,
        ecn,
        max_window: Bytes::new(max_window),
        data: Data::Bytes(Bytes::new(SEGMENTS * MSS)),
        ..SenderConfig::default()
    };
    let mut sender = Sender::new(&config, Rng::new(1)).expect("valid settings");
    let mut now = Instant::from_nanos(1_000_000);
    sender.connect(now);
    let syn = sender.poll_transmit(now).expect("a SYN").segment;
    now += Duration::ms(20);
    let granted = Flags(syn.flags.0 & (Flags::AE.0 | Flags::MIRROR.0));
    let answer = Segment {
        timestamp: syn.timestamp,
        flags: Flags::SYN.with(Flags::ACK).with(Flags::ECE).with(granted),
        ..Segment::default()
    };
    sender.handle_ack(now, &answer);
    Driven { sender, now, sent: 0, acked: 0, empty: 0 }
}

const DETECTIONS: [LossDetection; 3] = [LossDetection::Rack, LossDetection::Rfc6675, LossDetection::Duplicates];

fn ecn() -> impl Strategy<Value = EcnMode> {
    prop_oneof![
        Just(EcnMode::Native),
        Just(EcnMode::Off),
        Just(EcnMode::Classic),
        Just(EcnMode::Mirror),
        Just(EcnMode::Accurate),
        Just(EcnMode::L4s)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, rng_seed: proptest::test_runner::RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn no_acknowledgement_breaks_a_sender(
        kind in 0..kinds().len(),
        detection in 0..DETECTIONS.len(),
        ecn in ecn(),
        max_window in prop_oneof![Just(u64::MAX), (1u64..40).prop_map(|segments| segments * MSS)],
        life in proptest::collection::vec(operation(), 1..150),
    ) {
        let mut driven = driven(kind, DETECTIONS[detection], ecn, max_window);
        driven.drain(10_000);
        for operation in &life {
            driven.apply(operation);
            driven.drain(10_000);
            let done = driven.sender.statistics();
            prop_assert!(done.retransmitted_segments <= done.sent_segments);
            prop_assert!(driven.sender.in_flight().get() <= driven.sent + MSS);
            prop_assert!(driven.sender.cwnd() >= Bytes::new(MSS));
        }
        // With an honest receiver the transfer finishes: each timer makes progress.
        for _ in 0..4 * SEGMENTS {
            if driven.sender.is_finished() {
                break;
            }
            driven.serve_timer();
            driven.now += Duration::ms(20);
            let (sent, now) = (driven.sent, driven.now.as_nanos());
            driven.acknowledge(sent, now.saturating_sub(20_000_000), &[], Flags::ACK.0, 0, 0, 0);
            driven.drain(10_000);
        }
        prop_assert!(driven.sender.is_finished(), "stuck: {:?}", driven.sender.statistics());
    }

    #[test]
    fn a_receiver_delivers_each_byte_once_and_in_order(
        policy in prop_oneof![
            Just(AckPolicy::Delayed),
            Just(AckPolicy::EveryPacket),
            (1u32..30).prop_map(|segments| AckPolicy::EveryWindow { segments }),
        ],
        syn in any::<u8>(),
        base in prop_oneof![Just(0u64), Just((1u64 << 32) - 5_000)],
        arrivals in proptest::collection::vec(
            (0u64..20_000, 0u16..3_000, any::<u8>(), 0u8..4, 0u64..80_000_000, any::<bool>()),
            1..200,
        ),
    ) {
        let mut receiver = Receiver::new(&ReceiverConfig { ack_policy: policy, ..ReceiverConfig::default() });
        let mut now = Instant::from_nanos(1);
        receiver.handle_segment(now, &Segment { flags: Flags(syn | Flags::SYN.0), ..Segment::default() }, Ecn::Ect0);
        // Received data as disjoint ranges.
        let mut arrived: BTreeMap<u64, u64> = BTreeMap::new();
        for (start, len) in [(0, base)].into_iter().filter(|&(_, len)| len > 0) {
            for number in (start..len).step_by(65_000) {
                let payload = (len - number).min(65_000) as u16;
                receiver.handle_segment(now, &Segment { number, payload, timestamp: now, ..Segment::default() }, Ecn::NotEct);
            }
            arrived.insert(start, len);
        }
        for (offset, payload, flags, ecn, wait, timer) in arrivals {
            now += Duration::ns(wait);
            if timer && let Some(due) = receiver.next_timeout() {
                now = now.max(due);
                let ack = receiver.handle_timeout(now);
                prop_assert!(ack.is_some() && receiver.next_timeout().is_none());
            }
            let number = base + offset;
            let segment = Segment { number, payload, timestamp: now, flags: Flags(flags & !(Flags::SYN.0 | Flags::ACK.0)), ..Segment::default() };
            let ack = receiver.handle_segment(now, &segment, Ecn::from_bits(ecn));
            if payload > 0 {
                let end = arrived.entry(number).or_insert(number);
                *end = (*end).max(number + u64::from(payload));
            }
            // Contiguous data from the first byte on.
            let delivered = arrived.iter().fold(0, |reached, (&start, &end)| if start <= reached { reached.max(end) } else { reached });
            prop_assert_eq!(receiver.delivered_bytes(), delivered);
            if let Some(ack) = ack {
                prop_assert!(ack.number <= delivered);
                let duplicate = usize::from(ack.flags.has(Flags::DSACK));
                for block in ack.blocks().iter().skip(duplicate) {
                    prop_assert!(block.offset > 0, "a block touches what is acknowledged");
                }
            }
        }
    }
}
