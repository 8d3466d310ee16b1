//! Settings and figures as words.

use crate::packet::Waiting;
use crate::settings::{Plan, settable};
use core::fmt::{self, Write};
use goodqueue_aqm::spec::{KindAndParams, Size, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Qdisc, Reason};
use goodqueue_base::units::Bytes;

/// Memory of the module that words are written to. What does not fit is counted and left out.
pub(crate) struct Words<'a> {
    room: &'a mut [u8],
    length: usize,
    spaces: Spaces,
}

/// The treatment of spaces in the text that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spaces {
    Kept,
    LeftOut,
}

impl<'a> Words<'a> {
    pub(crate) fn new(room: &'a mut [u8]) -> Self {
        Self { room, length: 0, spaces: Spaces::Kept }
    }

    /// Bytes that were written, those included that did not fit.
    pub(crate) const fn length(&self) -> usize {
        self.length
    }

    /// `NAME=VALUE` and a zero byte.
    fn pair(&mut self, depth: usize, name: &str, value: impl fmt::Display) {
        (0..depth).for_each(|_| self.put(b"of."));
        self.put(name.as_bytes());
        // `write_str` always succeeds.
        let _never = write!(self, "={value}");
        self.put(&[0]);
    }

    /// Writes the pair with the value as `tc` takes it again: without the space before its unit.
    fn packed(&mut self, depth: usize, name: &str, value: Value) {
        self.spaces = Spaces::LeftOut;
        self.pair(depth, name, value);
        self.spaces = Spaces::Kept;
    }

    fn put(&mut self, bytes: &[u8]) {
        let end = self.length.saturating_add(bytes.len());
        if let Some(place) = self.room.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
        }
        self.length = end;
    }
}

impl Write for Words<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.spaces {
            Spaces::Kept => self.put(text.as_bytes()),
            Spaces::LeftOut => text.as_bytes().split(|byte| *byte == b' ').for_each(|part| self.put(part)),
        }
        Ok(())
    }
}

/// All settings, given or not, in the order of the descriptions; those that follow from others
/// only where they were given.
pub(crate) fn settings(plan: &Plan, words: &mut Words<'_>) {
    let Plan { chosen, link, ecn, .. } = plan;
    words.pair(0, "kind", chosen.name());
    let limit = if link.limit.bytes == Bytes::MAX {
        Value::Size(Size::Packets(link.limit.packets.get() as f64))
    } else {
        Value::Bytes(link.limit.bytes)
    };
    words.packed(0, "limit", limit);
    words.pair(0, "ecn", *ecn == EcnPolicy::Mark);
    if let Some(rate) = link.rate {
        words.packed(0, "link", Value::Rate(rate));
    }
    if !link.delay.is_zero() {
        words.packed(0, "delay", Value::Duration(link.delay));
    }
    words.packed(0, "link_overhead", Value::Bytes(link.overhead));
    let (mut level, mut depth): (Option<&KindAndParams>, _) = (Some(chosen), 0);
    while let Some(KindAndParams { kind, params, of, .. }) = level {
        for param in settable(kind) {
            // Shown once, above.
            if depth == 0 && param.name == "ecn" {
                continue;
            }
            let given = params.iter().find(|(name, _)| *name == param.name).map(|(_, value)| *value);
            if let Some(value) = given.or(param.default_value()) {
                words.packed(depth, param.name, value);
            }
        }
        (level, depth) = (of.as_deref(), depth + 1);
    }
}

/// Counters, then the algorithm's own figures. They are asked for while packets wait for the
/// answer, and are written without `core::fmt`, whose numbers take kilobytes of stack.
pub(crate) fn statistics(queue: &AnyQdisc<Waiting>, words: &mut Words<'_>) {
    let (counters, view) = (queue.counters(), queue.view());
    for (name, count) in [
        ("arrived", counters.arrived.packets.get()),
        ("departed", counters.departed.packets.get()),
        ("waiting", view.packets.get()),
        ("waiting_bytes", view.backlog.get()),
        ("marked", counters.marked.packets.get()),
        ("ect_arrived", counters.arrived_ect.packets.get()),
    ] {
        words.count("", name, count);
    }
    for reason in Reason::ALL {
        let dropped = counters.dropped(reason).packets.get();
        if dropped > 0 {
            words.count("dropped_", reason.name(), dropped);
        }
    }
    queue.gauges(&mut |name, value| words.figure(name, value));
}

impl Words<'_> {
    /// A name in two parts, and a whole number.
    fn count(&mut self, before: &str, name: &str, count: u64) {
        self.put(before.as_bytes());
        self.put(name.as_bytes());
        self.put(b"=");
        self.digits(count, 1);
        self.put(&[0]);
    }

    /// A name, and a number to nine decimals.
    fn figure(&mut self, name: &str, value: f64) {
        const DECIMALS: usize = 9;
        const SCALE: u64 = 1_000_000_000;
        self.put(name.as_bytes());
        self.put(if value < 0.0 { b"=-" } else { b"=" });
        let size = if value.is_finite() { value.abs() } else { 0.0 };
        // `as` saturates, and cuts off the fraction.
        let (mut whole, mut parts) = (size as u64, ((size - (size as u64) as f64) * SCALE as f64 + 0.5) as u64);
        if parts >= SCALE {
            (whole, parts) = (whole.saturating_add(1), 0);
        }
        self.digits(whole, 1);
        if parts > 0 {
            let mut decimals = DECIMALS;
            while parts % 10 == 0 {
                (parts, decimals) = (parts / 10, decimals - 1);
            }
            self.put(b".");
            self.digits(parts, decimals);
        }
        self.put(&[0]);
    }

    /// A whole number in decimal, with zeros in front up to `width`.
    fn digits(&mut self, mut number: u64, width: usize) {
        let mut text = [b'0'; 20];
        let mut first = text.len();
        while number > 0 {
            first -= 1;
            text[first] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        let first = first.min(text.len() - width);
        self.put(&text[first..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{GqkDevice, Settings};
    use std::boxed::Box;
    use std::string::String;
    use std::vec::Vec;

    const DEVICE: GqkDevice = GqkDevice { mtu: 1500, overhead: 14, seed: 7 };

    fn plan(text: &[u8]) -> Box<Plan> {
        Settings::read(None, text).and_then(|settings| settings.plan(&DEVICE)).expect("good")
    }

    fn shown(plan: &Plan) -> String {
        let mut room = [0; 4096];
        let mut words = Words::new(&mut room);
        settings(plan, &mut words);
        let length = words.length();
        String::from_utf8(room[..length].to_vec()).expect("text").replace('\0', " ")
    }

    #[test]
    fn settings_are_shown_as_they_are_written() {
        let text = shown(&plan(b"kind=fair:codel\0of.target=7ms\0link=10mbit\0"));
        assert!(
            text.starts_with("kind=fair:codel limit=1000packets ecn=false link=10Mbit/s link_overhead=14B flows=1024 "),
            "{text}"
        );
        assert!(text.contains(" of.target=7ms of.interval=100ms "), "{text}");
    }

    #[test]
    fn what_is_shown_is_read_again_as_the_same() {
        for spec in crate::settings::kinds() {
            let over = if spec.is_over_another() { ":pie" } else { "" };
            let before = plan(std::format!("kind={}{over}\0link=10mbit\0delay=7ms\0limit=9kB\0", spec.kind).as_bytes());
            let mut room = [0; 4096];
            let mut words = Words::new(&mut room);
            settings(&before, &mut words);
            let length = words.length();
            let again = plan(&room[..length]);
            assert_eq!(shown(&before), shown(&again));
        }
    }

    #[test]
    fn figures_are_counters_and_gauges() {
        let queue = plan(b"kind=pie\0").build().expect("good");
        let mut room = [0; 2048];
        let mut words = Words::new(&mut room);
        statistics(&queue, &mut words);
        let length = words.length();
        let text = String::from_utf8(room[..length].to_vec()).expect("text");
        let names: Vec<&str> = text.split('\0').filter_map(|pair| pair.split_once('=')).map(|(name, _)| name).collect();
        assert_eq!(names[..4], ["arrived", "departed", "waiting", "waiting_bytes"]);
        assert!(names.len() > 6, "PIE has gauges: {names:?}");
    }

    #[test]
    fn figures_have_nine_decimals_at_most() {
        for (value, text) in [
            (0.0, "x=0\0"),
            (1.5, "x=1.5\0"),
            (-0.25, "x=-0.25\0"),
            (1.0 / 3.0, "x=0.333333333\0"),
            (0.000_000_000_4, "x=0\0"),
            (0.999_999_999_9, "x=1\0"),
            (12.000_000_001, "x=12.000000001\0"),
            (f64::NAN, "x=0\0"),
            (1e30, "x=18446744073709551615\0"),
        ] {
            let mut room = [0; 64];
            let mut words = Words::new(&mut room);
            words.figure("x", value);
            let length = words.length();
            assert_eq!(std::str::from_utf8(&room[..length]), Ok(text), "{value}");
        }
    }

    #[test]
    fn words_that_do_not_fit_are_counted() {
        let mut room = [0xff; 20];
        let mut words = Words::new(&mut room);
        settings(&plan(b"kind=codel\0"), &mut words);
        assert!(words.length() > 60);
        let mut none = [0; 0];
        let mut words = Words::new(&mut none);
        settings(&plan(b"kind=codel\0"), &mut words);
        assert!(words.length() > 60);
    }
}
