//! Operators, element by element where an operand is an array.

use super::parse::Operator;
use super::{Fault, Value};

/// `-a`.
pub(super) fn negated(value: &Value) -> Result<Value, Fault> {
    match value {
        Value::Number(value) => Ok(Value::Number(-value)),
        Value::Array(items) => Ok(Value::Array(items.iter().map(negated).collect::<Result<_, _>>()?)),
        other => Err(Fault::Type(format!("`-` does not go with {}", other.kind()))),
    }
}

/// `a + b` and so on.
pub(super) fn binary(operator: Operator, left: &Value, right: &Value) -> Result<Value, Fault> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => on_numbers(operator, *left, *right),
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                let sizes = format!("arrays with {} and {} elements", left.len(), right.len());
                return Err(Fault::NoValue(format!("`{}` of {sizes}", operator.sign())));
            }
            let pairs = left.iter().zip(right.iter()).map(|(left, right)| binary(operator, left, right));
            Ok(Value::Array(pairs.collect::<Result<_, _>>()?))
        }
        (Value::Array(left), right) => {
            Ok(Value::Array(left.iter().map(|left| binary(operator, left, right)).collect::<Result<_, _>>()?))
        }
        (left, Value::Array(right)) => {
            Ok(Value::Array(right.iter().map(|right| binary(operator, left, right)).collect::<Result<_, _>>()?))
        }
        (Value::Text(left), Value::Text(right)) if operator == Operator::Equal => Ok(Value::Bool(left == right)),
        (Value::Text(left), Value::Text(right)) if operator == Operator::Unequal => Ok(Value::Bool(left != right)),
        (left, right) => {
            let kinds = format!("{} and {}", left.kind(), right.kind());
            Err(Fault::Type(format!("`{}` does not go with {kinds}", operator.sign())))
        }
    }
}

fn on_numbers(operator: Operator, left: f64, right: f64) -> Result<Value, Fault> {
    let number = match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Over => left / right,
        Operator::Less => return Ok(Value::Bool(left < right)),
        Operator::AtMost => return Ok(Value::Bool(left <= right)),
        Operator::Greater => return Ok(Value::Bool(left > right)),
        Operator::AtLeast => return Ok(Value::Bool(left >= right)),
        Operator::Equal => return Ok(Value::Bool(left == right)),
        Operator::Unequal => return Ok(Value::Bool(left != right)),
        Operator::And | Operator::Or => {
            return Err(Fault::Type(format!("`{}` does not go with numbers", operator.sign())));
        }
    };
    if number.is_finite() {
        return Ok(Value::Number(number));
    }
    Err(Fault::NoValue(format!("{left} {} {right} is no finite number", operator.sign())))
}
