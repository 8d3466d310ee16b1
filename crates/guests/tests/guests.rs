//! Whole runs with guests, where the guest kernel is (`make linux`); skipped elsewhere. This
//! program is its own guest, so it has its own `main`.

#![allow(clippy::disallowed_methods, reason = "waits for processes, with a bound in real time")]

use goodqueue_aqm::{EcnPolicy, Limit};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate};
use goodqueue_guests::linux::{GuestExecutables, Kernel, KernelQueues, LinuxError, Series, inside};
use goodqueue_sim::trace::TimeCounts;
use goodqueue_sim::{
    Arrivals, Continue, FlowSpec, LinkSpec, Outcome, QueueSpec, Recording, SessionSpec, SizeLaw, SourceSpec, World, WorldSpec,
};
use goodqueue_tcp::{Data, EcnMode};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant as WallClock;

fn shortest(times: &TimeCounts) -> Duration {
    times.shortest().expect("some")
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // A child that runs worlds is told the kernel of its guests.
    IS_NEW.store(words.get(1).is_some_and(|word| word == Series::V7_3.number()), Ordering::Relaxed);
    match words.first().map(String::as_str) {
        Some("guest") => return inside::run(words[1].as_ref()).expect("a guest"),
        // Never gives the word back, and ends without a word.
        Some("spin") => loop {
            std::hint::spin_loop();
        },
        Some("quit") => return,
        Some("boot") => {
            println!("under way");
            let _ = run(&world(&[flow("cubic", None, 0)], 3600), "guest");
            return;
        }
        Some("long") => {
            let _ = run_told(&world(&[flow("cubic", None, 0)], 3600), "guest", &mut || println!("under way"));
            return;
        }
        _ => {}
    }
    let tests: [(&str, fn()); 14] = [
        ("senders_fill_the_line_and_repeat_bit_by_bit", senders_fill_the_line_and_repeat_bit_by_bit),
        ("what_a_kernel_draws_repeats", what_a_kernel_draws_repeats),
        ("a_limited_transfer_completes", a_limited_transfer_completes),
        ("marks_reach_the_sender", marks_reach_the_sender),
        ("a_guest_that_ends_is_reported", a_guest_that_ends_is_reported),
        ("a_silent_guest_is_reported_within_seconds", a_silent_guest_is_reported_within_seconds),
        ("guests_die_with_the_process_that_started_them", guests_die_with_the_process_that_started_them),
        ("nothing_is_left_of_what_was_killed_while_guests_boot", nothing_is_left_of_what_was_killed_while_guests_boot),
        ("short_transfers_begin_at_their_times_and_complete", short_transfers_begin_at_their_times_and_complete),
        ("transfers_of_several_connections_count_once", transfers_of_several_connections_count_once),
        ("worlds_without_tcp_are_the_simulators", worlds_without_tcp_are_the_simulators),
        ("both_directions_are_filled", both_directions_are_filled),
        ("controls_that_only_the_kernel_has_run", controls_that_only_the_kernel_has_run),
        ("a_queue_in_a_kernel_decides_as_the_simulators", a_queue_in_a_kernel_decides_as_the_simulators),
    ];
    for series in [Series::V6_12, Series::V7_3] {
        match Kernel::find(series) {
            Ok(kernel) => println!("with {}", kernel.noted("kernel").unwrap_or("?")),
            Err(message) => {
                println!("skipped: runs with guests of Linux {} ({message})", series.number());
                continue;
            }
        }
        IS_NEW.store(series == Series::V7_3, Ordering::Relaxed);
        for (name, test) in tests {
            test();
            println!("ok: {name}");
        }
    }
}

/// Whether guests have the newer kernel.
static IS_NEW: AtomicBool = AtomicBool::new(false);

fn series() -> Series {
    if IS_NEW.load(Ordering::Relaxed) { Series::V7_3 } else { Series::V6_12 }
}

fn run(spec: &WorldSpec, mode: &str) -> Result<Outcome, LinuxError> {
    run_told(spec, mode, &mut || {})
}

/// Runs a world, and calls `progress` now and then.
fn run_told(spec: &WorldSpec, mode: &str, progress: &mut dyn FnMut()) -> Result<Outcome, LinuxError> {
    let kernel = Kernel::find(series()).expect("looked for before");
    goodqueue_guests::linux::check(spec, &kernel).expect("what guests can do");
    let program = [std::env::current_exe().expect("this program").into_os_string(), OsString::from(mode)];
    // Nobody waits a minute for a guest that is silent on purpose.
    let patience = if mode == "spin" { std::time::Duration::from_secs(5) } else { GuestExecutables::PATIENCE };
    goodqueue_guests::linux::run(spec, GuestExecutables { kernel: &kernel.program, program: &program, patience }, &mut |_| {
        progress();
        Continue::Yes
    })
}

fn flow(control: &'static str, size: Option<u64>, start_ms: u64) -> FlowSpec {
    let mut source = SourceSpec::bulk(control);
    if let SourceSpec::Tcp { sender, .. } = &mut source {
        sender.data = size.map_or(Data::Unlimited, |size| Data::Bytes(Bytes::new(size)));
    }
    FlowSpec { start: Instant::ZERO + Duration::ms(start_ms), ..FlowSpec::new(vec![0], vec![1], source) }
}

/// 5 Mbit/s, 10 ms each way, CoDel that marks what can be marked.
fn world(flows: &[FlowSpec], seconds: u64) -> WorldSpec {
    let codel = QueueSpec::Discipline {
        queue: goodqueue_aqm::spec::KindAndParams::new(goodqueue_aqm::sched::kind("codel").expect("built in"), Vec::new()),
        ecn: EcnPolicy::Mark,
        limit: Limit::packets(100),
    };
    WorldSpec {
        warmup: Duration::secs(1),
        duration: Duration::secs(seconds),
        recording: Recording { sample_every: Some(Duration::ms(100)), packets: false },
        ..WorldSpec::line(LinkSpec::wire("line", Rate::mbit(5), Duration::ms(10)).behind(codel), flows.to_vec())
    }
}

fn senders_fill_the_line_and_repeat_bit_by_bit() {
    let spec = world(&[flow("cubic", None, 0), flow("reno", None, 50)], 2);
    let [one, two] = [run(&spec, "guest"), run(&spec, "guest")].map(|outcome| outcome.expect("a run"));
    assert_eq!(one.fingerprint, two.fingerprint);
    let values = |outcome: &Outcome| format!("{:?}", outcome.series);
    assert_eq!(values(&one), values(&two), "what the kernels say repeats, too");
    let link = &one.links[0];
    assert!(link.sent_bits / link.capacity_bits > 0.9, "{} of {} bits", link.sent_bits, link.capacity_bits);
    assert!(one.flows.iter().all(|flow| flow.delivered_bytes > 200_000), "both get something");
    assert!(shortest(&one.groups[0].rtt) >= Duration::ms(20), "no round trip is shorter than the path");
    let window = one.series.iter().find(|series| series.subject == "flow:bulk:0").expect("a series of the first flow");
    assert_eq!(window.times.len(), 30);
    assert!(window.columns[0].values.last().is_some_and(|window| *window > 2.0 * 1448.0));
}

fn a_queue_in_a_kernel_decides_as_the_simulators() {
    let kernel = match Kernel::find_with_queues(series()) {
        Ok(kernel) => kernel,
        Err(message) => return println!("skipped: a queue in a kernel ({message})"),
    };
    let program = [std::env::current_exe().expect("this program").into_os_string(), OsString::from("guest")];
    let queues =
        KernelQueues::new(GuestExecutables { kernel: &kernel.program, program: &program, patience: GuestExecutables::PATIENCE });
    let spec = world(&[flow("cubic", None, 0), flow("reno", None, 50)], 2);
    let [here, there] = [&spec, &queues.in_place_of_all(&spec)].map(|spec| run(spec, "guest").expect("a run"));
    queues.faultless().expect("no fault");
    assert!(here.links[0].counters.dropped_total().packets.get() > 0);
    assert_eq!(here.fingerprint, there.fingerprint);
}

fn what_a_kernel_draws_repeats() {
    // BBR draws the phase it begins with.
    let spec = world(&[flow("bbr", None, 0), flow("bbr", None, 30)], 3);
    let prints = [(); 3].map(|()| run(&spec, "guest").expect("a run").fingerprint);
    assert_eq!([prints[0]; 3], prints);
}

fn a_limited_transfer_completes() {
    let outcome = run(&world(&[flow("cubic", Some(100_000), 1_000)], 2), "guest").expect("a run");
    assert_eq!(outcome.flows[0].delivered_bytes, 100_000);
    let time = outcome.flows[0].completion.expect("complete").as_secs_f64();
    assert!((0.16..0.6).contains(&time), "100 kB at 5 Mbit/s took {time} s");
}

fn marks_reach_the_sender() {
    let mut spec = world(&[flow("cubic", None, 0)], 4);
    let SourceSpec::Tcp { sender, .. } = &mut spec.flows[0].source else { panic!("TCP") };
    sender.ecn = EcnMode::Classic;
    let outcome = run(&spec, "guest").expect("a run");
    let flow = &outcome.flows[0];
    assert!(flow.marked_packets > Some(0) && flow.dropped_packets == Some(0), "{flow:?}");
    assert!(outcome.links[0].queue_packets < 20.0, "a sender that hears of marks keeps the queue short");
}

fn a_guest_that_ends_is_reported() {
    let error = run(&world(&[flow("cubic", None, 0)], 2), "quit").expect_err("no guest");
    let message = error.to_string();
    assert!(message.contains("guest source: has ended") && message.contains("console"), "{message}");
}

fn a_silent_guest_is_reported_within_seconds() {
    let start = WallClock::now();
    let error = run(&world(&[flow("cubic", None, 0)], 2), "spin").expect_err("no guest");
    assert!(error.to_string().contains("silent for"), "{error}");
    // Five seconds, and up to ten on a machine that has no time for it.
    assert!(start.elapsed().as_secs() < 60, "after {:?}", start.elapsed());
}

/// Children of a process.
fn children(of: u32) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

/// Whether a process runs; the number of one that has ended does not count.
fn lives(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z") && !rest.starts_with(" X"))
}

fn guests_die_with_the_process_that_started_them() {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program).args(["long", series().number()]).stdout(Stdio::piped()).spawn().expect("a child");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    assert_eq!(line, "under way\n");
    let patience = WallClock::now() + std::time::Duration::from_secs(30);
    let guests = children(child.id());
    let everything: Vec<String> =
        guests.iter().flat_map(|guest| children(guest.parse().expect("a number"))).chain(guests.clone()).collect();
    child.kill().expect("killed");
    child.wait().expect("gone");
    while everything.iter().any(|process| lives(process)) {
        assert!(WallClock::now() < patience, "guests and what they started are gone");
        std::thread::yield_now();
    }
}

/// Processes of guests whose folder's name begins so.
fn kernels(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("processes");
    let names = |id: &String| std::fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.contains(folder));
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(names).collect()
}

fn nothing_is_left_of_what_was_killed_while_guests_boot() {
    for milliseconds in [0, 1, 3, 10, 20, 40, 80, 160] {
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program).args(["boot", series().number()]).stdout(Stdio::piped()).spawn().expect("a child");
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut String::new()).expect("a line");
        let killed_at = WallClock::now() + std::time::Duration::from_millis(milliseconds);
        while WallClock::now() < killed_at {
            std::thread::yield_now();
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
        let patience = WallClock::now() + std::time::Duration::from_secs(30);
        let folder = format!("goodqueue-{}-", child.id());
        while kernels(&folder).iter().any(|process| lives(process)) {
            assert!(WallClock::now() < patience, "guests are gone when killed after {milliseconds} ms: {:?}", kernels(&folder));
            std::thread::yield_now();
        }
        run(&world(&[flow("cubic", Some(1000), 0)], 1), "guest").expect("a run");
        let entries = std::fs::read_dir(std::env::temp_dir()).expect("a folder");
        let left = entries.flatten().find(|entry| entry.file_name().to_string_lossy().starts_with(&folder));
        assert!(left.is_none(), "the next run removes {left:?}");
    }
}

fn short(interval_ms: u64, connections: u32) -> FlowSpec {
    let FlowSpec { source: SourceSpec::Tcp { sender, receiver, header }, .. } = flow("cubic", None, 0) else { panic!("TCP") };
    let model = SessionSpec::Short {
        size: Bytes::new(10_000),
        interval: Duration::ms(interval_ms),
        arrivals: Arrivals::Poisson,
        connections,
    };
    FlowSpec { source: SourceSpec::Session { model, sender, receiver, header }, ..flow("cubic", None, 0) }
}

fn short_transfers_begin_at_their_times_and_complete() {
    let spec = world(&[short(40, 1), flow("reno", None, 0)], 4);
    let [one, two] = [run(&spec, "guest"), run(&spec, "guest")].map(|outcome| outcome.expect("a run"));
    assert_eq!(one.fingerprint, two.fingerprint);
    assert_eq!(one.flows.len(), 2);
    let simulated = World::new(&spec).expect("a world").run(&mut |_| Continue::Yes);
    let [linux, sim] = [&one, &simulated].map(|outcome| outcome.groups[0].transfers.as_ref().expect("transfers"));
    assert_eq!(linux.begun, sim.begun, "they begin at the same times");
    assert!(linux.complete * 10 >= linux.begun * 9, "{} of {}", linux.complete, linux.begun);
    // Two round trips of 20 ms at least, and an initial window takes 7 of its 7 segments.
    assert!(shortest(&linux.completion) >= Duration::ms(40), "{}", shortest(&linux.completion));
    assert!(one.flows[0].delivered_bytes >= 9_000 * linux.complete && one.flows[1].delivered_bytes > 200_000);
    let subjects: Vec<_> = one.series.iter().map(|series| series.subject.as_str()).collect();
    assert_eq!(subjects, ["link:line", "flow:bulk:0"], "transfers are not sampled");
}

fn transfers_of_several_connections_count_once() {
    let spec = world(&[short(200, 4)], 4);
    let outcome = run(&spec, "guest").expect("a run");
    let simulated = World::new(&spec).expect("a world").run(&mut |_| Continue::Yes);
    let [linux, sim] = [&outcome, &simulated].map(|outcome| outcome.groups[0].transfers.as_ref().expect("transfers"));
    assert_eq!((linux.begun, linux.complete), (sim.begun, sim.complete));
    // 10 kB each: with headers at 5 Mbit/s 16.6 ms and two round trips.
    assert!(shortest(&linux.completion) >= Duration::ms(56), "{}", shortest(&linux.completion));
}

fn worlds_without_tcp_are_the_simulators() {
    let udp = |source| FlowSpec { source, reverse: Vec::new(), ..flow("cubic", None, 0) };
    let (packet_size, ecn) = (Bytes::new(500), Ecn::NotEct);
    let spec = world(
        &[
            udp(SourceSpec::Cbr { rate: Rate::mbit(2), packet_size, ecn }),
            udp(SourceSpec::Poisson { rate: Rate::mbit(4), packet_size, sizes: SizeLaw::Exponential, ecn }),
            FlowSpec { source: SourceSpec::Echo { interval: Duration::ms(20), packet_size, ecn }, ..flow("cubic", None, 0) },
        ],
        3,
    );
    let outcome = run(&spec, "guest").expect("a run");
    let simulated = World::new(&spec).expect("a world").run(&mut |_| Continue::Yes);
    assert!(outcome.flows[0].delivered_bytes > 0);
    for (linux, sim) in outcome.flows.iter().zip(&simulated.flows) {
        assert_eq!((linux.sent_packets, linux.delivered_bytes), (sim.sent_packets, sim.delivered_bytes));
    }
    assert!(outcome.groups[0].rtt.len() > 100);
    assert_eq!(outcome.groups[0].rtt, simulated.groups[0].rtt);
}

fn both_directions_are_filled() {
    let back = FlowSpec { forward: vec![1], reverse: vec![0], ..flow("cubic", None, 0) };
    let mut spec = world(&[flow("cubic", None, 0), back], 3);
    spec.links[1].queue = spec.links[0].queue.clone();
    spec.links[1].observed = true;
    let outcome = run(&spec, "guest").expect("a run");
    for link in &outcome.links {
        assert!(link.sent_bits / link.capacity_bits > 0.8, "{}: {} of {} bits", link.name, link.sent_bits, link.capacity_bits);
    }
}

fn controls_that_only_the_kernel_has_run() {
    for control in goodqueue_tcp::cc::KERNEL_KINDS {
        let outcome = run(&world(&[flow(control, None, 0)], 2), "guest").expect("a run");
        assert!(outcome.flows[0].delivered_bytes > 300_000, "{control}: {} bytes", outcome.flows[0].delivered_bytes);
    }
}
