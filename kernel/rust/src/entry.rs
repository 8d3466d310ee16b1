//! The functions that the module calls, and those of the module that are called here.

use crate::arena::Arena;
use crate::packet::{GqkFacts, Waiting};
use crate::settings::{GqkDevice, Plan, Refusal, Settings};
use crate::show::{self, Words};
use alloc::boxed::Box;
use alloc::string::ToString;
use core::ffi::c_void;
use core::ptr::{self, NonNull};
use goodqueue_aqm::{AnyQdisc, Departure, Dropped, NoSink, Qdisc, Reason, Sink};
use goodqueue_base::units::{Duration, Instant};

/// Makes a queue from `read`, and from the settings of `queue` unless that is null. The new queue
/// is in `queue` then.
pub const GQK_MAKE: u32 = 0;
/// Offers `packet` to the queue.
pub const GQK_ENQUEUE: u32 = 1;
/// Takes the next packet into `packet`.
pub const GQK_DEQUEUE: u32 = 2;
/// Writes all settings to `text`.
pub const GQK_SETTINGS: u32 = 3;
/// Writes counters and figures to `text`.
pub const GQK_STATISTICS: u32 = 4;
/// Empties the queue. The packets that waited are the module's again, without a call for each. The
/// algorithm keeps what it has learned.
pub const GQK_RESET: u32 = 5;

/// The call did what it was to do.
pub const GQK_DONE: u32 = 0;
/// The settings are wrong; `text` says why.
pub const GQK_REFUSED: u32 = 1;

/// No such time.
pub const GQK_NEVER: u64 = u64::MAX;

/// A call of the library: what to do, with what, and what came out.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GqkCall {
    /// `GQK_MAKE` and so on.
    pub what: u32,
    /// `GQK_DONE` or `GQK_REFUSED`.
    pub outcome: u32,
    /// The queue.
    pub queue: *mut Queue,
    /// Nanoseconds of a clock that never runs backwards.
    pub now: u64,
    /// Time of the next call of the queue at the latest; `GQK_NEVER`: not before something arrives.
    pub next: u64,
    /// Packets that wait in the queue after the call; after `GQK_MAKE`, the most that may.
    pub waiting: u64,
    /// The packet that arrives, or leaves; null when none is ready.
    pub packet: *mut GqkFacts,
    /// Handed to `gqk_dropped` and `gqk_marked`.
    pub host: *mut c_void,
    /// Settings to read, each `NAME=VALUE` with a zero byte behind it.
    pub read: *const u8,
    /// Bytes to read; then bytes that were written to `text`, or would have been.
    pub length: usize,
    /// Memory for words.
    pub text: *mut u8,
    /// Bytes of it.
    pub room: usize,
    /// The device, when a queue is made.
    pub device: GqkDevice,
}

// The module's part, in `kernel/module/shim.c`.
unsafe extern "C" {
    /// The packet belongs to the module again.
    fn gqk_dropped(host: *mut c_void, packet: *mut GqkFacts);
    /// CE is to be set on the packet, which stays in or leaves the queue as usual.
    fn gqk_marked(host: *mut c_void, packet: *mut GqkFacts);
}

/// A queue and what it was made from.
#[derive(Debug)]
pub struct Queue {
    line: Box<AnyQdisc<Waiting>>,
    /// The line's next timer after the last call, which none but calls change; the end of time for
    /// none.
    due: Instant,
    /// Packets in the line.
    waiting: u64,
    /// Lead of the queue's time over that of the module: a queue that holds packets back is emptied
    /// in no time.
    ahead: Duration,
    settings: Settings,
    plan: Box<Plan>,
}

impl Queue {
    fn make(before: Option<&Settings>, text: &[u8], device: &GqkDevice) -> Result<Box<Self>, Box<Refusal>> {
        let settings = Settings::read(before, text)?;
        let plan = settings.plan(device)?;
        let line = plan.build()?;
        let mut queue = Box::new(Self { line, due: Instant::MAX, waiting: 0, ahead: Duration::ZERO, settings, plan });
        queue.note_due();
        Ok(queue)
    }

    #[inline(always)]
    fn note_due(&mut self) {
        self.due = self.line.next_timer().unwrap_or(Instant::MAX);
    }
}

/// Hands drops and marks to the module.
struct Reporter {
    host: *mut c_void,
    dropped: u64,
}

impl Reporter {
    const fn new(call: &GqkCall) -> Self {
        Self { host: call.host, dropped: 0 }
    }
}

impl Sink<Waiting> for Reporter {
    fn dropped(&mut self, packet: Waiting, _: Dropped) {
        self.dropped += 1;
        // SAFETY: the module's own context and packet.
        unsafe { gqk_dropped(self.host, packet.facts()) }
    }
    fn marked(&mut self, packet: &Waiting, _: Reason) {
        // SAFETY: as above.
        unsafe { gqk_marked(self.host, packet.facts()) }
    }
}

/// Does what `call` says, and writes what came out into it. Unlike the module's other calls it may
/// end by `gqk_panic`.
///
/// # Safety
/// `call` points to a call; its `queue` is null where that is allowed, or came from `GQK_MAKE` and
/// is used by nobody else; `read` points to `length` bytes or is null; `text` points to `room`
/// bytes or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gqk_work(call: *mut GqkCall) {
    // SAFETY: as above.
    let call = unsafe { &mut *call };
    call.outcome = GQK_DONE;
    let queue = call.queue;
    match call.what {
        // SAFETY: a queue, as the caller promises.
        GQK_ENQUEUE => enqueue(unsafe { &mut *queue }, call),
        // SAFETY: as above.
        GQK_DEQUEUE => dequeue(unsafe { &mut *queue }, call),
        GQK_MAKE => make(call),
        // SAFETY: as above.
        GQK_SETTINGS => write(call, |words| show::settings(&unsafe { &*queue }.plan, words)),
        // SAFETY: as above.
        GQK_STATISTICS => write(call, |words| show::statistics(&unsafe { &*queue }.line, words)),
        // SAFETY: as above.
        GQK_RESET => reset(unsafe { &mut *queue }, call),
        _ => call.outcome = GQK_REFUSED,
    }
}

/// Runs `work` on the line at the module's time `call.now`. It says how many packets more wait
/// after it.
#[inline(always)]
fn at_work(queue: &mut Queue, call: &mut GqkCall, work: impl FnOnce(&mut AnyQdisc<Waiting>, Instant, &mut GqkCall) -> i64) {
    let now = Instant::from_nanos(call.now) + queue.ahead;
    if queue.due <= now {
        catch_up(&mut queue.line, now);
    }
    let more = work(&mut queue.line, now, call);
    queue.waiting = queue.waiting.wrapping_add_signed(more);
    debug_assert_eq!(queue.waiting, queue.line.view().packets.get());
    call.waiting = queue.waiting;
    queue.note_due();
    call.next = match queue.due {
        Instant::MAX => GQK_NEVER,
        due => due.as_nanos().saturating_sub(queue.ahead.as_nanos()),
    };
}

/// Runs updates that were due since the last call, each with its own time as in the simulator. A
/// kernel that lets a queue wait for long does not make up for all of them one by one.
#[inline(never)]
fn catch_up(line: &mut AnyQdisc<Waiting>, now: Instant) {
    const MAX: u32 = 64;
    for _ in 0..MAX {
        match line.next_timer() {
            Some(due) if due <= now => line.handle_timer(due),
            _ => return,
        }
    }
    line.handle_timer(now);
}

// Outer disciplines are called by their names: a call that may be for any of them has a large frame
// on the stack, and those call further ones.

#[inline(always)]
fn enqueue_in(line: &mut AnyQdisc<Waiting>, now: Instant, packet: Waiting, sink: &mut Reporter) {
    match line {
        AnyQdisc::Shaper(queue) => queue.enqueue(now, packet, sink),
        AnyQdisc::Priority(queue) => queue.enqueue(now, packet, sink),
        other => other.enqueue(now, packet, sink),
    }
}

#[inline(always)]
fn dequeue_from(line: &mut AnyQdisc<Waiting>, now: Instant, sink: &mut dyn Sink<Waiting>) -> Option<Departure<Waiting>> {
    match line {
        AnyQdisc::Shaper(queue) => queue.dequeue(now, sink),
        AnyQdisc::Priority(queue) => queue.dequeue(now, sink),
        other => other.dequeue(now, sink),
    }
}

#[inline(never)]
fn enqueue(queue: &mut Queue, call: &mut GqkCall) {
    let Some(facts) = NonNull::new(call.packet) else { return };
    // SAFETY: the module hands the packet over.
    let packet = unsafe { Waiting::new(facts) };
    #[cfg(feature = "provoke")]
    if packet.dscp() == 62 {
        panic!("provoked by a packet");
    }
    at_work(queue, call, |line, now, call| {
        let mut reporter = Reporter::new(call);
        enqueue_in(line, now, packet, &mut reporter);
        1 - reporter.dropped as i64
    });
}

#[inline(never)]
fn dequeue(queue: &mut Queue, call: &mut GqkCall) {
    at_work(queue, call, |line, now, call| {
        let mut reporter = Reporter::new(call);
        let departure = dequeue_from(line, now, &mut reporter);
        call.packet = departure.map_or(ptr::null_mut(), |departure| departure.packet.facts());
        -(reporter.dropped as i64) - i64::from(!call.packet.is_null())
    });
}

#[inline(never)]
fn reset(queue: &mut Queue, call: &mut GqkCall) {
    /// Longer than any queue holds a packet back at a time.
    const STEP: Duration = Duration::secs(1);
    let start = Instant::from_nanos(call.now) + queue.ahead;
    let line = &mut *queue.line;
    let mut now = start;
    while !line.view().packets.is_zero() {
        if dequeue_from(line, now, &mut NoSink).is_some() {
            continue;
        }
        now = line.next_timer().filter(|&due| due > now).unwrap_or(now + STEP);
        line.handle_timer(now);
        assert!(now.since(start) < Duration::secs(1 << 30), "a queue does not give back its packets");
    }
    queue.ahead += now.since(start);
    queue.waiting = 0;
    queue.note_due();
}

#[inline(never)]
fn make(call: &mut GqkCall) {
    let before = NonNull::new(call.queue).map(|queue| {
        // SAFETY: a queue, as the caller promises.
        let settings = unsafe { &raw const (*queue.as_ptr()).settings };
        // SAFETY: they never change; packets may be at work with the rest of the queue.
        unsafe { &*settings }
    });
    // SAFETY: `length` bytes, as the caller promises.
    let text = unsafe { bytes(call.read, call.length) };
    match Queue::make(before, text, &call.device) {
        Ok(queue) => {
            call.waiting = queue.plan.link.limit.packets.get();
            call.queue = Box::into_raw(queue);
            call.length = 0;
        }
        Err(refusal) => refuse(call, &refusal),
    }
}

/// Tells the module why there is no queue, cut to the room for words. Out of line: a queue is made
/// with less on the stack.
#[inline(never)]
fn refuse(call: &mut GqkCall, refusal: &Refusal) {
    call.outcome = GQK_REFUSED;
    let message = refusal.to_string();
    let length = message.len().min(call.room.saturating_sub(1));
    // SAFETY: `room` bytes, as the caller promises; the message is not among them.
    unsafe {
        ptr::copy_nonoverlapping(message.as_ptr(), call.text, length);
        if call.room > 0 {
            call.text.add(length).write(0);
        }
    }
    call.length = length;
}

#[inline(never)]
fn write(call: &mut GqkCall, what: impl FnOnce(&mut Words<'_>)) {
    // SAFETY: `room` bytes that nobody else uses, as the caller promises.
    let room = if call.text.is_null() { &mut [] } else { unsafe { core::slice::from_raw_parts_mut(call.text, call.room) } };
    let mut words = Words::new(room);
    what(&mut words);
    call.length = words.length();
}

/// # Safety
/// `text` points to `length` bytes, or is null.
unsafe fn bytes<'a>(text: *const u8, length: usize) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: as above.
    unsafe { core::slice::from_raw_parts(text, length) }
}

/// Prepares `size` bytes at `memory` for one queue; null if they are too few.
///
/// # Safety
/// `memory` points to `size` bytes that nobody else uses as long as the queue lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gqk_arena_new(memory: *mut u8, size: usize) -> *mut Arena {
    // SAFETY: as above.
    let arena = NonNull::new(memory).and_then(|memory| unsafe { Arena::over(memory, size) });
    arena.map_or(ptr::null_mut(), NonNull::as_ptr)
}

/// Bytes that are used of an arena; zero if something was asked for that did not fit.
///
/// # Safety
/// `arena` came from `gqk_arena_new`, and no call for its queue is at work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gqk_arena_used(arena: *const Arena) -> usize {
    // SAFETY: as above.
    let arena = unsafe { &*arena };
    if arena.is_exhausted() { 0 } else { arena.used() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;
    use std::string::String;
    use std::vec::Vec;

    std::thread_local! {
        static DROPPED: Cell<u32> = const { Cell::new(0) };
        static MARKED: Cell<u32> = const { Cell::new(0) };
    }

    #[unsafe(no_mangle)]
    extern "C" fn gqk_dropped(_: *mut c_void, _: *mut GqkFacts) {
        DROPPED.set(DROPPED.get() + 1);
    }
    #[unsafe(no_mangle)]
    extern "C" fn gqk_marked(_: *mut c_void, _: *mut GqkFacts) {
        MARKED.set(MARKED.get() + 1);
    }

    /// A packet that is not freed: tests are short.
    fn packet(n: u32) -> *mut GqkFacts {
        let facts = GqkFacts { length: 1500, flow: n % 7, source: 2, destination: 3, ecn: (n % 4) as u8, dscp: (n % 48) as u8 };
        Box::leak(Box::new(facts))
    }

    fn call(what: u32) -> GqkCall {
        GqkCall {
            what,
            outcome: GQK_DONE,
            queue: ptr::null_mut(),
            now: 1,
            next: 0,
            waiting: 0,
            packet: packet(2),
            host: ptr::null_mut(),
            read: ptr::null(),
            length: 0,
            text: ptr::null_mut(),
            room: 0,
            device: GqkDevice { mtu: 1500, overhead: 14, seed: 1 },
        }
    }

    /// The message that the module gets when no queue can be made.
    #[derive(Debug, PartialEq)]
    struct Told(String);

    fn make(before: *mut Queue, settings: &str) -> Result<*mut Queue, Told> {
        let mut message = [0u8; 400];
        let mut call = call(GQK_MAKE);
        (call.queue, call.read, call.length) = (before, settings.as_ptr(), settings.len());
        (call.text, call.room) = (message.as_mut_ptr(), message.len());
        // SAFETY: all pointers are to what lives here.
        unsafe { gqk_work(&raw mut call) };
        match call.outcome {
            GQK_DONE => Ok(call.queue),
            _ => Err(Told(std::str::from_utf8(&message[..call.length]).expect("text").into())),
        }
    }

    fn free(queue: *mut Queue) {
        // SAFETY: it came from `Box::into_raw` in `make`.
        drop(unsafe { Box::from_raw(queue) });
    }

    fn work(queue: *mut Queue, now: u64, mut call: GqkCall) -> GqkCall {
        (call.queue, call.now) = (queue, now);
        // SAFETY: the queue was made above.
        unsafe { gqk_work(&raw mut call) };
        call
    }

    #[test]
    fn every_packet_comes_back_and_the_figures_agree() {
        for spec in crate::settings::kinds() {
            let over = if spec.is_over_another() { ":pie" } else { "" };
            let queue = make(ptr::null_mut(), &std::format!("kind={}{over}\0link=10mbit\0limit=50\0ecn=1\0", spec.kind));
            let queue = queue.expect("its defaults are good");
            DROPPED.set(0);
            let (mut sent, mut now) = (0, 1_000_000_000);
            for step in 0..3000u32 {
                now += 500_000;
                work(queue, now, GqkCall { packet: packet(step), ..call(GQK_ENQUEUE) });
                if step % 3 != 0 {
                    sent += u32::from(!work(queue, now, call(GQK_DEQUEUE)).packet.is_null());
                }
            }
            let waiting = work(queue, now, call(GQK_ENQUEUE)).waiting;
            assert_eq!(u64::from(sent + DROPPED.get()) + waiting, 3001, "{}", spec.kind);
            let mut room = [0u8; 2048];
            let shown = work(queue, now, GqkCall { text: room.as_mut_ptr(), room: room.len(), ..call(GQK_STATISTICS) });
            let text = std::str::from_utf8(&room[..shown.length]).expect("text");
            assert!(
                text.starts_with(&std::format!("arrived=3001\0departed={sent}\0waiting={waiting}\0")),
                "{}: {text}",
                spec.kind
            );
            assert_eq!(work(queue, now, call(GQK_RESET)).outcome, GQK_DONE);
            assert_eq!(work(queue, now, call(GQK_ENQUEUE)).waiting, 1, "{} is empty before", spec.kind);
            let ready = work(queue, now + 1_000_000_000, call(GQK_DEQUEUE)).packet;
            assert!(!ready.is_null(), "{}: time has not run away", spec.kind);
            free(queue);
        }
        assert!(MARKED.get() > 0);
    }

    fn statistics(line: &AnyQdisc<Waiting>) -> Vec<u8> {
        let mut room = std::vec![0; 2048];
        let mut words = Words::new(&mut room);
        show::statistics(line, &mut words);
        let length = words.length();
        room.truncate(length);
        room
    }

    /// A queue that is asked for its next timer before each call, as the simulator does.
    #[test]
    fn a_queue_decides_as_one_that_is_asked_for_its_timer_each_time() {
        for spec in crate::settings::kinds() {
            let over = if spec.is_over_another() { ":pie" } else { "" };
            let text = std::format!("kind={}{over}\0link=10mbit\0limit=80\0ecn=1\0", spec.kind);
            let queue = make(ptr::null_mut(), &text).expect("its defaults are good");
            let device = GqkDevice { mtu: 1500, overhead: 14, seed: 1 };
            let twin = Settings::read(None, text.as_bytes()).and_then(|settings| settings.plan(&device)).expect("good");
            let mut twin = twin.build().expect("good");
            let mut now = 1_000_000_000;
            for step in 0..6000u32 {
                now += if step % 1000 < 700 { 400_000 } else { 1_700_000 };
                let at = Instant::from_nanos(now);
                catch_up(&mut twin, at);
                // SAFETY: a packet of its own.
                let own = unsafe { Waiting::new(NonNull::new(packet(step)).expect("a packet")) };
                twin.enqueue(at, own, &mut NoSink);
                work(queue, now, GqkCall { packet: packet(step), ..call(GQK_ENQUEUE) });
                if step % 3 != 0 {
                    catch_up(&mut twin, at);
                    let expected = twin.dequeue(at, &mut NoSink).map(|departure| {
                        // SAFETY: as above.
                        unsafe { (*departure.packet.facts()).flow }
                    });
                    let left = NonNull::new(work(queue, now, call(GQK_DEQUEUE)).packet);
                    // SAFETY: as above.
                    let left = left.map(|facts| unsafe { facts.as_ref() }.flow);
                    assert_eq!(left, expected, "{} at step {step}", spec.kind);
                }
            }
            // SAFETY: the queue was made above.
            let line = unsafe { &(*queue).line };
            let [found, expected] = [line, &twin].map(|line| String::from_utf8(statistics(line)).expect("text"));
            assert_eq!(found, expected, "{}", spec.kind);
            free(queue);
        }
    }

    #[test]
    fn a_refusal_is_cut_to_the_room_it_has() {
        assert_eq!(
            make(ptr::null_mut(), "kind=codel\0target=-1ms\0").expect_err("refused").0,
            "target: `-1ms` is out of range: allowed 1 us to 10 s"
        );
        let mut room = [b'x'; 10];
        let mut call = call(GQK_MAKE);
        (call.text, call.room) = (room.as_mut_ptr(), room.len());
        // SAFETY: as above.
        unsafe { gqk_work(&raw mut call) };
        assert_eq!((call.outcome, &room), (GQK_REFUSED, b"kind: is \0"));
    }

    #[test]
    fn a_change_starts_from_the_queue_before() {
        let first = make(ptr::null_mut(), "kind=codel\0target=7ms\0").expect("good");
        let second = make(first, "interval=70ms\0").expect("good");
        let mut room = [0u8; 2048];
        let shown = work(second, 0, GqkCall { text: room.as_mut_ptr(), room: room.len(), ..call(GQK_SETTINGS) });
        let text = std::str::from_utf8(&room[..shown.length]).expect("text").split('\0').collect::<Vec<_>>();
        assert!(text.contains(&"target=7ms") && text.contains(&"interval=70ms"), "{text:?}");
        free(first);
        free(second);
    }
}
