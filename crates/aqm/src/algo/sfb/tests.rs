use super::*;
use crate::Limit;
use crate::spec::Value;
use goodqueue_base::units::{Bytes, Ecn, Rate, Rng};
use std::string::ToString;
use std::vec::Vec;

const QUEUE: QueueView = QueueView { backlog: Bytes::new(1500), packets: Packets::new(1) };

/// Host of a queue that only counts.
struct Host {
    sfb: Sfb,
    rng: Rng,
    now: Instant,
}

impl Host {
    fn new(params: SfbParams) -> Self {
        Self { sfb: Sfb::new(params), rng: Rng::new(1), now: Instant::from_nanos(1) }
    }

    fn act<T>(&mut self, act: impl FnOnce(&mut Sfb, &mut Env<'_>) -> T) -> T {
        let mut env = Env { now: self.now, link_rate: None, overhead: Bytes::ZERO, rng: &mut self.rng };
        act(&mut self.sfb, &mut env)
    }

    fn packet(&self, flow: u32, ecn: Ecn) -> PacketView {
        PacketView { len: Bytes::new(1500), ecn, flow: FlowHash(flow), enqueued_at: self.now }
    }

    fn arrive(&mut self, flow: u32, ecn: Ecn) -> Verdict {
        let packet = self.packet(flow, ecn);
        self.act(|sfb, env| sfb.on_arrival(env, packet, QUEUE))
    }

    fn depart(&mut self, flow: u32) {
        let packet = self.packet(flow, Ecn::NotEct);
        assert_eq!(self.act(|sfb, env| sfb.on_departure(env, packet, QUEUE)), Verdict::Pass);
    }

    /// Packets waiting in the fullest bin of a table.
    fn fullest(&self, table: usize) -> u32 {
        let table = &self.sfb.tables[table];
        table.bins.words.iter().map(|&word| table.packets(word)).max().expect("bins")
    }
}

impl Table {
    /// Gives all bins of a flow this probability.
    fn set_all(&mut self, flow: FlowHash, probability: f64) {
        places(self.hash(flow)).for_each(|bin| self.set(bin, probability));
    }

    /// True if all bins of a flow have probability 1.
    fn is_certain(&self, flow: FlowHash) -> bool {
        places(self.hash(flow)).all(|bin| self.bins.probabilities[bin] == 1.0)
    }
}

#[test]
fn a_flow_may_hold_max_packets_and_no_more() {
    let mut host = Host::new(SfbParams::default());
    let passed = (0..40).filter(|_| host.arrive(7, Ecn::Ect0) == Verdict::Pass).count();
    assert_eq!(passed, 25);
    assert_eq!(host.arrive(7, Ecn::Ect0), Verdict::Drop(Reason::Early), "dropped though ECN-capable");
    assert_eq!(host.arrive(8, Ecn::Ect0), Verdict::Pass, "another flow is not affected");
}

/// d1 of 0.001 for each arrival at a bin with 20 packets or more, d2 of 1/6000 for each arrival at
/// an empty one.
#[test]
fn probabilities_rise_in_full_bins_and_fall_in_empty_ones() {
    let mut host = Host::new(SfbParams { d1: 0.001, d2: 1.0 / 6000.0, ..SfbParams::default() });
    (0..25).for_each(|_| assert_eq!(host.arrive(7, Ecn::NotEct), Verdict::Pass));
    let p = |host: &Host| host.sfb.tables[0].bins.probabilities.iter().copied().fold(0.0, f64::max);
    assert!((p(&host) - 0.005).abs() < 1e-12, "the 21st to 25th found 20 or more: {}", p(&host));
    (0..95).for_each(|_| assert_eq!(host.arrive(7, Ecn::NotEct), Verdict::Drop(Reason::Early)));
    assert!((p(&host) - 0.1).abs() < 1e-12, "dropped ones count as well: {}", p(&host));
    (0..25).for_each(|_| host.depart(7));
    for _ in 0..60 {
        if host.arrive(7, Ecn::Ect0) != Verdict::Drop(Reason::Early) {
            host.depart(7);
        }
    }
    assert!((p(&host) - 0.09).abs() < 1e-12, "{}", p(&host));
}

#[test]
fn a_flow_that_does_not_respond_is_held_to_a_trickle() {
    let mut host = Host::new(SfbParams { max: 65535, ..SfbParams::default() });
    let salted = host.arrive(7, Ecn::Ect0);
    assert_eq!(salted, Verdict::Pass);
    host.sfb.tables[0].set_all(FlowHash(7), 1.0);
    let of_20 = host.sfb.tables[0].empty + 20;
    host.sfb.tables[0].bins.words.iter_mut().for_each(|word| *word = *word & RISEN | of_20);
    let tenths = |host: &mut Host, count: u64| {
        (0..count)
            .filter(|_| {
                host.now += Duration::ms(100);
                (0..5).filter(|_| host.arrive(7, Ecn::Ect0) == Verdict::Pass).count() > 0
            })
            .count()
    };
    let burst = (0..100).filter(|_| host.arrive(7, Ecn::Ect0) == Verdict::Pass).count();
    assert_eq!(burst, 20);
    assert_eq!(host.arrive(7, Ecn::Ect0), Verdict::Drop(Reason::Penalty));
    assert_eq!(tenths(&mut host, 50), 50, "ten a second");
    host.now += Duration::secs(100);
    assert_eq!((0..100).filter(|_| host.arrive(7, Ecn::Ect0) == Verdict::Pass).count(), 20);
}

/// At p = 0.75 a quarter passes, half is dropped whatever its codepoint, a quarter is signaled.
#[test]
fn above_one_half_ecn_capable_packets_are_dropped_too() {
    let mut host = Host::new(SfbParams { bin_size: 65535, max: 65535, d2: 1e-6, ..SfbParams::default() });
    let _ = host.arrive(7, Ecn::Ect0);
    host.sfb.tables[0].set_all(FlowHash(7), 0.75);
    let verdicts: Vec<_> = (0..40_000).map(|_| host.arrive(7, Ecn::Ect0)).collect();
    for (verdict, share) in [(Verdict::Pass, 0.25), (Verdict::Drop(Reason::Early), 0.5), (Verdict::Signal(Reason::Early), 0.25)] {
        let found = verdicts.iter().filter(|&&given| given == verdict).count() as f64 / 40_000.0;
        assert!((found - share).abs() < 0.01, "{verdict:?}: {found}");
    }
}

/// Feng et al. 2001: a flow shares all its bins with one of M unresponsive flows with probability
/// (1 - (1 - 1/N)^M)^L.
#[test]
fn flows_share_all_bins_as_seldom_as_a_bloom_filter_says() {
    let (hogs, flows) = (20u32, 20_000u32);
    let mut unlucky = 0;
    for salt in 0..10u64 {
        let mut table = Table::new(20);
        table.renew(Rng::stream(5, salt).next_u64(), 0);
        (0..hogs).for_each(|hog| table.set_all(FlowHash(hog), 1.0));
        unlucky += (hogs..hogs + flows).filter(|&flow| table.is_certain(FlowHash(flow))).count();
    }
    let found = unlucky as f64 / f64::from(10 * flows);
    let expected = crate::math::pow(1.0 - crate::math::pow(15.0 / 16.0, f64::from(hogs)), 8.0);
    assert!((found / expected - 1.0).abs() < 0.15, "{found} is not {expected}");
}

#[test]
fn the_next_table_is_prepared_by_flows_that_do_not_respond() {
    let params = SfbParams { rehash: Duration::secs(100), warmup: Duration::secs(10), d1: 0.1, ..SfbParams::default() };
    let mut host = Host::new(params);
    let offer = |host: &mut Host, count: u32| {
        for _ in 0..count {
            let _ = host.arrive(7, Ecn::NotEct);
        }
    };
    offer(&mut host, 60);
    assert!(host.sfb.tables[0].is_certain(FlowHash(7)));
    host.now += Duration::secs(91);
    offer(&mut host, 60);
    assert!(host.sfb.warming && host.fullest(1) == 0, "nothing has been accepted since");
    (0..25).for_each(|_| host.depart(7));
    assert_eq!((host.fullest(0), host.fullest(1)), (0, 0));
    host.now += Duration::secs(10);
    assert_eq!(host.arrive(9, Ecn::NotEct), Verdict::Pass);
    assert!(!host.sfb.warming);
    assert_eq!(host.sfb.salted_at, host.now);
}

#[test]
fn counts_stay_right_when_the_salt_changes_while_packets_wait() {
    let params = SfbParams { rehash: Duration::secs(10), warmup: Duration::secs(2), ..SfbParams::default() };
    let mut host = Host::new(params);
    let mut waiting = std::collections::VecDeque::new();
    let mut chance = Rng::new(3);
    for _ in 0..20_000 {
        host.now += Duration::ms(chance.below(20));
        let flow = chance.below(30) as u32;
        if waiting.len() < 60 && chance.fires(0.5) {
            if host.arrive(flow, Ecn::NotEct) == Verdict::Pass {
                waiting.push_back(flow);
            }
        } else if let Some(flow) = waiting.pop_front() {
            host.depart(flow);
        }
    }
    while let Some(flow) = waiting.pop_front() {
        host.depart(flow);
    }
    assert_eq!(host.fullest(0), 0);
    assert!(!host.sfb.warming || host.fullest(1) == 0);
}

#[test]
fn evicted_packets_are_forgotten_once_the_queue_is_empty() {
    let mut host = Host::new(SfbParams::default());
    (0..10).for_each(|_| assert_eq!(host.arrive(7, Ecn::NotEct), Verdict::Pass));
    host.act(|sfb, env| sfb.on_evicted(env, Packets::new(4)));
    (0..6).for_each(|_| host.depart(7));
    assert_eq!(host.fullest(0), 4);
    let now = host.now;
    host.sfb.on_emptied(now);
    assert_eq!(host.fullest(0), 0);
}

#[test]
fn contradictions_are_refused() {
    let link = LinkFacts {
        rate: Some(Rate::mbit(1)),
        delay: Duration::ZERO,
        mtu: Bytes::new(1500),
        overhead: Bytes::ZERO,
        limit: Limit::packets(100),
    };
    for (values, message) in [
        ([("max", Value::Number(10.0))], "max: 10 is below bin_size (20): allowed from bin_size"),
        ([("rehash", Value::Duration(Duration::secs(30)))], "warmup: 60 s is longer than rehash (30 s): allowed up to rehash"),
    ] {
        let given = ParamValues::new(&Sfb::KINDS[0], &values).expect("single values are in range");
        assert_eq!(Sfb::build(&given, &link).expect_err("a contradiction").to_string(), message);
    }
}
