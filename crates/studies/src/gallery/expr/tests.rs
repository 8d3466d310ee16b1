//! Values of the language of measures, its faults and its bounds.

use super::*;

struct Nothing;

impl Host for Nothing {
    fn call(&self, _name: &str, _arguments: &[Value]) -> Option<Result<Value, Fault>> {
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
        other @ Value::Filter(_) => other.kind().to_owned(),
    }
}

#[test]
fn arithmetic_goes_by_precedence_and_by_element() {
    assert_eq!(shown("1 + 2 * 3 - 4 / 2"), "5");
    assert_eq!(shown("-(1 + 2) * 2"), "-6");
    assert_eq!(shown("[1, 2, 3] * 10 + [1, 1, 1]"), "[11 21 31]");
    assert_eq!(shown("[1, 5] > 2"), "[false true]");
    assert_eq!(shown("1 < 2 && 2 < 1 || 3 != 2"), "true");
    assert_eq!(shown("'a' == 'b' || 'a' != 'b'"), "true");
    assert_eq!(shown("1.5e3 + 1000"), "2500");
}

#[test]
fn lets_closures_and_conditions() {
    assert_eq!(shown("let a = [3, 1, 2]; let k = 2; map(a, |x| x * k)"), "[6 2 4]");
    assert_eq!(shown("map([1, 2], [10, 20], |a, b| a + b)"), "[11 22]");
    assert_eq!(shown("count(filter([1, 2, 3], |x| x > 1))"), "2");
    assert_eq!(shown("all([1, 2], |x| { let y = x; y > 0 })"), "true");
    assert_eq!(shown("all([1, 2] > 0)"), "true");
    assert_eq!(shown("if 1 > 2 { 'a' } else if 1 < 2 { 'b' } else { 'c' }"), "b");
    assert_eq!(shown("[1, 2, 3][2]"), "3");
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
    assert_eq!(shown("1 + (1 < 2)"), "error at character 3: `+` does not go with a number and true or false");
    assert_eq!(shown("[1] + [1, 2]"), "error at character 5: `+` of arrays with 1 and 2 elements");
    assert_eq!(shown("1 / 0"), "error at character 3: 1 / 0 is no finite number");
    assert_eq!(shown("min([])"), "error at character 1: min: of no values");
    assert_eq!(shown("all([], |x| x)"), "error at character 1: all: of no values");
    assert_eq!(shown("'abc"), "error at character 1: the text does not end");
    assert_eq!(shown("1 2"), "error at character 3: unexpected `2`");
    assert_eq!(shown("|x| x"), "error at character 1: a closure can only be the last argument of a function");
    assert_eq!(shown("min(|x| x)"), "error at character 1: there is no function `min` that takes a closure");
    assert_eq!(shown("#{a: 1, a: 2}"), "error at character 10: `a` is there twice");
}

/// Long expressions without parentheses make trees as deep as those with them.
#[test]
fn no_text_overflows_the_stack() {
    let deep = |text: String| assert!(shown(&text).contains("nested too deeply"), "{}", shown(&text));
    deep(format!("{}1{}", "(".repeat(300), ")".repeat(300)));
    deep("-".repeat(5000));
    deep(format!("1{}", "+1".repeat(20_000)));
    deep(format!("[1]{}", "[0]".repeat(500_000)));
    deep(format!("{}1{}", "abs(".repeat(10_000), ")".repeat(10_000)));
    deep("let a = 1; ".repeat(20_000) + "1");
    deep("if 1 < 2 { 1 } else ".repeat(20_000) + "{ 1 }");
    deep(format!("{}1{}", "map([1], |x| ".repeat(20_000), ")".repeat(20_000)));
}

#[test]
fn neither_work_nor_memory_is_unbounded() {
    let nested = "map(range(1000), |a| sum(map(range(1000), |b| sum(map(range(1000), |c| a * b * c)))))";
    assert!(shown(nested).contains("takes too much work"));
    let doubled = |first: &str, next: &str| format!("let a = {first}; {} 1", next.repeat(60));
    for bomb in [
        doubled("[1]", "let a = [a, a];"),
        doubled("[1]", "let a = concat(a, a);"),
        doubled("range(100000)", "let a = map(a, |x| range(100000));"),
        doubled("[1]", "let a = zip(a, a);"),
    ] {
        let said = shown(&bomb);
        assert!(said.contains("takes too much memory") || said.contains("takes too much work"), "{bomb}: {said}");
    }
    assert!(shown(&doubled("#{x: 1}", "let a = #{x: a, y: a};")).contains("`x` is a filter"));
    assert!(shown(&doubled("'xxxxxxxxxx'", "let a = a + a;")).contains("`+` does not go with a text and a text"));
    let square = "autocorrelation_peak(zip(range(100000), range(100000)), 0, 100000, 100000)";
    assert!(shown(square).contains("takes too much work"));
}

#[test]
fn runs_are_asked_one_by_one() {
    assert_eq!(shown("each_run(|run| run)"), "error at character 1: each_run: there are no runs");
    assert!(shown("each_run(3)").contains("each_run: expected a closure"));
}

#[test]
fn a_check_is_as_bounded_as_an_evaluation() {
    let doubled = format!("let a = [1]; {} 1", "let a = [a, a]; ".repeat(60));
    assert_eq!(typed(&doubled), "a number");
    let many: Vec<String> = (0..3000).map(|number| number.to_string()).collect();
    assert_eq!(typed(&format!("[{}]", many.join(", "))), "a list of numbers");
}

/// One experiment `e` with an axis of numbers and one of names.
struct Experiments;

impl types::Names for Experiments {
    fn axis(&self, _experiment: &str, axis: &str) -> Result<Vec<types::Literal>, Fault> {
        match axis {
            "n" => Ok([1.0, 2.0].map(types::Literal::Number).into()),
            "aqm" => Ok(["red", "codel"].map(|name| types::Literal::Text(name.to_owned())).into()),
            other => Err(Fault::Unknown(format!("no axis {other}"))),
        }
    }
    fn filter(&self, experiment: &str, filter: &[(String, types::Static)]) -> Result<(), Fault> {
        if experiment != "e" {
            return Err(Fault::Unknown(format!("no experiment {experiment}")));
        }
        filter.iter().try_for_each(|(axis, _)| self.axis(experiment, axis).map(|_| ()))
    }
    fn figure(&self, _experiment: &str, figure: &str) -> Result<(), Fault> {
        if figure == "delay" { Ok(()) } else { Err(Fault::Unknown(format!("no figure {figure}"))) }
    }
    fn column(&self, experiment: &str, column: &str) -> Result<(), Fault> {
        self.figure(experiment, column)
    }
    fn probe(&self, name: &str) -> Result<(usize, types::Type), Fault> {
        if name == "p" { Ok((1, types::Type::Number)) } else { Err(Fault::Unknown(format!("no probe {name}"))) }
    }
}

fn typed(text: &str) -> String {
    match parse(text).and_then(|expr| types::check(&expr, &[], &Experiments)) {
        Ok(of) => of.to_string(),
        Err(error) => format!("error at {error}"),
    }
}

#[test]
fn types_flow_from_the_leaves() {
    assert_eq!(typed("pick('e', #{n: '>1'}, 'delay') * 1000"), "a list of numbers");
    assert_eq!(typed("one('e', #{aqm: 'red', n: 2}, 'delay') < 3"), "true or false");
    assert_eq!(typed("map(values_of('e', 'aqm'), |aqm| one('e', #{aqm: aqm}, 'delay'))"), "a list of numbers");
    assert_eq!(typed("map(['e'], |id| min(pick(id, 'delay')))"), "a list of numbers");
    assert_eq!(typed("first(filter(series('e', 'delay'), |x| x[1] > 6))[0]"), "a number");
    assert_eq!(typed("let three = #{aqm: ['red', 'codel']}; concat(pick('e', three, 'delay'), [1]) + 1"), "a list of numbers");
    assert_eq!(typed("all(values_of('e', 'n'), |n| inversions(pick('e', #{n: n}, 'delay'), 0, 'up') == 0)"), "true or false");
    assert_eq!(typed("each_run(|run| max(values(series('e', 'delay'))))"), "a list of numbers");
    assert_eq!(typed("axis('e', 'aqm')"), "a list of texts");
    assert_eq!(typed("probe('p', 2)"), "a number");
}

#[test]
fn types_find_mistakes_before_anything_runs() {
    assert_eq!(typed("nope(1)"), "error at character 1: there is no function `nope`");
    assert_eq!(typed("1 + pick('f', 'delay')"), "error at character 5: pick: no experiment f");
    assert_eq!(typed("pick('e', #{m: 1}, 'delay')"), "error at character 1: pick: no axis m");
    assert_eq!(typed("one('e', 'dleay')"), "error at character 1: one: no figure dleay");
    assert_eq!(typed("probe('q', 1)"), "error at character 1: probe: no probe q");
    assert_eq!(typed("probe('p')"), "error at character 1: probe: `p` takes 1 numbers");
    assert_eq!(typed("a"), "error at character 1: `a` is not known here");
    // A branch that no evaluation may reach is checked too.
    assert_eq!(typed("if 1 < 2 { 1 } else { nope() }"), "error at character 23: there is no function `nope`");
    assert_eq!(
        typed("if 1 < 2 { 1 } else { 'a' }"),
        "error at character 1: gives a number or a text: expected one kind of value"
    );
    assert_eq!(typed("if 1 { 1 } else { 2 }"), "error at character 4: is a number: expected true or false");
    assert_eq!(typed("[1, 'a']"), "error at character 5: an array of a number and a text: expected elements of one kind");
    assert_eq!(typed("[]"), "error at character 1: an array without elements");
    assert_eq!(typed("'a' + 'b'"), "error at character 5: `+` does not go with a text and a text");
    assert_eq!(typed("1 < 2 < 3"), "error at character 7: `<` does not go with true or false and a number");
    assert_eq!(typed("[1, 2][0] && 1 < 2"), "error at character 11: `&&` does not go with a number and true or false");
    assert_eq!(
        typed("inversions([1], 0, 'sideways')"),
        "error at character 1: inversions: `sideways` is no direction: allowed 'up', 'down'"
    );
    assert_eq!(typed("median('a')"), "error at character 1: median: is a text: expected an array of numbers");
    assert_eq!(
        typed("quantile([1])"),
        "error at character 1: quantile: is given a list of numbers: expected an array and a number"
    );
    assert_eq!(typed("map([1], |a, b| a)"), "error at character 1: map: the closure takes 2 values, not 1");
    assert_eq!(typed("filter([1], |a| a)"), "error at character 1: filter: the closure gives a number: expected true or false");
    assert_eq!(typed("values([1, 2])"), "error at character 1: values: is given a list of numbers: expected a series");
    assert_eq!(
        typed("map([1, 2], |x| pick(x, 'delay'))"),
        "error at character 17: pick: is a number where the name of an experiment is needed"
    );
}
