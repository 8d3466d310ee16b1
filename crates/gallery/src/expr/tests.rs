//! What the language of measures does, and what it refuses.

use super::*;

struct Nothing;

impl Host for Nothing {
    fn call(&self, _name: &str, _arguments: &[Value]) -> Option<Result<Value, String>> {
        None
    }
}

fn shown(text: &str) -> String {
    match parse(text).and_then(|expr| evaluate(&expr, &Nothing)) {
        Ok(value) => show(&value),
        Err(error) => format!("error at {error}"),
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Number(value) => format!("{value}"),
        Value::Bool(value) => format!("{value}"),
        Value::Text(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" ")),
        other => other.kind().to_owned(),
    }
}

#[test]
fn arithmetic_goes_by_precedence_and_by_element() {
    assert_eq!(shown("1 + 2 * 3 - 4 / 2"), "5");
    assert_eq!(shown("-(1 + 2) * 2"), "-6");
    assert_eq!(shown("[1, 2, 3] * 10 + [1, 1, 1]"), "[11 21 31]");
    assert_eq!(shown("[1, 5] > 2"), "[false true]");
    assert_eq!(shown("1 < 2 && !(2 < 1) || false"), "true");
    assert_eq!(shown("7 % 4"), "3");
    assert_eq!(shown("1.5e3 + 1_000"), "2500");
}

#[test]
fn lets_closures_and_calls_either_way() {
    assert_eq!(shown("let a = [3, 1, 2]; let k = 2; a.map(|x| x * k).sort()"), "[2 4 6]");
    assert_eq!(shown("map([1, 2], [10, 20], |a, b| a + b)"), "[11 22]");
    assert_eq!(shown("filter([1, 2, 3], |x| x > 1).count()"), "2");
    assert_eq!(shown("all([1, 2], |x| { let y = x; y > 0 })"), "true");
    assert_eq!(shown("if 1 > 2 { 'a' } else if true { 'b' } else { 'c' }"), "b");
    assert_eq!(shown("#{a: 1, 'b c': 2}['b c']"), "2");
    assert_eq!(shown("[1, 2, 3][-1]"), "3");
}

#[test]
fn statistics_agree_with_worked_examples() {
    assert_eq!(shown("quantile([4, 1, 3, 2], 0.5)"), "2.5");
    assert_eq!(shown("median([1, 9, 2])"), "2");
    assert_eq!(shown("spearman([1, 2, 3], [1, 4, 9])"), "1");
    assert_eq!(shown("slope([0, 1, 2], [1, 3, 5])"), "2");
    assert_eq!(shown("inversions([1, 2, 1.9, 3], 0, 'up')"), "1");
    assert_eq!(shown("inversions([1, 2, 1.9, 3], 0.2, 'up')"), "0");
    assert_eq!(shown("min(3, 1, 2) + max([4, 5])"), "6");
    assert_eq!(shown("mean(values(between([[0, 1], [1, 2], [2, 9]], 0, 2)))"), "1.5");
    // Equal values share a rank: 1.5, 1.5, 3 against 1, 2, 3 gives sqrt(3) / 2.
    assert_eq!(shown("round(spearman([1, 1, 2], [1, 2, 3]) * 1e6)"), "866025");
}

#[test]
fn a_square_wave_repeats_after_its_period() {
    let samples: Vec<String> = (0..64).map(|at| format!("[{at}, {}]", (at / 4) % 2)).collect();
    assert_eq!(shown(&format!("autocorrelation_peak([{}], 0, 64, 20)", samples.join(","))), "8");
}

#[test]
fn mistakes_are_said_with_their_place() {
    assert_eq!(shown("1 + "), "error at character 5: unexpected end");
    assert_eq!(shown("(1"), "error at character 3: expected `)`, found the end");
    assert_eq!(shown("nope(1)"), "error at character 1: there is no function `nope`");
    assert_eq!(shown("a + 1"), "error at character 1: `a` is not known here");
    assert_eq!(shown("1 + true"), "error at character 3: `+` does not go with a number and true or false");
    assert_eq!(shown("[1] + [1, 2]"), "error at character 5: `+` of arrays with 1 and 2 elements");
    assert_eq!(shown("1 / 0"), "error at character 3: 1 / 0 is no finite number");
    assert_eq!(shown("min([])"), "error at character 1: min: of no values");
    assert_eq!(shown("all([], |x| x)"), "error at character 1: all: of no values");
    assert_eq!(shown("'abc"), "error at character 1: the text does not end");
    assert_eq!(shown("1 2"), "error at character 3: unexpected `2`");
}

#[test]
fn neither_depth_nor_work_is_unbounded() {
    assert!(shown(&format!("{}1{}", "(".repeat(300), ")".repeat(300))).contains("nested too deeply"));
    assert!(shown(&"-".repeat(5000)).contains("nested too deeply"));
    let nested = "map(range(1000), |a| sum(map(range(1000), |b| sum(map(range(1000), |c| a * b * c)))))";
    assert!(shown(nested).contains("takes too much work"));
}

#[test]
fn runs_are_asked_one_by_one() {
    assert_eq!(shown("each_run(|run| run)"), "error at character 1: each_run: there are no runs");
    assert!(shown("each_run(3)").contains("each_run: expected a closure"));
}
