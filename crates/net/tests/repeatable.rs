//! Equal seeds give equal bytes, whatever the number of workers; another seed gives another run.

use goodqueue_lab::scenario::plan::Plan;
use goodqueue_net::{Datagram, Duration, Endpoint, Ends, Experiment, FlowFacts, Instant, Transmit};
use goodqueue_sim::Continue;

const SCENARIO: &str = r#"
goodqueue = 1
warmup = "1 s"
duration = "3 s"
replications = 2
[link.line]
rate = "5 Mbit/s"
delay = "10 ms"
buffer = "30 packets"
queue = "codel"
[[traffic]]
name = "mine"
kind = "bulk"
flows = 3
start = "uniform 0 s .. 500 ms"
[[traffic]]
name = "cross"
kind = "bulk"
cc = "cubic"
start = "uniform 0 s .. 500 ms"
"#;

/// Sends at gaps and in sizes of its own random numbers; sinks only receive.
struct Random {
    state: u64,
    next: Option<Instant>,
    received: u64,
}

impl Random {
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }
}

impl Endpoint for Random {
    fn handle(&mut self, _: Instant, datagram: Datagram<'_>) {
        self.received += datagram.payload.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if self.next.is_none_or(|next| next > now) {
            return None;
        }
        self.next = Some(now + Duration::us(1 + self.draw() % 10_000));
        buffer.resize(1 + self.draw() as usize % 1400, 1);
        Some(Transmit { at: Some(now + Duration::us(self.draw() % 100)), ..Transmit::NOW })
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.next
    }

    fn delivered_bytes(&self) -> Option<u64> {
        Some(self.received)
    }
}

fn ends(flow: &FlowFacts<'_>) -> Ends {
    let end = |next| Random { state: flow.seed, next, received: 0 };
    Ends::new(end(Some(flow.start)), end(None))
}

fn plan(seed: u64) -> Plan {
    Plan::parse("test", &format!("seed = {seed}\n{SCENARIO}"), "".as_ref()).expect("a scenario")
}

fn summary(seed: u64, jobs: usize) -> String {
    let plan = plan(seed);
    let report = Experiment::new(&plan).attach("mine", |flow| Ok(ends(flow))).jobs(jobs).run().expect("a run");
    report.summary(&plan).to_json()
}

#[test]
fn equal_seeds_give_equal_bytes() {
    let first = summary(7, 1);
    assert_eq!(summary(7, 1), first);
    assert_eq!(summary(7, 2), first);
    assert_ne!(summary(8, 1), first);
}

#[test]
fn endpoints_share_the_line_with_our_tcp() {
    let plan = plan(1);
    let report = Experiment::new(&plan).attach("mine", |flow| Ok(ends(flow))).run().expect("a run");
    let groups = &report.points[0].summary.as_ref().expect("finished").groups;
    let goodput = |group: usize| groups[group].1.figures.figure("goodput_bit_s").mean.expect("defined");
    // Three senders of 700 bytes each 5 ms in the mean, some of which CoDel drops; the rest is for
    // CUBIC.
    assert!((2.4e6..3.5e6).contains(&goodput(0)), "{}", goodput(0));
    assert!((1e6..2.4e6).contains(&goodput(1)), "{}", goodput(1));
}

#[test]
fn a_folder_has_what_a_run_of_gq_has() {
    let plan = plan(1);
    let folder = tempfile::tempdir().expect("a folder");
    Experiment::new(&plan).attach("mine", |flow| Ok(ends(flow))).run_into(folder.path()).expect("a run");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    assert!(read("summary.json").contains("\"host\": \"net\""));
    assert!(read("report.html").contains("flow:mine:2"), "series of foreign flows are drawn");
    assert!(folder.path().join("series.parquet").exists() && read("scenario.toml").contains("5 Mbit/s"));
}

#[test]
fn endpoints_and_our_senders_have_qlog_files() {
    let plan = plan(1);
    let folder = tempfile::tempdir().expect("a folder");
    let experiment = Experiment::new(&plan).attach("mine", |flow| Ok(ends(flow))).qlog(folder.path());
    experiment.run().expect("a run");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    for (name, others) in [("0-0-mine-2.sqlog", 0), ("0-0-cross-0.sqlog", 100)] {
        let text = read(name);
        let count = |event: &str| text.matches(&format!("\"name\":\"quic:{event}\"")).count();
        assert!(count("packet_sent") > 100 && count("packet_received") >= count("packet_sent"), "{name}");
        assert!(count("packet_dropped") > 0 && count("recovery_metrics_updated") >= others, "{name}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 4);
}

#[test]
fn a_run_that_is_stopped_says_so() {
    let plan = plan(1);
    let point = plan.point(0).expect("a point");
    let spec = goodqueue_lab::scenario::build::world(&point, 0);
    let experiment = Experiment::new(&plan).attach("mine", |flow| Ok(ends(flow)));
    let stopped = experiment.simulate(&spec, &mut |_| Continue::Stop).expect("a run");
    assert!(!stopped.complete);
    let unknown = Experiment::new(&plan).attach("yours", |flow| Ok(ends(flow))).run().expect_err("no such traffic");
    assert_eq!(unknown.to_string(), "traffic `yours`: the scenario has no such traffic, only `mine`, `cross`");
}
