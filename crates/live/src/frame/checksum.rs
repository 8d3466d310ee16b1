//! The Internet checksum: brought up to date after a change (RFC 1624), and finished where a sender
//! left it to its network card.

use super::{IPV4, IPV6, link_end, word};
use std::ops::Range;

/// The checksum after one 16-bit word under it changed (RFC 1624, equation 3).
#[inline]
pub(super) fn updated(sum: u16, before: u16, after: u16) -> u16 {
    !fold(u64::from(!sum) + u64::from(!before) + u64::from(after))
}

#[inline]
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

/// The ones' complement sum of `bytes`, an odd one padded with zero.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let whole: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    whole + u64::from(u32::from_be_bytes(last))
}

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Finishes the checksum of a TCP or UDP packet whose sender computed that of the pseudo-header
/// only (`CHECKSUM_PARTIAL`). False when there is no such checksum to be found; the frame is as it
/// was then.
pub fn finish_partial(frame: &mut [u8]) -> bool {
    let Some(Segment { protocol, start, end, field, .. }) = segment(frame) else { return false };
    // The field holds the sum of the pseudo-header, which adds to that of the segment.
    let sum = match !fold(sum(&frame[start..end])) {
        // A UDP checksum of zero means there is none.
        0 if protocol == UDP => 0xFFFF,
        sum => sum,
    };
    frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    true
}

/// True if a TCP or UDP packet has the sum of its pseudo-header in place of a checksum. One in
/// 65536 complete packets looks like that, too; [`finish_partial`] leaves it as it is.
#[must_use]
pub fn looks_partial(frame: &[u8]) -> bool {
    let Some(Segment { protocol, start, end, field, addresses }) = segment(frame) else { return false };
    let pseudo = sum(&frame[addresses]) + u64::from(protocol) + (end - start) as u64;
    word(frame, field) == Some(fold(pseudo))
}

/// Place of the checksum of a TCP or UDP packet, and the bytes that it covers.
struct Segment {
    protocol: u8,
    start: usize,
    end: usize,
    /// The checksum's place.
    field: usize,
    /// Bytes of the frame that hold the IP addresses.
    addresses: Range<usize>,
}

fn segment(frame: &[u8]) -> Option<Segment> {
    let (protocol, start, end, addresses) = transport(frame)?;
    let field = match protocol {
        TCP => start + 16,
        UDP => start + 6,
        _ => return None,
    };
    (field + 2 <= end).then_some(Segment { protocol, start, end, field, addresses })
}

/// Transport protocol of a packet that is no fragment, from where to where its segment lies, and
/// where the addresses are.
fn transport(frame: &[u8]) -> Option<(u8, usize, usize, Range<usize>)> {
    let (protocol, at) = link_end(frame).ok()?;
    let first = *frame.get(at)?;
    match protocol {
        IPV4 => {
            let (len, fragment) = (usize::from(word(frame, at + 2)?), word(frame, at + 6)?);
            let whole = fragment & 0x3FFF == 0;
            let start = at + usize::from(first & 0xF) * 4;
            let end = at + len;
            let protocol = *frame.get(at + 9)?;
            (whole && at + 20 <= start && start <= end && end <= frame.len()).then_some((protocol, start, end, at + 12..at + 20))
        }
        IPV6 => {
            let end = at + 40 + usize::from(word(frame, at + 4)?);
            let next = *frame.get(at + 6)?;
            (end <= frame.len()).then_some((next, at + 40, end, at + 8..at + 40))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plain definition, to hold the fast one against.
    fn slow(bytes: &[u8]) -> u16 {
        let mut sum = 0u32;
        for pair in bytes.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn four_bytes_at_a_time_sum_as_two_do() {
        let bytes: Vec<u8> = (0..2000u32).map(|n| (n * 31 + n / 7) as u8).collect();
        for len in [0, 1, 2, 3, 4, 5, 39, 40, 1499, 2000] {
            assert_eq!(fold(sum(&bytes[..len])), slow(&bytes[..len]), "{len} bytes");
        }
    }

    #[test]
    fn an_update_gives_what_a_new_sum_gives() {
        let mut header = [0x45, 0x02, 0x05, 0xDC, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let before = !slow(&header);
        header[1] = 0x03;
        assert_eq!(updated(before, 0x4502, 0x4503), !slow(&header));
    }

    #[test]
    fn a_checksum_left_undone_is_known_and_a_finished_one_is_left_alone() {
        for (kind, header, next) in [(IPV4, 20, TCP), (IPV4, 20, UDP), (IPV6, 40, TCP), (IPV6, 40, UDP)] {
            let mut frame = vec![2; 12];
            frame.extend(kind.to_be_bytes());
            let ip: &[u8] =
                if kind == IPV4 { &[0x45, 0, 0, 60, 0, 0, 0x40, 0, 64, next, 0, 0] } else { &[0x60, 0, 0, 0, 0, 40, next, 64] };
            frame.extend(ip);
            frame.resize(14 + header, 9);
            // As a sender leaves it: nothing but the pseudo-header's sum in the field.
            let addresses = 14 + ip.len()..14 + header;
            let pseudo = fold(sum(&frame[addresses]) + u64::from(next) + 40);
            frame.extend((0..40_u8).map(|n| n.wrapping_mul(7)));
            let field = 14 + header + if next == TCP { 16 } else { 6 };
            frame[field..field + 2].copy_from_slice(&pseudo.to_be_bytes());
            assert!(looks_partial(&frame), "{kind:x} {next}");
            assert!(finish_partial(&mut frame));
            assert!(!looks_partial(&frame), "{kind:x} {next}");
            // The whole sum, with the pseudo-header's, is now that of a right packet.
            assert_eq!(fold(u64::from(pseudo) + sum(&frame[14 + header..])), 0xFFFF);
        }
        assert!(!looks_partial(&[0; 20]));
    }

    #[test]
    fn the_case_in_which_an_older_rule_went_wrong() {
        // RFC 1624 §4: the old rule gave 0xFFFF here.
        assert_eq!(updated(0xDD2F, 0x5555, 0x3285), 0x0000);
    }
}
