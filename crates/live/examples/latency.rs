//! Measures the time that a bridge adds to a round trip, and its processor time: probes from one
//! end to the other and back, directly and through the live queue, which sleeps or polls. `cargo
//! run --release -p goodqueue-live --example latency -- [ROUNDS [PROBES]]`. Needs root, or a user
//! namespace (AF_XDP and polling by the kernel: root).
//!
//! The ways take turns, so that a machine that is busy with other things is so for all of them. The
//! line has 10 Gbit/s and no delay, so that it adds nothing of its own.

mod support;

use goodqueue_aqm::{Limit, Rng};
use goodqueue_base::units::{Bytes, Duration, Framing, Rate};
use goodqueue_live::clock::{Clock, MonotonicClock};
use goodqueue_live::drive::{self, Bridge, Drive, Idle};
use goodqueue_live::forwarder::{Forwarder, Settings};
use goodqueue_live::frame::FlowKey;
use goodqueue_live::monitor::connection;
use goodqueue_live::port::Port;
use goodqueue_live::port::interface::InterfacePort;
use goodqueue_live::port::packet::PacketPort;
use goodqueue_live::port::xdp::{Transfer, XdpPort};
use goodqueue_live::sys::{busy, scheduling};
use goodqueue_live::testbed::bench::Bench;
use goodqueue_live::{Line, RateSpec};
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration as Wall;
use support::queue;

/// The priority that `gq bridge` asks for. The ends have it, too: they are not what is measured.
const PRIORITY: i32 = 10;
/// Between two probes, at random: so much at least, and as much again at most.
const GAP: Duration = Duration::us(500);
const LOST: Wall = Wall::from_millis(500);
/// A way between the ends without a bridge.
const DIRECT: (Ipv4Addr, Ipv4Addr) = (Ipv4Addr::new(10, 78, 0, 1), Ipv4Addr::new(10, 78, 0, 2));

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Direct,
    Packet,
    Xdp,
}

/// A path for probes, and the way in which their arrival is noticed.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    kind: Kind,
    idle: Idle,
    /// The kernel is asked to look, too.
    kernel: bool,
}

const SLEEP: Idle = Idle::Sleep { awake: Duration::ZERO };
const WAYS: [Way; 6] = [
    Way { name: "no bridge", kind: Kind::Direct, idle: SLEEP, kernel: false },
    Way { name: "af-packet, sleeps", kind: Kind::Packet, idle: SLEEP, kernel: false },
    Way { name: "af-packet, polls", kind: Kind::Packet, idle: Idle::BusyPoll, kernel: true },
    Way { name: "af-xdp, sleeps", kind: Kind::Xdp, idle: SLEEP, kernel: false },
    Way { name: "af-xdp, polls", kind: Kind::Xdp, idle: Idle::BusyPoll, kernel: false },
    Way { name: "af-xdp, polls, kernel too", kind: Kind::Xdp, idle: Idle::BusyPoll, kernel: true },
];

/// Results of one round of a way.
struct Round {
    p50_us: f64,
    p99_us: f64,
    lost: usize,
    /// Share of a processor used.
    used: f64,
    granted: String,
}

/// Sends back what comes, until the end.
fn echo(socket: &UdpSocket, end: &AtomicBool) -> io::Result<()> {
    // Without, the figures have the machine's other work in them.
    let _ = scheduling::real_time(PRIORITY);
    let mut buffer = [0; 256];
    while !end.load(Ordering::Relaxed) {
        if let Ok((len, from)) = socket.recv_from(&mut buffer) {
            socket.send_to(&buffer[..len], from)?;
        }
    }
    Ok(())
}

/// Round-trip times, and how many probes never came back.
fn probe(socket: &UdpSocket, to: Ipv4Addr, count: u32) -> io::Result<(Vec<Duration>, usize)> {
    let _ = scheduling::real_time(PRIORITY);
    let _ = scheduling::exact_timers();
    let clock = MonotonicClock::start();
    let (mut clock, mut rng, mut times, mut lost) = (clock, Rng::new(7), Vec::with_capacity(count as usize), 0);
    let mut buffer = [0; 256];
    for number in 0..count {
        scheduling::wait([None, None], GAP + Duration::ns(rng.below(GAP.as_nanos())))?;
        let mut probe = [0; 58];
        probe[..4].copy_from_slice(&number.to_be_bytes());
        let sent = clock.now();
        socket.send_to(&probe, (to, 9000))?;
        loop {
            match socket.recv(&mut buffer) {
                Ok(len) if buffer[..len.min(4)] == number.to_be_bytes() => {
                    times.push(clock.now().since(sent));
                    break;
                }
                // A late answer to an earlier one.
                Ok(_) => {}
                Err(_) => {
                    lost += 1;
                    break;
                }
            }
        }
    }
    Ok((times, lost))
}

fn bridge(bench: &Bench, way: Way, clock: MonotonicClock) -> Result<(Bridge, String), Box<dyn Error>> {
    let mut granted = String::new();
    let mut open = |name| -> io::Result<InterfacePort> {
        let mut port = match way.kind {
            Kind::Xdp => {
                let port = XdpPort::open(name, Transfer::Either)?;
                let (native, copies) = (port.is_native(), !port.is_zero_copy());
                granted =
                    format!("{}, {}", if native { "in driver" } else { "generic" }, if copies { "copied" } else { "zero copy" });
                InterfacePort::from(port)
            }
            _ => PacketPort::open(name, clock)?.into(),
        };
        if way.kernel {
            granted = format!("{granted} {}", port.busy_poll());
        }
        Ok(port)
    };
    let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?)))?;
    let rate = Rate::gbit(10);
    let line = Line { rate: RateSpec::Constant(rate), delay: Duration::ZERO, framing: Framing::header(Bytes::new(14)) };
    let settings = Settings { down: line.clone(), up: line, buffers: 4096, buffer_size: 2048, flow_key: FlowKey(1) };
    let queue = || queue("fq-codel", rate, Limit::packets(1000));
    Ok((Forwarder::new(&settings, ports, (queue()?, queue()?)), granted))
}

fn round(way: Way, probes: u32) -> Result<Round, Box<dyn Error>> {
    let bench = Bench::new()?;
    bench.left.ip(&format!("link add direct type veth peer name direct netns {}", bench.right.path()))?;
    for (end, address) in [(&bench.left, DIRECT.0), (&bench.right, DIRECT.1)] {
        end.ip("link set direct up")?;
        end.ip(&format!("addr add {address}/24 dev direct"))?;
    }
    let to = if way.kind == Kind::Direct { DIRECT.1 } else { Bench::RIGHT_ADDRESS };
    let far = bench.right.within(|| UdpSocket::bind((to, 9000)))?;
    let near = bench.left.within(|| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
    near.set_read_timeout(Some(LOST))?;
    far.set_read_timeout(Some(Wall::from_millis(50)))?;
    let clock = MonotonicClock::start();
    let (mut running, granted) = match way.kind {
        Kind::Direct => (None, String::new()),
        _ => bridge(&bench, way, clock).map(|(bridge, granted)| (Some(bridge), granted))?,
    };
    let (end, beat) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut reporter, _monitor) = connection();
    let round = std::thread::scope(|scope| {
        let thread = running.as_mut().map(|bridge| {
            let (end, beat, reporter) = (&end, &beat, &mut reporter);
            scope.spawn(move || -> io::Result<f64> {
                scheduling::exact_timers()?;
                let _ = scheduling::real_time(PRIORITY);
                let mut clock = clock;
                let (start, used) = (clock.now(), scheduling::thread_time());
                drive::run(bridge, clock, Drive { report_every: Duration::secs(1), idle: way.idle }, reporter, end, beat)?;
                let span = clock.now().since(start).as_secs_f64();
                Ok(scheduling::thread_time().saturating_sub(used).as_secs_f64() / span)
            })
        });
        scope.spawn(|| echo(&far, &end));
        let probed = scope.spawn(|| probe(&near, to, 50).and_then(|_| probe(&near, to, probes))).join();
        end.store(true, Ordering::Relaxed);
        let used = match thread.map(std::thread::ScopedJoinHandle::join) {
            None => 0.0,
            Some(outcome) => outcome.map_err(|_| "the bridge has panicked")??,
        };
        let (mut times, lost) = probed.map_err(|_| "the prober has panicked")??;
        times.sort_unstable();
        let at =
            |part: f64| times.get((times.len() as f64 * part) as usize).map_or(f64::NAN, |time| time.as_nanos() as f64 / 1e3);
        Ok::<_, Box<dyn Error>>(Round { p50_us: at(0.5), p99_us: at(0.99), lost, used, granted })
    })?;
    // Whether the kernel knows whom to ask for the frames of this socket.
    let source = running.as_ref().and_then(|bridge| bridge.ports().0.descriptor()).map_or(0, busy::source);
    let known = if !way.kernel || source > 0 { "" } else { ", without effect: the socket has no NAPI" };
    Ok(Round { granted: round.granted.clone() + known, ..round })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u32| arguments.next().map_or(Ok(default), |text| text.parse());
    let (rounds, probes) = (number(7)?, number(2000)?);
    let mut results: Vec<Vec<Round>> = WAYS.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (way, results) in WAYS.iter().zip(&mut results) {
            match round(*way, probes) {
                Ok(round) => results.push(round),
                Err(error) => println!("{}: not measured: {error}", way.name),
            }
        }
    }
    println!("medians of {rounds} rounds of {probes} probes (smallest and largest round)");
    println!("way                        RTT us p50              p99                     lost  processor %  granted");
    for (way, results) in WAYS.iter().zip(&results) {
        let of = |value: fn(&Round) -> f64| {
            let values: Vec<f64> = results.iter().map(value).collect();
            let (least, most) =
                values.iter().fold((f64::MAX, 0.0f64), |(least, most), value| (least.min(*value), most.max(*value)));
            format!("{:6.1} ({least:.1} to {most:.1})", median(values))
        };
        let lost: usize = results.iter().map(|round| round.lost).sum();
        let used = median(results.iter().map(|round| round.used * 100.0).collect());
        let granted = results.last().map_or("", |round| round.granted.as_str());
        println!(
            "{:26} {:23} {:23} {lost:4} {used:12.1}  {granted}",
            way.name,
            of(|round| round.p50_us),
            of(|round| round.p99_us)
        );
    }
    Ok(())
}
