//! Carries out a script against a stack, in virtual time.
//!
//! Time jumps from one event or timer to the next, so a run takes no longer than its work. What a
//! stack does at an instant happens at that instant; the tolerance of the language remains, because
//! scripts are written for kernels whose timers are late.

mod calls;
mod compare;

use crate::packetdrill::code::{NoValue, Stop, Values};
use crate::packetdrill::script::{Action, EcnCheck, Event, EventTime, Script, ScriptPacket};
use crate::packetdrill::shell::{self, Command};
use crate::packetdrill::stack::{NotModelled, Stack};
use crate::packetdrill::verdict::{Difference, Verdict};
use calls::Calls;
use goodqueue_base::units::{Duration, Ecn, Instant};
use goodqueue_tcp::wire::{Packet, TcpFlags, TcpOption};
use std::collections::{BTreeMap, VecDeque};

/// Time after which an expected packet that has not left counts as missing.
const PATIENCE: Duration = Duration::secs(2);
/// Longest wait for a packet that may leave at any time (`*`): longer than any timer of TCP.
const MAX_WAIT: Duration = Duration::secs(600);
/// Timers and segments of one run; a script of a megabyte needs far fewer.
const MAX_STEPS: u64 = 5_000_000;
/// Segments that wait to be compared.
const MAX_WAITING: usize = 100_000;

/// Settings of a run; scripts override them by options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Allowed deviation of times. The language's default is 4 ms.
    pub tolerance: Duration,
    /// Allowed deviation of times, in percent of the time since the previous event. The language's
    /// default is 12.5.
    pub tolerance_percent: f64,
    /// Microseconds per tick of the stack's timestamps; `None`: timestamps are not compared.
    pub timestamp_tick: Option<u32>,
    /// Each outbound segment of a script is one segment. By default it may leave in several.
    pub strict_segments: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: Duration::us(4000), tolerance_percent: 12.5, timestamp_tick: None, strict_segments: false }
    }
}

/// Why a run ended early.
enum End {
    Differs(Difference),
    NotModelled(u32, String),
}

/// The state of a run.
struct Run<'s, S> {
    stack: &'s mut S,
    settings: Settings,
    now: Instant,
    /// Segments that left and are not compared yet.
    sent: VecDeque<(Instant, Packet)>,
    steps: u64,
    line: u32,
    /// Time of the previous event, and whether it is a segment that arrived: times after those add
    /// up exactly.
    previous: Duration,
    anchored: bool,
    names: Numbers,
    calls: Calls,
    variables: BTreeMap<String, f64>,
}

/// The mapping from the script's numbers to those on the wire.
#[derive(Default)]
struct Numbers {
    /// The stack's initial sequence number.
    isn: u32,
    /// The first timestamp of the stack: in the script and on the wire.
    first_timestamp: Option<(u32, u32)>,
    /// All timestamps that the script has named, with what they were on the wire.
    timestamps: BTreeMap<u32, u32>,
}

/// Runs a script against a fresh stack.
///
/// ```
/// # use goodqueue_checks::packetdrill::{goodqueue::Goodqueue, parse, run, Settings, Verdict};
/// let script = parse(
///     "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
///      +0 bind(3, ..., ...) = 0
///      +0 listen(3, 1) = 0
///      +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
///      +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
///      +.1 < . 1:1(0) ack 1 win 257
///      +0 accept(3, ..., ...) = 4
///      +0 write(4, ..., 2000) = 2000
///      +0 > P. 1:2001(2000) ack 1",
/// )?;
/// assert_eq!(run(&script, &mut Goodqueue::new(), &Settings::default()), Verdict::Pass);
/// # Ok::<(), goodqueue_checks::packetdrill::ScriptError>(())
/// ```
pub fn run<S: Stack>(script: &Script, stack: &mut S, settings: &Settings) -> Verdict {
    let mut run = Run {
        stack,
        settings: *settings,
        now: Instant::ZERO,
        sent: VecDeque::new(),
        steps: 0,
        line: 0,
        previous: Duration::ZERO,
        anchored: false,
        names: Numbers::default(),
        calls: Calls::default(),
        variables: BTreeMap::new(),
    };
    match run.whole(script) {
        Ok(()) => Verdict::Pass,
        Err(End::Differs(difference)) => Verdict::Fail(difference),
        Err(End::NotModelled(line, reason)) => Verdict::NotApplicable { line, reason },
    }
}

impl<S: Stack> Run<'_, S> {
    fn whole(&mut self, script: &Script) -> Result<(), End> {
        for option in &script.options {
            self.line = option.place.line;
            self.take_option(&option.name, &option.value)?;
        }
        if let Some((place, commands)) = &script.init {
            self.line = place.line;
            self.commands(commands)?;
        }
        for event in &script.events {
            self.line = event.place.line;
            self.event(event)?;
        }
        self.finish_calls()
    }

    fn take_option(&mut self, name: &str, value: &str) -> Result<(), End> {
        let number = || value.parse::<f64>().ok().filter(|number| (0.0..=1e9).contains(number));
        let bad = || self.not_modelled(format!("--{name}={value}"));
        match name {
            "tolerance_usecs" => self.settings.tolerance = Duration::us(number().ok_or_else(bad)? as u64),
            "tolerance_percent" => self.settings.tolerance_percent = number().ok_or_else(bad)?,
            "tcp_ts_tick_usecs" => self.settings.timestamp_tick = Some(number().ok_or_else(bad)? as u32),
            "strict_segments" => self.settings.strict_segments = true,
            // Addresses and ports do not matter, and IPv6 only changes the largest segment.
            "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "bind_port" | "connect_port" | "send_omit_free"
            | "non_fatal" | "verbose" | "debug" | "define" => {}
            "ip_version" if value == "ipv4" => {}
            _ => return Err(bad()),
        }
        Ok(())
    }

    fn not_modelled(&self, reason: impl Into<String>) -> End {
        End::NotModelled(self.line, reason.into())
    }

    fn differs(&self, what: &'static str, expected: impl Into<String>, got: impl Into<String>) -> End {
        End::Differs(Difference { line: self.line, what, expected: expected.into(), got: got.into() })
    }

    /// Converts a refusal by the stack at `line` into the end of the run.
    fn refused(line: u32) -> impl FnOnce(NotModelled) -> End {
        move |NotModelled(reason)| End::NotModelled(line, reason)
    }

    fn commands(&mut self, text: &str) -> Result<(), End> {
        for command in shell::read(text) {
            match command {
                Command::Unknown(line) => return Err(self.not_modelled(format!("the command `{line}`"))),
                Command::Set(settings) => {
                    for setting in settings {
                        self.stack.configure(&setting).map_err(Self::refused(self.line))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), End> {
        let is_inbound = matches!(event.action, Action::Inbound(_));
        let offset = if self.anchored && is_inbound { self.previous } else { self.now.since(Instant::ZERO) };
        let (from, to) = match event.time {
            EventTime::Absolute(at) => (at, at),
            EventTime::AbsoluteRange(from, to) => (from, to),
            EventTime::Relative(delta) => (offset + delta, offset + delta),
            EventTime::RelativeRange(from, to) => (offset + from, offset + to),
            EventTime::Any => (offset, offset),
        };
        let at = Instant::ZERO + from;
        match &event.action {
            Action::Outbound(expected) => {
                let any = event.time == EventTime::Any;
                self.outbound(expected, (!any).then_some((at, Instant::ZERO + to)))?;
            }
            Action::Inbound(packet) => {
                self.advance(at)?;
                self.inbound(packet)?;
            }
            Action::Call(call) => {
                self.advance(at)?;
                let relative = matches!(event.time, EventTime::Relative(_));
                let end = call.end.map(|end| Instant::ZERO + if relative { offset + end } else { end });
                self.call(call, end)?;
            }
            Action::Commands(text) => {
                self.advance(at)?;
                self.commands(text)?;
            }
            Action::Code(program) => {
                self.advance(at)?;
                self.code(program)?;
            }
            Action::Foreign(what) => return Err(self.not_modelled(what.clone())),
        }
        self.previous = from;
        self.anchored = is_inbound;
        self.resume_call()
    }

    /// Runs the stack until `at`, which may be past already.
    fn advance(&mut self, at: Instant) -> Result<(), End> {
        while let Some(due) = self.stack.next_timeout().filter(|due| *due <= at) {
            self.expire(due)?;
        }
        self.now = self.now.max(at);
        self.drain()
    }

    /// Handles a timer at the time when it is due, or now if that is past.
    fn expire(&mut self, due: Instant) -> Result<(), End> {
        self.now = self.now.max(due);
        self.count_step()?;
        self.stack.handle_timeout(self.now).map_err(Self::refused(self.line))?;
        self.drain()?;
        self.resume_call()
    }

    fn count_step(&mut self) -> Result<(), End> {
        self.steps += 1;
        if self.steps <= MAX_STEPS {
            return Ok(());
        }
        Err(self.differs("work", format!("at most {MAX_STEPS} segments and timers"), "more"))
    }

    /// Collects what the stack sends now.
    fn drain(&mut self) -> Result<(), End> {
        while let Some(packet) = self.stack.poll_transmit(self.now) {
            self.count_step()?;
            if self.sent.len() == MAX_WAITING {
                return Err(self.differs("work", format!("at most {MAX_WAITING} segments that no line expects"), "more"));
            }
            if packet.flags.has(TcpFlags::SYN) {
                self.names.isn = packet.seq;
            }
            self.sent.push_back((self.now, packet));
        }
        Ok(())
    }

    fn inbound(&mut self, script: &ScriptPacket) -> Result<(), End> {
        if script.window.is_none() && !script.flags.has(TcpFlags::RST) {
            return Err(self.not_modelled("an inbound segment without a window"));
        }
        let isn = self.names.isn;
        let options = script.options.iter().flatten().map(|option| match option {
            TcpOption::Sack(blocks) => {
                TcpOption::Sack(blocks.iter().map(|(from, to)| (from.wrapping_add(isn), to.wrapping_add(isn))).collect())
            }
            TcpOption::Timestamp { value, echo } => TcpOption::Timestamp { value: *value, echo: self.names.echo_on_wire(*echo) },
            other => other.clone(),
        });
        let has_ack = script.flags.has(TcpFlags::ACK);
        let packet = Packet {
            ecn: match script.ecn {
                Some(EcnCheck::Exactly(ecn)) => ecn,
                Some(EcnCheck::EitherEct) | None => Ecn::NotEct,
            },
            flags: script.flags,
            seq: script.seq,
            len: script.len,
            ack: if has_ack { script.ack.wrapping_add(isn) } else { 0 },
            window: script.window.unwrap_or(0),
            urgent: script.urgent,
            options: options.collect(),
            ..Packet::default()
        };
        self.stack.handle_packet(self.now, &packet).map_err(Self::refused(self.line))?;
        self.drain()
    }

    fn code(&mut self, program: &crate::packetdrill::code::Program) -> Result<(), End> {
        let (stack, now) = (&*self.stack, self.now);
        let mut lookup = |name: &str| match constant(name) {
            Some(value) => Ok(value),
            None if name.starts_with("tcpi_") => Ok(stack.info(now, name)?),
            None => Err(NoValue::Name(name.to_owned())),
        };
        let mut values = Values { variables: &mut self.variables, lookup: &mut lookup };
        match program.run(&mut values) {
            Ok(_) => Ok(()),
            Err(Stop::Assertion(place, text, got)) => {
                let got = if got.is_empty() { "it does not hold".to_owned() } else { got };
                Err(End::Differs(Difference { line: place.line, what: "assertion", expected: text, got }))
            }
            Err(Stop::NoValue(place, reason)) => Err(End::NotModelled(place.line, reason.to_string())),
        }
    }
}

impl Numbers {
    /// Returns the value on the wire of a timestamp that the script echoes.
    fn echo_on_wire(&self, echo: u32) -> u32 {
        match (self.timestamps.get(&echo), self.first_timestamp) {
            (Some(&exact), _) => exact,
            (None, Some((script, wire))) if echo != 0 => wire.wrapping_add(echo.wrapping_sub(script)),
            (None, _) => echo,
        }
    }
}

/// Constants of Linux that assertions name.
fn constant(name: &str) -> Option<f64> {
    const NAMES: [(&str, u32); 23] = [
        ("TCP_CA_Open", 0),
        ("TCP_CA_Disorder", 1),
        ("TCP_CA_CWR", 2),
        ("TCP_CA_Recovery", 3),
        ("TCP_CA_Loss", 4),
        ("TCP_ESTABLISHED", 1),
        ("TCP_SYN_SENT", 2),
        ("TCP_SYN_RECV", 3),
        ("TCP_FIN_WAIT1", 4),
        ("TCP_FIN_WAIT2", 5),
        ("TCP_TIME_WAIT", 6),
        ("TCP_CLOSE", 7),
        ("TCP_CLOSE_WAIT", 8),
        ("TCP_LAST_ACK", 9),
        ("TCP_LISTEN", 10),
        ("TCP_CLOSING", 11),
        ("TCP_INFINITE_SSTHRESH", 0x7fff_ffff),
        ("TCPI_OPT_TIMESTAMPS", 1),
        ("TCPI_OPT_SACK", 2),
        ("TCPI_OPT_WSCALE", 4),
        ("TCPI_OPT_ECN", 8),
        ("TCPI_OPT_ECN_SEEN", 16),
        ("TCPI_OPT_SYN_DATA", 32),
    ];
    NAMES.iter().find(|(known, _)| *known == name).map(|&(_, value)| f64::from(value))
}

#[cfg(test)]
mod tests;
