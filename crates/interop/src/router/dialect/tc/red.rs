//! RED in `tc`'s words: thresholds and limit in bytes, and a burst from which `tc` works out the
//! weight of a sample.

use crate::router::dialect::words::{automatic, key, micros, model, only, word};
use crate::router::dialect::{How, Refusal, Wanted, Word, Write};
use goodqueue_aqm::algo::red::{Facts, InForce, Red, RedParams, power};
use goodqueue_aqm::spec::{LinkFacts, ParamValues, Value};
use goodqueue_base::units::Duration;

// RED in Linux has no gentle line, and spaces signals evenly (net/sched/sch_red.c,
// include/net/red.h).
pub(super) const RED: &[Word] = &[
    word("min_th", How::Together(thresholds)),
    model("max_th"),
    key("max_p", "probability", Write::Number),
    model("w_q"),
    model("auto_w_q"),
    only("gentle", Value::Switch(false)),
    only("bytes", Value::Switch(false)),
    only("queue_in_bytes", Value::Switch(true)),
    model("mean_pktsize"),
    only("wait", Value::Switch(false)),
    only("use_mark_p", Value::Switch(false)),
    model("mark_p"),
    word("harddrop", How::Switch { on: "harddrop", off: "" }),
    word("adaptive", How::Flags(&[("off", ""), ("floyd", "adaptive")])),
    only("alpha", Value::Number(0.01)),
    only("beta", Value::Number(0.9)),
    only("interval", micros(500_000)),
    only("top", Value::Number(0.5)),
    automatic("bottom"),
    model("targetdelay"),
    only("legacy_static", Value::Switch(false)),
    model("arithmetic"),
];

/// Most packets of a burst that `tc` takes here.
const MAX_BURST: u32 = 100_000;

/// Thresholds in bytes, with the burst that gives the weight that is in force.
fn thresholds(given: &ParamValues<'_>, wanted: &Wanted<'_>) -> Result<Vec<(&'static str, String)>, Refusal> {
    let facts = LinkFacts {
        rate: Some(wanted.rate),
        delay: Duration::ZERO,
        mtu: wanted.mtu,
        overhead: Default::default(),
        limit: wanted.held,
    };
    let refuse = |what: String| Refusal::plain(what);
    let params = RedParams::build(given, &facts).map_err(|error| refuse(format!("`{}`: {error}", given.kind())))?;
    let red = Red::new(params, Facts { rate: Some(wanted.rate), delay: facts.delay, mtu: wanted.mtu });
    let InForce { min_th, max_th, w_q } = red.in_force();
    let unit = if params.queue_in_bytes { 1.0 } else { wanted.mtu.get() as f64 };
    let (min, max) = (min_th * unit, max_th * unit);
    let packet = wanted.mtu.get().max(1) as f64;
    let least = (min / packet).ceil().max(1.0) as u32;
    let log = nearest_log(w_q);
    let burst = (least..MAX_BURST).find(|burst| weight_log(min, *burst, packet).is_some_and(|found| found >= log));
    let Some(burst) = burst.filter(|burst| weight_log(min, *burst, packet) == Some(log)) else {
        return Err(refuse(format!("`w_q` of {} cannot be {w_q} in tc with these thresholds", given.kind())));
    };
    Ok(vec![
        ("min", format!("{}", min.round())),
        ("max", format!("{}", max.round())),
        ("avpkt", wanted.mtu.get().to_string()),
        ("burst", burst.to_string()),
        ("bandwidth", super::STYLE.rate(wanted.rate)),
    ])
}

/// The whole binary logarithm nearest to that of `1 / weight`.
fn nearest_log(weight: f64) -> u32 {
    // On a scale of logarithms the middle between two powers is the greater one times this.
    let halfway = std::f64::consts::FRAC_1_SQRT_2;
    let mut power = 0.5;
    for log in 1..31 {
        if weight >= power * halfway {
            return log;
        }
        power /= 2.0;
    }
    31
}

/// The binary logarithm of `1 / w_q` that `tc` finds for a burst: the largest weight with which the
/// average stays below `min` while `burst` packets come at once to an empty queue (Floyd and
/// Jacobson 1993 §6, but with the burst itself as the exponent, where the paper has one more), in
/// powers of one half.
pub(crate) fn weight_log(min: f64, burst: u32, packet: f64) -> Option<u32> {
    let above = f64::from(burst) + 1.0 - min / packet;
    if above < 1.0 {
        return None;
    }
    let mut weight = 0.5;
    for log in 1..32 {
        if above <= (1.0 - power(1.0 - weight, burst)) / weight {
            return Some(log);
        }
        weight /= 2.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_gives_the_weight_of_the_formula() {
        // The logarithms that tc 6.1 sends to the kernel for `min`, `burst` and `avpkt`.
        for (min, burst, packet, log) in [
            (7_500.0, 7, 1_500.0, 2),
            (5_000.0, 50, 1_000.0, 9),
            (15_000.0, 13, 1_500.0, 3),
            (75_000.0, 60, 1_500.0, 4),
            (5_000.0, 46, 1_000.0, 8),
        ] {
            assert_eq!(weight_log(min, burst, packet), Some(log), "{min} {burst} {packet}");
        }
        // Fewer packets than the threshold has are no burst.
        assert_eq!(weight_log(5_000.0, 3, 1_000.0), None);
    }

    #[test]
    fn weights_are_rounded_to_powers_of_one_half() {
        assert_eq!([0.5, 0.002, 1.0 / 512.0, 0.003, 1e-12].map(nearest_log), [1, 9, 9, 8, 31]);
    }
}
