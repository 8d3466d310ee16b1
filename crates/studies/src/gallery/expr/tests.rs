//! Values of measures, their faults and their limits.

use super::*;
use std::rc::Rc;

/// Two runs and an axis that a dry run knows.
struct Nothing;

impl Env for Nothing {
    fn call(&self, name: &str, _arguments: &[Value]) -> Result<Value, Fault> {
        match name {
            "pick" => Ok(Value::numbers([1.0, 1.0])),
            "series" => Ok(Value::array([Value::numbers([0.0, 1.0])])),
            _ => Err(Fault::Unknown("is not there".to_owned())),
        }
    }
}

fn shown(text: &str) -> String {
    match parse(text, &[]).and_then(|expr| evaluate(&expr, &[], Rc::new(Nothing))) {
        Ok(value) => show(&value),
        Err(error) => format!("error at {error}"),
    }
}

fn show(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" ")),
        other => other.to_string(),
    }
}

#[test]
fn arithmetic_goes_by_precedence_and_by_element() {
    assert_eq!(shown("1 + 2 * 3 - 4 / 2"), "5");
    assert_eq!(shown("-(1 + 2) * 2"), "-6");
    assert_eq!(shown("[1, 2, 3] * 10 + [1, 1, 1]"), "[11 21 31]");
    assert_eq!(shown("[1, 5] > 2"), "[false true]");
    assert_eq!(shown("1 < 2 && 2 < 1 || 3 != 2"), "true");
    assert_eq!(shown(r#""a" == "b" || "a" != "b""#), "true");
    assert_eq!(shown("1.5e3 + 1000"), "2500");
}

/// Rhai's own operators on whole numbers drop remainders and overflow.
#[test]
fn whole_numbers_divide_and_grow_like_others() {
    assert_eq!(shown("1 / 2"), "0.5");
    assert_eq!(shown("-7 / 2 + 0"), "-3.5");
    assert_eq!(shown("5000000000 * 5000000000 * 4"), "100000000000000000000");
    assert_eq!(shown("let x = 3; x / 2"), "1.5");
    assert_eq!(shown("map([1, 2], |x| 1 / x)"), "[1 0.5]");
    assert_eq!(shown("1 == 1.0 && [2] == [2.0]"), "error at character 17: is a list: expected true or false");
}

#[test]
fn lets_closures_and_conditions() {
    assert_eq!(shown("let a = [3, 1, 2]; let k = 2; map(a, |x| x * k)"), "[6 2 4]");
    assert_eq!(shown("map([1, 2], [10, 20], |a, b| a + b)"), "[11 22]");
    assert_eq!(shown("count(filter([1, 2, 3], |x| x > 1))"), "2");
    assert_eq!(shown("all([1, 2], |x| { let y = x; y > 0 })"), "true");
    assert_eq!(shown("all([1, 2] > 0)"), "true");
    assert_eq!(shown(r#"if 1 > 2 { "a" } else if 1 < 2 { "b" } else { "c" }"#), r#""b""#);
    assert_eq!(shown("[1, 2, 3][2] + map([1, 2], |x| x)[1] + range(9)[1 + 2]"), "8");
}

#[test]
fn statistics_agree_with_worked_examples() {
    assert_eq!(shown("quantile([4, 1, 3, 2], 0.5)"), "2.5");
    assert_eq!(shown("median([1, 9, 2])"), "2");
    assert_eq!(shown("spearman([1, 2, 3], [1, 4, 9])"), "1");
    assert_eq!(shown("slope([0, 1, 2], [1, 3, 5])"), "2");
    assert_eq!(shown(r#"inversions([1, 2, 1.9, 3], 0, "up")"#), "1");
    assert_eq!(shown(r#"inversions([1, 2, 1.9, 3], 0.2, "up")"#), "0");
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
    let said = |text: &str| shown(text).replace("error at character ", "");
    assert_eq!(said("1 + "), "5: unexpected end");
    assert_eq!(said("(1"), "3: Expecting ')' for a matching ( in this expression");
    assert_eq!(said("nope(1)"), "1: there is no function `nope`");
    assert_eq!(said("maen([1])"), "1: there is no function `maen`; did you mean `mean`?");
    assert_eq!(said("a + 1"), "1: `a` is not known here");
    assert_eq!(said("1 + (1 < 2)"), "3: `+` does not go with a number and true or false");
    assert_eq!(said(r#""a" + "b""#), "5: `+` does not go with a text and a text");
    assert_eq!(said("[1] + [1, 2]"), "5: `+` of lists with 1 and 2 elements");
    assert_eq!(said("1 / 0"), "3: 1 / 0 is no finite number");
    assert_eq!(said("min([])"), "1: min: of no values");
    assert_eq!(said("all([], |x| x)"), "1: all: of no values");
    assert_eq!(said(r#""abc"#), "1: Open string is not terminated");
    assert_eq!(said("1 2"), "3: Expecting ';' to terminate this statement");
    assert_eq!(said("|x| x"), "1: a closure where a number, a text, a list or a filter is needed");
    assert_eq!(said("min(|x| x)"), "1: min: takes no closure");
    assert_eq!(said("#{a: 1, a: 2}"), "9: Duplicated property for object map literal: a");
    assert_eq!(said("[1, 2][5]"), "8: there is no element 5: the list has 2");
    assert_eq!(said("range(2)[5]"), "9: there is no element 5: the list has 2");
    assert_eq!(said("quantile([1])"), "1: quantile: is given a list of numbers: expected a list and a number");
    assert_eq!(said("min(1, 2, 3, 4, 5, 6, 7)"), "1: min: takes up to 6 values: expected numbers");
    assert_eq!(said(r#"inversions([1], 0, "sideways")"#), "1: inversions: `sideways` is no direction: allowed `up`, `down`");
    assert_eq!(said("each_run(|run| run)"), "1: each_run: there are no runs");
    // Within closures and on later lines, the place is that of the fault itself.
    assert_eq!(said("let a = [1];\nmap(a, |x| {\n    x + \"b\"\n})"), "33: `+` does not go with a number and a text");
    assert_eq!(said("let d = \"ü\";\nmap([1], |x| map([2], |y| nope(y)))"), "40: there is no function `nope`");
}

#[test]
fn loops_definitions_and_evaluation_of_texts_are_off() {
    for text in [
        "for x in [1] { }",
        "while true { }",
        "loop { }",
        "fn f() { 1 }",
        "eval(\"1\")",
        "import \"x\" as y; 1",
        "print(1)",
        "let a = 7; a /= 2; a",
        "7 % 2",
        "try { 1 } catch { 2 }",
    ] {
        assert!(shown(text).starts_with("error at character "), "{text}: {}", shown(text));
    }
}

/// Long expressions without parentheses make trees as deep as those with them.
#[test]
fn expression_depth_is_limited() {
    let deep = |text: String| assert!(shown(&text).contains("nested too deeply"), "{}", shown(&text));
    deep(format!("{}1{}", "(".repeat(300), ")".repeat(300)));
    deep("- ".repeat(5000) + "1");
    deep(format!("1{}", "+1".repeat(20_000)));
    deep(format!("[1]{}", "[0]".repeat(500_000)));
    deep(format!("{}1{}", "abs(".repeat(10_000), ")".repeat(10_000)));
    deep("if 1 < 2 { 1 } else ".repeat(20_000) + "{ 1 }");
    deep(format!("{}1{}", "map([1], |x| ".repeat(20_000), ")".repeat(20_000)));
}

/// Assignments make values as deep as there are statements.
#[test]
fn depth_of_values_is_limited() {
    is_limited(&format!("let a = [1]; {} 1", "a = concat([a]);".repeat(20_000)));
    is_limited(&format!("let a = [1]; {} 1", "a = [a];".repeat(20_000)));
    is_limited(&format!("let a = #{{x: 1}}; {} 1", "a = #{x: a};".repeat(20_000)));
}

fn is_limited(text: &str) {
    let result = parse(text, &[]).and_then(|expr| evaluate(&expr, &[], Rc::new(Nothing)));
    assert!(matches!(&result, Err(ExprError { fault: Fault::Limit(_), .. })), "{text:.200}: {result:?}");
}

#[test]
fn call_depth_is_limited() {
    is_limited(&format!("{}1{}", "map([1], |x| ".repeat(20), ")".repeat(20)));
}

#[test]
fn operations_are_limited() {
    let late = |text: &str| eval::evaluate_late(&parse(text, &[]).unwrap(), Rc::new(Nothing));
    assert!(matches!(late("sum(map(range(10), |a| a * 2 + 1))"), Ok(Value::Number(100.0))));
    for text in ["sum(map(range(1000), |a| a * 2 + 1))", "let a = range(5000); sum(a) + sum(a) + sum(a) + sum(a)"] {
        assert!(matches!(late(text), Err(ExprError { fault: Fault::Limit(_), .. })), "{text}: {:?}", late(text));
    }
    is_limited("autocorrelation_peak(zip(range(100000), range(100000)), 0, 100000, 100000)");
}

#[test]
fn memory_of_lists_is_limited() {
    let doubled = |first: &str, next: &str| format!("let a = {first}; {} 1", next.repeat(60));
    is_limited(&doubled("[1]", "let a = concat(a, a);"));
    is_limited(&doubled("range(100000)", "let a = map(a, |x| range(100000));"));
    is_limited(&(doubled("[1]", "let a = zip(a, a);") + " + a * 2"));
    assert_eq!(shown("count(range(100000))"), "100000");
}

#[test]
fn variables_and_sizes_of_texts_arrays_and_maps_are_limited() {
    is_limited(&format!("{} 1", (0..200).map(|number| format!("let a{number} = 1; ")).collect::<String>()));
    is_limited(&format!("let a = [1]; {} 1", "let a = [a, a];".repeat(60)));
    is_limited(&format!("let a = \"0123456789\"; {} 1", "let a = `${a}${a}`;".repeat(60)));
    is_limited(&format!("#{{{}}}", (0..200).map(|number| format!("a{number}: 1, ")).collect::<String>()));
    is_limited(&format!("[{}]", "1, ".repeat(20_000)));
    is_limited(&format!("\"{}\"", "x".repeat(10_000)));
}

/// All that dry runs find.
fn dry(text: &str) -> Vec<String> {
    let expr = parse(text, &[]).unwrap();
    let runs = Branches::ALL.map(|branches| dry_run(&expr, &[], Rc::new(Nothing), branches));
    runs.into_iter().map(|run| run.map_or_else(|error| error.to_string(), |value| show(&value))).collect()
}

#[test]
fn a_dry_run_reaches_each_branch() {
    let each = dry(r#"let a = max(pick("e", "x")); if a > 1 { "a" } else if a > 2 { "b" } else { "c" }"#);
    for branch in ["\"a\"", "\"b\"", "\"c\""] {
        assert!(each.iter().any(|value| value == branch), "{each:?}");
    }
    let faults = dry("if 1 < 2 { 1 } else { nope() }");
    assert!(faults.contains(&"character 23: there is no function `nope`".to_owned()), "{faults:?}");
}

#[test]
fn a_dry_run_goes_past_values_that_only_runs_can_give() {
    let series = r#"values(between(series("e", "x"), 10, 20))"#;
    for text in [
        r#"let a = pick("e", "x"); 1 / (a - a) + nope()"#,
        &format!("stddev({series}) + nope()"),
        &format!("first(filter({series}, |x| x > 7)) + nope()"),
        &format!("{series}[17] + nope()"),
        r#"spearman(pick("e", "x"), pick("e", "x")) + nope()"#,
    ] {
        let each = dry(text);
        assert!(each.iter().all(|fault| fault.ends_with("there is no function `nope`")), "{text}: {each:?}");
    }
}
