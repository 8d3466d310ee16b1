use super::*;
use goodqueue_lab::scenario::plan::Plan;
use std::fs;

mod links;
mod sides;

/// A segment of IPv4 and TCP on Ethernet. `flags` as in TCP: 2 opens, 16 acknowledges.
fn frame(from_client: bool, flags: u8, data: usize, stamps: Option<(u32, u32)>) -> Vec<u8> {
    segment(from_client, flags, 0, data, stamps)
}

/// As [`frame`], with the number of its first byte.
fn segment(from_client: bool, flags: u8, sequence: u32, data: usize, stamps: Option<(u32, u32)>) -> Vec<u8> {
    let options = if stamps.is_some() { 12 } else { 0 };
    let mut bytes = vec![0u8; 12];
    bytes.extend([8, 0]);
    let len = (40 + options + data) as u16;
    bytes.extend([0x45, 0]);
    bytes.extend(len.to_be_bytes());
    bytes.extend([0, 0, 0, 0, 64, 6, 0, 0]);
    let (client, server) = ([10, 0, 0, 1], [192, 0, 2, 1]);
    bytes.extend(if from_client { [client, server].concat() } else { [server, client].concat() });
    let ports: [u16; 2] = if from_client { [50_000, 443] } else { [443, 50_000] };
    bytes.extend(ports.iter().flat_map(|port| port.to_be_bytes()));
    bytes.extend(sequence.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend([(((20 + options) / 4) << 4) as u8, flags, 0, 0, 0, 0, 0, 0]);
    if let Some((value, echo)) = stamps {
        bytes.extend([1, 1, 8, 10]);
        bytes.extend(value.to_be_bytes());
        bytes.extend(echo.to_be_bytes());
    }
    bytes.extend(vec![0; data]);
    bytes
}

/// A form of `pcap`.
#[derive(Clone, Copy)]
struct Form {
    link: u32,
    is_big_endian: bool,
    has_nanos: bool,
    /// Bytes that are kept of a frame.
    kept: usize,
}

const USUAL: Form = Form { link: 1, is_big_endian: false, has_nanos: false, kept: 96 };

/// A pcap of frames at times in microseconds, each cut to 96 bytes.
fn pcap(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    in_form(USUAL, frames)
}

fn in_form(form: Form, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let word = |word: u64| if form.is_big_endian { (word as u32).to_be_bytes() } else { (word as u32).to_le_bytes() };
    let version = if form.is_big_endian { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
    let mut bytes = word(if form.has_nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }).to_vec();
    bytes.extend(version);
    for field in [0, 0, 262_144, u64::from(form.link)] {
        bytes.extend(word(field));
    }
    for (at, frame) in frames {
        let kept = frame.len().min(form.kept);
        let parts = at % 1_000_000 * if form.has_nanos { 1_000 } else { 1 };
        for field in [1_000 + at / 1_000_000, parts, kept as u64, frame.len() as u64] {
            bytes.extend(word(field));
        }
        bytes.extend(&frame[..kept]);
    }
    bytes
}

/// Interfaces by kind of link and `if_tsresol`, which is also what a time counts in.
type Interfaces<'a> = &'a [(u16, u8, fn(u64) -> u64)];

const NANOS: (u16, u8, fn(u64) -> u64) = (1, 9, |micros| micros * 1_000);

/// A pcapng file of these frames, with time stamps in nanoseconds.
fn pcapng(frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    of_interfaces(&[NANOS], frames, |_| 0)
}

/// As [`pcapng`], with each frame at the interface that `of` names.
fn of_interfaces(interfaces: Interfaces<'_>, frames: &[(u64, Vec<u8>)], of: impl Fn(usize) -> usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let padded = body.len().div_ceil(4) * 4;
        let len = (12 + padded) as u32;
        bytes.extend(kind.to_le_bytes());
        bytes.extend(len.to_le_bytes());
        bytes.extend(body);
        bytes.extend(vec![0; padded - body.len()]);
        bytes.extend(len.to_le_bytes());
    };
    block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    for (link, resolution, _) in interfaces {
        let [low, high] = link.to_le_bytes();
        block(1, &[low, high, 0, 0, 0, 0, 4, 0, 9, 0, 1, 0, *resolution, 0, 0, 0, 0, 0, 0, 0]);
    }
    for (n, (at, frame)) in frames.iter().enumerate() {
        let number = of(n);
        let ticks = interfaces[number].2(1_000_000_000 + at);
        let mut body = (number as u32).to_le_bytes().to_vec();
        for word in [(ticks >> 32) as u32, ticks as u32, frame.len() as u32, frame.len() as u32] {
            body.extend(word.to_le_bytes());
        }
        body.extend(frame);
        block(6, &body);
    }
    bytes
}

/// A handshake of 30 ms, a request, and 2.5 s of 10 Mbit/s toward the client.
fn download() -> Vec<(u64, Vec<u8>)> {
    let mut frames = vec![
        (0, frame(true, 2, 0, None)),
        (28_000, frame(false, 18, 0, None)),
        (30_000, segment(true, 16, 1, 0, None)),
        (30_100, segment(true, 16, 1, 300, None)),
    ];
    frames.extend((0..2_084).map(|n| (60_000 + n * 1_200, segment(false, 16, 1 + n as u32 * 1_460, 1_460, None))));
    frames
}

fn captured(bytes: &[u8]) -> Result<Captured, ImportError> {
    import(&Input::read("x.pcap", &[][..]).unwrap(), bytes, Some("x.csv"))
}

#[test]
fn a_download_tells_rate_round_trip_and_size() {
    for bytes in [pcap(&download()), pcapng(&download())] {
        let Captured { draft, list } = captured(&bytes).unwrap();
        let text = draft.text();
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x.csv"), &list).unwrap();
        let plan = Plan::parse("imported", &text, dir.path()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let scenario = plan.point(0).unwrap().plan;
        let link = scenario.main_link();
        let rate = link.down.nominal_rate().as_bit_s() as f64;
        assert!((rate / 1e7 - 1.0).abs() < 0.01, "{rate}");
        assert_eq!(link.down.delay + link.up.delay, Duration::ms(30));
        // 2084 segments of 1460 bytes from 60 ms on, though only 96 bytes of each were kept.
        assert!(list.ends_with("60000 us, 3042640 B\n"), "{list}");
    }
}

#[test]
fn time_stamps_give_the_rtt_of_an_open_connection() {
    // 10 ms to the server and back, 4 ms to the client and back, as seen between them.
    let frames = [
        (0, frame(true, 16, 100, Some((7, 1)))),
        (10_000, frame(false, 16, 1_000, Some((100, 7)))),
        (14_000, frame(true, 16, 0, Some((8, 100)))),
        (500_000, frame(false, 16, 1_000, Some((101, 8)))),
    ];
    let text = captured(&pcap(&frames)).unwrap().draft.text();
    assert!(text.contains("# measured: half of 14.0 ms, the median over 1 connections"), "{text}");
}

const DAY: u64 = 86_400_000_000;

/// Twice a second of 8 Mbit/s toward the client; `of` gives the times of the second one.
fn twice(of: impl Fn(u64) -> u64) -> Vec<(u64, Vec<u8>)> {
    let packet = |n: u64| segment(false, 16, 1 + n as u32 * 1_460, 1_460, None);
    let first = (0..668).map(|n| (DAY + n * 1_500, packet(n)));
    first.chain((668..1_336).map(|n| (of((n - 668) * 1_500), packet(n)))).collect()
}

/// The rates down and up in Mbit/s, and the scenario.
fn rates(frames: &[(u64, Vec<u8>)]) -> ([Option<f64>; 2], String) {
    let draft = import(&Input::read("x.pcap", &[][..]).unwrap(), pcap(frames).as_slice(), None).unwrap().draft;
    let line = draft.measured().unwrap();
    let mbit = |rate: u64| (rate as f64 / 1e5).round() / 10.0;
    ([line.down, line.up].map(|rate| rate.map(|rate| mbit(rate.value.as_bit_s()))), draft.text())
}

#[test]
fn steps_of_the_clock_add_no_traffic() {
    type Time = fn(u64) -> u64;
    let steps: [(Time, &str); 4] = [
        (|at| 3 * DAY + at, "# 1 packets are more than an hour after the one before: that time is left out."),
        (|at| DAY + 500_000 + at, "# 1 packets are earlier than the one before: the clock was set,"),
        (|at| DAY + at, "# 1 packets are earlier than the one before: the clock was set,"),
        (|at| DAY - 1_000_000 + at, "# 1 packets are earlier than the one before: the clock was set,"),
    ];
    for (of, note) in steps {
        let (found, text) = rates(&twice(of));
        assert_eq!(found[0], Some(8.0), "{note}");
        assert!(text.contains(note), "{note}\n{text}");
    }
    let mut frames = twice(|at| DAY + 2_000_000 + at);
    frames.reverse();
    let message = captured(&pcap(&frames)).unwrap_err().to_string();
    let expected = "x.pcap: has no order: 1335 of 1336 packets are earlier than the one before: reordercap sorts them";
    assert_eq!(message, expected);
}

#[test]
fn a_recording_of_two_days_has_a_busiest_second() {
    let mut frames = twice(|at| 3 * DAY + at);
    frames.extend((1..96).map(|half_hour| (DAY + half_hour * 1_800_000_000, frame(true, 16, 0, None))));
    frames.sort_by_key(|(at, _)| *at);
    let (found, text) = rates(&frames);
    assert_eq!(found[0], Some(8.0));
    assert!(!text.contains("the one before"), "{text}");
}

#[test]
fn uploads_alone_leave_the_download_assumed() {
    let up: Vec<_> = (0..1_336).map(|n| (n * 1_500, segment(true, 16, 1 + n as u32 * 1_460, 1_460, None))).collect();
    let (found, text) = rates(&up);
    assert_eq!(found, [None, Some(8.0)]);
    assert!(
        text.contains("# assumed: the file has the upload alone, and this is its figure: put the download's rate here"),
        "{text}"
    );
    assert!(text.contains("name = \"uploads\"") && !text.contains("downloads"), "{text}");
}

#[test]
fn wrong_files_get_one_message_and_cut_ones_are_read() {
    let message = |bytes: &[u8]| captured(bytes).unwrap_err().to_string();
    assert_eq!(message(b""), "x.pcap: is no recording of packets: expected pcap or pcapng");
    assert_eq!(
        message(b"some text that is long enough to be anything"),
        "x.pcap: is no recording of packets: expected pcap or pcapng"
    );
    assert_eq!(message(&pcap(&[])), "x.pcap: has no packets of IP");
    assert_eq!(message(&pcap(&[(0, vec![0; 60])])), "x.pcap: has no packets of IP");
    let joined = message(&[pcap(&download()), pcap(&download())].concat());
    assert_eq!(joined, "x.pcap: has another recording behind the first one: mergecap joins recordings");
    let broken = message(&[pcapng(&download()), vec![6, 0, 0, 0], vec![0; 28]].concat());
    assert!(
        broken.ends_with(": is no packet: the file is damaged, or others are joined to it: mergecap joins recordings"),
        "{broken}"
    );
    let whole = pcap(&download());
    let cut = captured(&whole[..whole.len() - 10]).unwrap();
    assert!(cut.draft.text().contains("# The recording ends within a packet"), "{}", cut.draft.text());
}

#[test]
fn no_bytes_make_it_panic() {
    let whole = pcapng(&download()[..8]);
    for at in 0..whole.len() {
        for change in [0x00, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = change;
            let _ = captured(&bytes);
        }
    }
}
