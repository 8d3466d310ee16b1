//! A kernel's queue discipline as the queue of a link in the world: a guest that does nothing else.
//!
//! The guest has the queue disciplines of goodqueue in its kernel (`kernel/`) and a device whose
//! line is this process. A packet that arrives at the link is offered to that device, and the
//! kernel queues or drops it; when the link is free, the device asks the queue discipline for the
//! next. The guest has a clock of its own, which is set to the world's time before each order.

mod wire;
mod words;

use crate::linux::error::{GuestFault, LinuxError, doing};
use crate::linux::event_queue::Calendar;
use crate::linux::host::{Folder, GuestExecutables, WALL_CLOCK};
use crate::linux::job::{Job, ProgramJob, Role};
use crate::linux::machine::{Guest, Said, Setup};
use crate::linux::report::Line;
use goodqueue_aqm::external::{ExternalQueue, ExternalQueueKind, OfferedPacket, QueueEvents};
use goodqueue_aqm::spec::{LinkFacts, ParamError};
use goodqueue_base::units::{Duration, Instant, Rng};
use goodqueue_sim::{QueueSpec, WorldSpec};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
pub use wire::Answer;

/// Time of the guest's clock at which the world's begins: until then it sets itself up.
const HEAD_START: u64 = 1_000_000_000;
/// Memory of the guest in MiB: for a kernel, the most that a queue takes, and full queues of
/// packets.
const MEMORY: u32 = 768;
/// Seeds are numbers that `tc` reads exactly.
const SEED_BITS: u32 = 53;

/// Slot that holds the first fault of a run.
type Fault = Arc<Mutex<Option<LinuxError>>>;

/// Puts kernels' queue disciplines into worlds.
#[derive(Clone, Debug)]
pub struct KernelQueues {
    kernel: PathBuf,
    program: Vec<OsString>,
    patience: std::time::Duration,
    fault: Fault,
}

impl KernelQueues {
    /// `hosts` names the kernel that has the queue discipline, in whose folder the plugin of `tc`
    /// lies.
    #[must_use]
    pub fn new(hosts: GuestExecutables<'_>) -> Self {
        let GuestExecutables { kernel, program, patience } = hosts;
        Self { kernel: kernel.to_owned(), program: program.to_vec(), patience, fault: Fault::default() }
    }

    /// The world with all its queue disciplines in kernels.
    #[must_use]
    pub fn in_place_of_all(&self, spec: &WorldSpec) -> WorldSpec {
        let mut spec = spec.clone();
        for link in &mut spec.links {
            if matches!(link.queue, QueueSpec::Discipline { .. }) {
                link.queue = self.queue(&link.queue);
            }
        }
        spec
    }

    /// `queue` in a kernel.
    #[must_use]
    pub fn queue(&self, queue: &QueueSpec) -> QueueSpec {
        let kind = InKernel { queues: self.clone(), queue: queue.clone() };
        QueueSpec::ExternalScheduler { kind: Arc::new(kind), of: Box::new(queue.clone()) }
    }

    /// The first fault of a guest, after which its queue has dropped all packets.
    ///
    /// # Errors
    /// That fault.
    pub fn faultless(&self) -> Result<(), LinuxError> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// One queue of [`KernelQueues`].
#[derive(Debug)]
struct InKernel {
    queues: KernelQueues,
    queue: QueueSpec,
}

impl ExternalQueueKind for InKernel {
    fn open(&self, link: &LinkFacts, mut rng: Rng) -> Result<Box<dyn ExternalQueue>, ParamError> {
        let seed = rng.next_u64() >> (u64::BITS - SEED_BITS);
        let KernelQueues { kernel, program, patience, fault } = &self.queues;
        let hosts = GuestExecutables { kernel, program, patience: *patience };
        let queue = KernelQueue::open(hosts, &self.queue, link, seed).map_err(|error| ParamError::refused(&error))?;
        Ok(Box::new(Linked { queue: Mutex::new(Some(queue)), fault: fault.clone() }))
    }
}

/// A queue of the world; empty after its guest has failed.
#[derive(Debug)]
struct Linked {
    queue: Mutex<Option<KernelQueue>>,
    fault: Fault,
}

impl Linked {
    fn work(&mut self, work: impl FnOnce(&mut KernelQueue) -> Result<Answer, LinuxError>) -> bool {
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(Err(error)) = queue.as_mut().map(work) else { return queue.is_some() };
        *queue = None;
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        false
    }
}

impl ExternalQueue for Linked {
    fn offer(&mut self, now: Instant, packet: OfferedPacket, happened: &mut QueueEvents) {
        if !self.work(|queue| queue.offer(now, &packet, happened)) {
            happened.dropped.push(packet.number);
        }
    }

    fn take(&mut self, now: Instant, happened: &mut QueueEvents) {
        self.work(|queue| queue.take(now, happened));
    }

    fn next_release(&self) -> Option<Instant> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.next_release()
    }
}

/// A guest with one queue discipline, and its clock.
pub struct KernelQueue {
    guest: Guest,
    calendar: Calendar,
    frame: Vec<u8>,
    answer: Vec<u8>,
}

impl std::fmt::Debug for KernelQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelQueue").finish_non_exhaustive()
    }
}

impl KernelQueue {
    /// Starts a guest and attaches the queue discipline to its device. Its random numbers follow
    /// from the seed.
    ///
    /// # Errors
    /// When the guest fails or refuses the settings.
    pub fn open(hosts: GuestExecutables<'_>, queue: &QueueSpec, link: &LinkFacts, seed: u64) -> Result<Self, LinuxError> {
        let settings = words::settings(queue, link, seed).unwrap_or_default();
        let mtu = link.mtu.get();
        let folder = Folder::new().map_err(doing("making a folder for sockets"))?;
        let calendar = Calendar::new(1).map_err(doing("making the clock"))?;
        let plugin = hosts.kernel.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
        let command =
            format!("ip link set port0 mtu {mtu} txqueuelen 1000 up && tc qdisc add dev port0 root goodqueue {settings}");
        let job = Job {
            role: Role::Queue,
            epoch: WALL_CLOCK + HEAD_START,
            from: Duration::ZERO,
            until: Duration::ZERO,
            sample: None,
            settings: Vec::new(),
            program: Some(ProgramJob { start: Duration::ZERO, command, folder: plugin }),
            flows: Vec::new(),
        };
        let setup = Setup {
            kernel: hosts.kernel,
            program: hosts.program,
            epoch: WALL_CLOCK,
            memory: MEMORY,
            seed,
            patience: hosts.patience,
        };
        let guest = Guest::start(&setup, folder.path(), 0, &job)?;
        let mut queue = Self { guest, calendar, frame: Vec::new(), answer: Vec::new() };
        queue.set_up().map_err(|fault| queue.guest.failed(fault))?;
        Ok(queue)
    }

    /// Boots the guest until it is ready.
    fn set_up(&mut self) -> Result<(), GuestFault> {
        self.guest.free_until(&self.calendar, HEAD_START);
        self.guest.boot(&self.calendar)?;
        self.until_it_waits(&mut QueueEvents::default())?;
        let mut lines = Vec::new();
        loop {
            self.guest.reports(&mut lines)?;
            if lines.contains(&Line::Ready) {
                return Ok(());
            }
            let at = self.calendar.request(0);
            if at >= HEAD_START {
                return Err(GuestFault::Late);
            }
            self.run_at(at, HEAD_START, &mut QueueEvents::default())?;
        }
    }

    fn run_at(&mut self, at: u64, until: u64, happened: &mut QueueEvents) -> Result<Option<Answer>, GuestFault> {
        self.calendar.set_now(at);
        self.guest.free_until(&self.calendar, until);
        self.guest.run(&self.calendar, at)?;
        self.until_it_waits(happened)
    }

    /// Runs the guest until it waits, and gives the last answer that it sends.
    fn until_it_waits(&mut self, happened: &mut QueueEvents) -> Result<Option<Answer>, GuestFault> {
        let mut answer = None;
        loop {
            match self.guest.listen(&self.calendar)? {
                Said::Waits => return Ok(answer),
                Said::Else => {}
                Said::Sends(reply) => {
                    while self.guest.sent(&mut self.answer)? {
                        answer = wire::read(&self.answer, happened).or(answer);
                    }
                    self.guest.reply(&reply)?;
                }
            }
        }
    }

    /// Gives the order in `frame` at `now`.
    fn order(&mut self, now: Instant, happened: &mut QueueEvents) -> Result<Answer, LinuxError> {
        let answered = self.answered(HEAD_START + now.as_nanos(), happened);
        answered.map_err(|fault| self.guest.failed(fault))
    }

    fn answered(&mut self, at: u64, happened: &mut QueueEvents) -> Result<Answer, GuestFault> {
        // First run everything that is due earlier, such as timers of the kernel's own.
        while self.calendar.request(0) < at {
            self.run_at(self.calendar.request(0), at, happened)?;
        }
        self.calendar.set_now(at);
        self.guest.receive(&self.frame)?;
        while self.calendar.request(0) <= at {
            if let Some(answer) = self.run_at(at, at, happened)? {
                return Ok(answer);
            }
        }
        Err(GuestFault::Port)
    }

    /// A packet arrives.
    ///
    /// # Errors
    /// When the guest fails.
    pub fn offer(&mut self, now: Instant, packet: &OfferedPacket, happened: &mut QueueEvents) -> Result<Answer, LinuxError> {
        wire::offer(&mut self.frame, packet);
        self.order(now, happened)
    }

    /// The link asks for a packet.
    ///
    /// # Errors
    /// When the guest fails.
    pub fn take(&mut self, now: Instant, happened: &mut QueueEvents) -> Result<Answer, LinuxError> {
        wire::take(&mut self.frame);
        self.order(now, happened)
    }

    /// When the guest has something to do next.
    #[must_use]
    pub fn next_release(&self) -> Option<Instant> {
        Some(self.calendar.request(0))
            .filter(|&at| at != crate::linux::event_queue::NEVER)
            .map(|at| Instant::from_nanos(at.saturating_sub(HEAD_START)))
    }
}
