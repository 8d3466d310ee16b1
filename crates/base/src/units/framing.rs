//! The bytes that a link adds to each packet.

use crate::units::Bytes;
use core::fmt;

/// Cells that a link divides frames into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cells {
    /// None: frames go as they are.
    #[default]
    None,
    /// ATM: 53 bytes for each 48 bytes or part of them.
    Atm,
    /// PTM (64b/65b): one byte more for each 64 bytes or part of them.
    Ptm,
}

impl Cells {
    /// Every kind of cells with its name in files.
    pub const WORDS: [(&'static str, Self); 3] = [("none", Self::None), ("atm", Self::Atm), ("ptm", Self::Ptm)];
}

/// The bytes that a link adds to each packet: a header, bytes up to a least size, cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Framing {
    /// Bytes added to each packet.
    pub overhead: Bytes,
    /// Least size of a frame, `overhead` included.
    pub mpu: Bytes,
    /// Cells around the frame.
    pub cells: Cells,
}

/// A word that names no framing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoKeyword<'a>(pub &'a str);

impl fmt::Display for NoKeyword<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no keyword of a framing", self.0)
    }
}

impl core::error::Error for NoKeyword<'_> {}

impl Framing {
    /// Nothing is added.
    pub const NONE: Self = Self::header(Bytes::ZERO);

    /// A header and nothing else.
    #[must_use]
    pub const fn header(overhead: Bytes) -> Self {
        Self { overhead, mpu: Bytes::ZERO, cells: Cells::None }
    }

    const fn of(overhead: u64, mpu: u64, cells: Cells) -> Self {
        Self { overhead: Bytes::new(overhead), mpu: Bytes::new(mpu), cells }
    }

    /// Framing of common links by the keywords of tc-cake(8). `raw` is the frame of an Ethernet
    /// device as Linux counts it, 14 bytes of header; `via-ethernet` adds nothing, as in tc;
    /// `ether-vlan` is what one tag adds.
    pub const KEYWORDS: [(&'static str, Self); 17] = [
        ("raw", Self::of(14, 0, Cells::None)),
        ("conservative", Self::of(48, 0, Cells::Atm)),
        ("ethernet", Self::of(38, 84, Cells::None)),
        ("ether-vlan", Self::of(4, 0, Cells::None)),
        ("via-ethernet", Self::of(0, 0, Cells::None)),
        ("docsis", Self::of(18, 64, Cells::None)),
        ("pppoe-ptm", Self::of(30, 0, Cells::Ptm)),
        ("bridged-ptm", Self::of(22, 0, Cells::Ptm)),
        ("pppoa-vcmux", Self::of(10, 0, Cells::Atm)),
        ("pppoa-llc", Self::of(14, 0, Cells::Atm)),
        ("pppoe-vcmux", Self::of(32, 0, Cells::Atm)),
        ("pppoe-llcsnap", Self::of(40, 0, Cells::Atm)),
        ("bridged-vcmux", Self::of(24, 0, Cells::Atm)),
        ("bridged-llcsnap", Self::of(32, 0, Cells::Atm)),
        ("ipoa-vcmux", Self::of(8, 0, Cells::Atm)),
        ("ipoa-llcsnap", Self::of(16, 0, Cells::Atm)),
        ("none", Self::NONE),
    ];

    /// The framing that keywords name together, one after the other: see [`Self::and`].
    ///
    /// # Errors
    /// The first word that is not one of [`Self::KEYWORDS`].
    pub fn named(text: &str) -> Result<Self, NoKeyword<'_>> {
        let mut framing = Self::NONE;
        for word in text.split_whitespace() {
            framing = framing.and(word)?;
        }
        Ok(framing)
    }

    /// The framing with one more keyword behind it, as tc takes it: headers add up, but `raw` and
    /// `conservative` replace those before; of least sizes and cells the last one given counts.
    ///
    /// # Errors
    /// A word that is not one of [`Self::KEYWORDS`].
    pub fn and(mut self, word: &str) -> Result<Self, NoKeyword<'_>> {
        let Some((_, one)) = Self::KEYWORDS.iter().find(|(name, _)| *name == word) else {
            return Err(NoKeyword(word));
        };
        if matches!(word, "raw" | "conservative") {
            self.overhead = Bytes::ZERO;
        }
        self.overhead += one.overhead;
        if !one.mpu.is_zero() {
            self.mpu = one.mpu;
        }
        if !matches!(word, "ethernet" | "ether-vlan" | "via-ethernet") {
            self.cells = one.cells;
        }
        Ok(self)
    }

    /// Bytes on the wire of a packet of `len`: the arithmetic of Linux's cake.
    #[inline]
    #[must_use]
    pub const fn wire(self, len: Bytes) -> Bytes {
        let sum = len.get() + self.overhead.get();
        let frame = if sum < self.mpu.get() { self.mpu.get() } else { sum };
        Bytes::new(match self.cells {
            Cells::None => frame,
            Cells::Atm => frame.div_ceil(48) * 53,
            Cells::Ptm => frame + frame.div_ceil(64),
        })
    }

    /// Bytes added to a packet of `len`.
    #[must_use]
    pub const fn added(self, len: Bytes) -> Bytes {
        Bytes::new(self.wire(len).get() - len.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes on the wire of packets of 40, 100 and 1500 bytes, worked out by hand from tc-cake(8):
    /// `overhead`, then `mpu`, then cells. Not recorded of a kernel.
    const BY_HAND: [(&str, [u64; 3]); 21] = [
        ("none", [40, 100, 1500]),
        ("raw", [54, 114, 1514]),
        ("conservative", [106, 212, 1749]),
        ("ethernet", [84, 138, 1538]),
        ("ethernet ether-vlan", [84, 142, 1542]),
        ("via-ethernet", [40, 100, 1500]),
        ("docsis", [64, 118, 1518]),
        ("pppoe-ptm", [72, 133, 1554]),
        ("pppoe-ptm ether-vlan ether-vlan", [80, 141, 1563]),
        ("bridged-ptm", [63, 124, 1546]),
        ("pppoa-vcmux", [106, 159, 1696]),
        ("pppoa-llc", [106, 159, 1696]),
        ("pppoe-vcmux", [106, 159, 1696]),
        ("pppoe-llcsnap", [106, 159, 1749]),
        ("bridged-vcmux", [106, 159, 1696]),
        ("bridged-llcsnap", [106, 159, 1696]),
        ("ipoa-llcsnap", [106, 159, 1696]),
        ("pppoe-ptm conservative", [106, 212, 1749]),
        ("conservative pppoe-ptm", [120, 181, 1603]),
        ("pppoe-ptm ethernet", [110, 171, 1593]),
        ("pppoe-ptm raw", [54, 114, 1514]),
    ];

    #[test]
    fn keywords_are_exact_to_the_byte() {
        for (words, expected) in BY_HAND {
            let framing = Framing::named(words).expect("keywords");
            let found = [40, 100, 1500].map(|len| framing.wire(Bytes::new(len)).get());
            assert_eq!(found, expected, "{words}");
        }
        let ipoa = Framing::named("ipoa-vcmux").expect("a keyword");
        assert_eq!([40, 41, 88, 89].map(|len| ipoa.wire(Bytes::new(len)).get()), [53, 106, 106, 159]);
        assert_eq!(Framing::named("pppoe-ptm dsl"), Err(NoKeyword("dsl")));
    }

    #[test]
    fn cells_begin_anew_at_their_ends() {
        let atm = Framing { cells: Cells::Atm, ..Framing::NONE };
        assert_eq!([0, 1, 48, 49].map(|len| atm.wire(Bytes::new(len)).get()), [0, 53, 53, 106]);
        let ptm = Framing { cells: Cells::Ptm, ..Framing::NONE };
        assert_eq!([0, 1, 64, 65].map(|len| ptm.wire(Bytes::new(len)).get()), [0, 2, 65, 67]);
        assert_eq!(ptm.added(Bytes::new(65)), Bytes::new(2));
    }
}
