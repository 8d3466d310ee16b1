//! Frames of the connections that load a line. Each begins with the number of a question, or zero.

/// Bytes of a frame.
pub const FRAME: usize = 4_096;
/// Bytes of the number.
const NUMBER: usize = 8;

/// A reader of frames that come in pieces of any size.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    at: usize,
    number: u64,
}

impl Frames {
    /// Takes the next bytes, and returns the last number other than zero in them.
    pub fn take(&mut self, bytes: &[u8]) -> Option<u64> {
        let (mut rest, mut found) = (bytes, None);
        while let Some((first, more)) = rest.split_first() {
            if self.at < NUMBER {
                self.number = self.number << 8 | u64::from(*first);
                self.at += 1;
                rest = more;
                if self.at == NUMBER && self.number != 0 {
                    found = Some(self.number);
                }
                continue;
            }
            let skipped = rest.len().min(FRAME - self.at);
            rest = &rest[skipped..];
            self.at = (self.at + skipped) % FRAME;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_across_pieces() {
        let mut bytes = vec![0xff; 3 * FRAME];
        for (place, number) in [(0, 0_u64), (FRAME, 0x0102_0304_0506_0708), (2 * FRAME, 0)] {
            bytes[place..place + NUMBER].copy_from_slice(&number.to_be_bytes());
        }
        for size in [1, 3, 1_000, FRAME, 5_000, 3 * FRAME] {
            let mut frames = Frames::default();
            let found: Vec<u64> = bytes.chunks(size).filter_map(|piece| frames.take(piece)).collect();
            assert_eq!(found, [0x0102_0304_0506_0708], "pieces of {size}");
        }
    }
}
