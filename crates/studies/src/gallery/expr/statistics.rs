//! Statistics of lists of numbers.

use super::Fault;

fn no_value(message: &str) -> Fault {
    Fault::NoValue(message.to_owned())
}

/// The mean; of at least one value.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of the products of deviations from the means.
fn covariation(x: &[f64], y: &[f64]) -> f64 {
    let (mean_x, mean_y) = (mean(x), mean(y));
    x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
}

/// The sample's standard deviation.
pub(super) fn deviation(values: &[f64]) -> Result<f64, Fault> {
    if values.len() < 2 {
        return Err(no_value("of fewer than two values"));
    }
    Ok((covariation(values, values) / (values.len() - 1) as f64).sqrt())
}

/// The `q` quantile, between neighbors by proportion.
pub(crate) fn quantile(values: &[f64], q: f64) -> Result<f64, Fault> {
    if values.is_empty() {
        return Err(no_value("of no values"));
    }
    if !(0.0..=1.0).contains(&q) {
        return Err(Fault::Type(format!("{q} is out of range: allowed 0 to 1")));
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = q * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    Ok(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

/// Pearson's correlation coefficient.
fn correlation(x: &[f64], y: &[f64]) -> Result<f64, Fault> {
    let (xx, yy, xy) = (covariation(x, x), covariation(y, y), covariation(x, y));
    if xx == 0.0 || yy == 0.0 {
        return Err(no_value("one of the lists does not vary"));
    }
    Ok(xy / (xx * yy).sqrt())
}

/// Spearman's rank correlation; equal values share their mean rank.
pub(super) fn spearman(x: &[f64], y: &[f64]) -> Result<f64, Fault> {
    correlation(&ranks(x), &ranks(y))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut at = 0;
    while at < order.len() {
        let equal = order[at..].iter().take_while(|other| values[**other] == values[order[at]]).count();
        let rank = at as f64 + (equal - 1) as f64 / 2.0;
        order[at..at + equal].iter().for_each(|place| ranks[*place] = rank);
        at += equal;
    }
    ranks
}

/// The slope of the least-squares line.
pub(super) fn slope(x: &[f64], y: &[f64]) -> Result<f64, Fault> {
    let (xx, xy) = (covariation(x, x), covariation(x, y));
    if xx == 0.0 { Err(no_value("all positions are the same")) } else { Ok(xy / xx) }
}

/// More products than any row needs of an autocorrelation.
const MAX_PRODUCTS: usize = 1_000_000_000;

/// The lag up to `most` at which a series' autocorrelation has its highest peak after it first fell
/// below zero.
pub(super) fn autocorrelation_peak(times: &[f64], values: &[f64], most: f64) -> Result<f64, Fault> {
    if values.len() < 4 {
        return Err(no_value("of fewer than four samples"));
    }
    let period = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    let longest = ((most / period) as usize).min(values.len() - 2);
    if longest.saturating_mul(values.len()) > MAX_PRODUCTS {
        return Err(Fault::Limit(format!("takes too much work: {longest} lags of {} samples", values.len())));
    }
    let mean = mean(values);
    let around: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let at_lag = |lag: usize| around[lag..].iter().zip(&around).map(|(a, b)| a * b).sum::<f64>();
    let (mut fallen, mut best) = (false, None::<(usize, f64)>);
    for lag in 1..=longest {
        let value = at_lag(lag);
        fallen |= value < 0.0;
        if fallen && best.is_none_or(|(_, highest)| value > highest) {
            best = Some((lag, value));
        }
    }
    best.map(|(lag, _)| lag as f64 * period).ok_or_else(|| no_value("the autocorrelation never falls below zero"))
}
