//! Two CUBIC flows share a 10 Mbit/s link under tail drop and under CoDel: from specification to
//! figures.

use goodqueue_aqm::{Limit, sched};
use goodqueue_base::units::{Duration, Instant, Rate};
use goodqueue_sim::{Continue, FlowSpec, LinkSpec, QueueSpec, SourceSpec, World, WorldSpec};

fn main() {
    for kind in ["tail-drop", "codel"] {
        let queue = QueueSpec::plain(sched::kind(kind).expect("a known kind"), Limit::packets(100));
        let link = LinkSpec::wire("bottleneck", Rate::mbit(10), Duration::ms(10)).behind(queue);
        // Data crosses the bottleneck, acknowledgements the wire that `line` puts next to it.
        let flow = |index: u32| FlowSpec {
            index,
            start: Instant::ZERO + Duration::ms(250) * u64::from(index),
            ..FlowSpec::new(vec![0], vec![1], SourceSpec::bulk("cubic"))
        };
        let mut spec = WorldSpec::line(link, vec![flow(0), flow(1)]);
        (spec.warmup, spec.duration) = (Duration::secs(5), Duration::secs(60));
        spec.recording.sample_every = Some(Duration::ms(100));
        let outcome = World::new(&spec).expect("a valid world").run(&mut |_| Continue::Yes);
        let link = &outcome.links[0];
        let ms = |q| link.sojourn.quantile(q).unwrap_or_default().as_secs_f64() * 1e3;
        println!(
            "{kind:>9}: utilization {:.1} %, sojourn p50 {:.1} ms, p95 {:.1} ms, {} drops",
            100.0 * link.sent_bits / link.capacity_bits,
            ms(0.5),
            ms(0.95),
            link.counters.dropped_total().packets.get(),
        );
        // A plot a terminal can show: the queue, one column a second.
        let queue = &outcome.series[0].columns[0].values;
        let line: String = queue.iter().step_by(10).map(|&n| ['.', ':', '-', '=', '#'][(n / 25.0).min(4.0) as usize]).collect();
        println!("           queue over time {line}");
    }
}
