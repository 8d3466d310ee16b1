//! Recorded links: files of delivery opportunities in mahimahi's format.
//!
//! One whole number per line: the millisecond at which up to 1500 bytes may leave. Times never
//! decrease; a time on several lines means as many opportunities. After the last line the recording
//! starts again, so the last time is its length, and lines with time zero belong to its end.
//!
//! Files are read line by line with bounds on everything, so no file can exhaust memory.

use crate::quantity::excerpt;
use crate::scenario::input::{FileError, FileFault, Place, TraceFault, open};
use goodqueue_base::units::{Bytes, Duration};
use goodqueue_sim::Opportunities;
use std::io::{BufRead, Read};
use std::path::Path;

/// Bytes that may leave per line.
const BYTES_PER_OPPORTUNITY: Bytes = Bytes::new(1500);
/// Larger files are rejected before they are read.
const MAX_FILE_SIZE: u64 = 256 << 20;
/// Far longer than any allowed time.
const MAX_LINE: usize = 32;
/// One day.
const LATEST_MS: u64 = 86_400_000;
/// Different times; each takes 24 bytes of memory.
const MAX_TIMES: usize = 10_000_000;

/// Reads a recording from a file.
///
/// # Errors
/// When the file cannot be read or is no recording; the error names file and line.
pub fn load(path: &Path) -> Result<Opportunities, FileError> {
    read(&path.display().to_string(), open(path, MAX_FILE_SIZE)?)
}

/// Reads a recording from bytes; `name` stands for the file in errors.
///
/// # Errors
/// When the bytes are no recording; the error names the line.
pub fn read(name: &str, mut input: impl BufRead) -> Result<Opportunities, FileError> {
    let mut draft = TraceDraft::default();
    let mut line = Vec::with_capacity(MAX_LINE + 1);
    for number in 1.. {
        let fault = |fault: FileFault| FileError::at(name, Place::Line(number), fault);
        line.clear();
        let got = input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
        if got.map_err(|error| fault(error.into()))? == 0 {
            break;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() > MAX_LINE {
            let start = excerpt(&String::from_utf8_lossy(&line[..8]));
            return Err(fault(TraceFault::LongLine { start, most: MAX_LINE }.into()));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        millisecond(&line).and_then(|ms| draft.add(ms)).map_err(|wrong| fault(wrong.into()))?;
    }
    draft.finish().map_err(|fault| FileError::whole(name, fault))
}

/// A recording with opportunities at these times in milliseconds; `name` stands for it in errors.
///
/// # Errors
/// When the times are no recording.
pub fn from_times(name: &str, times: impl Iterator<Item = u64>) -> Result<Opportunities, FileError> {
    let whole = |fault: TraceFault| FileError::whole(name, fault);
    let mut draft = TraceDraft::default();
    for time in times {
        draft.add(time).map_err(whole)?;
    }
    draft.finish().map_err(whole)
}

/// The time on one line.
fn millisecond(line: &[u8]) -> Result<u64, TraceFault> {
    let text = String::from_utf8_lossy(line);
    if line.is_empty() {
        return Err(TraceFault::Blank);
    }
    if line.iter().all(u8::is_ascii_digit) {
        return match text.parse::<u64>() {
            Ok(ms) if ms <= LATEST_MS => Ok(ms),
            _ => Err(TraceFault::TooLate { written: excerpt(&text), latest: LATEST_MS }),
        };
    }
    if line[0] == b'-' && line.len() > 1 && line[1..].iter().all(u8::is_ascii_digit) {
        return Err(TraceFault::Negative { written: excerpt(&text), latest: LATEST_MS });
    }
    Err(TraceFault::NotWhole(excerpt(&text)))
}

#[derive(Default)]
struct TraceDraft {
    opportunities: Vec<(Duration, Bytes)>,
    at_zero: Bytes,
    last_ms: u64,
}

impl TraceDraft {
    fn add(&mut self, ms: u64) -> Result<(), TraceFault> {
        if ms < self.last_ms {
            return Err(TraceFault::Backwards { ms, before: self.last_ms });
        }
        self.last_ms = ms;
        let at = Duration::ms(ms);
        let full = self.opportunities.len() == MAX_TIMES;
        match self.opportunities.last_mut() {
            _ if ms == 0 => self.at_zero += BYTES_PER_OPPORTUNITY,
            Some((last, bytes)) if *last == at => *bytes += BYTES_PER_OPPORTUNITY,
            _ if full => return Err(TraceFault::TooManyTimes { most: MAX_TIMES }),
            _ => self.opportunities.push((at, BYTES_PER_OPPORTUNITY)),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Opportunities, TraceFault> {
        match self.opportunities.last_mut() {
            Some((_, bytes)) => *bytes += self.at_zero,
            None if self.at_zero.is_zero() => return Err(TraceFault::Empty),
            None => return Err(TraceFault::OnlyZeros),
        }
        let bits: u64 = self.opportunities.iter().map(|(_, bytes)| bytes.bits()).sum();
        if bits.saturating_mul(1000) < self.last_ms {
            return Err(TraceFault::TooSlow { bits, seconds: self.last_ms / 1000 });
        }
        Ok(Opportunities::new(self.opportunities, Duration::ms(self.last_ms))?)
    }
}

#[cfg(test)]
mod tests;
