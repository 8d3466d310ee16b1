//! Two CUBIC flows share a 10 Mbit/s link under CoDel: from specification to figures.

#[path = "../tests/support/mod.rs"]
mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Duration, Rate};
use support::{bottleneck, bulk, dumbbell, queue, run, utilization};

fn main() {
    for kind in ["tail-drop", "codel"] {
        let link = bottleneck(Rate::mbit(10), Duration::ms(10), queue(kind, Limit::packets(100)));
        let flows = vec![bulk("cubic"), bulk("cubic")];
        let mut spec = dumbbell(link, flows, Duration::ms(500), Duration::secs(5), Duration::secs(60));
        spec.recording.sample_every = Some(Duration::ms(100));
        let outcome = run(&spec);
        let link = &outcome.links[0];
        println!(
            "{kind:>9}: utilization {:.1} %, sojourn p50 {:.1} ms, p95 {:.1} ms, {} drops",
            100.0 * utilization(&outcome),
            link.sojourn.value_at_quantile(0.5) as f64 * 1e-6,
            link.sojourn.value_at_quantile(0.95) as f64 * 1e-6,
            link.counters.dropped_total().packets.get(),
        );
        // A plot a terminal can show: the queue, one column a second.
        let queue = &outcome.series[0].columns[0].values;
        let line: String = queue.iter().step_by(10).map(|&n| ['.', ':', '-', '=', '#'][(n / 25.0).min(4.0) as usize]).collect();
        println!("           queue over time {line}");
    }
}
