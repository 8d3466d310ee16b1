//! The port of real interfaces, between namespaces of the tests' own. Where the kernel allows none,
//! each test reports it and ends.

use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Packet, Rng, sched, spec::LinkFacts};
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Rate};
use goodqueue_live::clock::{Clock, MonotonicClock};
use goodqueue_live::drive::{self, Bridge, Drive, Idle};
use goodqueue_live::forwarder::{Direction, Forwarder, Settings};
use goodqueue_live::frame::FlowKey;
use goodqueue_live::monitor::{Reporter, connection};
use goodqueue_live::pool::{Frame, Pool};
use goodqueue_live::port::fuzz::Fuzz;
use goodqueue_live::port::interface::InterfacePort;
use goodqueue_live::port::packet::{OnJoined, PacketPort};
use goodqueue_live::port::xdp::{Transfer, XdpPort};
use goodqueue_live::port::{Port, PortCounters};
use goodqueue_live::record::{Event, Reader, Recorder};
use goodqueue_live::replay::{ReplayLine, first_difference};
use goodqueue_live::segments;
use goodqueue_live::spool::{Overrun, Spool};
use goodqueue_live::sys::udp;
use goodqueue_live::testbed::bench::Bench;
use goodqueue_live::{Line, RateSpec};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration as Wall;

/// A bench, or the reason why there is none.
fn bench() -> Option<Bench> {
    Bench::new().inspect_err(|reason| println!("skipped: {reason}")).ok()
}

fn line(rate: Rate) -> Line {
    Line { rate: RateSpec::Constant(rate), delay: Duration::ms(2), framing: Framing::header(Bytes::new(14)) }
}

fn queue<P: Packet>(name: &str, rate: Rate) -> AnyQdisc<P> {
    let facts = LinkFacts {
        rate: Some(rate),
        delay: Duration::ms(2),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(14),
        limit: Limit::packets(200),
    };
    AnyQdisc::build(sched::kind(name).expect("a kind"), &[], &facts, EcnPolicy::Mark, Rng::new(1)).expect("a queue")
}

fn bridge(bench: &Bench, clock: MonotonicClock, name: &str, rate: Rate) -> Bridge {
    let open = |interface| PacketPort::open(interface, clock).map(InterfacePort::from);
    let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?))).expect("both ports");
    between(ports, name, rate)
}

fn between(ports: (InterfacePort, InterfacePort), name: &str, rate: Rate) -> Bridge {
    let settings = Settings { down: line(rate), up: line(rate), buffers: 8192, buffer_size: 2048, flow_key: FlowKey(1) };
    Forwarder::new(&settings, ports, (queue(name, rate), queue(name, rate)))
}

/// Builds a bridge like [`bridge`] by AF_XDP. Returns `None`, and reports it, where this kernel or
/// its rules have none.
fn xdp_bridge(bench: &Bench, name: &str, rate: Rate) -> Option<Bridge> {
    let open = |interface| XdpPort::open(interface, Transfer::Either).map(InterfacePort::from);
    let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?)));
    let ports = ports.inspect_err(|error| println!("skipped: no AF_XDP: {error}")).ok()?;
    Some(between(ports, name, rate))
}

/// Runs the bridge on its thread during `work`; returns it at the end.
fn while_bridged<T: Send>(bridge: Bridge, clock: MonotonicClock, work: impl FnOnce() -> T) -> (T, Bridge, io::Result<()>) {
    while_driven(bridge, clock, SLEEP, work)
}

const SLEEP: Idle = Idle::Sleep { awake: Duration::ZERO };

fn while_driven<T: Send>(
    mut bridge: Bridge,
    clock: MonotonicClock,
    idle: Idle,
    work: impl FnOnce() -> T,
) -> (T, Bridge, io::Result<()>) {
    let (stop, beat) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut reporter, _monitor): (Reporter, _) = connection();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let drive = Drive { report_every: Duration::secs(1), idle };
            let outcome = drive::run(&mut bridge, clock, drive, &mut reporter, &stop, &beat);
            (bridge, outcome)
        });
        let result = {
            let _end = AtEnd(&stop);
            work()
        };
        let (bridge, outcome) = thread.join().expect("the thread ends");
        (result, bridge, outcome)
    })
}

/// Ends the bridge also when an assertion fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Far longer than anything here takes, unless it never ends.
const LONG: Wall = Wall::from_secs(15);

/// Sends `bytes` by TCP from left to right; returns what arrived.
fn transfer(bench: &Bench, bytes: Vec<u8>) -> Vec<u8> {
    transfer_to(bench, 9000, bytes)
}

fn transfer_to(bench: &Bench, port: u16, bytes: Vec<u8>) -> Vec<u8> {
    let listener = bench.right.within(|| TcpListener::bind((Bench::RIGHT_ADDRESS, port))).expect("a listener");
    let to = (Bench::RIGHT_ADDRESS, port).into();
    let mut stream = bench.left.within(|| TcpStream::connect_timeout(&to, LONG)).expect("a way through the bridge");
    std::thread::scope(|scope| {
        let receiver = scope.spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.set_read_timeout(Some(LONG)).expect("a timeout");
            let mut got = Vec::new();
            stream.read_to_end(&mut got).expect("all of it");
            got
        });
        stream.set_write_timeout(Some(LONG)).expect("a timeout");
        stream.write_all(&bytes).expect("it is taken");
        drop(stream);
        receiver.join().expect("the receiver ends")
    })
}

/// A transfer across the bridge arrives as it was sent, and nothing is lost but by the queue.
fn carries_every_byte(bench: &Bench, bridge: Bridge, clock: MonotonicClock, idle: Idle) -> Bridge {
    let bytes: Vec<u8> = (0..1_500_000u32).map(|n| (n ^ n >> 8) as u8).collect();
    let (got, mut bridge, outcome) = while_driven(bridge, clock, idle, || transfer(bench, bytes.clone()));
    outcome.expect("nothing went wrong");
    assert!(got == bytes, "{} bytes of {}", got.len(), bytes.len());
    assert!(bridge.conserves());
    let (a, b) = bridge.port_counters();
    for counters in [a, b] {
        assert_eq!(counters.ring_overflows + counters.oversize + counters.no_buffer, 0, "{counters:?}");
    }
    assert_eq!(bridge.frames(Direction::Down).malformed_total(), 0);
    bridge
}

#[test]
fn tcp_passes_with_drops_and_every_byte_is_right() {
    let Some(bench) = bench() else { return };
    let clock = MonotonicClock::start();
    let rate = Rate::mbit(20);
    let mut bridge = bridge(&bench, clock, "codel", rate);
    let file = SharedFile::default();
    let spool = Spool::new(file.clone(), Overrun::Wait).expect("a thread");
    bridge.direction_mut(Direction::Down).record(Recorder::new(spool, "codel"));
    let bridge = carries_every_byte(&bench, bridge, clock, SLEEP);
    // However late the thread was: the queue decided as one without a network does.
    drop(bridge);
    let file = file.0.lock().expect("nobody panicked");
    let events: Vec<Event> = Reader::new(&file[..]).expect("a record").map(|event| event.expect("an event")).collect();
    assert!(events.len() > 2000, "{} events", events.len());
    let again = ReplayLine::new(&line(rate)).expect("a constant rate");
    assert_eq!(first_difference(queue("codel", rate), again, &events), None);
}

/// Offloads left on: frames of up to 64 KiB, whose segments are dropped and marked one by one.
#[test]
fn joined_frames_pass_in_segments_and_every_byte_is_right() {
    if bench().is_none() {
        return;
    }
    // CoDel may have nothing to mark in a transfer this short; one that fills the line is above a
    // phantom queue's rate for sure.
    for (ecn, kind) in [("0", "codel"), ("1", "phantom-queue")] {
        let bench = Bench::with_offloads().expect("another bench");
        for end in [&bench.left, &bench.right] {
            end.set("net.ipv4.tcp_ecn", ecn).expect("ECN is known");
        }
        let clock = MonotonicClock::start();
        let rate = Rate::mbit(150);
        let open = |name| PacketPort::open_joined(name, clock).map(InterfacePort::from);
        let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?))).expect("both ports");
        let settings =
            Settings { down: line(rate), up: line(rate), buffers: 2048, buffer_size: segments::MAX, flow_key: FlowKey(1) };
        let mut bridge: Bridge = Forwarder::new(&settings, ports, (queue(kind, rate), queue("codel", rate)));
        let file = SharedFile::default();
        let spool = Spool::new(file.clone(), Overrun::Wait).expect("a thread");
        bridge.direction_mut(Direction::Down).record(Recorder::new(spool, kind));
        let bytes: Vec<u8> = (0..12_000_000u32).map(|n| (n ^ n >> 8) as u8).collect();
        let (got, mut bridge, outcome) = while_bridged(bridge, clock, || transfer(&bench, bytes.clone()));
        outcome.expect("nothing went wrong");
        assert!(got == bytes, "{} bytes of {}", got.len(), bytes.len());
        assert!(bridge.conserves());
        let (a, _) = bridge.port_counters();
        assert!(a.joined > 100, "{a:?}");
        assert_eq!(a.oversize + a.no_buffer, 0, "{a:?}");
        let counters = bridge.direction(Direction::Down).counters();
        assert!(counters.arrived.packets.get() > 2 * a.received, "most frames have several segments");
        let decided = if ecn == "1" { counters.marked.packets.get() } else { counters.dropped_total().packets.get() };
        assert!(decided > 0, "something was dropped or marked: {counters:?}");
        drop(bridge);
        let file = file.0.lock().expect("nobody panicked");
        let events: Vec<Event> = Reader::new(&file[..]).expect("a record").map(|event| event.expect("an event")).collect();
        let again = ReplayLine::new(&line(rate)).expect("a constant rate");
        assert_eq!(first_difference(queue(kind, rate), again, &events), None);
    }
}

/// Flows that a scheduler interleaves are joined again, each by itself.
#[test]
fn joined_frames_of_several_flows_are_joined_again_flow_by_flow() {
    const FLOWS: u16 = 4;
    let Ok(bench) = Bench::with_offloads().inspect_err(|reason| println!("skipped: {reason}")) else { return };
    let clock = MonotonicClock::start();
    let rate = Rate::mbit(400);
    let open = |name| PacketPort::open_joined(name, clock).map(InterfacePort::from);
    let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?))).expect("both ports");
    let settings = Settings { down: line(rate), up: line(rate), buffers: 2048, buffer_size: segments::MAX, flow_key: FlowKey(1) };
    let bridge: Bridge = Forwarder::new(&settings, ports, (queue("fq-codel", rate), queue("fq-codel", rate)));
    let bytes = |flow: u16| -> Vec<u8> { (0..4_000_000u32).map(|n| (n ^ n >> 8) as u8 ^ flow as u8).collect() };
    let (all, mut bridge, outcome) = while_bridged(bridge, clock, || {
        std::thread::scope(|scope| {
            let bench = &bench;
            let running: Vec<_> =
                (0..FLOWS).map(|flow| scope.spawn(move || transfer_to(bench, 9100 + flow, bytes(flow)) == bytes(flow))).collect();
            running.into_iter().all(|flow| flow.join().expect("it ends"))
        })
    });
    outcome.expect("nothing went wrong");
    assert!(all, "every byte of every flow is right");
    assert!(bridge.conserves());
    let (_, b) = bridge.port_counters();
    assert!(b.sent_joined < b.sent && b.send_failures == 0, "{b:?}");
}

/// Sends several datagrams in one call, as QUIC programs do, which the sender's kernel leaves
/// joined.
#[test]
fn joined_datagrams_pass_one_by_one() {
    const SIZE: usize = 1200;
    const CALLS: usize = 40;
    const IN_A_CALL: usize = 20;
    let Ok(bench) = Bench::with_offloads().inspect_err(|reason| println!("skipped: {reason}")) else { return };
    let clock = MonotonicClock::start();
    let rate = Rate::mbit(500);
    let open = |name| PacketPort::open_joined(name, clock).map(InterfacePort::from);
    let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?))).expect("both ports");
    let settings = Settings { down: line(rate), up: line(rate), buffers: 2048, buffer_size: segments::MAX, flow_key: FlowKey(1) };
    let bridge: Bridge = Forwarder::new(&settings, ports, (queue("tail-drop", rate), queue("tail-drop", rate)));
    let right = bench.right.within(|| UdpSocket::bind((Bench::RIGHT_ADDRESS, 9000))).expect("a socket");
    let left = bench.left.within(|| UdpSocket::bind((Bench::LEFT_ADDRESS, 0))).expect("a socket");
    right.set_read_timeout(Some(LONG)).expect("a timeout");
    udp::send_joined(left.as_fd(), SIZE as u16).expect("the kernel has UDP segmentation");
    let ((), mut bridge, outcome) = while_bridged(bridge, clock, || {
        let mut buffer = [0; 2 * SIZE];
        for call in 0..CALLS {
            // The last of each call is short.
            let bytes: Vec<u8> = (0..IN_A_CALL * SIZE - 7).map(|n| (n / SIZE + call * IN_A_CALL) as u8).collect();
            left.send_to(&bytes, (Bench::RIGHT_ADDRESS, 9000)).expect("it is sent");
            // One call after the other: no socket's buffer overflows.
            for sent in bytes.chunks(SIZE) {
                let got = std::iter::repeat_with(|| right.recv(&mut buffer))
                    .find(|got| !matches!(got, Err(error) if error.kind() == std::io::ErrorKind::Interrupted))
                    .expect("there is no end")
                    .expect("each datagram arrives");
                assert!(buffer[..got] == *sent, "{got} bytes of {}", sent.len());
            }
        }
    });
    outcome.expect("nothing went wrong");
    assert!(bridge.conserves());
    let (a, _) = bridge.port_counters();
    assert_eq!((a.oversize, a.joined_lost), (0, 0), "{a:?}");
    assert!(a.joined >= CALLS as u64, "{a:?}");
    assert!(bridge.direction(Direction::Down).counters().arrived.packets.get() >= (CALLS * IN_A_CALL) as u64);
}

/// A port that takes nothing apart fails by name when it is told to, instead of losing every burst.
#[test]
fn joined_datagrams_end_a_bridge_that_does_not_split_them() {
    let Ok(bench) = Bench::with_offloads().inspect_err(|reason| println!("skipped: {reason}")) else { return };
    let clock = MonotonicClock::start();
    let open = |name| {
        PacketPort::open(name, clock).map(|mut port| {
            port.on_joined(OnJoined::Fail);
            InterfacePort::from(port)
        })
    };
    let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?))).expect("both ports");
    let left = bench.left.within(|| UdpSocket::bind((Bench::LEFT_ADDRESS, 0))).expect("a socket");
    udp::send_joined(left.as_fd(), 1200).expect("the kernel has UDP segmentation");
    let mut bridge = between(ports, "tail-drop", Rate::mbit(100));
    // Nobody answers address requests while the bridge stands still.
    let known = format!("neigh add {} lladdr 02:00:00:00:00:01 dev {}", Bench::RIGHT_ADDRESS, Bench::LEFT);
    bench.left.ip(&known).expect("it knows where to send");
    left.send_to(&[7; 6000], (Bench::RIGHT_ADDRESS, 9)).expect("it is sent");
    let mut now = clock;
    let end = now.now() + Duration::secs(5);
    let error = loop {
        match bridge.step(&mut now) {
            Ok(_) => assert!(now.now() < end, "the packet arrives"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert!(error.to_string().contains(Bench::PORT_A), "{error}");
}

/// A file in memory.
#[derive(Clone, Default)]
struct SharedFile(Arc<Mutex<Vec<u8>>>);

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn tags_pass_unchanged() {
    let Some(bench) = bench() else { return };
    let clock = MonotonicClock::start();
    // The right end listens to its interface as it is; a tagged frame is sent from the left the
    // same way.
    let open = |place: &goodqueue_live::testbed::namespace::Namespace, name: &str| {
        place.within(|| PacketPort::open(name, clock)).expect("an end's port")
    };
    let (mut left, mut right) = (open(&bench.left, Bench::LEFT), open(&bench.right, Bench::RIGHT));
    let mut pool = Pool::new(256, 2048);
    let slot = pool.take().expect("a buffer");
    let mut bytes = vec![0xFF; 6];
    bytes.extend([2, 0, 0, 0, 0, 9, 0x81, 0, 0x60, 5, 0x88, 0xB5]);
    bytes.extend([7; 50]);
    pool.buffer(slot)[..bytes.len()].copy_from_slice(&bytes);
    let frame = Frame::whole(slot, bytes.len() as u32);
    let bridge = bridge(&bench, clock, "tail-drop", Rate::mbit(100));
    let (found, ..) = while_bridged(bridge, clock, || {
        assert_eq!(left.send(Instant::ZERO, &pool, &[frame]).expect("it is sent"), 1);
        let mut batch = Vec::with_capacity(8);
        let mut clock = clock;
        let end = clock.now() + Duration::secs(5);
        while clock.now() < end {
            right.receive(clock.now(), &mut pool, &mut batch).expect("the port is there");
            if batch.drain(..).any(|received| pool.frame(received.frame) == bytes) {
                return true;
            }
        }
        false
    });
    assert!(found, "the tagged frame arrives with its tag");
}

#[test]
fn malformed_frames_on_a_real_interface_are_all_counted() {
    const FRAMES: u64 = 20_000;
    let Some(bench) = bench() else { return };
    let clock = MonotonicClock::start();
    let bridge = bridge(&bench, clock, "fq-codel", Rate::gbit(1));
    let mut left = bench.left.within(|| PacketPort::open(Bench::LEFT, clock)).expect("an end's port");
    let (sent, mut bridge, outcome) = while_bridged(bridge, clock, || {
        let mut pool = Pool::new(1, 2048);
        let slot = pool.take().expect("a buffer");
        let mut fuzz = Fuzz::new(Rng::new(3), FRAMES, Duration::ZERO);
        let mut now = clock;
        for _ in 0..FRAMES {
            // The kernel itself refuses frames shorter than a link header or longer than the MTU.
            let len = fuzz.write(&mut pool.buffer(slot)[..1514]).min(1514) as u32;
            let frame = Frame::whole(slot, len);
            // The kernel drops a frame that ends within its tag before any socket sees it.
            let tagged = pool.frame(frame).get(12..14).is_some_and(|kind| matches!(kind, [0x81, 0] | [0x88, 0xA8]));
            if tagged && len < 20 {
                continue;
            }
            let end = now.now() + Duration::secs(5);
            while left.send(now.now(), &pool, &[frame]).expect("the port is there") == 0 {
                assert!(now.now() < end, "the interface takes frames");
            }
        }
        settle(&bench);
        left.counters()
    });
    outcome.expect("nothing went wrong");
    let (a, _): (PortCounters, _) = bridge.port_counters();
    let received = bridge.frames(Direction::Down).received + a.ring_overflows + a.no_buffer + a.oversize;
    assert!(sent.sent > FRAMES / 2, "{sent:?}");
    // The probe that says that all has passed, and address resolution, come on top.
    assert!((sent.sent..sent.sent + 20).contains(&received), "{sent:?} {a:?} {:?}", bridge.frames(Direction::Down));
    assert!(bridge.frames(Direction::Down).malformed_total() > FRAMES / 20);
    assert!(bridge.conserves());
}

/// Waits until a datagram has passed from left to right, and so all that was sent before.
fn settle(bench: &Bench) {
    // Ports of their own: a program that another test starts may hold on to a socket for a moment.
    let right = bench.right.within(|| UdpSocket::bind((Bench::RIGHT_ADDRESS, 0))).expect("a socket");
    let left = bench.left.within(|| UdpSocket::bind((Bench::LEFT_ADDRESS, 0))).expect("a socket");
    right.set_read_timeout(Some(Wall::from_millis(500))).expect("a timeout");
    let to = right.local_addr().expect("an address");
    for _ in 0..10 {
        left.send_to(b"through", to).expect("it is sent");
        if right.recv(&mut [0; 16]).is_ok() {
            return;
        }
    }
    panic!("nothing passes the bridge");
}

#[test]
fn frames_lost_in_a_full_receive_ring_are_told_as_such() {
    // More than the ring has room for, while nobody takes any out.
    const FRAMES: u64 = 10_000;
    let Some(bench) = bench() else { return };
    let clock = MonotonicClock::start();
    let mut bridge = bridge(&bench, clock, "fq-codel", Rate::gbit(1));
    overflow(&bench, FRAMES);
    let mut now = clock;
    while bridge.step(&mut now).expect("both ports are there") <= now.now() {}
    let (a, _) = bridge.port_counters();
    assert!(a.ring_overflows > 0 && a.received > 0, "{a:?}");
    assert_eq!(a.received + a.ring_overflows + a.no_buffer, FRAMES, "{a:?}");
    assert!(bridge.conserves());
}

#[test]
fn an_interface_that_goes_down_and_up_is_survived() {
    let Some(bench) = bench() else { return };
    let clock = MonotonicClock::start();
    survives_an_outage(&bench, bridge(&bench, clock, "fq-codel", Rate::mbit(100)), clock, SLEEP);
}

fn survives_an_outage(bench: &Bench, bridge: Bridge, clock: MonotonicClock, idle: Idle) {
    let ((), mut bridge, outcome) = while_driven(bridge, clock, idle, || {
        settle(bench);
        bench.middle.ip(&format!("link set {} down", Bench::PORT_B)).expect("it goes down");
        let left = bench.left.within(|| UdpSocket::bind((Bench::LEFT_ADDRESS, 0))).expect("a socket");
        for _ in 0..50 {
            left.send_to(b"lost", (Bench::RIGHT_ADDRESS, 9)).expect("it is sent");
        }
        bench.middle.ip(&format!("link set {} up", Bench::PORT_B)).expect("it comes up");
        // Each takes the line's delay at least, and an outage is noticed within the time of all
        // three.
        settle(bench);
        settle(bench);
        settle(bench);
    });
    outcome.expect("the bridge continues");
    assert!(bridge.conserves());
    assert!(bridge.port_counters().1.outages >= 1, "{:?}", bridge.port_counters().1);
}

#[test]
fn an_interface_that_disappears_ends_the_bridge_with_its_name() {
    let Some(bench) = bench() else { return };
    let clock = MonotonicClock::start();
    let bridge = bridge(&bench, clock, "fq-codel", Rate::mbit(100));
    ends_with_the_name(bench, bridge, clock, SLEEP);
}

fn ends_with_the_name(bench: Bench, mut bridge: Bridge, clock: MonotonicClock, idle: Idle) {
    // The cable is pulled: the far end's network is gone, and the veth pair with it. The near end's
    // must stay: its pair would go, too.
    let Bench { left: _left, middle: _middle, right } = bench;
    right.ip(&format!("link del {}", Bench::RIGHT)).expect("the pair is deleted");
    drop(right);
    let (stop, beat) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut reporter, _monitor) = connection();
    let drive = Drive { report_every: Duration::secs(1), idle };
    let error = drive::run(&mut bridge, clock, drive, &mut reporter, &stop, &beat).expect_err("the interface is gone");
    assert!(error.to_string().contains(Bench::PORT_B), "{error}");
}

#[test]
fn af_xdp_carries_tcp_with_drops_and_every_byte_is_right() {
    let Some(bench) = bench() else { return };
    let clock = MonotonicClock::start();
    let Some(bridge) = xdp_bridge(&bench, "codel", Rate::mbit(20)) else { return };
    let mut bridge = carries_every_byte(&bench, bridge, clock, SLEEP);
    let (a, b) = bridge.port_counters();
    assert_eq!((a.send_failures, b.send_failures), (0, 0));
}

#[test]
fn af_xdp_survives_an_outage_and_ends_with_its_interface() {
    let Some(bench) = bench() else { return };
    let clock = MonotonicClock::start();
    let Some(bridge) = xdp_bridge(&bench, "fq-codel", Rate::mbit(100)) else { return };
    survives_an_outage(&bench, bridge, clock, SLEEP);
    // The first sockets are closed, so the interfaces can be had again.
    let Some(bridge) = xdp_bridge(&bench, "fq-codel", Rate::mbit(100)) else { panic!("the interfaces were not given back") };
    ends_with_the_name(bench, bridge, clock, SLEEP);
}

/// One that never waits for its interfaces still notices what becomes of them.
#[test]
fn a_bridge_that_polls_does_the_same() {
    let polling = |bench: &Bench, xdp: bool| {
        let rate = Rate::mbit(100);
        let clock = MonotonicClock::start();
        let mut bridge = if xdp { xdp_bridge(bench, "codel", rate)? } else { bridge(bench, clock, "codel", rate) };
        let (a, b) = bridge.ports_mut();
        // Without the privilege it polls by itself.
        println!("{}; {}", a.busy_poll(), b.busy_poll());
        Some((bridge, clock))
    };
    for xdp in [false, true] {
        let Some(bench) = bench() else { return };
        let Some((first, clock)) = polling(&bench, xdp) else { return };
        drop(carries_every_byte(&bench, first, clock, Idle::BusyPoll));
        let Some((second, clock)) = polling(&bench, xdp) else { panic!("the interfaces were not given back") };
        survives_an_outage(&bench, second, clock, Idle::BusyPoll);
        let Some((third, clock)) = polling(&bench, xdp) else { panic!("the interfaces were not given back") };
        ends_with_the_name(bench, third, clock, Idle::BusyPoll);
    }
}

#[test]
fn a_driver_without_zero_copy_is_told_as_such_or_copied_from() {
    let Some(bench) = bench() else { return };
    let open = |transfer| bench.middle.within(|| XdpPort::open(Bench::PORT_A, transfer));
    match open(Transfer::Either) {
        Err(error) => println!("skipped: no AF_XDP: {error}"),
        Ok(port) if port.is_zero_copy() => println!("skipped: this kernel's veth has zero copy"),
        Ok(port) => {
            drop(port);
            let error = open(Transfer::ZeroCopy).expect_err("there is none");
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
            assert!(error.to_string().starts_with("has no zero copy"), "{error}");
            assert!(!open(Transfer::Copied).expect("the interface was given back").is_zero_copy());
        }
    }
}

#[test]
fn frames_lost_by_af_xdp_are_told_as_such() {
    const FRAMES: u64 = 10_000;
    let Some(bench) = bench() else { return };
    let mut clock = MonotonicClock::start();
    let Some(mut bridge) = xdp_bridge(&bench, "fq-codel", Rate::gbit(1)) else { return };
    overflow(&bench, FRAMES);
    while bridge.step(&mut clock).expect("both ports are there") <= clock.now() {}
    let (a, _) = bridge.port_counters();
    assert!(a.ring_overflows > 0 && a.received > 0, "{a:?}");
    assert!(bridge.conserves());
}

/// Sends `frames` from the left while nobody takes any out.
fn overflow(bench: &Bench, frames: u64) {
    let left = bench.left.within(|| UdpSocket::bind((Bench::LEFT_ADDRESS, 0))).expect("a socket");
    // Nobody answers address requests while the bridge stands still.
    let known = format!("neigh add {} lladdr 02:00:00:00:00:01 dev {}", Bench::RIGHT_ADDRESS, Bench::LEFT);
    bench.left.ip(&known).expect("it knows where to send");
    for _ in 0..frames {
        left.send_to(b"many", (Bench::RIGHT_ADDRESS, 9)).expect("it is sent");
    }
}
