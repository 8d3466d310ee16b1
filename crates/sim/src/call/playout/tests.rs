use super::*;
use goodqueue_base::units::Rng;

/// Uniform numbers in [0, 1), written out so that every language can make the same packets:
/// `x <- 1103515245 x + 12345 mod 2^31`.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = (1_103_515_245 * self.0 + 12_345) % (1 << 31);
        self.0 as f64 / (1_u64 << 31) as f64
    }
}

const FRAMES: u64 = 6000;

/// Arrival times of 120 s of packets in ms.
fn arrivals(mut delay: impl FnMut(f64) -> Option<f64>) -> Vec<Option<f64>> {
    let mut latest = f64::MIN;
    (0..FRAMES)
        .map(|number| {
            let sent = 20.0 * number as f64;
            let arrived = delay(sent).map(|delay| (sent + delay).max(latest));
            latest = arrived.unwrap_or(latest);
            arrived
        })
        .collect()
}

fn heard(codec: Codec, arrivals: &[Option<f64>]) -> Heard {
    let mut playout = Playout::new(codec, Codec::FRAME, 0);
    let mut order: Vec<(f64, u64)> =
        arrivals.iter().zip(0..).filter_map(|(arrived, number)| Some(((*arrived)?, number))).collect();
    order.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    for (arrived, number) in order {
        let at = Instant::ZERO + Duration::ns((arrived * 1e6).round() as u64);
        playout.hear(at, number, Instant::ZERO + Codec::FRAME * number);
    }
    playout.outcome(arrivals.len() as u64)
}

/// Holds an outage of `length` ms every `period` ms, in which nothing is lost.
fn outages(period: f64, begin: f64, length: f64) -> Vec<Option<f64>> {
    arrivals(|sent| {
        let within = sent % period;
        Some(if (begin..begin + length).contains(&within) { begin + length - within + 20.0 } else { 20.0 })
    })
}

struct Expected {
    case: &'static str,
    arrivals: Vec<Option<f64>>,
    mos: f64,
    bad_ratio: f64,
    mean_ms: f64,
    underrun_ms: u64,
    target_ms: u64,
}

fn cases() -> Vec<Expected> {
    let case = |case, arrivals, mos, bad_ratio, mean_ms, underrun_ms, target_ms| Expected {
        case,
        arrivals,
        mos,
        bad_ratio,
        mean_ms,
        underrun_ms,
        target_ms,
    };
    let jitter = |most: f64| {
        let mut uniform = Uniform(1);
        arrivals(move |_| Some(20.0 + most * uniform.next()))
    };
    let lossy = |delay: f64, share: f64| {
        let mut uniform = Uniform(1);
        arrivals(move |_| (uniform.next() >= share).then_some(delay))
    };
    vec![
        case("constant 20 ms", arrivals(|_| Some(20.0)), 4.409, 0.0, 95.2, 0, 20),
        case("jitter of 30 ms", jitter(30.0), 4.408, 0.0, 140.5, 0, 40),
        case("jitter of 100 ms", jitter(100.0), 4.362, 0.0, 191.4, 0, 100),
        case("2 % lost", lossy(20.0, 0.02), 4.225, 0.0, 90.8, 10, 20),
        case("7.5 % lost", lossy(40.0, 0.075), 3.634, 0.0, 109.0, 400, 20),
        case("ten lost in a row", arrivals(|sent| (sent % 10_000.0 >= 200.0).then_some(20.0)), 4.006, 0.0, 91.0, 1970, 20),
        case("outages of 500 ms", outages(20_000.0, 10_000.0, 500.0), 3.965, 0.067, 155.0, 2870, 20),
        case("outages of 1 s", outages(10_000.0, 5_000.0, 1000.0), 1.377, 1.0, 887.0, 11_510, 1020),
        case("queue of 300 ms", arrivals(|_| Some(320.0)), 3.574, 0.0, 395.0, 0, 20),
        case("step to 120 ms", arrivals(|sent| Some(if sent < 60_000.0 { 20.0 } else { 120.0 })), 4.340, 0.0, 157.0, 70, 20),
    ]
}

fn mean_ms(heard: &Heard) -> f64 {
    heard.windows.iter().map(|window| window.mouth_to_ear().as_secs_f64() * 1e3).sum::<f64>() / heard.windows.len() as f64
}

#[test]
fn calls_are_heard_as_the_reference_hears_them() {
    for Expected { case, arrivals, mos, bad_ratio, mean_ms: mean, underrun_ms, target_ms } in cases() {
        let heard = heard(Codec::Pcmu, &arrivals);
        let scale = Scale::NARROWBAND;
        let found = heard.mos(&scale).expect("a score");
        assert!((found - mos).abs() < 0.02, "{case}: {found}");
        assert!((heard.bad_ratio(&scale).expect("windows") - bad_ratio).abs() < 0.001, "{case}: {heard:?}");
        assert!((mean_ms(&heard) - mean).abs() < 1.0, "{case}: {}", mean_ms(&heard));
        assert_eq!((heard.underrun, heard.target), (Duration::ms(underrun_ms), Duration::ms(target_ms)), "{case}");
    }
}

/// A call of 115 s over a recorded mobile line with four downloads, behind three queues.
#[test]
fn a_fair_queue_is_heard_above_a_dropping_one() {
    let file = include_str!("../../../tests/data/mobile-call.csv");
    let queue = |column: usize| {
        let arrival = |line: &str| line.split(',').nth(column).and_then(|text| text.parse().ok());
        heard(Codec::Pcmu, &file.lines().skip(1).map(arrival).collect::<Vec<Option<f64>>>())
    };
    let scale = Scale::NARROWBAND;
    let expected = [(1, 1.737, 1.0, 1.0), (2, 3.071, 0.429, 1.044), (3, 3.923, 0.143, 2.581)];
    for (column, mos, bad_ratio, recent) in expected {
        let heard = queue(column);
        let found = (heard.mos(&scale).unwrap(), heard.bad_ratio(&scale).unwrap(), heard.mos_recent(&scale).unwrap());
        assert!((found.0 - mos).abs() < 0.02 && (found.1 - bad_ratio).abs() < 0.001, "{column}: {found:?}");
        assert!((found.2 - recent).abs() < 0.02, "{column}: {found:?}");
    }
}

#[test]
fn losing_one_more_packet_never_raises_the_score() {
    let mut rng = Rng::stream(1, 1);
    for Expected { case, arrivals, .. } in cases() {
        let whole = heard(Codec::Pcmu, &arrivals).mos(&Scale::NARROWBAND).unwrap();
        for _ in 0..10 {
            let mut fewer = arrivals.clone();
            fewer[(rng.next_u64() % FRAMES) as usize] = None;
            let found = heard(Codec::Pcmu, &fewer).mos(&Scale::NARROWBAND).unwrap();
            // A loss may let the receiver catch up by a frame, which shortens the delay.
            assert!(found <= whole + 0.01, "{case}: {found} above {whole}");
        }
    }
}

#[test]
fn a_longer_line_changes_only_the_delay() {
    for Expected { case, arrivals, .. } in cases() {
        let near = heard(Codec::Pcmu, &arrivals);
        let far = heard(Codec::Pcmu, &arrivals.iter().map(|at| at.map(|at| at + 200.0)).collect::<Vec<_>>());
        for (near, far) in near.windows.iter().zip(&far.windows) {
            assert_eq!((near.good, near.bad, near.bad_runs), (far.good, far.bad, far.bad_runs), "{case}");
            assert_eq!(near.delay_sum + Duration::ms(200) * near.good, far.delay_sum, "{case}");
        }
    }
}

#[test]
fn repeating_a_call_hardly_changes_its_score() {
    for Expected { case, arrivals, .. } in cases() {
        let length = 20.0 * arrivals.len() as f64;
        let twice: Vec<_> = arrivals.iter().copied().chain(arrivals.iter().map(|at| at.map(|at| at + length))).collect();
        let (once, twice) = (heard(Codec::Pcmu, &arrivals), heard(Codec::Pcmu, &twice));
        let scores = (once.mos(&Scale::NARROWBAND).unwrap(), twice.mos(&Scale::NARROWBAND).unwrap());
        assert!((scores.0 - scores.1).abs() < 0.1, "{case}: {scores:?}");
    }
}

#[test]
fn a_coarse_copy_repairs_single_losses() {
    let mut uniform = Uniform(1);
    let lossy = arrivals(move |_| (uniform.next() >= 0.05).then_some(20.0));
    let (opus, pcmu) = (heard(Codec::Opus, &lossy), heard(Codec::Pcmu, &lossy));
    let sum = |heard: &Heard, of: fn(&Stretch) -> u64| heard.windows.iter().map(of).sum::<u64>();
    assert!(sum(&opus, |window| window.repaired) > 200, "{opus:?}");
    assert!(sum(&opus, |window| window.bad) < sum(&pcmu, |window| window.bad) / 4);
    assert!(opus.mos(&Scale::NARROWBAND) > pcmu.mos(&Scale::NARROWBAND));
}

#[test]
fn a_call_that_goes_silent_is_bad_to_its_end() {
    let cut = arrivals(|sent| (sent < 60_000.0).then_some(20.0));
    let heard = heard(Codec::Pcmu, &cut);
    assert_eq!(heard.windows.len(), 15);
    assert!((heard.bad_ratio(&Scale::NARROWBAND).unwrap() - 0.5).abs() < 0.04, "{heard:?}");
}
