//! Why a packet was dropped or marked, in words.
//!
//! An algorithm's gauges right after its decision, and how long the packet has waited, are all that
//! is known here; what follows from them is said and nothing else.

use goodqueue_aqm::Reason;
use goodqueue_aqm::spec::{KindAndParams, KindSpec, Value};
use goodqueue_base::units::Duration;
use goodqueue_lab::scenario::plan::Queue;

/// Action taken on the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Dropped,
    Marked,
}

/// One decision.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    pub action: Action,
    pub reason: Reason,
    pub sojourn: Duration,
    pub waiting_packets: usize,
    pub gauges: &'a [(&'static str, f64)],
}

/// The reason of a decision of `queue`.
pub fn words(queue: &Queue, decision: &Decision<'_>) -> String {
    let law = Law::of(queue);
    match decision.reason {
        Reason::Overflow => return format!("no room: {} packets wait already", decision.waiting_packets),
        Reason::OverLimit => return "no room: the flow with the most waiting loses a packet".to_owned(),
        Reason::Malformed => return "not a packet".to_owned(),
        Reason::Redundant => return "a later acknowledgement in the queue says all that this one does".to_owned(),
        Reason::Match => return format!("{}: a packet of the same flow was found in the queue", law.kind.title),
        Reason::Penalty => return format!("{}: its flow does not respond and is held back", law.kind.title),
        _ => {}
    }
    format!("{}: {}", law.kind.title, law.words(decision))
}

/// The algorithm that decides, and what it was given.
struct Law<'a> {
    kind: &'static KindSpec,
    params: &'a [(&'static str, Value)],
}

impl<'a> Law<'a> {
    /// The innermost algorithm, in a queue that puts others to work.
    fn of(queue: &'a Queue) -> Self {
        let mut law = Self { kind: queue.chosen.kind, params: &queue.chosen.params };
        let mut inner: Option<&'a KindAndParams> = queue.chosen.of.as_deref();
        while let Some(chosen) = inner {
            law = Self { kind: chosen.kind, params: &chosen.params };
            inner = chosen.of.as_deref();
        }
        law
    }

    /// A time among its parameters, given or by default.
    fn time(&self, name: &str) -> Option<Duration> {
        let given = self.params.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        match given.or_else(|| self.kind.param(name)?.default_value())? {
            Value::Duration(time) => Some(time),
            _ => None,
        }
    }

    fn words(&self, decision: &Decision<'_>) -> String {
        let gauge = |name: &str| decision.gauges.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let waited = format!("waited {}", millis(decision.sojourn.as_secs_f64()));
        let action = if decision.action == Action::Dropped { "drop" } else { "mark" };
        if let Some(target) = self.time("target")
            && decision.reason == Reason::Head
        {
            let above = format!("{waited}, target {}", millis(target.as_secs_f64()));
            let Some(count) = gauge("count").filter(|count| *count >= 1.0) else { return above };
            let next = self.time("interval").map(|interval| interval.as_secs_f64() / count.sqrt());
            let next = next.map_or_else(String::new, |next| format!(", next in {}", millis(next)));
            return format!("{above}; {} {action} in a row{next}", ordinal(count));
        }
        let mut said = Vec::new();
        if decision.reason == Reason::Threshold {
            said.push(format!("{waited}: over the marking threshold"));
        }
        if let (Some(fill), Some(capacity)) = (gauge("fill"), gauge("capacity")) {
            let few = if decision.reason == Reason::Policer { "too few tokens, " } else { "" };
            said.push(format!("{few}the bucket holds {fill:.2} of {capacity:.2}"));
        }
        if let Some(average) = gauge("average") {
            said.push(format!("average queue {average:.1} packets"));
        }
        let delay = gauge("queue_delay_s").map(|delay| format!("queueing delay {}", millis(delay)));
        said.extend(delay);
        for (name, what) in
            [("price", "price"), ("phantom_bytes", "phantom queue in bytes"), ("virtual_queue_bytes", "virtual queue in bytes")]
        {
            said.extend(gauge(name).map(|value| format!("{what} {value:.0}")));
        }
        let probability = ["probability", "drop_probability", "classic_probability", "greatest_probability"];
        let probability = probability.into_iter().find_map(gauge);
        said.extend(probability.map(|p| format!("{action} probability {:.2} %", p * 100.0)));
        if let Some(surplus) = gauge("surplus_s") {
            said.push(format!("time above the threshold exceeds that below by {}", millis(surplus)));
        }
        if said.is_empty() { waited } else { said.join(", ") }
    }
}

fn millis(seconds: f64) -> String {
    let ms = seconds * 1e3;
    if ms.abs() >= 10.0 { format!("{ms:.0} ms") } else { format!("{ms:.1} ms") }
}

fn ordinal(count: f64) -> String {
    let number = count as u64;
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_aqm::{EcnPolicy, Limit, sched};

    fn queue(kind: &str) -> Queue {
        let kind = sched::kind(kind).expect("a known kind");
        let chosen = KindAndParams::new(kind, Vec::new());
        Queue { chosen, ecn: EcnPolicy::Drop, limit: Limit::NONE, limit_is_own: false, own: None }
    }

    fn decision<'a>(reason: Reason, gauges: &'a [(&'static str, f64)]) -> Decision<'a> {
        Decision { action: Action::Dropped, reason, sojourn: Duration::us(23_400), waiting_packets: 17, gauges }
    }

    #[test]
    fn each_algorithm_gives_its_own_reason() {
        let cases = [
            (
                "codel",
                Reason::Head,
                &[("count", 4.0), ("dropping", 1.0)][..],
                "CoDel: waited 23 ms, target 5.0 ms; 4th drop in a row, next in 50 ms",
            ),
            (
                "red",
                Reason::Early,
                &[("average", 12.34), ("probability", 0.05)],
                "RED: average queue 12.3 packets, drop probability 5.00 %",
            ),
            (
                "pie",
                Reason::Early,
                &[("probability", 0.04), ("queue_delay_s", 0.018)],
                "PIE: queueing delay 18 ms, drop probability 4.00 %",
            ),
            (
                "cp-aqm",
                Reason::Policer,
                &[("fill", 0.25), ("capacity", 1.2)],
                "CP-AQM: too few tokens, the bucket holds 0.25 of 1.20",
            ),
            ("fq-codel", Reason::Head, &[("new_flows", 1.0)], "FQ-CoDel: waited 23 ms, target 5.0 ms"),
            ("tail-drop", Reason::Overflow, &[], "no room: 17 packets wait already"),
        ];
        for (kind, reason, gauges, expected) in cases {
            assert_eq!(words(&queue(kind), &decision(reason, gauges)), expected);
        }
    }

    #[test]
    fn every_kind_has_something_to_say_of_every_reason() {
        for spec in sched::kinds() {
            let queue = queue(spec.kind);
            for reason in Reason::ALL {
                assert!(!words(&queue, &decision(reason, &[])).is_empty());
            }
        }
    }

    #[test]
    fn counts_are_said_as_people_say_them() {
        assert_eq!(
            [1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 21.0, 112.0].map(ordinal),
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th"]
        );
    }
}
