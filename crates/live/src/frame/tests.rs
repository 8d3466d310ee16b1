use super::*;

const KEY: FlowKey = FlowKey(1);

fn ethernet(protocol: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    frame.extend(protocol.to_be_bytes());
    frame.extend(payload);
    frame
}

fn v4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut ip = vec![0x45, 0xB8 | 2];
    ip.extend(((20 + payload.len()) as u16).to_be_bytes());
    ip.extend([0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    ip.extend(payload);
    ip
}

fn v6(next: u8, label: u32, payload: &[u8]) -> Vec<u8> {
    let mut ip = (6 << 28 | 1 << 20 | label).to_be_bytes().to_vec();
    ip.extend((payload.len() as u16).to_be_bytes());
    ip.extend([next, 64]);
    ip.extend([0x20; 16]);
    ip.extend([0x30; 16]);
    ip.extend(payload);
    ip
}

fn ports(source: u16, destination: u16) -> Vec<u8> {
    [source.to_be_bytes(), destination.to_be_bytes(), [0; 2], [0; 2]].concat()
}

fn read(frame: &[u8]) -> Headers {
    Headers::read(frame, KEY).expect("a good frame")
}

#[test]
fn ipv4_shows_length_codepoint_class_and_flow() {
    let frame = ethernet(IPV4, &v4(6, &ports(1, 2)));
    let headers = read(&frame);
    assert_eq!(headers.network, Network::V4(14));
    assert_eq!((headers.len, headers.ecn, headers.class), (Bytes::new(28), Ecn::Ect0, Class::new(5)));
    assert_ne!(headers.flow, read(&ethernet(IPV4, &v4(6, &ports(1, 3)))).flow);
    assert_ne!(headers.flow, read(&ethernet(IPV4, &v4(17, &ports(1, 2)))).flow);
    assert_ne!(headers.flow, Headers::read(&frame, FlowKey(2)).unwrap().flow);
}

#[test]
fn padding_of_short_frames_does_not_count() {
    let mut frame = ethernet(IPV4, &v4(6, &ports(1, 2)));
    frame.resize(60, 0);
    assert_eq!(read(&frame).len, Bytes::new(28));
}

#[test]
fn tags_and_sessions_are_looked_behind() {
    let ip = v4(6, &ports(1, 2));
    let plain = read(&ethernet(IPV4, &ip));
    let tagged = ethernet(0x8100, &[&[0, 5], &IPV4.to_be_bytes()[..], &ip].concat());
    let twice = ethernet(0x88A8, &[&[0, 5], &0x8100u16.to_be_bytes()[..], &[0, 6], &IPV4.to_be_bytes(), &ip].concat());
    let session = ethernet(0x8864, &[&[0x11, 0, 0, 1, 0, 30, 0, 0x21][..], &ip].concat());
    for (frame, at) in [(tagged, 18), (twice, 22), (session, 22)] {
        let headers = read(&frame);
        assert_eq!(headers, Headers { network: Network::V4(at), ..plain });
    }
}

#[test]
fn a_flow_label_stands_for_the_ports() {
    let flow = |label, ports: &[u8]| read(&ethernet(IPV6, &v6(17, label, ports))).flow;
    assert_eq!(flow(7, &ports(1, 2)), flow(7, &ports(3, 4)));
    assert_ne!(flow(7, &ports(1, 2)), flow(8, &ports(1, 2)));
    assert_ne!(flow(0, &ports(1, 2)), flow(0, &ports(3, 4)));
}

#[test]
fn ipv6_extension_headers_are_walked() {
    let frame = |source| {
        let extension = [17, 0, 0, 0, 0, 0, 0, 0];
        ethernet(IPV6, &v6(60, 0, &[&extension[..], &ports(source, 2)].concat()))
    };
    assert_ne!(read(&frame(1)).flow, read(&frame(2)).flow);
    assert_eq!(read(&frame(1)).ecn, Ecn::Ect1);
}

#[test]
fn all_fragments_are_of_one_flow() {
    let fragment = |field: u16, payload: &[u8]| {
        let mut ip = v4(17, payload);
        ip[6..8].copy_from_slice(&field.to_be_bytes());
        read(&ethernet(IPV4, &ip)).flow
    };
    assert_eq!(fragment(0x2000, &ports(1, 2)), fragment(0x00B9, &[0xAB; 8]));
    assert_ne!(fragment(0x4000, &ports(1, 2)), fragment(0x4000, &ports(3, 4)), "do not fragment is no fragment");
}

#[test]
fn flows_inside_tunnels_are_told_apart() {
    let inner = |n: u16| v4(6, &ports(n, 80));
    let in_ethernet = |n: u16| ethernet(IPV4, &inner(n));
    let udp = |port: u16, header: &[u8], rest: Vec<u8>| v4(17, &[ports(9, port), header.to_vec(), rest].concat());
    type Tunnel<'a> = (&'a str, Box<dyn Fn(u16) -> Vec<u8> + 'a>);
    let tunnels: [Tunnel<'_>; 8] = [
        ("ip in ip", Box::new(|n| v4(4, &inner(n)))),
        ("ipv6 in ip", Box::new(|n| v4(41, &v6(6, 0, &ports(n, 80))))),
        ("gre", Box::new(|n| v4(47, &[&[0, 0, 8, 0][..], &inner(n)].concat()))),
        ("gre with key", Box::new(|n| v4(47, &[&[0x20, 0, 8, 0, 1, 2, 3, 4][..], &inner(n)].concat()))),
        ("vxlan", Box::new(|n| udp(VXLAN_PORT, &[8, 0, 0, 0, 0, 0, 1, 0], in_ethernet(n)))),
        ("geneve", Box::new(|n| udp(6081, &[1, 0, 0x65, 0x58, 0, 0, 1, 0, 9, 9, 9, 9], in_ethernet(n)))),
        ("gtp", Box::new(|n| udp(2152, &[0x30, 0xFF, 0, 28, 0, 0, 0, 1], inner(n)))),
        ("gtp with an extension", Box::new(|n| udp(2152, &[0x34, 0xFF, 0, 36, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0], inner(n)))),
    ];
    for (name, tunnel) in tunnels {
        let flow = |n| read(&ethernet(IPV4, &tunnel(n))).flow;
        assert_ne!(flow(1), flow(2), "{name}");
        assert_eq!(flow(1), flow(1), "{name}");
    }
}

const VXLAN_PORT: u16 = 4789;

#[test]
fn nested_tunnels_end_somewhere() {
    let mut ip = v4(6, &ports(1, 2));
    for _ in 0..40 {
        ip = v4(4, &ip);
    }
    read(&ethernet(IPV4, &ip));
}

#[test]
fn other_protocols_pass_as_one_flow_a_pair_of_stations() {
    let arp = read(&ethernet(0x0806, &[0; 28]));
    assert_eq!((arp.network, arp.len, arp.ecn), (Network::Other, Bytes::new(28), Ecn::NotEct));
    assert_eq!(arp.flow, read(&ethernet(0x0806, &[1; 28])).flow);
}

#[test]
fn contradictions_are_malformed() {
    let good = ethernet(IPV4, &v4(6, &ports(1, 2)));
    let bad = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut frame = good.clone();
        change(&mut frame);
        Headers::read(&frame, KEY).expect_err("a bad frame")
    };
    assert_eq!(bad(&|frame| frame.truncate(13)), Malformed::ShortLink);
    assert_eq!(bad(&|frame| frame.truncate(30)), Malformed::ShortNetwork);
    assert_eq!(bad(&|frame| frame.truncate(40)), Malformed::Length);
    assert_eq!(bad(&|frame| frame[14] = 0x65), Malformed::Version);
    assert_eq!(bad(&|frame| frame[14] = 0x44), Malformed::HeaderLength);
    assert_eq!(bad(&|frame| frame[17] = 19), Malformed::Length);
}

#[test]
fn a_mark_keeps_checksum_and_neighbours() {
    let mut ip = v4(6, &ports(1, 2));
    let sum = |ip: &[u8]| ip[..20].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum::<u32>();
    let fold = |sum: u32| (sum & 0xFFFF) + (sum >> 16);
    let checksum = !(fold(fold(sum(&ip))) as u16);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let mut frame = ethernet(IPV4, &ip);
    let headers = read(&frame);
    set_ce(&mut frame, headers.network);
    assert_eq!(fold(fold(sum(&frame[14..]))), 0xFFFF, "the header sums to all ones");
    assert_eq!(read(&frame), Headers { ecn: Ecn::Ce, ..headers });

    let mut frame = ethernet(IPV6, &v6(6, 0x12345, &ports(1, 2)));
    let headers = read(&frame);
    assert_eq!(headers.ecn, Ecn::Ect1);
    set_ce(&mut frame, headers.network);
    assert_eq!(read(&frame), Headers { ecn: Ecn::Ce, ..headers });
}

#[test]
fn partial_checksums_are_finished() {
    // A UDP packet of 10.0.0.1 to 10.0.0.2 whose field holds the pseudo-header's sum alone.
    let payload = b"queue";
    let len = 8 + payload.len() as u16;
    let mut udp = ports(1000, 2000);
    udp[4..6].copy_from_slice(&len.to_be_bytes());
    let pseudo = 0x0A00 + 0x0001 + 0x0A00 + 0x0002 + 17 + len;
    udp[6..8].copy_from_slice(&pseudo.to_be_bytes());
    udp.extend(payload);
    let mut frame = ethernet(IPV4, &v4(17, &udp));
    assert!(finish_partial(&mut frame));
    let mut sum = u32::from(pseudo);
    for pair in frame[34..].chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    }
    assert_eq!((sum & 0xFFFF) + (sum >> 16), 0xFFFF, "pseudo-header and segment sum to all ones");
    assert!(!finish_partial(&mut ethernet(0x0806, &[0; 28])));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), protocol in 0..4usize) {
        let mut frame = bytes;
        if frame.len() >= 15 {
            frame[12..14].copy_from_slice(&[IPV4, IPV6, 0x8100, 0x8864][protocol].to_be_bytes());
            frame[14] = [0x45, 0x60, 0x11, frame[14]][protocol];
        }
        if let Ok(headers) = Headers::read(&frame, KEY) {
            proptest::prop_assert!(headers.len.get() <= frame.len() as u64);
            set_ce(&mut frame, headers.network);
        }
        finish_partial(&mut frame);
    }
}

/// The short way of plain frames and the long way of all agree, also on frames whose bytes are
/// anything.
#[test]
fn the_short_way_says_what_the_long_one_does() {
    let mut rng = goodqueue_base::units::Rng::new(5);
    let mut short = 0;
    for _ in 0..200_000 {
        let protocol = [6, 17, 17, 132, 47][rng.below(5) as usize];
        let port = [53, 443, 4789, 6081, 2152][rng.below(5) as usize];
        let mut frame = ethernet(IPV4, &v4(protocol, &[ports(7, port), vec![0x30; 20]].concat()));
        for _ in 0..rng.below(4) {
            let at = rng.below(frame.len() as u64) as usize;
            frame[at] = rng.below(256) as u8;
        }
        frame.truncate(frame.len() - rng.below(3) as usize * 10);
        if let Some(plain) = Headers::read_plain(&frame, KEY) {
            short += 1;
            assert_eq!(Headers::read_any(&frame, KEY), Ok(plain), "{frame:02x?}");
        }
    }
    assert!((20_000..150_000).contains(&short), "{short} frames went the short way");
}
