//! From text to a tree: one function for each level of precedence.

use super::ExprError;
use std::rc::Rc;

/// A part of an expression, with the character it begins at.
#[derive(Clone, Debug)]
pub struct Expr {
    pub(super) at: usize,
    pub(super) node: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Number(f64),
    Bool(bool),
    Text(String),
    Name(String),
    Array(Vec<Expr>),
    Map(Vec<(String, Expr)>),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Let(String, Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Call(String, Vec<Expr>),
    Closure(Rc<(Vec<String>, Expr)>),
}

/// Deeper expressions are refused, so that no text overflows the stack.
const DEEPEST: usize = 100;

/// Reads an expression.
///
/// # Errors
/// When it is not one; says where.
pub fn parse(text: &str) -> Result<Expr, ExprError> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0 };
    let expr = parser.block()?;
    parser.space();
    if parser.at < parser.text.len() {
        return Err(parser.error(format!("unexpected `{}`", parser.text[parser.at])));
    }
    Ok(expr)
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

/// Operators of each level, loosest first; longer ones before those they begin with.
const LEVELS: &[&[&str]] = &[&["||"], &["&&"], &["==", "!="], &["<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

impl Parser {
    fn error(&self, message: String) -> ExprError {
        ExprError { at: self.at, message }
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    fn starts(&self, token: &str) -> bool {
        token.chars().enumerate().all(|(offset, c)| self.text.get(self.at + offset) == Some(&c))
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.starts(token);
        if found {
            self.at += token.chars().count();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), ExprError> {
        if self.eat(token) {
            return Ok(());
        }
        let found = self.text.get(self.at).map_or("the end".to_owned(), |c| format!("`{c}`"));
        Err(self.error(format!("expected `{token}`, found {found}")))
    }

    /// The name here, if there is one.
    fn name(&mut self) -> Option<String> {
        self.space();
        let begins = |c: &char| c.is_alphabetic() || *c == '_';
        self.text.get(self.at).filter(|c| begins(c))?;
        let name: String = self.text[self.at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
        self.at += name.chars().count();
        Some(name)
    }

    fn keyword(&mut self, word: &str) -> bool {
        let before = self.at;
        if self.name().as_deref() == Some(word) {
            return true;
        }
        self.at = before;
        false
    }

    /// `let`s and the expression they are for.
    fn block(&mut self) -> Result<Expr, ExprError> {
        self.space();
        let at = self.at;
        if !self.keyword("let") {
            return self.expression();
        }
        let name = self.name().ok_or_else(|| self.error("expected a name after `let`".to_owned()))?;
        self.expect("=")?;
        let value = self.expression()?;
        self.expect(";")?;
        let rest = self.deeper(Self::block)?;
        Ok(Expr { at, node: Node::Let(name, Box::new(value), Box::new(rest)) })
    }

    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Result<Expr, ExprError>) -> Result<Expr, ExprError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(format!("is nested too deeply: allowed {DEEPEST} levels")));
        }
        let expr = inner(self);
        self.depth -= 1;
        expr
    }

    fn expression(&mut self) -> Result<Expr, ExprError> {
        self.deeper(|parser| parser.level(0))
    }

    fn level(&mut self, level: usize) -> Result<Expr, ExprError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        loop {
            self.space();
            let at = self.at;
            let Some(operator) = operators.iter().find(|operator| self.eat(operator)) else { return Ok(left) };
            let right = self.level(level + 1)?;
            left = Expr { at, node: Node::Binary(operator, Box::new(left), Box::new(right)) };
        }
    }

    fn unary(&mut self) -> Result<Expr, ExprError> {
        self.space();
        let at = self.at;
        for operator in ["-", "!"] {
            if self.eat(operator) {
                let inner = self.deeper(Self::unary)?;
                return Ok(Expr { at, node: Node::Unary(operator, Box::new(inner)) });
            }
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Expr, ExprError> {
        let mut expr = self.primary()?;
        loop {
            self.space();
            let at = self.at;
            if self.eat("[") {
                let index = self.expression()?;
                self.expect("]")?;
                expr = Expr { at, node: Node::Index(Box::new(expr), Box::new(index)) };
            } else if self.eat(".") {
                let name = self.name().ok_or_else(|| self.error("expected a function's name after `.`".to_owned()))?;
                self.expect("(")?;
                let mut arguments = vec![expr];
                arguments.extend(self.list(")")?);
                expr = Expr { at, node: Node::Call(name, arguments) };
            } else {
                return Ok(expr);
            }
        }
    }

    /// Expressions with commas between them, up to `end`.
    fn list(&mut self, end: &str) -> Result<Vec<Expr>, ExprError> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(self.expression()?);
            if !self.eat(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn primary(&mut self) -> Result<Expr, ExprError> {
        self.space();
        let at = self.at;
        let Some(&first) = self.text.get(at) else { return Err(self.error("unexpected end".to_owned())) };
        let node = match first {
            '0'..='9' => Node::Number(self.number()?),
            '\'' | '"' | '`' => Node::Text(self.quoted(first)?),
            '[' => {
                self.at += 1;
                Node::Array(self.list("]")?)
            }
            '#' => self.map()?,
            '(' => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            '{' => return self.braces(),
            '|' => self.closure()?,
            _ => self.word()?,
        };
        Ok(Expr { at, node })
    }

    fn number(&mut self) -> Result<f64, ExprError> {
        let mut end = self.at;
        let digit = |at: usize| self.text.get(at).is_some_and(char::is_ascii_digit);
        while digit(end) || self.text.get(end) == Some(&'_') {
            end += 1;
        }
        if self.text.get(end) == Some(&'.') && digit(end + 1) {
            end += 1;
            while digit(end) {
                end += 1;
            }
        }
        if matches!(self.text.get(end), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.text.get(end + 1), Some('+' | '-')));
            if digit(end + 1 + sign) {
                end += 1 + sign;
                while digit(end) {
                    end += 1;
                }
            }
        }
        let text: String = self.text[self.at..end].iter().filter(|c| **c != '_').collect();
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| self.error(format!("`{text}` is no number")))?;
        self.at = end;
        Ok(value)
    }

    fn quoted(&mut self, quote: char) -> Result<String, ExprError> {
        let begin = self.at + 1;
        let length = self.text[begin..].iter().position(|c| *c == quote);
        let length = length.ok_or_else(|| self.error("the text does not end".to_owned()))?;
        self.at = begin + length + 1;
        Ok(self.text[begin..begin + length].iter().collect())
    }

    fn map(&mut self) -> Result<Node, ExprError> {
        self.expect("#{")?;
        let mut entries = Vec::new();
        while !self.eat("}") {
            self.space();
            let key = match self.text.get(self.at) {
                Some(&quote @ ('\'' | '"')) => self.quoted(quote)?,
                _ => self.name().ok_or_else(|| self.error("expected a key".to_owned()))?,
            };
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Node::Map(entries))
    }

    fn braces(&mut self) -> Result<Expr, ExprError> {
        self.expect("{")?;
        let inner = self.deeper(Self::block)?;
        self.expect("}")?;
        Ok(inner)
    }

    fn closure(&mut self) -> Result<Node, ExprError> {
        self.expect("|")?;
        let mut parameters = Vec::new();
        while !self.eat("|") {
            parameters.push(self.name().ok_or_else(|| self.error("expected a parameter's name".to_owned()))?);
            if !self.eat(",") {
                self.expect("|")?;
                break;
            }
        }
        Ok(Node::Closure(Rc::new((parameters, self.expression()?))))
    }

    fn word(&mut self) -> Result<Node, ExprError> {
        let Some(name) = self.name() else { return Err(self.error(format!("unexpected `{}`", self.text[self.at]))) };
        Ok(match name.as_str() {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            "if" => return self.condition(),
            _ if self.eat("(") => Node::Call(name, self.list(")")?),
            _ => Node::Name(name),
        })
    }

    fn condition(&mut self) -> Result<Node, ExprError> {
        let condition = self.expression()?;
        let then = self.braces()?;
        if !self.keyword("else") {
            return Err(self.error("expected `else`".to_owned()));
        }
        self.space();
        let at = self.at;
        let other = if self.keyword("if") { Expr { at, node: self.condition()? } } else { self.braces()? };
        Ok(Node::If(Box::new(condition), Box::new(then), Box::new(other)))
    }
}
