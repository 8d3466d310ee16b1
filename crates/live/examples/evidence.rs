//! Rate, lateness and goodput of real TCP through the live queue, at several rates:
//! `cargo run --release -p goodqueue-live --example evidence --
//! [RATE in Mbit/s:QUEUE:CONTROL[:FLOWS[:joined]]]…`.
//! Needs root, or a user namespace. With `joined` the ends send frames of up to 64 KiB, which are
//! judged segment by segment.

use goodqueue_aqm::spec::LinkFacts;
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng, sched};
use goodqueue_base::units::{Bytes, Duration, Ecn, Framing, Rate};
use goodqueue_live::measure::Quantiles;
use goodqueue_live::testbed::experiment::{Arrivals, Direction, Experiment, Flow, Segments, Source, Timestamps, run};
use goodqueue_live::{Line, LivePacket, RateSpec};
use std::error::Error;
use std::sync::atomic::AtomicBool;

const OVERHEAD: Bytes = Bytes::new(14);

fn queue(name: &str, line: &Line, limit: Limit) -> Result<AnyQdisc<LivePacket>, Box<dyn Error>> {
    let facts =
        LinkFacts { rate: Some(line.rate.nominal()), delay: line.delay, mtu: Bytes::new(1500), overhead: OVERHEAD, limit };
    let spec = sched::kind(name).ok_or_else(|| format!("there is no queue `{name}`"))?;
    Ok(AnyQdisc::build(spec, &[], &facts, EcnPolicy::Drop, Rng::new(1))?)
}

fn cell(text: &str) -> Result<String, Box<dyn Error>> {
    let parts: Vec<&str> = text.split(':').collect();
    let [rate, name, control, rest @ ..] = &parts[..] else { return Err(format!("`{text}` is not RATE:QUEUE:CONTROL").into()) };
    let rate = Rate::mbit(rate.parse().map_err(|error| format!("`{rate}`: {error}"))?);
    let flows: usize = rest.first().map_or(Ok(1), |count| count.parse())?;
    let segments = match rest.get(1) {
        None => Segments::Single,
        Some(&"joined") => Segments::Joined,
        Some(other) => return Err(format!("`{other}` is not `joined`").into()),
    };
    // 20 ms of base round-trip time, 10 ms at 1 Gbit/s, 2 ms above.
    let delay = match rate {
        rate if rate > Rate::gbit(1) => Duration::ms(1),
        rate if rate == Rate::gbit(1) => Duration::ms(5),
        _ => Duration::ms(10),
    };
    let line = Line { rate: RateSpec::Constant(rate), delay, framing: Framing::header(OVERHEAD) };
    let back = Line { rate: RateSpec::Constant(Rate::gbit(100)), ..line.clone() };
    let bdp = rate.bytes_in(delay * 2).get();
    let (limit, limit_back) = (Limit::bytes((4 * bdp).max(30_000)), Limit::packets(10_000));
    let source = match *control {
        "udp" => {
            let rate = Rate::bit_s(rate.as_bit_s() / 10 * 12);
            Source::Udp { rate, arrivals: Arrivals::Periodic, rng: Rng::new(1), packet_size: 1500, ecn: Ecn::NotEct }
        }
        name => Source::Tcp { control: name.to_owned() },
    };
    let flow = Flow { source, way: Direction::Down, start: Duration::ZERO, stop: None, dscp: 0 };
    let experiment = Experiment {
        down: line.clone(),
        up: back.clone(),
        limits: (limit, limit_back),
        flows: vec![flow; flows],
        ecn: false,
        timestamps: Timestamps::On,
        segments,
        warmup: Duration::secs(3),
        sample_every: None,
        duration: Duration::secs(10),
    };
    let queues = (queue(name, &line, limit)?, queue("tail-drop", &back, limit_back)?);
    let measured = run(&experiment, queues, &AtomicBool::new(false))?;
    let measured = measured.ok_or("stopped")?;
    let seconds = measured.span.as_secs_f64();
    let sent = measured.down.sent_bits as f64 / seconds / 1e6;
    let goodput = measured.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>() as f64 * 8.0 / seconds / 1e6;
    let late = measured.down.lateness();
    // Segments in each frame that left, and what the thread takes of a processor.
    let (segments, frames) = measured.down.handed_over;
    let per_frame = if frames == 0 { 1.0 } else { segments as f64 / frames as f64 };
    let processor = measured.used.as_secs_f64() / seconds * 100.0;
    let sojourn = Quantiles::of(&measured.down.times.sojourn);
    Ok(format!(
        "{:9} {name:10} {control:6} {flows:5} {sent:11.4} {:8.4} {goodput:9.2} {:8.2} {:8.2} {:7} {:8.0} {:6.0} {:7.0} {:6} {per_frame:9.1} {processor:6.1}  {}{}",
        rate.as_bit_s() / 1_000_000,
        (sent * 1e6 / rate.as_bit_s() as f64 - 1.0) * 100.0,
        sojourn.p50_s * 1e3,
        sojourn.p99_s * 1e3,
        measured.down.dropped().packets.get(),
        late.p50_s * 1e6,
        late.p99_s * 1e6,
        late.max_s * 1e6,
        measured.down.times.stalls,
        measured.void(delay * 2).map_or_else(|| "valid".to_owned(), |why| format!("void: {why}")),
        if measured.real_time { "" } else { " (no real-time scheduling)" },
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut cells: Vec<String> = std::env::args().skip(1).collect();
    if cells.is_empty() {
        for rate in [10, 100] {
            cells.extend(
                ["tail-drop:udp", "codel:cubic", "pie:cubic", "cp-aqm:cubic", "fq-codel:cubic", "gsp-as:cubic"]
                    .map(|rest| format!("{rate}:{rest}")),
            );
        }
        cells.extend(
            ["1000:tail-drop:udp", "1000:tail-drop:cubic", "1000:fq-codel:cubic:4", "10000:fq-codel:cubic:4:joined"]
                .map(str::to_owned),
        );
    }
    println!(
        "rate Mbit/s queue    sender flows  sent Mbit/s  error %  goodput  sojourn ms p50, p99   drops  late us p50   p99     max stalls seg/frame  cpu %"
    );
    for text in &cells {
        println!("{}", cell(text)?);
    }
    Ok(())
}
