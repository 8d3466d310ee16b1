//! One vector: the description of a queue and a list of operations, each with the events that must
//! follow.

use crate::fields::{self, Fields};
use crate::packed::Packed;
use goodqueue_aqm::spec::{Chosen, KindSpec, LinkFacts, Value};
use goodqueue_aqm::{PureAck, Reason, SackRange};
use goodqueue_units::{Bytes, Duration, Ecn, Instant, Packets, Rate};
use serde::Deserialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;

/// Version of the file format that this crate reads.
pub const VERSION: u32 = 1;

/// A vector that cannot be used, with the place and the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct VectorError {
    /// Name of the vector.
    pub name: String,
    /// Field, value and allowed values.
    pub message: String,
}

/// A queue and the events that its operations must cause.
#[derive(Clone, Debug)]
pub struct Vector {
    /// `FOLDER/FILE` without the ending.
    pub name: String,
    /// Source of the verdicts.
    pub origin: String,
    /// Kind of the queue.
    pub kind: &'static KindSpec,
    /// Parameters of the queue.
    pub params: Vec<(&'static str, Value)>,
    /// The algorithm within it, for a kind that holds another.
    pub inner: Option<Chosen>,
    /// Whether ECN-capable packets are marked.
    pub ecn: bool,
    /// Weights of flows 0, 1 and so on, for kinds that weigh flows; other flows have weight 1.
    pub weights: Vec<f64>,
    /// The link that the queue feeds.
    pub link: Link,
    /// Source of its random numbers.
    pub generator: Generator,
    /// The seed of that generator.
    pub seed: u64,
    /// The numbers drawn, in order.
    pub random: Vec<u64>,
    /// The operations in order.
    pub steps: Vec<Step>,
    /// The fields of the file without the operations, as sent to another program.
    pub head: serde_json::Map<String, Json>,
}

/// Generators of random numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Generator {
    /// The generator of goodqueue, whose state is filled by splitmix64.
    #[default]
    #[serde(rename = "xoshiro256++")]
    Xoshiro,
    /// splitmix64 with the seed as its initial state.
    #[serde(rename = "splitmix64")]
    SplitMix,
    /// A foreign generator: only its output is known.
    #[serde(rename = "listed")]
    Listed,
}

/// Facts about the link in the units of the file: bit/s, ns, bytes, packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    #[serde(deserialize_with = "Option::deserialize")]
    rate: Option<u64>,
    delay: u64,
    mtu: u64,
    overhead: u64,
    limit_packets: u64,
    limit_bytes: u64,
}

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    vector: u32,
    origin: String,
    kind: String,
    params: BTreeMap<String, Json>,
    of: Option<Inner>,
    ecn: bool,
    #[serde(default)]
    weights: Vec<f64>,
    link: Link,
    #[serde(default)]
    generator: Generator,
    seed: u64,
    random: Vec<String>,
    operations: Option<Vec<Json>>,
    packed: Option<Packed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {
    kind: String,
    params: BTreeMap<String, Json>,
    of: Option<Box<Inner>>,
}

impl Inner {
    fn chosen(&self) -> Result<Chosen, String> {
        let within = |error| format!("of.{error}");
        let (kind, params) = fields::queue(&self.kind, &self.params).map_err(within)?;
        let of = self.of.as_ref().map(|of| of.chosen()).transpose().map_err(within)?;
        Ok(Chosen { kind, params, of: of.map(Box::new) })
    }
}

impl Vector {
    /// Parses the contents of a file called `name`.
    ///
    /// # Errors
    /// Names the field or operation at fault and what is allowed.
    pub fn parse(name: &str, text: &str) -> Result<Self, VectorError> {
        let fault = |message: String| VectorError { name: name.to_owned(), message };
        let mut head: serde_json::Map<String, Json> = serde_json::from_str(text).map_err(|error| fault(error.to_string()))?;
        let version = head.get("vector").and_then(Json::as_u64);
        if version != Some(u64::from(VERSION)) {
            let found = head.get("vector").map_or("nothing".to_owned(), Json::to_string);
            return Err(fault(format!("vector: is {found}, but this program reads version {VERSION}")));
        }
        let file: File = serde_json::from_str(text).map_err(|error| fault(error.to_string()))?;
        head.remove("operations");
        head.remove("packed");
        Self::typed(name, file, head).map_err(fault)
    }

    fn typed(name: &str, file: File, head: serde_json::Map<String, Json>) -> Result<Self, String> {
        debug_assert_eq!(file.vector, VERSION);
        if file.origin.trim().is_empty() {
            return Err("origin: is empty; a vector says where it comes from".to_owned());
        }
        let (kind, params) = fields::queue(&file.kind, &file.params)?;
        let inner = file.of.map(|of| of.chosen()).transpose()?;
        if let Some(weight) = file.weights.iter().find(|weight| !(**weight > 0.0 && weight.is_finite())) {
            return Err(format!("weights: {weight} is out of range: allowed above 0"));
        }
        let random = file.random.iter().map(|text| fields::hexadecimal(text)).collect::<Result<_, _>>()?;
        let steps = match (&file.operations, &file.packed) {
            (Some(operations), None) => Step::list(operations)?,
            (None, Some(packed)) => packed.steps()?,
            _ => return Err("needs either `operations` or `packed`".to_owned()),
        };
        if let Some(index) = steps.windows(2).position(|pair| pair[1].operation.at() < pair[0].operation.at()) {
            return Err(format!("operation {}: its time lies before that of the one before", index + 1));
        }
        Ok(Self {
            name: name.to_owned(),
            origin: file.origin,
            kind,
            params,
            inner,
            ecn: file.ecn,
            weights: file.weights,
            link: file.link,
            generator: file.generator,
            seed: file.seed,
            random,
            steps,
            head,
        })
    }
}

impl Link {
    /// The facts in the types of the library.
    #[must_use]
    pub const fn facts(&self) -> LinkFacts {
        LinkFacts {
            rate: match self.rate {
                Some(rate) => Some(Rate::bit_s(rate)),
                None => None,
            },
            delay: Duration::ns(self.delay),
            mtu: Bytes::new(self.mtu),
            overhead: Bytes::new(self.overhead),
            limit: goodqueue_aqm::Limit { packets: Packets::new(self.limit_packets), bytes: Bytes::new(self.limit_bytes) },
        }
    }
}

impl Step {
    fn list(operations: &[Json]) -> Result<Vec<Self>, String> {
        let mut packets = 0;
        let steps = operations
            .iter()
            .enumerate()
            .map(|(index, json)| Self::read(json, &mut packets).map_err(|error| format!("operation {index} ({json}): {error}")));
        steps.collect()
    }

    /// Reads an operation with its events. `packets` counts the packets offered so far.
    fn read(json: &Json, packets: &mut u64) -> Result<Self, String> {
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
            "dequeue" => Operation::Dequeue { at: fields.instant()? },
            "timer" => Operation::Timer { at: fields.instant()? },
            "rate" => Operation::Rate { at: fields.instant()?, rate: fields.optional("rate")?.map(Rate::bit_s) },
            other => return Err(format!("`{other}` is not enqueue, dequeue, timer or rate")),
        };
        let events = Event::list(fields.next("events")?)?;
        fields.end()?;
        if let Some(event) = events.iter().find(|event| event.packet >= *packets) {
            return Err(format!("packet {} has not been offered", event.packet));
        }
        Ok(Self { operation, events })
    }
}

impl Operation {
    /// Time of the operation.
    #[must_use]
    pub const fn at(&self) -> Instant {
        match *self {
            Self::Enqueue { at, .. } | Self::Dequeue { at } | Self::Timer { at } | Self::Rate { at, .. } => at,
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
            Self::Dequeue { .. } => format!("[\"dequeue\",{at}]"),
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
    fn read(json: &Json) -> Result<PureAck, String> {
        let ack = Self::deserialize(json).map_err(|error| format!("acknowledgement: {error}"))?;
        let mut sack = [SackRange::default(); 3];
        if ack.sack.len() > sack.len() {
            return Err(format!("acknowledgement: {} ranges in `sack`: allowed up to {}", ack.sack.len(), sack.len()));
        }
        if let Some([start, end]) = ack.sack.iter().find(|[start, end]| start >= end) {
            return Err(format!("acknowledgement: `sack` has a range from {start} to {end}: allowed ends beyond starts"));
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
    pub fn list(json: &Json) -> Result<Vec<Self>, String> {
        let list = json.as_array().ok_or_else(|| format!("`{json}` is not a list of events"))?;
        list.iter().map(Self::read).collect()
    }

    fn read(json: &Json) -> Result<Self, String> {
        let mut fields = Fields::of(json, "an event")?;
        let what = match fields.word("name")? {
            "drop" => What::Drop,
            "mark" => What::Mark,
            "depart" => What::Depart,
            other => return Err(format!("`{other}` is not drop, mark or depart")),
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
            return Err(format!("`{reason}` is not a reason: allowed {known}"));
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
