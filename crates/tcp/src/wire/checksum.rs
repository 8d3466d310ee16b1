//! The Internet checksum (RFC 1071): of whole packets, and brought up to date after a change (RFC
//! 1624).

/// The ones' complement sum of `bytes`, an odd one padded with zero, before [folding](fold).
#[must_use]
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let whole: u64 = words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    whole + u64::from(u32::from_be_bytes(last))
}

/// A sum in 16 bits; its complement is the checksum.
#[inline]
#[must_use]
pub const fn fold(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

/// The sum of the pseudo-header that a transport's checksum includes (RFC 9293 §3.1, RFC 8200
/// §8.1): the `addresses` of the IP header, the protocol, and the bytes of the segment.
#[must_use]
pub fn pseudo_header(addresses: &[u8], protocol: u8, segment: usize) -> u64 {
    sum(addresses) + u64::from(protocol) + segment as u64
}

/// The checksum after one 16-bit word under it changed (RFC 1624, equation 3).
#[inline]
#[must_use]
pub const fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    !fold(!checksum as u64 + !before as u64 + after as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

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
        // RFC 1071 §3.
        assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
    }

    #[test]
    fn an_update_gives_what_a_new_sum_gives() {
        let mut header = [0x45, 0x02, 0x05, 0xDC, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let before = !slow(&header);
        header[1] = 0x03;
        assert_eq!(updated(before, 0x4502, 0x4503), !slow(&header));
    }

    #[test]
    fn the_case_in_which_an_older_rule_went_wrong() {
        // RFC 1624 §4: the old rule gave 0xFFFF here.
        assert_eq!(updated(0xDD2F, 0x5555, 0x3285), 0x0000);
    }
}
