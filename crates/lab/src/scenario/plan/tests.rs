use super::*;
use crate::run::backend::{Backend as _, Simulator};
use goodqueue_aqm::spec::{Size, Value};
use goodqueue_aqm::{EcnPolicy, Limit};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};
use goodqueue_sim::{RateSpec, SourceSpec};
use goodqueue_tcp::{AckPolicy, Data, EcnMode, LossDetection, SackReports, SlowStartExit};
use proptest::prelude::*;

const BASE: &str = r#"goodqueue = 1
name = "home uplink"
warmup = "10 s"
duration = "100 s"
replications = 10
seed = 7

[link.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
overhead = "7 B"
buffer = "30 packets"
queue = { kind = "cp-aqm", threshold = "5 packets", c_max = 1.2 }

[[traffic]]
kind = "bulk"
cc = "cubic"
flows = 16
start = "uniform 0 s .. 5 s"

[sweep]
"link.bottleneck.queue.c_max" = [1.0, 1.05, 1.2, 1.5]
"#;

fn parse(text: &str) -> Plan {
    Plan::parse("scenario.toml", text, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()))
}

/// A one-point scenario with these lines in the link and the traffic.
fn scenario(link: &str, traffic: &str) -> Scenario {
    let text = format!(
        "goodqueue = 1\nduration = \"60 s\"\n[link.bottleneck]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n{link}\n[[traffic]]\n{traffic}"
    );
    parse(&text).points().expect("one point").remove(0).plan
}

fn set(plan: &Plan, key: &str, value: &str) -> Result<Plan, PlanError> {
    plan.with_overrides(&[(key.to_owned(), value.to_owned())])
}

fn limit(link: &str) -> Limit {
    scenario(link, "kind = \"bulk\"").links[0].down.queue.as_ref().expect("a queue").limit
}

#[test]
fn the_example_of_the_format_means_what_it_says() {
    let plan = parse(BASE);
    assert_eq!((plan.name(), plan.replications(), plan.seed(), plan.point_count()), ("home uplink", 10, 7, 4));
    let points = plan.points().expect("good");
    assert_eq!(points.len(), 4);
    assert_eq!(points[1].set, [("link.bottleneck.queue.c_max".to_owned(), serde_json::json!(1.05))]);
    let scenario = &points[1].plan;
    assert_eq!((scenario.warmup, scenario.duration), (Duration::secs(10), Duration::secs(100)));
    assert_eq!(scenario.links[0].overhead(), Bytes::new(7));
    let queue = scenario.links[0].down.queue.as_ref().expect("a queue");
    assert_eq!(queue.chosen.kind.kind, "cp-aqm");
    assert_eq!(queue.chosen.params, [("threshold", Value::Size(Size::Packets(5.0))), ("c_max", Value::Number(1.05))]);
    assert_eq!((queue.limit, queue.ecn), (Limit::packets(30), EcnPolicy::Drop));
    assert!(scenario.links[0].up.queue.is_none(), "the return direction is not reported unless described");
    let traffic = &scenario.traffic[0];
    assert_eq!((traffic.name.as_str(), traffic.flows), ("bulk", 16));
    assert_eq!(traffic.start, Timing::Uniform(Duration::ZERO, Duration::secs(5)));
    let SourceSpec::Tcp { sender, header, .. } = &traffic.main.source else { panic!("bulk is TCP") };
    assert_eq!((sender.mss, *header, sender.cc.kind), (Bytes::new(1448), Bytes::new(52), "cubic"));
}

#[test]
fn buffers_follow_rate_and_base_rtt() {
    // 10 Mbit/s x 2 x (5 ms + 2 x 0.1 ms) = 13 000 bytes.
    assert_eq!(limit("buffer = \"1 bdp\""), Limit::bytes(13_000));
    assert_eq!(limit("buffer = \"0.5 bdp\""), Limit::bytes(6_500));
    assert_eq!(limit("buffer = \"20 ms\""), Limit::bytes(25_000));
    assert_eq!(limit("buffer = \"45 kB\""), Limit::bytes(45_000));
    assert_eq!(limit("buffer = \"30 packets\""), Limit::packets(30));
    assert_eq!(limit("buffer = \"45 kB\"\nqueue = { kind = \"codel\", limit = \"9 packets\" }"), Limit::packets(9));
    assert_eq!(limit("queue = { kind = \"codel\", limit = \"9 packets\" }"), Limit::packets(9), "limit stands for buffer");
}

#[test]
fn the_slowest_round_trip_counts_for_the_bdp() {
    let scenario = scenario("buffer = \"1 bdp\"", "kind = \"bulk\"\nrtt_extra = \"uniform 0 ms .. 9.6 ms\"");
    assert_eq!(scenario.base_rtt(), Duration::ms(20));
    assert_eq!(scenario.links[0].down.queue.clone().expect("a queue").limit, Limit::bytes(25_000));
}

#[test]
fn a_sender_takes_all_its_settings() {
    let traffic = r#"kind = "bulk"
        cc = { kind = "cubic", beta = "80 %", fast_convergence = false }
        size = "64 MB"
        mss = "1000 B"
        timestamps = false
        ecn = true
        ack = { every = 20 }
        max_ack_delay = "200 ms"
        initial_window = 3
        rto_min = "1 s"
        max_window = "20 kB"
        loss_detection = "rfc6675"
        slow_start_exit = "hystart++"
        stop = "30 s""#;
    let scenario = scenario("buffer = \"1 bdp\"", traffic);
    let SourceSpec::Tcp { sender, receiver, header } = &scenario.traffic[0].main.source else { panic!("bulk is TCP") };
    assert_eq!(sender.cc.params, [("beta", Value::Number(0.8)), ("fast_convergence", Value::Switch(false))]);
    assert_eq!((sender.mss, receiver.mss, *header), (Bytes::new(1000), Bytes::new(1000), Bytes::new(40)));
    assert_eq!((sender.data, sender.max_window), (Data::Bytes(Bytes::new(64_000_000)), Bytes::new(20_000)));
    assert_eq!((sender.ecn, sender.initial_window, sender.rto_min), (EcnMode::On, 3, Duration::secs(1)));
    assert_eq!((sender.loss_detection, sender.slow_start_exit), (LossDetection::Rfc6675, SlowStartExit::HystartPlusPlus));
    assert_eq!(receiver.ack_policy, AckPolicy::EveryWindow { segments: 20 });
    assert_eq!(receiver.max_ack_delay, Duration::ms(200));
    assert_eq!(scenario.traffic[0].stop, Some(Instant::from_nanos(30_000_000_000)));
}

#[test]
fn hosts_have_the_selective_acknowledgements_of_their_time() {
    let both = |settings: &str| {
        let scenario = scenario("buffer = \"1 bdp\"", &format!("kind = \"bulk\"\n{settings}"));
        let SourceSpec::Tcp { sender, receiver, .. } = &scenario.traffic[0].main.source else { panic!("bulk is TCP") };
        (sender.loss_detection, receiver.sack)
    };
    assert_eq!(both(""), (LossDetection::Rack, SackReports::Compressed));
    assert_eq!(both("sack = true"), both(""));
    assert_eq!(both("sack = \"compressed-7.3\""), (LossDetection::Rack, SackReports::CompressedLonger));
    assert_eq!(both("sack = \"plain\""), (LossDetection::Rack, SackReports::Plain));
    assert_eq!(both("sack = false"), (LossDetection::Duplicates, SackReports::Off));
}

#[test]
fn without_timestamps_segments_fill_the_packet() {
    let scenario = scenario("buffer = \"1 bdp\"", "kind = \"bulk\"\ntimestamps = false");
    let SourceSpec::Tcp { sender, header, .. } = &scenario.traffic[0].main.source else { panic!("bulk is TCP") };
    assert_eq!((sender.mss, *header), (Bytes::new(1460), Bytes::new(40)));
}

#[test]
fn packets_of_open_loop_traffic_have_the_mtu_unless_given() {
    let scenario = scenario("buffer = \"1 bdp\"\nmtu = \"1000 B\"", "kind = \"cbr\"\nrate = \"15 Mbit/s\"");
    let SourceSpec::Cbr { rate, packet_size, .. } = scenario.traffic[0].main.source else { panic!("cbr") };
    assert_eq!((rate, packet_size), (Rate::mbit(15), Bytes::new(1000)));
}

#[test]
fn traffic_up_needs_and_gets_a_queue_there() {
    let link = "buffer = \"1 bdp\"\nrate_up = \"1 Mbit/s\"\nbuffer_up = \"100 ms\"\nqueue_up = \"codel\"";
    let up = scenario(link, "kind = \"bulk\"\ndirection = \"up\"").links[0].up.clone();
    let queue = up.queue.as_ref().expect("a queue");
    assert_eq!((queue.chosen.kind.kind, queue.limit, up.nominal_rate()), ("codel", Limit::bytes(12_500), Rate::mbit(1)));
}

#[test]
fn steps_and_default_return_rates() {
    let text = BASE.replace("\"10 Mbit/s\"", "{ steps = [[\"0 s\", \"100 Mbit/s\"], [\"50 s\", \"0 bit/s\"]] }");
    let point = parse(&text).points().expect("good").remove(0);
    let RateSpec::Steps(steps) = &point.plan.links[0].down.rate else { panic!("steps") };
    assert_eq!(steps[1], (Instant::from_nanos(50_000_000_000), Rate::ZERO));
    assert_eq!(point.plan.links[0].up.nominal_rate(), Rate::mbit(100));
}

#[test]
fn groups_have_different_names() {
    let scenario = scenario("buffer = \"1 bdp\"", "kind = \"bulk\"\n[[traffic]]\nkind = \"bulk\"\n[[traffic]]\nkind = \"bulk\"");
    let names: Vec<&str> = scenario.traffic.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["bulk", "bulk-2", "bulk-3"]);
}

#[test]
fn a_grid_goes_through_the_last_axis_first() {
    let text = format!("{BASE}\"traffic.0.flows\" = [1, 2]\n");
    let points = parse(&text).points().expect("good");
    let sets: Vec<(f64, i64)> = points.iter().map(|p| (p.set[0].1.as_f64().unwrap(), p.set[1].1.as_i64().unwrap())).collect();
    assert_eq!(sets[..3], [(1.0, 1), (1.0, 2), (1.05, 1)]);
    assert_eq!(points.len(), 8);
    assert_eq!(points[1].plan.traffic[0].flows, 2);
}

#[test]
fn sweeps_may_be_written_with_plain_dots() {
    let quoted = parse(BASE);
    let plain = parse(&BASE.replace("\"link.bottleneck.queue.c_max\" =", "link.bottleneck.queue.c_max ="));
    assert_eq!(quoted.sha256(), plain.sha256());
}

#[test]
fn an_override_of_a_swept_key_fixes_it() {
    let plan = set(&parse(BASE), "link.bottleneck.queue.c_max", "1.3").expect("good");
    assert_eq!(plan.point_count(), 1);
    let queue = plan.points().expect("good").remove(0).plan.links[0].down.queue.clone().expect("a queue");
    assert!(queue.chosen.params.contains(&("c_max", Value::Number(1.3))));
}

#[test]
fn an_override_inside_a_swept_value_outlives_the_sweep() {
    let text = BASE
        .replace("\"link.bottleneck.queue.c_max\" = [1.0, 1.05, 1.2, 1.5]", "\"link.bottleneck.queue\" = [\"codel\", \"pie\"]");
    let plan = set(&parse(&text), "link.bottleneck.queue.target", "7 ms").expect("good");
    for point in plan.points().expect("good") {
        assert_eq!(
            point.plan.links[0].down.queue.clone().expect("a queue").chosen.params,
            [("target", Value::Duration(Duration::ms(7)))]
        );
    }
}

#[test]
fn fair_queueing_is_over_any_algorithm() {
    let queue = |line: &str| {
        scenario(&format!("buffer = \"1 bdp\"\nqueue = {line}"), "kind = \"bulk\"").links[0].down.queue.clone().expect("a queue")
    };
    let short = queue("{ kind = \"fair\", of = \"pie\", flows = 16 }");
    assert_eq!((short.name().as_str(), short.chosen.of.expect("pie").params.len()), ("fair:pie", 0));
    let long = queue("{ kind = \"fair\", ecn = true, of = { kind = \"codel\", target = \"9 ms\" } }");
    assert_eq!(long.chosen.of.expect("codel").params, [("target", Value::Duration(Duration::ms(9)))]);
    assert_eq!((long.chosen.kind.kind, long.ecn), ("fair", EcnPolicy::Mark));
}

#[test]
fn priority_and_shaper_contain_any_queue_by_default_tail_drop() {
    let queue = |line: &str| {
        scenario(&format!("buffer = \"1 bdp\"\nqueue = {line}"), "kind = \"bulk\"").links[0].down.queue.clone().expect("a queue")
    };
    assert_eq!(queue("\"priority\"").name(), "priority");
    assert!(!queue("\"shaper\"").marks());
    let fair = "{ kind = \"fair\", of = { kind = \"codel\", target = \"9 ms\" } }";
    let tower = queue(&format!("{{ kind = \"shaper\", of = {{ kind = \"priority\", of = {fair} }} }}"));
    assert_eq!(tower.name(), "shaper:priority:fair:codel");
    assert!(tower.marks());
    let codel = tower.chosen.of.and_then(|priority| priority.of).and_then(|fair| fair.of).expect("codel");
    assert_eq!(codel.params, [("target", Value::Duration(Duration::ms(9)))]);
}

#[test]
fn an_override_reaches_the_inner_algorithm() {
    let text =
        BASE.replace("{ kind = \"cp-aqm\", threshold = \"5 packets\", c_max = 1.2 }", "{ kind = \"fair\", of = \"cp-aqm\" }");
    let text = text.replace("queue.c_max", "queue.of.c_max");
    let points = set(&parse(&text), "link.bottleneck.queue.of.threshold", "3 packets").expect("good").points().expect("good");
    let queue = points[3].plan.links[0].down.queue.as_ref().expect("a queue");
    let params = &queue.chosen.of.as_ref().expect("cp-aqm").params;
    assert_eq!(*params, [("threshold", Value::Size(Size::Packets(3.0))), ("c_max", Value::Number(1.5))]);
}

#[test]
fn overrides_add_up_and_the_later_wins() {
    let plan = set(&parse(BASE), "seed", "3").expect("good");
    let plan = set(&plan, "access.delay", "1 ms").expect("good");
    let plan = set(&plan, "seed", "4").expect("good");
    assert_eq!(plan.seed(), 4);
    assert_eq!(plan.points().expect("good")[0].plan.access.delay, Duration::ms(1));
}

#[test]
fn the_hash_tells_settings_apart_and_spellings_not() {
    let plan = parse(BASE);
    assert_eq!(plan.sha256().len(), 64);
    assert_eq!(plan.sha256(), parse(&format!("# a comment\n{BASE}")).sha256());
    assert_ne!(plan.sha256(), parse(&BASE.replace("seed = 7", "seed = 8")).sha256());
    assert_ne!(plan.sha256(), set(&plan, "seed", "8").expect("good").sha256());
    assert_eq!(set(&plan, "seed", "8").expect("good").sha256(), parse(&BASE.replace("seed = 7", "seed = 8")).sha256());
    let (settings, _) = BASE.split_once("[sweep]").expect("it has one");
    let with = |cc: &str, queue: &str| {
        let text = settings.replace("\"cubic\"", cc).replace("threshold = \"5 packets\", c_max = 1.2", "");
        let (before, after) = text.split_once("{ kind = \"cp-aqm\",  }").expect("a queue");
        parse(&format!("{before}{queue}{after}")).sha256()
    };
    let short = with("\"cubic\"", "{ kind = \"fair\", of = \"codel\" }");
    assert_eq!(short, with("{ kind = \"cubic\" }", "{ kind = \"fair\", of = { kind = \"codel\" } }"));
    assert_ne!(short, with("{ kind = \"cubic\" }", "{ kind = \"fair\", of = { kind = \"codel\", target = \"6 ms\" } }"));
    assert_eq!(with("\"reno\"", "\"codel\""), with("\"reno\"", "{ kind = \"codel\" }"));
    let swept = |queues: &str| parse(&format!("{settings}[sweep]\n\"link.bottleneck.queue\" = [{queues}]\n")).sha256();
    assert_eq!(swept("\"pie\", \"codel\""), swept("{ kind = \"pie\" }, \"codel\""));
}

#[test]
fn text_from_a_stranger_names_no_files() {
    let text = BASE.replace("\"10 Mbit/s\"", "{ trace = \"/etc/hostname\" }");
    let error = Plan::parse_without_files("request", &text).expect_err("refused");
    assert_eq!(error.text(), "request:9:18: link.bottleneck.rate.trace: /etc/hostname: files may not be read here");
}

#[test]
fn a_diagnostic_points_at_the_value() {
    let text = BASE.replace("\"5 ms\"", "\"5\"");
    let error = Plan::parse("scenario.toml", &text, Path::new("")).expect_err("wrong");
    assert_eq!(error.to_string(), "scenario.toml:10:9: link.bottleneck.delay: `5` has no unit");
    let fault = error.faults().next().expect("one");
    let excerpt = fault.excerpt().expect("a line");
    assert_eq!(&excerpt.line[excerpt.marked], "\"5\"");
    assert!(fault.suggestion().is_some());
    let two = Plan::parse("scenario.toml", &text.replace("7 B", "7 Q"), Path::new("")).expect_err("wrong");
    assert_eq!((two.to_string().as_str(), two.faults().count()), ("2 mistakes", 2));
}

#[test]
fn a_grid_too_large_to_run_is_refused() {
    let many: Vec<String> = (1..=1000).map(|flows| flows.to_string()).collect();
    let many = many.join(", ");
    let text = BASE.replace("[1.0, 1.05, 1.2, 1.5]", &format!("[1.0]\n\"traffic.0.flows\" = [{many}]\n\"seeds\" = [{many}]"));
    let error = Plan::parse("scenario.toml", &text, Path::new("")).expect_err("too many");
    assert!(error.text().ends_with("sweep: has 1000000 points: allowed up to 100000"), "{}", error.text());
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let text = format!("{BASE}\nx = {}{}", "[".repeat(50_000), "]".repeat(50_000));
    assert!(Plan::parse("scenario.toml", &text, Path::new("")).is_err());
    let key = vec!["a"; 50_000].join(".");
    assert!(Plan::parse("scenario.toml", &format!("{key} = 1\n{BASE}"), Path::new("")).is_err());
    assert!(set(&parse(BASE), &key, "1").is_err());
}

/// Pieces of scenarios, put together in wrong ways.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("goodqueue = 1\n".to_owned()),
        Just("duration = \"10 s\"\n".to_owned()),
        Just("[link.bottleneck]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\n".to_owned()),
        Just("[[traffic]]\nkind = \"bulk\"\n".to_owned()),
        "(rate|delay|buffer|queue|kind|cc|flows|start|stop|mss|size|loss|mtu|seed|ack) = ".prop_map(|key| key),
        "\"[-0-9.e]{0,6} ?(Mbit/s|ms|s|packets|bdp|kB|%|)\"\n",
        "(1|-1|0|nan|inf|1e400|true|\\[\\]|\\{\\}|\"uniform 1 s \\.\\. 2 s\"|2020-01-01)\n",
        "\\PC{0,12}\n",
        Just("[sweep]\n\"traffic.0.flows\" = [1, 2]\n".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_panics(pieces in proptest::collection::vec(fragment(), 0..14)) {
        if let Ok(plan) = Plan::parse_without_files("scenario.toml", &pieces.concat()) {
            let _ = plan.points();
        }
    }

    #[test]
    fn no_changed_byte_panics(at in 0..BASE.len(), byte in 0u8..128) {
        let mut text = BASE.as_bytes().to_vec();
        text[at] = byte;
        let text = String::from_utf8(text).expect("ASCII");
        match Plan::parse_without_files("scenario.toml", &text) {
            Ok(plan) => drop(plan.points()),
            Err(error) => prop_assert!(error.text().starts_with("scenario.toml:")),
        }
    }

    #[test]
    fn no_override_panics(key in "[a-z0-9_.-]{0,30}|link.bottleneck.[a-z_]{1,8}|traffic.0.[a-z]{1,6}", value in "\\PC{0,20}") {
        match set(&parse(BASE), &key, &value) {
            Ok(plan) => drop(plan.points()),
            Err(error) => prop_assert!(!error.text().is_empty()),
        }
    }
}

#[test]
fn a_star_stands_for_every_link_and_every_group() {
    let text = "goodqueue = 1\nduration = \"60 s\"\n[link]\n\
        ab = { from = \"a\", to = \"b\", rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"1 bdp\" }\n\
        bc = { from = \"b\", to = \"c\", rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"1 bdp\" }\n\
        [[traffic]]\nkind = \"bulk\"\npath = [\"a\", \"c\"]\n[[traffic]]\nkind = \"bulk\"\npath = [\"b\", \"c\"]\n\
        [sweep]\n\"link.*.queue\" = [\"codel\", \"pie\"]\n";
    let plan = set(&parse(text), "traffic.*.flows", "3").expect("good");
    let kinds = |point: &Point| -> Vec<String> {
        point.plan.links.iter().map(|link| link.down.queue.as_ref().expect("a queue").name()).collect()
    };
    let points = plan.points().expect("good");
    assert_eq!((kinds(&points[0]), kinds(&points[1])), (vec!["codel".to_owned(); 2], vec!["pie".to_owned(); 2]));
    assert!(points[0].plan.traffic.iter().all(|group| group.flows == 3));
    // A value set for one link after the sweep applies to that link only.
    let one = set(&plan, "link.ab.queue", "red").expect("good").points().expect("good");
    assert_eq!(kinds(&one[1]), ["red", "pie"]);
    assert!(set(&plan, "link.*.queue", "codel").expect("good").point_count() == 1);
    assert!(set(&plan, "seed.*", "1").is_err());
}

#[test]
fn controls_that_only_kernels_have_are_named_and_not_simulated() {
    let plan = parse(&BASE.replace("cc = \"cubic\"", "cc = \"kernel:vegas\""));
    let points = plan.points().expect("good");
    let SourceSpec::Tcp { sender, .. } = &points[0].plan.traffic[0].main.source else { panic!("bulk is TCP") };
    assert_eq!(sender.cc.kind, "kernel:vegas");
    let refusal = Simulator.check(&points[0]).expect_err("no simulated sender has it").to_string();
    assert!(refusal.starts_with("traffic `bulk`: cc: `kernel:vegas` is the kernel's own control"), "{refusal}");
    let failure = crate::run::runner::try_build(&points[0]).expect_err("no simulated sender has it");
    assert!(failure.message.contains("only hosts with kernel senders have"), "{}", failure.message);
}

#[test]
fn a_kernels_control_is_named_as_it_is_written() {
    for text in ["\"vegas\"", "{ kind = \"kernel:vegas\", alpha = 2 }"] {
        let plan = Plan::parse("scenario.toml", &BASE.replace("\"cubic\"", text), Path::new("")).expect_err("no control of ours");
        assert!(
            plan.text().contains("is the kernel's own control; write cc = \"kernel:vegas\", which takes no"),
            "{}",
            plan.text()
        );
    }
}

/// Two thousand lines from one node, a group over each and one over all, in the order of the file.
#[test]
fn many_links_and_groups_are_read() {
    let mut text = "goodqueue = 1\nduration = \"60 s\"\n\
        [link.up]\nfrom = \"net\"\nto = \"isp\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n"
        .to_owned();
    for number in 0..2_000 {
        text += &format!(
            "[link.h{number}]\nfrom = \"isp\"\nto = \"h{number}\"\nrate = \"10 Mbit/s\"\ndelay = \"{} ms\"\n\
             buffer = \"1 bdp\"\n[[traffic]]\nkind = \"bulk\"\npath = [\"net\", \"h{number}\"]\n",
            number + 1
        );
    }
    let scenario = parse(&text).points().expect("good").remove(0).plan;
    assert_eq!((scenario.links.len(), scenario.traffic.len()), (2_001, 2_000));
    assert_eq!(scenario.traffic[1_999].name, "bulk-2000");
    let steps: Vec<usize> = scenario.traffic[7].main.path.forward.iter().map(|step| step.link).collect();
    assert_eq!(steps, [0, 8]);
    // 10 Mbit/s x 2 x (8 ms + 5 ms + 2 x 0.1 ms).
    assert_eq!(scenario.links[8].down.queue.as_ref().expect("a queue").limit, Limit::bytes(33_000));
}

#[test]
fn links_that_stand_for_others_have_bounds() {
    let text = |first: u32, second: u32, flows: u32| {
        let link = |name, ends, count| {
            format!("[link.{name}]\n{ends}\nrate = \"9 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\ncount = {count}\n")
        };
        let ends = ["from = \"a\"\nto = \"b\"", "from = \"b\"\nto = \"c\""];
        let links = link("one", ends[0], first) + &link("two", ends[1], second);
        let traffic = format!("[[traffic]]\nkind = \"bulk\"\nflows = {flows}\npath = [\"a\", \"c\"]\n");
        format!("goodqueue = 1\nduration = \"60 s\"\n{links}{traffic}")
    };
    let refused = |text: String, end: &str| {
        let error = Plan::parse("scenario.toml", &text, Path::new("")).expect_err(end).text();
        assert!(error.ends_with(end), "{error}");
    };
    let group = parse(&text(1, 500, 3)).points().expect("good").remove(0).plan.traffic.remove(0);
    assert_eq!((group.flows, group.copies), (1_500, 500));
    refused(
        text(2, 3, 1),
        "traffic.0.path: crosses `one`, which stands for 2 links, and `two`, which stands for 3; give both links the same `count`",
    );
    refused(text(19_000, 19_000, 1), "link: has 38000 links, as `count` has it: allowed 1 to 20000");
    refused(text(1, 500, 1_000), "traffic: has 500000 flows in all, as `count` of links has it: allowed 1 to 400000");
}
