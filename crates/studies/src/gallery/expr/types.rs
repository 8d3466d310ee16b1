//! Type check of an expression, before anything runs: kinds of values, names of experiments, axes,
//! figures and probes.
//!
//! Types flow from the leaves up, so nothing has to be inferred backwards. Beside its type a part
//! carries the literals it can have, where they are few and known: `map(['red', 'codel'], |aqm|
//! one('nf-1', #{aqm: aqm}, …))` is checked for both.

use super::eval::{unknown_function, unknown_name};
use super::parse::{Closure, Expr, Node, Operator};
use super::{ExprError, Fault, Value};
use std::fmt;

/// Kind of value that a part has.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A number.
    Number,
    /// True or false.
    Bool,
    /// A text.
    Text,
    /// A list whose elements are all alike.
    List(Box<Static>),
    /// Axes and what they must be.
    Filter(Vec<(String, Static)>),
}

/// All that is known of a part before anything runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Static {
    /// Its type.
    pub ty: Type,
    /// All values it can have, where they are known.
    pub known: Option<Vec<Literal>>,
}

/// A value known before anything runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Literal {
    /// The same as a value of an expression.
    #[must_use]
    pub fn value(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(*number),
            Self::Text(text) => Value::Text(text.clone()),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "'{text}'"),
        }
    }
}

impl From<Type> for Static {
    fn from(ty: Type) -> Self {
        Self { ty, known: None }
    }
}

/// Most literals that are kept of a part: more are as good as unknown.
const MAX_KNOWN: usize = 1000;

impl Static {
    /// One literal.
    #[must_use]
    pub fn literal(literal: Literal) -> Self {
        Self::one_of(vec![literal])
    }

    /// One of these literals. Axes of names and numbers mixed are taken as names.
    #[must_use]
    pub fn one_of(literals: Vec<Literal>) -> Self {
        let all_numbers = literals.iter().all(|literal| matches!(literal, Literal::Number(_)));
        Self { ty: if all_numbers { Type::Number } else { Type::Text }, known: Some(literals) }
    }

    /// A list of such elements.
    #[must_use]
    pub fn list(self) -> Self {
        Type::List(Box::new(self)).into()
    }

    fn numbers() -> Self {
        Self::from(Type::Number).list()
    }

    fn is(&self, ty: &Type) -> bool {
        self.ty == *ty
    }

    /// Whether it is a number or a list of numbers, however deep.
    fn is_numeric(&self) -> bool {
        match &self.ty {
            Type::Number => true,
            Type::List(element) => element.is_numeric(),
            _ => false,
        }
    }

    fn is_list_of_numbers(&self) -> bool {
        matches!(&self.ty, Type::List(element) if element.is(&Type::Number))
    }

    fn is_series(&self) -> bool {
        matches!(&self.ty, Type::List(element) if element.is_list_of_numbers())
    }

    /// Whether it is a truth value or a list of them, however deep.
    fn is_truth(&self) -> bool {
        match &self.ty {
            Type::Bool => true,
            Type::List(element) => element.is_truth(),
            _ => false,
        }
    }

    /// Either of two; `None` when their types differ.
    fn or(self, other: Self) -> Option<Self> {
        let ty = match (self.ty, other.ty) {
            (Type::List(one), Type::List(other)) => Type::List(Box::new(one.or(*other)?)),
            (one, other) if one == other => one,
            _ => return None,
        };
        let known = self.known.zip(other.known).and_then(|(mut one, other)| {
            for literal in other {
                if !one.contains(&literal) {
                    one.push(literal);
                }
            }
            (one.len() <= MAX_KNOWN).then_some(one)
        });
        Some(Self { ty, known })
    }

    /// The same type, with nothing known of the value.
    fn unknown(self) -> Self {
        self.ty.into()
    }
}

impl fmt::Display for Static {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ty {
            Type::Number => f.write_str("a number"),
            Type::Bool => f.write_str("true or false"),
            Type::Text => f.write_str("a text"),
            Type::Filter(_) => f.write_str("a filter"),
            Type::List(element) => match element.ty {
                Type::Number => f.write_str("a list of numbers"),
                Type::Bool => f.write_str("a list of truth values"),
                Type::Text => f.write_str("a list of texts"),
                Type::Filter(_) => f.write_str("a list of filters"),
                Type::List(_) if element.is_list_of_numbers() => f.write_str("a list of lists of numbers"),
                Type::List(_) => f.write_str("a list of lists"),
            },
        }
    }
}

/// Names that an expression may use, beside the functions of the language.
pub trait Names {
    /// The distinct values of an axis of an experiment.
    ///
    /// # Errors
    /// When there is no such experiment or axis.
    fn axis(&self, experiment: &str, axis: &str) -> Result<Vec<Literal>, Fault>;

    /// Checks that there is such an experiment and that points of it fit a filter, as far as its
    /// values are known.
    ///
    /// # Errors When there is no such experiment or axis, or no point fits.
    fn filter(&self, experiment: &str, filter: &[(String, Static)]) -> Result<(), Fault>;

    /// Checks that points have a figure.
    ///
    /// # Errors
    /// When none has.
    fn figure(&self, experiment: &str, figure: &str) -> Result<(), Fault>;

    /// Checks that runs have a sampled column.
    ///
    /// # Errors
    /// When none has.
    fn column(&self, experiment: &str, column: &str) -> Result<(), Fault>;

    /// Parameters of a probe, and its result.
    ///
    /// # Errors
    /// When there is no such probe.
    fn probe(&self, name: &str) -> Result<(usize, Type), Fault>;
}

/// The type of an expression, in which `bound` names are known.
///
/// # Errors
/// At the first part whose operands do not fit, or that names what does not exist.
pub fn check(expr: &Expr, bound: &[(&str, Static)], names: &dyn Names) -> Result<Static, ExprError> {
    let mut checker = Checker { names, scope: bound.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect() };
    checker.part(expr)
}

struct Checker<'a> {
    names: &'a dyn Names,
    scope: Vec<(String, Static)>,
}

type Checked = Result<Static, Fault>;

fn mismatch(message: String) -> Fault {
    Fault::Type(message)
}

impl Checker<'_> {
    fn part(&mut self, expr: &Expr) -> Result<Static, ExprError> {
        let error = |fault: Fault| fault.at(expr.at);
        Ok(match &expr.node {
            Node::Number(value, _) => Static::literal(Literal::Number(*value)),
            Node::Text(text) => Static::literal(Literal::Text(text.clone())),
            Node::Name(name) => {
                let found = self.scope.iter().rev().find(|(known, _)| known == name);
                found.map(|(_, of)| of.clone()).ok_or_else(|| error(unknown_name(name)))?
            }
            Node::Array(items) => self.array(items, expr.at)?,
            Node::Filter(entries) => {
                let mut filter = Vec::new();
                for (axis, value) in entries {
                    let of = self.part(value)?;
                    filter.push((axis.clone(), wanted(axis, of).map_err(|fault| fault.at(value.at))?));
                }
                Type::Filter(filter).into()
            }
            Node::Negated(inner) => {
                let inner = self.part(inner)?;
                if !inner.is_numeric() {
                    return Err(error(mismatch(format!("`-` does not go with {inner}"))));
                }
                inner.unknown()
            }
            Node::Binary(operator, left, right) => {
                let (left, right) = (self.part(left)?, self.part(right)?);
                binary(*operator, left, right).map_err(error)?
            }
            Node::If(condition, then, other) => {
                let of = self.part(condition)?;
                if !of.is(&Type::Bool) {
                    return Err(mismatch(format!("is {of}: expected true or false")).at(condition.at));
                }
                let (then, other) = (self.part(then)?, self.part(other)?);
                let message = format!("gives {then} or {other}: expected one kind of value");
                then.or(other).ok_or_else(|| error(mismatch(message)))?
            }
            Node::Let(name, value, rest) => {
                let of = self.part(value)?;
                self.within([(name.clone(), of)], rest)?
            }
            Node::Index(list, index) => {
                let (list, index) = (self.part(list)?, self.part(index)?);
                match list.ty {
                    Type::List(element) if index.is(&Type::Number) => element.unknown(),
                    _ => return Err(error(mismatch(format!("{list} cannot be indexed by {index}")))),
                }
            }
            Node::Call(name, arguments, closure) => self.call(name, arguments, closure.as_deref(), expr.at)?,
        })
    }

    fn within<const N: usize>(&mut self, bound: [(String, Static); N], inner: &Expr) -> Result<Static, ExprError> {
        self.with(bound.into(), inner)
    }

    fn with(&mut self, bound: Vec<(String, Static)>, inner: &Expr) -> Result<Static, ExprError> {
        let before = self.scope.len();
        self.scope.extend(bound);
        let of = self.part(inner);
        self.scope.truncate(before);
        of
    }

    fn array(&mut self, items: &[Expr], at: usize) -> Result<Static, ExprError> {
        let mut all: Option<Static> = None;
        for item in items {
            let of = self.part(item)?;
            all = Some(match all {
                None => of,
                Some(before) => {
                    let message = format!("an array of {before} and {of}: expected elements of one kind");
                    before.or(of).ok_or_else(|| mismatch(message).at(item.at))?
                }
            });
        }
        all.map(Static::list).ok_or_else(|| mismatch("an array without elements".to_owned()).at(at))
    }

    fn call(&mut self, name: &str, arguments: &[Expr], closure: Option<&Closure>, at: usize) -> Result<Static, ExprError> {
        let given: Vec<Static> = arguments.iter().map(|argument| self.part(argument)).collect::<Result<_, _>>()?;
        let error = |fault: Fault| fault.within(name).at(at);
        match (name, closure) {
            ("map" | "filter" | "all" | "each_run", Some(closure)) => self.higher(name, &given, closure, at),
            ("map" | "filter" | "each_run", None) => {
                Err(error(mismatch("expected a closure last, such as |x| x * 2".to_owned())))
            }
            (_, None) => self.plain(name, &given).map_err(|fault| match fault {
                Fault::Unknown(_) if fault == unknown_function(name) => fault.at(at),
                fault => error(fault),
            }),
            (_, Some(_)) => Err(Fault::Unknown(format!("there is no function `{name}` that takes a closure")).at(at)),
        }
    }

    fn higher(&mut self, name: &str, given: &[Static], closure: &Closure, at: usize) -> Result<Static, ExprError> {
        let error = |message: String| mismatch(message).within(name).at(at);
        let mut elements = Vec::new();
        for of in given {
            match &of.ty {
                Type::List(element) => elements.push((**element).clone()),
                _ => return Err(error(format!("is {of}: expected an array"))),
            }
        }
        match name {
            "each_run" if given.is_empty() => elements.push(Type::Number.into()),
            "each_run" => return Err(error("expected a closure alone".to_owned())),
            _ if given.is_empty() => return Err(error("expected an array".to_owned())),
            "filter" if given.len() > 1 => return Err(error("takes one array".to_owned())),
            _ => {}
        }
        if closure.parameters.len() != elements.len() {
            let message = format!("the closure takes {} values, not {}", closure.parameters.len(), elements.len());
            return Err(error(message));
        }
        let bound = closure.parameters.iter().cloned().zip(elements).collect();
        let body = self.with(bound, &closure.body)?;
        match name {
            "map" | "each_run" => Ok(body.list()),
            "filter" if body.is(&Type::Bool) => Ok(given[0].clone()),
            "all" if body.is_truth() => Ok(Type::Bool.into()),
            _ => Err(error(format!("the closure gives {body}: expected true or false"))),
        }
    }

    fn plain(&mut self, name: &str, given: &[Static]) -> Checked {
        let number = || Static::from(Type::Number);
        let is_number = |of: &Static| of.is(&Type::Number);
        Ok(match (name, given) {
            ("min" | "max" | "mean" | "median" | "sum" | "stddev", [_, ..]) => {
                match given.iter().find(|of| !is_number(of) && !of.is_list_of_numbers()) {
                    Some(of) => return Err(mismatch(format!("is {of}: expected an array of numbers"))),
                    None => number(),
                }
            }
            ("abs" | "ln" | "round", [of]) if of.is_numeric() => of.clone().unknown(),
            ("quantile", [list, q]) if list.is_list_of_numbers() && is_number(q) => number(),
            ("spearman" | "slope", [x, y]) if x.is_list_of_numbers() && y.is_list_of_numbers() => number(),
            ("inversions", [list, slack, direction]) if list.is_list_of_numbers() && is_number(slack) => {
                for direction in texts(direction, "a direction")? {
                    if !["up", "down"].contains(&direction) {
                        return Err(mismatch(format!("`{direction}` is no direction: allowed 'up', 'down'")));
                    }
                }
                number()
            }
            ("autocorrelation_peak", [series, rest @ ..])
                if series.is_series() && rest.len() == 3 && rest.iter().all(is_number) =>
            {
                number()
            }
            ("all", [list]) if list.is_truth() && !list.is(&Type::Bool) => Type::Bool.into(),
            ("count", [Static { ty: Type::List(_), .. }]) => number(),
            ("first" | "last", [Static { ty: Type::List(element), .. }]) => (**element).clone().unknown(),
            ("range", [count]) if is_number(count) => number().list(),
            ("concat", [first, rest @ ..]) if matches!(first.ty, Type::List(_)) => {
                let join = |before: Option<Static>, of: &Static| before?.or(of.clone());
                let joined = rest.iter().fold(Some(first.clone()), join);
                joined.ok_or_else(|| mismatch("arrays of different kinds".to_owned()))?
            }
            ("zip", [Static { ty: Type::List(one), .. }, Static { ty: Type::List(other), .. }]) => {
                let pair =
                    (**one).clone().or((**other).clone()).ok_or_else(|| mismatch("arrays of different kinds".to_owned()))?;
                pair.unknown().list().list()
            }
            ("between", [series, from, to]) if series.is_series() && is_number(from) && is_number(to) => series.clone(),
            ("values" | "times", [series]) if series.is_series() => Static::numbers(),
            ("pick" | "pick_or" | "one" | "runs" | "axis" | "values_of" | "series", _) => return self.figures(name, given),
            ("probe", [probe, rest @ ..]) => return self.probe(probe, rest),
            (name, given) if FUNCTIONS.iter().any(|(known, _)| *known == name) => return Err(arguments(name, given)),
            (name, _) => return Err(unknown_function(name)),
        })
    }

    /// `pick(experiment, filter, figure)` and its kin. The filter may be missing.
    fn figures(&self, name: &str, given: &[Static]) -> Checked {
        let everything: &[(String, Static)] = &[];
        let (experiment, filter, rest) = match given {
            [experiment, Static { ty: Type::Filter(filter), .. }, rest @ ..] => (experiment, &filter[..], rest),
            [experiment, rest @ ..] => (experiment, everything, rest),
            [] => return Err(arguments(name, given)),
        };
        let (figure, has_default) = match (name, rest) {
            ("pick_or", [figure, default]) if default.is(&Type::Number) => (figure, true),
            (_, [figure]) => (figure, false),
            _ => return Err(arguments(name, given)),
        };
        if (name == "pick_or") != has_default {
            return Err(arguments(name, given));
        }
        let figures = texts(figure, if matches!(name, "axis" | "values_of") { "an axis" } else { "a figure" })?;
        let mut values = Vec::new();
        for experiment in texts(experiment, "an experiment")? {
            self.names.filter(experiment, filter)?;
            for figure in &figures {
                match name {
                    "axis" | "values_of" => values.extend(self.names.axis(experiment, figure)?),
                    "series" => self.names.column(experiment, figure)?,
                    _ => self.names.figure(experiment, figure)?,
                }
            }
        }
        Ok(match name {
            "one" => Type::Number.into(),
            "axis" | "values_of" => Static::one_of(values).list(),
            "series" => Static::numbers().list(),
            _ => Static::numbers(),
        })
    }

    fn probe(&self, probe: &Static, rest: &[Static]) -> Checked {
        let mut of: Option<Static> = None;
        for name in texts(probe, "a probe")? {
            let (count, ty) = self.names.probe(name)?;
            if rest.len() != count || !rest.iter().all(|of| of.is(&Type::Number)) {
                return Err(mismatch(format!("`{name}` takes {count} numbers")));
            }
            of = Some(ty.into());
        }
        of.ok_or_else(|| arguments("probe", &[]))
    }
}

/// Functions of the language and what they take.
const FUNCTIONS: &[(&str, &str)] = &[
    ("min", "numbers"),
    ("max", "numbers"),
    ("mean", "numbers"),
    ("median", "numbers"),
    ("sum", "numbers"),
    ("stddev", "numbers"),
    ("abs", "numbers"),
    ("ln", "numbers"),
    ("round", "numbers"),
    ("quantile", "an array and a number"),
    ("spearman", "two arrays of numbers"),
    ("slope", "two arrays of numbers"),
    ("inversions", "an array, a slack and 'up' or 'down'"),
    ("autocorrelation_peak", "a series, two times and the longest lag"),
    ("all", "an array, and a closure or nothing after it"),
    ("count", "an array"),
    ("first", "an array"),
    ("last", "an array"),
    ("range", "a number"),
    ("concat", "arrays"),
    ("zip", "two arrays"),
    ("between", "a series and two times"),
    ("values", "a series"),
    ("times", "a series"),
    ("pick", "an experiment, a filter and a figure"),
    ("pick_or", "an experiment, a filter, a figure and a number"),
    ("one", "an experiment, a filter and a figure"),
    ("runs", "an experiment, a filter and a figure"),
    ("axis", "an experiment, a filter and an axis"),
    ("values_of", "an experiment, a filter and an axis"),
    ("series", "an experiment, a filter and a column"),
    ("probe", "a probe's name and its numbers"),
];

fn arguments(name: &str, given: &[Static]) -> Fault {
    let takes = FUNCTIONS.iter().find(|(known, _)| *known == name).map_or("nothing", |(_, takes)| takes);
    let given: Vec<String> = given.iter().map(ToString::to_string).collect();
    let given = if given.is_empty() { "nothing".to_owned() } else { given.join(", ") };
    mismatch(format!("is given {given}: expected {takes}"))
}

/// The texts that a name can be. Names of experiments, axes and figures are known before anything
/// runs.
fn texts<'a>(of: &'a Static, what: &str) -> Result<Vec<&'a str>, Fault> {
    let text = |literal: &'a Literal| match literal {
        Literal::Text(text) => Some(text.as_str()),
        Literal::Number(_) => None,
    };
    let known = of.known.as_ref().filter(|_| of.is(&Type::Text));
    known
        .and_then(|known| known.iter().map(text).collect())
        .ok_or_else(|| mismatch(format!("is {of} where the name of {what} is needed")))
}

/// The type of an axis: a number, a text, or a list of them.
fn wanted(axis: &str, of: Static) -> Checked {
    match &of.ty {
        Type::Number | Type::Text => Ok(of),
        Type::List(element) if element.is(&Type::Number) || element.is(&Type::Text) => Ok((**element).clone()),
        _ => Err(mismatch(format!("`{axis}` is {of}: expected a number, a text or a list"))),
    }
}

fn binary(operator: Operator, left: Static, right: Static) -> Checked {
    let fails = |left: &Static, right: &Static| mismatch(format!("`{}` does not go with {left} and {right}", operator.sign()));
    match operator {
        Operator::And | Operator::Or => match left.is(&Type::Bool) && right.is(&Type::Bool) {
            true => Ok(Type::Bool.into()),
            false => Err(fails(&left, &right)),
        },
        Operator::Plus | Operator::Minus | Operator::Times | Operator::Over => {
            elementwise(&left, &right, &Type::Number).ok_or_else(|| fails(&left, &right))
        }
        Operator::Equal | Operator::Unequal if left.is(&Type::Text) && right.is(&Type::Text) => Ok(Type::Bool.into()),
        _ => elementwise(&left, &right, &Type::Bool).ok_or_else(|| fails(&left, &right)),
    }
}

/// The type of an operation on numbers that gives `result`, where either side may be a list.
fn elementwise(left: &Static, right: &Static, result: &Type) -> Option<Static> {
    match (&left.ty, &right.ty) {
        (Type::Number, Type::Number) => Some(result.clone().into()),
        (Type::List(left), Type::List(right)) => Some(elementwise(left, right, result)?.list()),
        (Type::List(left), Type::Number) => Some(elementwise(left, right, result)?.list()),
        (Type::Number, Type::List(right)) => Some(elementwise(left, right, result)?.list()),
        _ => None,
    }
}
