use super::*;
use goodqueue_base::units::Direction;

fn process(course: Course) -> Process {
    Process { way: Direction::Down, course }
}

fn home<'a>(site: usize, plan: f64, weight: f64, processes: Vec<&'a Process>) -> Home<'a> {
    Home { site: Some(site), plan, weight, processes, seed: 7 }
}

fn run(tree: &Tree, homes: &[Home<'_>], watched: &[usize], span: Span) -> Flowed {
    super::run(tree, homes, watched, span, &AtomicBool::new(false))
}

#[test]
fn a_stop_ends_the_run_at_once() {
    let endless = process(Course::Endless { weight: 1.0 });
    let flowed = super::run(&tree(), &[home(1, 50.0, 1.0, vec![&endless])], &[], SPAN, &AtomicBool::new(true));
    assert_eq!(flowed.total, 0.0);
}

const SPAN: Span = Span { begun: 1.0, warmup: 2.0, end: 12.0 };

/// A root of 100 and, behind it, a site of 30.
fn tree() -> Tree {
    Tree { capacity: vec![100.0, 30.0], parent: vec![None, Some(0)], changes: Vec::new() }
}

#[test]
fn a_full_site_shares_by_weight_and_leaves_what_nobody_wants() {
    let (endless, little) = (process(Course::Endless { weight: 1.0 }), process(Course::Constant(4.0)));
    let homes = [
        home(1, 50.0, 1.0, vec![&endless]),
        home(1, 50.0, 3.0, vec![&endless]),
        home(1, 50.0, 1.0, vec![&little]),
        home(0, 60.0, 1.0, vec![&endless]),
        home(1, 50.0, 1.0, Vec::new()),
    ];
    let flowed = run(&tree(), &homes, &[0, 1, 3, 4], SPAN);
    let at_end: Vec<f64> = flowed.available.iter().map(|steps| steps.last().unwrap().1).collect();
    // 26 are left next to the constant 4: 6.5 and 19.5; the newcomer would get a fifth of 26.
    assert_eq!(at_end, [6.5, 19.5, 60.0, 5.2]);
    assert!((flowed.carried[1] - 30.0).abs() < 1e-6 && (flowed.carried[0] - 90.0).abs() < 1e-6, "{flowed:?}");
    assert!((flowed.full[1] - 1.0).abs() < 1e-9 && flowed.full[0] == 0.0, "a full site takes no more from the one before");
}

#[test]
fn a_site_that_changes_shares_again_at_once() {
    let endless = process(Course::Endless { weight: 1.0 });
    let homes = [home(1, 50.0, 1.0, vec![&endless]), home(1, 50.0, 3.0, vec![&endless]), home(0, 90.0, 1.0, vec![&endless])];
    let capacities = [(4.0, 60.0), (7.0, 20.0), (11.0, 5.0)];
    let changes = capacities.map(|(at, capacity)| Change { at, site: 1, capacity }).to_vec();
    let flowed = run(&Tree { changes, ..tree() }, &homes, &[0, 2], SPAN);
    let at = |watched: usize, time: f64| flowed.available[watched].iter().rfind(|(since, _)| *since <= time).unwrap().1;
    assert_eq!((at(0, 3.9), at(0, 5.0), at(0, 8.0)), (7.5, 15.0, 5.0));
    // The root has 100: the weights are 4 and 1, and the site never takes more than it has.
    assert_eq!((at(1, 3.9), at(1, 5.0), at(1, 8.0)), (70.0, 40.0, 80.0));
    assert_eq!(at(1, 11.5), 90.0, "nobody else wants what the root has left");
    assert!((flowed.carried[1] - 32.5).abs() < 0.5, "2 s of 30, 3 s of 60, 4 s of 20 and 1 s of 5: {flowed:?}");
}

#[test]
fn transfers_take_their_size_over_the_rate_and_then_pause() {
    // 300 bits at 30 bit/s, then a pause of 10 s: half of the time.
    let again = process(Course::Again { bits: 300.0, weight: 1.0, pause: (10.0, 10.0) });
    let homes = [home(1, 50.0, 1.0, vec![&again])];
    let flowed = run(&tree(), &homes, &[], Span { begun: 20.0, warmup: 40.0, end: 2040.0 });
    assert!((flowed.total - 15.0).abs() < 0.1, "{flowed:?}");
    assert!((flowed.full[1] - 0.5).abs() < 0.01);
}

#[test]
fn many_short_transfers_are_a_processor_that_is_shared() {
    // M/G/1-PS: at a load of one half a transfer of 10 bits at 10 bit/s takes 2 s on average, so
    // that one transfer is under way on average.
    let arriving = process(Course::Arriving { bits: 10.0, weight: 1.0, interval: 2.0, is_poisson: true });
    let tree = Tree { capacity: Vec::new(), parent: Vec::new(), changes: Vec::new() };
    let homes: Vec<Home<'_>> =
        (0..20).map(|seed| Home { site: None, plan: 10.0, weight: 1.0, processes: vec![&arriving], seed }).collect();
    let flowed = run(&tree, &homes, &[], Span { begun: 2.0, warmup: 50.0, end: 2050.0 });
    let busy = flowed.total / 20.0 / 10.0;
    assert!((busy - 0.5).abs() < 0.01, "{busy}");
}

#[test]
fn a_player_asks_for_what_the_line_carries() {
    // 0.8 of 30 is 24, below the rung of 25: 16, in bursts until 20 s are ahead.
    let video = process(Course::Video { ladder: vec![4.0, 16.0, 25.0], segment: 4.0, buffer: 20.0 });
    let homes = [home(1, 50.0, 1.0, vec![&video])];
    let flowed = run(&tree(), &homes, &[], Span { begun: 1.0, warmup: 60.0, end: 460.0 });
    // Bursts of 2.13 s in 4 s are seen each tenth of a second.
    assert!((flowed.total - 16.0).abs() < 0.8, "{flowed:?}");
}
