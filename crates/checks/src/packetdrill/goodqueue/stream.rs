//! Bytes of a stream and numbers of segments.
//!
//! A sender of messages takes every segment as a full one. A run of equal segments is one entry
//! here, so that the length of a write does not matter.

/// Segments of the same length, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// Number of the first segment, and how many there are.
    number: u64,
    count: u64,
    /// Offset of the first byte.
    start: u64,
    /// Bytes of each segment; of a lone FIN, none.
    len: u64,
    /// The last segment carries FIN.
    fin: bool,
}

/// A segment of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Offset of the first byte.
    pub(super) start: u64,
    /// Bytes of data.
    pub(super) len: u32,
    /// FIN, which takes one more number.
    pub(super) fin: bool,
}

/// The data that the application has written, divided into segments.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    mss: u64,
    pieces: Vec<Piece>,
    /// Bytes that are no segment yet: less than one.
    tail: u64,
    /// Segments that have left.
    sent: u64,
    /// One above the last byte of the latest short segment that has left.
    short_end: u64,
    closed: bool,
}

impl Piece {
    const fn end(&self) -> u64 {
        self.start + self.count * self.len + self.fin as u64
    }
}

impl Stream {
    pub(super) const fn new(mss: u16) -> Self {
        Self { mss: mss as u64, pieces: Vec::new(), tail: 0, sent: 0, short_end: 0, closed: false }
    }

    /// Number of segments.
    pub(super) fn segments(&self) -> u64 {
        self.pieces.last().map_or(0, |piece| piece.number + piece.count)
    }

    fn end(&self) -> u64 {
        self.pieces.last().map_or(0, Piece::end)
    }

    /// Offset above the last byte that has left.
    pub(super) fn sent_end(&self) -> u64 {
        if self.sent == 0 { 0 } else { self.end_of(self.sent - 1) }
    }

    /// Whether nothing was written.
    pub(super) fn is_untouched(&self) -> bool {
        self.pieces.is_empty() && self.tail == 0
    }

    /// Whether FIN was asked for.
    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Appends bytes. A short segment that has not left is filled up first.
    pub(super) fn write(&mut self, bytes: u64) {
        if let Some(last) = self.pieces.last()
            && last.len < self.mss
            && last.number >= self.sent
        {
            self.tail += last.len;
            self.pieces.pop();
        }
        self.tail = self.tail.saturating_add(bytes);
        let whole = self.tail / self.mss;
        if whole > 0 {
            self.push(whole, self.mss, false);
            self.tail %= self.mss;
        }
    }

    fn push(&mut self, count: u64, len: u64, fin: bool) {
        let (number, start) = (self.segments(), self.end());
        self.pieces.push(Piece { number, count, start, len, fin });
    }

    /// Makes a short segment of the rest, unless another short one waits for its acknowledgement
    /// (Nagle's algorithm as in Linux). `una` is the offset acknowledged.
    pub(super) fn release_tail(&mut self, una: u64, nagle: Nagle) {
        if self.tail > 0 && (nagle == Nagle::Off || self.short_end <= una) {
            let tail = core::mem::take(&mut self.tail);
            self.push(1, tail, false);
        }
    }

    /// Ends the stream: the last segment that has not left carries FIN, else one of its own.
    pub(super) fn close(&mut self) {
        if core::mem::replace(&mut self.closed, true) {
            return;
        }
        self.release_tail(0, Nagle::Off);
        let unsent = self.segments() > self.sent;
        match self.pieces.last_mut() {
            Some(last) if unsent => last.fin = true,
            _ => self.push(1, 0, true),
        }
    }

    /// The segment of this number, which is about to leave.
    pub(super) fn take(&mut self, number: u64) -> Option<Part> {
        let piece = *self.piece_of(number)?;
        self.sent = self.sent.max(number + 1);
        let start = piece.start + (number - piece.number) * piece.len;
        let fin = piece.fin && number + 1 == piece.number + piece.count;
        if piece.len < self.mss && piece.len > 0 {
            self.short_end = self.short_end.max(start + piece.len);
        }
        Some(Part { start, len: piece.len as u32, fin })
    }

    fn piece_of(&self, number: u64) -> Option<&Piece> {
        let at = self.pieces.partition_point(|piece| piece.number + piece.count <= number);
        self.pieces.get(at)
    }

    /// Bytes of the segments from `first` on that are below `past`.
    pub(super) fn bytes(&self, first: u64, past: u64) -> u64 {
        let offset = |number: u64| number.checked_sub(1).map_or(0, |last| self.end_of(last));
        offset(past).saturating_sub(offset(first))
    }

    fn end_of(&self, number: u64) -> u64 {
        self.piece_of(number).map_or(0, |piece| {
            let last = number + 1 == piece.number + piece.count;
            if last { piece.end() } else { piece.start + (number - piece.number + 1) * piece.len }
        })
    }

    /// Number of segments that lie wholly below an offset.
    pub(super) fn below(&self, offset: u64) -> u64 {
        let at = self.pieces.partition_point(|piece| piece.end() <= offset);
        match self.pieces.get(at) {
            None => self.segments(),
            Some(piece) if piece.len == 0 => piece.number,
            // The last one of a piece with FIN ends one later.
            Some(piece) => {
                piece.number + (offset.saturating_sub(piece.start) / piece.len).min(piece.count - u64::from(piece.fin))
            }
        }
    }

    /// Number of the first segment that begins at an offset or above.
    pub(super) fn from(&self, offset: u64) -> u64 {
        let at = self.pieces.partition_point(|piece| piece.end() <= offset);
        match self.pieces.get(at) {
            None => self.segments(),
            Some(piece) if piece.len == 0 || offset <= piece.start => piece.number,
            Some(piece) => piece.number + (offset - piece.start).div_ceil(piece.len).min(piece.count),
        }
    }
}

/// Whether small segments wait for the acknowledgement of earlier ones (RFC 9293 §3.7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nagle {
    On,
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_numbers_agree() {
        let mut stream = Stream::new(1000);
        stream.write(2500);
        stream.release_tail(0, Nagle::On);
        assert_eq!(stream.segments(), 3);
        assert_eq!(stream.take(2), Some(Part { start: 2000, len: 500, fin: false }));
        stream.write(1000);
        stream.close();
        assert_eq!(stream.take(3), Some(Part { start: 2500, len: 1000, fin: true }));
        assert_eq!(stream.take(4), None);
        let below: Vec<u64> = [0, 999, 1000, 2499, 2500, 3499, 3500, 3501].map(|at| stream.below(at)).to_vec();
        assert_eq!(below, [0, 0, 1, 2, 3, 3, 3, 4]);
        let from: Vec<u64> = [0, 1, 1000, 2000, 2001, 2500, 3501].map(|at| stream.from(at)).to_vec();
        assert_eq!(from, [0, 1, 1, 2, 3, 3, 4]);
    }

    #[test]
    fn a_short_segment_that_waits_is_filled_up() {
        let mut stream = Stream::new(1000);
        stream.write(300);
        stream.release_tail(0, Nagle::On);
        stream.write(800);
        assert_eq!(stream.segments(), 1);
        stream.release_tail(0, Nagle::On);
        assert_eq!(stream.take(0), Some(Part { start: 0, len: 1000, fin: false }));
        assert_eq!(stream.take(1), Some(Part { start: 1000, len: 100, fin: false }));
        stream.write(100);
        stream.release_tail(0, Nagle::On);
        assert_eq!((stream.segments(), stream.tail), (2, 100));
        stream.release_tail(1100, Nagle::On);
        assert_eq!(stream.segments(), 3);
    }

    #[test]
    fn fin_alone_takes_a_number() {
        let mut stream = Stream::new(1000);
        stream.write(1000);
        assert!(stream.take(0).is_some());
        stream.close();
        assert_eq!(stream.take(1), Some(Part { start: 1000, len: 0, fin: true }));
        assert_eq!((stream.below(1000), stream.below(1001), stream.sent_end()), (1, 2, 1001));
    }
}
