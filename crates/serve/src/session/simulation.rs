//! A session: up to four worlds advanced side by side, what they show, and orders to them.
//!
//! Wall time enters here and only here: it says how far to go, never what happens. The worlds are
//! advanced to the same simulated times, and changes come between two frames, so that all variants
//! change at the same instant.

mod calls;
mod orders;
mod packets;
mod rates;
pub(super) mod result;
mod variant;
mod verdict;

use crate::session::error::ApiError;
use crate::session::limits::Limits;
use crate::session::memory::Share;
use crate::session::scenario::{Scenario, queue_at, state_bytes};
use crate::session::state::StateEvent;
use goodqueue_base::units::{Duration, Instant};
use goodqueue_lab::scenario::plan::{Point, Queue};
pub use orders::speed;
pub use result::SessionResult;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration as Wall;
use variant::{MAX_SHOWN, Pace, Variant};

/// Orders of a page to a session.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Control {
    /// Stand still.
    Pause,
    /// Go on.
    Play,
    /// End.
    Stop,
    /// Go at another speed.
    Speed {
        /// Simulated seconds per second; none: as fast as it goes.
        value: Option<f64>,
    },
    /// Pause, and go on for so long.
    Step {
        /// Simulated.
        seconds: f64,
    },
    /// Change the rate of a link.
    Rate {
        /// The link whose queues are compared, unless given.
        link: Option<String>,
        /// With its unit.
        value: String,
    },
    /// Start more flows.
    AddFlows {
        /// The group whose flows they are like.
        group: String,
        /// Number of flows to start.
        count: u32,
    },
    /// Change a parameter of a queue.
    Set {
        /// The number of the variant; all that have the parameter, unless given.
        variant: Option<usize>,
        /// The link whose queues are compared, and no other.
        link: Option<String>,
        /// The parameter's name, with dots where a queue is within another.
        key: String,
        /// As in a scenario.
        value: Value,
    },
}

/// Environment of a session: clock, readers, turns.
pub trait Environment {
    /// Wall time since any fixed instant.
    fn now(&self) -> Wall;

    /// Tells all who watch of an event.
    fn publish(&self, event: &str, data: &Value);

    /// Returns the number of those who watch; a page has its session to itself.
    fn readers(&self) -> usize {
        1
    }

    /// Does `work` when it is this session's turn to compute.
    fn turn<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    /// Whether the session is to stop, whatever it is doing.
    fn told_to_stop(&self) -> bool {
        false
    }

    /// Takes note of settings that were changed.
    fn changed(&self, _scenario: &Scenario) {}
}

/// Step that follows a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another frame, after so much wall time or after an order.
    Wait(Wall),
    /// The end: [`Session::conclude`].
    Over,
    /// Nothing: nobody watches any more.
    Abandoned,
}

const FRAME: Wall = Wall::from_nanos(1_000_000_000 / 60);
/// Part of a frame's time that computing may take when it goes as fast as it can.
const BUSY: Wall = Wall::from_millis(12);
/// Frames at once when it goes as fast as it can: a reader that draws 60 a second must not fall
/// behind.
const MAX_AT_ONCE: usize = 4;
/// Frames that a whole run is shown in at least, however fast it goes.
const MIN_FRAMES: f64 = 300.0;
/// A simulation that falls behind the clock does not catch up with more than this.
const MAX_BEHIND: Wall = Wall::from_millis(250);
/// A run waits so long for its first reader, who would otherwise miss its beginning.
const MAX_READER_WAIT: Wall = Wall::from_secs(1);
/// From this speed down packets are shown one by one.
const PACKET_VIEW: f64 = 0.05;
/// Largest number of drops and marks of a variant that are shown in a frame with too many packets.
const MAX_SIGNALS: usize = 100;
/// Least simulated time between two looks at the clock.
const MIN_STRIDE_S: f64 = 1e-6;
/// Between two looks of a paused session at whether anybody watches.
const POLL_INTERVAL: Wall = Wall::from_millis(200);

/// Worlds side by side, watched and changed while they run.
pub struct Session<S> {
    environment: S,
    scenario: Scenario,
    limits: Limits,
    variants: Vec<Variant>,
    end: Instant,
    now: Instant,
    /// Time of the last frame.
    shown_until: Instant,
    paused: bool,
    speed: Option<f64>,
    changed: bool,
    stopped: bool,
    /// Why it was stopped, where nobody asked for that.
    why: String,
    memory: Share,
    /// Time spent on computing since the stride was last adapted.
    computed: Wall,
    /// Simulated time a frame when it goes as fast as it can.
    stride: Duration,
    /// The wall clock up to which the simulation has been asked to go; none after a pause.
    clock: Option<Wall>,
    /// When somebody last watched.
    watched: Wall,
    /// The next packets are the first that are shown.
    packets_begin: bool,
    readers: usize,
}

impl<S: Environment> Session<S> {
    /// Builds the worlds. `speed` as in [`NewSession`](crate::session::NewSession); `memory` is an
    /// empty share.
    ///
    /// # Errors
    /// The worlds need too much memory.
    pub fn new(
        scenario: Scenario,
        speed: Option<f64>,
        paused: bool,
        limits: Limits,
        mut memory: Share,
        environment: S,
    ) -> Result<Self, ApiError> {
        memory.resize(scenario.variants.iter().map(|variant| state_bytes(&variant.point)).sum())?;
        let variants =
            (0..scenario.variants.len()).map(|number| Variant::new(&scenario, number)).collect::<Result<Vec<_>, _>>()?;
        let end = variants[0].world.end();
        let session = Self {
            variants,
            end,
            now: Instant::ZERO,
            shown_until: Instant::ZERO,
            paused,
            speed,
            changed: false,
            stopped: false,
            why: String::new(),
            memory,
            computed: Wall::ZERO,
            stride: Duration::ms(10),
            clock: None,
            watched: environment.now(),
            packets_begin: true,
            readers: 0,
            scenario,
            limits,
            environment,
        };
        session.environment.publish("about", &about(&session.scenario, end));
        session.tell_state("");
        Ok(session)
    }

    /// The scenario, with all changes of parameters.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    fn state(&self) -> &'static str {
        match () {
            () if self.now >= self.end => "done",
            () if self.stopped => "stopped",
            () if self.paused => "paused",
            () => "running",
        }
    }

    fn tell_state(&self, message: &str) {
        let (t, duration, speed, changed) = (self.now.as_secs_f64(), self.end.as_secs_f64(), self.speed, self.changed);
        let state = StateEvent { t, duration, speed, changed, message, ..StateEvent::new(self.state()) };
        self.environment.publish("state", &json!(state));
    }

    fn note(&self, text: &str) {
        self.environment.publish("note", &json!({ "t": self.now.as_secs_f64(), "text": text }));
    }

    /// Computes and shows the next frame, or several where it goes as fast as it can.
    pub fn frame(&mut self) -> Next {
        let begun = self.environment.now();
        self.stopped |= self.environment.told_to_stop();
        if self.stopped || self.now >= self.end {
            return Next::Over;
        }
        if self.nobody_watches(begun) {
            self.stopped = true;
            self.tell_state("nobody has watched for a while");
            return Next::Abandoned;
        }
        if self.paused {
            self.clock = None;
            return Next::Wait(POLL_INTERVAL);
        }
        if self.awaits_reader(begun) {
            return Next::Wait(FRAME);
        }
        let until = self.next_stop(begun);
        self.advance_for_a_frame(until, begun);
        self.show();
        for _ in 1..MAX_AT_ONCE {
            // A run at full speed is shown in more frames than the screen has, so that no chart is
            // coarse.
            if self.speed.is_some() || self.stopped || self.now >= self.end || self.since(begun) >= BUSY {
                break;
            }
            self.advance((self.now + self.stride).min(self.end));
            self.show();
        }
        let spent = self.since(begun);
        if self.speed.is_none() {
            self.adapt();
        }
        Next::Wait(FRAME.saturating_sub(spent))
    }

    fn since(&self, then: Wall) -> Wall {
        self.environment.now().saturating_sub(then)
    }

    fn awaits_reader(&self, now: Wall) -> bool {
        let has_not_begun = self.now == Instant::ZERO && self.environment.readers() == 0;
        has_not_begun && now.saturating_sub(self.watched) < MAX_READER_WAIT
    }

    fn nobody_watches(&mut self, now: Wall) -> bool {
        if self.environment.readers() > 0 {
            self.watched = now;
        }
        now.saturating_sub(self.watched) > self.limits.unwatched
    }

    /// The simulated time to go to in this frame.
    fn next_stop(&mut self, now: Wall) -> Instant {
        let behind = self.clock.replace(now).map_or(FRAME, |then| now.saturating_sub(then)).clamp(FRAME, MAX_BEHIND);
        let span = match self.speed {
            None => self.stride,
            Some(speed) => Duration::from_secs_f64(behind.as_secs_f64() * speed).max(Duration::ns(1)),
        };
        (self.now + span).min(self.end)
    }

    /// Goes to `until` in strides, or as far as the time of a frame lasts: orders are heard between
    /// two frames only, so that a frame must not be the whole run.
    fn advance_for_a_frame(&mut self, until: Instant, begun: Wall) {
        if self.speed.is_none() || self.is_slow() {
            self.advance(until);
            return;
        }
        while self.now < until && !self.stopped {
            self.advance((self.now + self.stride).min(until));
            self.adapt();
            if self.since(begun) >= MAX_BEHIND {
                break;
            }
        }
    }

    /// As much simulated time a stride as can be computed in the time for one. Waiting for a turn
    /// is no computing: it would make strides the shorter the more sessions wait.
    fn adapt(&mut self) {
        let spent = std::mem::take(&mut self.computed);
        let factor = (BUSY.as_secs_f64() / spent.as_secs_f64().max(1e-4)).clamp(0.25, 2.0);
        // Where nobody looks, nothing has to look good.
        let longest = if self.readers > 0 { self.end.as_secs_f64() / MIN_FRAMES } else { 10.0 };
        self.stride = Duration::from_secs_f64((self.stride.as_secs_f64() * factor).min(longest).max(MIN_STRIDE_S));
    }

    fn is_slow(&self) -> bool {
        self.speed.is_some_and(|speed| speed <= PACKET_VIEW) || self.paused
    }

    /// All variants to the same time, each a part of the way at a turn.
    fn advance(&mut self, until: Instant) {
        let pace = if self.is_slow() { Pace::Slow } else { Pace::Fast };
        for number in 0..self.variants.len() {
            while !self.take_turn(number, until, pace) {
                if self.environment.told_to_stop() || !self.has_memory() {
                    self.stopped = true;
                    break;
                }
            }
            if self.stopped {
                break;
            }
        }
        self.stopped |= !self.has_memory();
        self.now = until.min(self.variants.iter().map(|variant| variant.world.now()).min().unwrap_or(until));
    }

    /// Waits for a turn and uses it for one world; true when that got to `until`.
    fn take_turn(&mut self, number: usize, until: Instant, pace: Pace) -> bool {
        let Self { variants, computed, environment, .. } = self;
        environment.turn(|| {
            let begun = environment.now();
            let there = variants[number].advance(until, pace);
            *computed += environment.now().saturating_sub(begun);
            there
        })
    }

    /// Estimates the memory that the worlds take now; false when that is too much.
    fn has_memory(&mut self) -> bool {
        let resized = self.memory.resize(self.variants.iter().map(Variant::bytes).sum());
        if let Err(error) = &resized {
            self.why = format!("it was stopped: {error}");
        }
        resized.is_ok()
    }

    /// A frame and, where they can be followed, the packets.
    fn show(&mut self) {
        let span = self.now.since(std::mem::replace(&mut self.shown_until, self.now));
        let variants: Vec<Value> = self.variants.iter_mut().map(Variant::frame).collect();
        let frame = json!({ "t": self.now.as_secs_f64(), "dt": span.as_secs_f64(), "variants": variants });
        self.environment.publish("frame", &frame);
        let readers = self.environment.readers();
        // A reader that has just come does not know which packets wait.
        self.packets_begin |= readers > self.readers;
        self.readers = readers;
        if self.is_slow() {
            let mut shown: Vec<_> = self.variants.iter_mut().map(Variant::take_shown).collect();
            // A reader that has just come, or is not sent every event, gets the packets that wait
            // now, after the latest events.
            let too_many = shown.iter().any(|events| events.len() > MAX_SHOWN);
            let mut packets = json!({});
            if too_many || self.packets_begin {
                packets["queue"] = json!(self.variants.iter().map(Variant::waiting).collect::<Vec<_>>());
                for events in &mut shown {
                    // Drops and marks are news all the same, the last of them.
                    events.retain(|event| too_many && event.is_signal());
                    events.drain(..events.len().saturating_sub(MAX_SIGNALS));
                }
            }
            packets["variants"] = json!(shown);
            self.packets_begin = false;
            self.environment.publish("packets", &packets);
        } else {
            self.packets_begin = true;
        }
    }
}

/// Describes a session that runs until `end`, for a page at its start: link, groups, variants.
pub fn about(scenario: &Scenario, end: Instant) -> Value {
    let plan = &scenario.variants[0].point.plan;
    let groups = plan
        .traffic
        .iter()
        .enumerate()
        .map(|(number, group)| json!({ "name": group.name, "kind": scenario.traffic_kind(number), "flows": group.flows }));
    let groups: Vec<Value> = groups.collect();
    let variants: Vec<Value> = scenario
        .variants
        .iter()
        .map(|variant| json!({ "label": variant.label, "kind": kind_of(&variant.point, &scenario.link) }))
        .collect();
    json!({
        "link": scenario.link,
        "links": plan.links.iter().map(|link| &link.name).collect::<Vec<_>>(),
        "groups": groups,
        "duration": end.as_secs_f64(),
        "warmup": plan.warmup.as_secs_f64(),
        "variants": variants,
    })
}

fn kind_of(point: &Point, link: &str) -> String {
    queue_at(point, link).map_or_else(String::new, Queue::name)
}
