//! Evaluation of a tree, bounded in work and in memory.

use super::array::units;
use super::parse::{Closure, Expr, Node, Operator};
use super::{ExprError, Fault, Value, arithmetic, functions};
use std::rc::Rc;

/// Source of the figures, series and probes that an expression asks for.
pub trait Host {
    /// The value of a function that the language itself does not have; `None` when there is no such
    /// function.
    fn call(&self, name: &str, arguments: &[Value]) -> Option<Result<Value, Fault>>;

    /// Hosts that see one of the runs each; none where there are no runs.
    fn single_runs(&self) -> Vec<Box<dyn Host + '_>> {
        Vec::new()
    }
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
const MAX_WORK: u64 = 200_000_000;

/// More than any row holds at one time, in units of about 32 bytes: a million samples of a series
/// take three million.
const MAX_HELD: u64 = 4_000_000;

/// The value of an expression.
///
/// # Errors When an operation does not fit its values, a name is unknown, or it takes too much work
/// or memory.
pub fn evaluate(expr: &Expr, host: &dyn Host) -> Result<Value, ExprError> {
    Machine { host, work: 0, held: 0 }.value(expr, &None)
}

/// The value of an expression in which one name is already bound.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_with(expr: &Expr, name: &str, value: Value, host: &dyn Host) -> Result<Value, ExprError> {
    Machine { host, work: 0, held: 0 }.value(expr, &bind(&None, name, value))
}

pub(super) struct Machine<'a> {
    host: &'a dyn Host,
    /// Operations so far.
    work: u64,
    /// Size of all values that are alive: operands, arguments and bound names.
    held: u64,
}

/// A closure with the names it sees.
pub(super) struct Bound<'a> {
    closure: &'a Closure,
    scope: &'a Scope,
}

impl Machine<'_> {
    /// The value of a part. What its own parts held is released, what it gives is held by whoever
    /// asked.
    fn value(&mut self, expr: &Expr, scope: &Scope) -> Result<Value, ExprError> {
        self.spend(1).map_err(|fault| fault.at(expr.at))?;
        let before = self.held;
        let value = self.node(expr, scope)?;
        self.held = before;
        self.hold(units(&value)).map_err(|fault| fault.at(expr.at))?;
        Ok(value)
    }

    fn node(&mut self, expr: &Expr, scope: &Scope) -> Result<Value, ExprError> {
        let error = |fault: Fault| fault.at(expr.at);
        Ok(match &expr.node {
            Node::Number(value, _) => Value::Number(*value),
            Node::Text(text) => Value::Text(text.clone()),
            Node::Name(name) => look_up(scope, name).ok_or_else(|| error(unknown_name(name)))?,
            Node::Array(items) => Value::array(self.all(items, scope)?),
            Node::Filter(entries) => {
                let entry = |(key, item): &(String, Expr)| Ok((key.clone(), self.value(item, scope)?));
                let entries: Vec<(String, Value)> = entries.iter().map(entry).collect::<Result<_, ExprError>>()?;
                if let Some((key, value)) = entries.iter().find(|(_, value)| matches!(value, Value::Filter(_))) {
                    return Err(error(Fault::Type(format!("`{key}` is {}: expected a number, a text or a list", value.kind()))));
                }
                Value::Filter(entries)
            }
            Node::Negated(inner) => arithmetic::negated(&self.value(inner, scope)?).map_err(error)?,
            Node::Binary(Operator::And, left, right) => Value::Bool(self.truth(left, scope)? && self.truth(right, scope)?),
            Node::Binary(Operator::Or, left, right) => Value::Bool(self.truth(left, scope)? || self.truth(right, scope)?),
            Node::Binary(operator, left, right) => {
                let (left, right) = (self.value(left, scope)?, self.value(right, scope)?);
                self.spend(units(&left).saturating_add(units(&right))).map_err(error)?;
                arithmetic::binary(*operator, &left, &right).map_err(error)?
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
                element(&list, &index).map_err(error)?
            }
            Node::Call(name, arguments, closure) => {
                let arguments = self.all(arguments, scope)?;
                let closure = closure.as_deref().map(|closure| Bound { closure, scope });
                self.call(name, &arguments, closure.as_ref()).map_err(error)?
            }
        })
    }

    fn all(&mut self, items: &[Expr], scope: &Scope) -> Result<Vec<Value>, ExprError> {
        items.iter().map(|item| self.value(item, scope)).collect()
    }

    fn truth(&mut self, expr: &Expr, scope: &Scope) -> Result<bool, ExprError> {
        match self.value(expr, scope)? {
            Value::Bool(value) => Ok(value),
            other => Err(Fault::Type(format!("is {}: expected true or false", other.kind())).at(expr.at)),
        }
    }

    fn call(&mut self, name: &str, arguments: &[Value], closure: Option<&Bound<'_>>) -> Result<Value, Fault> {
        self.spend(arguments.iter().map(units).fold(0, u64::saturating_add))?;
        let own = match closure {
            Some(closure) => functions::call_with(name, arguments, closure, self),
            None => functions::call(name, arguments),
        };
        // The world outside takes no closures.
        let result = own.or_else(|| if closure.is_none() { self.host.call(name, arguments) } else { None });
        match result {
            Some(result) => result.map_err(|fault| fault.within(name)),
            None if closure.is_some() => Err(Fault::Unknown(format!("there is no function `{name}` that takes a closure"))),
            None => Err(unknown_function(name)),
        }
    }

    /// The value of a closure for these arguments. What it gives stays held.
    pub(super) fn apply(&mut self, bound: &Bound<'_>, arguments: Vec<Value>) -> Result<Value, Fault> {
        let Closure { parameters, body } = bound.closure;
        if parameters.len() != arguments.len() {
            let message = format!("the closure takes {} values, not {}", parameters.len(), arguments.len());
            return Err(Fault::Type(message));
        }
        let before = self.held;
        self.hold(arguments.iter().map(units).fold(0, u64::saturating_add))?;
        let mut scope = bound.scope.clone();
        for (name, value) in parameters.iter().zip(arguments) {
            scope = bind(&scope, name, value);
        }
        let value = self.value(body, &scope).map_err(|error| error.fault.within(&format!("character {}", error.at + 1)))?;
        self.held = before;
        self.hold(units(&value))?;
        Ok(value)
    }

    /// The values of a closure in each run by itself, whose number it takes.
    pub(super) fn each_run(&mut self, closure: &Bound<'_>) -> Result<Value, Fault> {
        let mut values = Vec::new();
        for (number, run) in self.host.single_runs().iter().enumerate() {
            let mut machine = Machine { host: &**run, work: self.work, held: self.held };
            let value = machine.apply(closure, vec![Value::Number(number as f64)]);
            (self.work, self.held) = (machine.work, machine.held);
            values.push(value?);
        }
        if values.is_empty() { Err(Fault::NoValue("there are no runs".to_owned())) } else { Ok(Value::array(values)) }
    }

    fn spend(&mut self, work: u64) -> Result<(), Fault> {
        self.work = self.work.saturating_add(work);
        if self.work > MAX_WORK { Err(Fault::Limit("takes too much work".to_owned())) } else { Ok(()) }
    }

    fn hold(&mut self, units: u64) -> Result<(), Fault> {
        self.held = self.held.saturating_add(units);
        if self.held > MAX_HELD { Err(Fault::Limit("takes too much memory".to_owned())) } else { Ok(()) }
    }
}

pub(super) fn unknown_name(name: &str) -> Fault {
    Fault::Unknown(format!("`{name}` is not known here"))
}

pub(super) fn unknown_function(name: &str) -> Fault {
    Fault::Unknown(format!("there is no function `{name}`"))
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

/// An element counted from zero.
fn element(list: &Value, index: &Value) -> Result<Value, Fault> {
    let (Value::Array(items), Value::Number(index)) = (list, index) else {
        return Err(Fault::Type(format!("{} cannot be indexed by {}", list.kind(), index.kind())));
    };
    let found = (index.fract() == 0.0 && *index >= 0.0).then(|| items.get(*index as usize)).flatten();
    found.cloned().ok_or_else(|| Fault::NoValue(format!("there is no element {index}: the array has {}", items.len())))
}
