//! What a scenario asks of a router: a rate and a queue for each direction.

use crate::dialect::{Refusal, Wanted};
use goodqueue_aqm::spec::{Chosen, Given};
use goodqueue_aqm::{EcnPolicy, Limit};
use goodqueue_lab::plan::{Direction, Heading, Link, Queue, Scenario};
use goodqueue_line::RateSpec;
use goodqueue_units::{Bytes, Rate};

/// Both directions of a line.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What the scenario is called, without control characters.
    pub name: String,
    /// The direction that the link is described in.
    pub down: Option<Side>,
    /// The return direction.
    pub up: Option<Side>,
}

/// One direction of a line.
#[derive(Clone, Debug)]
pub struct Side {
    /// The place of its queue in the scenario.
    pub place: String,
    /// The rate in the scenario, framing included.
    pub line: Rate,
    /// The rate to send at; `None`: the interface's own.
    pub rate: Option<Rate>,
    /// Most bytes at once after a pause, where the scenario says so.
    pub burst: Option<Bytes>,
    /// The queue, without a shaper around it.
    pub chosen: Chosen,
    /// Whether it marks.
    pub marks: bool,
    /// What it may hold.
    pub limit: Limit,
    /// Largest IP packet.
    pub mtu: Bytes,
    /// Bytes of framing that each IP packet has on the line; `None` where the scenario has none.
    pub overhead: Option<u64>,
    /// What the reader should know, in sentences.
    pub notes: Vec<String>,
}

/// How fast to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shaping {
    /// At this share of the scenario's rate, in per cent. A link that is a shaper in the scenario
    /// keeps its rate.
    Percent(f64),
    /// As fast as the interface.
    None,
}

/// A share of a rate that no shaper can have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{percent} is out of range: allowed above 0 to 100")]
pub struct NoShare {
    /// What was asked for.
    percent: f64,
}

impl Shaping {
    /// The margin when none is asked for. Packets wait where the line is slowest, so a router must
    /// be a little slower than the modem. 95 % of the measured rate is the usual advice for lines
    /// of constant rate.
    pub const USUAL_PERCENT: f64 = 95.0;

    /// At this share of the scenario's rate.
    ///
    /// # Errors
    /// When it is not above 0 and at most 100.
    pub fn percent(percent: f64) -> Result<Self, NoShare> {
        // NaN is in no range.
        if percent > 0.0 && percent <= 100.0 {
            return Ok(Self::Percent(percent));
        }
        Err(NoShare { percent })
    }
}

impl Setup {
    /// Reads both directions of a link.
    ///
    /// # Errors
    /// When the scenario has no link of that name, or no queue to set.
    pub fn new(scenario: &Scenario, link: Option<&str>, shaping: Shaping) -> Result<Self, Refusal> {
        let link = match link {
            None => usual_link(scenario),
            Some(name) => scenario.links.iter().find(|link| link.name == name).ok_or_else(|| {
                let names: Vec<&str> = scenario.links.iter().map(|link| link.name.as_str()).collect();
                Refusal::plain(format!("`{name}` is no link of the scenario: allowed {}", names.join(", ")))
            })?,
        };
        let side = |heading, key| side(link, heading, key, shaping);
        let (down, up) = (side(Heading::Down, "queue")?, side(Heading::Up, "queue_up")?);
        if down.is_none() && up.is_none() {
            return Err(Refusal::plain(format!("link.{}: has no queue to set: give it a buffer", link.name)));
        }
        let name = scenario.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Ok(Self { name, down, up })
    }
}

/// The link that a router stands at: the first with a shaper, else the first with queue management,
/// else the first.
fn usual_link(scenario: &Scenario) -> &Link {
    let has = |wanted: fn(&Queue) -> bool| {
        let directions = |link: &&Link| [&link.down, &link.up].into_iter().any(|way| way.queue.as_ref().is_some_and(wanted));
        scenario.links.iter().find(directions)
    };
    let shaper = has(|queue| queue.kind.kind == "shaper");
    shaper.or_else(|| has(|queue| queue.kind.kind != "tail-drop")).unwrap_or_else(|| scenario.main_link())
}

fn side(link: &Link, heading: Heading, key: &str, shaping: Shaping) -> Result<Option<Side>, Refusal> {
    let direction = link.direction(heading);
    let Some(queue) = &direction.queue else { return Ok(None) };
    let place = format!("link.{}.{key}", link.name);
    let line = direction.nominal_rate();
    if !link.framing.mpu.is_zero() || link.framing.cells != goodqueue_units::Cells::None {
        return Err(
            Refusal::plain("`mpu` and `cells` of the link cannot be said: export has links with a header".to_owned()).at(&place)
        );
    }
    let mut side = Side {
        place,
        line,
        rate: None,
        burst: None,
        chosen: Chosen { kind: queue.kind, params: queue.params.clone(), of: queue.of.clone().map(Box::new) },
        marks: queue.ecn == EcnPolicy::Mark,
        limit: queue.limit,
        mtu: link.mtu,
        overhead: Some(link.overhead().get()).filter(|overhead| *overhead > 0),
        notes: Vec::new(),
    };
    let own = side.take_shaper(queue)?;
    side.shape(direction, own, shaping);
    Ok(Some(side))
}

impl Side {
    /// Takes a shaper off the queue; gives its rate.
    fn take_shaper(&mut self, queue: &Queue) -> Result<Option<Rate>, Refusal> {
        if queue.kind.kind != "shaper" {
            return Ok(None);
        }
        let given = Given::new(&queue.kind.base, &queue.params).map_err(|error| Refusal::plain(error.to_string()))?;
        for param in ["peak", "mtu", "framing", "overhead", "mpu", "cells"] {
            if given.is_given(param) {
                let what = format!("`{param}` of shaper cannot be said: export has shapers of one rate");
                return Err(
                    Refusal { nearest: Some("shaper with rate and burst".to_owned()), ..Refusal::plain(what) }.at(&self.place)
                );
            }
        }
        self.burst =
            given.size("burst").and_then(|burst| burst.bytes(self.mtu, Some(self.line))).filter(|burst| !burst.is_zero());
        self.chosen = match queue.of.clone() {
            Some(of) => of,
            None => Chosen::new(goodqueue_aqm::sched::TAIL_DROP, Vec::new()),
        };
        Ok(Some(given.rate("rate").unwrap_or(self.line)))
    }

    fn shape(&mut self, direction: &Direction, own: Option<Rate>, shaping: Shaping) {
        let is_shaper = own.is_some() || !direction.burst.is_zero();
        if !direction.burst.is_zero() {
            self.burst = Some(direction.burst);
        }
        if !matches!(direction.rate, RateSpec::Constant(_)) {
            self.notes.push(format!("The line's rate varies; this is for {}, its first or mean.", self.line));
        }
        self.rate = match shaping {
            Shaping::None => None,
            Shaping::Percent(_) if is_shaper => own.or(Some(self.line)),
            Shaping::Percent(percent) => {
                let share = (self.line.as_bit_s() as f64 * percent / 100.0).round() as u64;
                // Whole kilobits, as configurations have them, where that is no difference.
                let whole = if share > 1_000_000 && share != self.line.as_bit_s() { share / 1_000 * 1_000 } else { share };
                Some(Rate::bit_s(whole.max(1)))
            }
        };
    }

    /// The queue and what its numbers refer to, for a dialect.
    #[must_use]
    pub fn wanted(&self) -> Wanted<'_> {
        let rate = self.rate.unwrap_or(self.line);
        Wanted { chosen: &self.chosen, marks: self.marks, limit: self.limit, mtu: self.mtu, rate }
    }

    /// The line's and the shaper's rate in words.
    #[must_use]
    pub fn rates(&self) -> String {
        match self.rate {
            None => format!("{} line, not shaped", self.line),
            Some(rate) if rate == self.line => format!("{} shaper", self.line),
            Some(rate) => {
                let percent = 100.0 * rate.as_bit_s() as f64 / self.line.as_bit_s().max(1) as f64;
                format!("{} line, shaped to {rate} ({:.0} %)", self.line, percent)
            }
        }
    }
}
