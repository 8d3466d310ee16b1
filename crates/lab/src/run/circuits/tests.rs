use super::*;
use crate::scenario::mix::EVENING;

fn network(rate: Rate) -> Network {
    let sites = vec![Site { name: "AP".to_owned(), parent: None, rate: Ways { down: rate, up: rate } }];
    let circuit = |number: usize| Circuit {
        id: number.to_string(),
        site: Some(0),
        plan: Ways { down: Rate::mbit(20), up: Rate::mbit(5) },
        least: Ways { down: Rate::mbit(1), up: Rate::mbit(1) },
    };
    Network { sites, circuits: (0..40).map(circuit).collect() }
}

fn asked(network: Network) -> Question {
    Question {
        network,
        mix: Mix::named(EVENING).unwrap(),
        queues: vec!["tail-drop".to_owned(), "fq-codel".to_owned()],
        rtt: Duration::ms(20),
        buffer: Duration::ms(250),
        busy_hour: BUSY_HOUR,
        samples: 10,
        seed: 1,
        jobs: 2,
    }
}

fn answered(network: Network) -> Answer {
    answer(&asked(network), &AtomicBool::new(false), &mut |_| {}).unwrap()
}

#[test]
fn a_fair_queue_helps_every_circuit_and_no_queue_a_full_site() {
    let wide = answered(network(Rate::gbit(1)));
    assert_eq!(wide.best, ["fq-codel"], "{}", wide.text);
    assert!(wide.full.is_empty() && wide.sites.is_empty());
    // 40 circuits of 2.5 Mbit/s want 100 Mbit/s on average.
    let narrow = answered(network(Rate::mbit(60)));
    assert!(narrow.full[0].full > 0.9 && narrow.full[0].name == "AP", "{:?}", narrow.full);
    assert!(narrow.full[0].carried_bit_s <= 60e6 * 1.001);
    assert!(narrow.text.contains("AP (60 Mbit/s down) is full"), "{}", narrow.text);
    let pages = |answer: &Answer| answer.queues[1].activities.iter().find(|(name, _)| *name == "page").unwrap().1.share;
    assert!(pages(&narrow) > pages(&wide), "{} and {}", narrow.text, wide.text);
    assert_eq!(answered(network(Rate::mbit(60))).text, narrow.text, "the same question has the same answer");
}

#[test]
fn rare_plans_count_as_the_nearest_common_one() {
    let mut network = network(Rate::gbit(1));
    network.circuits[7].plan.down = Rate::mbit(21);
    network.circuits.extend(
        (0..50)
            .map(|_| Circuit { plan: Ways { down: Rate::gbit(1), up: Rate::gbit(1) }, ..network.circuits[0].clone() })
            .collect::<Vec<_>>(),
    );
    assert_eq!(network.merge_plans(3), 0);
    assert_eq!(network.merge_plans(2), 1);
    assert_eq!(network.circuits[7].plan.down, Rate::mbit(20));
}
