//! Orders to the device `port0` of a guest (`kernel/guest/queue/port.c`), and its answers.
//! Numbers are in this machine's own order, as both sides are on it.

use crate::linux::frame::ETHERNET;
use goodqueue_aqm::external::{OfferedPacket, QueueEvents};
use goodqueue_base::units::Ecn;
use goodqueue_tcp::wire::checksum::{fold, sum};

/// EtherType of orders and answers.
const ORDERS: [u8; 2] = [0x88, 0xB5];
const OFFER: u32 = 1;
const TAKE: u32 = 2;
/// In an answer: no packet left.
const NOTHING: u32 = u32::MAX;
const IP: usize = 20;
const UDP: usize = 8;
/// Bytes of an answer before the numbers of dropped packets.
const ANSWER: usize = 44;

/// Answer of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Monotonic clock of the guest, in nanoseconds.
    pub time: u64,
    /// Packets in the queue discipline.
    pub waiting: u32,
    /// Guest's hash of the packet's source address, and of its destination, as passed to the queue
    /// discipline. Zeros when the guest does not have the packet any more.
    pub hosts: [u32; 2],
}

fn begin(frame: &mut Vec<u8>, words: [u32; 4]) {
    frame.clear();
    // To and from anybody: the guest has one card.
    frame.extend([0xFF; 6]);
    frame.extend([2, 0, 0, 0, 0, 1]);
    frame.extend(ORDERS);
    frame.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
}

/// Writes the order to take in a packet: UDP over IPv4 with ports and addresses of its flow.
pub fn offer(frame: &mut Vec<u8>, packet: &OfferedPacket) {
    let len = u16::try_from(packet.len.get()).unwrap_or(u16::MAX).max((IP + UDP) as u16);
    begin(frame, [OFFER, packet.number, packet.flow.0, u32::from(len)]);
    let flow = packet.flow.0.to_be_bytes();
    let mut header = [0; IP];
    (header[0], header[1]) = (0x45, packet.class.number() << 5 | packet.ecn as u8);
    header[2..4].copy_from_slice(&len.to_be_bytes());
    (header[8], header[9]) = (64, 17);
    // 10.0.0.0/8 sends to it.
    header[12..16].copy_from_slice(&[10, flow[1], flow[2], flow[3]]);
    header[16..20].copy_from_slice(&[10, flow[3], flow[2], flow[1]]);
    let checksum = !fold(sum(&header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    frame.extend(header);
    frame.extend([flow[0], flow[1], flow[2], flow[3]]);
    frame.extend((len - IP as u16).to_be_bytes());
    frame.extend([0, 0]);
}

/// Writes the order to give a packet.
pub fn take(frame: &mut Vec<u8>) {
    begin(frame, [TAKE, 0, 0, 0]);
}

/// Reads an answer and adds what happened; `None` if it is none. A guest may send anything.
pub fn read(frame: &[u8], happened: &mut QueueEvents) -> Option<Answer> {
    let (ethernet, rest) = frame.split_at_checked(ETHERNET)?;
    if ethernet[12..] != ORDERS {
        return None;
    }
    let (answer, numbers) = rest.split_at_checked(ANSWER)?;
    let word = |at: usize| u32::from_ne_bytes([answer[at], answer[at + 1], answer[at + 2], answer[at + 3]]);
    let (left, field, dropped) = (word(8), word(12), word(40) as usize);
    let numbers = numbers.get(..dropped.checked_mul(4)?)?;
    happened
        .dropped
        .extend(numbers.chunks_exact(4).map(|number| u32::from_ne_bytes([number[0], number[1], number[2], number[3]])));
    happened.left = (left != NOTHING).then(|| (left, Ecn::from_bits(field as u8)));
    let time = u64::from(word(0)) | u64::from(word(4)) << 32;
    // These are the third and fourth word of the facts kept with the packet (`struct GqkFacts`).
    Some(Answer { time, waiting: word(16), hosts: [word(28), word(32)] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_aqm::FlowHash;
    use goodqueue_base::units::{Bytes, Class};

    #[test]
    fn an_offered_packet_is_ipv4_with_a_good_checksum() {
        let mut frame = Vec::new();
        let packet =
            OfferedPacket { number: 7, len: Bytes::new(1500), ecn: Ecn::Ect0, flow: FlowHash(0xA1B2_C3D4), class: Class::new(5) };
        offer(&mut frame, &packet);
        let ip = &frame[ETHERNET + 16..];
        assert_eq!((ip[1] >> 5, ip[1] & 3, u16::from_be_bytes([ip[2], ip[3]])), (5, 2, 1500));
        assert_eq!(fold(sum(&ip[..IP])), 0xFFFF);
    }

    #[test]
    fn answers_that_are_none_are_refused() {
        let mut frame = vec![0; ETHERNET + ANSWER + 8];
        frame[12..14].copy_from_slice(&ORDERS);
        let numbers = |count: u32| {
            let mut frame = frame.clone();
            frame[ETHERNET + 8..ETHERNET + 12].copy_from_slice(&NOTHING.to_ne_bytes());
            frame[ETHERNET + 40..ETHERNET + 44].copy_from_slice(&count.to_ne_bytes());
            let mut happened = QueueEvents::default();
            read(&frame, &mut happened).map(|_| happened)
        };
        assert_eq!(numbers(2), Some(QueueEvents { left: None, dropped: vec![0, 0] }));
        assert_eq!(numbers(3), None);
        assert_eq!(numbers(u32::MAX), None);
        assert_eq!(read(&frame[..30], &mut QueueEvents::default()), None);
    }
}
