//! Clients and servers, clocks of several interfaces, short packets, and what is not the line's.

use super::*;

/// Addresses of nobody on both ends, the user's first.
const USER: [u8; 4] = [192, 0, 2, 7];
const FAR: [u8; 4] = [198, 51, 100, 9];
const HOME: [u8; 4] = [192, 168, 7, 2];
const THIRD: [u8; 4] = [203, 0, 113, 4];
const SELF: [u8; 4] = [127, 0, 0, 1];
const GROUP: [u8; 4] = [239, 7, 7, 7];

/// Frames with their times in microseconds.
type Timed = Vec<(u64, Vec<u8>)>;

fn ethernet(kind: [u8; 2], data: &[u8]) -> Vec<u8> {
    [[2; 12].as_slice(), &kind, data].concat()
}

/// A packet of IPv4 on Ethernet with `number` as its identification, and this part of a datagram.
fn part(from: [u8; 4], to: [u8; 4], protocol: u8, number: u16, part: u16, data: &[u8]) -> Vec<u8> {
    let len = (20 + data.len() as u16).to_be_bytes();
    let ([id, below], [flags, offset]) = (number.to_be_bytes(), part.to_be_bytes());
    let header = [0x45, 0, len[0], len[1], id, below, flags, offset, 64, protocol, 0, 0];
    ethernet([8, 0], &[header.as_slice(), &from, &to, data].concat())
}

fn ipv6(from: u8, to: u8, protocol: u8, data: &[u8]) -> Vec<u8> {
    let address = |last: u8| [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    let [len, below] = (data.len() as u16).to_be_bytes();
    let header = [0x60, 0, 0, 0, len, below, protocol, 64];
    ethernet([0x86, 0xdd], &[header.as_slice(), &address(from), &address(to), data].concat())
}

fn udp(from: u16, to: u16, number: u16, len: usize) -> Vec<u8> {
    let mut data = [from.to_be_bytes(), to.to_be_bytes(), [0, 0], [0, 0]].concat();
    data.extend([7; 9]);
    data.extend(number.to_be_bytes());
    data.resize(len, 1);
    data
}

fn tcp(from: u16, to: u16, sequence: u32, flags: u8, data: usize) -> Vec<u8> {
    let mut bytes = [from.to_be_bytes(), to.to_be_bytes()].concat();
    bytes.extend(sequence.to_be_bytes());
    bytes.extend([0, 0, 0, 1, 0x50, flags, 0, 0, 0, 0, 0, 0]);
    bytes.resize(20 + data, 1);
    bytes
}

/// Packets of 1500 bytes for two seconds at this rate.
fn stream(mbit: u64, packet: impl Fn(u16) -> Vec<u8>) -> Timed {
    (0..mbit * 2_000_000 / 12_000).map(|n| (n * 12_000 / mbit, packet(n as u16))).collect()
}

fn together(parts: &[Timed]) -> Timed {
    let mut frames = parts.concat();
    frames.sort_by_key(|(at, _)| *at);
    frames
}

fn both(down: u64, up: u64, packet: fn([u8; 4], [u8; 4], u16) -> Vec<u8>) -> Timed {
    together(&[stream(down, |n| packet(FAR, USER, n)), stream(up, |n| packet(USER, FAR, n))])
}

fn connection(from: [u8; 4], to: [u8; 4], port: u16, mbit: u64) -> Timed {
    let opening = vec![(0, part(from, to, 6, 1, 0, &tcp(port, 443, 0, 2, 0)))];
    together(&[opening, stream(mbit, |n| part(to, from, 6, n, 0, &tcp(443, port, 1 + u32::from(n) * 1_460, 16, 1_460)))])
}

fn mbit(draft: &Draft) -> [Option<f64>; 2] {
    let line = Draft { traffic: None, ..draft.clone() }.measured().unwrap();
    [line.down, line.up].map(|rate| rate.map(|rate| (rate.value.as_bit_s() as f64 / 1e5).round() / 10.0))
}

#[test]
fn directions_of_two_addresses_are_never_added() {
    let unknown = "# Nothing tells which of ";
    let (down, up) = (Some(20.0), Some(1.0));
    let cases: [(&str, Timed, [Option<f64>; 2], &str); 11] = [
        ("equal ports", both(20, 1, |a, b, n| part(a, b, 17, n, 0, &udp(51_820, 51_820, n, 1_480))), [down, up], unknown),
        ("no ports", both(20, 1, |a, b, n| part(a, b, 50, n, 0, &udp(0, 0, n, 1_480))), [down, up], unknown),
        ("echoes", both(11, 11, |a, b, n| part(a, b, 1, n, 0, &udp(0, 0, n, 1_480))), [Some(11.0); 2], unknown),
        ("parts", stream(20, |n| part(FAR, USER, 17, n / 2, n % 2 * 185, &udp(2_049, 700, n / 2, 1_480))), [down, None], ""),
        ("high ports to a home", stream(8, |n| part(FAR, HOME, 17, n, 0, &udp(52_000, 40_000, n, 1_480))), [Some(8.0), None], ""),
        ("a home's upload", stream(8, |n| part(HOME, FAR, 17, n, 0, &udp(40_000, 52_000, n, 1_480))), [None, Some(8.0)], ""),
        ("a group", stream(8, |n| part(FAR, GROUP, 17, n, 0, &udp(5_004, 5_004, n, 1_480))), [Some(8.0), None], ""),
        (
            "a home that serves",
            together(&[connection(USER, FAR, 50_000, 20), connection(THIRD, USER, 40_000, 5)]),
            [down, Some(5.0)],
            "# 192.0.2.7 opened connections and was called: down is toward it in both.",
        ),
        (
            "a server that asks",
            together(&[connection(THIRD, USER, 40_000, 20), stream(1, |n| part(USER, FAR, 17, n, 0, &udp(50_000, 53, n, 60)))]),
            [Some(20.1), None],
            "",
        ),
        (
            "the loopback as well",
            together(&[
                connection(HOME, FAR, 50_000, 20),
                stream(200, |n| part(SELF, SELF, 6, n, 0, &tcp(3_128, 40_000, 9, 16, 1_460))),
            ]),
            [down, None],
            "# 33333 packets from an address to itself or of the loopback were not counted.",
        ),
        (
            "two homes' files",
            together(&[
                connection(HOME, FAR, 50_000, 20),
                connection([192, 168, 7, 3], FAR, 50_000, 1),
                connection([192, 168, 7, 3], HOME, 50_001, 90),
            ]),
            [Some(21.0), None],
            " bytes between addresses on one side of the line were not counted.",
        ),
    ];
    for (name, frames, expected, note) in cases {
        let draft = captured(&pcap(&frames)).unwrap_or_else(|error| panic!("{name}: {error}")).draft;
        let text = draft.text();
        // Requests alone are below a tenth of a megabit.
        let found = mbit(&draft).map(|rate| rate.filter(|rate| *rate > 0.1));
        assert_eq!(found, expected, "{name}: {text}");
        assert!(text.contains(note), "{name}: {text}");
        assert_eq!(text.contains(unknown), note == unknown, "{name}: {text}");
    }
}

#[test]
fn datagrams_at_both_sides_of_a_translator_count_once() {
    let cooked =
        |number: u8, frame: &[u8]| [&[8, 0, 0, 0, 0, 0, 0, number, 0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0], &frame[14..]].concat();
    let outside = stream(10, |n| cooked(2, &part(FAR, USER, 17, n, 0, &udp(443, 61_000, n, 1_480))));
    let inside = stream(10, |n| cooked(3, &part(FAR, HOME, 17, n, 0, &udp(443, 50_000, n, 1_480))));
    let inside = inside.into_iter().map(|(at, frame)| (at + 200, frame)).collect();
    let draft = captured(&in_form(Form { link: 276, ..USUAL }, &together(&[outside, inside]))).unwrap().draft;
    assert_eq!(mbit(&draft)[0], Some(10.0), "{}", draft.text());
    assert!(draft.text().contains("# 1665 packets were recorded more than once"), "{}", draft.text());
}

#[test]
fn encrypted_tunnels_next_to_others_are_noted() {
    let tunnel = stream(5, |n| part(FAR, HOME, 17, n, 0, &udp(51_820, 40_000, n, 1_480)));
    let note = "# 833 packets are of encrypted tunnels: where their contents were recorded as well";
    let beside = captured(&pcap(&together(&[connection(HOME, THIRD, 50_000, 5), tunnel.clone()]))).unwrap().draft.text();
    assert!(beside.contains(note), "{beside}");
    assert!(!captured(&pcap(&tunnel)).unwrap().draft.text().contains(note));
}

#[test]
fn transfers_are_those_toward_users() {
    let frames = together(&[connection(USER, FAR, 50_000, 20), connection(THIRD, USER, 40_000, 5)]);
    let list = captured(&pcap(&frames)).unwrap().list;
    assert_eq!(list.lines().skip(2).collect::<Vec<_>>(), ["0 us, 4866180 B"]);
}

#[test]
fn short_packets_count_each() {
    let quic = |n: u16| ipv6(1, 2, 17, &udp(443, 50_000, n, 1_460));
    let numberless = |n: u16| part(FAR, USER, 17, 0, 0, &udp(443, 50_000, n, 1_480));
    let segments = |n: u16| ipv6(1, 2, 6, &tcp(443, 50_000, 1 + u32::from(n) * 1_440, 16, 1_440));
    let same = |_: u16| ipv6(1, 2, 17, &udp(443, 50_000, 0, 1_460));
    for (name, kept, frames) in [
        ("IPv6", 64, stream(50, quic)),
        ("no identification", 48, stream(100, numberless)),
        ("a header of TCP cut behind its flags", 68, stream(50, segments)),
        ("a header of TCP cut before its flags", 64, stream(50, segments)),
        ("equal packets, whole", 2_000, stream(3, same)),
        ("equal packets in a row, whole", 2_000, stream(100, same)),
    ] {
        let draft = captured(&in_form(Form { kept, ..USUAL }, &frames)).unwrap().draft;
        let rate = mbit(&draft)[0].unwrap();
        let sent = frames.len() as f64 * 6_000.0 / 1e6;
        assert!((rate / sent - 1.0).abs() < 0.01, "{name}: {rate} of {sent}: {}", draft.text());
        assert!(!draft.text().contains("recorded more than once"), "{name}: {}", draft.text());
        let is_cut = kept == 64 && name.contains("TCP");
        assert_eq!(draft.text().contains(" segments of TCP are cut within their header"), is_cut, "{name}");
    }
}

/// As [`download`], with the other packets of a user at a second interface; `at` and `order` give
/// the time stamp and the place in the file of the packet at a time.
fn of_two(second: Timed, at: fn(u64) -> u64, order: fn(u64) -> u64) -> Captured {
    let first = download().into_iter().map(|(time, frame)| (time, (0, time, frame)));
    let second = second.into_iter().map(|(time, frame)| (order(time), (1, at(time), frame)));
    let mut all: Vec<_> = first.chain(second).collect();
    all.sort_by_key(|(order, _)| *order);
    let numbers: Vec<usize> = all.iter().map(|(_, (number, ..))| *number).collect();
    let frames: Vec<_> = all.into_iter().map(|(_, (_, at, frame))| (at, frame)).collect();
    captured(&of_interfaces(&[NANOS, NANOS], &frames, |n| numbers[n])).unwrap()
}

#[test]
fn interfaces_have_clocks_of_their_own() {
    let quiet = || (0..25).map(|n| (n * 100_000, part(USER, FAR, 17, n as u16, 0, &udp(50_000, 53, n as u16, 60)))).collect();
    let plain = figures(&captured(&pcapng(&download())).unwrap());
    // Written late in batches, 37 s and most of an hour ahead.
    for (at, order, is_apart) in [
        ((|at| at) as fn(u64) -> u64, (|at| at / 400_000 * 400_000 + 390_000) as fn(u64) -> u64, false),
        (|at| at + 37_000_000, |at| at + 1, true),
        (|at| at + 3_000_000_000, |at| at + 1, true),
    ] {
        let captured = of_two(quiet(), at, order);
        assert_eq!(figures(&captured), plain, "{}", captured.draft.text());
        let note = "# 1 interfaces have a clock more than 2 s from the others'";
        assert_eq!(captured.draft.text().contains(note), is_apart, "{}", captured.draft.text());
    }
    // Every packet at both, whose clocks are 1.7 s apart: in the order of the stamps, and as they
    // came.
    for order in [|at| at + 1_700_000, |at| at + 1] {
        let captured = of_two(download(), |at| at + 1_700_000, order);
        assert_eq!(figures(&captured).0, plain.0, "{}", captured.draft.text());
    }
}

#[test]
fn packets_of_an_unknown_interface_are_counted() {
    let mut file = pcapng(&download());
    // The last block is a packet's; the number of its interface is behind its type and length.
    let end = file.len();
    let length = u32::from_le_bytes(file[end - 4..].try_into().unwrap()) as usize;
    file[end - length + 8..end - length + 12].copy_from_slice(&9u32.to_le_bytes());
    let text = captured(&file).unwrap().draft.text();
    assert!(text.contains("# 1 packets of interfaces that the file does not describe"), "{text}");
}

/// The rate toward clients in Mbit/s, and the line of the delay.
fn figures(captured: &Captured) -> (Option<f64>, String) {
    let text = captured.draft.text();
    let delay = text.lines().find(|line| line.starts_with("delay = ") && !line.contains("0 s")).unwrap_or_default();
    (mbit(&captured.draft)[0], delay.to_owned())
}

#[test]
fn round_trips_over_two_clocks_are_not_measured() {
    // Each second packet is at the interface whose clock is 37 s ahead.
    let frames: Timed =
        download().into_iter().enumerate().map(|(n, (at, frame))| (at + n as u64 % 2 * 37_000_000, frame)).collect();
    let found = captured(&of_interfaces(&[NANOS, NANOS], &frames, |n| n % 2)).unwrap();
    let (rate, delay) = figures(&found);
    assert!((rate.unwrap() - 10.0).abs() < 0.2, "{rate:?}");
    assert!(delay.contains("measured: half of 30.0 ms"), "opening and confirmation are at one: {delay}");
    // The opening segment alone is at another interface, or before a step of the clock.
    let late = |by: i64| -> Timed {
        let moved = |n: usize, at: u64| if n == 0 { at + 60_000_000 } else { (at as i64 + 60_000_000 + by) as u64 };
        download().into_iter().enumerate().map(|(n, (at, frame))| (moved(n, at), frame)).collect()
    };
    let elsewhere = captured(&of_interfaces(&[NANOS, NANOS], &download(), |n| usize::from(n > 0))).unwrap();
    for found in [elsewhere, captured(&pcap(&late(-500_000))).unwrap(), captured(&pcap(&late(30_000_000))).unwrap()] {
        let (rate, delay) = figures(&found);
        assert!((rate.unwrap() - 10.0).abs() < 0.1 && delay.contains("# assumed: half of 20 ms"), "{rate:?} {delay}");
    }
    // An opening segment that was sent again tells no round trip.
    let mut again = late(0);
    again.insert(1, (again[0].0 + 20_000, again[0].1.clone()));
    assert!(figures(&captured(&pcap(&again)).unwrap()).1.contains("# assumed: half of 20 ms"));
}

#[test]
fn disorder_makes_a_round_trip_an_estimate() {
    let moved = |at: u64, n: usize| if n.is_multiple_of(3) { at.saturating_sub(20_000) } else { at };
    let frames: Timed = download().into_iter().enumerate().map(|(n, (at, frame))| (moved(at + DAY, n), frame)).collect();
    let (_, delay) = figures(&captured(&pcap(&frames)).unwrap());
    assert!(delay.contains("# estimated: ") && delay.contains("packets are not in order by up to 19.9 ms"), "{delay}");
}

#[test]
fn late_packets_of_one_clock_are_no_steps() {
    let late = |(n, (at, frame)): (usize, (u64, Vec<u8>))| (if n % 40 == 39 { at - 200_000 } else { at }, frame);
    let frames: Timed = download().into_iter().map(|(at, frame)| (at + DAY, frame)).enumerate().map(late).collect();
    let message = captured(&pcap(&frames)).unwrap_err().to_string();
    let expected = "x.pcap: has no order: 52 of 2088 packets are earlier than the one before: reordercap sorts them";
    assert_eq!(message, expected);
}

#[test]
fn short_recordings_tell_no_rate() {
    let of = |packets: usize, apart: u64| -> Timed {
        download().into_iter().skip(4).take(packets).enumerate().map(|(n, (_, frame))| (n as u64 * apart, frame)).collect()
    };
    let refused = "too short for a rate: allowed 100 ms and more";
    for (packets, apart, span) in [(2_000, 1, "1.999"), (10, 1_000, "9.000"), (1, 0, "0.000")] {
        let message = captured(&pcap(&of(packets, apart))).unwrap_err().to_string();
        assert_eq!(message, format!("x.pcap: its {packets} packets span {span} ms: {refused}"));
    }
    let half = captured(&pcap(&of(501, 1_000))).unwrap().draft;
    assert_eq!(mbit(&half)[0], Some(12.0));
    assert!(half.text().contains("# estimated: all 0.50 s of it toward clients, IP bytes"), "{}", half.text());
}

#[test]
fn headers_that_are_not_read_are_named() {
    let label =
        |kind: [u8; 2]| move |n: u16| ethernet(kind, &[&[0, 6, 0x41, 0xff], &part(FAR, HOME, 6, n, 0, &[])[14..]].concat());
    let frames = together(&[connection(HOME, FAR, 50_000, 1), stream(1, label([0x88, 0x47])), stream(1, label([8, 6]))]);
    let text = captured(&pcap(&frames)).unwrap().draft.text();
    assert!(text.contains("\n# 166 frames were not read (Ethernet type 0x8847, MPLS).\n"), "{text}");
    let alone = captured(&pcap(&stream(1, |n| part(SELF, SELF, 17, n, 0, &udp(1, 2, n, 100))))).unwrap_err().to_string();
    assert_eq!(alone, "x.pcap: has packets of the loopback alone, which is no line");
}
