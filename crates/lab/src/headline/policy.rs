//! The policy: which queues may be recommended at all.

use crate::limits::LONGEST;
use crate::quantity::{self, Limits, QuantityError};
use goodqueue_units::Duration;
use std::fmt;

/// What a queue must do before it is ranked by what people get. The names of bounds are those of
/// steered queues where they mean the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Least utilization, as a share of the best queue's.
    pub of_best: f64,
    /// Least utilization, as a share of the line.
    pub u_low: Option<f64>,
    /// Most mean time in the queue.
    pub target_max: Option<Duration>,
    /// A group starves under a queue that gives it less than this share of what the queue that is
    /// best for it does; zero: none can.
    pub starved: f64,
}

impl Default for Policy {
    /// At least 95 % of the best utilization, no group starved.
    fn default() -> Self {
        Self { of_best: 0.95, u_low: None, target_max: None, starved: 0.1 }
    }
}

/// A policy that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    ("of_best", "least utilization, as a share of the best queue's: 0 to 1, default 0.95"),
    ("u_low", "least utilization, as a share of the line: 0 to 1, default none"),
    ("target_max", "most mean sojourn time: 0 s to 10000000 s, default none"),
    ("starved", "least goodput of every group, as a share of what its best queue gives it: 0 to 1, default 0.1"),
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
                "of_best" => policy.of_best = share(value).map_err(refuse)?,
                "u_low" => policy.u_low = Some(share(value).map_err(refuse)?),
                "starved" => policy.starved = share(value).map_err(refuse)?,
                "target_max" => {
                    let allowed = Limits::new(Duration::ZERO, LONGEST);
                    policy.target_max = Some(quantity::duration_within(value, allowed).map_err(refuse)?);
                }
                _ => return Err(PolicyError::UnknownKey(key.to_owned())),
            }
        }
        Ok(policy)
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
        write!(f, "utilization at least {} % of the best", percent(self.of_best))?;
        if let Some(low) = self.u_low {
            write!(f, " and {} % of the line", percent(low))?;
        }
        if let Some(most) = self.target_max {
            write!(f, ", mean queueing delay at most {most}")?;
        }
        match self.starved > 0.0 {
            true => write!(f, ", no group below {} % of its best goodput", percent(self.starved)),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_checked_and_said_in_words() {
        let policy = Policy::parse("of_best=90 %, u_low=0.8:target_max=30ms,starved=0").expect("a policy");
        assert_eq!(policy, Policy { of_best: 0.9, u_low: Some(0.8), target_max: Some(Duration::ms(30)), starved: 0.0 });
        assert_eq!(
            policy.to_string(),
            "utilization at least 90 % of the best and 80 % of the line, mean queueing delay at most 30 ms"
        );
        assert_eq!(
            Policy::default().to_string(),
            "utilization at least 95 % of the best, no group below 10 % of its best goodput"
        );
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
