use super::*;
use crate::scenario::plan::Plan;
use goodqueue_base::units::{Ecn, Rate};
use goodqueue_sim::{HostNumber, SharedHost, SourceSpec};
use std::path::Path;

fn point(more: &str) -> Point {
    let text = format!(
        "goodqueue = 1\nwarmup = \"1 s\"\nduration = \"5 s\"\nseed = 3\n\
         [link.dsl]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\noverhead = \"7 B\"\nbuffer = \"1 bdp\"\n{more}"
    );
    let plan = Plan::parse("scenario.toml", &text, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()));
    plan.points().expect("one point").remove(0)
}

const TWO_FLOWS: &str = "[[traffic]]\nkind = \"bulk\"\nflows = 2\nstart = \"uniform 0 s .. 1 s\"\nrtt_extra = \"3 ms\"\n";

/// Propagation delay along a route.
fn delay(world: &WorldSpec, route: &[LinkId]) -> Duration {
    route.iter().fold(Duration::ZERO, |sum, &link| sum + world.links[link as usize].delay)
}

#[test]
fn dumbbell_has_an_access_link_per_flow_end_and_direction() {
    let world = world(&point(TWO_FLOWS), 0);
    assert_eq!(world.links.len(), 2 + 2 * 4);
    assert_eq!(world.links[0].name, "dsl");
    assert_eq!(world.links[1].name, "dsl.up");
    let observed: Vec<&str> = world.links.iter().filter(|link| link.observed).map(|link| link.name.as_str()).collect();
    assert_eq!(observed, ["dsl"]);
    for flow in &world.flows {
        assert_eq!((flow.forward.len(), flow.forward[1], flow.reverse.len(), flow.reverse[1]), (3, 0, 3, 1));
        assert_eq!(delay(&world, &flow.forward) + delay(&world, &flow.reverse), Duration::us(13_400), "base RTT");
    }
    assert_ne!(world.flows[0].start, world.flows[1].start);
    assert!(world.flows.iter().all(|flow| flow.start <= Instant::ZERO + Duration::secs(1)));
}

#[test]
fn flows_behind_one_router_share_its_delay() {
    let traffic = "[[traffic]]\nkind = \"bulk\"\nflows = 6\nrtt_extra = \"triangular 20 ms .. 80 ms\"\nrtt_shared_by = 3\n";
    let world = world(&point(traffic), 0);
    let base = Duration::us(10_400);
    let extra = |flow: &FlowSpec| (delay(&world, &flow.forward) + delay(&world, &flow.reverse)).saturating_sub(base);
    let extras: Vec<Duration> = world.flows.iter().map(extra).collect();
    assert_eq!((extras[0], extras[3]), (extras[2], extras[5]));
    assert_ne!(extras[0], extras[3]);
    assert!(extras.iter().all(|extra| (Duration::ms(20)..=Duration::ms(80)).contains(extra)));
}

#[test]
fn each_of_several_equal_links_has_flows_of_its_own() {
    let traffic = format!("{TWO_FLOWS}rtt_shared_by = 2\n");
    let world = world(&point(&format!("count = 3\nbuffer_up = \"9 packets\"\n{traffic}")), 0);
    assert_eq!(world.links.len(), 3 * 2 + 3 * 2 * 4);
    let firsts: Vec<Option<LinkId>> = world.links[..6].iter().map(|link| link.counts_with).collect();
    assert_eq!(firsts, [None, None, Some(0), Some(1), Some(0), Some(1)]);
    let ways: Vec<[LinkId; 2]> = world.flows.iter().map(|flow| [flow.forward[1], flow.reverse[1]]).collect();
    assert_eq!(ways, [[0, 1], [0, 1], [2, 3], [2, 3], [4, 5], [4, 5]]);
    assert_eq!((world.groups.len(), world.flows[5].index), (1, 5));
    assert_ne!(world.flows[0].start, world.flows[2].start);
}

#[test]
fn lines_that_share_nothing_are_worlds_of_their_own() {
    let apart = point(&format!("count = 3\nbuffer_up = \"9 packets\"\n{TWO_FLOWS}"));
    assert_eq!(separate_worlds(&apart.plan), 3);
    let worlds: Vec<WorldSpec> = (0..3).map(|number| separate_world(&apart, 0, number)).collect();
    for (world, number) in worlds.iter().zip(0..) {
        assert_eq!((world.links.len(), world.flows.len()), (2 + 2 * 4, 2));
        assert_eq!(world.flows.iter().map(|flow| flow.index).collect::<Vec<_>>(), [2 * number, 2 * number + 1]);
        assert_eq!(world.flows[0].forward[1..2], [0]);
    }
    assert!(worlds[0].seed != worlds[1].seed && worlds[0].flows[0].start != worlds[1].flows[0].start);
    assert_eq!(separate_worlds(&point(TWO_FLOWS).plan), 1);
}

#[test]
fn the_bottleneck_may_lead_straight_to_the_receivers() {
    let world = world(&point(&format!("[access]\nends = \"sender\"\nrate = \"100 Mbit/s\"\n{TWO_FLOWS}")), 0);
    assert_eq!(world.links.len(), 2 + 2 * 2);
    assert_eq!((world.flows[0].forward.len(), world.flows[0].reverse.len()), (2, 2));
    assert!(matches!(world.links[2].rate, RateSpec::Constant(rate) if rate == Rate::mbit(100)));
}

#[test]
fn flows_carry_their_group_s_class() {
    let world = world(&point(&format!("{TWO_FLOWS}class = 5\n[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n")), 0);
    let classes: Vec<u8> = world.flows.iter().map(|flow| flow.class.number()).collect();
    assert_eq!(classes, [5, 5, 0]);
}

#[test]
fn flows_carry_their_group_s_weight() {
    let world = world(&point(&format!("{TWO_FLOWS}weight = 2.5\n[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n")), 0);
    assert_eq!(world.flows.iter().map(|flow| flow.weight).collect::<Vec<_>>(), [2.5, 2.5, 1.0]);
}

#[test]
fn a_group_s_host_is_where_the_bottleneck_leads_to() {
    let host = "host = 3\n[[traffic]]\nkind = \"bulk\"\nhost = 3\ndirection = \"up\"\n[[traffic]]\nkind = \"bulk\"\n";
    let world = world(&point(&format!("buffer_up = \"9 packets\"\n{TWO_FLOWS}{host}")), 0);
    let three = HostNumber::new(3).expect("in range");
    let hosts: Vec<_> = world.flows.iter().map(|flow| flow.shared_host).collect();
    let sink = Some(SharedHost::Sink(three));
    assert_eq!(hosts, [sink, sink, Some(SharedHost::Source(three)), None]);
}

#[test]
fn udp_needs_no_way_back() {
    let world = world(&point("[[traffic]]\nkind = \"cbr\"\nrate = \"15 Mbit/s\"\n"), 0);
    assert!(world.flows[0].reverse.is_empty());
    assert_eq!(world.links.len(), 2 + 2);
}

#[test]
fn an_echo_comes_back_and_is_what_ping_sends() {
    let spec = world(&point("[[traffic]]\nkind = \"echo\"\nrtt_extra = \"10 ms\"\nclass = 5"), 0);
    let flow = &spec.flows[0];
    // Over access links of 0.1 ms each and the bottleneck of 5 ms, both ways.
    assert_eq!(delay(&spec, &flow.forward) + delay(&spec, &flow.reverse), Duration::us(20_400));
    let SourceSpec::Echo { interval, packet_size, ecn } = flow.source else { panic!("an echo") };
    assert_eq!((interval, packet_size, ecn), (Duration::ms(100), Bytes::new(84), Ecn::NotEct));
    assert_eq!(flow.class.number(), 5);
}

#[test]
fn traffic_up_crosses_the_return_direction_first() {
    let up = "buffer_up = \"9 packets\"\n[[traffic]]\nkind = \"bulk\"\ndirection = \"up\"\n";
    let world = world(&point(up), 0);
    assert_eq!((world.flows[0].forward[1], world.flows[0].reverse[1]), (1, 0));
    assert!(world.links[1].observed);
}

#[test]
fn replications_differ_and_points_share_their_draws() {
    let point = point(TWO_FLOWS);
    assert_ne!(world(&point, 0).seed, world(&point, 1).seed);
    assert_ne!(world(&point, 0).flows[0].start, world(&point, 1).flows[0].start);
    let mut other = point.clone();
    other.plan.links[0].down.delay = Duration::ms(50);
    assert_eq!(world(&point, 4).seed, world(&other, 4).seed);
    assert_eq!(world(&point, 4).flows[1].start, world(&other, 4).flows[1].start);
}

#[test]
fn a_group_added_elsewhere_shifts_no_start() {
    let one = world(&point(TWO_FLOWS), 0);
    let two = world(&point(&format!("{TWO_FLOWS}[[traffic]]\nkind = \"bulk\"\nstart = \"uniform 0 s .. 1 s\"\n")), 0);
    assert_eq!(one.flows[1].start, two.flows[1].start);
    assert_ne!(two.flows[2].start, two.flows[0].start);
}

#[test]
fn the_simulator_accepts_what_is_built() {
    let mixed = "buffer_up = \"50 ms\"\nqueue_up = { kind = \"fair\", of = \"pie\" }\nloss = \"1 %\"\n\
        [[traffic]]\nkind = \"bulk\"\nflows = 2\n[[traffic]]\nkind = \"bulk\"\ncc = \"reno\"\ndirection = \"up\"\n\
        [[traffic]]\nkind = \"poisson\"\nrate = \"1 Mbit/s\"\npacket_size = \"500 B\"\nsizes = \"exponential\"\n\
        [[traffic]]\nkind = \"on-off\"\npeak = \"1 Mbit/s\"\nmean_on = \"20 ms\"\nmean_off = \"80 ms\"\npacket_size = \"100 B\"\n";
    let running = goodqueue_sim::World::new(&world(&point(mixed), 0)).expect("a world");
    let outcome = running.run(&mut |_| goodqueue_sim::Continue::Yes);
    let names: Vec<&str> = outcome.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["dsl", "dsl.up"]);
    assert!(outcome.flows.iter().all(|flow| flow.delivered_bytes > 0), "every flow gets something through");
    assert!(outcome.links.iter().all(|link| link.sent_bits > 0.5 * link.capacity_bits), "both directions are busy");
}
