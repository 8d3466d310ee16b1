//! The sound quality of a call as predicted by the E-model of ITU-T G.107, with its default values
//! for everything that a network does not change.
//!
//! `R = 93.2 - Id - Ie,eff`. *Delay*: `Id = 25 ((1 + X^6)^(1/6) - 3 (1 + (X/3)^6)^(1/6) + 2)` with
//! `X = log2(Ta / 100 ms)`, zero up to `Ta` = 100 ms (G.107 §7.4, for an echo-free connection).
//! *Loss*: `Ie,eff = Ie + (95 - Ie) Ppl / (Ppl / BurstR + Bpl)` with `Ppl` in per cent (G.107
//! §7.5). The codec is G.711 with packet loss concealment: `Ie` = 0, `Bpl` = 25.1 (G.113 appendix
//! I). *Score*: `MOS = 1 + 0.035 R + R (R - 60) (100 - R) 7e-6` between R = 0 and 100 (G.107 annex
//! B).
//!
//! The listener's de-jitter buffer is taken to adapt well: it plays each packet as late as 99 % of
//! them arrive, so `Ta` is the 99th percentile of the one-way delay and the time one packet's
//! speech takes to speak, and the one packet in a hundred that comes later counts as lost (our
//! choice). Source: ITU-T G.107 (2015), G.113 (2007).

use goodqueue_aqm::math::{log2, pow};
use goodqueue_sim::CallOutcome;

/// Rating without delay and loss.
const BEST: f64 = 93.2;
const EQUIPMENT: f64 = 0.0;
const ROBUSTNESS: f64 = 25.1;
/// Share of packets that come too late for the de-jitter buffer.
const TOO_LATE: f64 = 0.01;

/// The rating of one call of which something arrived.
pub(super) fn r_factor(call: &CallOutcome) -> f64 {
    let total = (call.received + call.lost) as f64;
    let lost = call.lost as f64 / total;
    // Packets that differ in delay at all are late by chance.
    let late = if call.delay_p99 > call.delay_min { TOO_LATE } else { 0.0 };
    let share = lost + (1.0 - lost) * late;
    // Mean run of losses over that of random losses of the same share, at least 1.
    let burst = if call.loss_runs > 0 { (call.lost as f64 / call.loss_runs as f64 * (1.0 - lost)).max(1.0) } else { 1.0 };
    let mouth_to_ear_s = call.delay_p99.as_secs_f64() + call.interval.as_secs_f64();
    (BEST - delay_impairment(mouth_to_ear_s) - loss_impairment(100.0 * share, burst)).clamp(0.0, 100.0)
}

fn delay_impairment(seconds: f64) -> f64 {
    if seconds <= 0.1 {
        return 0.0;
    }
    let x = log2(seconds / 0.1);
    let sixth = |x: f64| pow(1.0 + pow(x, 6.0), 1.0 / 6.0);
    25.0 * (sixth(x) - 3.0 * sixth(x / 3.0) + 2.0)
}

fn loss_impairment(percent: f64, burst: f64) -> f64 {
    EQUIPMENT + (95.0 - EQUIPMENT) * percent / (percent / burst + ROBUSTNESS)
}

/// The score of a rating.
pub(super) fn mos(r: f64) -> f64 {
    if r <= 0.0 { 1.0 } else { (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).clamp(1.0, 4.5) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_base::units::Duration;
    use goodqueue_sim::Content;

    fn call(delay_ms: u64, lost: u64, loss_runs: u64) -> CallOutcome {
        let delay = Duration::ms(delay_ms);
        CallOutcome {
            content: Content::Voice,
            interval: Duration::ZERO,
            received: 10_000 - lost,
            lost,
            loss_runs,
            longest_loss_run: 1,
            late: 0,
            delay_min: delay,
            delay_p50: delay,
            delay_p95: delay,
            delay_p99: delay,
        }
    }

    #[test]
    fn a_perfect_call_has_the_best_score_of_the_model() {
        let r = r_factor(&call(20, 0, 0));
        assert_eq!(r, 93.2);
        // G.107 annex B: 4.41.
        assert!((mos(r) - 4.41).abs() < 0.005, "{}", mos(r));
    }

    #[test]
    fn delay_takes_what_the_standard_says() {
        // Figures of ITU-T G.114's curve: about 0.2 at 150 ms (X = 0.585), 23 at 400 ms, where X =
        // 2: 25 (65^(1/6) - 3 (1 + 64/729)^(1/6) + 2).
        assert!(delay_impairment(0.150) < 0.3);
        let at_400 = 25.0 * (2.005_175 - 3.0 * 1.014_115 + 2.0);
        assert!((delay_impairment(0.4) - at_400).abs() < 0.01, "{} {at_400}", delay_impairment(0.4));
    }

    #[test]
    fn losses_and_bursts_of_them_are_heard() {
        // 2 %: 95 * 2 / (2 + 25.1) = 7.01.
        let random = r_factor(&call(20, 200, 200));
        assert!((random - (93.2 - 7.011)).abs() < 0.01, "{random}");
        let bursts = r_factor(&call(20, 200, 20));
        assert!(bursts < random);
        assert_eq!(mos(-5.0), 1.0);
        assert_eq!(mos(100.0), 4.5);
    }
}
