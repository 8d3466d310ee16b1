//! Layout of an expression: one line where it fits, else a line for each binding, operand, argument
//! or element.

use super::parse::{Closure, Expr, Node};

/// Longest line.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// The text of an expression in the one layout that the gallery uses. Parentheses that change
/// nothing go.
#[must_use]
pub fn format(expr: &Expr) -> String {
    laid_out(expr, 0, 0)
}

/// On one line, however long.
fn flat(expr: &Expr) -> String {
    match &expr.node {
        Node::Number(_, text) => text.clone(),
        Node::Text(text) => format!("'{text}'"),
        Node::Name(name) => name.clone(),
        Node::Array(items) => format!("[{}]", list(items)),
        Node::Filter(entries) => {
            let entries: Vec<String> = entries.iter().map(|(axis, value)| format!("{axis}: {}", flat(value))).collect();
            format!("#{{{}}}", entries.join(", "))
        }
        Node::Negated(inner) => format!("-{}", operand(inner, &|inner| is_loose(inner, usize::MAX, false))),
        Node::Binary(operator, left, right) => {
            let level = operator.level();
            let left = operand(left, &|left| is_loose(left, level, false));
            let right = operand(right, &|right| is_loose(right, level, true));
            format!("{left} {} {right}", operator.sign())
        }
        Node::If(condition, then, other) => {
            let other = match other.node {
                Node::If(..) => flat(other),
                _ => format!("{{ {} }}", flat(other)),
            };
            format!("if {} {{ {} }} else {other}", flat(condition), flat(then))
        }
        Node::Let(name, value, rest) => format!("let {name} = {}; {}", flat(value), flat(rest)),
        Node::Index(of, index) => format!("{}[{}]", operand(of, &is_compound), flat(index)),
        Node::Call(name, arguments, closure) => {
            let mut parts: Vec<String> = arguments.iter().map(flat).collect();
            parts.extend(closure.as_deref().map(|closure| {
                let body = flat(&closure.body);
                let body = if matches!(closure.body.node, Node::Let(..)) { format!("{{ {body} }}") } else { body };
                format!("{} {body}", parameters(closure))
            }));
            format!("{name}({})", parts.join(", "))
        }
    }
}

fn list(items: &[Expr]) -> String {
    items.iter().map(flat).collect::<Vec<_>>().join(", ")
}

fn parameters(closure: &Closure) -> String {
    format!("|{}|", closure.parameters.join(", "))
}

fn operand(expr: &Expr, needs_parentheses: &dyn Fn(&Expr) -> bool) -> String {
    if needs_parentheses(expr) { format!("({})", flat(expr)) } else { flat(expr) }
}

/// Whether an operand binds less tightly than the operator beside it, or as tightly on its right.
fn is_loose(expr: &Expr, level: usize, right: bool) -> bool {
    match &expr.node {
        Node::Binary(operator, ..) => operator.level() < level || right && operator.level() == level,
        Node::If(..) | Node::Let(..) => true,
        _ => false,
    }
}

fn is_compound(expr: &Expr) -> bool {
    matches!(expr.node, Node::Binary(..) | Node::Negated(_) | Node::If(..) | Node::Let(..))
}

/// At an indentation, behind `taken` characters that are on the line already.
fn laid_out(expr: &Expr, indent: usize, taken: usize) -> String {
    let line = flat(expr);
    let is_block = matches!(expr.node, Node::Let(..)) || has_block(expr);
    if !is_block && indent + taken + line.chars().count() <= WIDTH {
        return line;
    }
    match &expr.node {
        Node::Let(name, value, rest) => {
            let head = format!("let {name} = ");
            let value = laid_out(value, indent, head.chars().count() + 1);
            format!("{head}{value};\n{}{}", spaces(indent), laid_out(rest, indent, 0))
        }
        Node::Binary(operator, ..) => {
            let mut operands = Vec::new();
            chain(expr, operator.level(), &mut operands);
            let mut text = String::new();
            for (at, (sign, operand, is_right)) in operands.iter().enumerate() {
                let sign = if at == 0 { String::new() } else { format!("\n{}{sign} ", spaces(indent + INDENT)) };
                let place = indent + if at == 0 { 0 } else { INDENT };
                text += &sign;
                text += &if is_loose(operand, operator.level(), *is_right) {
                    format!("({})", laid_out(operand, place, sign.trim_start().len() + 2))
                } else {
                    laid_out(operand, place, sign.trim_start().len())
                };
            }
            text
        }
        Node::If(condition, then, other) => {
            let inner = indent + INDENT;
            let other = match other.node {
                Node::If(..) => laid_out(other, indent, 7),
                _ => format!("{{\n{}{}\n{}}}", spaces(inner), laid_out(other, inner, 0), spaces(indent)),
            };
            let then = format!("{{\n{}{}\n{}}}", spaces(inner), laid_out(then, inner, 0), spaces(indent));
            format!("if {} {then} else {other}", laid_out(condition, indent, 5))
        }
        Node::Call(name, arguments, closure) => call(name, arguments, closure.as_deref(), indent, taken),
        Node::Array(items) => format!("[{}]", broken(items, None, indent)),
        Node::Index(of, index) if !is_compound(of) => format!("{}[{}]", laid_out(of, indent, taken), flat(index)),
        _ => line,
    }
}

/// The operands of operators of one level, each with the sign before it and whether it is a right
/// one.
fn chain<'a>(expr: &'a Expr, level: usize, operands: &mut Vec<(&'static str, &'a Expr, bool)>) {
    match &expr.node {
        Node::Binary(operator, left, right) if operator.level() == level => {
            chain(left, level, operands);
            operands.push((operator.sign(), right, true));
        }
        _ => operands.push(("", expr, false)),
    }
}

fn call(name: &str, arguments: &[Expr], closure: Option<&Closure>, indent: usize, taken: usize) -> String {
    let Some(closure) = closure else {
        // A lone call, array or operation keeps its parenthesis.
        if let [only] = arguments
            && matches!(only.node, Node::Call(..))
        {
            return format!("{name}({})", laid_out(only, indent, taken + name.chars().count() + 2));
        }
        return format!("{name}({})", broken(arguments, None, indent));
    };
    // What stands before the body stays on the line, if it fits.
    let before = arguments.iter().map(|argument| flat(argument) + ", ").collect::<String>();
    let head = format!("{name}({before}{}", parameters(closure));
    if indent + taken + head.chars().count() + 2 > WIDTH {
        return format!("{name}({})", broken(arguments, Some(closure), indent));
    }
    format!("{head} {})", body(closure, indent))
}

fn body(closure: &Closure, indent: usize) -> String {
    let inner = indent + INDENT;
    format!("{{\n{}{}\n{}}}", spaces(inner), laid_out(&closure.body, inner, 0), spaces(indent))
}

/// A line for each item.
fn broken(items: &[Expr], closure: Option<&Closure>, indent: usize) -> String {
    let inner = indent + INDENT;
    let mut lines: Vec<String> = items.iter().map(|item| laid_out(item, inner, 1)).collect();
    lines.extend(closure.map(|closure| format!("{} {}", parameters(closure), body(closure, inner))));
    let lines: Vec<String> = lines.into_iter().map(|line| format!("\n{}{line}", spaces(inner))).collect();
    format!("{}\n{}", lines.join(","), spaces(indent))
}

/// Whether a closure in it has bindings, which are written on lines of their own.
fn has_block(expr: &Expr) -> bool {
    let own = match &expr.node {
        Node::Call(_, _, Some(closure)) => matches!(closure.body.node, Node::Let(..)),
        _ => false,
    };
    own || expr.node.parts().any(has_block)
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    /// The layout of a text, which must mean the same and be its own layout.
    fn formatted(text: &str) -> String {
        let expr = parse(text).unwrap();
        let layout = format(&expr);
        let again = parse(&layout).unwrap_or_else(|error| panic!("{layout}\n{error}"));
        assert_eq!(flat(&again), flat(&expr), "the meaning changed");
        assert_eq!(format(&again), layout, "the layout is not stable");
        layout
    }

    #[test]
    fn what_fits_stays_on_a_line() {
        assert_eq!(formatted("1+2*( 3-4 )"), "1 + 2 * (3 - 4)");
        assert_eq!(formatted("(a*b)/(c/d) - -(e)"), "a * b / (c / d) - -e");
        assert_eq!(formatted("(a && b) || c"), "a && b || c");
        assert_eq!(formatted("map([1,2],|x|if x>1{x}else{-1})"), "map([1, 2], |x| if x > 1 { x } else { -1 })");
        assert_eq!(formatted("pick('e', #{n:'>1',m:[1,2]}, 'f')[0]"), "pick('e', #{n: '>1', m: [1, 2]}, 'f')[0]");
        assert_eq!(formatted("(a + b)[0] - (if 1 < 2 { 3 } else { 4 })"), "(a + b)[0] - (if 1 < 2 { 3 } else { 4 })");
    }

    #[test]
    fn bindings_and_long_calls_are_broken() {
        assert_eq!(formatted("let a = 1; let b = a; a + b"), "let a = 1;\nlet b = a;\na + b");
        let long = "each_run(|run| { let s = series('cd-1', #{load: 'window-25'}, 'bottleneck.queue_packets'); max(values(s)) })";
        assert_eq!(
            formatted(&format!("mean({long}) / 2")),
            "mean(each_run(|run| {\n    let s = series('cd-1', #{load: 'window-25'}, 'bottleneck.queue_packets');\n    max(values(s))\n}))\n    / 2"
        );
        let one = "one('nf-1', #{aqm: 'red'}, 'links.bottleneck.drops.early')";
        assert_eq!(formatted(&format!("({one} + {one}) * 2")), format!("({one}\n    + {one})\n    * 2"));
    }
}
