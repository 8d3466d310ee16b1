//! Packets that were acknowledged, by their numbers.

use serde_json::Value;
use std::collections::BTreeMap;

/// Lengths of the packets that wait for their acknowledgement, by space and number of packets.
#[derive(Debug, Default)]
pub(super) struct Waiting(BTreeMap<(u8, u64), u64>);

/// The space of numbers that a packet of this kind is in (RFC 9000 §12.3).
fn space(data: &Value) -> u8 {
    let kinds = [&data["header"]["packet_type"], &data["packet_type"], &data["packet_number_space"]];
    match kinds.into_iter().find_map(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
        Some("initial") => 0,
        Some("handshake") => 1,
        _ => 2,
    }
}

/// A number, which some write in quotes.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

impl Waiting {
    /// Notes a packet that was sent, with its length.
    pub(super) fn sent(&mut self, data: &Value, length: u64) {
        if let Some(number) = [&data["header"]["packet_number"], &data["packet_number"]].into_iter().find_map(number) {
            self.0.insert((space(data), number), length);
        }
    }

    /// The bytes that the frames of a packet acknowledge for the first time.
    pub(super) fn received(&mut self, data: &Value) -> u64 {
        let frames = data["frames"].as_array().into_iter().flatten();
        let is_ack = |frame: &&Value| frame["frame_type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("ack"));
        let ranges = frames.filter(is_ack).flat_map(|frame| frame["acked_ranges"].as_array().into_iter().flatten());
        // A range of one packet may be a list of one.
        let ends = ranges.filter_map(|range| {
            let range = range.as_array()?;
            Some((number(range.first()?)?, number(range.last()?)?))
        });
        ends.map(|(first, last)| self.take(space(data), first, last)).sum()
    }

    /// The bytes of packets that an event lists as acknowledged.
    pub(super) fn listed(&mut self, data: &Value) -> u64 {
        let numbers = data["packet_numbers"].as_array().into_iter().flatten().filter_map(number);
        numbers.map(|one| self.take(space(data), one, one)).sum()
    }

    fn take(&mut self, space: u8, first: u64, last: u64) -> u64 {
        if first > last {
            return 0;
        }
        let known: Vec<_> = self.0.range((space, first)..=(space, last)).map(|(key, _)| *key).collect();
        known.iter().filter_map(|key| self.0.remove(key)).sum()
    }
}
