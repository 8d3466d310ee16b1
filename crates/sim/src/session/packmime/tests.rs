//! The generator's draws against the quantile tables it is made from.

use super::*;

/// Kolmogorov and Smirnov's distance between draws and the law of a quantile function: the largest
/// difference of the two shares below a value.
fn distance(draws: impl Iterator<Item = f64>, quantile: impl Fn(f64) -> f64) -> f64 {
    const POINTS: usize = 2_000;
    let mut draws: Vec<f64> = draws.collect();
    draws.sort_by(f64::total_cmp);
    let point = |i: usize| (i as f64 + 0.5) / POINTS as f64;
    (0..POINTS)
        .map(|i| {
            let below = draws.partition_point(|draw| *draw <= quantile(point(i))) as f64 / draws.len() as f64;
            (below - point(i)).abs()
        })
        .fold(0.0, f64::max)
}

/// Draws of many generators, few of each: those of one depend on each other for long, so that their
/// shares settle slowly.
fn draws<T>(count: usize, mut draw: impl FnMut(&mut WebLaws, &mut Rng) -> T) -> Vec<T> {
    const OF_ONE: usize = 8;
    let mut rng = Rng::new(5);
    let mut draws = Vec::with_capacity(count);
    while draws.len() < count {
        let mut laws = WebLaws::new(100.0, Duration::us(3279));
        draws.extend((0..OF_ONE).map(|_| draw(&mut laws, &mut rng)));
    }
    draws
}

/// Sizes are whole bytes: a draw stands for the interval of one byte below it.
fn middle(bytes: u64) -> f64 {
    bytes as f64 - 0.5
}

#[test]
fn draws_follow_the_tables() {
    const COUNT: usize = 20_000;
    let requests = draws(COUNT, |laws, rng| laws.request(rng));
    let responses = draws(COUNT, |laws, rng| (laws.response(rng), laws.full));
    let of = |kind: bool| responses.iter().filter(move |(_, full)| *full == kind).map(|(bytes, _)| middle(*bytes));
    let gaps = draws(COUNT, |laws, rng| laws.gap(rng).as_secs_f64());
    let delays = draws(COUNT, |laws, rng| laws.server_delay(rng).as_secs_f64());
    let laws = WebLaws::new(100.0, Duration::us(3279));
    let distances = [
        ("request", distance(requests.iter().map(|bytes| middle(*bytes)), request_quantile)),
        ("tiny response", distance(of(false), tiny_quantile)),
        ("full response", distance(of(true), full_quantile)),
        ("gap", distance(gaps.into_iter(), |p| weibull_quantile(p, laws.gap_shape, laws.gap_scale))),
        ("server delay", distance(delays.into_iter(), |p| weibull_quantile(p, DELAY_SHAPE, laws.delay_scale))),
    ];
    // By chance alone one sample of this many in a thousand is further away than 1.95 / sqrt(n);
    // what correlation is left among the few draws of one generator, and whole bytes, may add half
    // of that.
    let allowed = 1.95 / (COUNT as f64).sqrt() * 1.5;
    for (what, distance) in distances {
        println!("{what:14} KS distance {distance:.4}, allowed {allowed:.4}");
        assert!(distance < allowed, "{what}: {distance}");
    }
}

#[test]
fn connections_come_at_the_rate_asked_for() {
    for rate in [1.0, 5.0, 100.0] {
        let mut laws = WebLaws::new(rate, Duration::ZERO);
        let mut rng = Rng::new(3);
        let span: f64 = (0..40_000).map(|_| laws.gap(&mut rng).as_secs_f64()).sum();
        let measured = 40_000.0 / span;
        // At low rates gaps depend on each other for long, so that their mean settles slowly.
        assert!((measured / rate - 1.0).abs() < 0.2, "{measured} instead of {rate}");
    }
}

#[test]
fn the_server_thinks_for_under_five_milliseconds() {
    let delays = draws(200_000, |laws, rng| laws.server_delay(rng).as_secs_f64());
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!((mean / 4.6e-3 - 1.0).abs() < 0.03, "{mean}");
}

#[test]
fn the_slow_numbers_have_variance_one_and_the_right_correlation() {
    static SHORT: Decay = Decay::new(0.33, 200);
    let (d, noise) = (SHORT.d, 0.2);
    let mut rng = Rng::new(1);
    // Many short sequences: the mean of one long one wanders.
    let (mut squares, mut products, mut count) = (0.0, 0.0, 0.0);
    for _ in 0..400 {
        let mut numbers = SlowNormal::new(&SHORT, noise);
        let sequence: Vec<f64> = (0..300).map(|_| numbers.next(&mut rng)).collect();
        squares += sequence[1..].iter().map(|x| x * x).sum::<f64>();
        products += sequence[1..].windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        count += 298.0;
    }
    // With correlations r1 and r2 of the differenced part, that of its neighboring sums is (1 + 2
    // r1 + r2) / (2 + 2 r1).
    let r1 = d / (1.0 - d);
    let r2 = r1 * (1.0 + d) / (2.0 - d);
    let expected = (1.0 - noise) * (1.0 + 2.0 * r1 + r2) / (2.0 + 2.0 * r1);
    let (variance, correlation) = (squares / count, products / count);
    assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
    assert!((correlation - expected).abs() < 0.03, "correlation {correlation} instead of {expected}");
}

#[test]
fn quantiles_of_tables_meet_at_their_seams() {
    assert_eq!(request_quantile(0.0), 51.0);
    assert!((request_quantile(0.5) - 422.0).abs() < 1e-9);
    assert!((request_quantile(0.500_001) / 422.0 - 1.0).abs() < 0.01);
    assert_eq!(full_quantile(1.0), MAX as f64);
    let rising = |quantile: &dyn Fn(f64) -> f64| (0..=1000).map(|i| quantile(f64::from(i) / 1000.0)).is_sorted();
    assert!(rising(&request_quantile) && rising(&tiny_quantile) && rising(&full_quantile));
}
