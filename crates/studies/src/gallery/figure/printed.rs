//! Values that the study prints, as reference values of a figure: taken from the rows, so that each
//! number is in one place.
//!
//! A row says something about single points of a figure when its measure is a figure of points,
//! scaled or shifted by numbers, or the least or greatest of them: `min(pick('cp-1', #{load:
//! "cbr"}, "links.bottleneck.utilization")) * 100`.

use crate::gallery::evaluate::Range;
use crate::gallery::expr::{self, Expr, Value};
use crate::gallery::files::{Expected, Relation, Row};
use crate::gallery::samples::{Filter, Measured};
use crate::gallery::words;
use rhai::{Dynamic, EvalAltResult, Scope};
use std::any::TypeId;

/// A statement about one figure at some points, in SI units.
pub(super) struct Printed {
    metric: String,
    points: Vec<usize>,
    /// The value itself, where the study gives one.
    pub(super) value: Option<f64>,
    /// Ends of what agrees.
    pub(super) low: Option<f64>,
    /// See `low`.
    pub(super) high: Option<f64>,
    /// The row, for a reader who points at it.
    pub(super) words: String,
}

impl Printed {
    pub(super) fn is_about(&self, metric: &str, point: usize) -> bool {
        self.metric == metric && self.points.contains(&point)
    }
}

/// All that rows say about single points of an experiment.
pub(super) fn of<'a>(rows: impl Iterator<Item = &'a Row>, one: &Measured) -> Vec<Printed> {
    rows.filter_map(|row| statement(row, one)).collect()
}

fn statement(row: &Row, one: &Measured) -> Option<Printed> {
    let range = Range::of(row)?;
    let form = form(&row.expr)?;
    if form.experiment != one.experiment.id || form.factor <= 0.0 {
        return None;
    }
    let points = Filter::of_entries(&form.filter).ok()?.points(&one.experiment).ok()?;
    let back = |value: f64| Some((value - form.shift) / form.factor).filter(|value| value.is_finite());
    let value = match (row.relation, row.expected.get_ref()) {
        (Relation::Equal, Expected::Number(value)) if form.extreme.is_none() => back(*value),
        _ => None,
    };
    // Of the least value only the lower end says something about each point, of the greatest only
    // the upper.
    let low = back(range.low).filter(|_| form.extreme != Some("max"));
    let high = back(range.high).filter(|_| form.extreme != Some("min"));
    if low.is_none() && high.is_none() {
        return None;
    }
    let words = format!("{}, {}: {} ({})", row.id.get_ref(), row.place, words::expected(row), row.metric);
    Some(Printed { metric: form.metric, points, value, low, high, words })
}

/// `figure * factor + shift`, or the least or greatest of it.
#[derive(Clone, Debug)]
struct Form {
    experiment: String,
    filter: Vec<(String, Value)>,
    metric: String,
    factor: f64,
    shift: f64,
    extreme: Option<&'static str>,
}

/// The form of an expression, which is evaluated with forms in place of figures.
fn form(expr: &Expr) -> Option<Form> {
    let mut engine = expr::engine();
    let any = TypeId::of::<Dynamic>();
    for name in ["pick", "one"] {
        for count in [2, 3] {
            engine.register_raw_fn(name, vec![any; count], |_, given| formed(picked(given)));
        }
    }
    for name in ["min", "max"] {
        engine.register_raw_fn(name, [any], move |_, given| {
            let inner = given[0].clone().try_cast::<Form>().filter(|form| form.extreme.is_none());
            formed(inner.map(|form| Form { extreme: Some(name), ..form }))
        });
    }
    for sign in ["+", "-", "*", "/"] {
        engine.register_raw_fn(sign, [any; 2], move |_, given| formed(scaled(sign, given[0], given[1])));
    }
    engine.eval_ast_with_scope(&mut Scope::new(), &expr.ast).ok()
}

fn formed(form: Option<Form>) -> Result<Form, Box<EvalAltResult>> {
    form.ok_or_else(|| "is no form".into())
}

/// Experiment, filter and figure.
fn picked(given: &[&mut Dynamic]) -> Option<Form> {
    let given: Vec<Value> = given.iter().map(|value| Value::of(value).ok()).collect::<Option<_>>()?;
    let (experiment, filter, metric) = match &given[..] {
        [Value::Text(experiment), Value::Filter(filter), Value::Text(metric)] => (experiment, filter.clone(), metric),
        [Value::Text(experiment), Value::Text(metric)] => (experiment, Vec::new(), metric),
        _ => return None,
    };
    Some(Form { experiment: experiment.clone(), filter, metric: metric.clone(), factor: 1.0, shift: 0.0, extreme: None })
}

fn scaled(sign: &str, left: &Dynamic, right: &Dynamic) -> Option<Form> {
    let form = |value: &Dynamic| value.clone().try_cast::<Form>();
    let number = |value: &Dynamic| if let Ok(Value::Number(number)) = Value::of(value) { Some(number) } else { None };
    let (form, by) = match (form(left), number(right)) {
        (Some(form), Some(by)) => (form, by),
        _ if sign == "*" => (form(right)?, number(left)?),
        _ => return None,
    };
    Some(match sign {
        "+" => Form { shift: form.shift + by, ..form },
        "-" => Form { shift: form.shift - by, ..form },
        "/" => Form { factor: form.factor / by, shift: form.shift / by, ..form },
        _ => Form { factor: form.factor * by, shift: form.shift * by, ..form },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::expr::parse;

    #[test]
    fn a_scaled_and_shifted_figure_is_recognised() {
        let shown = |text: &str| {
            let Form { experiment, filter, metric, factor, shift, extreme } = form(&parse(text, &["x"]).unwrap())?;
            Some(format!("{experiment} {} {metric} {factor} {shift} {extreme:?}", filter.len()))
        };
        assert_eq!(shown(r#"one("e", #{n: 1}, "m") * 100"#).as_deref(), Some("e 1 m 100 0 None"));
        assert_eq!(shown(r#"min(pick("e", "m")) * 100"#).as_deref(), Some("e 0 m 100 0 Some(\"min\")"));
        assert_eq!(shown(r#"(one("e", #{a: ["x", 2]}, "m") + 0.5) * 10"#).as_deref(), Some("e 1 m 10 5 None"));
        assert_eq!(shown(r#"2 * pick("e", "m") / 4 - 1"#).as_deref(), Some("e 0 m 0.5 -1 None"));
        assert_eq!(shown(r#"one("e", "m") - one("f", "m")"#), None);
        assert_eq!(shown(r#"one("e", #{n: x}, "m")"#), None);
        assert_eq!(shown(r#"max(min(pick("e", "m")))"#), None);
        assert_eq!(shown(r#""a" * "b""#), None);
    }
}
