//! Measures the cost of a frame between two ports, without the cost of the ports themselves. `cargo
//! run --release -p goodqueue-live --example cost`; names of queues after it are measured in place
//! of all.
//!
//! Ports that copy a frame into a buffer, and take whatever they are handed, stand at both ends;
//! the queue is one without a bound on its rate.

mod support;

use goodqueue_aqm::{Limit, sched};
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Rate};
use goodqueue_live::clock::{Clock, MonotonicClock};
use goodqueue_live::forwarder::{Forwarder, Settings};
use goodqueue_live::frame::FlowKey;
use goodqueue_live::pool::{Frame, Pool};
use goodqueue_live::port::{Drained, Port, PortCounters, Received};
use goodqueue_live::{Line, RateSpec};
use std::error::Error;
use std::io;
use support::queue;

/// Frames per round.
const FRAMES: usize = 2000;
const ROUNDS: usize = 400;
const BYTES: usize = 64;

/// A port with `left` frames to receive, the last of which has just arrived.
#[derive(Default)]
struct Source {
    left: usize,
    frame: Vec<u8>,
    /// Time between two of them.
    gap: Duration,
}

impl Port for Source {
    fn receive(&mut self, now: Instant, pool: &mut Pool, batch: &mut Vec<Received>) -> io::Result<Drained> {
        while batch.len() < batch.capacity() {
            if self.left == 0 {
                return Ok(Drained::Empty);
            }
            let Some(slot) = pool.take() else { return Ok(Drained::More) };
            pool.buffer(slot)[..BYTES].copy_from_slice(&self.frame);
            batch.push(Received {
                frame: Frame::whole(slot, BYTES as u32),
                stamp: Some(now - self.gap * self.left as u64),
                joined: None,
            });
            self.left -= 1;
        }
        Ok(Drained::More)
    }

    fn send(&mut self, _now: Instant, _pool: &Pool, frames: &[Frame]) -> io::Result<usize> {
        Ok(frames.len())
    }

    fn counters(&mut self) -> PortCounters {
        PortCounters::default()
    }
}

/// UDP over IPv4, of one flow.
fn frame() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0];
    frame.extend([0x45, 0, 0, (BYTES - 14) as u8, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([0x13, 0x88, 0x13, 0x89, 0, (BYTES - 34) as u8, 0, 0]);
    frame.resize(BYTES, 7);
    frame
}

/// Nanoseconds per frame, of frames that arrive `gap` apart.
fn measure(name: &str, gap: Duration) -> Result<f64, Box<dyn Error>> {
    let (rate, limit) = (Rate::gbit(1000), Limit::packets(10_000));
    let line = Line { rate: RateSpec::Constant(rate), delay: Duration::ZERO, framing: Framing::header(Bytes::new(14)) };
    let settings = Settings { down: line.clone(), up: line, buffers: 16_384, buffer_size: 2048, flow_key: FlowKey(1) };
    let ports = (Source { left: 0, frame: frame(), gap }, Source::default());
    let mut forwarder = Forwarder::new(&settings, ports, (queue(name, rate, limit)?, queue("tail-drop", rate, limit)?));
    let mut clock = MonotonicClock::start();
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        forwarder.ports_mut().0.left = FRAMES;
        let start = clock.now();
        // Until all are sent or dropped.
        while forwarder.ports().0.left > 0 || forwarder.pool().frames() > 0 {
            forwarder.step(&mut clock)?;
        }
        times.push(clock.now().since(start));
    }
    times.sort_unstable();
    Ok(times[ROUNDS / 2].as_nanos() as f64 / FRAMES as f64)
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    println!("queue            ns/frame, all at once  one by one");
    let kinds = sched::kinds().map(|kind| kind.kind).filter(|kind| asked.is_empty() || asked.iter().any(|name| name == kind));
    for name in kinds {
        match measure(name, Duration::ZERO).and_then(|at_once| Ok((at_once, measure(name, Duration::ns(20))?))) {
            Ok((at_once, one_by_one)) => println!("{name:16} {at_once:21.1} {one_by_one:11.1}"),
            Err(error) => println!("{name:16} not measured: {error}"),
        }
    }
}
