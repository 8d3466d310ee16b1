//! Names of functions and what each takes.

use super::{Fault, Value};
use goodqueue_base::spec::nearest;

/// Most arguments of a function.
pub(super) const MAX_ARGUMENTS: usize = 6;

/// Functions and what they take.
pub(super) const FUNCTIONS: &[(&str, &str)] = &[
    ("min", "numbers"),
    ("max", "numbers"),
    ("mean", "numbers"),
    ("median", "numbers"),
    ("sum", "numbers"),
    ("stddev", "numbers"),
    ("abs", "numbers"),
    ("ln", "numbers"),
    ("round", "numbers"),
    ("quantile", "a list and a number"),
    ("spearman", "two lists of numbers"),
    ("slope", "two lists of numbers"),
    ("inversions", "a list, a slack and `up` or `down`"),
    ("autocorrelation_peak", "a series, two times and the longest lag"),
    ("all", "a list, and a closure or nothing after it"),
    ("map", "lists and a closure"),
    ("filter", "a list and a closure"),
    ("each_run", "a closure"),
    ("count", "a list"),
    ("first", "a list"),
    ("last", "a list"),
    ("range", "a number"),
    ("concat", "lists"),
    ("zip", "two lists"),
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

/// Arguments that a function does not take.
pub(crate) fn unfit(name: &str, given: &[Value]) -> Fault {
    let takes = FUNCTIONS.iter().find(|(known, _)| *known == name).map_or("nothing", |(_, takes)| takes);
    let given: Vec<&str> = given.iter().map(Value::kind).collect();
    let given = if given.is_empty() { "nothing".to_owned() } else { given.join(", ") };
    Fault::Type(format!("is given {given}: expected {takes}"))
}

/// A function that is not there, or not with these arguments: `name (types)`.
pub(super) fn unknown_function(signature: &str) -> Fault {
    let name = signature.split(' ').next().unwrap_or(signature);
    if let Some((_, takes)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
        return Fault::Type(format!("{name}: takes up to {MAX_ARGUMENTS} values: expected {takes}"));
    }
    let close = nearest(name, FUNCTIONS.iter().map(|(known, _)| *known));
    let close = close.map(|close| format!("; did you mean `{close}`?")).unwrap_or_default();
    Fault::Unknown(format!("there is no function `{name}`{close}"))
}
