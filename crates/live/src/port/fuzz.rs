//! Frames that are wrong in every way, for tests: good ones of many kinds with bits, lengths and
//! ends changed, and plain noise.

use super::memory::Source;
use goodqueue_base::units::{Duration, Instant, Rng};

/// Headers to start from, each up to the transport.
const SEEDS: &[&[u8]] = &[
    // IPv4 with TCP, and with a UDP port of VXLAN, Geneve and GTP-U.
    &[8, 0, 0x45, 2, 0, 60, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 80],
    &[8, 0, 0x45, 0, 0, 90, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0x12, 0xB5, 0, 70, 0, 0, 8],
    &[8, 0, 0x45, 0, 0, 90, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0x17, 0xC1, 0, 70, 0, 0, 2],
    &[8, 0, 0x45, 0, 0, 90, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0x08, 0x68, 0, 70, 0, 0, 0x34, 0xFF],
    // IPv4 with options, in IP, and with GRE.
    &[8, 0, 0x4F, 1, 0, 80, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 1],
    &[8, 0, 0x45, 1, 0, 80, 0, 0, 0, 0, 64, 4, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x45, 0, 0, 40],
    &[8, 0, 0x45, 1, 0, 80, 0, 0, 0, 0, 64, 47, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0xB0, 0, 8, 0],
    // IPv6 with TCP, with extension headers, and with a hop-by-hop header of a jumbogram.
    &[0x86, 0xDD, 0x60, 0x20, 0, 0, 0, 40, 6, 64],
    &[0x86, 0xDD, 0x60, 0x20, 0, 0, 0, 40, 60, 64],
    &[0x86, 0xDD, 0x60, 0, 0, 0, 0, 0, 0, 64],
    // Tags, a PPPoE session, ARP.
    &[0x81, 0, 0, 7, 8, 0, 0x45, 0, 0, 40],
    &[0x88, 0xA8, 0, 7, 0x81, 0, 0, 8, 0x86, 0xDD, 0x60, 0, 0, 0, 0, 20, 17, 64],
    &[0x88, 0x64, 0x11, 0, 0, 1, 0, 42, 0, 0x21, 0x45, 0, 0, 40],
    &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1],
];

/// A number of such frames at a fixed gap.
#[derive(Clone, Debug)]
pub struct Fuzz {
    rng: Rng,
    left: u64,
    next: Instant,
    gap: Duration,
}

impl Fuzz {
    /// `count` frames drawn from `rng`, one every `gap`.
    #[must_use]
    pub const fn new(rng: Rng, count: u64, gap: Duration) -> Self {
        Self { rng, left: count, next: Instant::ZERO, gap }
    }

    fn noise(&mut self, buffer: &mut [u8]) {
        for word in buffer.chunks_mut(8) {
            let draw = self.rng.next_u64().to_le_bytes();
            word.copy_from_slice(&draw[..word.len()]);
        }
    }

    /// Writes a frame of `len` bytes.
    pub fn write(&mut self, buffer: &mut [u8]) -> usize {
        let len = match self.rng.below(16) {
            0 => self.rng.below(20),
            1 => self.rng.below(4096),
            2 => 1514,
            _ => self.rng.below(200),
        } as usize;
        let used = len.min(buffer.len());
        let frame = &mut buffer[..used];
        self.noise(frame);
        if self.rng.fires(0.95) && used > 12 {
            let seed = SEEDS[self.rng.below(SEEDS.len() as u64) as usize];
            let fits = seed.len().min(used - 12);
            frame[12..12 + fits].copy_from_slice(&seed[..fits]);
            for _ in 0..self.rng.below(4) {
                let bit = self.rng.below(used as u64 * 8);
                frame[(bit / 8) as usize] ^= 1 << (bit % 8);
            }
        }
        len
    }
}

impl Source for Fuzz {
    fn next_arrival(&self) -> Option<Instant> {
        (self.left > 0).then_some(self.next)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        self.left = self.left.saturating_sub(1);
        self.next += self.gap;
        self.write(buffer)
    }
}
