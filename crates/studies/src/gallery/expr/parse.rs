//! Parser: from text to a tree, one function for each level of precedence.

use super::{ExprError, Fault};

/// A part of an expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The character it begins at, counted from zero; of an operator or an index, that of the sign.
    pub at: usize,
    /// The kind.
    pub node: Node,
    /// Levels of the tree from here down.
    depth: usize,
}

/// Kinds of parts.
#[derive(Clone, Debug)]
pub enum Node {
    /// `1.5e3`: its value, and as it is written.
    Number(f64, String),
    /// `'text'`
    Text(String),
    /// `name`
    Name(String),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `#{axis: value}`
    Filter(Vec<(String, Expr)>),
    /// `-a`
    Negated(Box<Expr>),
    /// `a + b`
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `if c { a } else { b }`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `let name = value; rest`
    Let(String, Box<Expr>, Box<Expr>),
    /// `a[0]`
    Index(Box<Expr>, Box<Expr>),
    /// `f(a, b, |x| x * 2)`
    Call(String, Vec<Expr>, Option<Box<Closure>>),
}

/// A function written in place: `|x| x * 2`.
#[derive(Clone, Debug)]
pub struct Closure {
    /// Names of its arguments.
    pub parameters: Vec<String>,
    /// Its value.
    pub body: Expr,
}

/// Signs between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
}

impl Operator {
    /// The sign as it is written.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::Greater => ">",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Over => "/",
        }
    }

    /// Place among `LEVELS`: the looser, the smaller.
    #[must_use]
    pub fn level(self) -> usize {
        LEVELS.iter().position(|level| level.contains(&self)).unwrap_or(LEVELS.len())
    }
}

/// Operators of each level, loosest first; longer ones before those they begin with.
const LEVELS: &[&[Operator]] = &[
    &[Operator::Or],
    &[Operator::And],
    &[Operator::Equal, Operator::Unequal],
    &[Operator::AtMost, Operator::AtLeast, Operator::Less, Operator::Greater],
    &[Operator::Plus, Operator::Minus],
    &[Operator::Times, Operator::Over],
];

/// Most levels of a tree. Evaluation, checks and the tree's destructor recurse over it, so a deeper
/// one could overflow the stack.
const MAX_DEPTH: usize = 100;

/// Reads an expression.
///
/// # Errors
/// When the text is not one; names the place.
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

impl Expr {
    /// A part with everything below it, unless that is too deep.
    fn new(at: usize, node: Node) -> Result<Self, ExprError> {
        let depth = 1 + node.parts().map(|part| part.depth).max().unwrap_or(0);
        if depth > MAX_DEPTH { Err(too_deep(at)) } else { Ok(Self { at, node, depth }) }
    }
}

impl Node {
    /// The parts directly below.
    pub fn parts(&self) -> Box<dyn Iterator<Item = &Expr> + '_> {
        match self {
            Self::Number(..) | Self::Text(_) | Self::Name(_) => Box::new(std::iter::empty()),
            Self::Array(items) => Box::new(items.iter()),
            Self::Filter(entries) => Box::new(entries.iter().map(|(_, value)| value)),
            Self::Negated(inner) => Box::new(std::iter::once(&**inner)),
            Self::Binary(_, left, right) | Self::Index(left, right) | Self::Let(_, left, right) => {
                Box::new([&**left, &**right].into_iter())
            }
            Self::If(condition, then, other) => Box::new([&**condition, &**then, &**other].into_iter()),
            Self::Call(_, arguments, closure) => Box::new(arguments.iter().chain(closure.iter().map(|closure| &closure.body))),
        }
    }
}

fn too_deep(at: usize) -> ExprError {
    Fault::Limit(format!("is nested too deeply: allowed {MAX_DEPTH} levels")).at(at)
}

impl Parser {
    fn error(&self, message: String) -> ExprError {
        Fault::Syntax(message).at(self.at)
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
        Expr::new(at, Node::Let(name, Box::new(value), Box::new(rest)))
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, ExprError>) -> Result<T, ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep(self.at));
        }
        let parsed = inner(self);
        self.depth -= 1;
        parsed
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
            let Some(operator) = operators.iter().find(|operator| self.eat(operator.sign())) else { return Ok(left) };
            let right = self.level(level + 1)?;
            left = Expr::new(at, Node::Binary(*operator, Box::new(left), Box::new(right)))?;
        }
    }

    fn unary(&mut self) -> Result<Expr, ExprError> {
        self.space();
        let at = self.at;
        if self.eat("-") {
            let inner = self.deeper(Self::unary)?;
            return Expr::new(at, Node::Negated(Box::new(inner)));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Expr, ExprError> {
        let mut expr = self.primary()?;
        loop {
            self.space();
            let at = self.at;
            if !self.eat("[") {
                return Ok(expr);
            }
            let index = self.expression()?;
            self.expect("]")?;
            expr = Expr::new(at, Node::Index(Box::new(expr), Box::new(index)))?;
        }
    }

    fn primary(&mut self) -> Result<Expr, ExprError> {
        self.space();
        let at = self.at;
        let Some(&first) = self.text.get(at) else { return Err(self.error("unexpected end".to_owned())) };
        let node = match first {
            '0'..='9' => self.number()?,
            '\'' => Node::Text(self.quoted()?),
            '(' => {
                self.expect("(")?;
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            '[' => Node::Array(self.array()?),
            '#' => Node::Filter(self.filter()?),
            '|' => return Err(self.error("a closure can only be the last argument of a function".to_owned())),
            _ => self.word()?,
        };
        Expr::new(at, node)
    }

    fn array(&mut self) -> Result<Vec<Expr>, ExprError> {
        self.expect("[")?;
        let mut items = Vec::new();
        while !self.eat("]") {
            items.push(self.expression()?);
            if !self.eat(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(items)
    }

    fn number(&mut self) -> Result<Node, ExprError> {
        let digit = |at: usize| self.text.get(at).is_some_and(char::is_ascii_digit);
        let mut end = self.at;
        while digit(end) {
            end += 1;
        }
        if self.text.get(end) == Some(&'.') && digit(end + 1) {
            end += 1;
            while digit(end) {
                end += 1;
            }
        }
        if self.text.get(end) == Some(&'e') {
            let sign = usize::from(matches!(self.text.get(end + 1), Some('+' | '-')));
            if digit(end + 1 + sign) {
                end += 1 + sign;
                while digit(end) {
                    end += 1;
                }
            }
        }
        let text: String = self.text[self.at..end].iter().collect();
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| self.error(format!("`{text}` is no number")))?;
        self.at = end;
        Ok(Node::Number(value, text))
    }

    fn quoted(&mut self) -> Result<String, ExprError> {
        let begin = self.at + 1;
        let length = self.text[begin..].iter().position(|c| *c == '\'');
        let length = length.ok_or_else(|| self.error("the text does not end".to_owned()))?;
        self.at = begin + length + 1;
        Ok(self.text[begin..begin + length].iter().collect())
    }

    fn filter(&mut self) -> Result<Vec<(String, Expr)>, ExprError> {
        self.expect("#{")?;
        let mut entries: Vec<(String, Expr)> = Vec::new();
        while !self.eat("}") {
            let key = self.name().ok_or_else(|| self.error("expected an axis".to_owned()))?;
            if entries.iter().any(|(known, _)| *known == key) {
                return Err(self.error(format!("`{key}` is there twice")));
            }
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(entries)
    }

    fn braces(&mut self) -> Result<Expr, ExprError> {
        self.expect("{")?;
        let inner = self.deeper(Self::block)?;
        self.expect("}")?;
        Ok(inner)
    }

    /// Arguments up to the closing parenthesis; the last one may be a closure.
    fn arguments(&mut self) -> Result<(Vec<Expr>, Option<Box<Closure>>), ExprError> {
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if self.eat("|") {
                let closure = self.deeper(Self::closure)?;
                self.expect(")")?;
                return Ok((arguments, Some(Box::new(closure))));
            }
            arguments.push(self.expression()?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok((arguments, None))
    }

    fn closure(&mut self) -> Result<Closure, ExprError> {
        let mut parameters = Vec::new();
        while !self.eat("|") {
            parameters.push(self.name().ok_or_else(|| self.error("expected a parameter's name".to_owned()))?);
            if !self.eat(",") {
                self.expect("|")?;
                break;
            }
        }
        let body = if self.eat("{") {
            self.at -= 1;
            self.braces()?
        } else {
            self.expression()?
        };
        Ok(Closure { parameters, body })
    }

    fn word(&mut self) -> Result<Node, ExprError> {
        let Some(name) = self.name() else { return Err(self.error(format!("unexpected `{}`", self.text[self.at]))) };
        if name == "if" {
            return self.condition();
        }
        if !self.eat("(") {
            return Ok(Node::Name(name));
        }
        let (arguments, closure) = self.arguments()?;
        Ok(Node::Call(name, arguments, closure))
    }

    fn condition(&mut self) -> Result<Node, ExprError> {
        let condition = self.expression()?;
        let then = self.braces()?;
        if !self.keyword("else") {
            return Err(self.error("expected `else`".to_owned()));
        }
        self.space();
        let at = self.at;
        let other = if self.keyword("if") {
            let node = self.deeper(Self::condition)?;
            Expr::new(at, node)?
        } else {
            self.braces()?
        };
        Ok(Node::If(Box::new(condition), Box::new(then), Box::new(other)))
    }
}
