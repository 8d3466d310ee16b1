//! Open-loop queues against closed forms.

mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Ecn, Rate};
use goodqueue_sim::{Outcome, SizeLaw, SourceSpec};
use support::{bottleneck, dumbbell, queue, run, utilization};

fn poisson_queue(load: f64, sizes: SizeLaw) -> Outcome {
    let rate = Rate::mbit(10);
    let offered = Rate::bit_s((10e6 * load) as u64);
    let source = SourceSpec::Poisson { rate: offered, packet_size: Bytes::new(1250), sizes, ecn: Ecn::NotEct };
    let link = bottleneck(rate, Duration::ms(1), queue("tail-drop", Limit::NONE));
    run(&dumbbell(link, vec![source], Duration::ZERO, Duration::secs(10), Duration::secs(4_000)))
}

fn mean_wait_s(outcome: &Outcome) -> f64 {
    outcome.links[0].sojourn_sum_s / outcome.links[0].counters.departed.packets.get() as f64
}

/// Pollaczek-Khinchine for constant service times: W = rho / (2 mu (1 - rho)), within 3 %.
#[test]
fn waiting_time_of_m_d_1() {
    for load in [0.5, 0.8, 0.9] {
        let outcome = poisson_queue(load, SizeLaw::Fixed);
        let expected = load / (2.0 * 1000.0 * (1.0 - load));
        let measured = mean_wait_s(&outcome);
        assert!((measured / expected - 1.0).abs() < 0.03, "load {load}: {measured} against {expected}");
        assert!((utilization(&outcome) - load).abs() < 0.01);
    }
}

/// W = rho / (mu (1 - rho)), within 4 %: service times are exponential but for the access link's
/// serialization, 1 % of them.
#[test]
fn waiting_time_of_m_m_1() {
    for load in [0.5, 0.8] {
        let measured = mean_wait_s(&poisson_queue(load, SizeLaw::Exponential));
        let expected = load / (1000.0 * (1.0 - load));
        assert!((measured / expected - 1.0).abs() < 0.04, "load {load}: {measured} against {expected}");
    }
}

/// Little's law: mean queue = accepted rate x mean wait, within 1 %.
#[test]
fn littles_law() {
    let outcome = poisson_queue(0.8, SizeLaw::Fixed);
    let link = &outcome.links[0];
    let product = link.counters.departed.packets.get() as f64 / 4_000.0 * mean_wait_s(&outcome);
    assert!((link.queue_packets / product - 1.0).abs() < 0.01, "{} against {product}", link.queue_packets);
}

/// An overloaded tail-drop queue of 30 packets stays full and its link busy.
#[test]
fn overload_fills_the_buffer_and_the_link() {
    let source = SourceSpec::Cbr { rate: Rate::mbit(15), packet_size: Bytes::new(1500), ecn: Ecn::NotEct };
    let link = bottleneck(Rate::mbit(10), Duration::ms(5), queue("tail-drop", Limit::packets(30)));
    let outcome = run(&dumbbell(link, vec![source], Duration::ZERO, Duration::secs(10), Duration::secs(100)));
    assert!((utilization(&outcome) - 1.0).abs() < 1e-4);
    assert!((29.0..=30.0).contains(&outcome.links[0].queue_packets), "{}", outcome.links[0].queue_packets);
    assert!((support::loss(&outcome) - 1.0 / 3.0).abs() < 1e-3);
}
