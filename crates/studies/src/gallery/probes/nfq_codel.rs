//! nfqCoDel's arithmetic, its service and its queues, asked of the algorithm itself.

use super::probe::{Probe, gauge};
use goodqueue_aqm::algo::codel::CoDelParams;
use goodqueue_aqm::sched::nfq_codel::MCoDel;
use goodqueue_aqm::{
    Aqm, Env, FlowHash, Limit, NoSink, PacketView, Qdisc, QueueView, SimplePacket, Verdict, WeightedQueue, WeightedQueueParams,
};
use goodqueue_base::units::{Bytes, Duration, Instant, Packets, Rate, Rng};

const MS: f64 = 1e-6;
/// Longer than any interval in question.
const LONG: Duration = Duration::secs(20);

pub(super) const PROBES: &[Probe] = &[
    Probe::number("adaptive_target_ms", 1, |given| adaptive_target(given[0]).as_nanos() as f64 * MS),
    Probe::number("service_spread", 0, |_| service_spread()),
    Probe::number("shared_queues", 1, |given| shared_queues(given[0] as u32)),
];

fn adaptive() -> MCoDel {
    MCoDel::new(CoDelParams::default(), Some(Duration::secs(1)))
}

/// Whether a queue whose packets all wait for `sojourn` ever gets a signal.
fn signals_at(weight: f64, sojourn: Duration) -> bool {
    let mut aqm = adaptive();
    aqm.on_weight(weight);
    let mut rng = Rng::new(1);
    let queue = QueueView { backlog: Bytes::new(100_000), packets: Packets::new(100) };
    let start = Instant::ZERO + LONG;
    let mut now = start;
    while now < start + LONG {
        let head = PacketView::new(Bytes::new(1000), FlowHash(0), now - sojourn);
        let mut env = Env::new(now, &mut rng);
        env.link_rate = Some(Rate::mbit(622));
        if aqm.on_departure(&mut env, head, queue) != Verdict::Pass {
            return true;
        }
        now += Duration::ms(1);
    }
    false
}

/// The shortest standing delay that is signaled: the target.
fn adaptive_target(weight: f64) -> Duration {
    let (mut quiet, mut signaled) = (0, Duration::secs(1).as_nanos());
    while signaled - quiet > 1 {
        let middle = quiet + (signaled - quiet) / 2;
        if signals_at(weight, Duration::ns(middle)) {
            signaled = middle;
        } else {
            quiet = middle;
        }
    }
    Duration::ns(signaled)
}

/// Never signals.
#[derive(Clone, Debug)]
struct Nothing;
impl Aqm for Nothing {}

/// Queues of several weights that never run empty, packets of random sizes: the largest difference,
/// at any time, between the bytes over weight of two queues, as a part of the largest packet over
/// its weight.
fn service_spread() -> f64 {
    const WEIGHTS: [f64; 5] = [1.0, 2.0, 4.0, 0.5, 3.0];
    const MAX: u32 = 1500;
    let mut rng = Rng::new(3);
    let mut size = || 40 + rng.below(u64::from(MAX) - 39) as u32;
    let mut queue = WeightedQueue::new(Nothing, Limit::NONE, WeightedQueueParams::default());
    let packet = |flow: u32, len: u32| SimplePacket { flow, ..SimplePacket::new(len) };
    for (flow, weight) in (0..).zip(WEIGHTS) {
        queue.set_weight(FlowHash(flow), weight);
        (0..4).for_each(|_| queue.enqueue(Instant::ZERO, packet(flow, size()), &mut NoSink));
    }
    let mut served = [0.0; WEIGHTS.len()];
    let mut most = 0.0_f64;
    for _ in 0..200_000 {
        let Some(departure) = queue.dequeue(Instant::ZERO, &mut NoSink) else { return f64::MAX };
        let flow = departure.packet.flow;
        served[flow as usize] += f64::from(departure.packet.len) / WEIGHTS[flow as usize];
        queue.enqueue(Instant::ZERO, packet(flow, size()), &mut NoSink);
        let (least, greatest) = served.iter().fold((f64::MAX, 0.0_f64), |(low, high), own| (low.min(*own), high.max(*own)));
        most = most.max(greatest - least);
    }
    let lightest = WEIGHTS.iter().copied().fold(f64::MAX, f64::min);
    most / (f64::from(MAX) / lightest)
}

/// Returns the number of flows, out of `flows`, that find a queue that another one has.
fn shared_queues(flows: u32) -> f64 {
    let mut queue = WeightedQueue::new(adaptive(), Limit::NONE, WeightedQueueParams::default());
    // Numbers that differ in high bits only would collide in a table that is indexed by low ones.
    let number = |flow: u32| if flow.is_multiple_of(2) { flow } else { flow << 16 };
    (0..flows).for_each(|flow| {
        queue.enqueue(Instant::ZERO, SimplePacket { flow: number(flow), ..SimplePacket::new(1000) }, &mut NoSink)
    });
    f64::from(flows) - gauge(&queue, &["known_flows"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_to_the_nanosecond() {
        assert_eq!(adaptive_target(1.0), Duration::us(12_500));
        assert!(!signals_at(4.0, Duration::ms(34)));
    }

    #[test]
    fn service_follows_weights() {
        let spread = service_spread();
        assert!(spread > 0.1, "{spread}: sizes differ, so there is some");
        assert!(spread <= 1.0, "{spread}");
    }

    #[test]
    fn no_flow_shares() {
        assert_eq!(shared_queues(1000), 0.0);
    }
}
