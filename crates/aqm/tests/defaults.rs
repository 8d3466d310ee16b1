//! The defaults of settings as a library has them are those of the descriptions, which files get.

use goodqueue_aqm::algo::{blue, cobalt, codel, docsis_pie, gsp, pi, pie, rem, sfb};
use goodqueue_aqm::sched::{cake, dualpi2, kind, kinds};
use goodqueue_aqm::spec::{KindAndParams, LinkFacts, ParamValues};
use goodqueue_aqm::steering::Policy;
use goodqueue_aqm::{AnyQdisc, EcnPolicy, FairQueueParams, Limit, Rng, ShownBacklog, SimplePacket, WeightedQueueParams};
use goodqueue_base::units::{Bytes, Duration, Rate};
use std::fmt::Debug;

/// The link that the defaults of settings are for.
const LINK: LinkFacts = LinkFacts {
    rate: Some(Rate::mbit(10)),
    delay: Duration::ms(10),
    mtu: Bytes::new(1500),
    overhead: Bytes::ZERO,
    limit: Limit::NONE,
};

/// The settings that are part of a queue of this kind to which nothing is given.
fn settings(kind: &str) -> Vec<String> {
    let all = |settings: &[&dyn Debug]| settings.iter().map(|settings| format!("{settings:?}")).collect();
    let codel = codel::CoDelParams::default();
    let pie = pie::PieParams { dozes: true, ..Default::default() };
    // The first setpoint of steered GSP, CoDel and PIE.
    let target = Duration::us(2500);
    let policy = Policy::new(target);
    match kind {
        "codel" => all(&[&codel]),
        "pie" => all(&[&pie]),
        "cobalt" => all(&[&cobalt::CobaltParams::default()]),
        "docsis-pie" => all(&[&docsis_pie::DocsisPieParams::default()]),
        "gsp" => all(&[&gsp::GspParams::default()]),
        "blue" => all(&[&blue::BlueParams::default()]),
        "rem" => all(&[&rem::RemParams::default()]),
        "pi" => all(&[&pi::PiParams::default()]),
        "sfb" => all(&[&sfb::SfbParams::default()]),
        "codel-as" => all(&[&codel::CoDelParams { target, ..codel }, &policy]),
        "gsp-as" => all(&[&gsp::GspParams::default(), &policy]),
        "pie-as" => all(&[&pie::PieParams { target, dozes: false, active_inactive: true, ..pie }, &policy]),
        "cake" | "cake-mq" => all(&[&cake::CakeParams::default()]),
        "dualpi2" => all(&[&dualpi2::DualPi2Params::default()]),
        "fq-codel" => all(&[&codel]),
        "fq-pie" => all(&[&pie]),
        "sfq-codel" => all(&[&codel::CoDelParams { reentry: codel::Reentry::Ns2, ..codel }]),
        "nfq-codel" => all(&[&WeightedQueueParams::default()]),
        // Settings without a default, or none.
        "tail-drop" | "red" | "ared" | "choke" | "cp-aqm" | "avq" | "phantom-queue" | "fair" | "htb" | "jobs" | "priority"
        | "shaper" => Vec::new(),
        _ => panic!("{kind}: its settings are not compared with its description"),
    }
}

#[test]
fn default_settings_are_those_of_the_descriptions() {
    for spec in kinds() {
        let inner = KindAndParams::new(kind("tail-drop").expect("a listed kind"), Vec::new());
        let of = spec.needs_another().then_some(inner);
        let limit = if settings(spec.kind).is_empty() { Limit::packets(100) } else { LINK.limit };
        let link = LinkFacts { limit, ..LINK };
        let queue = AnyQdisc::<SimplePacket>::build_over(
            &KindAndParams::new(spec, Vec::new()).over(of),
            &link,
            EcnPolicy::Drop,
            Rng::new(1),
        );
        let queue = format!("{:?}", queue.expect("defaults are valid"));
        for settings in settings(spec.kind) {
            assert!(queue.contains(&settings), "{}: {settings} is not in {queue:.2000}", spec.kind);
        }
    }
}

#[test]
fn default_rounds_are_those_of_the_descriptions() {
    let rounds = FairQueueParams::default();
    let described = [
        ("fair", rounds),
        ("fq-pie", rounds),
        ("fq-codel", FairQueueParams { shown: ShownBacklog::Total, ..rounds }),
        ("sfq-codel", FairQueueParams { header: Bytes::ZERO, ..rounds }),
    ];
    for (name, expected) in described {
        let given = ParamValues::new(kind(name).expect("a listed kind"), &[]).expect("nothing is given");
        assert_eq!(FairQueueParams::build(&given, &LINK), Ok(expected), "{name}");
    }
}
