use super::*;

/// A frame with these flags, numbers and options, and `payload` data bytes.
fn frame(flags: u8, sequence: u32, acknowledgement: u32, options: &[u8], payload: usize) -> Vec<u8> {
    assert!(options.len().is_multiple_of(4));
    let ip_len = 40 + options.len() + payload;
    let mut bytes = vec![0; ETHERNET + ip_len];
    bytes[12..14].copy_from_slice(&IPV4);
    let ip = &mut bytes[ETHERNET..];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&(ip_len as u16).to_be_bytes());
    ip[8] = 64;
    ip[9] = TCP;
    ip[12..16].copy_from_slice(&[10, 77, 0, 1]);
    ip[16..20].copy_from_slice(&[10, 77, 0, 2]);
    let sum = checksum(&ip[..20]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let tcp = &mut ip[20..];
    tcp[..4].copy_from_slice(&[0x9C, 0x40, 0x27, 0x10]);
    tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
    tcp[8..12].copy_from_slice(&acknowledgement.to_be_bytes());
    tcp[12] = ((20 + options.len()) / 4) as u8 * 16;
    tcp[13] = flags;
    tcp[20..20 + options.len()].copy_from_slice(options);
    bytes
}

/// Internet checksum (RFC 1071); zero for a header that includes its checksum.
fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn offsets_count_from_the_first_byte_and_past_the_wrap() {
    let mut connection = Connection::default();
    let first = u32::MAX - 500;
    let syn = frame(SYN, first.wrapping_sub(1), 0, &[], 0);
    let segment = connection.forward(&TcpPacket::read(&syn).expect("TCP"));
    assert!(segment.flags.has(Flags::SYN));
    for number in [0_u32, 1000, 2000] {
        let data = frame(16, first.wrapping_add(number), 1, &[], 1000);
        let segment = connection.forward(&TcpPacket::read(&data).expect("TCP"));
        assert_eq!((segment.number, segment.payload), (u64::from(number), 1000));
        assert!(!segment.flags.has(Flags::ACK), "data goes from source to sink");
    }
    let again = frame(16, first.wrapping_add(1000), 1, &[], 1000);
    assert_eq!(connection.forward(&TcpPacket::read(&again).expect("TCP")).number, 1000);
    let ack = frame(16, 1, first.wrapping_add(2000), &[], 0);
    let segment = connection.reverse(&TcpPacket::read(&ack).expect("TCP"));
    assert_eq!((segment.number, segment.payload), (2000, 0));
    assert!(segment.flags.has(Flags::ACK));
}

#[test]
fn selective_acknowledgements_are_relative() {
    let mut connection = Connection::default();
    let syn = frame(SYN, 999, 0, &[], 0);
    let _ = connection.forward(&TcpPacket::read(&syn).expect("TCP"));
    let edges = |left: u32, right: u32| [left.to_be_bytes(), right.to_be_bytes()].concat();
    let options = [vec![1, 1, 5, 18], edges(5000, 6000), edges(3000, 4000)].concat();
    let ack = frame(16, 1, 2000, &options, 0);
    let segment = connection.reverse(&TcpPacket::read(&ack).expect("TCP"));
    let blocks: Vec<_> = segment.blocks().iter().map(|block| (block.offset, block.len)).collect();
    assert_eq!(blocks, [(3000, 1000), (1000, 1000)]);
    let twice = [vec![1, 1, 5, 10], edges(1000, 1500)].concat();
    let segment = connection.reverse(&TcpPacket::read(&frame(16, 1, 2000, &twice, 0)).expect("TCP"));
    assert!(segment.flags.has(Flags::DSACK));
    assert_eq!((segment.sack[0].offset, segment.sack[0].len), (1000, 500));
}

#[test]
fn a_mark_keeps_the_header_s_checksum_right() {
    let mut bytes = frame(16, 1, 1, &[], 10);
    set_ecn(&mut bytes, Ecn::Ce);
    assert_eq!(bytes[ETHERNET + 1] & 3, 3);
    assert_eq!(checksum(&bytes[ETHERNET..ETHERNET + 20]), 0);
    set_ecn(&mut bytes, Ecn::Ect0);
    assert_eq!(checksum(&bytes[ETHERNET..ETHERNET + 20]), 0);
}

#[test]
fn what_is_cut_or_of_another_kind_is_no_packet() {
    let whole = frame(16, 1, 1, &[1, 1, 1, 0], 10);
    for len in 0..whole.len() {
        assert!(TcpPacket::read(&whole[..len]).is_none(), "{len} bytes of {}", whole.len());
    }
    let mut fragment = whole.clone();
    fragment[ETHERNET + 7] = 1;
    assert!(TcpPacket::read(&fragment).is_none());
    let mut udp = whole;
    udp[ETHERNET + 9] = 17;
    assert!(TcpPacket::read(&udp).is_none());
}
