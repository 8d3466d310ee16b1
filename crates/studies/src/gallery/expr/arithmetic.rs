//! Operators, element by element where an operand is a list.

use super::{Fault, Value};

type Outcome = Result<Value, Fault>;

/// An operator on two numbers.
#[derive(Clone, Copy)]
pub(super) struct Operator {
    /// The sign as it is written.
    pub(super) sign: &'static str,
    on_numbers: OnNumbers,
}

#[derive(Clone, Copy)]
enum OnNumbers {
    Number(fn(f64, f64) -> f64),
    Truth(fn(&f64, &f64) -> bool),
}

pub(super) const OPERATORS: [Operator; 10] = [
    Operator { sign: "+", on_numbers: OnNumbers::Number(|left, right| left + right) },
    Operator { sign: "-", on_numbers: OnNumbers::Number(|left, right| left - right) },
    Operator { sign: "*", on_numbers: OnNumbers::Number(|left, right| left * right) },
    Operator { sign: "/", on_numbers: OnNumbers::Number(|left, right| left / right) },
    Operator { sign: "<", on_numbers: OnNumbers::Truth(f64::lt) },
    Operator { sign: "<=", on_numbers: OnNumbers::Truth(f64::le) },
    Operator { sign: ">", on_numbers: OnNumbers::Truth(f64::gt) },
    Operator { sign: ">=", on_numbers: OnNumbers::Truth(f64::ge) },
    Operator { sign: "==", on_numbers: OnNumbers::Truth(f64::eq) },
    Operator { sign: "!=", on_numbers: OnNumbers::Truth(f64::ne) },
];

/// `-a`.
pub(super) fn negated(value: &Value) -> Outcome {
    match value {
        Value::Number(value) => Ok(Value::Number(-value)),
        Value::Array(items) => Ok(Value::Array(items.iter().map(negated).collect::<Result<_, _>>()?)),
        other => Err(Fault::Type(format!("`-` does not go with {}", other.kind()))),
    }
}

/// `a + b` and so on. `seen` gets what each two numbers give.
pub(super) fn binary(operator: Operator, left: &Value, right: &Value, seen: &dyn Fn(Outcome) -> Outcome) -> Outcome {
    let sign = operator.sign;
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => seen(on_numbers(operator, *left, *right)),
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                let sizes = format!("lists with {} and {} elements", left.len(), right.len());
                return Err(Fault::NoValue(format!("`{sign}` of {sizes}")));
            }
            let pairs = left.iter().zip(right.iter()).map(|(left, right)| binary(operator, left, right, seen));
            Ok(Value::Array(pairs.collect::<Result<_, _>>()?))
        }
        (Value::Array(left), right) => {
            Ok(Value::Array(left.iter().map(|left| binary(operator, left, right, seen)).collect::<Result<_, _>>()?))
        }
        (left, Value::Array(right)) => {
            Ok(Value::Array(right.iter().map(|right| binary(operator, left, right, seen)).collect::<Result<_, _>>()?))
        }
        (Value::Text(left), Value::Text(right)) if sign == "==" => Ok(Value::Bool(left == right)),
        (Value::Text(left), Value::Text(right)) if sign == "!=" => Ok(Value::Bool(left != right)),
        (left, right) => {
            let kinds = format!("{} and {}", left.kind(), right.kind());
            Err(Fault::Type(format!("`{sign}` does not go with {kinds}")))
        }
    }
}

fn on_numbers(operator: Operator, left: f64, right: f64) -> Outcome {
    let number = match operator.on_numbers {
        OnNumbers::Number(operation) => operation(left, right),
        OnNumbers::Truth(operation) => return Ok(Value::Bool(operation(&left, &right))),
    };
    if number.is_finite() {
        return Ok(Value::Number(number));
    }
    Err(Fault::NoValue(format!("{left} {} {right} is no finite number", operator.sign)))
}
