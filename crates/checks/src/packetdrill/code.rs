//! Statements over the state of a connection: the part of Python that scripts use.
//!
//! `assert`, `print` and assignments of numbers; expressions with comparisons (also chained),
//! arithmetic, bits, `and`, `or`, `not`, `abs`, `min` and `max`. Messages of assertions are
//! skipped. Statements such as `if` and `import` are recognized, so that a script which has them is
//! reported as one that does not apply, instead of one that cannot be read.

mod lexer;
mod parser;

use crate::packetdrill::error::{NotModelled, Place, ScriptError};
use std::collections::{BTreeMap, BTreeSet};

/// Statements between `%{` and `}%`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    statements: Vec<(Place, Statement)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Statement {
    /// The condition, its text and its names.
    Assert(Expression, String, BTreeSet<String>),
    Print(Option<Expression>),
    Assign(String, Expression),
    /// A keyword of Python that is not for this reader.
    Foreign(String),
}

#[derive(Clone, Debug, PartialEq)]
enum Expression {
    Number(f64),
    Name(String),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Invert(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `a < b <= c`
    Compare(Box<Expression>, Vec<(Comparison, Expression)>),
    Call(Function, Vec<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    And,
    Or,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Abs,
    Min,
    Max,
}

/// Why statements could not be carried out to their end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An assertion does not hold: its place, its text, and the values of its names.
    Assertion(Place, String, String),
    /// Something has no value here, with the reason.
    NoValue(Place, NoValue),
}

/// Why something of a script has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoValue {
    /// A statement of Python that is not for this reader.
    #[error("`{0}` of Python")]
    Foreign(String),
    /// A name that is neither a variable nor known otherwise.
    #[error("the name `{0}`")]
    Name(String),
    /// A field that the stack does not model.
    #[error(transparent)]
    NotModelled(#[from] NotModelled),
    /// A quotient or remainder by zero.
    #[error("a division by zero")]
    DivisionByZero,
    /// A shift that leaves nothing of any number.
    #[error("a shift by more than {MAX_SHIFT} bits")]
    Shift,
}

/// Most bits that a number is shifted by.
const MAX_SHIFT: u32 = 62;

/// The values of names: variables of the script, then what `lookup` knows.
pub struct Values<'a> {
    /// Variables that the script has set.
    pub variables: &'a mut BTreeMap<String, f64>,
    /// Fields of `tcp_info` and constants.
    pub lookup: &'a mut dyn FnMut(&str) -> Result<f64, NoValue>,
}

impl Program {
    /// Reads the text between the braces, which begins at `place`.
    pub(crate) fn parse(text: &str, place: Place) -> Result<Self, ScriptError> {
        // `%{` comes first.
        let inside = Place { line: place.line, column: place.column + 2 };
        Ok(Self { statements: parser::statements(text, inside)? })
    }

    /// Carries out the statements. Returns what they print, one line each.
    ///
    /// # Errors
    /// At the first assertion that does not hold, and at the first name that has no value.
    pub fn run(&self, values: &mut Values<'_>) -> Result<Vec<String>, Stop> {
        let mut printed = Vec::new();
        for (place, statement) in &self.statements {
            let unknown = |reason| Stop::NoValue(*place, reason);
            match statement {
                Statement::Assert(condition, text, names) => {
                    if condition.value(values).map_err(unknown)? == 0.0 {
                        let value = |name: &String| Some(format!("{name} = {}", values.get(name).ok()?));
                        let list = names.iter().filter_map(value).collect::<Vec<_>>();
                        return Err(Stop::Assertion(*place, text.clone(), list.join(", ")));
                    }
                }
                Statement::Print(Some(expression)) => printed.push(expression.value(values).map_err(unknown)?.to_string()),
                Statement::Print(None) => {}
                Statement::Assign(name, expression) => {
                    let value = expression.value(values).map_err(unknown)?;
                    values.variables.insert(name.clone(), value);
                }
                Statement::Foreign(word) => return Err(unknown(NoValue::Foreign(word.clone()))),
            }
        }
        Ok(printed)
    }
}

impl Values<'_> {
    fn get(&mut self, name: &str) -> Result<f64, NoValue> {
        match self.variables.get(name) {
            Some(&value) => Ok(value),
            None => (self.lookup)(name),
        }
    }
}

impl Expression {
    fn value(&self, values: &mut Values<'_>) -> Result<f64, NoValue> {
        Ok(match self {
            Self::Number(value) => *value,
            Self::Name(name) => values.get(name)?,
            Self::Not(operand) => truth(operand.value(values)? == 0.0),
            Self::Negative(operand) => -operand.value(values)?,
            Self::Invert(operand) => !bits(operand.value(values)?) as f64,
            Self::Binary(Operator::And, left, right) => {
                let left = left.value(values)?;
                if left == 0.0 { left } else { right.value(values)? }
            }
            Self::Binary(Operator::Or, left, right) => {
                let left = left.value(values)?;
                if left == 0.0 { right.value(values)? } else { left }
            }
            Self::Binary(operator, left, right) => operator.apply(left.value(values)?, right.value(values)?)?,
            Self::Compare(first, rest) => {
                let mut left = first.value(values)?;
                for (comparison, right) in rest {
                    let right = right.value(values)?;
                    if !comparison.holds(left, right) {
                        return Ok(0.0);
                    }
                    left = right;
                }
                1.0
            }
            Self::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.value(values)).collect::<Result<Vec<_>, _>>()?;
                match function {
                    Function::Abs => arguments[0].abs(),
                    Function::Min => arguments.iter().copied().fold(f64::INFINITY, f64::min),
                    Function::Max => arguments.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                }
            }
        })
    }
}

impl Operator {
    fn apply(self, left: f64, right: f64) -> Result<f64, NoValue> {
        let divisor = || if right == 0.0 { Err(NoValue::DivisionByZero) } else { Ok(right) };
        let shift = || u32::try_from(bits(right)).ok().filter(|count| *count <= MAX_SHIFT).ok_or(NoValue::Shift);
        Ok(match self {
            // The caller evaluates these two only as far as needed.
            Self::And => truth(left != 0.0 && right != 0.0),
            Self::Or => truth(left != 0.0 || right != 0.0),
            Self::BitAnd => (bits(left) & bits(right)) as f64,
            Self::BitOr => (bits(left) | bits(right)) as f64,
            Self::BitXor => (bits(left) ^ bits(right)) as f64,
            Self::ShiftLeft => (bits(left) << shift()?) as f64,
            Self::ShiftRight => (bits(left) >> shift()?) as f64,
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / divisor()?,
            Self::FloorDivide => (left / divisor()?).floor(),
            Self::Modulo => left - divisor()? * (left / right).floor(),
        })
    }
}

impl Comparison {
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Fields of `tcp_info` have at most 64 bits, and those that scripts compare at most 53.
fn bits(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests;
