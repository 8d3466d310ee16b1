//! The class of a packet: how urgently it should be forwarded.

use core::fmt;

/// One of eight classes, 0 to 7. A higher class is more urgent; 0 is the default, best effort.
///
/// In IP networks the class is the class selector, the upper three bits of the DSCP (RFC 2474
/// §4.2.2.2). A packet of a higher class must not expect to be forwarded later than one of a lower
/// class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(u8);

impl Class {
    /// Number of classes.
    pub const COUNT: usize = 8;
    /// Best effort.
    pub const DEFAULT: Self = Self(0);

    /// Class of this number. Of larger numbers only the low three bits count.
    #[inline]
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number & 0b111)
    }

    /// Class that a six-bit DSCP stands for.
    #[inline]
    #[must_use]
    pub const fn from_dscp(dscp: u8) -> Self {
        Self::new(dscp >> 3)
    }

    /// The class's number, 0 to 7.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Band for this class among `bands` queues, where band 0 is the most urgent: class 0 maps to
    /// the last band, each higher class to the band before, and all remaining classes to band 0.
    #[inline]
    #[must_use]
    pub const fn band(self, bands: usize) -> usize {
        bands.saturating_sub(1).saturating_sub(self.0 as usize)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_classes_never_go_to_later_bands() {
        for bands in 1..=Class::COUNT {
            assert_eq!(Class::DEFAULT.band(bands), bands - 1);
            assert_eq!(Class::new(7).band(bands), 0);
            for number in 1..8 {
                assert!(Class::new(number).band(bands) <= Class::new(number - 1).band(bands));
            }
        }
        assert_eq!(Class::new(2).band(4), 1);
        assert_eq!(Class::new(5).band(0), 0);
    }

    #[test]
    fn class_selectors_of_the_dscp() {
        assert_eq!(Class::from_dscp(46), Class::new(5), "expedited forwarding lies within class selector 5");
        assert_eq!(Class::from_dscp(0), Class::DEFAULT);
        assert_eq!(Class::from_dscp(56), Class::new(7));
    }
}
