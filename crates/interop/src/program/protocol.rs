//! The lines that pass between a queue and its program; `docs/conformance.md` describes them.

use goodqueue_aqm::Reason;
use goodqueue_base::units::{Ecn, Instant, Rate};
use serde_json::Value as Json;
use std::time::Duration;

/// Version of the protocol.
pub(super) const VERSION: u32 = 1;

/// A call of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    /// A packet arrives. Packets are numbered from 0 in this order.
    Enqueue { at: Instant, len: u32, flow: u32, ecn: Ecn },
    /// The link asks for a packet.
    Dequeue { at: Instant },
    /// The timer fires that the program asked for.
    Timer { at: Instant },
    /// The rate of the link changes; `None` if it becomes unknown.
    Rate { at: Instant, rate: Option<Rate> },
}

impl Operation {
    pub(super) const fn at(self) -> Instant {
        match self {
            Self::Enqueue { at, .. } | Self::Dequeue { at } | Self::Timer { at } | Self::Rate { at, .. } => at,
        }
    }

    pub(super) fn line(self) -> String {
        let at = self.at().as_nanos();
        match self {
            Self::Enqueue { len, flow, ecn, .. } => format!("[\"enqueue\",{at},{len},{flow},{}]", ecn as u8),
            Self::Dequeue { .. } => format!("[\"dequeue\",{at}]"),
            Self::Timer { .. } => format!("[\"timer\",{at}]"),
            Self::Rate { rate: Some(rate), .. } => format!("[\"rate\",{at},{}]", rate.as_bit_s()),
            Self::Rate { rate: None, .. } => format!("[\"rate\",{at},null]"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventKind {
    Drop,
    Mark,
    Depart,
}

/// An event of one packet, with the reason that the program gives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    pub(super) packet: u64,
    pub(super) reason: Option<Reason>,
}

/// The fault of an answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AnswerFault {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("a timer needs a time that is not over")]
    Timer,
    #[error("expected a list of events")]
    NoList,
    #[error("`{0}` is no event: expected [\"drop\", \"mark\" or \"depart\", PACKET] and perhaps a reason")]
    NoEvent(Json),
    #[error("`{0}` is not a reason: allowed {known}", known = Reason::ALL.map(Reason::name).join(", "))]
    Reason(String),
}

/// Reads the answer to an operation at `now`: its events, and the time of the timer it asks for.
pub(super) fn read(answer: &str, now: Instant) -> Result<(Vec<Event>, Option<Instant>), AnswerFault> {
    let json: Json = serde_json::from_str(answer)?;
    let (mut events, mut timer) = (Vec::new(), None);
    for event in json.as_array().ok_or(AnswerFault::NoList)? {
        let fields = event.as_array().map_or(&[][..], Vec::as_slice);
        if fields.first().is_some_and(|word| word == "timer") {
            let at = fields.get(1).and_then(Json::as_u64).filter(|at| *at >= now.as_nanos());
            timer = Some(Instant::from_nanos(at.ok_or(AnswerFault::Timer)?));
        } else {
            events.push(read_event(fields)?.ok_or_else(|| AnswerFault::NoEvent(event.clone()))?);
        }
    }
    Ok((events, timer))
}

/// Reads the fields of an event; `None` where they are none.
fn read_event(fields: &[Json]) -> Result<Option<Event>, AnswerFault> {
    let [kind, packet, rest @ ..] = fields else { return Ok(None) };
    let kind = match kind.as_str() {
        Some("drop") => EventKind::Drop,
        Some("mark") => EventKind::Mark,
        Some("depart") => EventKind::Depart,
        _ => return Ok(None),
    };
    let Some(packet) = packet.as_u64() else { return Ok(None) };
    let reason = match rest {
        [] => None,
        [Json::String(name)] => {
            let known = Reason::ALL.into_iter().find(|known| known.name() == name);
            Some(known.ok_or_else(|| AnswerFault::Reason(name.clone()))?)
        }
        _ => return Ok(None),
    };
    Ok(Some(Event { kind, packet, reason }))
}

/// The reason for which a program gave no answer that can be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Silence {
    #[error("its answer cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("no answer within {0:?}")]
    Late(Duration),
    #[error("it ended ({0})")]
    Ended(std::process::ExitStatus),
    #[error("{0}")]
    Lost(std::io::Error),
    #[error("its answer to the head is {0}: expected {{\"ready\":true}} or {{\"skip\":\"why\"}}")]
    NotReady(String),
}

/// Reads the answer to the head: the reason for which the program refuses, if it does.
pub(super) fn readiness(line: &str) -> Result<Option<String>, Silence> {
    let json: Json = serde_json::from_str(line).unwrap_or_default();
    match (&json["ready"], &json["skip"]) {
        (Json::Bool(true), Json::Null) => Ok(None),
        (Json::Null, Json::String(why)) => Ok(Some(why.clone())),
        _ => Err(Silence::NotReady(excerpt(line))),
    }
}

/// The beginning of a line that the program wrote.
pub(super) fn excerpt(line: &str) -> String {
    const MAX: usize = 80;
    let short: String = line.chars().filter(|c| !c.is_control()).take(MAX).collect();
    if short.len() < line.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
