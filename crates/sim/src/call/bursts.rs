//! Bursts of losses and the gaps between them (RFC 3611 §4.7.2).

/// Bad frames with fewer good ones between them are of one burst (RFC 3611 §4.7.2, `Gmin`).
const MIN_GAP: u64 = 16;

/// The frames of a call in bursts and in the gaps between them. A bad frame that has no other near
/// it lies in a gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bursts {
    /// Bursts.
    pub count: u64,
    /// Frames in bursts.
    pub burst_frames: u64,
    /// Bad frames in bursts.
    pub burst_bad: u64,
    /// Frames.
    pub frames: u64,
    /// Bad frames.
    pub bad: u64,
    group: Option<Group>,
}

/// Bad frames that may become a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    first: u64,
    last: u64,
    bad: u64,
}

impl Bursts {
    /// Adds good frames.
    pub(super) fn add_good(&mut self, frames: u64) {
        self.frames += frames;
    }

    /// Adds bad frames in a row.
    pub(super) fn add_bad(&mut self, frames: u64) {
        for _ in 0..frames {
            let place = self.frames;
            self.frames += 1;
            self.bad += 1;
            match &mut self.group {
                Some(group) if place - group.last - 1 < MIN_GAP => (group.last, group.bad) = (place, group.bad + 1),
                _ => {
                    self.close();
                    self.group = Some(Group { first: place, last: place, bad: 1 });
                }
            }
        }
    }

    /// Ends the latest group.
    pub(super) fn close(&mut self) {
        if let Some(group) = self.group.take().filter(|group| group.bad > 1) {
            self.count += 1;
            self.burst_frames += group.last - group.first + 1;
            self.burst_bad += group.bad;
        }
    }

    /// Adds those of another call.
    pub fn append(&mut self, other: &Self) {
        self.count += other.count;
        self.burst_frames += other.burst_frames;
        self.burst_bad += other.burst_bad;
        self.frames += other.frames;
        self.bad += other.bad;
    }

    /// The share of bad frames in bursts; `None` without bursts.
    #[must_use]
    pub fn burst_density(&self) -> Option<f64> {
        (self.burst_frames > 0).then(|| self.burst_bad as f64 / self.burst_frames as f64)
    }

    /// The share of bad frames in gaps.
    #[must_use]
    pub fn gap_density(&self) -> Option<f64> {
        let frames = self.frames - self.burst_frames;
        (frames > 0).then(|| (self.bad - self.burst_bad) as f64 / frames as f64)
    }

    /// Mean length of a burst in frames; `None` without bursts.
    #[must_use]
    pub fn burst_length(&self) -> Option<f64> {
        (self.count > 0).then(|| self.burst_frames as f64 / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 3611 §4.7.2: a burst of 12 packets, of which 4 are bad, and two bad ones
    /// in gaps of 51. (The text rounds to 0.33 and 0.04.)
    #[test]
    fn the_example_of_the_standard_has_its_densities() {
        let mut bursts = Bursts::default();
        for symbol in "11110111111111111111111X111X1011110111111111111111111X111111111".bytes() {
            if symbol == b'1' { bursts.add_good(1) } else { bursts.add_bad(1) }
        }
        bursts.close();
        assert_eq!((bursts.frames, bursts.bad, bursts.count, bursts.burst_frames, bursts.burst_bad), (63, 6, 1, 12, 4));
        assert_eq!(bursts.burst_density(), Some(4.0 / 12.0));
        assert_eq!(bursts.gap_density(), Some(2.0 / 51.0));
        assert_eq!(bursts.burst_length(), Some(12.0));
    }
}
