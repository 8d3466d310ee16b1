use super::*;
use goodqueue_tcp::wire::TcpOption;

/// The frame of an acknowledgement with numbers of one and ten bytes of payload.
fn frame() -> Vec<u8> {
    let mut bytes = vec![0; ETHERNET];
    bytes[12..14].copy_from_slice(&IPV4);
    bytes.extend([0x45, 0, 0, 50, 0, 0, 0x40, 0, 64, TCP, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
    let checksum = !checksum::fold(checksum::sum(&bytes[ETHERNET..]));
    bytes[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&checksum.to_be_bytes());
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 16, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0; 10]);
    bytes
}

/// A packet with these flags and numbers.
fn packet(flags: TcpFlags, seq: u32, ack: u32, len: u32) -> Packet {
    Packet { flags, seq, ack, len, ..Packet::default() }
}

#[test]
fn offsets_count_from_the_first_byte_and_past_the_wrap() {
    let mut connection = Connection::default();
    let first = u32::MAX - 500;
    let segment = connection.forward(&packet(TcpFlags::SYN, first.wrapping_sub(1), 0, 0));
    assert!(segment.flags.has(Flags::SYN));
    for number in [0_u32, 1000, 2000] {
        let segment = connection.forward(&packet(TcpFlags::ACK, first.wrapping_add(number), 1, 1000));
        assert_eq!((segment.number, segment.payload), (u64::from(number), 1000));
        assert!(!segment.flags.has(Flags::ACK), "data goes from source to sink");
    }
    let again = packet(TcpFlags::ACK, first.wrapping_add(1000), 1, 1000);
    assert_eq!(connection.forward(&again).number, 1000);
    let segment = connection.reverse(&packet(TcpFlags::ACK, 1, first.wrapping_add(2000), 0));
    assert_eq!((segment.number, segment.payload), (2000, 0));
    assert!(segment.flags.has(Flags::ACK));
}

#[test]
fn selective_acknowledgements_are_relative() {
    let mut connection = Connection::default();
    let _ = connection.forward(&packet(TcpFlags::SYN, 999, 0, 0));
    let ack = |blocks: &[(u32, u32)]| Packet {
        options: vec![TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(blocks.to_vec())],
        ..packet(TcpFlags::ACK, 1, 2000, 0)
    };
    let segment = connection.reverse(&ack(&[(5000, 6000), (3000, 4000)]));
    let blocks: Vec<_> = segment.blocks().iter().map(|block| (block.offset, block.len)).collect();
    assert_eq!(blocks, [(3000, 1000), (1000, 1000)]);
    let segment = connection.reverse(&ack(&[(1000, 1500)]));
    assert!(segment.flags.has(Flags::DSACK));
    assert_eq!((segment.sack[0].offset, segment.sack[0].len), (1000, 500));
}

#[test]
fn a_mark_keeps_the_header_s_checksum_right() {
    let mut bytes = frame();
    for ecn in [Ecn::Ce, Ecn::Ect0] {
        set_ecn(&mut bytes, ecn);
        let header = &bytes[ETHERNET..ETHERNET + 20];
        assert_eq!((header[1] & 3, checksum::fold(checksum::sum(header))), (ecn as u8, 0xFFFF));
    }
}

#[test]
fn frames_of_tcp_over_ipv4_are_packets() {
    let whole = frame();
    assert_eq!(tcp(&whole), Some(packet(TcpFlags::ACK, 1, 1, 10)));
    for len in 0..whole.len() {
        assert!(tcp(&whole[..len]).is_none(), "{len} bytes of {}", whole.len());
        assert!(IpPacket::read(&whole[..len]).is_none());
    }
    let facts = IpPacket::read(&whole).expect("a packet");
    assert_eq!((facts.ip_len, facts.conversation), (50, (TCP, 0, 0)));
    for (place, byte) in [(ETHERNET + 7, 1), (ETHERNET + 9, UDP), (12, 0x86), (ETHERNET, 0x65)] {
        let mut other = whole.clone();
        other[place] = byte;
        assert!(tcp(&other).is_none(), "byte {place}");
    }
}
