//! The laws of PackMime-HTTP: start times, request and response sizes, and server delays of web
//! connections.
//!
//! *Source*: Cao, Cleveland, Gao, Jeffay, Smith, Weigle, "Stochastic models for generating
//! synthetic HTTP source traffic", INFOCOM 2004, with the tables of ns-2's implementation,
//! condensed. One number determines everything: new connections per second, `rate`. Logarithms are
//! to base 2. *Deviations*: the mean server delay of 4.6 ms follows from reading ns-2's "scale 305"
//! as an inverse scale in seconds, since as a scale it would mean seven minutes; responses end at
//! 64 MiB, where ns-2 extrapolates without bound.

use super::events::round_up;
use crate::random::{gamma, normal, weibull, weibull_quantile};
use goodqueue_aqm::math::{erfc, exp2, log2, sqrt, tgamma};
use goodqueue_base::units::{Duration, Rng};
use std::collections::VecDeque;
use std::sync::OnceLock;

/// Cumulative probability and bytes; linear between.
type Table = [(f64, f64)];
/// y = -log2(1 - p) and log2 of bytes; linear between, and on at the given slope after the last.
type LogTable = [(f64, f64)];

/// The smaller half of request sizes.
const REQUEST_BODY: &Table = &[
    (0.0, 51.0),
    (0.05, 184.0),
    (0.1, 210.0),
    (0.2, 280.0),
    (0.3, 309.0),
    (0.4, 333.0),
    (0.5, 350.0),
    (0.6, 365.0),
    (0.7, 379.0),
    (0.8, 393.0),
    (0.9, 407.0),
    (0.95, 415.0),
    (1.0, 422.0),
];
const REQUEST_TAIL: &LogTable = &[
    (0.0, 8.73),
    (0.55, 8.79),
    (1.09, 9.05),
    (1.44, 9.30),
    (1.80, 9.55),
    (2.34, 9.77),
    (2.88, 9.88),
    (3.42, 10.10),
    (3.96, 10.44),
];
const REQUEST_TAIL_SLOPE: f64 = 0.674;
/// Responses that say little, such as "not modified".
const RESPONSE_TINY: &Table = &[
    (0.0, 5.0),
    (0.05, 64.0),
    (0.1, 75.0),
    (0.2, 112.0),
    (0.3, 124.0),
    (0.4, 132.0),
    (0.5, 141.0),
    (0.6, 150.0),
    (0.7, 169.0),
    (0.8, 209.0),
    (0.9, 249.0),
    (0.95, 266.0),
    (1.0, 272.0),
];
const RESPONSE_FULL: &LogTable = &[
    (0.0, 8.11),
    (0.37, 9.29),
    (0.74, 10.41),
    (1.10, 11.41),
    (1.47, 12.25),
    (1.84, 12.90),
    (2.39, 13.50),
    (2.94, 13.92),
    (3.86, 14.87),
    (4.59, 15.20),
    (5.14, 15.38),
    (5.88, 15.88),
    (6.24, 16.18),
];
const RESPONSE_FULL_SLOPE: f64 = 0.812;
const MAX: u64 = 1 << 26;

/// Shape of the server delay's Weibull distribution.
const DELAY_SHAPE: f64 = 0.63;

/// Linear between the points of a table.
fn interpolate(table: &[(f64, f64)], at: f64) -> f64 {
    let above = table.partition_point(|point| point.0 <= at).clamp(1, table.len() - 1);
    let ((x0, y0), (x1, y1)) = (table[above - 1], table[above]);
    y0 + (y1 - y0) * (at - x0) / (x1 - x0)
}

/// The size at cumulative probability `p` of a table in the logarithmic domain.
fn tail_quantile(table: &LogTable, slope: f64, p: f64) -> f64 {
    let y = -log2((1.0 - p).max(f64::MIN_POSITIVE));
    let (last_y, last) = table[table.len() - 1];
    exp2(if y > last_y { last + slope * (y - last_y) } else { interpolate(table, y) })
}

/// Bytes of the request at cumulative probability `p`.
pub(super) fn request_quantile(p: f64) -> f64 {
    if p <= 0.5 { interpolate(REQUEST_BODY, 2.0 * p) } else { tail_quantile(REQUEST_TAIL, REQUEST_TAIL_SLOPE, 2.0 * p - 1.0) }
}

/// Bytes of a tiny response at cumulative probability `p`.
pub(super) fn tiny_quantile(p: f64) -> f64 {
    interpolate(RESPONSE_TINY, p)
}

/// Bytes of a full response at cumulative probability `p`.
pub(super) fn full_quantile(p: f64) -> f64 {
    tail_quantile(RESPONSE_FULL, RESPONSE_FULL_SLOPE, p).min(MAX as f64)
}

/// The inverse of the logit to base 2.
fn inverse_logit(x: f64) -> f64 {
    exp2(x) / (1.0 + exp2(x))
}

/// The share of a normal distribution below `x`.
fn normal_below(x: f64) -> f64 {
    // Never 1, where quantiles have no end.
    (0.5 * erfc(-x / std::f64::consts::SQRT_2)).min(1.0 - 1e-16)
}

/// The scalar product, as eight partial sums: a single sum would wait for each addition in turn.
/// Always the same eight, so that the result is always the same to the bit.
fn product(xs: &[f64], cs: &[f64]) -> f64 {
    const LANES: usize = 8;
    fn add(sums: &mut [f64; LANES], xs: &[f64; LANES], cs: &[f64; LANES]) {
        for (sum, (x, c)) in sums.iter_mut().zip(xs.iter().zip(cs)) {
            *sum += x * c;
        }
    }
    let len = xs.len().min(cs.len());
    let ((xs, xs_rest), (cs, cs_rest)) = (xs[..len].as_chunks::<LANES>(), cs[..len].as_chunks::<LANES>());
    let rest: f64 = xs_rest.iter().zip(cs_rest).map(|(x, c)| x * c).sum();
    let mut sums = [0.0; LANES];
    let ((pairs, last), (c_pairs, c_last)) = (xs.as_chunks::<2>(), cs.as_chunks::<2>());
    for ([xs, more_xs], [cs, more_cs]) in pairs.iter().zip(c_pairs) {
        add(&mut sums, xs, cs);
        add(&mut sums, more_xs, more_cs);
    }
    for (xs, cs) in last.iter().zip(c_last) {
        add(&mut sums, xs, cs);
    }
    sums.iter().sum::<f64>() + rest
}

/// Normal numbers of mean 0 and variance 1 whose correlation decays slowly: FARIMA(0, d, 1) plus
/// white noise of variance `noise`.
///
/// The fractionally differenced part follows Hosking's recursion, which is exact from the first
/// number on, up to `terms` numbers back.
#[derive(Clone, Debug)]
struct SlowNormal {
    decay: &'static Decay,
    noise: f64,
    scale: f64,
    /// Latest numbers of the differenced part, latest first.
    past: VecDeque<f64>,
    /// Coefficients of the prediction from `past` while it has fewer numbers than the decay has
    /// terms, and the variance of the prediction's error.
    coefficients: Vec<f64>,
    missed: f64,
}

/// The decay of the correlation of [`SlowNormal`] numbers.
#[derive(Debug)]
struct Decay {
    d: f64,
    terms: usize,
    /// The coefficients of all terms, once somebody has worked them out: the streams of all flows
    /// read the same ones.
    coefficients: OnceLock<Vec<f64>>,
}

impl Decay {
    const fn new(d: f64, terms: usize) -> Self {
        Self { d, terms, coefficients: OnceLock::new() }
    }
}

impl SlowNormal {
    fn new(decay: &'static Decay, noise: f64) -> Self {
        let Decay { d, terms, .. } = *decay;
        // Hosking's numbers have variance 1 and correlation d / (1 - d) with their neighbors; each
        // output adds two of them.
        let scale = sqrt((1.0 - noise) / (2.0 + 2.0 * d / (1.0 - d)));
        Self { decay, noise, scale, past: VecDeque::with_capacity(terms), coefficients: Vec::with_capacity(terms), missed: 1.0 }
    }

    fn next(&mut self, rng: &mut Rng) -> f64 {
        let before = self.past.front().copied();
        let predicted: f64 = {
            let (newer, older) = self.past.as_slices();
            let coefficients = if self.coefficients.is_empty() { self.decay.coefficients.get() } else { None };
            let coefficients = coefficients.unwrap_or(&self.coefficients);
            let (for_newer, for_older) = coefficients.split_at(newer.len().min(coefficients.len()));
            product(newer, for_newer) + product(older, for_older)
        };
        let x = predicted + sqrt(self.missed) * normal(rng);
        if self.past.len() == self.decay.terms {
            self.past.pop_back();
        } else {
            self.learn();
        }
        self.past.push_front(x);
        // The number before the first one is another draw of the same law, as if the sequence had
        // begun earlier.
        let before = before.unwrap_or_else(|| normal(rng));
        self.scale * (x + before) + sqrt(self.noise) * normal(rng)
    }

    /// Extends the prediction by one number (recursion of Durbin and Levinson, with Hosking's
    /// partial correlations).
    fn learn(&mut self) {
        const LANES: usize = 4;
        let len = self.coefficients.len();
        let partial = self.decay.d / ((len + 1) as f64 - self.decay.d);
        // Each number changes together with the one as far from the other end, so that pairs from
        // the ends to the middle need no copy.
        let (first, rest) = self.coefficients.split_at_mut(len / 2);
        let (middle, last) = rest.split_at_mut(len % 2);
        let change = |early: &mut f64, late: &mut f64| {
            let (old_early, old_late) = (*early, *late);
            *early = old_early - partial * old_late;
            *late = old_late - partial * old_early;
        };
        let ((firsts, inner_first), (inner_last, lasts)) = (first.as_chunks_mut::<LANES>(), last.as_rchunks_mut::<LANES>());
        // As whole arrays, so that they become vectors.
        for (early, late) in firsts.iter_mut().zip(lasts.iter_mut().rev()) {
            let (old_early, old_late) = (*early, *late);
            *early = std::array::from_fn(|place| old_early[place] - partial * old_late[LANES - 1 - place]);
            *late = std::array::from_fn(|place| old_late[place] - partial * old_early[LANES - 1 - place]);
        }
        inner_first.iter_mut().zip(inner_last.iter_mut().rev()).for_each(|(early, late)| change(early, late));
        middle.iter_mut().for_each(|middle| *middle -= partial * *middle);
        self.coefficients.push(partial);
        self.missed *= 1.0 - partial * partial;
        if self.coefficients.len() == self.decay.terms {
            let learned = std::mem::take(&mut self.coefficients);
            self.decay.coefficients.get_or_init(|| learned);
        }
    }
}

/// Everything that is drawn for a connection, at one rate of connections.
#[derive(Clone, Debug)]
pub(super) struct WebLaws {
    gaps: SlowNormal,
    gap_shape: f64,
    gap_scale: f64,
    requests: SlowNormal,
    /// Responses left in the present run, and which kind it is.
    run: u64,
    full: bool,
    tiny_run_shape: f64,
    full_run_shape: f64,
    delay_scale: f64,
}

/// Gaps and request sizes depend on as many numbers back as in ns-2.
static GAP_DECAY: Decay = Decay::new(0.33, 1_000);
static REQUEST_DECAY: Decay = Decay::new(0.31, 5_000);
const TINY_RUN_SCALE: f64 = 0.775;
const FULL_RUN_SCALE: f64 = 3.11;

impl WebLaws {
    /// The laws at `rate` new connections per second; `server_delay_scale` is the scale of the
    /// server delay's Weibull distribution.
    pub(super) fn new(rate: f64, server_delay_scale: Duration) -> Self {
        let l = log2(rate);
        let gap_shape = inverse_logit(0.352 + 0.388 * l);
        Self {
            gaps: SlowNormal::new(&GAP_DECAY, inverse_logit(0.333 + 0.414 * l)),
            gap_shape,
            gap_scale: 1.0 / (rate * tgamma(1.0 + 1.0 / gap_shape)),
            requests: SlowNormal::new(&REQUEST_DECAY, inverse_logit(0.123 + 0.494 * l)),
            // Ends before the first response, so that the first run is one of full responses.
            run: 0,
            full: false,
            tiny_run_shape: inverse_logit(0.718 + 0.357 * l),
            full_run_shape: inverse_logit(1.293 + 0.316 * l),
            delay_scale: server_delay_scale.as_secs_f64(),
        }
    }

    /// Time to the next connection.
    pub(super) fn gap(&mut self, rng: &mut Rng) -> Duration {
        let p = normal_below(self.gaps.next(rng));
        Duration::from_secs_f64(weibull_quantile(p, self.gap_shape, self.gap_scale))
    }

    /// Bytes of the next connection's requests.
    pub(super) fn request(&mut self, rng: &mut Rng) -> u64 {
        round_up(request_quantile(normal_below(self.requests.next(rng))), MAX)
    }

    /// Bytes of the next connection's first response.
    pub(super) fn response(&mut self, rng: &mut Rng) -> u64 {
        if self.run == 0 {
            self.full = !self.full;
            let (shape, scale) =
                if self.full { (self.full_run_shape, FULL_RUN_SCALE) } else { (self.tiny_run_shape, TINY_RUN_SCALE) };
            self.run = round_up(weibull(rng, shape, scale), u64::MAX);
        }
        self.run -= 1;
        let p = rng.uniform();
        round_up(if self.full { full_quantile(p) } else { tiny_quantile(p) }, MAX)
    }

    /// Draws the time for which the server thinks.
    pub(super) fn server_delay(&self, rng: &mut Rng) -> Duration {
        Duration::from_secs_f64(weibull(rng, DELAY_SHAPE, self.delay_scale))
    }
}

/// Sizes or times that differ between connections in place and spread: `2^(place + spread * N)`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogNormal {
    place: f64,
    spread: f64,
}

/// Parameters of a law for [`LogNormal`]s: mean and variance of the place, shape of the spread's
/// Gamma distribution of mean 1, and a factor.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogNormalLaw(pub(super) f64, pub(super) f64, pub(super) f64, pub(super) f64);

impl LogNormalLaw {
    pub(super) fn draw(self, rng: &mut Rng) -> LogNormal {
        let Self(mean, variance, shape, factor) = self;
        let place = mean + sqrt(variance) * normal(rng);
        LogNormal { place, spread: sqrt(gamma(rng, shape, 1.0 / shape) * factor) }
    }
}

impl LogNormal {
    pub(super) fn draw(self, rng: &mut Rng) -> f64 {
        exp2(self.place + self.spread * normal(rng))
    }
}

/// [`LogNormal`] sizes of later responses of a connection.
pub(super) fn response_bytes(law: LogNormal, rng: &mut Rng) -> u64 {
    round_up(law.draw(rng), MAX)
}

#[cfg(test)]
mod tests;
