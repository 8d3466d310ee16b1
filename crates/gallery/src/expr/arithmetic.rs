//! Operators, element by element where an operand is an array.

use super::Value;

/// `-a` and `!a`.
pub(super) fn unary(operator: &str, value: Value) -> Result<Value, String> {
    match (operator, value) {
        ("-", Value::Number(value)) => Ok(Value::Number(-value)),
        ("!", Value::Bool(value)) => Ok(Value::Bool(!value)),
        (_, Value::Array(items)) => {
            Ok(Value::Array(items.into_iter().map(|item| unary(operator, item)).collect::<Result<_, _>>()?))
        }
        (_, other) => Err(format!("`{operator}` does not go with {}", other.kind())),
    }
}

/// `a + b` and so on.
pub(super) fn binary(operator: &str, left: &Value, right: &Value) -> Result<Value, String> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => on_numbers(operator, *left, *right),
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return Err(format!("`{operator}` of arrays with {} and {} elements", left.len(), right.len()));
            }
            let pairs = left.iter().zip(right).map(|(left, right)| binary(operator, left, right));
            Ok(Value::Array(pairs.collect::<Result<_, _>>()?))
        }
        (Value::Array(left), right) => {
            Ok(Value::Array(left.iter().map(|left| binary(operator, left, right)).collect::<Result<_, _>>()?))
        }
        (left, Value::Array(right)) => {
            Ok(Value::Array(right.iter().map(|right| binary(operator, left, right)).collect::<Result<_, _>>()?))
        }
        (Value::Text(left), Value::Text(right)) => match operator {
            "==" => Ok(Value::Bool(left == right)),
            "!=" => Ok(Value::Bool(left != right)),
            "+" => Ok(Value::Text(format!("{left}{right}"))),
            _ => Err(format!("`{operator}` does not go with texts")),
        },
        (Value::Bool(left), Value::Bool(right)) if operator == "==" => Ok(Value::Bool(left == right)),
        (Value::Bool(left), Value::Bool(right)) if operator == "!=" => Ok(Value::Bool(left != right)),
        (left, right) => Err(format!("`{operator}` does not go with {} and {}", left.kind(), right.kind())),
    }
}

fn on_numbers(operator: &str, left: f64, right: f64) -> Result<Value, String> {
    let number = match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        "%" => left % right,
        "<" => return Ok(Value::Bool(left < right)),
        "<=" => return Ok(Value::Bool(left <= right)),
        ">" => return Ok(Value::Bool(left > right)),
        ">=" => return Ok(Value::Bool(left >= right)),
        "==" => return Ok(Value::Bool(left == right)),
        "!=" => return Ok(Value::Bool(left != right)),
        _ => return Err(format!("there is no operator `{operator}`")),
    };
    if number.is_finite() { Ok(Value::Number(number)) } else { Err(format!("{left} {operator} {right} is no finite number")) }
}
