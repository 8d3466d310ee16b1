//! A forwarder in virtual time.

use goodqueue_aqm::Qdisc;
use goodqueue_base::units::Instant;
use goodqueue_live::clock::VirtualClock;
use goodqueue_live::port::Port;
use goodqueue_live::{Forwarder, LivePacket};
use std::io;

/// Runs `live` until `end`: the clock jumps to whatever comes next.
pub fn run<A: Port, B: Port, Q: Qdisc<LivePacket>>(live: &mut Forwarder<A, B, Q>, end: Instant) -> io::Result<()> {
    let mut clock = VirtualClock::default();
    loop {
        let next = live.step(&mut clock)?;
        let (a, b) = live.ports();
        let arrivals = [a.next_arrival(), b.next_arrival()];
        let next = arrivals.into_iter().flatten().fold(next, Instant::min);
        if next > end {
            return Ok(());
        }
        clock.0 = clock.0.max(next);
    }
}
