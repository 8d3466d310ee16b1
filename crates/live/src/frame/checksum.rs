//! Checksums that a sender left to its network card.

use super::{IPV4, IPV6, link_end, word};
use goodqueue_tcp::wire::checksum::{fold, pseudo_header, sum};
use std::ops::Range;

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
    word(frame, field) == Some(fold(pseudo_header(&frame[addresses], protocol, end - start)))
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

    #[test]
    fn partial_checksum_is_recognized_and_a_full_one_left_alone() {
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
}
