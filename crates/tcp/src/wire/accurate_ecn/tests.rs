use super::counters::Change;
use super::*;
use goodqueue_base::units::Duration;
use proptest::prelude::*;
use std::vec;

fn packet(ecn: Ecn, ace: u8, len: u32, option: Option<TcpOption>) -> Packet {
    Packet { ecn, flags: TcpFlags::ACK.with_ace(ace), len, options: option.into_iter().collect(), ..Packet::default() }
}

fn end() -> AccurateEcn {
    let mut end = AccurateEcn::new(Policy::default());
    end.end_handshake(&packet(Ecn::Ect0, 0b010, 0, None));
    end
}

fn delivers(segments: u64) -> Acknowledged {
    Acknowledged { segments, bytes: segments * 1000, mss: 1000 }
}

fn option(e1b: u32, ceb: u32, e0b: u32) -> Option<TcpOption> {
    Some(TcpOption::AccEcn { first: Ecn::Ect1, counters: vec![e1b, ceb, e0b] })
}

#[test]
fn counters_begin_at_one_and_at_zero_for_marks() {
    let mut end = end();
    assert_eq!((end.offer(), end.ace()), (option(1, 0, 1), 5));
    for (ecn, bytes) in [(Ecn::Ect0, 1000), (Ecn::Ce, 300), (Ecn::Ect1, 20), (Ecn::NotEct, 7), (Ecn::Ce, 0)] {
        end.count(ecn, bytes);
    }
    assert_eq!((end.offer(), end.ace()), (option(21, 300, 1001), 7));
    end.count(Ecn::Ce, 0);
    assert_eq!(end.ace(), 0);
}

#[test]
fn both_orders_of_an_option_mean_the_same() {
    let (mut one, mut other) = (ByteCounts::default(), ByteCounts::default());
    assert_eq!(one.take(Ecn::Ect1, &[11, 20, 31]), Change::Marked(20));
    assert_eq!(other.take(Ecn::Ect0, &[31, 20, 11]), Change::Marked(20));
    assert_eq!(one, other);
    assert_eq!([Ecn::Ect1, Ecn::Ce, Ecn::Ect0].map(|ecn| one.of(ecn)), [10, 20, 30]);
    assert_eq!(one.take(Ecn::Ect1, &[12]), Change::Unclear);
    assert_eq!(one.take(Ecn::Ect1, &[11, 21, 31]), Change::Unclear, "a counter goes back");
}

#[test]
fn a_counter_that_wraps_around_is_read_on() {
    let mut end = end();
    let mut deliver = |ace: u8, segments: u64| {
        let before = end.handed();
        end.take(&packet(Ecn::Ect0, ace, 0, None), &delivers(segments)).wrapping_sub(before)
    };
    let marks = [(7, 2), (0, 2), (2, 2), (2, 3), (1, 7)].map(|(ace, segments)| deliver(ace, segments));
    assert_eq!(marks, [2, 1, 2, 0, 7]);
}

#[test]
fn long_ack_after_short_ones_counts_the_largest_value_that_fits() {
    let mut end = end();
    assert_eq!(end.take(&packet(Ecn::Ect0, 5, 0, None), &delivers(1)), 0);
    assert_eq!(end.take(&packet(Ecn::Ect0, 6, 0, None), &delivers(20)), 17);
}

#[test]
fn long_acknowledgements_that_are_the_rule_count_the_least() {
    let mut end = end();
    assert_eq!(end.take(&packet(Ecn::Ect0, 5, 0, None), &delivers(10)), 0);
    assert_eq!(end.take(&packet(Ecn::Ect0, 6, 0, None), &delivers(20)), 1);
}

#[test]
fn byte_counters_settle_how_often_the_bits_wrapped() {
    let marks = |ace: u8, ceb: u32| {
        let mut end = end();
        let start = packet(Ecn::Ect0, 5, 0, option(1, 0, 1));
        end.notice(&start);
        let _ = end.take(&start, &delivers(1));
        end.take(&packet(Ecn::Ect0, ace, 0, option(1, ceb, 20_001)), &delivers(40))
    };
    assert_eq!(marks(5, 0), 0);
    assert_eq!(marks(6, 1000), 1);
    assert_eq!(marks(6, 9000), 9);
    assert_eq!(marks(6, 16_500), 17);
    // More bytes than were delivered: the largest number that fits.
    assert_eq!(marks(6, 100_000), 33);
}

#[test]
fn an_option_that_is_cleared_is_not_believed() {
    let mut end = end();
    let cleared = packet(Ecn::Ect0, 5, 0, option(0, 0, 0));
    end.arrive(&cleared);
    let _ = end.take(&cleared, &delivers(1));
    let _ = end.take(&packet(Ecn::Ect0, 5, 0, option(1, 5000, 1)), &delivers(1));
    assert_eq!(end.delivered().bytes.of(Ecn::Ce), 0);
    assert!(end.reserves(), "one's own options are still sent");
}

#[test]
fn cleared_bits_or_a_changed_codepoint_end_ecn_capability() {
    let capable = |bits: u8, policy: Policy| {
        let mut end = AccurateEcn::new(policy);
        end.end_handshake(&packet(Ecn::Ect0, bits, 0, None));
        (end.is_capable(), end.delivered().marks)
    };
    let trusting = Policy { fallback: Fallback::Off, ..Policy::default() };
    assert_eq!(capable(0b010, Policy::default()), (true, 0));
    assert_eq!(capable(0b000, Policy::default()), (false, 0));
    assert_eq!(capable(0b110, Policy::default()), (false, 1));
    assert_eq!(capable(0b110, trusting), (true, 1));
    let mut active = AccurateEcn::new(Policy::default());
    active.arrive(&packet(Ecn::Ect0, 0, 0, None));
    assert!(!active.is_capable());
    let mut later = end();
    later.arrive(&packet(Ecn::Ect0, 0, 0, None));
    assert!(later.is_capable(), "only the first counter cannot be zero");
}

#[test]
fn marks_count_where_codepoints_change_not_where_counters_clear() {
    let marks = |bits: u8| {
        let mut end = AccurateEcn::new(Policy::default());
        end.end_handshake(&packet(Ecn::Ect0, bits, 0, None));
        (end.is_capable(), end.take(&packet(Ecn::Ect0, 6, 0, None), &delivers(1)))
    };
    assert_eq!(marks(0b100), (false, 1));
    assert_eq!(marks(0b000), (false, 0));
}

#[test]
fn marked_bytes_without_a_marked_packet_end_ecn_capability() {
    let capable = |ace: u8, between: u64| {
        let mut end = end();
        end.notice(&packet(Ecn::Ect0, 5, 0, option(1, 0, 1)));
        let _ = end.take(&packet(Ecn::Ect0, ace, 0, None), &delivers(between));
        let _ = end.take(&packet(Ecn::Ect0, ace, 0, option(1, 1000, 1)), &delivers(1));
        end.is_capable()
    };
    assert!(!capable(5, 2));
    assert!(capable(6, 2), "the packet was reported earlier");
    assert!(capable(5, 7), "the counter may have gone round");
}

#[test]
fn three_marks_without_data_are_reported() {
    let mut end = end();
    let room = Room { space: 40, growth: 40, blocks: 0, rtt: None, duplicate: None };
    let owes = [1, 2, 3].map(|_| {
        end.count(Ecn::Ce, 0);
        end.owes_report()
    });
    assert_eq!(owes, [false, false, true]);
    let mut flags = TcpFlags::ACK;
    let _ = end.report(Instant::ZERO + Duration::ms(1), &room, &mut flags);
    assert_eq!((flags.ace(), end.owes_report()), (0, false));
}

proptest! {
    #[test]
    fn the_other_end_reads_what_this_end_counts(
        arrivals in prop::collection::vec((0usize..4, 1u32..100_000), 1..200),
    ) {
        let (mut receiver, mut sender) = (end(), end());
        let first = packet(Ecn::Ect0, receiver.ace(), 0, receiver.offer());
        sender.notice(&first);
        for (ecn, bytes) in arrivals {
            receiver.count([Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][ecn], bytes);
            let report = packet(Ecn::Ect0, receiver.ace(), 0, receiver.offer());
            let _ = sender.take(&report, &Acknowledged { segments: 1, bytes: u64::from(bytes), mss: 1000 });
        }
        prop_assert_eq!(sender.delivered(), receiver.received());
    }
}
