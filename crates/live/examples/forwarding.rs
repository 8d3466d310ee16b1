//! Measures the cost that a queue adds to a port: frames that wait in a receive ring are passed on,
//! once by the port alone and once through a queue without a bound on its rate. `cargo run
//! --release -p goodqueue-live --example forwarding`. Needs root, or a user namespace (AF_XDP:
//! root).
//!
//! Both ways take turns on the same frames and ports, so that a machine that is busy with other
//! things is so for both.

mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Framing, Rate};
use goodqueue_live::clock::{Clock, MonotonicClock};
use goodqueue_live::drive::Bridge;
use goodqueue_live::forwarder::{BATCH, Direction, Forwarder, Settings};
use goodqueue_live::frame::FlowKey;
use goodqueue_live::pool::{Frame, Pool};
use goodqueue_live::port::Port;
use goodqueue_live::port::interface::InterfacePort;
use goodqueue_live::port::packet::PacketPort;
use goodqueue_live::port::xdp::{Transfer, XdpPort};
use goodqueue_live::testbed::bench::Bench;
use goodqueue_live::{Line, RateSpec};
use std::error::Error;
use std::io;
use support::queue;

/// Frames per round, fewer than a receive ring has room for.
const FRAMES: usize = 2000;
const ROUNDS: usize = 200;
/// A round that takes longer has lost frames.
const LONG: Duration = Duration::secs(2);

/// From one flow's sender to nobody: the right end has another address, so its kernel drops the
/// frame at once.
fn frame(bytes: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 0x99, 2, 0, 0, 0, 0, 0x11, 0x08, 0];
    let (ip, udp) = ((bytes - 14) as u16, (bytes - 34) as u16);
    frame.extend([0x45, 0, (ip >> 8) as u8, ip as u8, 0, 0, 0, 0, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 99]);
    // No checksum.
    frame.extend([0x13, 0x88, 0x13, 0x89, (udp >> 8) as u8, udp as u8, 0, 0]);
    frame.resize(bytes, 7);
    frame
}

struct Rig {
    left: PacketPort,
    bridge: Bridge,
    pool: Pool,
    clock: MonotonicClock,
}

impl Rig {
    /// Puts a round's frames into the receive ring.
    fn fill(&mut self, bytes: &[u8], stock: &mut Pool) -> io::Result<()> {
        let Some(slot) = stock.take() else { return Err(io::Error::other("no buffer")) };
        stock.buffer(slot)[..bytes.len()].copy_from_slice(bytes);
        let frames = [Frame::whole(slot, bytes.len() as u32); 50];
        let mut sent = 0;
        while sent < FRAMES {
            sent += self.left.send(self.clock.now(), stock, &frames[..frames.len().min(FRAMES - sent)])?;
        }
        stock.give_back(slot);
        Ok(())
    }

    /// Passes them on without a queue; returns how long that took.
    fn bare(&mut self, batch: &mut Vec<goodqueue_live::port::Received>) -> io::Result<Duration> {
        let start = self.clock.now();
        let (a, b) = self.bridge.ports_mut();
        let (mut passed, mut frames) = (0, Vec::with_capacity(BATCH));
        while passed < FRAMES {
            let now = self.clock.now();
            a.receive(now, &mut self.pool, batch)?;
            frames.extend(batch.drain(..).map(|received| received.frame));
            let mut rest = &frames[..];
            while !rest.is_empty() {
                let taken = b.send(now, &self.pool, rest)?;
                rest = &rest[taken..];
                passed += taken;
            }
            for frame in frames.drain(..) {
                self.pool.give_back(frame.slot);
            }
            late(now.since(start))?;
        }
        Ok(self.clock.now().since(start))
    }

    /// Passes them on through the queue.
    fn queued(&mut self) -> io::Result<Duration> {
        let start = self.clock.now();
        let goal = self.bridge.frames(Direction::Down).sent + FRAMES as u64;
        while self.bridge.frames(Direction::Down).sent < goal {
            self.bridge.step(&mut self.clock)?;
            late(self.clock.now().since(start))?;
        }
        Ok(self.clock.now().since(start))
    }
}

fn late(span: Duration) -> io::Result<()> {
    if span > LONG { Err(io::Error::other("frames of a round were lost")) } else { Ok(()) }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_nanos() as f64 / FRAMES as f64
}

fn measure(kind: &str, name: &str, bytes: usize) -> Result<String, Box<dyn Error>> {
    let bench = Bench::new()?;
    let clock = MonotonicClock::start();
    let open = |interface| -> io::Result<InterfacePort> {
        match kind {
            "af-xdp" => Ok(XdpPort::open(interface, Transfer::Either)?.into()),
            _ => Ok(PacketPort::open(interface, clock)?.into()),
        }
    };
    let ports = bench.middle.within(|| Ok((open(Bench::PORT_A)?, open(Bench::PORT_B)?)))?;
    let left = bench.left.within(|| PacketPort::open(Bench::LEFT, clock))?;
    let (rate, limit) = (Rate::gbit(1000), Limit::packets(10_000));
    let line = Line { rate: RateSpec::Constant(rate), delay: Duration::ZERO, framing: Framing::header(Bytes::new(14)) };
    let settings = Settings { down: line.clone(), up: line, buffers: 16_384, buffer_size: 2048, flow_key: FlowKey(1) };
    let bridge: Bridge = Forwarder::new(&settings, ports, (queue(name, rate, limit)?, queue("tail-drop", rate, limit)?));
    let mut rig = Rig { left, bridge, pool: Pool::new(256, 2048), clock };
    let (mut stock, mut batch) = (Pool::new(1, 2048), Vec::with_capacity(BATCH));
    let bytes_of = frame(bytes);
    let (mut bare, mut queued) = (Vec::new(), Vec::new());
    // Whatever the ends' kernels say on their own is out of the way before the first round.
    let quiet = rig.clock.now() + Duration::ms(50);
    while rig.clock.now() < quiet {
        rig.bridge.step(&mut rig.clock)?;
    }
    for _ in 0..ROUNDS {
        rig.fill(&bytes_of, &mut stock)?;
        bare.push(rig.bare(&mut batch)?);
        rig.fill(&bytes_of, &mut stock)?;
        queued.push(rig.queued()?);
    }
    let (bare, queued) = (median(bare), median(queued));
    Ok(format!(
        "{kind:10} {name:10} {bytes:6} {:10.0} {:10.0} {:14.2} {:14.2} {:7.3}",
        bare,
        queued,
        1e3 / bare,
        1e3 / queued,
        bare / queued
    ))
}

fn main() {
    println!("port       queue       bytes  bare ns/p  queue ns/p  bare Mpacket/s queue Mpacket/s   ratio");
    for kind in ["af-packet", "af-xdp"] {
        for name in ["tail-drop", "codel", "fq-codel"] {
            for bytes in [64, 1514] {
                match measure(kind, name, bytes) {
                    Ok(line) => println!("{line}"),
                    Err(error) => println!("{kind:10} {name:10} {bytes:6} not measured: {error}"),
                }
            }
        }
    }
}
