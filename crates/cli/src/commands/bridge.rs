//! `gq bridge`: two network interfaces, and a shaped line with a queue between them, both ways.

mod arguments;
mod config;
mod control;
mod keeper;
mod ports;
mod settings;
mod show;

pub use control::try_orders;
pub use keeper::{KeeperArguments, run as keep};
pub use settings::{LineSettings, QueueSettings};

use crate::failure::{Failure, check_other_file};
use crate::lock::locked;
use crate::output::say;
pub use arguments::{Arguments, OffloadPolicy, PortKind, Requirement};
use control::ControlState;
use goodqueue_aqm::Rng;
use goodqueue_base::units::{Duration, Instant, Rate};
use goodqueue_guests::backends::live;
use goodqueue_lab::scenario::plan::{Link, LinkDirection};
use goodqueue_live::clock::MonotonicClock;
use goodqueue_live::drive::{self, Bridge, Drive, Idle};
use goodqueue_live::forwarder::{Direction, Forwarder, Settings, buffers_for};
use goodqueue_live::frame::FlowKey;
use goodqueue_live::monitor::{self, Monitor, Reporter};
use goodqueue_live::port::interface::{InterfacePort, SharedCapture};
use goodqueue_live::port::pcap::Capture;
use goodqueue_live::record::Recorder;
use goodqueue_live::segments;
use goodqueue_live::spool::{Overrun, Spool};
use goodqueue_live::sys::signals::{Signal, Signals};
use goodqueue_live::sys::{privileges, scheduling};
use ports::{Granted, SENDER_REMEDY};
use show::{Shown, Totals};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Priority among real-time threads.
const PRIORITY: i32 = 10;
/// Reports of the data thread without `--stats`.
const REPORT_EVERY: Duration = Duration::secs(1);
const MAX_SPIN: Duration = Duration::us(100);
/// Bound of `--stats` and `--duration`.
const MAX_TIME: Duration = Duration::secs(10_000_000);

/// Everything of a bridge that runs.
struct Running {
    thread: PacketThread,
    monitor: Monitor,
    stop: Arc<AtomicBool>,
    /// Rounds of the thread.
    beat: Arc<AtomicU64>,
    capture: Option<SharedCapture>,
    granted: [Granted; 2],
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (line, inside, outside) = arguments.resolve()?;
    let link = line.link()?;
    let stats = Arguments::time("--stats", arguments.stats.as_ref(), Duration::ms(10), MAX_TIME)?;
    let duration = Arguments::time("--duration", arguments.duration.as_ref(), Duration::ms(1), MAX_TIME)?;
    let spin = Arguments::time("--spin", arguments.spin.as_ref(), Duration::ZERO, MAX_SPIN)?.unwrap_or(Duration::ZERO);
    ports::check(arguments)?;
    let offloads = arguments.offloads.map_or_else(|| OffloadPolicy::for_port(arguments.port, [&inside, &outside]), Ok)?;
    let signals = Signals::hold().map_err(|error| Failure::Run(format!("signals cannot be held: {error}")))?;
    let mut keeper = keeper::settle([&inside, &outside], offloads, arguments.fail_open)?;
    let socket = arguments.control.as_deref().map(control::open_socket).transpose()?;
    let metrics = arguments.metrics.as_deref().map(control::open_metrics).transpose()?;
    let clock = MonotonicClock::start();
    let idle = if arguments.busy_poll == Requirement::Off { Idle::Sleep { awake: spin } } else { Idle::BusyPoll };
    let drive = Drive { report_every: stats.unwrap_or(REPORT_EVERY), idle };
    let running = start(arguments, offloads, &line, &link, [&inside, &outside], clock, drive)?;
    if arguments.fail_open {
        keeper.listen(Arc::clone(&running.beat))?;
    }
    say(&format!(
        "bridge {inside} to {outside}: {} at {}, back {} at {}; end with Ctrl-C",
        live::name(&link.down),
        link.down.nominal_rate(),
        live::name(&link.up),
        link.up.nominal_rate(),
    ));
    let shown = Shown { interfaces: [inside, outside], granted: running.granted.clone(), link, json: arguments.json };
    let state = Arc::new(ControlState {
        shown: Mutex::new(shown),
        totals: Mutex::new(Totals::default()),
        settings: Mutex::new(line),
        commands: running.monitor.commands(),
    });
    let mut socket_file = None;
    if let Some((listener, file)) = socket {
        socket_file = Some(file);
        control::serve(listener, Arc::clone(&state))?;
    }
    if let Some(listener) = metrics {
        control::serve_metrics(listener, Arc::clone(&state))?;
    }
    let ended = watch(arguments, &state, &running, &signals, stats, duration);
    let outcome = finish(running);
    // One that has failed leaves its interfaces to the keeper.
    if ended == Ended::Asked || !arguments.fail_open {
        keeper.end();
    }
    drop(socket_file);
    show::print_end(&locked(&state.shown), &locked(&state.totals))?;
    outcome
}

/// The rate of a direction; none where it follows a recording.
const fn constant_rate(direction: &LinkDirection) -> Option<Rate> {
    let goodqueue_sim::RateSpec::Constant(rate) = direction.rate else { return None };
    Some(rate)
}

/// Opens everything, gives privileges away and starts the thread that moves packets.
fn start(
    arguments: &Arguments,
    offloads: OffloadPolicy,
    settings: &LineSettings,
    link: &Link,
    interfaces: [&String; 2],
    mut clock: MonotonicClock,
    drive: Drive,
) -> Result<Running, Failure> {
    // A recording may be faster than its mean for a while.
    let rate = constant_rate(&link.down).zip(constant_rate(&link.up)).map(|(down, up)| down.max(up));
    let open = |name: &String| ports::open(arguments, offloads, name, clock, rate);
    let ((mut port_a, granted_a), (mut port_b, granted_b)) = (open(interfaces[0])?, open(interfaces[1])?);
    let file = |option, path: &Path| {
        check_other_file(option, path)?;
        File::create(path).map_err(Failure::of(format!("{option} {}", path.display())))
    };
    let pcap = arguments.pcap.as_deref().map(|path| file("--pcap", path)).transpose()?;
    let record = arguments.record.as_deref().map(|path| file("--record", path)).transpose()?;
    // The kernel keeps privileges by thread: the one that becomes a real-time thread does so first,
    // then both give up theirs, and only then are others started.
    let (thread, give) = start_thread(arguments.real_time)?;
    privileges::drop_all().map_err(|error| Failure::Run(format!("privileges cannot be given away: {error}")))?;

    let capture = match pcap {
        None => None,
        Some(file) => {
            let spool = spool(file)?;
            let capture = Capture::new(spool, [interfaces[0], interfaces[1]], clock.wall_offset());
            Some(Arc::new(Mutex::new(capture)))
        }
    };
    if let Some(capture) = &capture {
        port_a.capture(0, Arc::clone(capture));
        port_b.capture(1, Arc::clone(capture));
    }
    let longest = port_a.longest_frame().max(port_b.longest_frame());
    let mut bridge = build(link, settings, (port_a, port_b), longest)?;
    if let Some(file) = record {
        let about = serde_json::json!({ "scenario": settings.scenario()?, "seed": settings.queue_seed(Direction::Down) });
        bridge.direction_mut(Direction::Down).record(Recorder::new(spool(file)?, &about.to_string()));
    }
    let (reporter, monitor) = monitor::connection();
    let stop = Arc::new(AtomicBool::new(false));
    let beat = Arc::new(AtomicU64::new(0));
    let work = Work { bridge, clock, drive, reporter, stop: Arc::clone(&stop), beat: Arc::clone(&beat) };
    give.send(work).map_err(|_| Failure::Run("the thread that moves packets has failed".to_owned()))?;
    Ok(Running { thread, monitor, stop, beat, capture, granted: [granted_a, granted_b] })
}

/// Everything that the thread that moves packets is given once it is ready.
struct Work {
    bridge: Bridge,
    clock: MonotonicClock,
    drive: Drive,
    reporter: Reporter,
    stop: Arc<AtomicBool>,
    beat: Arc<AtomicU64>,
}

type PacketThread = JoinHandle<Option<(Bridge, io::Result<()>)>>;

/// Starts the thread, which ends at once when it is given nothing.
fn start_thread(real_time: Requirement) -> Result<(PacketThread, SyncSender<Work>), Failure> {
    let (give, take) = sync_channel::<Work>(1);
    let (ready, started) = sync_channel(1);
    let body = move || {
        let exact = scheduling::exact_timers();
        let scheduled = if real_time == Requirement::Off { exact } else { exact.and_then(|()| scheduling::real_time(PRIORITY)) };
        // The thread that started this one is waiting.
        let _ = ready.send((scheduled, privileges::drop_all()));
        let Work { mut bridge, clock, drive, mut reporter, stop, beat } = take.recv().ok()?;
        let outcome = drive::run(&mut bridge, clock, drive, &mut reporter, &stop, &beat);
        Some((bridge, outcome))
    };
    let failed = |error: &dyn std::fmt::Display| Failure::Run(format!("the thread that moves packets: {error}"));
    let thread = std::thread::Builder::new().name("packets".to_owned()).spawn(body).map_err(|error| failed(&error))?;
    let (scheduled, dropped) = started.recv().map_err(|error| failed(&error))?;
    dropped.map_err(|error| failed(&error))?;
    match scheduled {
        Err(error) if real_time == Requirement::Require => {
            return Err(failed(&format!("real-time scheduling is refused: {error}")));
        }
        Err(error) => say(&format!("warning: no real-time scheduling ({error}): packets may be milliseconds late")),
        Ok(()) => {}
    }
    Ok((thread, give))
}

fn spool(file: File) -> Result<Spool, Failure> {
    Spool::new(BufWriter::new(file), Overrun::Lose).map_err(|error| Failure::Run(format!("no thread can be started: {error}")))
}

fn build(link: &Link, settings: &LineSettings, ports: (InterfacePort, InterfacePort), longest: u32) -> Result<Bridge, Failure> {
    let queue = |direction: &LinkDirection, way| {
        let made = live::queue(link, direction, Rng::new(settings.queue_seed(way)));
        made.map_err(Failure::input)
    };
    let down = live::line(link, &link.down, Instant::ZERO);
    let up = live::line(link, &link.up, Instant::ZERO);
    let buffers = buffers_for(&down, live::limit(&link.down)) + buffers_for(&up, live::limit(&link.up));
    let joined = longest >= segments::MAX as u32;
    let (buffers, buffer_size) = match joined {
        true => (buffers.min(segments::MAX_BUFFERS), longest as usize),
        // Room for the tag that the kernel takes out and we put back.
        false => (buffers, (longest as usize).next_power_of_two().max(2048)),
    };
    let flow_key = FlowKey(Rng::stream(settings.seed.unwrap_or(1), 2).next_u64());
    let settings = Settings { down, up, buffers, buffer_size, flow_key };
    Ok(Forwarder::new(&settings, ports, (queue(&link.down, Direction::Down)?, queue(&link.up, Direction::Up)?)))
}

/// Why a bridge ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// By a signal, at its time, or because nobody reads what it prints.
    Asked,
    Failed,
}

/// Shows reports until the end is asked for or comes by itself.
fn watch(
    arguments: &Arguments,
    state: &ControlState,
    running: &Running,
    signals: &Signals,
    stats: Option<Duration>,
    duration: Option<Duration>,
) -> Ended {
    let mut told = arguments.offloads == Some(OffloadPolicy::Ignore);
    let ended = loop {
        match signals.next(Duration::ms(50)) {
            Some(Signal::Stop | Signal::Interrupt) => break Ended::Asked,
            Some(Signal::Reload) => reload(arguments, state),
            None => {}
        }
        match running.monitor.next(std::time::Duration::ZERO) {
            Ok(Some(report)) => {
                let at = report.at;
                let mut totals = locked(&state.totals);
                totals.add(&report);
                if !told {
                    told = show::tell_joined(&totals, &locked(&state.shown));
                }
                if stats.is_some() && show::print_report(&locked(&state.shown), &totals, &report).is_err() {
                    break Ended::Asked;
                }
                drop(totals);
                running.monitor.give_back(report);
                if duration.is_some_and(|duration| at >= Instant::ZERO + duration) {
                    break Ended::Asked;
                }
            }
            Ok(None) => {}
            Err(_) => break Ended::Failed,
        }
        if running.thread.is_finished() {
            break Ended::Failed;
        }
    };
    running.stop.store(true, Ordering::Relaxed);
    while let Ok(report) = running.monitor.next(std::time::Duration::from_secs(1)) {
        let Some(report) = report else { break };
        locked(&state.totals).add(&report);
        running.monitor.give_back(report);
    }
    ended
}

/// Reads the file again and changes what is different, without losing a packet.
fn reload(arguments: &Arguments, state: &ControlState) {
    if arguments.config.is_none() {
        say("SIGHUP: there is no --config to read again");
        return;
    }
    let changed = || -> Result<(), Failure> {
        let (settings, ..) = arguments.resolve()?;
        let before = locked(&state.settings).clone();
        if (&settings.trace, &settings.queues.overhead) != (&before.trace, &before.queues.overhead) {
            return Err(Failure::Input("trace and overhead need a new start".to_owned()));
        }
        let link = settings.link()?;
        for (way, direction) in [(Direction::Down, &link.down), (Direction::Up, &link.up)] {
            let mut orders = vec![monitor::Command::Delay(way, direction.delay)];
            orders.extend(constant_rate(direction).map(|rate| monitor::Command::Rate(way, rate)));
            // A queue that stays as it was keeps its state.
            if settings.queue_of(way) != before.queue_of(way) {
                let queue = live::queue(&link, direction, Rng::new(settings.queue_seed(way)));
                let queue = queue.map_err(Failure::input)?;
                orders.push(monitor::Command::Queue(way, Box::new(queue)));
            }
            for order in orders {
                state.commands.send(order).map_err(|_| Failure::Run("the bridge has ended".to_owned()))?;
            }
        }
        locked(&state.shown).link = link;
        *locked(&state.settings) = settings;
        Ok(())
    };
    match changed() {
        Ok(()) => say("settings read again"),
        Err(failure) => say(&format!("settings stay as they are: {failure}")),
    }
}

/// Waits for the thread, and for files to be whole.
fn finish(running: Running) -> Result<(), Failure> {
    let Running { thread, capture, .. } = running;
    let Ok(Some((mut bridge, outcome))) = thread.join() else {
        return Err(Failure::Run("the thread that moves packets has failed".to_owned()));
    };
    let recorder = bridge.direction_mut(Direction::Down).take_recorder();
    drop(bridge);
    if let Some(recorder) = recorder {
        if recorder.lost() > 0 {
            say(&format!("warning: {} events are missing in the record: the file was too slow", recorder.lost()));
        }
        recorder.finish().map_err(|error| Failure::Run(format!("--record: {error}")))?;
    }
    if let Some(capture) = capture.and_then(Arc::into_inner) {
        let capture = capture.into_inner().unwrap_or_else(PoisonError::into_inner);
        if capture.lost() > 0 {
            say(&format!("warning: {} frames are missing in the capture: the file was too slow", capture.lost()));
        }
        capture.finish().map_err(|error| Failure::Run(format!("--pcap: {error}")))?;
    }
    outcome.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Failure::Run(format!(
            "{error}, which the queue would take for one packet: give --offloads split, or run `{SENDER_REMEDY}` at the sender"
        )),
        _ => Failure::Run(error.to_string()),
    })
}
