//! The queues of goodqueue for programs in C.
//!
//! `include/goodqueue.h` is made from this file; `examples/link.c` shows its use. A queue is made
//! by [`gq_queue_new`] and belongs to the caller, who may use it from one thread at a time. Times
//! are nanoseconds of a clock of the caller's choice that never runs backwards. Packets stay the
//! caller's: a queue keeps the pointer `data` and a few facts, and gives every one back, by
//! [`gq_dequeue`] or through `dropped`; whatever waits when a queue is freed is given back through
//! the same function.

mod build;
mod host;

use goodqueue_aqm::{AnyQdisc, Qdisc, Reason};
use goodqueue_base::units::{Instant, Rate};
use host::{Held, Reporter};
use std::ffi::{c_char, c_void};

/// No such time, rate or limit.
pub const GQ_NONE: u64 = u64::MAX;

/// A queue under one of goodqueue's algorithms.
pub struct GqQueue(AnyQdisc<Held>);

/// The facts of a packet that a queue needs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GqPacket {
    /// The caller's own, never looked at.
    pub data: *mut c_void,
    /// Bytes without link framing.
    pub length: u32,
    /// A hash or number, equal for packets of one flow.
    pub flow: u32,
    /// ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE. Comes back as 3 if the queue marked the
    /// packet: the caller then sets CE in its header.
    pub ecn: u8,
    /// Class selector of the DSCP, 0 to 7; 0 is best effort.
    pub traffic_class: u8,
}

/// The reason that a packet was dropped or marked.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GqReason {
    /// The queue's hard limit was reached.
    Overflow,
    /// The algorithm's decision on arrival.
    Early,
    /// The algorithm's decision on departure.
    Head,
    /// A token bucket had too few tokens.
    Policer,
    /// A flow was recognized as unresponsive and held back.
    Penalty,
    /// A fair queue dropped from its fattest flow.
    OverLimit,
    /// A packet of the same flow was found in the queue.
    Match,
    /// Sojourn time above a fixed marking threshold.
    Threshold,
    /// The frame could not be parsed.
    Malformed,
    /// An acknowledgement of which a later one in the queue says everything.
    Redundant,
}

impl GqReason {
    /// Every reason, in the order of [`Reason::ALL`].
    const ALL: [Self; GQ_REASONS] = [
        Self::Overflow,
        Self::Early,
        Self::Head,
        Self::Policer,
        Self::Penalty,
        Self::OverLimit,
        Self::Match,
        Self::Threshold,
        Self::Malformed,
        Self::Redundant,
    ];
}

const _: () = assert!(Reason::ALL.len() == GQ_REASONS, "each reason has a number in C");

impl From<Reason> for GqReason {
    fn from(reason: Reason) -> Self {
        Self::ALL[reason as usize]
    }
}

/// The number of reasons: the length of an array that is indexed by `GqReason`.
pub const GQ_REASONS: usize = 10;

/// The callbacks by which a queue reports what it does to packets. Both may be null; neither may
/// call the queue. Both must return: a C++ exception or a `longjmp` that leaves one ends the
/// program or is undefined behavior.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GqSink {
    /// Handed to both functions.
    pub context: *mut c_void,
    /// The packet is the caller's again. `enqueued_at` is when it had arrived.
    pub dropped: Option<extern "C" fn(context: *mut c_void, packet: GqPacket, reason: GqReason, enqueued_at: u64)>,
    /// CE was newly set on a packet, which stays in or leaves the queue as usual.
    pub marked: Option<extern "C" fn(context: *mut c_void, packet: GqPacket, reason: GqReason)>,
}

/// The link a queue stands before.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GqLink {
    /// Bits per second; `GQ_NONE`: unknown.
    pub rate: u64,
    /// One-way propagation delay in ns; some automatic settings use it.
    pub delay: u64,
    /// Largest packet without framing, in bytes: 1 to 1000000.
    pub mtu: u32,
    /// Framing bytes per packet, 0 to 10000.
    pub overhead: u32,
    /// Most packets that the queue holds; `GQ_NONE`: no limit.
    pub limit_packets: u64,
    /// Most bytes that the queue holds; `GQ_NONE`: no limit.
    pub limit_bytes: u64,
    /// Not zero: ECN-capable packets are marked instead of dropped.
    pub ecn: u8,
    /// Seed of the queue's random numbers.
    pub seed: u64,
}

/// One parameter of an algorithm, as `gq list aqm` names it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GqParam {
    /// The parameter's name.
    pub name: *const c_char,
    /// The value in seconds, bytes, bit/s or as a plain number; 0 or 1 for a switch.
    pub number: f64,
    /// The value where that is a word (a choice, or the algorithm of `fair`'s flows in `of`); null
    /// otherwise.
    pub word: *const c_char,
}

/// A packet that leaves its queue.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GqDeparture {
    /// The packet.
    pub packet: GqPacket,
    /// The time it arrived at the queue.
    pub enqueued_at: u64,
}

/// Counts of packets that arrived, left, were dropped and marked, and those that wait.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GqCounters {
    /// Packets offered, dropped ones included.
    pub arrived: u64,
    /// Packets handed out.
    pub departed: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets on which CE was newly set.
    pub marked: u64,
    /// Packets waiting.
    pub waiting: u64,
    /// Bytes of the waiting packets.
    pub waiting_bytes: u64,
}

/// Makes a queue of the kind `kind` (for instance "codel" or "fq-codel") with `count` parameters
/// before `link`. Returns null and writes why into `message` (`size` bytes, cut to fit, ending in a
/// zero byte) when that is not possible.
///
/// # Safety
/// `kind` and every `name` and `word` are zero-terminated or, for `word`, null; `params` points to
/// `count` parameters, or is null for none; `link` points to a link; `message` points to `size`
/// writable bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gq_queue_new(
    kind: *const c_char,
    params: *const GqParam,
    count: usize,
    link: *const GqLink,
    message: *mut c_char,
    size: usize,
) -> *mut GqQueue {
    // SAFETY: what the caller promises is what this function asks for.
    match unsafe { build::queue(kind, params, count, link) } {
        Ok(queue) => Box::into_raw(Box::new(GqQueue(queue))),
        Err(error) => {
            // SAFETY: `message` points to `size` writable bytes or is null, as the caller promises.
            unsafe { build::tell(&error, message, size) };
            std::ptr::null_mut()
        }
    }
}

/// Frees a queue. All packets that wait go to `dropped` of `sink` with the reason overflow,
/// whatever the queue holds back; `marked` is not called. Null is allowed.
///
/// # Safety
/// `queue` came from [`gq_queue_new`] and is not used again; `sink` points to a sink or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gq_queue_free(queue: *mut GqQueue, now: u64, sink: *const GqSink) {
    if queue.is_null() {
        return;
    }
    // SAFETY: it came from `Box::into_raw` and is given up here.
    let mut queue = unsafe { Box::from_raw(queue) };
    // SAFETY: a sink or null, as the caller promises.
    let mut reporter = unsafe { Reporter::new(sink) };
    host::empty(&mut queue.0, Instant::from_nanos(now), &mut reporter);
}

/// A packet arrives: it is queued, or dropped (it or others) and reported to `sink`.
///
/// # Safety
/// `queue` came from [`gq_queue_new`]; `sink` points to a sink or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gq_enqueue(queue: *mut GqQueue, now: u64, packet: GqPacket, sink: *const GqSink) {
    // SAFETY: the caller's queue, used by nobody else during the call; a sink or null.
    let (queue, mut reporter) = unsafe { (&mut *queue, Reporter::new(sink)) };
    queue.0.enqueue(Instant::from_nanos(now), Held(packet), &mut reporter);
}

/// The link is free: writes the next packet to `out` and returns true, or returns false when none
/// is ready. If packets wait all the same, ask again at [`gq_next_timer`]. Packets dropped on the
/// way go to `sink`.
///
/// # Safety
/// `queue` came from [`gq_queue_new`]; `out` points to writable memory for a departure; `sink`
/// points to a sink or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gq_dequeue(queue: *mut GqQueue, now: u64, out: *mut GqDeparture, sink: *const GqSink) -> bool {
    // SAFETY: the caller's queue, used by nobody else during the call; a sink or null.
    let (queue, mut reporter) = unsafe { (&mut *queue, Reporter::new(sink)) };
    let Some(departure) = queue.0.dequeue(Instant::from_nanos(now), &mut reporter) else { return false };
    let departure = GqDeparture { packet: departure.packet.0, enqueued_at: departure.enqueued_at.as_nanos() };
    // SAFETY: memory for a departure, as the caller promises.
    unsafe { out.write(departure) };
    true
}

/// Returns the time to call [`gq_handle_timer`]; `GQ_NONE`: never. May change with every other
/// call.
///
/// # Safety
/// `queue` came from [`gq_queue_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gq_next_timer(queue: *const GqQueue) -> u64 {
    // SAFETY: the caller's queue.
    let queue = unsafe { &*queue };
    queue.0.next_timer().map_or(GQ_NONE, Instant::as_nanos)
}

/// Runs whatever is due. Early and repeated calls change nothing.
///
/// # Safety
/// `queue` came from [`gq_queue_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gq_handle_timer(queue: *mut GqQueue, now: u64) {
    // SAFETY: the caller's queue, used by nobody else during the call.
    let queue = unsafe { &mut *queue };
    queue.0.handle_timer(Instant::from_nanos(now));
}

/// The link's rate is now `rate` bits per second; zero: it is down, `GQ_NONE`: unknown.
///
/// # Safety
/// `queue` came from [`gq_queue_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gq_set_link_rate(queue: *mut GqQueue, now: u64, rate: u64) {
    // SAFETY: the caller's queue, used by nobody else during the call.
    let queue = unsafe { &mut *queue };
    queue.0.set_link_rate(Instant::from_nanos(now), (rate != GQ_NONE).then_some(Rate::bit_s(rate)));
}

/// Returns the counts so far.
///
/// # Safety
/// `queue` came from [`gq_queue_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gq_counters(queue: *const GqQueue) -> GqCounters {
    // SAFETY: the caller's queue.
    let queue = unsafe { &*queue };
    let (counters, view) = (queue.0.counters(), queue.0.view());
    GqCounters {
        arrived: counters.arrived.packets.get(),
        departed: counters.departed.packets.get(),
        dropped: counters.dropped_total().packets.get(),
        marked: counters.marked.packets.get(),
        waiting: view.packets.get(),
        waiting_bytes: view.backlog.get(),
    }
}
