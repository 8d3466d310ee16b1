use super::super::OPTION_SPACE;
use super::*;
use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv6Header, TcpHeader, TcpOptions};
use proptest::prelude::*;
use std::string::ToString;
use std::vec;

/// The SYN of RFC 9235 §4.1.1.
const SYN: [u8; 76] = [
    0x45, 0xe0, 0x00, 0x4c, 0xdd, 0x0f, 0x40, 0x00, 0xff, 0x06, 0xbf, 0x6b, 0x0a, 0x0b, 0x0c, 0x0d, 0xac, 0x1b, 0x1c, 0x1d, 0xe9,
    0xd7, 0x00, 0xb3, 0xfb, 0xfb, 0xab, 0x5a, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x02, 0xff, 0xff, 0xca, 0xc4, 0x00, 0x00, 0x02, 0x04,
    0x05, 0xb4, 0x01, 0x03, 0x03, 0x08, 0x04, 0x02, 0x08, 0x0a, 0x00, 0x15, 0x5a, 0xb7, 0x00, 0x00, 0x00, 0x00, 0x1d, 0x10, 0x3d,
    0x54, 0x2e, 0xe4, 0x37, 0xc6, 0xf8, 0xed, 0xe6, 0xd7, 0xc4, 0xd6, 0x02, 0xe7,
];

#[derive(Clone, Copy, Debug)]
enum Version {
    V4,
    V6,
}

/// The bytes of a packet, as another library writes them.
fn written(packet: &Packet, version: Version) -> Vec<u8> {
    let has = |flag| packet.flags.has(flag);
    let options: Vec<u8> = packet.options.iter().flat_map(TcpOption::bytes).collect();
    let tcp = TcpHeader {
        acknowledgment_number: packet.ack,
        ns: has(TcpFlags::AE),
        fin: has(TcpFlags::FIN),
        syn: has(TcpFlags::SYN),
        rst: has(TcpFlags::RST),
        psh: has(TcpFlags::PSH),
        ack: has(TcpFlags::ACK),
        urg: has(TcpFlags::URG),
        ece: has(TcpFlags::ECE),
        cwr: has(TcpFlags::CWR),
        urgent_pointer: packet.urgent,
        options: TcpOptions::try_from_slice(&options).expect("they fit"),
        ..TcpHeader::new(packet.ports[0], packet.ports[1], packet.seq, packet.window)
    };
    let segment = [tcp.to_bytes().to_vec(), vec![0; packet.len as usize]].concat();
    let len = segment.len() as u16;
    let ip = match version {
        Version::V4 => {
            let mut ip = Ipv4Header::new(len, 64, IpNumber::TCP, [10, 0, 0, 1], [10, 0, 0, 2]).expect("it is short");
            ip.ecn = IpEcn::try_new(packet.ecn as u8).expect("two bits");
            ip.to_bytes().to_vec()
        }
        Version::V6 => Ipv6Header {
            traffic_class: packet.ecn as u8,
            payload_length: len,
            next_header: IpNumber::TCP,
            hop_limit: 64,
            ..Ipv6Header::default()
        }
        .to_bytes()
        .to_vec(),
    };
    [ip, segment].concat()
}

#[test]
fn a_published_syn_is_read() {
    let authentication = TcpOption::Other { kind: 29, data: SYN[62..].to_vec() };
    let syn = Packet {
        ports: [59_863, 179],
        flags: TcpFlags::SYN,
        seq: 0xfbfb_ab5a,
        window: 65_535,
        options: vec![
            TcpOption::Mss(1460),
            TcpOption::Nop,
            TcpOption::WindowScale(8),
            TcpOption::SackPermitted,
            TcpOption::Timestamp { value: 0x0015_5ab7, echo: 0 },
            authentication,
        ],
        ..Packet::default()
    };
    assert_eq!(Packet::read(&SYN).as_ref(), Some(&syn));
    assert_eq!((syn.mss(), syn.window_scale(), syn.timestamp()), (Some(1460), Some(8), Some((0x0015_5ab7, 0))));
}

#[test]
fn options_have_the_bytes_of_their_rfcs() {
    let counters = vec![0x0001_0203, 4, 0x0005_0607];
    for (option, text, bytes) in [
        (
            TcpOption::AccEcn { first: Ecn::Ect0, counters },
            "ECN e0b 66051 ceb 4 e1b 329223",
            &[172, 11, 1, 2, 3, 0, 0, 4, 5, 6, 7][..],
        ),
        (TcpOption::AccEcn { first: Ecn::Ect1, counters: vec![9] }, "ECN e1b 9", &[174, 5, 0, 0, 9]),
        (TcpOption::AccEcn { first: Ecn::Ect0, counters: vec![] }, "ECN", &[172, 2]),
        (TcpOption::Sack(vec![(1, 0x0203_0405)]), "sack 1:33752069", &[5, 10, 0, 0, 0, 1, 2, 3, 4, 5]),
        (TcpOption::FastOpen(vec![0x0a, 0xbc]), "FO 0abc", &[34, 4, 0x0a, 0xbc]),
        (TcpOption::Other { kind: 2, data: vec![1] }, "option 2 01", &[2, 3, 1]),
    ] {
        assert_eq!((&*option.bytes(), option.len(), option.to_string()), (bytes, bytes.len(), text.to_string()));
        assert!(TcpOption::read_all(bytes).eq([option]));
    }
}

#[test]
fn options_end_where_their_list_or_their_bytes_do() {
    let read = |bytes: &[u8]| TcpOption::read_all(bytes).collect::<Vec<_>>();
    assert_eq!(read(&[1, 0, 2, 4, 5, 180]), [TcpOption::Nop, TcpOption::End]);
    assert_eq!(read(&[1, 2, 4, 5]), [TcpOption::Nop]);
    assert_eq!(read(&[1, 2, 0, 1]), [TcpOption::Nop], "no option is shorter than its length");
    assert_eq!(read(&[2]), []);
}

#[test]
fn what_is_cut_or_of_another_kind_is_no_packet() {
    for version in [Version::V4, Version::V6] {
        let whole = written(&Packet { len: 10, ..Packet::default() }, version);
        assert!((0..whole.len()).all(|len| Packet::read(&whole[..len]).is_none()));
        let protocol = if matches!(version, Version::V4) { 9 } else { 6 };
        for (place, byte) in [(protocol, 17), (0, 0x15)] {
            let mut other = whole.clone();
            other[place] = byte;
            assert_eq!(Packet::read(&other), None);
        }
    }
    let mut fragment = written(&Packet::default(), Version::V4);
    fragment[7] = 1;
    assert_eq!(Packet::read(&fragment), None);
}

fn options() -> impl Strategy<Value = Vec<TcpOption>> {
    let data = || prop::collection::vec(any::<u8>(), 0..=16);
    let ect = prop_oneof![Just(Ecn::Ect0), Just(Ecn::Ect1)];
    let option = prop_oneof![
        Just(TcpOption::Nop),
        any::<u16>().prop_map(TcpOption::Mss),
        any::<u8>().prop_map(TcpOption::WindowScale),
        Just(TcpOption::SackPermitted),
        prop::collection::vec(any::<(u32, u32)>(), 0..=4).prop_map(TcpOption::Sack),
        any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamp { value, echo }),
        (ect, prop::collection::vec(0u32..1 << 24, 0..=3)).prop_map(|(first, counters)| TcpOption::AccEcn { first, counters }),
        data().prop_map(TcpOption::FastOpen),
        data().prop_map(TcpOption::Md5),
        (200u8.., data()).prop_map(|(kind, data)| TcpOption::Other { kind, data }),
    ];
    prop::collection::vec(option, 0..8).prop_map(|mut options| {
        let mut bytes = 0;
        options.retain(|option| {
            bytes += option.len();
            bytes <= OPTION_SPACE - 3
        });
        let bytes: usize = options.iter().map(TcpOption::len).sum();
        options.extend(core::iter::repeat_n(TcpOption::Nop, bytes.next_multiple_of(4) - bytes));
        options
    })
}

proptest! {
    #[test]
    fn a_packet_is_read_as_it_was_written(
        codepoint in 0u8..4,
        numbers in any::<([u16; 2], u32, u32)>(),
        rest in any::<(u16, u16, u16)>(),
        len in 0u32..1400,
        options in options(),
        is_v6 in any::<bool>(),
    ) {
        let ((ports, seq, ack), (bits, window, urgent)) = (numbers, rest);
        let flags = TcpFlags::from_bits(bits);
        let packet = Packet { ecn: Ecn::from_bits(codepoint), ports, flags, seq, len, ack, window, urgent, options };
        let bytes = written(&packet, if is_v6 { Version::V6 } else { Version::V4 });
        prop_assert_eq!(Packet::read(&bytes), Some(packet));
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), first in prop_oneof![Just(0x45u8), Just(0x60), any::<u8>()]) {
        let mut bytes = bytes;
        if bytes.len() > 9 {
            (bytes[0], bytes[9]) = (first, 6);
        }
        let _ = Packet::read(&bytes);
        let _ = TcpOption::read_all(&bytes).count();
    }
}
