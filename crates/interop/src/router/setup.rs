//! The settings that a scenario asks of a router: a rate and a queue for each direction.

mod classes;

use crate::router::dialect::{Dialect, Phrase, Refusal, Wanted};
use goodqueue_aqm::spec::{KindAndParams, LinkFacts, ParamError, ParamValues, Value};
use goodqueue_aqm::{EcnPolicy, Limit, framing, sched};
use goodqueue_base::line::RateSpec;
use goodqueue_base::units::{Bytes, Cells, Framing, Rate};
use goodqueue_lab::scenario::plan::{Direction, Link, LinkDirection, Queue, Scenario};

/// Both directions of a line.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The name of the scenario, without control characters.
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
    /// Whether the scenario has the shaper, so that nothing is known of the line behind it.
    pub has_shaper: bool,
    /// Most bytes at once after a pause, where the scenario gives it.
    pub burst: Option<Bytes>,
    /// The queue, without a shaper around it.
    pub chosen: KindAndParams,
    /// Whether it marks.
    pub marks: bool,
    /// The queue's own limit, if the scenario gives it one: the buffer of a link is the modem's.
    pub limit: Option<Limit>,
    /// The queue's limit in the scenario.
    pub held: Limit,
    /// Largest IP packet.
    pub mtu: Bytes,
    /// The framing of each IP packet on the line; `None` where the scenario has nothing.
    pub framing: Option<Framing>,
    /// Remarks for the reader, in sentences.
    pub notes: Vec<String>,
}

/// Parameters of cake that are its shaper's, and its memory, which is its limit in targets.
const SHAPING: [&str; 6] = ["rate", "framing", "overhead", "mpu", "cells", "memlimit"];

/// The parameter of cake that looks up hosts behind the translation of addresses.
const NAT: &str = "nat";

/// The parameter of cake that counts dropped packets: those that arrive have crossed the line.
const INGRESS: &str = "ingress";

/// Most bytes of `overhead` and `mpu` that cake takes.
const CAKE_MAX: u64 = 256;

/// Framing in cake's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CakeFraming {
    /// Bytes for each IP packet.
    pub overhead: u64,
    /// Least size of a frame.
    pub mpu: Option<u64>,
    /// `atm` or `ptm`.
    pub cells: Option<&'static str>,
}

/// The rate to send at.
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
    /// The share that was asked for, in percent.
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
        let (mut down, mut up) = (side(Direction::Down, "queue")?, side(Direction::Up, "queue_up")?);
        // Where one direction alone is shaped, the plain queue of the other is the modem's.
        let is_shaped = |side: &Option<Side>| side.as_ref().is_some_and(|side| side.has_shaper);
        let is_plain = |side: &Side| side.chosen.kind.kind == sched::TAIL_DROP.kind && !side.has_shaper;
        if is_shaped(&down) {
            up = up.filter(|side| !is_plain(side));
        }
        if is_shaped(&up) {
            down = down.filter(|side| !is_plain(side));
        }
        if down.is_none() && up.is_none() {
            return Err(Refusal::plain(format!("link.{}: has no queue to set: give it a buffer", link.name)));
        }
        let name = scenario.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let setup = Self { name, down, up };
        setup.refuse_plain_queues()?;
        Ok(setup)
    }
}

impl Setup {
    /// Makes queues that share the line between hosts look behind the translation of addresses:
    /// without it, all hosts of a home are one. For scenarios that leave this open.
    pub fn look_behind_nat(&mut self) {
        for side in self.sides() {
            if side.turn_on(NAT) {
                side.notes.push("With `nat`, a router that translates addresses can tell the hosts behind it apart.".to_owned());
            }
        }
    }

    /// Notes where queues that share the line between hosts would take all of a home for one.
    pub fn mention_nat(&mut self) {
        for side in self.sides().filter(|side| side.leaves_open(NAT)) {
            side.notes.push("If this router translates addresses, --nat lets it tell the hosts behind it apart.".to_owned());
        }
    }

    fn sides(&mut self) -> impl Iterator<Item = &mut Side> {
        [&mut self.down, &mut self.up].into_iter().flatten()
    }

    /// Refuses to move a line's plain queue from the modem to the router, where packets would wait
    /// as long. A scenario with a shaper there has been given the router's queue.
    fn refuse_plain_queues(&self) -> Result<(), Refusal> {
        let plain: Vec<&Side> = [&self.down, &self.up]
            .into_iter()
            .flatten()
            .filter(|side| side.chosen.kind.kind == sched::TAIL_DROP.kind && !side.has_shaper)
            .collect();
        let Some(first) = plain.first() else { return Ok(()) };
        let settings: Vec<String> = plain.iter().map(|side| format!("--set {}=cake", side.place)).collect();
        let what = format!(
            "tail-drop on the router keeps packets waiting as the modem does: choose a queue with {}",
            settings.join(" ")
        );
        Err(Refusal::plain(what).at(&first.place))
    }
}

/// The link that a router stands at: the first with a shaper, else the first with queue management,
/// else the first.
fn usual_link(scenario: &Scenario) -> &Link {
    let has = |wanted: fn(&Queue) -> bool| {
        let directions = |link: &&Link| [&link.down, &link.up].into_iter().any(|way| way.queue.as_ref().is_some_and(wanted));
        scenario.links.iter().find(directions)
    };
    let shaper = has(|queue| queue.chosen.kind.kind == "shaper" || !queue.chosen.classes.is_empty());
    shaper.or_else(|| has(|queue| queue.chosen.kind.kind != "tail-drop")).unwrap_or_else(|| scenario.main_link())
}

fn side(link: &Link, heading: Direction, key: &str, shaping: Shaping) -> Result<Option<Side>, Refusal> {
    let direction = link.direction(heading);
    let Some(queue) = &direction.queue else { return Ok(None) };
    let place = format!("link.{}.{key}", link.name);
    let line = direction.nominal_rate();
    let mut side = Side {
        place,
        line,
        rate: None,
        has_shaper: false,
        burst: None,
        chosen: queue.chosen.clone(),
        marks: queue.ecn == EcnPolicy::Mark,
        limit: queue.limit_is_own.then_some(queue.limit),
        held: queue.limit,
        mtu: link.mtu,
        framing: Some(link.framing).filter(|framing| *framing != Framing::NONE),
        notes: Vec::new(),
    };
    let own = side.take_shaper(link, direction)?;
    if !side.chosen.classes.is_empty() {
        side.refuse_other_shapers(direction, own, shaping)?;
    }
    side.shape(direction, own, shaping);
    Ok(Some(side))
}

impl Side {
    /// Takes a shaper off the queue, a token bucket's or cake's own; gives its rate.
    fn take_shaper(&mut self, link: &Link, direction: &LinkDirection) -> Result<Option<Rate>, Refusal> {
        let facts = LinkFacts {
            rate: Some(self.line),
            delay: direction.delay,
            mtu: link.mtu,
            overhead: link.overhead(),
            limit: Limit::NONE,
        };
        let mut rate = None;
        if self.chosen.kind.kind == "shaper" {
            let shaper = self.chosen.clone();
            let given = self.given(&shaper)?;
            for param in ["peak", "mtu"] {
                if given.is_given(param) {
                    let what = format!("`{param}` of shaper cannot be exported: export has shapers of one rate");
                    return Err(Refusal::plain(what).instead("shaper with rate and burst").at(&self.place));
                }
            }
            self.burst =
                given.size("burst").and_then(|burst| burst.bytes(self.mtu, Some(self.line))).filter(|burst| !burst.is_zero());
            self.take_framing(&given, &facts)?;
            rate = Some(given.rate("rate").unwrap_or(self.line));
            self.chosen = match shaper.of.clone() {
                Some(of) => *of,
                None => KindAndParams::new(sched::TAIL_DROP, Vec::new()),
            };
        }
        if !self.chosen.classes.is_empty() {
            let htb = self.chosen.clone();
            self.take_framing(&self.given(&htb)?, &facts)?;
            self.chosen.params.retain(|(name, _)| !SHAPING.contains(name));
        }
        if self.chosen.kind.kind == "cake" {
            let cake = self.chosen.clone();
            let given = self.given(&cake)?;
            if rate.is_some() && given.is_given("rate") {
                let what = "`rate` of cake within a shaper cannot be exported: export has one shaper".to_owned();
                return Err(Refusal::plain(what).instead("cake with rate").at(&self.place));
            }
            rate = rate.or(given.rate("rate"));
            self.take_framing(&given, &facts)?;
            let memory = given.bytes("memlimit", self.mtu, Some(self.line)).map_err(|error| self.wrong(&error))?;
            if let Some(memory) = memory {
                self.limit_memory(memory);
            }
            self.chosen.params.retain(|(name, _)| !SHAPING.contains(name));
        }
        Ok(rate)
    }

    fn given<'a>(&self, chosen: &'a KindAndParams) -> Result<ParamValues<'a>, Refusal> {
        ParamValues::new(&chosen.kind.base, &chosen.params).map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &ParamError) -> Refusal {
        Refusal::plain(error.to_string()).at(&self.place)
    }

    /// Takes the framing that a shaper counts, where the shaper is given one of its own.
    fn take_framing(&mut self, given: &ParamValues<'_>, facts: &LinkFacts) -> Result<(), Refusal> {
        if !["framing", "overhead", "mpu", "cells"].into_iter().any(|param| given.is_given(param)) {
            return Ok(());
        }
        let own = framing::build(given, facts).map_err(|error| self.wrong(&error))?;
        self.framing = Some(own).filter(|own| *own != Framing::NONE);
        Ok(())
    }

    /// Bounds the limit by cake's memory.
    fn limit_memory(&mut self, memory: Bytes) {
        let own = self.limit.map_or(Bytes::MAX, |limit| {
            let by_packets = Bytes::new(limit.packets.get().saturating_mul(self.mtu.get()));
            by_packets.min(limit.bytes)
        });
        self.limit = Some(Limit { packets: Limit::NONE.packets, bytes: own.min(memory) });
    }

    /// Whether the queue, or that of a leaf, has a switch that the scenario does not set.
    fn leaves_open(&self, switch: &str) -> bool {
        let of_leaves = self.chosen.classes.iter().filter_map(|class| class.of.as_ref());
        std::iter::once(&self.chosen).chain(of_leaves).any(|queue| is_open(queue, switch))
    }

    /// Turns a switch of the queue or of those of its leaves on, where the scenario leaves it open.
    fn turn_on(&mut self, switch: &'static str) -> bool {
        let is_left_open = self.leaves_open(switch);
        let turn_on = |queue: &mut KindAndParams| {
            if is_open(queue, switch) {
                queue.params.push((switch, Value::Switch(true)));
            }
        };
        turn_on(&mut self.chosen);
        self.chosen.classes.iter_mut().filter_map(|class| class.of.as_mut()).for_each(turn_on);
        is_left_open
    }

    /// Returns the side as set up at an interface where packets arrive from the line.
    pub(crate) fn arriving(&self) -> Self {
        let mut side = self.clone();
        side.turn_on(INGRESS);
        side
    }

    fn shape(&mut self, direction: &LinkDirection, own: Option<Rate>, shaping: Shaping) {
        let has_classes = !self.chosen.classes.is_empty();
        let is_shaper = own.is_some() || !direction.burst.is_zero() || has_classes;
        self.has_shaper = is_shaper;
        if !direction.burst.is_zero() {
            self.burst = Some(direction.burst);
        }
        if !matches!(direction.rate, RateSpec::Constant(_)) {
            self.notes.push(format!("The line's rate varies; this is for {}, its first or mean.", self.line));
        }
        self.rate = match shaping {
            Shaping::None => None,
            Shaping::Percent(_) if has_classes => None,
            Shaping::Percent(_) if is_shaper => own.or(Some(self.line)),
            Shaping::Percent(percent) => {
                let share = (self.line.as_bit_s() as f64 * percent / 100.0).round() as u64;
                // Whole kilobits, as configurations have them, where that is no difference.
                let whole = if share > 1_000_000 && share != self.line.as_bit_s() { share / 1_000 * 1_000 } else { share };
                Some(Rate::bit_s(whole.max(1)))
            }
        };
    }

    /// Returns the framing that the shaper counts besides each IP packet, in the words that cake
    /// has for it in every target: overhead, least size and cells, where they are not nothing.
    ///
    /// # Errors
    /// When they are out of the range that cake's options have (`man tc-cake`).
    pub(crate) fn cake_framing(&self) -> Result<Option<CakeFraming>, Refusal> {
        let Some(framing) = self.framing else { return Ok(None) };
        for (what, bytes) in [("overhead", framing.overhead), ("mpu", framing.mpu)] {
            if bytes.get() > CAKE_MAX {
                let what = format!("framing with {what} {bytes} cannot be expressed for cake");
                return Err(Refusal::plain(what).instead(format!("{CAKE_MAX} B")).at(&self.place));
            }
        }
        let cells = match framing.cells {
            Cells::None => None,
            Cells::Atm => Some("atm"),
            Cells::Ptm => Some("ptm"),
        };
        Ok(Some(CakeFraming { overhead: framing.overhead.get(), mpu: Some(framing.mpu.get()).filter(|mpu| *mpu > 0), cells }))
    }

    /// The queue in the words of a target.
    ///
    /// # Errors
    /// As [`Dialect::say`], with the place in the scenario, and where the queue has classes.
    pub fn said_in(&self, dialect: &Dialect) -> Result<Phrase, Refusal> {
        self.refuse_classes(dialect.title)?;
        let rate = self.rate.unwrap_or(self.line);
        let wanted = Wanted { chosen: &self.chosen, marks: self.marks, limit: self.limit, held: self.held, mtu: self.mtu, rate };
        let mut phrase = dialect.say(&wanted).map_err(|refusal| refusal.at(&self.place))?;
        let keeps_bucket = matches!(dialect.title, "tc" | "networkd") && self.chosen.kind.kind != "cake";
        phrase.notes.extend(self.lost_bucket(phrase.word).filter(|_| !keeps_bucket));
        Ok(phrase)
    }

    /// A remark on a bucket of more than a packet, where the shaper of a target has one of its own.
    pub(crate) fn lost_bucket(&self, of: &str) -> Option<String> {
        let packet = self.framing.map_or(self.mtu.get() + 100, |framing| framing.wire(self.mtu).get());
        let burst = self.burst.filter(|burst| burst.get() > packet && self.rate.is_some())?;
        Some(format!("`burst` of {burst} is not kept: the shaper of {of} has a bucket of its own."))
    }

    /// The line's and the shaper's rate in words.
    #[must_use]
    pub fn rates(&self) -> String {
        match self.rate {
            None if !self.chosen.classes.is_empty() => {
                format!("{} line, shaped by {} classes", self.line, self.chosen.classes.len())
            }
            None => format!("{} line, not shaped", self.line),
            Some(rate) if rate == self.line || self.has_shaper => format!("{rate} shaper"),
            Some(rate) => {
                let percent = 100.0 * rate.as_bit_s() as f64 / self.line.as_bit_s().max(1) as f64;
                format!("{} line, shaped to {rate} ({:.0} %)", self.line, percent)
            }
        }
    }
}

/// Whether a queue has a switch that is not set.
fn is_open(queue: &KindAndParams, switch: &str) -> bool {
    queue.kind.param(switch).is_some() && queue.params.iter().all(|(name, _)| *name != switch)
}
