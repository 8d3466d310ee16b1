//! The same download on each kind of link, in each form of file, and recorded twice.

use super::*;

/// A packet of IP in a frame of a kind of link.
type Wrap = fn(&[u8]) -> Vec<u8>;

/// Headers in front of a packet.
fn behind(header: &[u8], ip: &[u8]) -> Vec<u8> {
    [header, ip].concat()
}

fn ethernet(rest: &[u8]) -> Vec<u8> {
    behind(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2], rest)
}

const SNAP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];

fn session(ip: &[u8]) -> Vec<u8> {
    let len = (ip.len() as u16 + 2).to_be_bytes();
    behind(&[0x11, 0, 0, 1, len[0], len[1], 0, 0x21], ip)
}

/// A packet of IPv4 around this one.
fn tunnel(protocol: u8, inside: &[u8]) -> Vec<u8> {
    let len = (20 + inside.len() as u16).to_be_bytes();
    let mut header = vec![0x45, 0, len[0], len[1], 0, 0, 0, 0, 64, protocol, 0, 0];
    header.extend([203, 0, 113, 1, 203, 0, 113, 2]);
    behind(&header, inside)
}

/// A data frame of 802.11 toward its access point, with these bits in its fields.
fn wifi(control: u8, flags: u8, more: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut header = vec![control, flags, 0, 0];
    header.extend([2; 20]);
    header.extend(more);
    behind(&header, rest)
}

fn radio(ip: &[u8]) -> Vec<u8> {
    // Time and flags: bytes are added up to a multiple of four.
    let mut header = vec![0, 0, 17, 0, 3, 0, 0, 0];
    header.extend([7; 8]);
    header.push(0x20);
    behind(&header, &wifi(0x88, 1, &[0, 0, 0, 0], &behind(&SNAP, ip)))
}

/// Two packets in one frame: a broken one of another protocol, then this one.
fn aggregate(ip: &[u8]) -> Vec<u8> {
    let len = (ip.len() as u16 + 8).to_be_bytes();
    let mut parts = [[3; 12].as_slice(), &[0, 2, 9, 9], &[4; 12], &len, &SNAP, ip].concat();
    parts.push(0);
    wifi(0x88, 1, &[0x80, 0], &parts)
}

/// Kinds of links (the list of tcpdump.org) with what is in front of IP on each.
const LINKS: &[(&str, u32, Wrap)] = &[
    ("Ethernet", 1, |ip| ethernet(&behind(&[8, 0], ip))),
    ("802.3 with LLC", 1, |ip| ethernet(&behind(&[5, 0xdc], &behind(&SNAP, ip)))),
    ("802.1Q", 1, |ip| ethernet(&behind(&[0x81, 0, 0, 7, 8, 0], ip))),
    ("802.1ad", 1, |ip| ethernet(&behind(&[0x88, 0xa8, 0, 9, 0x81, 0, 0, 7, 8, 0], ip))),
    ("PPPoE", 1, |ip| ethernet(&behind(&[0x88, 0x64], &session(ip)))),
    ("PPPoE in 802.1Q", 1, |ip| ethernet(&behind(&[0x81, 0, 0, 7, 0x88, 0x64], &session(ip)))),
    ("PPPoE alone", 51, session),
    ("PPP", 9, |ip| behind(&[0, 0x21], ip)),
    ("PPP with address", 9, |ip| behind(&[0xff, 3, 0, 0x21], ip)),
    ("PPP compressed", 9, |ip| behind(&[0x21], ip)),
    ("PPP in HDLC", 50, |ip| behind(&[0xff, 3, 0, 0x21], ip)),
    ("Cisco HDLC", 104, |ip| behind(&[0x0f, 0, 8, 0], ip)),
    ("raw", 101, <[u8]>::to_vec),
    ("raw, old", 12, <[u8]>::to_vec),
    ("raw, OpenBSD", 14, <[u8]>::to_vec),
    ("IPv4", 228, <[u8]>::to_vec),
    ("loopback, little endian", 0, |ip| behind(&[2, 0, 0, 0], ip)),
    ("loopback, big endian", 0, |ip| behind(&[0, 0, 0, 2], ip)),
    ("loopback of OpenBSD", 108, |ip| behind(&[0, 0, 0, 2], ip)),
    ("Linux cooked", 113, |ip| behind(&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0, 8, 0], ip)),
    ("Linux cooked, tagged", 113, |ip| behind(&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0, 0x81, 0, 0, 7, 8, 0], ip)),
    ("Linux cooked 2", 276, |ip| behind(&[8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0], ip)),
    ("802.11", 105, |ip| wifi(0x08, 1, &[], &behind(&SNAP, ip))),
    ("802.11 with four addresses", 105, |ip| wifi(0x88, 3, &[9, 9, 9, 9, 9, 9, 0, 0], &behind(&SNAP, ip))),
    ("802.11 aggregated", 105, aggregate),
    ("802.11 with radiotap", 127, radio),
    ("GRE", 1, |ip| ethernet(&behind(&[8, 0], &tunnel(47, &behind(&[0x20, 0, 8, 0, 0, 0, 0, 1], ip))))),
    ("Ethernet in GRE", 101, |ip| tunnel(47, &behind(&[0, 0, 0x65, 0x58], &ethernet(&behind(&[8, 0], ip))))),
    ("PPP in GRE", 101, |ip| tunnel(47, &behind(&[0x30, 1, 0x88, 0x0b, 0, 9, 0, 1, 0, 0, 0, 1, 0xff, 3, 0, 0x21], ip))),
    ("IP in IP", 101, |ip| tunnel(4, ip)),
    ("VXLAN", 101, |ip| {
        let len = (ip.len() as u16 + 30).to_be_bytes();
        let header = [0xc0, 0, 0x12, 0xb5, len[0], len[1], 0, 0, 8, 0, 0, 0, 0, 0, 1, 0];
        tunnel(17, &behind(&header, &ethernet(&behind(&[8, 0], ip))))
    }),
];

/// The scenario without remarks, and the transfers.
fn figures(bytes: &[u8]) -> (String, String) {
    let Captured { draft, list } = captured(bytes).unwrap();
    (draft.text().lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n"), list)
}

fn wrapped(wrap: Wrap) -> Vec<(u64, Vec<u8>)> {
    download().into_iter().map(|(at, frame)| (at, wrap(&frame[14..]))).collect()
}

#[test]
fn each_kind_of_link_tells_the_same_figures() {
    let expected = figures(&pcap(&download()));
    for (name, link, wrap) in LINKS {
        let frames = wrapped(*wrap);
        for (is_big_endian, has_nanos) in [(false, false), (true, true)] {
            let form = Form { link: *link, is_big_endian, has_nanos, kept: 200 };
            assert_eq!(figures(&in_form(form, &frames)), expected, "{name}");
        }
    }
}

#[test]
fn interfaces_have_kinds_and_clocks_of_their_own() {
    let expected = figures(&pcap(&download()));
    // Microseconds and 2^-30 s.
    let clocks: Interfaces<'_> = &[(101, 6, |us| us), (1, 0x80 | 30, |us| ((u128::from(us) << 30).div_ceil(1_000_000)) as u64)];
    let frames = download().into_iter().enumerate();
    let frames: Vec<_> = frames.map(|(n, (at, frame))| (at, if n % 2 == 0 { frame[14..].to_vec() } else { frame })).collect();
    assert_eq!(figures(&of_interfaces(clocks, &frames, |n| n % 2)), expected);
    let wrong = captured(&of_interfaces(&[(1, 20, |us| us)], &frames, |_| 0)).unwrap_err();
    assert_eq!(wrong.to_string(), "x.pcap: interface 0: if_tsresol: 20 is out of range: allowed 0 to 19 and 128 to 191");
}

#[test]
fn other_kinds_of_links_are_named() {
    let refused = |link: u32| captured(&in_form(Form { link, ..USUAL }, &download())).unwrap_err().to_string();
    let expected = "expected Ethernet, Linux cooked, raw IP, BSD loopback, PPP, PPPoE, HDLC or 802.11";
    assert_eq!(refused(201), format!("x.pcap: link type 201, BLUETOOTH_HCI_H4_WITH_PHDR, is not read: {expected}"));
    assert_eq!(refused(999), format!("x.pcap: link type 999 is not read: {expected}"));
    // Next to one that is read, another stops nothing.
    let text = captured(&of_interfaces(&[NANOS, (227, 6, |us| us)], &download(), |n| usize::from(n == 9))).unwrap();
    let text = text.draft.text();
    assert!(text.contains("\n# 1 packets of link type 227, CAN_SOCKETCAN, were not read.\n"), "{text}");
    let sealed: Vec<_> = download().iter().map(|(at, frame)| (*at, wifi(0x08, 0x41, &[], &frame[14..]))).collect();
    let sealed = captured(&in_form(Form { link: 105, ..USUAL }, &sealed)).unwrap_err().to_string();
    assert_eq!(sealed, "x.pcap: has encrypted frames of 802.11 only: decrypt them first");
}

/// A packet on its way through a router that translates the client's address and port.
fn passed_on(ip: &[u8]) -> Vec<u8> {
    let mut ip = ip.to_vec();
    ip[8] -= 1;
    let from_client = ip[12] == 10;
    let (address, port) = if from_client { (12, 20) } else { (16, 22) };
    ip[address..address + 4].copy_from_slice(&[198, 51, 100, 7]);
    ip[port..port + 2].copy_from_slice(&61_000u16.to_be_bytes());
    ip
}

#[test]
fn packets_recorded_twice_count_once() {
    let expected = figures(&pcap(&download()));
    let twice = |other: fn(bool, &[u8]) -> [Vec<u8>; 2], link: u32, apart: u64| {
        let mut frames = Vec::new();
        for (at, frame) in download() {
            let [first, second] = other(frame[26] == 10, &frame[14..]);
            frames.extend([(at, first), (at + apart, second)]);
        }
        frames.sort_by_key(|(at, _)| *at);
        in_form(Form { link, kept: 200, ..USUAL }, &frames)
    };
    for (name, bytes) in [
        ("by a driver", twice(|_, ip| [ethernet(&behind(&[8, 0], ip)), ethernet(&behind(&[8, 0], ip))], 1, 20)),
        ("at each port of a bridge", twice(|_, ip| [second_cooked(2, ip), second_cooked(3, ip)], 276, 400)),
        (
            "at each side of a router, after waiting",
            twice(
                |_, ip| {
                    let mut later = ip.to_vec();
                    later[8] -= 1;
                    [second_cooked(2, ip), second_cooked(3, &later)]
                },
                276,
                90_000,
            ),
        ),
        (
            "at each side of a translator",
            twice(
                |from_client, ip| {
                    let (inside, outside) = (second_cooked(3, ip), second_cooked(2, &passed_on(ip)));
                    if from_client { [inside, outside] } else { [outside, inside] }
                },
                276,
                200,
            ),
        ),
    ] {
        assert_eq!(figures(&bytes), expected, "{name}");
        let text = captured(&bytes).unwrap().draft.text();
        assert!(text.contains("\n# 2088 packets were recorded more than once and count once.\n"), "{name}: {text}");
    }
}

fn second_cooked(number: u8, ip: &[u8]) -> Vec<u8> {
    behind(&[8, 0, 0, 0, 0, 0, 0, number, 0, 1, 0, 6, 2, 0, 0, 0, 0, 2, 0, 0], ip)
}

#[test]
fn data_sent_again_is_no_new_data() {
    let last = |frames: &[(u64, Vec<u8>)]| captured(&pcap(frames)).unwrap();
    // Each fifth segment is seen again 50 ms later, or is seen only then.
    let late = |is_seen: bool| {
        let mut frames = Vec::new();
        for (n, (at, frame)) in download().into_iter().enumerate() {
            let is_lost = n >= 4 && n % 5 == 0;
            if is_lost {
                frames.push((at + 50_000, frame.clone()));
            }
            if !is_lost || is_seen {
                frames.push((at, frame));
            }
        }
        frames.sort_by_key(|(at, _)| *at);
        frames
    };
    for is_seen in [true, false] {
        let Captured { draft, list } = last(&late(is_seen));
        assert!(list.ends_with("60000 us, 3042640 B\n") || !is_seen && list.ends_with(", 3042640 B\n"), "{list}");
        let is_told = draft.text().contains("bytes toward clients were sent again");
        assert_eq!(is_told, is_seen);
    }
}
