//! Carrying out a tree.

use super::parse::{Expr, Node};
use super::{ExprError, Value, arithmetic, functions};
use std::rc::Rc;

/// What an expression can ask of the world around it: figures, series, probes.
pub trait Host {
    /// The value of a function that the language itself does not have; `None` when there is no such function.
    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, String>>;

    /// The runs seen together here, each by itself; none where there are no runs.
    fn single_runs(&self) -> Vec<Box<dyn Host + '_>> {
        Vec::new()
    }
}

/// A function written in place, with the names it could see.
#[derive(Debug)]
pub struct Closure {
    parts: Rc<(Vec<String>, Expr)>,
    scope: Scope,
}

/// Names and their values, the newest first.
type Scope = Option<Rc<Binding>>;

#[derive(Debug)]
struct Binding {
    name: String,
    value: Value,
    outer: Scope,
}

fn bind(scope: &Scope, name: &str, value: Value) -> Scope {
    Some(Rc::new(Binding { name: name.to_owned(), value, outer: scope.clone() }))
}

/// More work than any row needs; one unit is about one operation or one element of a list.
const MOST_WORK: u64 = 50_000_000;

/// The value of an expression.
///
/// # Errors
/// When an operation does not fit its values, a name is unknown, or it takes too much work.
pub fn evaluate(expr: &Expr, host: &dyn Host) -> Result<Value, ExprError> {
    Machine { host, work: 0 }.value(expr, &None)
}

/// The same with one name already bound.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_with(expr: &Expr, name: &str, value: Value, host: &dyn Host) -> Result<Value, ExprError> {
    Machine { host, work: 0 }.value(expr, &bind(&None, name, value))
}

pub(super) struct Machine<'a> {
    host: &'a dyn Host,
    work: u64,
}

impl Machine<'_> {
    fn value(&mut self, expr: &Expr, scope: &Scope) -> Result<Value, ExprError> {
        let error = |message: String| ExprError { at: expr.at, message };
        self.spend(1).map_err(error)?;
        Ok(match &expr.node {
            Node::Number(value) => Value::Number(*value),
            Node::Bool(value) => Value::Bool(*value),
            Node::Text(text) => Value::Text(text.clone()),
            Node::Name(name) => look_up(scope, name).ok_or_else(|| error(format!("`{name}` is not known here")))?,
            Node::Array(items) => Value::Array(self.all(items, scope)?),
            Node::Map(entries) => {
                let entry = |(key, item): &(String, Expr)| Ok((key.clone(), self.value(item, scope)?));
                Value::Map(entries.iter().map(entry).collect::<Result<_, _>>()?)
            }
            Node::Unary(operator, inner) => {
                let inner = self.value(inner, scope)?;
                arithmetic::unary(operator, inner).map_err(error)?
            }
            Node::Binary("&&", left, right) => Value::Bool(self.truth(left, scope)? && self.truth(right, scope)?),
            Node::Binary("||", left, right) => Value::Bool(self.truth(left, scope)? || self.truth(right, scope)?),
            Node::Binary(operator, left, right) => {
                let (left, right) = (self.value(left, scope)?, self.value(right, scope)?);
                self.spend(size(&left) + size(&right)).map_err(error)?;
                arithmetic::binary(operator, &left, &right).map_err(error)?
            }
            Node::If(condition, then, other) => {
                let chosen = if self.truth(condition, scope)? { then } else { other };
                self.value(chosen, scope)?
            }
            Node::Let(name, value, rest) => {
                let value = self.value(value, scope)?;
                self.value(rest, &bind(scope, name, value))?
            }
            Node::Index(list, index) => {
                let (list, index) = (self.value(list, scope)?, self.value(index, scope)?);
                element(list, &index).map_err(error)?
            }
            Node::Call(name, arguments) => {
                let arguments = self.all(arguments, scope)?;
                self.call(name, arguments).map_err(error)?
            }
            Node::Closure(parts) => Value::Closure(Rc::new(Closure { parts: Rc::clone(parts), scope: scope.clone() })),
        })
    }

    fn all(&mut self, items: &[Expr], scope: &Scope) -> Result<Vec<Value>, ExprError> {
        items.iter().map(|item| self.value(item, scope)).collect()
    }

    fn truth(&mut self, expr: &Expr, scope: &Scope) -> Result<bool, ExprError> {
        match self.value(expr, scope)? {
            Value::Bool(value) => Ok(value),
            other => Err(ExprError { at: expr.at, message: format!("is {}: expected true or false", other.kind()) }),
        }
    }

    fn call(&mut self, name: &str, arguments: Vec<Value>) -> Result<Value, String> {
        self.spend(arguments.iter().map(size).sum())?;
        if let Some(result) = functions::call(name, &arguments, self) {
            return result.map_err(|message| format!("{name}: {message}"));
        }
        match self.host.call(name, &arguments) {
            Some(result) => result.map_err(|message| format!("{name}: {message}")),
            None => Err(format!("there is no function `{name}`")),
        }
    }

    /// The value of a closure for these arguments.
    pub(super) fn apply(&mut self, closure: &Closure, arguments: Vec<Value>) -> Result<Value, String> {
        let (parameters, body) = &*closure.parts;
        if parameters.len() != arguments.len() {
            return Err(format!("the closure takes {} values, not {}", parameters.len(), arguments.len()));
        }
        let mut scope = closure.scope.clone();
        for (name, value) in parameters.iter().zip(arguments) {
            scope = bind(&scope, name, value);
        }
        self.value(body, &scope).map_err(|error| error.to_string())
    }

    /// The values of a closure in each run by itself, whose number it takes.
    pub(super) fn each_run(&mut self, closure: &Closure) -> Result<Value, String> {
        let mut values = Vec::new();
        for (number, run) in self.host.single_runs().iter().enumerate() {
            let mut machine = Machine { host: &**run, work: self.work };
            let value = machine.apply(closure, vec![Value::Number(number as f64)]);
            self.work = machine.work;
            values.push(value?);
        }
        if values.is_empty() { Err("there are no runs".to_owned()) } else { Ok(Value::Array(values)) }
    }

    fn spend(&mut self, work: u64) -> Result<(), String> {
        self.work += work;
        if self.work > MOST_WORK { Err("takes too much work".to_owned()) } else { Ok(()) }
    }
}

fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.len() as u64,
        _ => 1,
    }
}

fn look_up(scope: &Scope, name: &str) -> Option<Value> {
    let mut scope = scope.as_ref();
    while let Some(binding) = scope {
        if binding.name == name {
            return Some(binding.value.clone());
        }
        scope = binding.outer.as_ref();
    }
    None
}

/// Counted from zero, or from the end when negative; of a map, by name.
fn element(list: Value, index: &Value) -> Result<Value, String> {
    match (list, index) {
        (Value::Array(items), Value::Number(index)) => {
            let at = if *index < 0.0 { index + items.len() as f64 } else { *index };
            let found = (at.fract() == 0.0 && at >= 0.0).then(|| items.get(at as usize)).flatten();
            found.cloned().ok_or_else(|| format!("there is no element {index}: the array has {}", items.len()))
        }
        (Value::Map(entries), Value::Text(key)) => {
            let found = entries.into_iter().find(|(known, _)| known == key);
            found.map(|(_, value)| value).ok_or_else(|| format!("there is no `{key}` in the map"))
        }
        (list, index) => Err(format!("{} cannot be indexed by {}", list.kind(), index.kind())),
    }
}
