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
        asked: Asked::All,
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
    // 40 circuits of 3 Mbit/s want 120 Mbit/s on average.
    let narrow = answered(network(Rate::mbit(60)));
    assert!(narrow.full[0].full > 0.9 && narrow.full[0].name == "AP", "{:?}", narrow.full);
    assert!(narrow.full[0].carried_bit_s <= 60e6 * 1.001);
    assert!(narrow.text.contains("AP (60 Mbit/s down) is full"), "{}", narrow.text);
    assert_eq!((narrow.full_sites, narrow.small_sites), (1, 1));
    // 130 Mbit/s are enough on average, and too little at times.
    let busy = answered(network(Rate::mbit(130)));
    assert_eq!((busy.full_sites, busy.small_sites), (1, 0));
    assert!(busy.text.contains("No site has less than is wanted of it on average: one site is full at times"), "{}", busy.text);
    let pages = |answer: &Answer| answer.queues[1].activities.iter().find(|(name, _)| *name == "page").unwrap().1.share;
    assert!(pages(&narrow) > pages(&wide), "{} and {}", narrow.text, wide.text);
    assert_eq!(answered(network(Rate::mbit(60))).text, narrow.text, "the same question has the same answer");
}

#[test]
fn a_plan_above_its_site_is_shaped_and_does_not_fill_it() {
    let mut network = network(Rate::mbit(10));
    network.circuits.truncate(1);
    let answer = answered(network);
    assert_eq!((answer.full_sites, answer.plans[0].of.as_deref()), (0, Some("20/5 Mbit/s")));
    let video = answer.queues[1].means["video.bitrate_bit_s"];
    assert!(video < 10e6, "{video}");
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

#[test]
fn kept_plans_cover_all_rates() {
    let mut network = network(Rate::gbit(1));
    for (number, circuit) in network.circuits.iter_mut().enumerate() {
        let down = Rate::mbit(4 + 4 * (number * number) as u64);
        circuit.plan = Ways { down, up: Rate::mbit(5) };
    }
    assert_eq!(network.merge_plans(12), 28);
    let kept = network.plans();
    assert_eq!(kept.len(), 12);
    assert!(kept[0].down <= Rate::mbit(40) && kept[11].down >= Rate::gbit(4), "{kept:?}");
}

#[test]
fn every_plan_wants_the_same_and_fullness_has_an_interval() {
    let mut network = network(Rate::mbit(130));
    network.sites.push(Site { name: "fast".to_owned(), ..network.sites[0].clone() });
    let fast = Ways { down: Rate::gbit(1), up: Rate::gbit(1) };
    let others = network.circuits.clone().into_iter().map(|one| Circuit { site: Some(1), plan: fast, ..one });
    network.circuits.extend(others.collect::<Vec<_>>());
    let full = answered(network).full;
    let wanted: Vec<f64> = full.iter().map(|site| site.wanted_bit_s / 40.0 / BUSY_HOUR.as_bit_s() as f64).collect();
    assert!(wanted.len() == 2 && wanted.iter().all(|part| (0.9..1.1).contains(part)), "{wanted:?}");
    for site in full {
        let (low, high) = site.full_interval;
        assert!(low < site.full && site.full < high && high - low < 0.5, "{site:?}");
        // Transfers that take longer because of the site begin less often.
        assert!(site.carried_bit_s < 1.1 * site.wanted_bit_s, "{site:?}");
    }
}

#[test]
fn queues_that_do_not_differ_are_not_told_apart() {
    let mut question = asked(network(Rate::gbit(1)));
    question.queues = vec!["fq-codel".to_owned(), "fq-codel:limit=10000 packets".to_owned()];
    let answer = answer(&question, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(
        answer.text.contains("simulated circuits do not tell fq-codel and fq-codel:limit=10000 packets apart"),
        "{}",
        answer.text
    );
    assert_eq!(answer.best.len(), 2);
}

#[test]
fn circuits_that_are_not_asked_about_only_make_traffic() {
    let mut question = asked(network(Rate::gbit(1)));
    question.network.circuits.push(Circuit {
        id: "fast".to_owned(),
        plan: Ways { down: Rate::mbit(100), up: Rate::mbit(20) },
        ..question.network.circuits[0].clone()
    });
    question.asked = Asked::These([40].into());
    let answer = answer(&question, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let plans: Vec<_> = answer.plans.iter().filter_map(|plan| plan.of.as_deref()).collect();
    assert_eq!(plans, ["100/20 Mbit/s"; 2], "the others are not shown");
    assert!(answer.full.is_empty() && answer.circuits == 41);
}

#[test]
fn a_site_that_is_lowered_makes_the_same_circuits_worse() {
    let played = |rates: Vec<(f64, f64)>| {
        let rates = Ways { down: rates.clone(), up: rates };
        let mut question = asked(network(Rate::gbit(1)));
        question.queues = vec!["fq-codel".to_owned()];
        question.asked = Asked::Behind(Played { site: 0, rates, seconds: 600.0 });
        answer(&question, &AtomicBool::new(false), &mut |_| {}).unwrap()
    };
    let (wide, narrow) = (played(vec![(0.0, 1e9)]), played(vec![(0.0, 1e9), (50.0, 30e6)]));
    let page = |answer: &Answer| answer.queues[0].means["page.page_load_s.p95"];
    assert!(page(&narrow) > 2.0 * page(&wide), "{} and {}", page(&narrow), page(&wide));
    assert_eq!(wide.day.len(), 1, "the evening alone");
    assert_eq!(narrow.simulated, wide.simulated);
}
