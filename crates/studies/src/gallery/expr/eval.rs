//! Rhai's engine with its limits, and how it calls operators and functions of measures.

use super::arithmetic::{self, OPERATORS};
use super::signatures::{FUNCTIONS, MAX_ARGUMENTS, unknown_function};
use super::value::{held, units};
use super::{Array, ExprError, Fault, Value, functions};
use rhai::{
    AST, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext, ParseErrorType, Position, Scope,
};
use std::any::{TypeId, type_name};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Source of the figures, series and probes that an expression asks for.
pub trait Env {
    /// The value of one of the functions that ask for what was measured.
    ///
    /// # Errors
    /// When there is no such function or nothing that it asks for.
    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, Fault>;

    /// Environments that see one of the runs each; none where there are no runs.
    fn single_runs(&self) -> Vec<Rc<dyn Env>> {
        Vec::new()
    }
}

/// Comparisons of numbers in a dry run, in which numbers are placeholders: each takes the next of
/// two answers in turn.
#[derive(Clone, Copy, Debug)]
pub struct Branches([bool; 2]);

impl Branches {
    /// Dry runs that together reach both sides of a condition, and each branch of a chain of two.
    pub const ALL: [Self; 4] = [Self([true, true]), Self([false, false]), Self([false, true]), Self([true, false])];
}

/// A parsed expression.
#[derive(Clone, Debug, Default)]
pub struct Expr {
    pub(crate) ast: AST,
    text: String,
}

/// Most levels of a tree. Parsing and evaluation recurse over it, so a deeper one could overflow
/// the stack.
const MAX_DEPTH: usize = 100;
/// Closures within closures.
const MAX_CALL_LEVELS: usize = 16;
const MAX_VARIABLES: usize = 100;
/// Bytes of a text.
const MAX_STRING_SIZE: usize = 4096;
/// Elements of a list that is written out, with those in its elements.
const MAX_ARRAY_SIZE: usize = 1000;
const MAX_MAP_SIZE: usize = 100;

/// More work than any row needs, in elements of lists: a few seconds.
const MAX_WORK: u64 = 200_000_000;
/// Work of one of Rhai's operations. Full runs of the gallery need up to nine million of them.
const OPERATION: u64 = 5;

/// More elements than any row holds at one time: a million samples of a series take four million.
const MAX_HELD: u64 = 5_000_000;

/// Words and signs of Rhai that are off: they define, evaluate texts, keep on after a fault, or
/// calculate with whole numbers in a way of their own.
const UNUSED: [&str; 11] = ["fn", "eval", "try", "throw", "+=", "-=", "*=", "/=", "%=", "**=", "%"];

/// An engine without functions: Rhai as far as measures use it, with its limits.
pub(crate) fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    engine
        .set_max_expr_depths(MAX_DEPTH, MAX_DEPTH)
        .set_max_call_levels(MAX_CALL_LEVELS)
        .set_max_variables(MAX_VARIABLES)
        .set_max_operations(MAX_WORK / OPERATION)
        .set_max_string_size(MAX_STRING_SIZE)
        .set_max_array_size(MAX_ARRAY_SIZE)
        .set_max_map_size(MAX_MAP_SIZE)
        .set_allow_looping(false)
        .set_strict_variables(true)
        .set_fail_on_invalid_map_property(true)
        // Rhai's own arithmetic on whole numbers drops remainders.
        .set_fast_operators(false);
    for word in UNUSED {
        engine.disable_symbol(word);
    }
    engine
}

/// Reads an expression in which `bound` names are known.
///
/// # Errors
/// When the text is not one, or uses another name; names the place.
pub fn parse(text: &str, bound: &[&str]) -> Result<Expr, ExprError> {
    let mut scope = Scope::new();
    for name in bound {
        scope.push(*name, ());
    }
    let ast = engine().compile_with_scope(&scope, text).map_err(|error| located(text, &EvalAltResult::from(error)))?;
    Ok(Expr { ast, text: text.to_owned() })
}

/// The value of an expression in which `bound` names have these values.
///
/// # Errors
/// When an operation does not fit its values, a name is unknown, or it takes too much work or
/// memory.
pub fn evaluate(expr: &Expr, bound: &[(&str, Value)], env: Rc<dyn Env>) -> Result<Value, ExprError> {
    Machine::new(env, None).value(expr, bound)
}

/// The value that an expression has with placeholders for numbers.
///
/// # Errors
/// As [`evaluate`], except for what only measured values can show.
pub fn dry_run(expr: &Expr, bound: &[(&str, Value)], env: Rc<dyn Env>, branches: Branches) -> Result<Value, ExprError> {
    Machine::new(env, Some(branches)).value(expr, bound)
}

/// The value of an expression that has only a ten thousandth of the work left.
#[cfg(test)]
pub(super) fn evaluate_late(expr: &Expr, env: Rc<dyn Env>) -> Result<Value, ExprError> {
    let machine = Machine::new(env, None);
    machine.work.set(MAX_WORK - MAX_WORK / 10_000);
    machine.value(expr, &[])
}

/// One evaluation.
struct Machine {
    env: RefCell<Rc<dyn Env>>,
    /// Set in a dry run.
    branches: Option<Branches>,
    /// Comparisons of a dry run so far.
    compared: Cell<usize>,
    work: Cell<u64>,
    /// Elements that were alive before.
    held_before: u64,
}

type Raised = Box<EvalAltResult>;

impl From<Fault> for Raised {
    fn from(fault: Fault) -> Self {
        EvalAltResult::ErrorRuntime(Dynamic::from(fault), Position::NONE).into()
    }
}

impl Machine {
    fn new(env: Rc<dyn Env>, branches: Option<Branches>) -> Rc<Self> {
        let (compared, work) = (Cell::new(0), Cell::new(0));
        Rc::new(Self { env: RefCell::new(env), branches, compared, work, held_before: held() })
    }

    fn value(self: &Rc<Self>, expr: &Expr, bound: &[(&str, Value)]) -> Result<Value, ExprError> {
        let mut scope = Scope::new();
        for (name, value) in bound {
            scope.push_dynamic(*name, value.clone().into());
        }
        let value = self.engine().eval_ast_with_scope::<Dynamic>(&mut scope, &expr.ast);
        let value = value.and_then(|value| Ok(Value::of(&value)?));
        value.map_err(|error| located(&expr.text, &error))
    }

    fn engine(self: &Rc<Self>) -> Engine {
        let mut engine = engine();
        // Rhai counts from zero in each closure that a function calls.
        let machine = Rc::clone(self);
        engine.on_progress(move |_| machine.spend(OPERATION).err().map(Dynamic::from));
        let any = TypeId::of::<Dynamic>();
        for (name, _) in FUNCTIONS {
            for count in 0..=MAX_ARGUMENTS {
                let machine = Rc::clone(self);
                engine.register_raw_fn(*name, vec![any; count], move |context, given| machine.call(name, &context, given));
            }
        }
        for operator in OPERATORS {
            let machine = Rc::clone(self);
            engine.register_raw_fn(operator.sign, [any; 2], move |_, given| {
                let (left, right) = (Value::of(given[0])?, Value::of(given[1])?);
                machine.spend(units(&left).saturating_add(units(&right)))?;
                let value = arithmetic::binary(operator, &left, &right, &|outcome| machine.seen(outcome))?;
                machine.kept(value)
            });
        }
        engine.register_raw_fn("-", [any], |_, given| {
            Ok(<Dynamic as From<Value>>::from(arithmetic::negated(&Value::of(given[0])?)?))
        });
        let machine = Rc::clone(self);
        engine.register_indexer_get(move |list: &mut Array, index: i64| machine.element(list, index as f64));
        let machine = Rc::clone(self);
        engine.register_indexer_get(move |list: &mut Array, index: f64| machine.element(list, index));
        engine
    }

    /// The value of a function. Its last argument may be a closure.
    fn call(&self, name: &str, context: &NativeCallContext<'_>, given: &[&mut Dynamic]) -> Result<Dynamic, Raised> {
        let closure = given.last().and_then(|last| last.read_lock::<FnPtr>().map(|closure| closure.clone()));
        let plain = &given[..given.len() - usize::from(closure.is_some())];
        let arguments = plain.iter().map(|argument| Value::of(argument)).collect::<Result<Vec<_>, _>>();
        let named = |fault: Fault| fault.within(name);
        let arguments = arguments.map_err(named)?;
        self.spend(arguments.iter().map(units).fold(0, u64::saturating_add))?;
        let value = match closure {
            Some(closure) if name == "each_run" => self.each_run(&arguments, &closure, context)?,
            Some(closure) => {
                let is_dry = self.branches.is_some();
                functions::higher(name, &arguments, is_dry, &mut |values| self.apply(&closure, values, context))?
            }
            None => match functions::call(name, &arguments) {
                Some(outcome) if functions::gives_number(name) => self.seen(outcome),
                // Samples of a dry run have no times.
                Some(Ok(_)) if name == "between" && self.branches.is_some() => Ok(arguments[0].clone()),
                Some(outcome) => outcome,
                None => self.env.borrow().call(name, &arguments).map_err(|fault| match fault {
                    // Which points there are does not depend on what is measured.
                    Fault::NoValue(message) if self.branches.is_some() => Fault::Unknown(message),
                    fault => fault,
                }),
            }
            .map_err(named)?,
        };
        self.kept(value)
    }

    /// The value of a closure for these arguments.
    fn apply(&self, closure: &FnPtr, arguments: Vec<Value>, context: &NativeCallContext<'_>) -> Result<Value, Raised> {
        let arguments: Vec<Dynamic> = arguments.into_iter().map(Into::into).collect();
        let value = Value::of(&closure.call_raw(context, None, arguments)?)?;
        self.spend(0)?;
        Ok(value)
    }

    /// The values of a closure in each run by itself, whose number it takes.
    fn each_run(&self, arguments: &[Value], closure: &FnPtr, context: &NativeCallContext<'_>) -> Result<Value, Raised> {
        if !arguments.is_empty() {
            return Err(Fault::Type("each_run: expected a closure alone".to_owned()).into());
        }
        let all = Rc::clone(&self.env.borrow());
        let mut values = Vec::new();
        for (number, run) in all.single_runs().into_iter().enumerate() {
            self.env.replace(run);
            let value = self.apply(closure, vec![Value::Number(number as f64)], context);
            self.env.replace(Rc::clone(&all));
            values.push(value?);
        }
        if values.is_empty() {
            Err(Fault::NoValue("each_run: there are no runs".to_owned()).into())
        } else {
            Ok(Value::array(values))
        }
    }

    /// An element counted from zero. In a dry run lists of samples are shorter than measured ones.
    fn element(&self, list: &Array, index: f64) -> Result<Dynamic, Raised> {
        let is_place = index.fract() == 0.0 && index >= 0.0;
        let found = is_place.then(|| list.get(index as usize)).flatten();
        let found = found.or_else(|| list.last().filter(|_| is_place && self.branches.is_some()));
        let message = || format!("there is no element {index}: the list has {}", list.len());
        Ok(found.cloned().ok_or_else(|| Fault::NoValue(message()))?.into())
    }

    /// The result of two numbers or a statistic: in a dry run, a placeholder of the same kind.
    fn seen(&self, outcome: Result<Value, Fault>) -> Result<Value, Fault> {
        match (self.branches, outcome) {
            (Some(Branches(answers)), Ok(Value::Bool(_))) => {
                let number = self.compared.replace(self.compared.get() + 1);
                Ok(Value::Bool(answers[number % 2]))
            }
            (Some(_), Err(Fault::NoValue(_))) => Ok(Value::Number(1.0)),
            (_, outcome) => outcome,
        }
    }

    fn spend(&self, work: u64) -> Result<(), Fault> {
        self.work.set(self.work.get().saturating_add(work));
        if self.work.get() > MAX_WORK {
            return Err(Fault::Limit("takes too much work".to_owned()));
        }
        if held().saturating_sub(self.held_before) > MAX_HELD {
            return Err(Fault::Limit("takes too much memory".to_owned()));
        }
        Ok(())
    }

    /// A value that fits into memory, and whose destructor fits on the stack.
    fn kept(&self, value: Value) -> Result<Dynamic, Raised> {
        self.spend(0)?;
        match &value {
            Value::Array(list) if list.depth() > MAX_DEPTH => Err(too_deep().into()),
            _ => Ok(value.into()),
        }
    }
}

impl Value {
    /// A value of Rhai.
    pub(crate) fn of(value: &Dynamic) -> Result<Self, Fault> {
        if value.is_shared() {
            return Self::of(&value.flatten_clone());
        }
        if let Ok(number) = value.as_float() {
            return Ok(Self::Number(number));
        }
        if let Ok(number) = value.as_int() {
            return Ok(Self::Number(number as f64));
        }
        if let Ok(truth) = value.as_bool() {
            return Ok(Self::Bool(truth));
        }
        if let Some(list) = value.read_lock::<Array>() {
            return Ok(Self::Array(list.clone()));
        }
        if let Some(text) = value.read_lock::<ImmutableString>() {
            return Ok(Self::Text(text.to_string()));
        }
        if let Some(list) = value.read_lock::<rhai::Array>() {
            return Ok(Self::Array(list.iter().map(Self::of).collect::<Result<_, _>>()?));
        }
        if let Some(filter) = value.read_lock::<Map>() {
            let entry = |(axis, value): (&_, &Dynamic)| match Self::of(value)? {
                Self::Filter(_) => Err(Fault::Type(format!("`{axis}` is a filter: expected a number, a text or a list"))),
                value => Ok((String::from(AsRef::<str>::as_ref(axis)), value)),
            };
            return Ok(Self::Filter(filter.iter().map(entry).collect::<Result<_, _>>()?));
        }
        let kind = if value.is_fnptr() {
            "a closure"
        } else if value.is_unit() {
            "nothing"
        } else {
            value.type_name()
        };
        Err(Fault::Type(format!("{kind} where a number, a text, a list or a filter is needed")))
    }
}

impl From<Value> for Dynamic {
    fn from(value: Value) -> Self {
        match value {
            Value::Number(number) => Self::from_float(number),
            Value::Bool(truth) => Self::from_bool(truth),
            Value::Text(text) => text.into(),
            Value::Array(list) => Self::from(list),
            Value::Filter(entries) => {
                Self::from_map(entries.into_iter().map(|(axis, value)| (axis.into(), value.into())).collect())
            }
        }
    }
}

/// The fault that Rhai tells of, where it happened: within closures, not where they are called.
fn located(text: &str, error: &EvalAltResult) -> ExprError {
    if let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = error {
        return located(text, inner);
    }
    let fault = match error {
        EvalAltResult::ErrorRuntime(value, _) | EvalAltResult::ErrorTerminated(value, _) => {
            let fault = value.read_lock::<Fault>().map(|fault| fault.clone());
            fault.unwrap_or_else(|| Fault::Type(value.to_string()))
        }
        EvalAltResult::ErrorFunctionNotFound(signature, _) => unknown_function(signature),
        EvalAltResult::ErrorParsing(ParseErrorType::VariableUndefined(name), _) => {
            Fault::Unknown(format!("`{name}` is not known here"))
        }
        EvalAltResult::ErrorParsing(ParseErrorType::ExprTooDeep, _) | EvalAltResult::ErrorStackOverflow(_) => too_deep(),
        EvalAltResult::ErrorParsing(ParseErrorType::MismatchedType(needed, found), _)
        | EvalAltResult::ErrorMismatchDataType(needed, found, _) => {
            Fault::Type(format!("is {}: expected {}", kind(found), kind(needed)))
        }
        EvalAltResult::ErrorParsing(kind @ ParseErrorType::LiteralTooLarge(..), _) => Fault::Limit(kind.to_string()),
        EvalAltResult::ErrorParsing(ParseErrorType::UnexpectedEOF, _) => Fault::Syntax("unexpected end".to_owned()),
        EvalAltResult::ErrorParsing(kind, _) => Fault::Syntax(kind.to_string()),
        EvalAltResult::ErrorTooManyOperations(_) => Fault::Limit("takes too much work".to_owned()),
        EvalAltResult::ErrorDataTooLarge(..) | EvalAltResult::ErrorTooManyVariables(_) => {
            Fault::Limit(format!("takes too much memory: {error}"))
        }
        EvalAltResult::ErrorArrayBounds(length, index, _) => {
            Fault::NoValue(format!("there is no element {index}: the list has {length}"))
        }
        other => Fault::Type(other.to_string()),
    };
    ExprError { at: offset(text, error.position()), fault }
}

fn too_deep() -> Fault {
    Fault::Limit(format!("is nested too deeply: allowed {MAX_DEPTH} levels, closures {MAX_CALL_LEVELS}"))
}

/// The name of a kind of value that Rhai calls so.
fn kind(name: &str) -> &str {
    match name {
        "bool" | "a boolean expression" => "true or false",
        "f64" | "i64" => "a number",
        "string" => "a text",
        "array" => "a list",
        "map" => "a filter",
        name if name == type_name::<Array>() => "a list",
        other => other,
    }
}

/// The character of a text at a place, counted from zero.
fn offset(text: &str, place: Position) -> usize {
    let Some(line) = place.line() else { return 0 };
    let before: usize = text.split('\n').take(line - 1).map(|line| line.chars().count() + 1).sum();
    before + place.position().unwrap_or(1) - 1
}
