//! Frames that an offload joined: split, judged and joined again, held against a cutting of its
//! own.

mod support;

use goodqueue_aqm::{AnyQdisc, Limit};
use goodqueue_base::units::{Duration, Instant, Probability, Rate, Rng};
use goodqueue_live::LivePacket;
use goodqueue_live::forwarder::{Direction, Forwarder, Settings};
use goodqueue_live::port::fault::{Faults, FaultyPort};
use goodqueue_live::port::memory::{Drain, MemoryPort, Nothing, Source};
use goodqueue_live::segments::{MAX, Offload};
use std::collections::{BTreeMap, VecDeque};
use support::*;

const MSS: usize = 1448;

/// A frame and what was left to a network card.
type Sent = (Instant, Vec<u8>, Offload);

#[derive(Default)]
struct Superframes {
    left: VecDeque<Sent>,
    last: Offload,
}

impl Source for Superframes {
    fn next_arrival(&self) -> Option<Instant> {
        self.left.front().map(|frame| frame.0)
    }
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let Some((_, bytes, offload)) = self.left.pop_front() else { return 0 };
        let fits = bytes.len().min(buffer.len());
        buffer[..fits].copy_from_slice(&bytes[..fits]);
        self.last = offload;
        bytes.len()
    }
    fn offload(&self) -> Offload {
        self.last
    }
}

#[derive(Default)]
struct Taken(Vec<Sent>);

impl Drain for Taken {
    fn take(&mut self, at: Instant, frame: &[u8]) {
        self.0.push((at, frame.to_vec(), Offload::default()));
    }
    fn take_joined(&mut self, at: Instant, frame: &[u8], offload: Offload) {
        self.0.push((at, frame.to_vec(), offload));
    }
}

/// Form of a sent frame: IP version, transport, port of the sender, number of tags and of options.
#[derive(Clone, Copy, Default)]
struct Shape {
    port: u16,
    v6: bool,
    udp: bool,
    tags: usize,
    options: usize,
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum()
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

/// A frame of `payload` bytes as a sender's kernel hands it to a card that cuts and sums.
fn superframe(shape: Shape, sequence: u32, id: u16, flags: u8, ecn: u8, payload: &[u8]) -> (Vec<u8>, Offload) {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    for tag in 0..shape.tags {
        frame.extend([0x81, 0, 0, tag as u8 + 7]);
    }
    let protocol = if shape.udp { 17 } else { 6 };
    let tcp_len = if shape.udp { 8 } else { 20 + shape.options } + payload.len();
    let at = frame.len() + 2;
    let addresses = if shape.v6 {
        frame.extend([0x86, 0xDD, 0x60, ecn << 4, 0, 0]);
        frame.extend((tcp_len as u16).to_be_bytes());
        frame.extend([protocol, 64]);
        frame.extend([0x20; 16]);
        frame.extend([0x30; 16]);
        at + 8..at + 40
    } else {
        frame.extend([8, 0, 0x45, ecn]);
        frame.extend((tcp_len as u16 + 20).to_be_bytes());
        frame.extend(id.to_be_bytes());
        frame.extend([0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let header = !fold(sum(&frame[at..at + 20]));
        frame[at + 10..at + 12].copy_from_slice(&header.to_be_bytes());
        at + 12..at + 20
    };
    let tcp = frame.len();
    frame.extend(shape.port.to_be_bytes());
    frame.extend([0, 80]);
    let checksum = if shape.udp {
        frame.extend((tcp_len as u16).to_be_bytes());
        frame.extend([0, 0]);
        6
    } else {
        frame.extend(sequence.to_be_bytes());
        frame.extend([0, 0, 0, 9, (((20 + shape.options) / 4) << 4) as u8, flags, 1, 0, 0, 0, 0, 0]);
        frame.extend(vec![1; shape.options]);
        16
    };
    let pseudo = fold(sum(&frame[addresses]) + u32::from(protocol) + tcp_len as u32);
    frame[tcp + checksum..tcp + checksum + 2].copy_from_slice(&pseudo.to_be_bytes());
    let headers = frame.len() as u16;
    frame.extend(payload);
    let kind = match (shape.udp, shape.v6) {
        (true, _) => 5,
        (false, v6) => (if v6 { 4 } else { 1 }) | (flags & 0x80),
    };
    let offload = Offload { partial_checksum: true, kind, headers, size: MSS as u16, checksum: (tcp as u16, checksum as u16) };
    (frame, offload)
}

/// Returns the frames that a network card would put on the wire.
fn cut((_, frame, offload): &Sent) -> Vec<Vec<u8>> {
    if !offload.partial_checksum {
        return vec![frame.clone()];
    }
    let (headers, tcp) = (usize::from(offload.headers), usize::from(offload.checksum.0));
    let tags = frame[12..].chunks(4).take_while(|tag| tag[..2] == [0x81, 0]).count();
    let at = 14 + 4 * tags;
    let v6 = frame[at] >> 4 == 6;
    let size = if offload.kind == 0 { frame.len() } else { usize::from(offload.size) };
    let chunks: Vec<&[u8]> = frame[headers..].chunks(size).collect();
    let build = |(index, chunk): (usize, &&[u8])| {
        let mut out = frame[..headers].to_vec();
        out.extend_from_slice(chunk);
        let length = (out.len() - at) as u16;
        let place = if v6 { at + 4 } else { at + 2 };
        out[place..place + 2].copy_from_slice(&(if v6 { length - 40 } else { length }).to_be_bytes());
        if !v6 {
            let id = u16::from_be_bytes([out[at + 4], out[at + 5]]).wrapping_add(index as u16);
            out[at + 4..at + 6].copy_from_slice(&id.to_be_bytes());
            out[at + 10..at + 12].fill(0);
            let header = !fold(sum(&out[at..at + 20]));
            out[at + 10..at + 12].copy_from_slice(&header.to_be_bytes());
        }
        let (protocol, field) = if offload.checksum.1 == 6 { (17, tcp + 6) } else { (6, tcp + 16) };
        if protocol == 17 {
            let length = (out.len() - tcp) as u16;
            out[tcp + 4..tcp + 6].copy_from_slice(&length.to_be_bytes());
        } else {
            let sequence = u32::from_be_bytes(out[tcp + 4..tcp + 8].try_into().unwrap()).wrapping_add((index * size) as u32);
            out[tcp + 4..tcp + 8].copy_from_slice(&sequence.to_be_bytes());
            if index + 1 < chunks.len() {
                out[tcp + 13] &= !0x09;
            }
            if index > 0 {
                out[tcp + 13] &= !0x80;
            }
        }
        out[field..field + 2].fill(0);
        let addresses = if v6 { at + 8..at + 40 } else { at + 12..at + 20 };
        let all = sum(&out[addresses]) + protocol + (out.len() - tcp) as u32 + sum(&out[tcp..]);
        out[field..field + 2].copy_from_slice(&(!fold(all)).to_be_bytes());
        out
    };
    chunks.iter().enumerate().map(build).collect()
}

/// Frames of all shapes and lengths, closer together than the line can carry when `load` is above
/// one.
fn frames(count: usize, rate: Rate, load: f64, seed: u64) -> Vec<Sent> {
    let mut rng = Rng::new(seed);
    let mut now = ms(1);
    (0..count)
        .map(|n| {
            let shape = Shape { port: 0x1234, v6: n % 3 == 1, udp: n % 7 % 3 == 2, tags: n % 4 / 3, options: [0, 12, 40][n % 3] };
            let len = 1 + rng.below(if n % 5 == 0 { 4 * MSS as u64 } else { 64_000 }) as usize;
            let payload: Vec<u8> = (0..len).map(|_| rng.next_u64() as u8).collect();
            let flags = 0x10 | (rng.next_u64() as u8 & 0x89);
            let (frame, offload) = superframe(shape, u32::MAX - 9000, n as u16 * 100, flags, 2, &payload);
            now += rate.transmission_time(goodqueue_base::units::Bytes::new(frame.len() as u64)).mul_f64(1.0 / load);
            (now, frame, offload)
        })
        .collect()
}

type Live<P> = Forwarder<P, MemoryPort<Nothing, Taken>, AnyQdisc<LivePacket>>;

fn forwarder<P: goodqueue_live::port::Port>(port: P, rate: Rate, queues: [AnyQdisc<LivePacket>; 2]) -> Live<P> {
    let line = line(rate, Duration::ms(1));
    let settings = Settings { buffer_size: MAX, buffers: 512, ..settings(&line) };
    let [down, up] = queues;
    Forwarder::new(&settings, (port, MemoryPort::new(Nothing, Taken::default())), (down, up))
}

fn source(frames: &[Sent]) -> MemoryPort<Superframes, Taken> {
    MemoryPort::new(Superframes { left: frames.to_vec().into(), last: Offload::default() }, Taken::default())
}

#[test]
fn without_a_queue_the_wire_sees_what_a_card_would_have_sent() {
    let rate = Rate::gbit(1);
    let input = frames(60, rate, 0.9, 1);
    let expected: Vec<Vec<u8>> = input.iter().flat_map(cut).collect();
    // A thread that comes round seldom has many segments to join, one that comes for each has none.
    for pause in [None, Some(Duration::us(50)), Some(Duration::ms(30))] {
        let queues = ["tail-drop", "tail-drop"].map(|name| queue(name, rate, Limit::NONE));
        let mut live = forwarder(source(&input), rate, queues);
        run(&mut live, pause);
        assert_eq!(live.port_counters().0.joined, 60);
        let out = &live.ports().1.drain.0;
        assert_eq!(out.iter().flat_map(cut).collect::<Vec<_>>(), expected, "{pause:?}");
        assert_eq!(live.frames(Direction::Down).received, expected.len() as u64);
        match pause {
            None => assert_eq!(out.len(), expected.len(), "each segment leaves at its own time"),
            // A round ends within a frame now and then.
            Some(pause) if pause >= Duration::ms(30) => assert!((60..64).contains(&out.len()), "neighbors are joined again"),
            Some(_) => assert!(out.len() < expected.len()),
        }
    }
}

fn run<P: goodqueue_live::port::Port>(live: &mut Live<P>, pause: Option<Duration>) {
    let end = ms(2000);
    if let Some(pause) = pause {
        let mut clock = goodqueue_live::clock::VirtualClock::default();
        while clock.0 < end {
            clock.0 += pause;
            live.step(&mut clock).unwrap();
        }
    } else {
        virtual_time::run(live, end).unwrap();
    }
    assert!(live.conserves());
    assert_eq!(live.pool().in_use(), 0);
}

/// Every algorithm judges segments one by one: what gets through is a part of what a card would
/// have sent, in order, with CE on what was marked and nothing else changed; and the verdicts are
/// those that single frames would have got.
#[test]
fn drops_and_marks_fall_on_single_segments() {
    let rate = Rate::gbit(1);
    let input = frames(120, rate, 1.5, 2);
    let wire: Vec<Vec<u8>> = input.iter().flat_map(cut).collect();
    let single: Vec<Sent> =
        input.iter().flat_map(|sent| cut(sent).into_iter().map(|frame| (sent.0, frame, Offload::default()))).collect();
    for name in ["tail-drop", "codel", "red", "pie", "fq-codel", "cp-aqm"] {
        let outputs = [&input, &single].map(|frames| {
            let queues = [queue(name, rate, limit()), queue("tail-drop", rate, Limit::NONE)];
            let mut live = forwarder(source(frames), rate, queues);
            run(&mut live, Some(Duration::us(200)));
            let counters = live.direction(Direction::Down).counters();
            let out: Vec<Vec<u8>> = live.ports().1.drain.0.iter().flat_map(cut).collect();
            (out, counters)
        });
        let [(out, counters), (plain, plain_counters)] = &outputs;
        assert_eq!(counters, plain_counters, "{name}");
        assert!(by_flow(out) == by_flow(plain), "{name}");
        assert!(counters.dropped_total().packets.get() > 0, "{name} drops");
        assert_eq!(out.len() as u64 + counters.dropped_total().packets.get(), wire.len() as u64);
    }
}

/// Frames of each flow in their order; a flow is its version, protocol and source port.
fn by_flow(frames: &[Vec<u8>]) -> BTreeMap<(u8, u8, u16), Vec<&[u8]>> {
    let mut flows: BTreeMap<_, Vec<&[u8]>> = BTreeMap::new();
    for frame in frames {
        let at = 14 + 4 * frame[12..].chunks(4).take_while(|tag| tag[..2] == [0x81, 0]).count();
        let (protocol, transport) = if frame[at] >> 4 == 6 { (frame[at + 6], at + 40) } else { (frame[at + 9], at + 20) };
        let port = u16::from_be_bytes([frame[transport], frame[transport + 1]]);
        flows.entry((frame[at] >> 4, protocol, port)).or_default().push(frame);
    }
    flows
}

/// Returns the frames that senders of `flows` streams send: new data mostly, at times the latest
/// data once more, a segment without data, other flags, another codepoint or another segment size.
fn streams(flows: u16, count: usize, rate: Rate, seed: u64) -> Vec<Sent> {
    let mut rng = Rng::new(seed);
    let mut now = ms(1);
    let mut sequences = vec![u32::MAX - 100_000; usize::from(flows)];
    let mut ids = vec![u16::MAX - 50; usize::from(flows)];
    (0..count)
        .map(|_| {
            let flow = rng.below(u64::from(flows)) as u16;
            let at = usize::from(flow);
            let shape = Shape { port: flow + 1, v6: flow % 3 == 1, udp: flow % 5 == 4, tags: 0, options: 12 };
            let segments = if rng.fires(0.9) { 1 + rng.below(20) as usize } else { 0 };
            let tail = if rng.fires(0.2) { rng.below(MSS as u64) as usize } else { 0 };
            let payload: Vec<u8> = (0..segments * MSS + tail).map(|_| rng.next_u64() as u8).collect();
            let flags = 0x10 | if rng.fires(0.1) { rng.next_u64() as u8 & 0x89 } else { 0 };
            let ecn = if rng.fires(0.05) { 1 } else { 2 };
            if rng.fires(0.05) {
                sequences[at] = sequences[at].wrapping_sub(MSS as u32);
            }
            let (frame, mut offload) = superframe(shape, sequences[at], ids[at], flags, ecn, &payload);
            if payload.is_empty() {
                offload = Offload::default();
            } else if rng.fires(0.05) {
                offload.size = 1000;
            }
            sequences[at] = sequences[at].wrapping_add(payload.len() as u32);
            ids[at] = ids[at].wrapping_add(payload.len().div_ceil(usize::from(offload.size).max(1)).max(1) as u16);
            now += rate.transmission_time(goodqueue_base::units::Bytes::new(frame.len() as u64));
            (now, frame, offload)
        })
        .collect()
}

/// However flows leave interleaved, and however many there are, each has its bytes in their order;
/// and far fewer frames leave than there are segments.
#[test]
fn each_flow_is_joined_behind_a_scheduler() {
    let rate = Rate::gbit(10);
    for (flows, per_frame) in [(1, 10), (4, 10), (30, 5), (400, 1)] {
        let input = streams(flows, 600, rate, u64::from(flows));
        let expected: Vec<Vec<u8>> = input.iter().flat_map(cut).collect();
        for name in ["tail-drop", "fq-codel", "cake", "priority"] {
            let queues = [queue(name, rate, Limit::NONE), queue("tail-drop", rate, Limit::NONE)];
            // As fast as they come, but in turns.
            let mut live = forwarder(source(&input), rate, queues);
            run(&mut live, Some(Duration::us(500)));
            let out = &live.ports().1.drain.0;
            assert!(out.iter().all(|sent| sent.1.len() <= 65_535));
            let wire: Vec<Vec<u8>> = out.iter().flat_map(cut).collect();
            let dropped = live.direction(Direction::Down).counters().dropped_total().packets.get();
            assert_eq!(dropped, 0, "{name}, {flows} flows");
            assert!(by_flow(&wire) == by_flow(&expected), "{name}, {flows} flows");
            assert!(out.len() * per_frame <= wire.len(), "{name}, {flows} flows: {} of {}", out.len(), wire.len());
        }
    }
}

/// The segments of several frames leave as one, if nothing ends it.
#[test]
fn frames_that_follow_one_another_become_one() {
    let joins = |change: &dyn Fn(usize, &mut u8, &mut u32, &mut u8)| {
        let input: Vec<Sent> = (0..4)
            .map(|n| {
                let (mut flags, mut sequence, mut ecn) = (0x10, 77 + (n * 3 * MSS) as u32, 2);
                change(n, &mut flags, &mut sequence, &mut ecn);
                let shape = Shape { options: 12, ..Shape::default() };
                let (frame, offload) = superframe(shape, sequence, n as u16 * 3, flags, ecn, &[n as u8; 3 * MSS]);
                (ms(1), frame, offload)
            })
            .collect();
        let queues = ["tail-drop", "tail-drop"].map(|name| queue(name, Rate::gbit(1), Limit::NONE));
        let mut live = forwarder(source(&input), Rate::gbit(1), queues);
        run(&mut live, Some(Duration::ms(30)));
        let out = &live.ports().1.drain.0;
        let wire = |sent: &[Sent]| sent.iter().flat_map(cut).collect::<Vec<_>>();
        assert_eq!(wire(out), wire(&input));
        out.len()
    };
    assert_eq!(joins(&|_, _, _, _| {}), 1);
    assert_eq!(joins(&|n, flags, _, _| *flags |= if n == 1 { 0x08 } else { 0 }), 2, "PSH ends a frame");
    assert_eq!(joins(&|n, flags, _, _| *flags |= if n == 3 { 0x09 } else { 0 }), 1, "what ends the last is its own");
    assert_eq!(joins(&|n, flags, _, _| *flags |= if n == 2 { 0x80 } else { 0 }), 2, "CWR begins a frame");
    assert_eq!(joins(&|n, _, sequence, _| *sequence += if n == 2 { 1 } else { 0 }), 3, "neither a gap nor what lies before it");
    assert_eq!(joins(&|n, _, _, ecn| *ecn = if n == 3 { 3 } else { 2 }), 2, "another codepoint");
}

/// Damaged frames and headers that lie about their segments do no harm.
#[test]
fn faults_lose_nothing_but_frames() {
    let rate = Rate::gbit(1);
    let often = Probability::new(0.2).unwrap();
    let faults = Faults { loss: often, duplication: often, reordering: often, corruption: often, truncation: often };
    let mut input = frames(200, rate, 1.2, 3);
    let mut rng = Rng::new(9);
    for (_, _, offload) in &mut input {
        if rng.fires(0.3) {
            offload.size = rng.below(60) as u16;
        }
        if rng.fires(0.3) {
            offload.kind = rng.next_u64() as u8;
        }
    }
    let queues = [queue("codel", rate, limit()), queue("tail-drop", rate, Limit::NONE)];
    let mut live = forwarder(FaultyPort::new(source(&input), faults, Rng::new(4)), rate, queues);
    run(&mut live, Some(Duration::us(300)));
    assert!(live.frames(Direction::Down).received > 1000);
}
