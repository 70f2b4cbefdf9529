//! From words to a tree. A batch that does not parse is not run at all.

mod conditions;
mod define;
mod execute;
mod expressions;
mod flow;
mod names;
mod options;
mod rights;
mod select;
mod statements;
mod tables;

use super::{
    Message,
    ast::Statement,
    lexer::{Kind, Token, tokens},
    value::Type,
};

/// Parses a batch in which `declared` variables are there already.
pub(crate) fn parse(text: &str, declared: &[String]) -> Result<Vec<Statement>, Message> {
    let mut parser = Parser::new(text, declared)?;
    let mut statements = Vec::new();
    parser.skip_semicolons();
    while *parser.peek() != Kind::End {
        statements.push(parser.statement()?);
        parser.skip_semicolons();
    }
    Ok(statements)
}

/// A parameter of `sp_executesql`: its name, its type, and whether it is for output.
pub(crate) type Declared = (String, Type, bool);

/// Parses the list of parameters that `sp_executesql` is given.
pub(crate) fn parse_parameters(text: &str) -> Result<Vec<Declared>, Message> {
    let mut parser = Parser::new(text, &[])?;
    let mut parameters = Vec::new();
    if *parser.peek() == Kind::End {
        return Ok(parameters);
    }
    loop {
        let name = parser.new_variable()?;
        parser.accept("AS");
        let kind = parser.type_name()?;
        let output = parser.accept("OUTPUT") || parser.accept("OUT");
        parameters.push((name, kind, output));
        if !parser.accept_symbol(",") {
            return parser.end().map(|()| parameters);
        }
    }
}

pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// In lower case.
    variables: Vec<String>,
    in_catch: bool,
    in_loop: bool,
    /// How many statements the next one is in.
    depth: usize,
    /// How many expressions, conditions and statements.
    nesting: usize,
}

/// How deep one thing may be in another.
const DEEPEST: usize = 100;
/// How many terms may be in a row.
const LONGEST: usize = 1000;

impl Parser {
    fn new(text: &str, declared: &[String]) -> Result<Self, Message> {
        Ok(Self {
            tokens: tokens(text)?,
            at: 0,
            variables: declared.iter().map(|name| name.to_lowercase()).collect(),
            in_catch: false,
            in_loop: false,
            depth: 0,
            nesting: 0,
        })
    }

    /// Parses what is inside of something else, if that is not too deep.
    fn inside<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Message>,
    ) -> Result<T, Message> {
        if self.nesting >= DEEPEST {
            return Err(self.too_deep());
        }
        self.nesting += 1;
        let parsed = parse(self);
        self.nesting -= 1;
        parsed
    }

    fn too_deep(&self) -> Message {
        let text = "Some part of your SQL statement is nested too deeply. Rewrite the query or break \
                    it up into smaller queries.";
        Message::new(191, 15, 1, text).at(self.line())
    }

    /// Whether so many terms in a row are too many.
    fn check_length(&self, terms: usize) -> Result<(), Message> {
        match terms > LONGEST {
            true => Err(self.too_deep()),
            false => Ok(()),
        }
    }

    fn peek(&self) -> &Kind {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Kind {
        let place = (self.at + ahead).min(self.tokens.len() - 1);
        &self.tokens[place].kind
    }

    fn line(&self) -> u32 {
        self.tokens[self.at].line
    }

    fn bump(&mut self) -> Kind {
        let kind = self.peek().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        kind
    }

    /// Whether the word `ahead` is `keyword`, which is in capitals.
    fn is_at(&self, ahead: usize, keyword: &str) -> bool {
        matches!(self.peek_at(ahead), Kind::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn is(&self, keyword: &str) -> bool {
        self.is_at(0, keyword)
    }

    fn accept(&mut self, keyword: &str) -> bool {
        let found = self.is(keyword);
        if found {
            self.bump();
        }
        found
    }

    /// All of `keywords` one after the other, or none of them.
    fn accept_all(&mut self, keywords: &[&str]) -> bool {
        let found = (0..)
            .zip(keywords)
            .all(|(ahead, keyword)| self.is_at(ahead, keyword));
        if found {
            self.at += keywords.len();
        }
        found
    }

    fn expect(&mut self, keyword: &str) -> Result<(), Message> {
        match self.accept(keyword) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Kind::Symbol(found) if *found == symbol)
    }

    fn accept_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.bump();
        }
        found
    }

    fn expect_symbol(&mut self, symbol: &str) -> Result<(), Message> {
        match self.accept_symbol(symbol) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn skip_semicolons(&mut self) {
        while self.accept_symbol(";") {}
    }

    fn end(&self) -> Result<(), Message> {
        match self.peek() {
            Kind::End => Ok(()),
            _ => Err(self.unexpected()),
        }
    }

    /// The error about the next word.
    fn unexpected(&self) -> Message {
        let previous = self.at.saturating_sub(1);
        let (near, line) = match self.peek() {
            // What is missing at the end is said to be near the last word.
            Kind::End => (&self.tokens[previous].kind, self.tokens[previous].line),
            kind => (kind, self.line()),
        };
        match near {
            Kind::Word(word) if names::is_reserved(word) => Message::keyword(word).at(line),
            near => Message::syntax(&near.written()).at(line),
        }
    }
}
