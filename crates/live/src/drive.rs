//! The loop of the thread that moves packets between two interfaces.

use crate::clock::{Clock, MonotonicClock};
use crate::forwarder::Forwarder;
use crate::monitor::Reporter;
use crate::packet::LivePacket;
use crate::port::Port;
use crate::port::interface::InterfacePort;
use crate::share::Share;
use crate::sys::scheduling;
use goodqueue_aqm::AnyQdisc;
use goodqueue_base::units::{Duration, Instant};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A forwarder between two interfaces.
pub type Bridge = Forwarder<InterfacePort, InterfacePort, AnyQdisc<LivePacket>>;

/// Commands and the end are noticed within this time, also when nothing arrives.
const MAX_WAIT: Duration = Duration::ms(20);
/// Time between two checks of a thread that does not wait whether its interfaces are there.
const LOOK_EVERY: Duration = Duration::ms(5);

/// Behavior of the thread while there is nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Sleeps. Packets due within `awake` are waited for awake, at most a quarter of the time.
    Sleep {
        /// Zero: never.
        awake: Duration,
    },
    /// Looks for packets again at once, which keeps a processor busy.
    BusyPoll,
}

/// Settings of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drive {
    /// Time between two reports.
    pub report_every: Duration,
    /// Between two packets.
    pub idle: Idle,
}

/// Moves packets until `stop`. `beat` counts the rounds, so that others see that the thread lives.
///
/// # Errors
/// When an interface is gone or the kernel refuses to wait.
pub fn run(
    bridge: &mut Bridge,
    mut clock: MonotonicClock,
    drive: Drive,
    reporter: &mut Reporter,
    stop: &AtomicBool,
    beat: &AtomicU64,
) -> io::Result<()> {
    let mut next_report = clock.now() + drive.report_every;
    let mut next_look = clock.now();
    let mut rounds = 0u64;
    let mut share = Share::of_this_thread(clock.now());
    let outcome = loop {
        rounds += 1;
        beat.store(rounds, Ordering::Relaxed);
        let next = match bridge.step(&mut clock) {
            Ok(next) => next,
            Err(error) => break Err(error),
        };
        reporter.obey(bridge);
        let now = clock.now();
        if now >= next_report {
            next_report = now + drive.report_every;
            reporter.report(now, scheduling::thread_time(), bridge);
        }
        if stop.load(Ordering::Relaxed) {
            break Ok(());
        }
        let owed = share.as_mut().map_or(Duration::ZERO, |share| share.owed(now));
        if !owed.is_zero() {
            // Also when something arrives meanwhile.
            if let Err(error) = scheduling::wait([None, None], owed) {
                break Err(error);
            }
            continue;
        }
        let pause = next.since(now).min(MAX_WAIT);
        let slept = match drive.idle {
            _ if pause.is_zero() => continue,
            Idle::Sleep { awake } => sleep(bridge, &mut clock, pause, awake),
            Idle::BusyPoll if now < next_look => {
                std::hint::spin_loop();
                continue;
            }
            Idle::BusyPoll => {
                next_look = now + LOOK_EVERY;
                sleep(bridge, &mut clock, Duration::ZERO, Duration::ZERO)
            }
        };
        if let Err(error) = slept {
            break Err(error);
        }
    };
    reporter.report(clock.now(), scheduling::thread_time(), bridge);
    outcome
}

/// Waits for an arrival or for `pause` to pass, the last `spin` of it awake.
fn sleep(bridge: &mut Bridge, clock: &mut MonotonicClock, pause: Duration, spin: Duration) -> io::Result<()> {
    // A quarter of the time awake, so never a full spin.
    let spin = spin.min(pause.div(4));
    let until: Instant = clock.now() + pause;
    let (a, b) = bridge.ports();
    let woken = scheduling::wait([a.descriptor(), b.descriptor()], pause.saturating_sub(spin))?;
    if woken.ready {
        let (a, b) = bridge.ports_mut();
        for (port, error) in [a, b].into_iter().zip(woken.errors) {
            if error {
                port.check(clock.now())?;
            }
        }
    } else if !spin.is_zero() {
        while clock.now() < until {
            std::hint::spin_loop();
        }
    }
    Ok(())
}
