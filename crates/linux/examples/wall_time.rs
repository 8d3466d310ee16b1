//! What a run with guests costs: real time for each second of virtual time, and packets a second.
//!
//! `cargo run --release -p goodqueue-linux --example wall_time -- FLOWS MBIT_S SECONDS [CONTROL] [SEED] [LIMIT_PACKETS] [RTT_MS]`

#![allow(clippy::disallowed_methods, reason = "measures real time")]

use goodqueue_aqm::{EcnPolicy, Limit};
use goodqueue_linux::{Hosts, Kernel, inside};
use goodqueue_sim::{Continue, FlowSpec, LinkSpec, QueueSpec, RateSpec, Recording, SourceSpec, WorldSpec};
use goodqueue_tcp::{CcConfig, ReceiverConfig, SenderConfig};
use goodqueue_units::{Bytes, Class, Duration, Instant, Rate};
use std::ffi::OsString;

const GUEST: &str = "guest";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == GUEST) {
        return Ok(inside::run(words[1].as_ref())?);
    }
    let number = |place: usize, default: u64| words.get(place).map_or(Ok(default), |word| word.parse());
    let (flows, mbit, seconds) = (number(0, 2)?, number(1, 10)?, number(2, 10)?);
    let control = words.get(3).map_or("cubic", String::as_str);
    let known = goodqueue_tcp::cc::kinds().iter().find(|known| known.kind == control).ok_or("no such control")?;
    let rate = Rate::mbit(mbit);
    let spec = spec(flows as u32, rate, seconds, known.kind, number(4, 1)?, number(5, 0)?, number(6, 20)?);
    let kernel = Kernel::find()?;
    goodqueue_linux::check(&spec, &kernel)?;
    let program = [std::env::current_exe()?.into_os_string(), OsString::from(GUEST)];
    let start = std::time::Instant::now();
    let outcome = goodqueue_linux::run(&spec, Hosts { kernel: &kernel.program, program: &program }, &mut |_| Continue::Yes)?;
    let wall = start.elapsed().as_secs_f64();
    let link = &outcome.links[0];
    let packets = outcome.links[0].departed_whole_run;
    println!(
        "{flows} flows of {control}, {mbit} Mbit/s, {seconds} s: {wall:.2} s of real time, {:.3} for each virtual second, \
         {:.0} data packets a second; utilisation {:.4}, mean queue {:.2} packets, drops {}, fingerprint {:016x}",
        wall / seconds as f64,
        packets as f64 / wall,
        link.sent_bits / link.capacity_bits,
        link.queue_packets,
        link.counters.dropped_total().packets,
        outcome.fingerprint,
    );
    for flow in outcome.flows.iter().take(4) {
        println!(
            "  flow {}: {:.3} Mbit/s, {} packets, {} sent again, {} timeouts",
            flow.index,
            flow.delivered_bytes as f64 * 8e-6 / spec.duration.as_secs_f64(),
            flow.sent_packets,
            flow.retransmitted_packets,
            flow.timeouts
        );
    }
    Ok(())
}

/// Flows over one tail-drop queue, starting 10 ms apart; the first fifth of the time is not measured. A limit of zero means one bandwidth-delay product.
fn spec(flows: u32, rate: Rate, seconds: u64, control: &'static str, seed: u64, limit: u64, rtt_ms: u64) -> WorldSpec {
    let bdp = rate.as_bit_s() * rtt_ms / 8_000 / 1500;
    let limit = if limit == 0 { bdp.max(4) } else { limit };
    let link = |name: &str, queue, observed| LinkSpec {
        name: name.to_owned(),
        rate: RateSpec::Constant(rate),
        burst: Bytes::ZERO,
        delay: Duration::us(rtt_ms * 500),
        jitter: Duration::ZERO,
        overhead: Bytes::ZERO,
        mtu: Bytes::new(1500),
        queue,
        loss: 0.0,
        flow_control: None,
        observed,
    };
    let kind = goodqueue_aqm::sched::kind("tail-drop").expect("tail-drop is always built in");
    let queue = QueueSpec::Discipline { kind, params: Vec::new(), of: None, ecn: EcnPolicy::Drop, limit: Limit::packets(limit) };
    let sender = SenderConfig { cc: CcConfig { kind: control, params: Vec::new() }, ..SenderConfig::default() };
    let source = SourceSpec::Tcp { sender, receiver: ReceiverConfig::default(), header: Bytes::new(52) };
    let flow = |index| FlowSpec {
        group: 0,
        index,
        forward: vec![0],
        reverse: vec![1],
        start: Instant::ZERO + Duration::ms(10 * u64::from(index)),
        stop: None,
        class: Class::DEFAULT,
        weight: 1.0,
        shared_host: None,
        source: source.clone(),
    };
    WorldSpec {
        links: vec![link("line", queue, true), link("line.up", QueueSpec::Unlimited, false)],
        flows: (0..flows).map(flow).collect(),
        groups: vec!["bulk".to_owned()],
        warmup: Duration::ms(seconds * 200),
        duration: Duration::ms(seconds * 800),
        seed,
        recording: Recording::default(),
    }
}
