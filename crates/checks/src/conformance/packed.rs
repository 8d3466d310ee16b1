//! The packed form of operations, for recordings of tens of thousands of packets: a few characters
//! per operation.
//!
//! An operation consists of, in this order: the time since the previous one in `unit`s, in base 36
//! with lower-case letters (empty for zero); its type; and its events. The type is a capital letter
//! (two where flows are distinguished) for the arrival of a packet of that class, `~` for a timer,
//! and nothing for a departure. Events of an arrival: `{N}` the packet that arrived N packets
//! earlier is dropped, `/` the packet itself is dropped, `^` marked. Events of a departure, each
//! for the oldest waiting packet: `-` dropped, `!` marked, `>` departed; where classes have two
//! letters, the second follows the sign and names the flow. A departure that finds the queue empty
//! ends in `=`. Where a discipline has several transmit queues, `@` and a digit of base 36 say
//! before the events which one is asked.

use crate::conformance::fault::Fault;
use crate::conformance::operation::{Event, Operation, Step, What};
use goodqueue_base::units::{Duration, Ecn, Instant};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};

/// Packed operations, as the file has them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packed {
    /// Time in ns relative to which the first operation is given.
    start: u64,
    /// Unit of time in ns.
    unit: u64,
    /// Length, flow and codepoint of packets by the letters of their class.
    classes: BTreeMap<String, [u32; 3]>,
    /// Reasons of drops and marks.
    reasons: Reasons,
    operations: Vec<String>,
}

/// Reasons by place of the event; `None` where the source gives none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasons {
    drop_on_arrival: Option<String>,
    mark_on_arrival: Option<String>,
    on_departure: Option<String>,
}

impl Packed {
    /// Unpacks the operations.
    pub fn steps(&self) -> Result<Vec<Step>, Fault> {
        let by_flow = self.classes.keys().any(|letters| letters.len() > 1);
        let mut reader =
            Reader { packed: self, by_flow, now: Instant::from_nanos(self.start), waiting: BTreeMap::new(), next: 0 };
        let text: String = self.operations.concat();
        let mut rest = text.as_str();
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let wrong =
                |fault| Fault::Operation { index: steps.len(), shown: " of the packed ones".to_owned(), fault: Box::new(fault) };
            let (step, after) = reader.step(rest).map_err(wrong)?;
            steps.push(step);
            rest = after;
        }
        Ok(steps)
    }
}

struct Reader<'a> {
    packed: &'a Packed,
    by_flow: bool,
    now: Instant,
    /// Numbers of waiting packets by the letter of their flow (`None` where all share one queue).
    waiting: BTreeMap<Option<char>, VecDeque<u64>>,
    next: u64,
}

/// Splits `text` after its leading characters for which `belongs` holds.
fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// A number of base 36.
fn base_36(digits: &str) -> Result<u64, Fault> {
    u64::from_str_radix(digits, 36).map_err(|error| Fault::not_a(digits, format!("a number: {error}")))
}

impl Reader<'_> {
    fn step<'t>(&mut self, text: &'t str) -> Result<(Step, &'t str), Fault> {
        let (digits, rest) = split(text, |c| c.is_ascii_digit() || c.is_ascii_lowercase());
        let steps = if digits.is_empty() { 0 } else { base_36(digits)? };
        let span = steps.checked_mul(self.packed.unit).ok_or_else(|| Fault::not_a(digits, "a time: it is too long"))?;
        self.now += Duration::ns(span);
        let at = self.now;
        if let Some(rest) = rest.strip_prefix('~') {
            return Ok((Step { operation: Operation::Timer { at }, events: Vec::new() }, rest));
        }
        if let Some(rest) = rest.strip_prefix('@') {
            let (digit, rest) = rest.split_at(rest.chars().next().map_or(0, char::len_utf8));
            let queue = base_36(digit)? as u32;
            return self.departure(Some(queue), rest);
        }
        let (letters, _) = split(rest, |c| c.is_ascii_uppercase());
        let letters = &letters[..letters.len().min(1 + usize::from(self.by_flow))];
        if letters.is_empty() { self.departure(None, rest) } else { self.arrival(letters, &rest[letters.len()..]) }
    }

    fn arrival<'t>(&mut self, letters: &str, rest: &'t str) -> Result<(Step, &'t str), Fault> {
        let class = self.packed.classes.get(letters).ok_or_else(|| Fault::not_a(letters, "one of the classes"))?;
        let [len, flow, codepoint] = *class;
        let ecn = u8::try_from(codepoint).ok().filter(|&bits| bits < 4).map(Ecn::from_bits);
        let ecn = ecn.ok_or_else(|| Fault::not_a(codepoint, "a codepoint"))?;
        let packet = self.next;
        self.next += 1;
        let flow_letter = if self.by_flow { letters.chars().last() } else { None };
        let reasons = &self.packed.reasons;
        let (mut events, mut rest) = (Vec::new(), rest);
        while let Some(after) = rest.strip_prefix('{') {
            let (digits, after) = after.split_once('}').ok_or(Fault::Form("a `{` lacks its `}`"))?;
            let before = base_36(digits)?;
            let other = packet.checked_sub(before).ok_or_else(|| Fault::not_a(digits, "a number of packets that came before"))?;
            let line = self.waiting.values_mut().find(|line| line.contains(&other));
            line.ok_or(Fault::Packet { packet: other, why: "does not wait" })?.retain(|number| *number != other);
            events.push(Event { what: What::Drop, packet: other, reason: reasons.drop_on_arrival.clone() });
            rest = after;
        }
        let own = match rest.chars().next() {
            Some('/') => Some((What::Drop, &reasons.drop_on_arrival)),
            Some('^') => Some((What::Mark, &reasons.mark_on_arrival)),
            _ => None,
        };
        if let Some((what, reason)) = own {
            events.push(Event { what, packet, reason: reason.clone() });
            rest = &rest[1..];
        }
        if !matches!(own, Some((What::Drop, _))) {
            self.waiting.entry(flow_letter).or_default().push_back(packet);
        }
        Ok((Step { operation: Operation::Enqueue { at: self.now, len, flow, ecn, ack: None }, events }, rest))
    }

    fn departure<'t>(&mut self, queue: Option<u32>, mut rest: &'t str) -> Result<(Step, &'t str), Fault> {
        let mut events = Vec::new();
        let operation = Operation::Dequeue { at: self.now, queue };
        loop {
            let sign = rest.chars().next().ok_or(Fault::Form("the text ends within a departure"))?;
            rest = &rest[sign.len_utf8()..];
            let what = match sign {
                '=' => return Ok((Step { operation, events }, rest)),
                '-' => What::Drop,
                '!' => What::Mark,
                '>' => What::Depart,
                other => return Err(Fault::not_a(other, "a sign: allowed - ! > =")),
            };
            let flow = if self.by_flow { rest.chars().next() } else { None };
            rest = &rest[flow.map_or(0, char::len_utf8)..];
            let line = self.waiting.entry(flow).or_default();
            let packet = *line.front().ok_or(Fault::Form("a packet is named where none waits"))?;
            if what != What::Mark {
                line.pop_front();
            }
            let reason = if what == What::Depart { None } else { self.packed.reasons.on_departure.clone() };
            events.push(Event { what, packet, reason });
            if what == What::Depart {
                return Ok((Step { operation, events }, rest));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(operations: &[&str]) -> Packed {
        Packed {
            start: 1000,
            unit: 10,
            classes: BTreeMap::from([("AA".to_owned(), [64, 0, 0]), ("BB".to_owned(), [1500, 7, 2])]),
            reasons: Reasons {
                drop_on_arrival: Some("overflow".to_owned()),
                mark_on_arrival: Some("early".to_owned()),
                on_departure: Some("head".to_owned()),
            },
            operations: operations.iter().map(|&line| line.to_owned()).collect(),
        }
    }

    #[test]
    fn operations_are_unpacked() {
        let steps = packed(&["AABB", "10BB/~", "z-A!B>B", "@b="]).steps().expect("good");
        let lines: Vec<String> = steps.iter().map(|step| step.operation.line()).collect();
        assert_eq!(
            lines,
            [
                "[\"enqueue\",1000,64,0,0]",
                "[\"enqueue\",1000,1500,7,2]",
                "[\"enqueue\",1360,1500,7,2]",
                "[\"timer\",1360]",
                "[\"dequeue\",1710]",
                "[\"dequeue\",1710,11]"
            ]
        );
        let events: Vec<String> = steps.iter().flat_map(|step| step.events.iter().map(Event::to_string)).collect();
        assert_eq!(events, ["drop 2 (overflow)", "drop 0 (head)", "mark 1 (head)", "depart 1"]);
        assert!(steps[5].events.is_empty());
    }

    #[test]
    fn an_arrival_may_drop_packets_that_wait() {
        let steps = packed(&["AABBAA{2}{1}/", "="]).steps().expect("good");
        let events: Vec<String> = steps.iter().flat_map(|step| step.events.iter().map(Event::to_string)).collect();
        assert_eq!(events, ["drop 0 (overflow)", "drop 1 (overflow)", "drop 2 (overflow)"]);
        assert_eq!(steps.len(), 4);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, message) in [
            ("CC", "`CC` is not one of the classes"),
            ("AA1", "the text ends within a departure"),
            ("1>A", "a packet is named where none waits"),
            ("AA{1}", "`1` is not a number of packets that came before"),
            ("AA/AA{1}", "packet 0 does not wait"),
            ("@", "`` is not a number"),
            ("?", "`?` is not a sign: allowed - ! > ="),
            ("zzzzzzzzzzzzzzzAA", "operation 0 of the packed ones: `zzzzzzzzzzzzzzz` is not a number: number too large"),
        ] {
            let found = packed(&[line]).steps().expect_err("refused").to_string();
            assert!(found.contains(message), "said `{found}`, not `{message}`");
        }
    }
}
