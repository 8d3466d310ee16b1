//! A session: a thread that advances up to four worlds side by side, shows what happens, and takes
//! orders.
//!
//! Wall time enters here and only here: it says how far to go, never what happens. The worlds are
//! advanced to the same simulated times, and changes come between two frames, so that all variants
//! change at the same instant.

mod calls;
mod elsewhere;
mod orders;
mod packets;
mod rates;
mod result;
mod variant;

use crate::clock;
use crate::failure::Failure;
use crate::hosts::Place;
use crate::limits::Limits;
use crate::memory::{Exhausted, Memory, Share};
use crate::scenario::{Scenario, state_bytes};
use crate::stream::Publisher;
use crate::turns::Turns;
use goodqueue_lab::plan::{Point, Queue};
use goodqueue_units::{Duration, Instant};
pub use orders::speed;
pub use result::Leavings;
use serde::Deserialize;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::{Duration as Wall, Instant as Clock};
use tokio::sync::oneshot;
use variant::{Pace, Variant};

/// What a page may ask of a session.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Control {
    Pause,
    Play,
    Stop,
    Speed { value: Option<f64> },
    Step { seconds: f64 },
    Rate { link: Option<String>, value: String },
    AddFlows { group: String, count: u32 },
    Set { variant: Option<usize>, link: Option<String>, key: String, value: Value },
}

/// An order, and where the answer goes.
pub struct Order {
    pub control: Control,
    pub answer: oneshot::Sender<Result<(), Failure>>,
}

/// Everything a session's thread works with.
pub struct Work {
    pub scenario: Scenario,
    /// Where it runs; `None` in the simulator, watched as it goes.
    pub place: Option<Place>,
    pub speed: Option<f64>,
    pub paused: bool,
    pub limits: Limits,
    pub orders: Receiver<Order>,
    pub publisher: Arc<Publisher>,
    pub turns: Arc<Turns>,
    pub memory: Arc<Memory>,
    /// The server ends.
    pub ending: Arc<AtomicBool>,
    /// The session is to stop, whatever it is doing.
    pub halt: Arc<AtomicBool>,
    /// The scenario as changed, for those who ask for it.
    pub text: Arc<Mutex<Scenario>>,
}

const FRAME: Wall = Wall::from_nanos(1_000_000_000 / 60);
/// What of a frame's time computing may take when it goes as fast as it can.
const BUSY: Wall = Wall::from_millis(12);
/// Frames at once when it goes as fast as it can: a reader that draws 60 a second must not fall
/// behind.
const MOST_AT_ONCE: usize = 4;
/// Frames that a whole run is shown in at least, however fast it goes.
const LEAST_FRAMES: f64 = 300.0;
/// A simulation that falls behind the clock does not catch up with more than this.
const MOST_BEHIND: Wall = Wall::from_millis(250);
/// From this speed down packets are shown one by one.
const PACKET_VIEW: f64 = 0.05;
/// Packets of one frame and variant that are shown one by one.
const MOST_SHOWN: usize = 2000;
/// Drops and marks that are told of where there is more than that.
const MOST_SIGNALS: usize = 100;
const FASTEST: f64 = 1e6;
/// Least simulated time between two looks at the clock.
const SHORTEST_STRIDE_S: f64 = 1e-6;
/// Between two looks of a paused session at whether anybody watches.
const LOOK_AROUND: Wall = Wall::from_millis(200);

/// Runs a session to its end.
pub fn run(work: Work) -> Option<Leavings> {
    let publisher = Arc::clone(&work.publisher);
    // A panic in one world is a mistake in this program; it must not take the other sessions with
    // it.
    let go = || match work.place.clone() {
        None => Session::new(work).map(Session::go_on),
        Some(place) => elsewhere::run(work, &place),
    };
    match catch_unwind(AssertUnwindSafe(go)) {
        Ok(Ok(result)) => result,
        Ok(Err(failure)) => {
            failed(&publisher, failure.message());
            None
        }
        Err(_) => {
            failed(&publisher, "internal error: this is a mistake in gq, please report it");
            None
        }
    }
}

fn failed(publisher: &Publisher, message: &str) {
    publisher.publish(
        "state",
        &json!({ "state": "failed", "t": 0, "duration": 0, "speed": null, "changed": false, "message": message }),
    );
}

struct Session {
    work: Work,
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
    /// The wall clock up to which the simulation has been asked to go.
    clock: Clock,
    watched: Clock,
    /// The next packets are the first that are shown.
    packets_begin: bool,
    readers: usize,
}

impl Session {
    fn new(work: Work) -> Result<Self, Failure> {
        let mut memory = work.memory.share();
        let exhausted = |error: Exhausted| Failure::unprocessable(error.to_string());
        memory.resize(work.scenario.variants.iter().map(|variant| state_bytes(&variant.point)).sum()).map_err(exhausted)?;
        let variants = (0..work.scenario.variants.len())
            .map(|number| Variant::new(&work.scenario, number))
            .collect::<Result<Vec<_>, _>>()?;
        let end = variants[0].end();
        let now = clock::now();
        let session = Self {
            variants,
            end,
            now: Instant::ZERO,
            shown_until: Instant::ZERO,
            paused: work.paused,
            speed: work.speed,
            changed: false,
            stopped: false,
            why: String::new(),
            memory,
            computed: Wall::ZERO,
            stride: Duration::ms(10),
            clock: now,
            watched: now,
            packets_begin: true,
            readers: 0,
            work,
        };
        session.work.publisher.publish("about", &about(&session.work.scenario, end));
        session.tell_state("");
        Ok(session)
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
        let mut state = json!({
            "state": self.state(), "t": variant::time(self.now), "duration": variant::time(self.end), "speed": self.speed,
            "changed": self.changed,
        });
        if !message.is_empty() {
            state["message"] = json!(message);
        }
        self.work.publisher.publish("state", &state);
    }

    fn note(&self, text: &str) {
        self.work.publisher.publish("note", &json!({ "t": variant::time(self.now), "text": text }));
    }

    /// Frame after frame until the end.
    fn go_on(mut self) -> Option<Leavings> {
        loop {
            let begun = clock::now();
            self.obey();
            if self.stopped || self.now >= self.end {
                break;
            }
            if self.nobody_watches(begun) {
                self.stopped = true;
                self.tell_state("nobody has watched for a while");
                return None;
            }
            if self.paused {
                self.wait_for_orders(LOOK_AROUND);
                self.clock = clock::now();
                continue;
            }
            let until = self.next_stop(begun);
            self.advance_for_a_frame(until, begun);
            self.show();
            for _ in 1..MOST_AT_ONCE {
                // What goes as fast as it can is shown in more frames than the screen has, so that
                // no chart is coarse.
                if self.speed.is_some() || self.stopped || self.now >= self.end || clock::since(begun) >= BUSY {
                    break;
                }
                self.advance((self.now + self.stride).min(self.end));
                self.show();
            }
            let spent = clock::since(begun);
            if self.speed.is_none() {
                self.adapt();
            }
            if spent < FRAME {
                self.wait_for_orders(FRAME - spent);
            }
        }
        self.conclude()
    }

    fn nobody_watches(&mut self, now: Clock) -> bool {
        if self.work.ending.load(Ordering::Relaxed) {
            self.stopped = true;
            return false;
        }
        let readers = self.work.publisher.readers();
        if readers > 0 {
            self.watched = now;
        }
        now.duration_since(self.watched) > self.work.limits.unwatched
    }

    /// The simulated time to go to in this frame.
    fn next_stop(&mut self, now: Clock) -> Instant {
        let behind = now.duration_since(self.clock).max(FRAME).min(MOST_BEHIND);
        self.clock = now;
        let span = match self.speed {
            None => self.stride,
            Some(speed) => Duration::from_secs_f64(behind.as_secs_f64() * speed).max(Duration::ns(1)),
        };
        (self.now + span).min(self.end)
    }

    /// Goes to `until` in strides, or as far as the time of a frame lasts: orders are heard between
    /// two frames only, so that a frame must not be the whole run.
    fn advance_for_a_frame(&mut self, until: Instant, begun: Clock) {
        if self.speed.is_none() || self.is_slow() {
            self.advance(until);
            return;
        }
        while self.now < until && !self.stopped {
            self.advance((self.now + self.stride).min(until));
            self.adapt();
            if clock::since(begun) >= MOST_BEHIND {
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
        let longest = if self.readers > 0 { variant::time(self.end) / LEAST_FRAMES } else { 10.0 };
        self.stride = Duration::from_secs_f64((self.stride.as_secs_f64() * factor).min(longest).max(SHORTEST_STRIDE_S));
    }

    fn is_slow(&self) -> bool {
        self.speed.is_some_and(|speed| speed <= PACKET_VIEW) || self.paused
    }

    /// All variants to the same time, each a part of the way at a turn.
    fn advance(&mut self, until: Instant) {
        let pace = if self.is_slow() { Pace::Slow } else { Pace::Fast };
        for number in 0..self.variants.len() {
            while !self.take_turn(number, until, pace) {
                let told_to_stop = [&self.work.ending, &self.work.halt].iter().any(|flag| flag.load(Ordering::Relaxed));
                if told_to_stop || !self.has_memory() {
                    self.stopped = true;
                    break;
                }
            }
            if self.stopped {
                break;
            }
        }
        self.stopped |= !self.has_memory();
        self.now = until.min(self.variants.iter().map(Variant::now).min().unwrap_or(until));
    }

    /// Waits for a turn and uses it for one world; true when that got to `until`.
    fn take_turn(&mut self, number: usize, until: Instant, pace: Pace) -> bool {
        let (variant, computed) = (&mut self.variants[number], &mut self.computed);
        self.work.turns.with(|| {
            let begun = clock::now();
            let there = variant.advance(until, pace);
            *computed += clock::since(begun);
            there
        })
    }

    /// Reckons the memory that the worlds take now; false when that is too much.
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
        let frame = json!({ "t": variant::time(self.now), "dt": span.as_secs_f64(), "variants": variants });
        self.work.publisher.publish("frame", &frame);
        let readers = self.work.publisher.readers();
        // Who has just come does not know what waits.
        self.packets_begin |= readers > self.readers;
        self.readers = readers;
        if self.is_slow() {
            let mut shown: Vec<_> = self.variants.iter_mut().map(Variant::take_shown).collect();
            // Who has just come, or is not told of everything, is told what waits now, with what
            // has just happened already in it.
            let too_many = shown.iter().any(|events| events.len() > MOST_SHOWN);
            let mut packets = json!({});
            if too_many || self.packets_begin {
                packets["queue"] = json!(self.variants.iter().map(Variant::waiting).collect::<Vec<_>>());
                for events in &mut shown {
                    // Drops and marks are news all the same, the last of them.
                    events.retain(|event| too_many && event.is_signal());
                    events.drain(..events.len().saturating_sub(MOST_SIGNALS));
                }
            }
            packets["variants"] = json!(shown);
            self.packets_begin = false;
            self.work.publisher.publish("packets", &packets);
        } else {
            self.packets_begin = true;
        }
    }
}

/// What a page is told of a session at its start.
fn about(scenario: &Scenario, end: Instant) -> Value {
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
        "duration": variant::time(end),
        "warmup": plan.warmup.as_secs_f64(),
        "variants": variants,
    })
}

fn kind_of(point: &Point, link: &str) -> String {
    let queue = point.plan.links.iter().find(|known| known.name == link).and_then(|known| known.down.queue.as_ref());
    queue.map_or_else(String::new, Queue::name)
}
