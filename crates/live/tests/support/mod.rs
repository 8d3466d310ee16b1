//! Frames, queues and forwarders in virtual time.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod virtual_time;

use goodqueue_aqm::sched::kind;
use goodqueue_aqm::spec::{KindAndParams, LinkFacts, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Packet};
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Packets, Rate, Rng};
use goodqueue_live::forwarder::{Forwarder, Settings};
use goodqueue_live::frame::FlowKey;
use goodqueue_live::port::memory::{Kept, Listed, MemoryPort, Nothing};
use goodqueue_live::record::{Event, Reader, Recorder};
use goodqueue_live::spool::{Overrun, Spool};
use goodqueue_live::{Line, RateSpec};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

pub type InPort = MemoryPort<Listed, Kept>;
pub type OutPort = MemoryPort<Nothing, Kept>;
pub type Live = Forwarder<InPort, OutPort, AnyQdisc<goodqueue_live::LivePacket>>;

/// An Ethernet frame with a UDP packet of `ip_len` bytes.
pub fn udp(flow: u16, ip_len: u16, ecn: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let mut ip = vec![0x45, ecn];
    ip.extend(ip_len.to_be_bytes());
    ip.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    ip.extend(flow.to_be_bytes());
    ip.extend([0, 9]);
    ip.extend((ip_len - 20).to_be_bytes());
    ip.resize(usize::from(ip_len), 0);
    let sum: u32 = ip[..20].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = !((sum & 0xFFFF) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    frame.extend(ip);
    frame
}

pub fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::ms(n)
}

pub const OVERHEAD: Bytes = Bytes::new(14);

pub fn line(rate: Rate, delay: Duration) -> Line {
    Line { rate: RateSpec::Constant(rate), delay, framing: Framing::header(OVERHEAD) }
}

/// A queue by name, lively enough to act within a second, for packets of any type.
pub fn queue<P: Packet>(name: &str, rate: Rate, limit: Limit) -> AnyQdisc<P> {
    let facts = LinkFacts { rate: Some(rate), delay: Duration::ms(5), mtu: Bytes::new(1500), overhead: OVERHEAD, limit };
    let spec = kind(name).expect("a kind");
    let lively: &[(&str, Value)] = match name {
        "red" | "ared" | "choke" => &[("w_q", Value::Number(0.02))],
        "pi" => &[("a", Value::Number(1e-3)), ("b", Value::Number(0.9e-3))],
        "rem" => &[("gamma", Value::Number(0.1))],
        "shaper" => const { &[("rate", Value::Rate(Rate::mbit(8)))] },
        _ => &[],
    };
    let of = spec.needs_another().then(|| KindAndParams::new(kind("pie").expect("a kind"), Vec::new()));
    let queue = KindAndParams::new(spec, lively.to_vec()).over(of);
    AnyQdisc::build_over(&queue, &facts, EcnPolicy::Mark, Rng::new(5)).expect("a queue")
}

pub fn limit() -> Limit {
    Limit { packets: Packets::new(100), bytes: Bytes::new(150_000) }
}

/// Bursty traffic of several flows, sizes and codepoints, somewhat more than `rate` in the mean.
pub fn traffic(rate: Rate, until: Instant, seed: u64) -> Vec<(Instant, Vec<u8>)> {
    let mut rng = Rng::new(seed);
    let mut frames = Vec::new();
    let mut now = Instant::from_nanos(1_000_000);
    while now < until {
        let len = [64, 500, 1500, 1500][rng.below(4) as usize];
        // Small flows are polite, flow 7 sends all the time.
        let flow = if rng.fires(0.4) { 7 } else { rng.below(20) as u16 };
        frames.push((now, udp(flow, len, rng.below(4) as u8)));
        let mean = rate.transmission_time(Bytes::new(u64::from(len))).mul_f64(0.8);
        let pause = if rng.fires(0.01) { Duration::ms(rng.below(30)) } else { Duration::ZERO };
        now = now + mean.mul_f64(2.0 * rng.uniform()) + pause + Duration::ns(1);
    }
    frames
}

pub fn settings(line: &Line) -> Settings {
    Settings { down: line.clone(), up: line.clone(), buffers: 4096, buffer_size: 2048, flow_key: FlowKey(3) }
}

pub fn live(line: &Line, frames: Vec<(Instant, Vec<u8>)>, name: &str) -> Live {
    let ports = (MemoryPort::new(Listed(frames.into()), Kept::default()), MemoryPort::new(Nothing, Kept::default()));
    let rate = line.rate.nominal();
    Forwarder::new(&settings(line), ports, (queue(name, rate, limit()), queue("tail-drop", rate, Limit::NONE)))
}

/// A file in memory.
#[derive(Clone, Default)]
pub struct Shared(pub Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    pub fn recorder(&self) -> Recorder {
        Recorder::new(Spool::new(self.clone(), Overrun::Wait).unwrap(), "a test")
    }

    pub fn events(&self) -> Vec<Event> {
        let bytes = self.0.lock().unwrap().clone();
        let reader = Reader::new(&bytes[..]).unwrap();
        assert_eq!(reader.settings, "a test");
        reader.map(|event| event.unwrap()).collect()
    }
}
