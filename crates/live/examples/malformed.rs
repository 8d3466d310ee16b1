//! Malformed frames through the whole engine, in memory: `cargo run --release -p goodqueue-live
//! --example malformed -- 10000000`.
//!
//! Ends with an error when a frame is not accounted for; a panic would end it too.

use goodqueue_aqm::sched::kind;
use goodqueue_aqm::spec::LinkFacts;
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng};
use goodqueue_base::units::{Bytes, Duration, Framing, Instant, Rate};
use goodqueue_live::forwarder::{Direction, Forwarder, MALFORMED, Settings};
use goodqueue_live::frame::FlowKey;
use goodqueue_live::port::fuzz::Fuzz;
use goodqueue_live::port::memory::{MemoryPort, Nothing};
use goodqueue_live::{Line, LivePacket, RateSpec};
use std::error::Error;

#[path = "../tests/support/virtual_time.rs"]
mod virtual_time;

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse::<u64>());
    let count = count.map_err(|error| format!("the number of frames: {error}"))?;
    let rate = Rate::mbit(100);
    let line = Line { rate: RateSpec::Constant(rate), delay: Duration::ms(2), framing: Framing::header(Bytes::new(14)) };
    let facts = LinkFacts {
        rate: Some(rate),
        delay: line.delay,
        mtu: Bytes::new(1500),
        overhead: line.framing.overhead,
        limit: Limit::packets(200),
    };
    let queue = |name: &str| -> Result<AnyQdisc<LivePacket>, Box<dyn Error>> {
        let spec = kind(name).ok_or_else(|| format!("no queue `{name}`"))?;
        Ok(AnyQdisc::build(spec, &[], &facts, EcnPolicy::Mark, Rng::new(1))?)
    };
    let gap = Duration::us(10);
    let fuzz = |seed| MemoryPort::new(Fuzz::new(Rng::new(seed), count / 2, gap), Nothing);
    let settings = Settings { down: line.clone(), up: line.clone(), buffers: 2048, buffer_size: 2048, flow_key: FlowKey(7) };
    let mut live = Forwarder::new(&settings, (fuzz(1), fuzz(2)), (queue("fq-codel")?, queue("codel")?));
    let end = Instant::ZERO + gap * count + Duration::secs(10);
    virtual_time::run(&mut live, end)?;
    let (port_a, port_b) = live.port_counters();
    for (way, port) in [(Direction::Down, port_a), (Direction::Up, port_b)] {
        let frames = live.frames(way);
        println!("{way:?}: {} frames, {} too long for a buffer", frames.received, port.oversize);
        for (kind, count) in MALFORMED.iter().zip(frames.malformed) {
            println!("  {count:9}  {kind}");
        }
        println!("  {:9}  no IP, passed", frames.opaque);
        println!("  {:9}  dropped by the queue", live.direction(way).counters().dropped_total().packets.get());
        println!("  {:9}  sent", frames.sent);
        if frames.received + port.oversize + port.no_buffer != count / 2 {
            return Err(format!("{way:?}: not all of {} frames are accounted for", count / 2).into());
        }
    }
    if !live.conserves() || live.pool().in_use() != 0 {
        return Err("packets are not conserved".into());
    }
    Ok(())
}
