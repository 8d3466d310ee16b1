//! From tokens to statements and expressions.

use super::lexer::{Token, tokens};
use super::{Comparison, Expression, Function, Operator, Statement};
use crate::packetdrill::error::{Place, ScriptError};
use std::collections::BTreeSet;

/// Maximum nesting depth of expressions.
const MAX_DEPTH: u32 = 32;
/// Most operators and arguments of one statement: it bounds the depth of the tree.
const MAX_OPERATORS: usize = 1024;
/// Keywords of Python that begin what this reader does not carry out.
const FOREIGN: [&str; 14] =
    ["if", "elif", "else", "for", "while", "import", "from", "def", "class", "try", "with", "return", "global", "pass"];

/// Operators that take their operands from the left, from loosest to tightest.
const LEVELS: [&[(&str, Operator)]; 8] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("//", Operator::FloorDivide), ("%", Operator::Modulo)],
];

/// The level that `not` and comparisons stand above.
const NEGATION: usize = 2;

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
];

/// Reads all statements of a text that begins at `place`.
pub(super) fn statements(text: &str, place: Place) -> Result<Vec<(Place, Statement)>, ScriptError> {
    let tokens = tokens(text, place)?;
    let mut parser = Parser { text, tokens: &tokens, at: 0, operators: 0, names: BTreeSet::new() };
    let mut statements = Vec::new();
    while parser.at < parser.tokens.len() {
        if *parser.peek() == Token::EndOfStatement {
            parser.at += 1;
            continue;
        }
        let place = parser.place();
        parser.operators = 0;
        parser.names.clear();
        let statement = parser.statement()?;
        let foreign = matches!(statement, Statement::Foreign(_));
        statements.push((place, statement));
        if foreign {
            // The rest of the code belongs to this statement.
            break;
        }
        if *parser.peek() != Token::EndOfStatement {
            return Err(parser.unexpected("the end of the statement"));
        }
    }
    Ok(statements)
}

struct Parser<'a> {
    text: &'a str,
    /// The last one ends a statement.
    tokens: &'a [(Place, usize, Token<'a>)],
    at: usize,
    /// Operators of the statement so far.
    operators: usize,
    /// Names of the statement so far.
    names: BTreeSet<String>,
}

impl<'a> Parser<'a> {
    /// Counts an operator or an argument.
    fn count(&mut self) -> Result<(), ScriptError> {
        self.operators += 1;
        if self.operators <= MAX_OPERATORS {
            return Ok(());
        }
        Err(ScriptError::new(self.place(), format!("the statement has more than {MAX_OPERATORS} operators")))
    }

    fn peek(&self) -> &Token<'a> {
        &self.tokens[self.at.min(self.tokens.len() - 1)].2
    }

    fn place(&self) -> Place {
        self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    fn offset(&self) -> usize {
        self.tokens[self.at.min(self.tokens.len() - 1)].1
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = *self.peek() == Token::Sign(sign);
        self.at += usize::from(found);
        found
    }

    fn unexpected(&self, wanted: &str) -> ScriptError {
        let found = match self.peek() {
            Token::Number(value) => format!("`{value}`"),
            Token::Name(name) => format!("`{}`", name.chars().take(40).collect::<String>()),
            Token::Text => "a string".to_owned(),
            Token::Sign(sign) => format!("`{}`", sign.escape_default()),
            Token::EndOfStatement => "the end of the statement".to_owned(),
        };
        ScriptError::new(self.place(), format!("expected {wanted}, found {found}"))
    }

    fn statement(&mut self) -> Result<Statement, ScriptError> {
        let Token::Name(name) = *self.peek() else { return Err(self.unexpected("assert, print or an assignment")) };
        if FOREIGN.contains(&name) {
            return Ok(Statement::Foreign(name.to_owned()));
        }
        self.at += 1;
        match name {
            "assert" => {
                let from = self.offset();
                let condition = self.expression(0)?;
                let to = self.offset();
                self.skip_message()?;
                let text = self.text[from..to].split_whitespace().collect::<Vec<_>>().join(" ");
                Ok(Statement::Assert(condition, text, std::mem::take(&mut self.names)))
            }
            "print" => self.print(),
            _ => self.assignment(name),
        }
    }

    /// Skips `, message` up to the end of the statement.
    fn skip_message(&mut self) -> Result<(), ScriptError> {
        if self.takes(",") {
            while *self.peek() != Token::EndOfStatement {
                self.at += 1;
            }
        }
        if *self.peek() == Token::EndOfStatement { Ok(()) } else { Err(self.unexpected("`,` or the end of the statement")) }
    }

    /// A number is printed; what has strings is only skipped.
    fn print(&mut self) -> Result<Statement, ScriptError> {
        let begin = self.at;
        let expression = self.expression(0).ok();
        if expression.is_some() && *self.peek() == Token::EndOfStatement {
            return Ok(Statement::Print(expression));
        }
        self.at = begin;
        while *self.peek() != Token::EndOfStatement {
            self.at += 1;
        }
        Ok(Statement::Print(None))
    }

    fn assignment(&mut self, name: &str) -> Result<Statement, ScriptError> {
        let Token::Sign(sign) = *self.peek() else { return Err(self.unexpected("`=`")) };
        let operator = sign.strip_suffix('=').and_then(operator);
        if sign != "=" && operator.is_none() {
            return Err(self.unexpected("`=`"));
        }
        self.at += 1;
        let right = self.expression(0)?;
        let value = match operator {
            None => right,
            Some(operator) => Expression::Binary(operator, Box::new(Expression::Name(name.to_owned())), Box::new(right)),
        };
        Ok(Statement::Assign(name.to_owned(), value))
    }

    fn expression(&mut self, depth: u32) -> Result<Expression, ScriptError> {
        if depth > MAX_DEPTH {
            return Err(ScriptError::new(self.place(), format!("expressions are nested more than {MAX_DEPTH} deep")));
        }
        self.level(0, depth)
    }

    fn negation(&mut self, depth: u32) -> Result<Expression, ScriptError> {
        if *self.peek() == Token::Name("not") {
            self.at += 1;
            if depth >= MAX_DEPTH {
                return Err(ScriptError::new(self.place(), format!("expressions are nested more than {MAX_DEPTH} deep")));
            }
            return Ok(Expression::Not(Box::new(self.negation(depth + 1)?)));
        }
        self.comparison(depth)
    }

    fn comparison(&mut self, depth: u32) -> Result<Expression, ScriptError> {
        let first = self.level(NEGATION, depth)?;
        let mut rest = Vec::new();
        while let Token::Sign(sign) = *self.peek()
            && let Some(&(_, comparison)) = COMPARISONS.iter().find(|(known, _)| *known == sign)
        {
            self.count()?;
            self.at += 1;
            rest.push((comparison, self.level(NEGATION, depth)?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Compare(Box::new(first), rest) })
    }

    /// Operands of an operator of this level or of tighter ones.
    fn level(&mut self, level: usize, depth: u32) -> Result<Expression, ScriptError> {
        let Some(operators) = LEVELS.get(level) else { return self.factor(depth) };
        let operand = |parser: &mut Self| match level + 1 {
            NEGATION => parser.negation(depth),
            tighter => parser.level(tighter, depth),
        };
        let mut left = operand(self)?;
        while let Token::Sign(word) | Token::Name(word) = *self.peek()
            && let Some(&(_, operator)) = operators.iter().find(|(known, _)| *known == word)
        {
            self.count()?;
            self.at += 1;
            left = Expression::Binary(operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn factor(&mut self, depth: u32) -> Result<Expression, ScriptError> {
        if depth > MAX_DEPTH {
            return Err(ScriptError::new(self.place(), format!("expressions are nested more than {MAX_DEPTH} deep")));
        }
        if self.takes("-") {
            return Ok(Expression::Negative(Box::new(self.factor(depth + 1)?)));
        }
        if self.takes("~") {
            return Ok(Expression::Invert(Box::new(self.factor(depth + 1)?)));
        }
        if self.takes("(") {
            let inside = self.expression(depth + 1)?;
            return if self.takes(")") { Ok(inside) } else { Err(self.unexpected("`)`")) };
        }
        match *self.peek() {
            Token::Number(value) => {
                self.at += 1;
                Ok(Expression::Number(value))
            }
            Token::Name(name @ ("True" | "False")) => {
                self.at += 1;
                Ok(Expression::Number(super::truth(name == "True")))
            }
            Token::Name(name) => {
                self.at += 1;
                if self.takes("(") {
                    return self.function(name, depth);
                }
                self.names.insert(name.to_owned());
                Ok(Expression::Name(name.to_owned()))
            }
            Token::Text | Token::Sign(_) | Token::EndOfStatement => Err(self.unexpected("a number or a name")),
        }
    }

    fn function(&mut self, name: &str, depth: u32) -> Result<Expression, ScriptError> {
        let (function, least) = match name {
            "abs" => (Function::Abs, 1),
            "min" => (Function::Min, 2),
            "max" => (Function::Max, 2),
            _ => return Err(ScriptError::new(self.place(), "unknown function: allowed abs, min, max")),
        };
        let mut arguments = vec![self.expression(depth + 1)?];
        while self.takes(",") {
            self.count()?;
            arguments.push(self.expression(depth + 1)?);
        }
        if arguments.len() < least || function == Function::Abs && arguments.len() > 1 {
            return Err(ScriptError::new(self.place(), format!("{name} has {} arguments", arguments.len())));
        }
        if self.takes(")") { Ok(Expression::Call(function, arguments)) } else { Err(self.unexpected("`)`")) }
    }
}

fn operator(sign: &str) -> Option<Operator> {
    LEVELS.iter().flat_map(|level| level.iter()).find(|(known, _)| *known == sign).map(|&(_, operator)| operator)
}
