//! Operations on a queue and the events that must follow, as files have them.

use crate::conformance::fault::Fault;
use crate::conformance::fields::Fields;
use goodqueue_aqm::{PureAck, Reason, SackRange};
use goodqueue_base::units::{Ecn, Instant, Rate};
use serde::Deserialize;
use serde_json::Value as Json;
use std::fmt;

/// One operation and the events that must follow it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The operation of the host.
    pub operation: Operation,
    /// The events that the queue must cause, in order.
    pub events: Vec<Event>,
}

/// An operation of the host at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A packet arrives. Packets are numbered from 0 in this order.
    Enqueue {
        /// Time of the operation.
        at: Instant,
        /// Size in bytes.
        len: u32,
        /// Flow number.
        flow: u32,
        /// Codepoint.
        ecn: Ecn,
        /// Acknowledgement it carries, if it is a pure ACK.
        ack: Option<PureAck>,
    },
    /// The link asks for a packet.
    Dequeue {
        /// Time of the operation.
        at: Instant,
        /// Transmit queue that it asks, of a discipline that has several.
        queue: Option<u32>,
    },
    /// The algorithm's own timer fires; the algorithm must have requested exactly this time.
    Timer {
        /// Time of the operation.
        at: Instant,
    },
    /// The rate of the link changes.
    Rate {
        /// Time of the operation.
        at: Instant,
        /// The new rate; `None` if it becomes unknown.
        rate: Option<Rate>,
    },
}

/// An event: what happened to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of event.
    pub what: What,
    /// Number of the packet.
    pub packet: u64,
    /// Reason, where the source gives one.
    pub reason: Option<String>,
}

/// Kinds of [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The packet was dropped.
    Drop,
    /// CE was set.
    Mark,
    /// The packet was handed to the link.
    Depart,
}

impl Step {
    pub(crate) fn list(operations: &[Json]) -> Result<Vec<Self>, Fault> {
        let mut packets = 0;
        let steps = operations.iter().enumerate().map(|(index, json)| {
            let wrong = |fault| Fault::Operation { index, shown: format!(" ({json})"), fault: Box::new(fault) };
            Self::read(json, &mut packets).map_err(wrong)
        });
        steps.collect()
    }

    /// Reads an operation with its events. `packets` counts the packets offered so far.
    fn read(json: &Json, packets: &mut u64) -> Result<Self, Fault> {
        let mut fields = Fields::of(json, "an operation")?;
        let operation = match fields.word("name")? {
            "enqueue" => {
                *packets += 1;
                Operation::Enqueue {
                    at: fields.instant()?,
                    len: fields.number("length", u32::MAX)?,
                    flow: fields.number("flow", u32::MAX)?,
                    ecn: Ecn::from_bits(fields.number("codepoint", 3u8)?),
                    // The events come last in any case.
                    ack: if fields.rest() > 1 { Some(Ack::read(fields.next("acknowledgement")?)?) } else { None },
                }
            }
            "dequeue" => Operation::Dequeue {
                at: fields.instant()?,
                queue: if fields.rest() > 1 { Some(fields.number("queue", u32::MAX)?) } else { None },
            },
            "timer" => Operation::Timer { at: fields.instant()? },
            "rate" => Operation::Rate { at: fields.instant()?, rate: fields.optional("rate")?.map(Rate::bit_s) },
            other => return Err(Fault::not_a(other, "enqueue, dequeue, timer or rate")),
        };
        let events = Event::list(fields.next("events")?)?;
        fields.end()?;
        if let Some(event) = events.iter().find(|event| event.packet >= *packets) {
            return Err(Fault::Packet { packet: event.packet, why: "has not been offered" });
        }
        Ok(Self { operation, events })
    }
}

impl Operation {
    /// Time of the operation.
    #[must_use]
    pub const fn at(&self) -> Instant {
        match *self {
            Self::Enqueue { at, .. } | Self::Dequeue { at, .. } | Self::Timer { at } | Self::Rate { at, .. } => at,
        }
    }

    /// The operation as a line of the protocol: the fields of the file without the events.
    #[must_use]
    pub fn line(&self) -> String {
        let at = self.at().as_nanos();
        match self {
            Self::Enqueue { len, flow, ecn, ack: None, .. } => format!("[\"enqueue\",{at},{len},{flow},{}]", *ecn as u8),
            Self::Enqueue { len, flow, ecn, ack: Some(ack), .. } => {
                format!("[\"enqueue\",{at},{len},{flow},{},{}]", *ecn as u8, Ack::line(ack))
            }
            Self::Dequeue { queue: None, .. } => format!("[\"dequeue\",{at}]"),
            Self::Dequeue { queue: Some(queue), .. } => format!("[\"dequeue\",{at},{queue}]"),
            Self::Timer { .. } => format!("[\"timer\",{at}]"),
            Self::Rate { rate: Some(rate), .. } => format!("[\"rate\",{at},{}]", rate.as_bit_s()),
            Self::Rate { rate: None, .. } => format!("[\"rate\",{at},null]"),
        }
    }
}

/// An acknowledgement as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ack {
    number: u64,
    echoed: u64,
    echo: u8,
    sack: Vec<[u64; 2]>,
}

impl Ack {
    fn read(json: &Json) -> Result<PureAck, Fault> {
        let ack = Self::deserialize(json).map_err(|error| Fault::field("acknowledgement", error.to_string()))?;
        let mut sack = [SackRange::default(); 3];
        if ack.sack.len() > sack.len() {
            let why = format!("{} ranges in `sack`: allowed up to {}", ack.sack.len(), sack.len());
            return Err(Fault::field("acknowledgement", why));
        }
        if let Some([start, end]) = ack.sack.iter().find(|[start, end]| start >= end) {
            let why = format!("`sack` has a range from {start} to {end}: allowed ends beyond starts");
            return Err(Fault::field("acknowledgement", why));
        }
        for (range, &[start, end]) in sack.iter_mut().zip(&ack.sack) {
            *range = SackRange { start, end };
        }
        Ok(PureAck { number: ack.number, echoed: Instant::from_nanos(ack.echoed), echo: ack.echo, sack })
    }

    fn line(ack: &PureAck) -> String {
        let ranges = ack.sack.iter().filter(|range| range.start < range.end);
        let ranges: Vec<String> = ranges.map(|range| format!("[{},{}]", range.start, range.end)).collect();
        let PureAck { number, echoed, echo, .. } = ack;
        format!("{{\"number\":{number},\"echoed\":{},\"echo\":{echo},\"sack\":[{}]}}", echoed.as_nanos(), ranges.join(","))
    }
}

impl What {
    /// Name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Mark => "mark",
            Self::Depart => "depart",
        }
    }
}

impl Event {
    /// Reads a list of events from a file or from the answer of a program.
    ///
    /// # Errors
    /// Names the event at fault and what is allowed.
    pub fn list(json: &Json) -> Result<Vec<Self>, Fault> {
        let list = json.as_array().ok_or_else(|| Fault::not_a(json, "a list of events"))?;
        list.iter().map(Self::read).collect()
    }

    fn read(json: &Json) -> Result<Self, Fault> {
        let mut fields = Fields::of(json, "an event")?;
        let what = match fields.word("name")? {
            "drop" => What::Drop,
            "mark" => What::Mark,
            "depart" => What::Depart,
            other => return Err(Fault::not_a(other, "drop, mark or depart")),
        };
        let packet = fields.number("packet", u64::MAX)?;
        let reason = match fields.rest() {
            0 => None,
            _ => Some(fields.word("reason")?),
        };
        fields.end()?;
        if let Some(reason) = reason
            && !Reason::ALL.iter().any(|known| known.name() == reason)
        {
            let known = Reason::ALL.map(Reason::name).join(", ");
            return Err(Fault::not_a(reason, format!("a reason: allowed {known}")));
        }
        Ok(Self { what, packet, reason: reason.map(str::to_owned) })
    }

    /// Whether two events are equal, comparing reasons only where both sides give one.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        let reasons = match (&self.reason, &other.reason) {
            (Some(one), Some(two)) => one == two,
            _ => true,
        };
        self.what == other.what && self.packet == other.packet && reasons
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.what.name(), self.packet)?;
        match &self.reason {
            Some(reason) => write!(f, " ({reason})"),
            None => Ok(()),
        }
    }
}
