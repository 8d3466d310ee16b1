//! Values that the study prints, as reference values of a figure: taken from the rows, so that each
//! number is in one place.
//!
//! A row says something about single points of a figure when its measure is a figure of points,
//! scaled or shifted by numbers, or the least or greatest of them: `min(pick('cp-1', #{load:
//! 'cbr'}, 'links.bottleneck.utilization')) * 100`.

use crate::gallery::evaluate::Range;
use crate::gallery::expr::types::Literal;
use crate::gallery::expr::{Expr, Node, Operator, Value};
use crate::gallery::files::{Expected, Relation, Row};
use crate::gallery::samples::{Filter, Measured};
use crate::gallery::words;

/// A statement about one figure at some points, in SI units.
pub(super) struct Printed<'a> {
    metric: &'a str,
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

impl Printed<'_> {
    pub(super) fn is_about(&self, metric: &str, point: usize) -> bool {
        self.metric == metric && self.points.contains(&point)
    }
}

/// All that rows say about single points of an experiment.
pub(super) fn of<'a>(rows: impl Iterator<Item = &'a Row>, one: &Measured) -> Vec<Printed<'a>> {
    rows.filter_map(|row| statement(row, one)).collect()
}

fn statement<'a>(row: &'a Row, one: &Measured) -> Option<Printed<'a>> {
    let range = Range::of(row)?;
    let form = form(&row.expr)?;
    let (experiment, filter, metric) = query(form.query)?;
    if experiment != one.experiment.id || form.factor <= 0.0 {
        return None;
    }
    let points = Filter::of_entries(&filter).ok()?.points(&one.experiment).ok()?;
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
    Some(Printed { metric, points, value, low, high, words })
}

/// `query * factor + shift`, or the least or greatest of it.
struct Form<'a> {
    query: &'a Expr,
    factor: f64,
    shift: f64,
    extreme: Option<&'a str>,
}

fn form(expr: &Expr) -> Option<Form<'_>> {
    let number = |expr: &Expr| match expr.node {
        Node::Number(value, _) => Some(value),
        _ => None,
    };
    match &expr.node {
        Node::Call(name, arguments, None) => match (name.as_str(), &arguments[..]) {
            ("pick" | "one", _) => Some(Form { query: expr, factor: 1.0, shift: 0.0, extreme: None }),
            ("min" | "max", [inner]) => {
                let inner = form(inner)?;
                inner.extreme.is_none().then_some(Form { extreme: Some(name), ..inner })
            }
            _ => None,
        },
        Node::Binary(Operator::Times, left, right) => {
            let (inner, by) = number(right).map(|by| (left, by)).or_else(|| number(left).map(|by| (right, by)))?;
            let inner = form(inner)?;
            Some(Form { factor: inner.factor * by, shift: inner.shift * by, ..inner })
        }
        Node::Binary(Operator::Over, left, right) => {
            let (inner, by) = (form(left)?, number(right)?);
            Some(Form { factor: inner.factor / by, shift: inner.shift / by, ..inner })
        }
        Node::Binary(Operator::Plus, left, right) => {
            let inner = form(left)?;
            Some(Form { shift: inner.shift + number(right)?, ..inner })
        }
        Node::Binary(Operator::Minus, left, right) => {
            let inner = form(left)?;
            Some(Form { shift: inner.shift - number(right)?, ..inner })
        }
        _ => None,
    }
}

type Entries = Vec<(String, Value)>;

/// Experiment, filter and figure, where all of them are literals.
fn query(expr: &Expr) -> Option<(&str, Entries, &str)> {
    let Node::Call(_, arguments, None) = &expr.node else { return None };
    let text = |expr: &'_ Expr| matches!(expr.node, Node::Text(_));
    match &arguments[..] {
        [experiment, Expr { node: Node::Filter(entries), .. }, metric] if text(experiment) && text(metric) => {
            let entry = |(axis, value): &(String, Expr)| Some((axis.clone(), literal(value)?));
            Some((content(experiment)?, entries.iter().map(entry).collect::<Option<_>>()?, content(metric)?))
        }
        [experiment, metric] => Some((content(experiment)?, Vec::new(), content(metric)?)),
        _ => None,
    }
}

fn content(expr: &Expr) -> Option<&str> {
    match &expr.node {
        Node::Text(text) => Some(text),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<Value> {
    match &expr.node {
        Node::Number(value, _) => Some(Literal::Number(*value).value()),
        Node::Text(text) => Some(Literal::Text(text.clone()).value()),
        Node::Array(items) => items.iter().map(literal).collect::<Option<Vec<_>>>().map(Value::array),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::expr::parse;

    #[test]
    fn a_scaled_and_shifted_figure_is_recognised() {
        let shown = |text: &str| {
            let expr = parse(text).unwrap();
            let form = form(&expr)?;
            let (experiment, filter, metric) = query(form.query)?;
            Some(format!("{experiment} {} {metric} {} {} {:?}", filter.len(), form.factor, form.shift, form.extreme))
        };
        assert_eq!(shown("one('e', #{n: 1}, 'm') * 100").as_deref(), Some("e 1 m 100 0 None"));
        assert_eq!(shown("min(pick('e', 'm')) * 100").as_deref(), Some("e 0 m 100 0 Some(\"min\")"));
        assert_eq!(shown("(one('e', #{a: ['x', 2]}, 'm') + 0.5) * 10").as_deref(), Some("e 1 m 10 5 None"));
        assert_eq!(shown("2 * pick('e', 'm') / 4 - 1").as_deref(), Some("e 0 m 0.5 -1 None"));
        assert_eq!(shown("one('e', 'm') - one('f', 'm')"), None);
        assert_eq!(shown("one('e', #{n: x}, 'm')"), None);
        assert_eq!(shown("max(min(pick('e', 'm')))"), None);
    }
}
