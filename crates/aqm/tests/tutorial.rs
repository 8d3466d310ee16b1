//! The algorithm of `docs/own-algorithm.md`: the page shows this file, which is compiled as if it
//! lay among the algorithms of the crate.

use goodqueue_aqm::algo::Algorithm;
use goodqueue_aqm::spec::{LinkFacts, ParamValues};
use goodqueue_aqm::{Aqm, Env, FlowHash, Limit, PacketView, QueueView, Reason, Verdict, spec};
use goodqueue_base::units::{Bytes, Duration, Instant, Packets, Rng};
use tutorial::ramp::Ramp;

mod tutorial {
    use super::Algorithm;
    pub mod ramp;
}

fn ramp() -> Ramp {
    let given = ParamValues::new(&Ramp::KINDS[0].base, &[]).expect("defaults are allowed");
    let link = LinkFacts { rate: None, delay: Duration::ZERO, mtu: Bytes::new(1500), overhead: Bytes::ZERO, limit: Limit::NONE };
    Ramp::build(&given, &link).expect("no parameter contradicts another")
}

/// The share of packets signaled that have waited this long.
fn signaled(sojourn: Duration) -> f64 {
    let (mut ramp, mut rng) = (ramp(), Rng::new(1));
    let now = Instant::ZERO + Duration::secs(1);
    let count = (0..10_000).filter(|_| {
        let mut env = Env::new(now, &mut rng);
        let head = PacketView::new(Bytes::new(1500), FlowHash(1), now - sojourn);
        let rest = QueueView { backlog: Bytes::ZERO, packets: Packets::ZERO };
        ramp.on_departure(&mut env, head, rest) == Verdict::Signal(Reason::Head)
    });
    count.count() as f64 / 10_000.0
}

#[test]
fn ramp_signals_in_proportion_to_the_delay_above_target() {
    assert_eq!(signaled(Duration::ms(5)), 0.0);
    let share = signaled(Duration::ms(55));
    assert!((share - 0.1).abs() < 0.01, "{share}");
}

#[test]
fn the_page_shows_the_file() {
    let page = include_str!("../../../docs/own-algorithm.md");
    let file = include_str!("tutorial/ramp.rs");
    assert!(
        page.contains(&format!("```rust\n{file}```\n")),
        "docs/own-algorithm.md: the block differs from crates/aqm/tests/tutorial/ramp.rs"
    );
}
