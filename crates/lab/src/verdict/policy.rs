//! The policy: which queues may be recommended at all.

use super::rule::{Candidate, Sample, pairs};
use super::words::{figure, percent, time};
use crate::quantity::{self, Limits, QuantityError};
use crate::results::statistics::Figure;
use crate::scenario::limits::MAX;
use goodqueue_base::units::Duration;
use std::fmt;

/// A link that no queue keeps this busy is not the bottleneck, so nothing is asked of it. Our
/// choice.
pub(super) const BUSY: f64 = 0.5;

/// The bounds that a queue must satisfy before it is ranked by what people get; none by default.
/// The names of bounds are those of steered queues where they mean the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// Least utilization, as a share of the best queue's.
    pub of_best: Option<f64>,
    /// Least utilization, as a share of the line.
    pub u_low: Option<f64>,
    /// Most mean time in the queue.
    pub target_max: Option<Duration>,
    /// Least goodput of every group, as a share of what the queue that is best for it gives it.
    pub starved: Option<f64>,
}

/// A policy that cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// A part that is no setting.
    #[error("`{0}` is not key=value, for instance of_best=0.9")]
    NoPair(String),
    /// A key that stands there twice.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// A key that there is not.
    #[error("`{0}` is not known: allowed {known}", known = known())]
    UnknownKey(String),
    /// A value that a key cannot have.
    #[error("{key}: {fault}")]
    Value {
        /// The key.
        key: String,
        /// The value, and what is allowed.
        fault: QuantityError,
    },
}

/// The keys, with what they are for.
pub const POLICY_KEYS: &[(&str, &str)] = &[
    ("of_best", "least utilization, as a share of the best queue's: 0 to 1"),
    ("u_low", "least utilization, as a share of the line: 0 to 1"),
    ("target_max", "most mean sojourn time: 0 s to 10000000 s"),
    ("starved", "least goodput of every group, as a share of what its best queue gives it: 0 to 1"),
];

impl Policy {
    /// From `key=value` pairs with commas or colons between them, as in
    /// `of_best=0.9,target_max=30ms`.
    ///
    /// # Errors
    /// When a key is unknown or given twice, or a value is not allowed.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let mut policy = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for part in text.split([',', ':']).map(str::trim) {
            let Some((key, value)) = part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
                return Err(PolicyError::NoPair(part.to_owned()));
            };
            if seen.contains(&key) {
                return Err(PolicyError::Twice(key.to_owned()));
            }
            seen.push(key);
            let refuse = |fault: QuantityError| PolicyError::Value { key: key.to_owned(), fault };
            match key {
                "of_best" => policy.of_best = Some(share(value).map_err(refuse)?),
                "u_low" => policy.u_low = Some(share(value).map_err(refuse)?),
                "starved" => policy.starved = Some(share(value).map_err(refuse)?),
                "target_max" => {
                    let allowed = Limits::new(Duration::ZERO, MAX);
                    policy.target_max = Some(quantity::duration_within(value, allowed).map_err(refuse)?);
                }
                _ => return Err(PolicyError::UnknownKey(key.to_owned())),
            }
        }
        Ok(policy)
    }

    /// Why a queue does not satisfy it among others in one setting; `None` where the difference is
    /// not significant.
    pub fn refuses(&self, one: &Candidate<'_>, among: &[Candidate<'_>], links: &[&str]) -> Option<String> {
        // The lower end of the interval of the differences, or the mean without an interval.
        let clear = |figure: Figure| figure.mean.map(|mean| mean - figure.ci95.unwrap_or(0.0));
        let short_of = |value: &dyn Fn(&Sample<'_>) -> Option<f64>, share: f64| {
            let mean = |other: &Candidate<'_>| other.figure(value).mean.unwrap_or(0.0);
            let best = among.iter().reduce(|best, other| if mean(other) > mean(best) { other } else { best })?;
            let in_all = |number: u32| {
                let pairs = best.values(number, value).into_iter().zip(one.values(number, value));
                pairs.map(|(best, one)| Some(share * best? - one.unwrap_or(0.0))).collect()
            };
            clear(one.seeds.figure(pairs(one, best).map(in_all)))
                .filter(|missing| *missing > 0.0)
                .map(|_| (mean(one), mean(best)))
        };
        for (place, link) in links.iter().enumerate() {
            let used = |sample: &Sample<'_>| sample.links[place].utilization;
            let busiest = among.iter().filter_map(|other| other.figure(used).mean);
            let is_busy = busiest.fold(0.0, f64::max) >= BUSY;
            let whose = if links.len() > 1 { format!("{link} ") } else { String::new() };
            if let Some((here, _)) = self.of_best.filter(|_| is_busy).and_then(|share| short_of(&used, share)) {
                return Some(format!("{whose}{} used", percent(here)));
            }
            let own = one.figure(used);
            if let (Some(low), Some(mean)) = (self.u_low.filter(|_| is_busy), own.mean)
                && mean + own.ci95.unwrap_or(0.0) < low
            {
                return Some(format!("{whose}{} used", percent(mean)));
            }
            let wait = one.figure(|sample| sample.links[place].wait_mean_s);
            if let (Some(most), Some(least)) = (self.target_max, clear(wait))
                && least > most.as_secs_f64()
            {
                return Some(format!("mean queueing delay {}", time(wait.mean.unwrap_or_default())));
            }
        }
        let share = self.starved?;
        let groups = one.settings.first()?.first()?.groups.iter().map(|group| group.group.as_str());
        let about = crate::results::metrics::FLOW_METRICS.first().map(|metric| &metric.about)?;
        let said = |bits: f64| figure(about, Figure { mean: Some(bits), ci95: None, n: 1 });
        groups.into_iter().find_map(|name| {
            let goodput = |sample: &Sample<'_>| sample.groups.iter().find(|group| group.group == name)?.goodput_bit_s;
            short_of(&goodput, share).map(|(here, best)| format!("{name} gets {} of {}", said(here), said(best)))
        })
    }
}

/// The keys in a list.
fn known() -> String {
    POLICY_KEYS.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ")
}

fn share(text: &str) -> Result<f64, QuantityError> {
    Limits::new(0.0, 1.0).check(quantity::ratio(text)?, text)
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| (share * 1000.0).round() / 10.0;
        let bounds = [
            self.of_best.map(|share| format!("utilization at least {} % of the best", percent(share))),
            self.u_low.map(|share| format!("utilization at least {} % of the line", percent(share))),
            self.target_max.map(|most| format!("mean queueing delay at most {most}")),
            self.starved.map(|share| format!("no group below {} % of its best goodput", percent(share))),
        ];
        f.write_str(&bounds.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_checked_and_said_in_words() {
        let policy = Policy::parse("of_best=90 %, u_low=0.8:target_max=30ms,starved=0").expect("a policy");
        assert_eq!(
            policy,
            Policy { of_best: Some(0.9), u_low: Some(0.8), target_max: Some(Duration::ms(30)), starved: Some(0.0) }
        );
        assert_eq!(
            policy.to_string(),
            "utilization at least 90 % of the best, utilization at least 80 % of the line, mean queueing delay at most 30 ms, no \
             group below 0 % of its best goodput"
        );
        assert_eq!(Policy::default().to_string(), "");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let fails = |text: &str| Policy::parse(text).expect_err("wrong").to_string();
        assert_eq!(fails("u_lo=1"), "`u_lo` is not known: allowed of_best, u_low, target_max, starved");
        assert_eq!(fails("of_best"), "`of_best` is not key=value, for instance of_best=0.9");
        assert_eq!(fails("u_low=1,u_low=1"), "`u_low` is given twice");
        assert!(fails("of_best=2").starts_with("of_best: `2` is out of range"), "{}", fails("of_best=2"));
        assert!(fails("target_max=30").starts_with("target_max: "), "{}", fails("target_max=30"));
    }
}
