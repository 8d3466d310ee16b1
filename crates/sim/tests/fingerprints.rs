//! Tests that one specification always gives the same bits: in debug and release builds, on every
//! machine, for ever. A change of a fingerprint is a change of results and needs a line in the
//! changelog.

mod support;

use goodqueue_aqm::Limit;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate, Rng};
use goodqueue_sim::{Opportunities, RateSpec, SizeLaw, SourceSpec, WorldSpec};
use std::fmt::Write;
use std::sync::Arc;
use support::{bottleneck, bulk, dumbbell, queue, run};

fn tcp(kind: &str, cc: &'static str, flows: usize) -> WorldSpec {
    let link = bottleneck(Rate::mbit(10), Duration::ms(10), queue(kind, Limit::packets(100)));
    dumbbell(link, vec![bulk(cc); flows], Duration::secs(1), Duration::secs(2), Duration::secs(8))
}

fn udp(source: SourceSpec) -> WorldSpec {
    let link = bottleneck(Rate::mbit(10), Duration::ms(10), queue("tail-drop", Limit::bytes(45_000)));
    dumbbell(link, vec![source; 2], Duration::secs(1), Duration::secs(2), Duration::secs(8))
}

fn stepped() -> WorldSpec {
    let mut spec = tcp("codel", "cubic", 4);
    let at = |s| Instant::ZERO + Duration::secs(s);
    spec.links[0].rate = RateSpec::Steps(vec![(at(0), Rate::mbit(20)), (at(3), Rate::ZERO), (at(4), Rate::mbit(5))]);
    spec
}

fn recorded() -> WorldSpec {
    let mut spec = tcp("pie", "cubic", 4);
    let mut rng = Rng::new(9);
    let mut at = Duration::ZERO;
    let opportunities = (0..500)
        .map(|_| {
            at += Duration::ms(1 + rng.below(4));
            (at, Bytes::new(1500))
        })
        .collect();
    spec.links[0].rate = RateSpec::Recorded(Arc::new(Opportunities::new(opportunities, at).expect("a good recording")));
    spec
}

fn lossy() -> WorldSpec {
    let mut spec = tcp("tail-drop", "reno", 4);
    spec.links[0].loss = 0.01;
    spec
}

#[test]
fn fingerprints_do_not_change() {
    let rate = Rate::mbit(6);
    let packet_size = Bytes::new(1000);
    let ecn = Ecn::NotEct;
    let (mean_on, mean_off) = (Duration::ms(20), Duration::ms(80));
    let cases: Vec<(&str, WorldSpec)> = vec![
        ("tail-drop, 16 cubic", tcp("tail-drop", "cubic", 16)),
        ("tail-drop, 1 reno", tcp("tail-drop", "reno", 1)),
        ("red, 16 reno", tcp("red", "reno", 16)),
        ("ared, 16 cubic", tcp("ared", "cubic", 16)),
        ("pie, 16 cubic", tcp("pie", "cubic", 16)),
        ("codel, 16 cubic", tcp("codel", "cubic", 16)),
        ("cp-aqm, 16 cubic", tcp("cp-aqm", "cubic", 16)),
        ("fq-codel, 16 cubic", tcp("fq-codel", "cubic", 16)),
        ("stepped rate", stepped()),
        ("recorded rate", recorded()),
        ("lossy link", lossy()),
        ("cbr", udp(SourceSpec::Cbr { rate, packet_size, ecn })),
        ("poisson", udp(SourceSpec::Poisson { rate, packet_size, sizes: SizeLaw::Exponential, ecn })),
        ("on-off", udp(SourceSpec::OnOff { peak: Rate::mbit(20), mean_on, mean_off, packet_size, ecn })),
    ];
    let mut table = String::new();
    for (name, spec) in cases {
        let outcome = run(&spec);
        let link = &outcome.links[0];
        let drops = link.counters.dropped_total().packets.get();
        writeln!(
            table,
            "{name:20} {:016x} departed {:6} dropped {drops:5} mean queue {:8.4}",
            outcome.fingerprint, link.departed_whole_run, link.queue_packets
        )
        .expect("writing to a string cannot fail");
        assert_eq!(outcome.fingerprint, run(&spec).fingerprint, "{name}: two runs differ");
    }
    insta::assert_snapshot!(table);
}
