use super::*;
use crate::backends::described::{self, HEAD, LINK_TABLE, of_link, of_traffic};
use goodqueue_lab::scenario::build;
use goodqueue_lab::scenario::plan::Plan;
use std::path::Path;

fn refused(scenario: &str) -> Option<String> {
    let plan = Plan::parse("test", scenario, Path::new("")).unwrap_or_else(|error| panic!("{error}\n{scenario}"));
    let points = plan.points().expect("one point");
    translate(&points[0]).err().map(|refusal| refusal.to_string())
}

/// Every key that the live host cannot honor, and the name under which it is refused.
#[test]
fn what_cannot_be_honoured_is_refused_by_name() {
    let of_access = |key: &str| format!("{HEAD}{LINK_TABLE}[access]\n{key}\n[[traffic]]\nkind = \"bulk\"\n");
    let of_bulk = |key: &str| of_traffic(&format!("kind = \"bulk\"\n{key}"));
    let cases = [
        (of_link("burst = \"10 kB\""), "link.l.burst: "),
        (of_link("burst_up = \"10 kB\""), "link.l.burst_up: "),
        (of_link("loss = 0.01"), "link.l.loss: "),
        (of_link("loss_up = 0.01"), "link.l.loss_up: "),
        (of_link("mtu = \"9000 B\""), "link.l.mtu: "),
        (of_link("flow_control = \"2 packets\""), "link.l.flow_control: "),
        (of_link("flow_control_up = \"2 packets\""), "link.l.flow_control_up: "),
        (of_link("count = 2"), "link.l.count: "),
        (of_access("rate = \"5 Mbit/s\""), "access.rate: "),
        (of_access("jitter = \"1 ms\""), "access.jitter: "),
        (of_bulk("size = \"1 MB\""), "traffic `t`: size: "),
        (of_bulk("cc = { kind = \"cubic\", beta = 0.5 }"), "traffic `t`: cc: "),
        (of_bulk("cc = \"dctcp\""), "traffic `t`: cc: "),
        (of_bulk("cc = \"kernel:vegas\""), "traffic `t`: cc: "),
        (of_bulk("mss = \"1000 B\""), "traffic `t`: mss: "),
        (of_bulk("header = \"60 B\""), "traffic `t`: header: "),
        (of_bulk("sack = false"), "traffic `t`: sack: "),
        (of_bulk("sack = \"plain\""), "traffic `t`: sack: "),
        (of_bulk("gso = true"), "traffic `t`: gso: "),
        (of_bulk("gso = false"), "traffic `t`: gso: "),
        (of_bulk("initial_window = 4"), "traffic `t`: initial_window: "),
        (of_bulk("rto_min = \"1 s\""), "traffic `t`: rto_min: "),
        (of_bulk("max_window = \"64 kB\""), "traffic `t`: max_window: "),
        (of_bulk("ack = \"every-packet\""), "traffic `t`: ack: "),
        (of_bulk("ack = { every = 20 }"), "traffic `t`: ack: "),
        (of_bulk("max_ack_delay = \"100 ms\""), "traffic `t`: max_ack_delay: "),
        (of_bulk("loss_detection = \"rfc6675\""), "traffic `t`: loss_detection: "),
        (of_bulk("slow_start_exit = \"loss-only\""), "traffic `t`: slow_start_exit: "),
        (of_bulk("ecn = \"accurate\""), "traffic `t`: ecn: "),
        (of_bulk("ecn = \"l4s\""), "traffic `t`: ecn: "),
        (of_bulk("rtt_extra = \"5 ms\""), "traffic `t`: rtt_extra: "),
        (of_bulk("host = 3"), "traffic `t`: host: "),
        (of_traffic("kind = \"poisson\"\nrate = \"1 Mbit/s\"\nsizes = \"exponential\""), "traffic `t`: sizes: "),
        (of_traffic("kind = \"voip\"\npacket_size = \"43 B\""), "traffic `t`: packet_size: "),
        (of_traffic("kind = \"video-frames\""), "traffic `t`: kind: "),
        (of_traffic("kind = \"page\""), "traffic `t`: kind: "),
        (of_traffic("kind = \"video\""), "traffic `t`: kind: "),
        (of_traffic("kind = \"bulk-with-pauses\"\nsize = \"1 MB\""), "traffic `t`: kind: "),
        (
            of_link("queue = { kind = \"nfq-codel\" }").replace("kind = \"bulk\"", "name = \"t\"\nkind = \"bulk\"\nweight = 2"),
            "traffic `t`: weight: ",
        ),
        (of_bulk("ecn = true\n[[traffic]]\nname = \"u\"\nkind = \"bulk\""), "traffic `u`: ecn: "),
        (of_bulk("timestamps = false\n[[traffic]]\nname = \"u\"\nkind = \"bulk\""), "traffic `u`: timestamps: "),
    ];
    for (scenario, key) in cases {
        let refusal = refused(&scenario).unwrap_or_else(|| panic!("not refused: {key}\n{scenario}"));
        assert!(refusal.starts_with(key), "{refusal} instead of {key}");
    }
}

#[test]
fn what_can_be_honoured_is_not_refused() {
    let cases = [
        of_link(""),
        of_link("overhead = \"7 B\"\nqueue = \"codel\"\nrate_up = \"1 Mbit/s\""),
        of_link("queue = \"codel\"").replace("\"10 Mbit/s\"", "{ steps = [[\"0 s\", \"10 Mbit/s\"], [\"1 s\", \"5 Mbit/s\"]] }"),
        of_traffic("kind = \"bulk\"\nflows = 4\nstart = \"uniform 0 s .. 1 s\"\nstop = \"2 s\"\nclass = 3\ndirection = \"up\""),
        of_traffic("kind = \"bulk\"\ntimestamps = false\necn = true\ncc = \"bbr\""),
        // Without a queue that weighs flows, a weight is a matter of figures alone.
        of_traffic("kind = \"bulk\"\nweight = 2"),
        of_traffic("kind = \"cbr\"\nrate = \"1 Mbit/s\"\necn = true"),
        of_traffic("kind = \"echo\""),
        of_traffic("kind = \"short\"\nsize = \"1 MB\"\ninterval = \"1 s\""),
        of_traffic("kind = \"voip\"\ncodec = \"pcmu\"\ndirection = \"both\""),
        of_traffic("kind = \"gaming\"\nflows = 2"),
        of_traffic("kind = \"on-off\"\npeak = \"1 Mbit/s\"\nmean_on = \"20 ms\"\nmean_off = \"80 ms\""),
        format!(
            "{HEAD}{LINK_TABLE}[access]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\nends = \"sender\"\n[[traffic]]\nkind = \"bulk\"\n"
        ),
    ];
    for scenario in cases {
        assert_eq!(refused(&scenario), None, "{scenario}");
    }
}

#[test]
fn settings_that_all_connections_share_reach_the_testbed() {
    let scenario = of_traffic("kind = \"bulk\"\ntimestamps = false\necn = true\nflows = 2\nclass = 5\ndirection = \"up\"");
    let plan = Plan::parse("test", &scenario, Path::new("")).expect("a scenario");
    let points = plan.points().expect("one point");
    let experiment = translate(&points[0]).expect("it runs").experiment(&build::world(&points[0], 0), None);
    assert_eq!((experiment.timestamps, experiment.ecn, experiment.segments), (Timestamps::Off, true, Segments::Single));
    assert_eq!(experiment.flows.len(), 2);
    assert_eq!((experiment.flows[0].way, experiment.flows[0].dscp), (Direction::Up, 5 << 3));
    assert_eq!(experiment.down.delay, Duration::us(5_200), "access links add their delay");
}

#[test]
fn a_call_both_ways_is_two_flows_that_begin_together() {
    let scenario = of_traffic("kind = \"gaming\"\ndirection = \"both\"\nflows = 2\nstart = \"uniform 0 s .. 1 s\"");
    let plan = Plan::parse("test", &scenario, Path::new("")).expect("a scenario");
    let points = plan.points().expect("one point");
    let flows = translate(&points[0]).expect("it runs").experiment(&build::world(&points[0], 0), None).flows;
    let ways: Vec<Direction> = flows.iter().map(|flow| flow.way).collect();
    assert_eq!(ways, [Direction::Down, Direction::Up, Direction::Down, Direction::Up]);
    assert!(flows[0].start == flows[1].start && flows[1].start != flows[2].start);
    let sizes = flows.iter().map(|flow| if let Source::Call { packet_size, .. } = flow.source { packet_size } else { 0 });
    assert_eq!(sizes.collect::<Vec<_>>(), [130, 80, 130, 80]);
}

#[test]
fn transfers_begin_when_those_of_the_simulator_do() {
    let short = "kind = \"short\"\nsize = \"10 kB\"\ninterval = \"100 ms\"\narrivals = \"poisson\"\nflows = 2";
    let plan = Plan::parse("test", &of_traffic(short), Path::new("")).expect("a scenario");
    let points = plan.points().expect("one point");
    let world = build::world(&points[0], 0);
    let flows = translate(&points[0]).expect("it runs").experiment(&world, None).flows;
    let lists: Vec<_> =
        flows.iter().map(|flow| if let Source::Transfers { list, .. } = &flow.source { list } else { panic!() }).collect();
    assert!(lists[0].len() > 1 && lists[0] != lists[1] && lists[0].iter().all(|transfer| transfer.size == Bytes::new(10_000)));
    let starts = |flow: u32| {
        let outside = OutsideWorld::new(&world).expect("a world");
        let of_flow = outside.spec().flows.iter().filter(move |one| one.index == flow);
        of_flow.map(|one| one.start.since(Instant::ZERO)).collect::<Vec<_>>()
    };
    for (index, list) in (0..).zip(lists) {
        assert_eq!(list.iter().map(|transfer| transfer.at).collect::<Vec<_>>(), starts(index));
    }
}

#[test]
fn more_than_one_link_is_refused() {
    let link =
        |name: &str, ends: &str| format!("[link.{name}]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"10 kB\"\n{ends}\n");
    let links = link("a", "from = \"x\"\nto = \"y\"") + &link("b", "from = \"y\"\nto = \"z\"");
    let scenario = format!("{HEAD}{links}[[traffic]]\nkind = \"bulk\"\npath = [\"x\", \"z\"]\n");
    assert!(refused(&scenario).is_some_and(|refusal| refusal.starts_with("link: ")));
}

#[test]
fn each_described_key_is_honoured_or_refused_by_its_own_name() {
    let honored = described::honored(&["bulk", "short", "voip", "gaming", "cbr", "poisson", "on-off", "echo"], |point| {
        translate(point).map(drop)
    });
    let of_bulk: Vec<&str> = honored.iter().filter_map(|key| key.strip_prefix("traffic `bulk`: ")).collect();
    let all = [
        "cc",
        "ecn",
        "timestamps",
        "name",
        "flows",
        "start",
        "stop",
        "direction",
        "rtt_shared_by",
        "class",
        "weight",
        "background",
    ];
    assert_eq!(of_bulk, all);
}
