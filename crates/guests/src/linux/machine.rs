//! A guest: its process, its clock and its network card, each behind a socket.

use crate::linux::error::{GuestFault, LinuxError, doing};
use crate::linux::event_queue::{Calendar, MESSAGE, Message, NEVER, Operation};
use crate::linux::frame::MAX;
use crate::linux::job::{Job, Role};
use crate::linux::liveness::{self, Watched};
use crate::linux::report::Line;
use crate::linux::ring::{Piece, Use};
use crate::linux::sys::child::{self, KillOnDrop};
use crate::linux::sys::memory_file;
use crate::linux::vhost::{self, Device, HEADER, Header, RECEIVE, TRANSMIT};
use goodqueue_live::sys::descriptors;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Bytes of the virtio header before a frame.
const CARD_HEADER: usize = 12;
/// Offset of the field with the number of buffers of a received frame.
const BUFFERS: usize = 10;
/// Bound on what is read of a console or a report.
const MAX_TEXT: u64 = 1 << 30;

/// Settings to start guests with.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The kernel.
    pub kernel: &'a Path,
    /// The program that runs inside, and the arguments before the path of its job.
    pub program: &'a [OsString],
    /// The wall clock at boot, in nanoseconds.
    pub epoch: u64,
    /// Memory in MiB.
    pub memory: u32,
    /// Seed of all random numbers of a guest.
    pub seed: u64,
    /// Real time without a response after which a guest has failed.
    pub patience: Duration,
}

/// Action of a running guest.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// The guest has nothing to do before the time it requested.
    Waits,
    /// The guest passed frames to its card; it continues when [`Guest::reply`] has sent this.
    Sends(Vec<u8>),
    /// Nothing that concerns the run.
    Else,
}

/// A guest.
pub struct Guest {
    name: &'static str,
    role: Role,
    /// Number in the calendar.
    number: usize,
    child: Child,
    patience: Duration,
    _tether: KillOnDrop,
    clock: UnixStream,
    card_listener: UnixListener,
    card: Option<UnixStream>,
    device: Device,
    console: File,
    report: File,
    /// Output of its program, and the length already read.
    output: File,
    told: u64,
    /// Length of the report already read.
    read: u64,
    pieces: Vec<Piece>,
    /// Time up to which it may advance; `was` is its last known time.
    free_until: u64,
    was: u64,
    start_number: u32,
    runs: u32,
}

impl Drop for Guest {
    fn drop(&mut self) {
        // A group that is gone is no harm.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // It has just been killed, so this does not block.
        let _ = self.child.wait();
    }
}

impl Guest {
    /// Starts its process and waits for its first message.
    ///
    /// # Errors
    /// When it cannot be started, or does not connect.
    pub fn start(setup: &Setup<'_>, folder: &Path, number: usize, job: &Job) -> Result<Self, LinuxError> {
        let name = job.role.name();
        let path = |what: &str| -> PathBuf { folder.join(format!("{what}{number}")) };
        let prepare = || -> io::Result<_> {
            std::fs::write(path("job"), job.text())?;
            let listeners = (UnixListener::bind(path("clock"))?, UnixListener::bind(path("card"))?);
            Ok((listeners, memory_file(0)?, memory_file(0)?, memory_file(0)?))
        };
        let ((clock_listener, card_listener), console, report, output) = prepare().map_err(doing("preparing a guest"))?;
        let mut command = arguments(setup, folder, number, &path("job"));
        command.env_clear().env("GQ_SEED", (setup.seed ^ number as u64).to_string());
        let stdout = console.try_clone().map_err(doing("preparing a guest"))?;
        command.stdin(Stdio::null()).stderr(stdout.try_clone().map_err(doing("preparing a guest"))?).stdout(stdout);
        let tether =
            child::bind(&mut command, vec![report.as_raw_fd(), output.as_raw_fd()]).map_err(doing("preparing a guest"))?;
        let mut child = command.spawn().map_err(doing("starting the guest kernel"))?;
        let watched = Watched { group: child.id(), patience: setup.patience };
        let clock = match liveness::accept(&clock_listener, watched) {
            Ok(clock) => clock,
            Err(fault) => {
                let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
                let _ = child.wait();
                return Err(LinuxError::Guest { name, fault, console: tail(&console) });
            }
        };
        let mut guest = Self {
            name,
            role: job.role,
            number,
            child,
            patience: setup.patience,
            _tether: tether,
            clock,
            card_listener,
            card: None,
            device: Device::default(),
            console,
            report,
            output,
            told: 0,
            read: 0,
            pieces: Vec::new(),
            free_until: 0,
            was: 0,
            start_number: 0,
            runs: 0,
        };
        match guest.clock_message() {
            Ok(Message { operation: Operation::Start, number, .. }) => guest.start_number = number,
            Ok(_) => return Err(guest.failed(GuestFault::Clock("it did not start with a start"))),
            Err(fault) => return Err(guest.failed(fault)),
        }
        Ok(guest)
    }

    fn watched(&self) -> Watched {
        Watched { group: self.child.id(), patience: self.patience }
    }

    /// The end of connections that it has.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.role
    }

    /// Error that names the guest and quotes its console.
    pub fn failed(&self, fault: GuestFault) -> LinuxError {
        // An error from the program itself is sufficient.
        let console = if matches!(fault, GuestFault::Program(_)) { String::new() } else { tail(&self.console) };
        LinuxError::Guest { name: self.name, fault, console }
    }

    /// Boots the guest by passing it the memory of the clock.
    ///
    /// # Errors
    /// When it has ended.
    pub fn boot(&mut self, calendar: &Calendar) -> Result<(), GuestFault> {
        calendar.name(self.number);
        calendar.set_running(Some(self.number));
        let ack = Message { operation: Operation::Ack, number: self.start_number, time: Calendar::client(self.number) };
        // The second descriptor is for a log that guests of this version close immediately.
        let files = [calendar.file.as_fd(), self.console.as_fd()];
        Ok(descriptors::send(&self.clock, &ack.bytes(), &files)?)
    }

    /// Runs the guest from time `at`, which is now.
    ///
    /// # Errors
    /// When it has ended.
    pub fn run(&mut self, calendar: &Calendar, at: u64) -> Result<(), GuestFault> {
        calendar.set_running(Some(self.number));
        calendar.set_request(self.number, None);
        self.was = at;
        self.runs = self.runs.wrapping_add(1);
        let run = Message { operation: Operation::Run, number: self.runs, time: at };
        Ok(self.clock.write_all(&run.bytes())?)
    }

    /// Sets how far it may advance before it must ask.
    pub fn free_until(&mut self, calendar: &Calendar, time: u64) {
        self.free_until = time;
        calendar.set_free_until(time);
    }

    /// Waits for its next action while it runs.
    ///
    /// # Errors
    /// When it does not respond, has ended, or violates a protocol.
    pub fn listen(&mut self, calendar: &Calendar) -> Result<Said, GuestFault> {
        let card = self.card.as_ref().map_or(self.card_listener.as_fd(), AsFd::as_fd);
        let ready = liveness::readable([self.clock.as_fd(), card], self.watched());
        let [_, card] = ready.map_err(|fault| self.unless_ended(fault))?;
        if card && self.card.is_none() {
            self.card = Some(liveness::accept(&self.card_listener, self.watched())?);
            return Ok(Said::Else);
        }
        let said = if card { self.card_message() } else { self.clock_request(calendar) }?;
        let now = calendar.now();
        // At the end of a free run the guest's clock is exactly at that end.
        if now < self.was || (now > self.free_until && now > self.was) {
            return Err(GuestFault::Clock("it set a time that it was not given"));
        }
        self.was = now;
        Ok(said)
    }

    /// A process that has ended does not respond either.
    fn unless_ended(&mut self, fault: GuestFault) -> GuestFault {
        let ended = matches!(fault, GuestFault::Silent(_)) && !matches!(self.child.try_wait(), Ok(None));
        if ended { GuestFault::Ended } else { fault }
    }

    fn clock_message(&mut self) -> Result<Message, GuestFault> {
        let mut bytes = [0; MESSAGE];
        let watched = self.watched();
        liveness::read(&mut self.clock, &mut bytes, watched)?;
        Message::read(bytes).ok_or(GuestFault::Clock("an unknown message"))
    }

    fn clock_request(&mut self, calendar: &Calendar) -> Result<Said, GuestFault> {
        let message = self.clock_message()?;
        let mut time = 0;
        match message.operation {
            Operation::Wait => {
                calendar.set_running(None);
                return Ok(Said::Waits);
            }
            Operation::Ack => return Ok(Said::Else),
            Operation::Get => time = calendar.now(),
            Operation::Request => calendar.set_request(self.number, Some(message.time.min(NEVER))),
            Operation::Update => calendar.set_now(message.time),
            Operation::GetTimeOfDay => return Err(GuestFault::Clock("it asked for a time of day that it was told")),
            Operation::Start | Operation::Run => return Err(GuestFault::Clock("a message that is not a guest's")),
        }
        let ack = Message { operation: Operation::Ack, number: message.number, time };
        self.clock.write_all(&ack.bytes())?;
        Ok(Said::Else)
    }

    fn card_message(&mut self) -> Result<Said, GuestFault> {
        let watched = self.watched();
        let Some(card) = &mut self.card else { return Ok(Said::Else) };
        let mut bytes = [0; HEADER];
        let (got, descriptors) = descriptors::receive(card, &mut bytes)?;
        if got == 0 {
            return Err(GuestFault::Ended);
        }
        liveness::read(card, &mut bytes[got..], watched)?;
        let header = Header::read(bytes)?;
        let mut body = [0; vhost::MAX_BODY];
        let body = &mut body[..header.size];
        liveness::read(card, body, watched)?;
        let answer = self.device.handle(header, body, descriptors)?;
        let reply = answer.reply.unwrap_or_default();
        if answer.kicked == Some(TRANSMIT) {
            return Ok(Said::Sends(reply));
        }
        self.reply(&reply)?;
        Ok(Said::Else)
    }

    /// Continues the guest after it has sent.
    ///
    /// # Errors
    /// When it has ended.
    pub fn reply(&mut self, reply: &[u8]) -> Result<(), GuestFault> {
        self.card.as_mut().map_or(Ok(()), |card| Ok(card.write_all(reply)?))
    }

    /// Takes the next frame that it has sent into `frame`; returns whether there was one.
    ///
    /// # Errors
    /// When its queue is inconsistent or the frame too long.
    pub fn sent(&mut self, frame: &mut Vec<u8>) -> Result<bool, GuestFault> {
        let Device { memory, queues, .. } = &mut self.device;
        let queue = &mut queues[TRANSMIT];
        let Some(head) = queue.take(memory, Use::Read, &mut self.pieces)? else { return Ok(false) };
        let total = self.pieces.iter().fold(0_usize, |sum, piece| sum.saturating_add(piece.len as usize));
        if total > MAX + CARD_HEADER {
            return Err(GuestFault::Frame(total.saturating_sub(CARD_HEADER)));
        }
        frame.clear();
        frame.resize(total, 0);
        let mut rest = frame.as_mut_slice();
        for piece in &self.pieces {
            let (part, after) = rest.split_at_mut(piece.len as usize);
            memory.read(piece.at, part).map_err(crate::linux::ring::RingFault::from)?;
            rest = after;
        }
        queue.give_back(memory, head, 0)?;
        frame.drain(..CARD_HEADER.min(total));
        Ok(true)
    }

    /// Passes it an arriving frame, while it does not run.
    ///
    /// # Errors
    /// When it has no room, its queue is inconsistent, or it does not respond.
    pub fn receive(&mut self, frame: &[u8]) -> Result<(), GuestFault> {
        let watched = self.watched();
        let Device { memory, queues, interrupts } = &mut self.device;
        let queue = &mut queues[RECEIVE];
        let Some(head) = queue.take(memory, Use::Write, &mut self.pieces)? else { return Err(GuestFault::NoRoom) };
        let mut header = [0; CARD_HEADER];
        header[BUFFERS] = 1;
        let mut parts = [&header[..], frame];
        for piece in &self.pieces {
            let (mut at, mut room) = (piece.at, piece.len as usize);
            for part in &mut parts {
                let (now, later) = part.split_at(room.min(part.len()));
                memory.write(at, now).map_err(crate::linux::ring::RingFault::from)?;
                at = at.saturating_add(now.len() as u64);
                room -= now.len();
                *part = later;
            }
        }
        if parts.iter().any(|part| !part.is_empty()) {
            return Err(GuestFault::NoRoom);
        }
        queue.give_back(memory, head, (CARD_HEADER + frame.len()) as u32)?;
        if !queue.wants_interrupt(memory)? {
            return Ok(());
        }
        let Some(socket) = interrupts else { return Ok(()) };
        let mut answer = vhost::interrupt(RECEIVE);
        socket.write_all(&answer)?;
        liveness::read(socket, &mut answer, watched)
    }

    /// Output of its program since the last call.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn output(&mut self) -> io::Result<Vec<u8>> {
        let len = self.output.metadata()?.len().min(MAX_TEXT);
        let mut bytes = vec![0; len.saturating_sub(self.told) as usize];
        self.output.read_exact_at(&mut bytes, self.told)?;
        self.told += bytes.len() as u64;
        Ok(bytes)
    }

    /// Report lines since the last call.
    ///
    /// # Errors
    /// When a line is invalid, or reports an error.
    pub fn reports(&mut self, lines: &mut Vec<Line>) -> Result<(), GuestFault> {
        let len = self.report.metadata()?.len().min(MAX_TEXT);
        if len <= self.read {
            return Ok(());
        }
        let mut bytes = vec![0; (len - self.read) as usize];
        self.report.read_exact_at(&mut bytes, self.read)?;
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        self.read += end as u64 + 1;
        for line in String::from_utf8_lossy(&bytes[..end]).lines() {
            match Line::read(line.trim_end_matches('\r')) {
                Some(Line::Error(message)) => return Err(GuestFault::Program(message)),
                Some(line) => lines.push(line),
                None => {
                    let excerpt: String = line.chars().take(80).collect();
                    return Err(GuestFault::Program(format!("its report is not to be understood: {excerpt}")));
                }
            }
        }
        Ok(())
    }
}

/// The last lines of a console, joined.
fn tail(console: &File) -> String {
    let len = console.metadata().map_or(0, |metadata| metadata.len()).min(MAX_TEXT);
    let part = len.min(600);
    let mut bytes = vec![0; part as usize];
    if console.read_exact_at(&mut bytes, len - part).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" / ")
}

fn arguments(setup: &Setup<'_>, folder: &Path, number: usize, job: &Path) -> Command {
    let mut command = Command::new(setup.kernel);
    let mut plain = |text: String| {
        command.arg(text);
    };
    plain(format!("mem={}M", setup.memory));
    // Without explicit `root` and `console`, User-Mode Linux appends them at the end, where they
    // would become arguments of our program.
    for text in ["root=98:0", "console=tty0", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "virtio_net.napi_tx=0"] {
        plain(text.to_owned());
    }
    for text in ["con=null", "con0=null,fd:1", "ssl=null", "ssl0=null,fd:3", "ssl1=null,fd:4"] {
        plain(text.to_owned());
    }
    plain(format!("time-travel-start={}", setup.epoch));
    let folder = folder.display();
    plain(format!("time-travel=ext:{number}:{folder}/clock{number}"));
    plain(format!("virtio_uml.device={folder}/card{number}:1"));
    plain(format!("uml_dir={folder}/"));
    let mut init = OsString::from("init=");
    let mut words = setup.program.iter();
    init.push(words.next().map_or_else(OsString::new, Clone::clone));
    command.arg(init).arg("--").args(words).arg(job);
    command
}

/// Whether a path can be given on a kernel command line.
#[must_use]
pub fn can_be_named(program: &[OsString]) -> bool {
    let plain = |word: &OsString| word.as_bytes().iter().all(|byte| byte.is_ascii_graphic() && *byte != b'"');
    program.first().is_some_and(|word| word.as_bytes().first() == Some(&b'/')) && program.iter().all(plain)
}

/// Name of a role in the calendar and in file names.
#[must_use]
pub const fn number(role: Role) -> usize {
    match role {
        // A queue has a clock for itself.
        Role::Source | Role::Queue => 0,
        Role::Sink => 1,
    }
}
