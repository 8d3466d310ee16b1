//! A program as the algorithm of simulated queues: it speaks the protocol of recorded verdicts, one
//! operation at a time, while a simulation runs.
//!
//! The queue is a FIFO with a limit. The program is told of every arrival and departure and decides
//! about drops and marks. It may ask for its timer with one more event, `["timer", time]`.

use goodqueue_aqm::custom::{CustomAlgorithm, CustomKind};
use goodqueue_aqm::spec::{Kind, KindSpec, LinkFacts, ParamError};
use goodqueue_aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use goodqueue_base::units::Instant;
use process::Process;
use protocol::{AnswerFault, Event, EventKind, Operation, Silence, VERSION, excerpt, read, readiness};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

mod process;
mod protocol;

/// The first fault of any program of a kind. From then on its queues pass every packet, and their
/// figures mean nothing.
#[derive(Debug, Default)]
pub struct Trouble {
    first: Mutex<Option<HostedError>>,
    /// Told to stop what uses the figures.
    stop: Option<Arc<AtomicBool>>,
}

impl Trouble {
    fn set(&self, error: HostedError) {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        if let Some(stop) = &self.stop {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// The fault in words, if there was one.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(ToString::to_string)
    }
}

/// A program that cannot be an algorithm, or is none any more.
#[derive(Debug, thiserror::Error)]
enum HostedError {
    #[error("`{command}`: {error}")]
    Start { command: String, error: io::Error },
    #[error("`{command}` says: {why}")]
    Refuses { command: String, why: String },
    #[error("`{command}`: {silence}")]
    NotReady { command: String, silence: Silence },
    #[error("program `{command}`: {breach}")]
    Stopped { command: String, breach: Box<Breach> },
}

/// A breach of the rules for algorithms of queues.
#[derive(Debug, thiserror::Error)]
enum Breach {
    #[error("after {line}: {silence}")]
    Silent { line: String, silence: Silence },
    #[error("its answer to {line} is {answer}: {fault}")]
    Answer { line: String, answer: String, fault: AnswerFault },
    #[error("packet {0} is not the oldest, and queues here are in order of arrival")]
    NotOldest(u64),
    #[error("a departure ends with the packet that leaves")]
    BehindDeparture,
    #[error("packets wait and none leaves")]
    NoneLeaves,
    #[error("on the arrival of packet {0} it decides about others")]
    OthersOnArrival(u64),
    #[error("it keeps packet {0}, for which there is no room")]
    NoRoom(u64),
    #[error("{0} has no events")]
    EventsOf(&'static str),
}

/// The parts that queues of a kind share: the command that starts a program, and idle processes.
#[derive(Debug)]
struct Shop {
    name: String,
    command: Vec<String>,
    patience: Duration,
    idle: Mutex<Vec<Process>>,
    trouble: Arc<Trouble>,
}

impl Shop {
    /// The command as a person writes it.
    fn shown(&self) -> String {
        self.command.join(" ")
    }
}

/// A kind of queue whose algorithm is a program.
#[derive(Debug)]
pub struct HostedKind {
    spec: &'static KindSpec,
    version: String,
    shop: Arc<Shop>,
}

impl HostedKind {
    /// The kind `name`, judged by `command` (its name and arguments), which may take `patience` for
    /// each answer. Its version follows from the command and the files that it names. When
    /// something goes wrong, `stop` is set.
    #[must_use]
    pub fn new(name: &str, command: Vec<String>, patience: Duration, stop: Option<Arc<AtomicBool>>) -> Self {
        let shown: &'static str = Box::leak(name.to_owned().into_boxed_str());
        // Descriptions of kinds live as long as the program; there are as many as it names.
        let base = Kind { kind: shown, title: shown, summary: "A program.", source: "-", ..Kind::PLAIN };
        let spec = Box::leak(Box::new(KindSpec::own(base)));
        let version = version(&command);
        let trouble = Arc::new(Trouble { first: Mutex::default(), stop });
        let shop = Arc::new(Shop { name: name.to_owned(), command, patience, idle: Mutex::default(), trouble });
        Self { spec, version, shop }
    }

    /// The faults of its programs.
    #[must_use]
    pub fn trouble(&self) -> Arc<Trouble> {
        Arc::clone(&self.shop.trouble)
    }
}

impl CustomKind for HostedKind {
    fn spec(&self) -> &'static KindSpec {
        self.spec
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn build(&self, link: &LinkFacts) -> Result<Box<dyn CustomAlgorithm>, ParamError> {
        match Hosted::new(Arc::clone(&self.shop), *link) {
            Ok(hosted) => Ok(Box::new(hosted)),
            Err(error) => Err(ParamError::refused(&error)),
        }
    }
}

/// One queue's program.
struct Hosted {
    shop: Arc<Shop>,
    link: LinkFacts,
    /// `None` once something went wrong.
    running: Option<Mutex<Process>>,
    /// Numbers of the waiting packets, oldest first.
    waiting: VecDeque<u64>,
    /// Packets offered so far.
    offered: u64,
    /// Verdicts of the departure under way that were not asked for yet.
    decided: VecDeque<Verdict>,
    /// Whether the program has answered the departure that finds the queue empty.
    is_answered: bool,
    due: Option<Instant>,
}

impl fmt::Debug for Hosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hosted({}, {} waiting)", self.shop.name, self.waiting.len())
    }
}

impl Hosted {
    fn new(shop: Arc<Shop>, link: LinkFacts) -> Result<Self, HostedError> {
        let idle = shop.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut running = match idle {
            Some(running) => running,
            None => {
                let started = Process::start(&shop.command, shop.patience);
                started.map_err(|error| HostedError::Start { command: shop.shown(), error })?
            }
        };
        let head = head(&shop.name, &link).to_string();
        match running.ask(&head).and_then(|line| readiness(&line)) {
            Ok(None) => {}
            Ok(Some(why)) => return Err(HostedError::Refuses { command: shop.shown(), why }),
            Err(silence) => return Err(HostedError::NotReady { command: shop.shown(), silence }),
        }
        let (waiting, decided) = (VecDeque::new(), VecDeque::new());
        let running = Some(Mutex::new(running));
        Ok(Self { shop, link, running, waiting, offered: 0, decided, is_answered: false, due: None })
    }

    /// Sends an operation and returns its events, without those that ask for the timer; nothing
    /// once something went wrong.
    fn ask(&mut self, operation: Operation) -> Option<Vec<Event>> {
        let Some(running) = &mut self.running else { return None };
        let running = running.get_mut().unwrap_or_else(PoisonError::into_inner);
        let line = operation.line();
        let breach = match running.ask(&line) {
            Ok(answer) => match read(&answer, operation.at()) {
                Ok((events, timer)) => {
                    self.due = timer.or(self.due);
                    return Some(events);
                }
                Err(fault) => Breach::Answer { line, answer: excerpt(&answer), fault },
            },
            Err(silence) => Breach::Silent { line, silence },
        };
        self.fail(breach);
        None
    }

    /// Asks about an operation that cannot have events.
    fn tell(&mut self, subject: &'static str, operation: Operation) {
        if self.ask(operation).is_some_and(|events| !events.is_empty()) {
            self.fail(Breach::EventsOf(subject));
        }
    }

    fn fail(&mut self, breach: Breach) {
        self.running = None;
        self.shop.trouble.set(HostedError::Stopped { command: self.shop.shown(), breach: Box::new(breach) });
    }

    fn arrive(&mut self, env: &Env<'_>, packet: PacketView) -> (u64, Option<Vec<Event>>) {
        let number = self.offered;
        self.offered += 1;
        let len = u32::try_from(packet.len.get()).unwrap_or(u32::MAX);
        (number, self.ask(Operation::Enqueue { at: env.now, len, flow: packet.flow.0, ecn: packet.ecn }))
    }

    /// Reads what a departure caused into verdicts on the heads, one after another.
    fn decide(&mut self, events: &[Event]) -> Result<(), Breach> {
        let mut marked = None;
        for (place, event) in events.iter().enumerate() {
            let head = self.waiting.front().copied();
            if head != Some(event.packet) {
                return Err(Breach::NotOldest(event.packet));
            }
            match event.kind {
                EventKind::Mark => marked = Some(event.reason.unwrap_or(Reason::Head)),
                EventKind::Drop => {
                    self.waiting.pop_front();
                    self.decided.push_back(Verdict::Drop(event.reason.unwrap_or(Reason::Head)));
                    marked = None;
                }
                EventKind::Depart if place + 1 == events.len() => {
                    self.waiting.pop_front();
                    self.decided.push_back(marked.take().map_or(Verdict::Pass, Verdict::Mark));
                    return Ok(());
                }
                EventKind::Depart => return Err(Breach::BehindDeparture),
            }
        }
        if self.waiting.is_empty() {
            self.is_answered = true;
            return Ok(());
        }
        Err(Breach::NoneLeaves)
    }
}

impl Drop for Hosted {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            let running = running.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.shop.idle.lock().unwrap_or_else(PoisonError::into_inner).push(running);
        }
    }
}

impl CustomAlgorithm for Hosted {
    fn clone_box(&self) -> Box<dyn CustomAlgorithm> {
        match Self::new(Arc::clone(&self.shop), self.link) {
            Ok(another) => Box::new(another),
            Err(error) => {
                self.shop.trouble.set(error);
                Box::new(goodqueue_aqm::custom::NoOp)
            }
        }
    }
}

impl Aqm for Hosted {
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, _: QueueView) -> Verdict {
        let (number, events) = self.arrive(env, packet);
        let Some(events) = events else { return Verdict::Pass };
        let verdict = match &events[..] {
            [] => Verdict::Pass,
            [event] if event.packet == number && event.kind == EventKind::Mark => {
                Verdict::Mark(event.reason.unwrap_or(Reason::Early))
            }
            [event] if event.packet == number && event.kind == EventKind::Drop => {
                return Verdict::Drop(event.reason.unwrap_or(Reason::Early));
            }
            _ => {
                self.fail(Breach::OthersOnArrival(number));
                return Verdict::Pass;
            }
        };
        self.waiting.push_back(number);
        verdict
    }

    fn on_overflow(&mut self, env: &mut Env<'_>, packet: PacketView, _: QueueView) {
        let (number, events) = self.arrive(env, packet);
        let is_dropped = |events: &[Event]| matches!(events, [event] if event.packet == number && event.kind == EventKind::Drop);
        if events.is_some_and(|events| !is_dropped(&events)) {
            self.fail(Breach::NoRoom(number));
        }
    }

    fn on_departure(&mut self, env: &mut Env<'_>, _: PacketView, _: QueueView) -> Verdict {
        if self.decided.is_empty()
            && let Some(events) = self.ask(Operation::Dequeue { at: env.now })
            && let Err(breach) = self.decide(&events)
        {
            self.fail(breach);
        }
        self.decided.pop_front().unwrap_or(Verdict::Pass)
    }

    fn on_idle(&mut self, now: Instant) {
        if !std::mem::take(&mut self.is_answered) {
            self.tell("an empty queue", Operation::Dequeue { at: now });
        }
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        // The first line has the rate at the start.
        if std::mem::replace(&mut self.link.rate, env.link_rate) == env.link_rate {
            return;
        }
        self.tell("a change of the rate", Operation::Rate { at: env.now, rate: env.link_rate });
    }

    fn next_update(&self) -> Option<Instant> {
        self.due
    }

    fn on_update(&mut self, env: &mut Env<'_>, _: Option<PacketView>, _: QueueView) {
        self.due = None;
        self.tell("a timer", Operation::Timer { at: env.now });
    }
}

/// A digest of the command and the files that it names, to tell versions apart.
fn version(command: &[String]) -> String {
    let mut digest = Sha256::new();
    for word in command {
        digest.update(word.as_bytes());
        digest.update([0]);
        if let Ok(contents) = std::fs::read(word) {
            digest.update(contents);
        }
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The line that begins a queue.
fn head(name: &str, link: &LinkFacts) -> Json {
    json!({
        "vector": VERSION,
        "name": "hosted",
        "kind": name,
        "params": {},
        "ecn": true,
        "link": {
            "rate": link.rate.map(goodqueue_base::units::Rate::as_bit_s),
            "delay": link.delay.as_nanos(),
            "mtu": link.mtu.get(),
            "overhead": link.overhead.get(),
            "limit_packets": link.limit.packets.get(),
            "limit_bytes": link.limit.bytes.get(),
        },
        "operations": null,
    })
}

#[cfg(test)]
mod tests;
