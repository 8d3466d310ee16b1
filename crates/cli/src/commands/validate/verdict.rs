//! Comparison of figures: which ones, how close they must be, and the outcome.

use goodqueue_lab::results::statistics::Figure;
use goodqueue_lab::results::summary::PointSummary;
use goodqueue_lab::run::backend::{self, Validity};
use goodqueue_lab::run::runner::{PointResult, RunReport, label};
use goodqueue_lab::scenario::plan::{Point, Scenario, Traffic};
use goodqueue_sim::SourceSpec;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Figure to compare, with the bound on its distance from the one with kernel senders: an absolute
/// one, or one relative to the figures.
struct Compared {
    metric: &'static str,
    /// As people call it, and the unit they read it in.
    name: &'static str,
    unit: &'static str,
    scale: f64,
    bound: Bound,
}

#[derive(Clone, Copy)]
enum Bound {
    /// For information.
    None,
    Absolute(f64),
    /// The larger of an absolute value and a part of the figure with kernel senders.
    Either(f64, f64),
    /// Within this factor, whichever is the larger one.
    Factor(f64),
}

const fn compared(metric: &'static str, name: &'static str, unit: &'static str, scale: f64, bound: Bound) -> Compared {
    Compared { metric, name, unit, scale, bound }
}

/// Utilization within 2 points, the median sojourn time within 0.5 ms or 10 %, drops within a
/// factor of 1.5; the others for information.
const OF_LINKS: &[Compared] = &[
    compared("utilization", "utilization", "%", 100.0, Bound::Absolute(0.02)),
    compared("sojourn_s.p50", "sojourn p50", "ms", 1e3, Bound::Either(0.5e-3, 0.1)),
    compared("sojourn_s.mean", "sojourn mean", "ms", 1e3, Bound::None),
    compared("sojourn_s.p95", "sojourn p95", "ms", 1e3, Bound::None),
    compared("queue_packets", "mean queue", "packets", 1.0, Bound::None),
    compared("drop_ratio", "dropped", "%", 100.0, Bound::Factor(1.5)),
    compared("mark_ratio", "marked", "%", 100.0, Bound::None),
];

/// The median round trip of probes within 0.5 ms or 10 %, as the median sojourn time that it is
/// made of; how it is distributed beyond that, and what was lost of a few probes a second, for
/// information.
const OF_PROBES: &[Compared] = &[
    compared("rtt_s.p50", "RTT p50", "ms", 1e3, Bound::Either(0.5e-3, 0.1)),
    compared("rtt_s.mean", "RTT mean", "ms", 1e3, Bound::None),
    compared("rtt_s.p95", "RTT p95", "ms", 1e3, Bound::None),
    compared("rtt_s.p99", "RTT p99", "ms", 1e3, Bound::None),
    compared("loss_ratio", "lost", "%", 100.0, Bound::None),
];

/// For information.
const OF_GROUPS: &[Compared] = &[
    compared("goodput_bit_s", "goodput", "Mbit/s", 1e-6, Bound::None),
    compared("rtt_s.mean", "RTT mean", "ms", 1e3, Bound::None),
    compared("rtt_s.p95", "RTT p95", "ms", 1e3, Bound::None),
    compared("retransmitted_ratio", "retransmitted", "%", 100.0, Bound::None),
    compared("timeouts", "timeouts", "1", 1.0, Bound::None),
    compared("completion_s.p50", "done in p50", "s", 1.0, Bound::None),
    compared("completion_s.p95", "done in p95", "s", 1.0, Bound::None),
    compared("one_way_delay_s.p50", "one way p50", "ms", 1e3, Bound::None),
    compared("one_way_delay_s.p95", "one way p95", "ms", 1e3, Bound::None),
];

/// Whether two figures are close enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is asked of it.
    Unasked,
    /// Closer than allowed.
    Agrees,
    /// Too far apart, but the interval of the difference reaches to what is allowed: more
    /// replications would tell.
    Unclear,
    /// Too far apart.
    Differs,
}

impl Verdict {
    const fn word(self) -> &'static str {
        match self {
            Self::Unasked => "",
            Self::Agrees => "agrees",
            Self::Unclear => "unclear",
            Self::Differs => "differs",
        }
    }
}

impl Compared {
    fn verdict(&self, sim: Figure, real: Figure) -> Verdict {
        let (Some(a), Some(b), Some(difference)) = (sim.mean, real.mean, sim.minus(&real)) else { return Verdict::Unasked };
        let allowed = match self.bound {
            Bound::None => return Verdict::Unasked,
            Bound::Absolute(most) => most,
            Bound::Either(most, part) => most.max(part * b.abs()),
            Bound::Factor(factor) => (factor - 1.0) * a.abs().min(b.abs()),
        };
        let distance = (a - b).abs();
        if distance <= allowed {
            Verdict::Agrees
        } else if difference.ci95.is_some_and(|half| distance - half <= allowed) {
            Verdict::Unclear
        } else {
            Verdict::Differs
        }
    }
}

/// One figure on both sides.
pub struct Row {
    /// The link or group, and the figure.
    pub subject: String,
    compared: &'static Compared,
    sim: Figure,
    real: Figure,
    difference: Figure,
    /// Verdict on the figure.
    pub verdict: Verdict,
}

impl Row {
    fn new(subject: &str, compared: &'static Compared, sim: Figure, real: Figure) -> Option<Self> {
        let difference = sim.minus(&real)?;
        let verdict = compared.verdict(sim, real);
        Some(Self { subject: subject.to_owned(), compared, sim, real, difference, verdict })
    }

    /// Both figures, their difference and what comes of it, in one line.
    pub fn sentence(&self, against: &str) -> String {
        let Self { compared: Compared { unit, scale, .. }, sim, real, difference, verdict, .. } = self;
        let word = if *verdict == Verdict::Unasked { String::new() } else { format!(": {}", verdict.word()) };
        let [sim, real, difference] = [sim, real, difference].map(|figure| shown(*figure, *scale));
        format!("sim {sim} {unit}, {against} {real} {unit}, difference {difference}{word}")
    }

    /// The figure's name with its subject.
    pub fn name(&self) -> String {
        format!("{} {}", self.subject, self.compared.name)
    }
}

/// One point of the sweep.
pub struct ComparedPoint {
    /// Label of the point.
    pub label: String,
    /// Figures that were compared.
    pub rows: Vec<Row>,
}

/// Everything that was compared.
pub struct Comparison {
    /// The other side's name.
    pub against: &'static str,
    /// Points that have runs on both sides.
    pub points: Vec<ComparedPoint>,
    /// Every attempt at a run in real time.
    pub runs: Vec<Validity>,
}

impl Comparison {
    /// Compares two reports over the same points.
    pub fn new(points: &[Point], sim: &RunReport, real: &RunReport) -> Self {
        let both = |(point, (sim, real)): (&Point, (&PointResult, &PointResult))| {
            let (sim, real) = (sim.summary.as_ref()?, real.summary.as_ref()?);
            Some(ComparedPoint { label: label(&sim.set), rows: rows(&point.plan, sim, real) })
        };
        let points = points.iter().zip(sim.points.iter().zip(&real.points)).filter_map(both).collect();
        Self { against: real.host, points, runs: real.attempts.clone() }
    }

    /// Returns the number of figures with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.points.iter().flat_map(|point| &point.rows).filter(|row| row.verdict == verdict).count()
    }

    /// Returns the number of figures that are too far apart.
    pub fn differ(&self) -> usize {
        self.count(Verdict::Differs)
    }

    /// Returns the outcome in a sentence.
    pub fn sentence(&self) -> String {
        let [agree, unclear, differ] = [Verdict::Agrees, Verdict::Unclear, Verdict::Differs].map(|verdict| self.count(verdict));
        let mut text = format!(
            "The simulator compared with {}: of {} figures that must be close, {agree} agree",
            self.against,
            agree + unclear + differ
        );
        if unclear > 0 {
            let _ = write!(text, ", {unclear} would need more replications to tell");
        }
        if differ > 0 {
            let _ = write!(text, ", {differ} differ by more than is allowed");
        }
        text + "."
    }

    /// The table.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for ComparedPoint { label, rows } in &self.points {
            let _ = writeln!(text, "{label}");
            let _ = writeln!(text, "  {:34} {:>20} {:>20} {:>20}  verdict", "", "sim", self.against, "difference");
            for row in rows {
                let Compared { unit, scale, .. } = row.compared;
                let [sim, real, difference] = [row.sim, row.real, row.difference].map(|figure| shown(figure, *scale));
                let name = format!("{} ({unit})", row.name());
                let line = format!("  {name:34} {sim:>20} {real:>20} {difference:>20}  {}", row.verdict.word());
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
        if !self.runs.is_empty() {
            let _ = writeln!(text, "{}", backend::sentence(&self.runs));
        }
        let _ = writeln!(text, "{}", self.sentence());
        text
    }

    /// Returns the comparison as JSON, for programs.
    pub fn to_json(&self) -> Value {
        let row = |row: &Row| {
            let Row { subject, compared, sim, real, difference, verdict } = row;
            let verdict = if *verdict == Verdict::Unasked { Value::Null } else { verdict.word().into() };
            json!({
                "subject": subject, "metric": compared.metric, "sim": sim, (self.against): real, "difference": difference,
                "verdict": verdict,
            })
        };
        let point =
            |point: &ComparedPoint| json!({ "set": point.label, "figures": point.rows.iter().map(row).collect::<Vec<_>>() });
        json!({
            "schema": "goodqueue.validate/2",
            "differ": self.differ(),
            "points": self.points.iter().map(point).collect::<Vec<_>>(),
            "runs": self.runs,
        })
    }
}

/// Returns the figures to compare for a group.
fn of_group(plan: &Scenario, name: &str) -> &'static [Compared] {
    let is_echo = |traffic: &Traffic| matches!(traffic.main.source, SourceSpec::Echo { .. });
    if plan.traffic.iter().any(|traffic| traffic.name == name && is_echo(traffic)) { OF_PROBES } else { OF_GROUPS }
}

fn rows(plan: &Scenario, sim: &PointSummary, real: &PointSummary) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, here) in &sim.links {
        let Some(there) = real.link(name) else { continue };
        let row =
            |compared: &'static Compared| Row::new(name, compared, here.figure(compared.metric), there.figure(compared.metric));
        rows.extend(OF_LINKS.iter().filter_map(row));
    }
    for (name, here) in &sim.groups {
        let Some((_, there)) = real.groups.iter().find(|(known, _)| known == name) else { continue };
        let row = |compared: &'static Compared| {
            Row::new(name, compared, here.figures.figure(compared.metric), there.figures.figure(compared.metric))
        };
        rows.extend(of_group(plan, name).iter().filter_map(row));
    }
    rows
}

fn shown(figure: Figure, scale: f64) -> String {
    let Some(mean) = figure.mean else { return "-".to_owned() };
    // Five digits that count.
    let digits = |value: f64| match value.abs() {
        large if large >= 1000.0 => 1,
        large if large >= 100.0 => 2,
        _ => 3,
    };
    let mean = mean * scale;
    let after = digits(mean);
    figure.ci95.map_or_else(|| format!("{mean:.after$}"), |half| format!("{mean:.after$} ± {:.after$}", half * scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_lab::scenario::plan::Plan;

    fn verdict(metric: &str, sim: &[f64], real: &[f64]) -> Verdict {
        let of = |values: &[f64]| Figure::of(values.iter().copied().map(Some));
        OF_LINKS.iter().find(|compared| compared.metric == metric).unwrap().verdict(of(sim), of(real))
    }

    #[test]
    fn bounds_are_as_promised() {
        assert_eq!(verdict("utilization", &[0.97], &[0.985]), Verdict::Agrees);
        assert_eq!(verdict("utilization", &[0.96], &[0.985]), Verdict::Differs);
        assert_eq!(verdict("sojourn_s.p50", &[1.0e-3], &[1.4e-3]), Verdict::Agrees);
        assert_eq!(verdict("sojourn_s.p50", &[10.0e-3], &[12.0e-3]), Verdict::Differs);
        // A factor of 1.5, whichever is larger.
        assert_eq!(verdict("drop_ratio", &[0.010], &[0.0149]), Verdict::Agrees);
        assert_eq!(verdict("drop_ratio", &[0.0149], &[0.010]), Verdict::Agrees);
        assert_eq!(verdict("drop_ratio", &[0.016], &[0.010]), Verdict::Differs);
        assert_eq!(verdict("mark_ratio", &[1.0], &[0.0]), Verdict::Unasked);
    }

    #[test]
    fn round_trips_of_probes_must_be_close_and_those_of_others_need_not() {
        let text = "goodqueue = 1\nduration = \"1 s\"\n[link.l]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\n\
                    [[traffic]]\nkind = \"echo\"\nname = \"ping\"\n[[traffic]]\nkind = \"bulk\"\n";
        let plan = Plan::parse("test", text, std::path::Path::new("")).expect("a scenario");
        let plan = &plan.points().expect("one point")[0].plan;
        let asked = |group: &str| {
            let asked = of_group(plan, group).iter().filter(|compared| !matches!(compared.bound, Bound::None));
            asked.map(|compared| compared.metric).collect::<Vec<_>>()
        };
        assert_eq!((asked("ping"), asked("bulk")), (vec!["rtt_s.p50"], vec![]));
    }

    #[test]
    fn a_difference_within_the_noise_is_not_called_one() {
        assert_eq!(verdict("utilization", &[0.90, 0.98], &[0.97, 0.98]), Verdict::Unclear);
        assert_eq!(verdict("utilization", &[0.930, 0.931, 0.932], &[0.970, 0.971, 0.972]), Verdict::Differs);
        assert_eq!(verdict("utilization", &[], &[0.97]), Verdict::Unasked);
    }

    #[test]
    fn figures_have_as_many_digits_as_count() {
        let of = |values: &[f64]| Figure::of(values.iter().copied().map(Some));
        assert_eq!(shown(of(&[0.98765]), 100.0), "98.765");
        assert_eq!(shown(of(&[1234.56]), 1.0), "1234.6");
        assert_eq!(shown(of(&[1.0, 1.0]), 1.0), "1.000 ± 0.000");
        assert_eq!(shown(Figure::default(), 1.0), "-");
    }
}
