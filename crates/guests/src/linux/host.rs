//! The run: guests and world take turns on one clock.
//!
//! The participant with the earliest pending event runs next; ties go to the world, then the
//! source, then the sink. While a guest runs, its packets enter the world at the time of the guest,
//! and a packet can create an earlier event, which shortens the guest's time slice.

mod processor;
mod programs;
mod translate;

use crate::linux::error::{GuestFault, LinuxError, doing};
use crate::linux::event_queue::{Calendar, NEVER};
use crate::linux::frame::{self, Connection, IpPacket};
use crate::linux::job::{FIRST_PORT, Role};
use crate::linux::liveness;
use crate::linux::machine::{self, Guest, Said, Setup};
use crate::linux::report::Line;
use goodqueue_base::units::{Ecn, Instant};
use goodqueue_sim::{Continue, Fate, Outcome, OutsidePacket, OutsideWorld, Progress, Ticket, WorldSpec};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

pub use programs::{Programs, Said as ProgramSaid};
pub use translate::{MAX_PACKET, check};

/// Wall clock of the guests at boot: a round number, the same in every run.
pub(crate) const WALL_CLOCK: u64 = 1_700_000_000_000_000_000;
/// Time by which the world starts after the guests, in which they set themselves up.
const HEAD_START: u64 = 1_000_000_000;
/// Virtual time that guests have after the end to finish their reports.
const LAST_WORDS: u64 = 1_000_000_000;
/// Turns between two checks of progress and reports.
const TURNS: u32 = 4096;
/// Turns between two such checks when guests run programs, whose exit ends the run.
const SHORT_TURNS: u32 = 64;

/// The executables of guests.
#[derive(Clone, Copy, Debug)]
pub struct GuestExecutables<'a> {
    /// The guest kernel.
    pub kernel: &'a Path,
    /// The program that calls [`inside::run`](crate::linux::inside::run) with its last argument,
    /// and the arguments before that.
    pub program: &'a [OsString],
    /// Real time without a response after which a guest has failed.
    pub patience: Duration,
}

impl GuestExecutables<'_> {
    /// Enough for guests that work, on a machine that is overloaded.
    pub const PATIENCE: Duration = liveness::PATIENCE;
}

/// Runs a world with guests as the ends of its TCP flows.
///
/// # Errors
/// When the world cannot be built, the machine refuses something, or a guest goes wrong.
pub fn run(
    spec: &WorldSpec,
    hosts: GuestExecutables<'_>,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Outcome, LinuxError> {
    carry_out(spec, hosts, None, progress)
}

/// Runs a world with programs in the guests, in addition to its TCP flows, until the client or the
/// world ends.
///
/// # Errors
/// As [`run`].
pub fn execute(
    spec: &WorldSpec,
    hosts: GuestExecutables<'_>,
    programs: &mut Programs<'_>,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Outcome, LinuxError> {
    let spec = programs.joined(spec);
    carry_out(&spec, hosts, Some(programs), progress)
}

fn carry_out(
    spec: &WorldSpec,
    hosts: GuestExecutables<'_>,
    programs: Option<&mut Programs<'_>>,
    progress: &mut dyn FnMut(Progress) -> Continue,
) -> Result<Outcome, LinuxError> {
    if !machine::can_be_named(hosts.program) {
        let error =
            std::io::Error::other("its path is not absolute, or has characters that a kernel's command line does not take");
        return Err(LinuxError::System { what: "naming the program for guests", error });
    }
    let _core = processor::Claim::take();
    let folder = Folder::new().map_err(doing("making a folder for sockets"))?;
    let calendar = Calendar::new(2).map_err(doing("making the clock"))?;
    let world = OutsideWorld::new(spec)?;
    let memory = translate::memory(world.spec());
    let [mut source, mut sink] = [Role::Source, Role::Sink].map(|role| translate::job(&world, role, WALL_CLOCK + HEAD_START));
    if let Some(programs) = &programs {
        programs.add_to(&mut source, &mut sink);
    }
    let mut run = Run {
        flows: translate::flows(world.spec()),
        states: translate::States::new(&world),
        world,
        calendar,
        guests: Vec::new(),
        frames: Frames::default(),
        fates: Vec::new(),
        spare: Vec::new(),
        lines: Vec::new(),
        ready: 0,
        done: 0,
        programs,
    };
    let setup = Setup {
        kernel: hosts.kernel,
        program: hosts.program,
        epoch: WALL_CLOCK,
        memory,
        seed: spec.seed,
        patience: hosts.patience,
    };
    for job in [source, sink] {
        let number = machine::number(job.role);
        run.guests.push(Guest::start(&setup, &folder.path, number, &job)?);
        run.begin(number)?;
    }
    let wants = run.turns(folder, progress)?;
    Ok(run.finish(wants))
}

/// A folder with access for this user only, removed when dropped.
pub(crate) struct Folder {
    path: PathBuf,
}

static FOLDERS: AtomicU32 = AtomicU32::new(0);

impl Folder {
    pub(crate) fn new() -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        Self::sweep();
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("goodqueue-{}-{number}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes folders of processes that were killed.
    fn sweep() {
        let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix("goodqueue-")?.split_once('-'));
            let process = process.filter(|(_, number)| number.parse::<u32>().is_ok()).and_then(|(id, _)| id.parse().ok());
            // One of another user is refused, not missing.
            if process.and_then(Pid::from_raw).is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH)) {
                // It may belong to another user, who will remove it.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Only a few empty sockets remain, and there is nobody to report them to.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Frames in transit through the world, by ticket.
#[derive(Default)]
struct Frames {
    /// Index 0 is ticket 1.
    places: Vec<Vec<u8>>,
    free: Vec<NonZeroU32>,
}

impl Frames {
    /// Stores a frame and leaves an empty buffer in its place.
    fn keep(&mut self, frame: &mut Vec<u8>) -> Ticket {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(Vec::with_capacity(frame::MAX));
            // Memory does not suffice for more frames than that.
            NonZeroU32::new(self.places.len() as u32).unwrap_or(NonZeroU32::MAX)
        });
        std::mem::swap(&mut self.places[number.get() as usize - 1], frame);
        Ticket(number)
    }

    fn get(&mut self, ticket: Ticket) -> &mut Vec<u8> {
        &mut self.places[ticket.0.get() as usize - 1]
    }

    fn free(&mut self, ticket: Ticket) {
        self.free.push(ticket.0);
    }
}

/// A flow whose ends are outside.
struct Flow {
    /// Number in the specification.
    number: u32,
    connection: Connection,
}

struct Run<'a, 'b> {
    world: OutsideWorld,
    calendar: Calendar,
    guests: Vec<Guest>,
    /// Flows in the order of their ports.
    flows: Vec<Flow>,
    frames: Frames,
    fates: Vec<Fate>,
    spare: Vec<u8>,
    lines: Vec<Line>,
    /// Numbers of guests that have reported being ready, and being done.
    ready: usize,
    done: usize,
    states: translate::States,
    programs: Option<&'a mut Programs<'b>>,
}

impl Run<'_, '_> {
    /// Boots a guest until it first waits, one instant at a time, so that the other guest also
    /// starts at time zero.
    fn begin(&mut self, number: usize) -> Result<(), LinuxError> {
        self.guests[number].free_until(&self.calendar, 1);
        self.with(number, |guest, calendar| guest.boot(calendar))?;
        self.until_it_waits(number, Some(1))
    }

    fn with<T>(
        &mut self,
        number: usize,
        work: impl FnOnce(&mut Guest, &Calendar) -> Result<T, GuestFault>,
    ) -> Result<T, LinuxError> {
        let guest = &mut self.guests[number];
        work(guest, &self.calendar).map_err(|fault| guest.failed(fault))
    }

    /// Time of the world's next event, on the clock of the calendar.
    fn world_at(&self) -> u64 {
        let next = self.world.next();
        if next > self.world.end() { NEVER } else { HEAD_START + next.as_nanos() }
    }

    /// The guest that is due first, and its time.
    fn first_guest(&self, but: Option<usize>) -> (u64, usize) {
        let requests = (0..self.guests.len()).filter(|number| Some(*number) != but);
        requests.map(|number| (self.calendar.request(number), number)).min().unwrap_or((NEVER, 0))
    }

    /// Runs until both guests have finished their reports, or `progress` stops the run.
    fn turns(&mut self, folder: Folder, progress: &mut dyn FnMut(Progress) -> Continue) -> Result<Continue, LinuxError> {
        let over = HEAD_START + self.world.end().as_nanos() + LAST_WORDS;
        let mut folder = Some(folder);
        let mut turn = 0_u32;
        while self.done < self.guests.len() {
            let (world, (guest_at, guest)) = (self.world_at(), self.first_guest(None));
            let at = world.min(guest_at);
            if at >= HEAD_START && self.ready < self.guests.len() {
                self.hear()?;
                if self.ready < self.guests.len() {
                    return Err(self.guests[self.ready].failed(GuestFault::Late));
                }
            }
            if self.ready == self.guests.len() {
                // All files in it are open by now, so no file remains if this process is killed.
                drop(folder.take());
            }
            if at > over {
                return Err(self.guests[self.done].failed(GuestFault::Speechless));
            }
            self.calendar.set_now(at);
            if world <= guest_at {
                self.world.step();
                self.deliver()?;
            } else {
                let until = self.free_until(guest);
                self.guests[guest].free_until(&self.calendar, until);
                self.with(guest, |guest, calendar| guest.run(calendar, at))?;
                self.until_it_waits(guest, None)?;
            }
            turn = turn.wrapping_add(1);
            if turn.is_multiple_of(if self.programs.is_some() { SHORT_TURNS } else { TURNS }) || world == NEVER {
                self.hear()?;
                if self.programs.as_ref().is_some_and(|programs| programs.is_over()) {
                    return Ok(Continue::Stop);
                }
                if progress(self.world.progress()) == Continue::Stop {
                    return Ok(Continue::Stop);
                }
            }
        }
        Ok(Continue::Yes)
    }

    /// Returns the time up to which a guest may advance before another participant is due.
    fn free_until(&self, guest: usize) -> u64 {
        self.world_at().min(self.first_guest(Some(guest)).0)
    }

    /// Runs a guest until it waits. `most` bounds how far it may advance.
    fn until_it_waits(&mut self, number: usize, most: Option<u64>) -> Result<(), LinuxError> {
        loop {
            match self.with(number, |guest, calendar| guest.listen(calendar))? {
                Said::Waits => return Ok(()),
                Said::Else => {}
                Said::Sends(reply) => {
                    self.take_frames(number)?;
                    // Must be set before the guest learns that its frames are taken: from then on
                    // it may run past their consequences.
                    let until = self.free_until(number).min(most.unwrap_or(NEVER));
                    self.guests[number].free_until(&self.calendar, until);
                    self.with(number, |guest, _| guest.reply(&reply))?;
                }
            }
        }
    }

    /// Passes the frames of a guest to the world.
    fn take_frames(&mut self, number: usize) -> Result<(), LinuxError> {
        let mut frame = std::mem::take(&mut self.spare);
        loop {
            let guest = &mut self.guests[number];
            if !guest.sent(&mut frame).map_err(|fault| guest.failed(fault))? {
                break;
            }
            if let Some(packet) = self.packet(number, &frame) {
                let ticket = self.frames.keep(&mut frame);
                let now = self.calendar.now().saturating_sub(HEAD_START);
                self.world.put(Instant::from_nanos(now), OutsidePacket { ticket, ..packet });
                self.settle()?;
            }
        }
        self.spare = frame;
        Ok(())
    }

    /// The packet of the world for a frame: `None` if it is incomplete or belongs to no flow, or
    /// the world is not running.
    fn packet(&mut self, guest: usize, frame: &[u8]) -> Option<OutsidePacket> {
        let now = self.calendar.now().checked_sub(HEAD_START)?;
        if now > self.world.end().as_nanos() {
            return None;
        }
        let forward = guest == machine::number(Role::Source);
        let ip = IpPacket::read(frame)?;
        let tcp = frame::tcp(frame);
        let own = tcp.as_ref().and_then(|packet| {
            let port = packet.ports[usize::from(!forward)];
            let place = usize::from(port.checked_sub(FIRST_PORT)?);
            // Programs have flows of their own, after those of the world.
            (place < self.own_flows()).then_some(place)
        });
        let place = match own {
            Some(place) => place,
            None => self.own_flows() + self.programs.as_mut()?.flow(forward, ip.conversation),
        };
        let flow = self.flows.get_mut(place)?;
        let segment = match &tcp {
            Some(packet) if forward => flow.connection.forward(packet),
            Some(packet) => flow.connection.reverse(packet),
            None => programs::segment(forward),
        };
        let ticket = Ticket(NonZeroU32::MIN);
        Some(OutsidePacket { flow: flow.number, segment, ip_len: ip.ip_len, ecn: ip.ecn, ticket })
    }

    /// Number of the world's flows, without those of programs.
    fn own_flows(&self) -> usize {
        self.flows.len() - if self.programs.is_some() { programs::FLOWS } else { 0 }
    }

    /// Discards lost packets. Those that have arrived, which happens only while the world runs,
    /// stay for [`Run::deliver`].
    fn settle(&mut self) -> Result<(), LinuxError> {
        self.world.fates(&mut self.fates);
        let frames = &mut self.frames;
        self.fates.retain(|fate| {
            let Fate::Lost { ticket } = fate else { return true };
            frames.free(*ticket);
            false
        });
        Ok(())
    }

    /// Passes arrived packets to the guests.
    fn deliver(&mut self) -> Result<(), LinuxError> {
        self.settle()?;
        for fate in std::mem::take(&mut self.fates) {
            let Fate::Arrived { ticket, is_reverse, ecn } = fate else { continue };
            let frame = self.frames.get(ticket);
            if ecn != Ecn::NotEct {
                frame::set_ecn(frame, ecn);
            }
            let guest = &mut self.guests[machine::number(if is_reverse { Role::Source } else { Role::Sink })];
            guest.receive(frame).map_err(|fault| guest.failed(fault))?;
            self.frames.free(ticket);
        }
        Ok(())
    }

    /// Reads the reports of the guests.
    fn hear(&mut self) -> Result<(), LinuxError> {
        for guest in &mut self.guests {
            let before = self.lines.len();
            guest.reports(&mut self.lines).map_err(|fault| guest.failed(fault))?;
            let Some(programs) = &mut self.programs else { continue };
            let output = guest.output().map_err(|error| guest.failed(error.into()))?;
            let at = self.world.now();
            programs.hear(guest.role(), &output, &self.lines[before..], at);
        }
        for line in self.lines.drain(..) {
            match line {
                Line::Ready => self.ready += 1,
                Line::Done => self.done += 1,
                other => self.states.take(&other),
            }
        }
        Ok(())
    }

    fn finish(self, wants: Continue) -> Outcome {
        let origins = self.world.origins();
        let outcome = self.world.finish(wants);
        self.states.add_to(outcome, &origins)
    }
}
