//! Outbound segments: waiting for them, and holding them against the script.

use super::{End, MAX_WAIT, PATIENCE, Run};
use crate::packetdrill::script::{EcnCheck, ScriptPacket};
use crate::packetdrill::stack::{Compared, Stack};
use goodqueue_base::units::{Duration, Ecn, Instant};
use goodqueue_tcp::wire::{Packet, TcpFlags, TcpOption};

impl<S: Stack> Run<'_, S> {
    /// Waits for a segment and compares it. `span` is when it may leave; `None`: at any time.
    pub(super) fn outbound(&mut self, expected: &ScriptPacket, span: Option<(Instant, Instant)>) -> Result<(), End> {
        let deadline = match span {
            Some((_, to)) => to + self.tolerance(to) + PATIENCE,
            None => self.now + MAX_WAIT,
        };
        let (mut at, first) = self.next_sent(expected, deadline)?;
        self.learn_timestamp(expected, &first);
        let mut actual = self.relative(first);
        self.compare_start(expected, &actual)?;
        // A segment of the script may leave in several, as the language allows.
        while !self.settings.strict_segments && actual.len < expected.len && actual.len > 0 {
            let (later, next) = self.next_sent(expected, deadline)?;
            let next = self.relative(next);
            if next.seq != actual.end() || actual.len + next.len > expected.len {
                return Err(self.differs("segment", expected.to_string(), format!("{actual}, then {next}")));
            }
            self.compare_time(span, at)?;
            at = later;
            actual = Packet { seq: actual.seq, len: actual.len + next.len, ..next };
        }
        self.compare(expected, &actual)?;
        self.compare_time(span, at)?;
        self.now = self.now.max(at);
        Ok(())
    }

    /// The next segment that leaves, at the latest at the deadline.
    fn next_sent(&mut self, expected: &ScriptPacket, deadline: Instant) -> Result<(Instant, Packet), End> {
        loop {
            if let Some(sent) = self.sent.pop_front() {
                return Ok(sent);
            }
            match self.stack.next_timeout().filter(|due| *due <= deadline) {
                Some(due) => self.expire(due)?,
                None => return Err(self.differs("segment", expected.to_string(), "none")),
            }
        }
    }

    /// The segment with numbers relative to the initial ones, and with timestamps as the script has
    /// them.
    fn relative(&self, mut packet: Packet) -> Packet {
        packet.seq = packet.seq.wrapping_sub(self.names.isn);
        for option in &mut packet.options {
            if let (TcpOption::Timestamp { value, .. }, Some((script, wire))) = (option, self.names.first_timestamp) {
                *value = script.wrapping_add(value.wrapping_sub(wire));
            }
        }
        packet
    }

    /// Compares what is the same in all parts of a segment that leaves in several.
    fn compare_start(&self, expected: &ScriptPacket, actual: &Packet) -> Result<(), End> {
        let whole = actual.len == expected.len;
        if actual.seq != expected.seq || !whole && (self.settings.strict_segments || actual.len > expected.len || actual.len == 0)
        {
            return Err(self.differs("segment", expected.to_string(), actual.to_string()));
        }
        Ok(())
    }

    /// Remembers what a timestamp of the script is on the wire.
    fn learn_timestamp(&mut self, expected: &ScriptPacket, actual: &Packet) {
        let script = expected.options.iter().flatten().find_map(|option| match option {
            TcpOption::Timestamp { value, .. } => Some(*value),
            _ => None,
        });
        if let (Some(script), Some((value, _))) = (script, actual.timestamp()) {
            self.names.first_timestamp.get_or_insert((script, value));
            self.names.timestamps.insert(script, value);
        }
    }

    fn compare(&self, expected: &ScriptPacket, actual: &Packet) -> Result<(), End> {
        let ignored = if self.stack.push() == Compared::Yes { TcpFlags::NONE } else { TcpFlags::PSH };
        let flags = |flags: TcpFlags| flags.without(ignored);
        let codepoint = match expected.ecn {
            None => true,
            Some(EcnCheck::Exactly(ecn)) => actual.ecn == ecn,
            Some(EcnCheck::EitherEct) => matches!(actual.ecn, Ecn::Ect0 | Ecn::Ect1),
        };
        let ack = !expected.flags.has(TcpFlags::ACK) || expected.ack == actual.ack;
        let what = if flags(expected.flags) != flags(actual.flags) {
            "flags"
        } else if !codepoint {
            "ECN codepoint"
        } else if !ack {
            "acknowledgement"
        } else if expected.urgent != actual.urgent {
            "urgent pointer"
        } else if expected.window.is_some_and(|window| window != actual.window) {
            return Err(self.differs("window", expected.to_string(), format!("{actual} win {}", actual.window)));
        } else if let Some(options) = &expected.options
            && !self.same_options(options, &actual.options)
        {
            "options"
        } else {
            return Ok(());
        };
        Err(self.differs(what, expected.to_string(), actual.to_string()))
    }

    /// Values of timestamps are compared within the tolerance, if at all. As in the original,
    /// echoes are not.
    fn same_options(&self, expected: &[TcpOption], actual: &[TcpOption]) -> bool {
        let same = |(expected, actual): (&TcpOption, &TcpOption)| match (expected, actual) {
            (TcpOption::Timestamp { value, .. }, TcpOption::Timestamp { value: got, .. }) => {
                let off = i64::from(got.wrapping_sub(*value) as i32).unsigned_abs();
                let tolerance = self.tolerance_since(self.now, Duration::ZERO).as_nanos() / 1000;
                self.settings.timestamp_tick.is_none_or(|tick| off.saturating_mul(u64::from(tick)) <= tolerance)
            }
            _ => expected == actual,
        };
        expected.len() == actual.len() && expected.iter().zip(actual).all(same)
    }

    fn compare_time(&self, span: Option<(Instant, Instant)>, at: Instant) -> Result<(), End> {
        let Some((from, to)) = span else { return Ok(()) };
        let tolerance = self.tolerance(from);
        if at + tolerance >= from && at <= to + tolerance {
            return Ok(());
        }
        let expected = if from == to { seconds(from) } else { format!("{} to {}", seconds(from), seconds(to)) };
        Err(self.differs("time", format!("{expected} (± {} ms)", tolerance.as_nanos() as f64 / 1e6), seconds(at)))
    }

    /// Returns the allowed deviation of an event at `at`.
    fn tolerance(&self, at: Instant) -> Duration {
        self.tolerance_since(at, self.previous)
    }

    pub(super) fn tolerance_since(&self, at: Instant, previous: Duration) -> Duration {
        let since = at.since(Instant::ZERO + previous);
        self.settings.tolerance.max(since.mul_f64(self.settings.tolerance_percent / 100.0))
    }
}

fn seconds(at: Instant) -> String {
    format!("{:.6} s", at.as_secs_f64())
}
