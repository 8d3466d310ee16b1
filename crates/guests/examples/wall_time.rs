//! Measures the cost of a run with guests: real and processor time for each second of virtual time,
//! and packets per second of either.
//!
//! `cargo run --release -p goodqueue-guests --example wall_time -- FLOWS MBIT_S SECONDS [CONTROL]
//! [SEED] [LIMIT_PACKETS] [RTT_MS]`

#![allow(clippy::disallowed_methods, reason = "measures real time")]

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Duration, Instant, Rate};
use goodqueue_guests::linux::{GuestExecutables, Kernel, Series, inside};
use goodqueue_sim::{Continue, FlowSpec, LinkSpec, QueueSpec, SourceSpec, WorldSpec};
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
    let kernel = Kernel::find(Series::V6_12)?;
    goodqueue_guests::linux::check(&spec, &kernel)?;
    let program = [std::env::current_exe()?.into_os_string(), OsString::from(GUEST)];
    let start = std::time::Instant::now();
    let mut processor = 0.0;
    let hosts = GuestExecutables { kernel: &kernel.program, program: &program, patience: GuestExecutables::PATIENCE };
    let outcome = goodqueue_guests::linux::run(&spec, hosts, &mut |at| {
        // While there still are guests, and not often: it looks at all processes.
        if at.now.as_nanos() / 98 >= at.end.as_nanos() / 100 {
            processor = processor_seconds();
        }
        Continue::Yes
    })?;
    let wall = start.elapsed().as_secs_f64();
    let link = &outcome.links[0];
    let packets = outcome.links[0].departed_whole_run;
    println!(
        "{flows} flows of {control}, {mbit} Mbit/s, {seconds} s: for each virtual second {:.3} s of real time and {:.3} s of processor time, \
         {:.0} data packets a second of processor time; utilization {:.4}, mean queue {:.2} packets, drops {}, fingerprint {:016x}",
        wall / seconds as f64,
        processor / seconds as f64,
        packets as f64 / processor,
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
            flow.timeouts.unwrap_or(0)
        );
    }
    Ok(())
}

/// Processor time of this process and its guests so far; what has ended is not counted.
fn processor_seconds() -> f64 {
    /// Clock ticks per second, on all of Linux's interfaces.
    const TICKS: f64 = 100.0;
    let (own, guests) = (std::process::id().to_string(), format!("goodqueue-{}-", std::process::id()));
    let ticks = |entry: std::fs::DirEntry| {
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        (entry.file_name().to_str() == Some(&own) || line.contains(&guests)).then_some(())?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // Behind the name, which may hold anything: the eleventh and twelfth further words.
        let times = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
        Some(times.filter_map(|word| word.parse::<f64>().ok()).sum::<f64>())
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(ticks).sum::<f64>() / TICKS
}

/// Flows over one tail-drop queue, starting 10 ms apart; the first fifth of the time is not
/// measured. A limit of zero means one bandwidth-delay product.
fn spec(flows: u32, rate: Rate, seconds: u64, control: &'static str, seed: u64, limit: u64, rtt_ms: u64) -> WorldSpec {
    let bdp = rate.as_bit_s() * rtt_ms / 8_000 / 1500;
    let limit = if limit == 0 { bdp.max(4) } else { limit };
    let kind = goodqueue_aqm::sched::TAIL_DROP;
    let line = LinkSpec::wire("line", rate, Duration::us(rtt_ms * 500)).behind(QueueSpec::plain(kind, Limit::packets(limit)));
    let flow = |index| FlowSpec {
        index,
        start: Instant::ZERO + Duration::ms(10 * u64::from(index)),
        ..FlowSpec::new(vec![0], vec![1], SourceSpec::bulk(control))
    };
    WorldSpec {
        warmup: Duration::ms(seconds * 200),
        duration: Duration::ms(seconds * 800),
        seed,
        ..WorldSpec::line(line, (0..flows).map(flow).collect())
    }
}
