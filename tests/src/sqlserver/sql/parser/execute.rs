//! Calls of procedures, and of text.

use super::Parser;
use crate::sqlserver::sql::{
    Message,
    ast::{Argument, Expr, Kind, Name},
    lexer,
    value::Value,
};

impl Parser {
    pub(super) fn execute(&mut self) -> Result<Kind, Message> {
        self.bump();
        if self.is("AS") {
            return self.execute_as();
        }
        if self.accept_symbol("(") {
            let text = self.expression()?;
            self.expect_symbol(")")?;
            return Ok(Kind::ExecuteText(text));
        }
        let mut status = None;
        if matches!(self.peek(), lexer::Kind::Variable(_)) {
            status = Some(self.variable()?);
            self.expect_symbol("=")?;
        }
        let procedure = self.object()?;
        self.arguments(status, procedure)
    }

    /// A batch that begins with the name of a procedure.
    pub(super) fn execute_unmarked(&mut self) -> Result<Kind, Message> {
        let start = self.at;
        let procedure = self.object()?;
        let follows = matches!(
            self.peek(),
            lexer::Kind::End
                | lexer::Kind::Symbol(";")
                | lexer::Kind::Text { .. }
                | lexer::Kind::Variable(_)
                | lexer::Kind::Integer(_)
        );
        if !follows {
            self.at = start;
            return Err(self.unexpected());
        }
        self.arguments(None, procedure)
    }

    fn execute_as(&mut self) -> Result<Kind, Message> {
        self.bump();
        let login = self.accept("LOGIN");
        if !login {
            self.expect("USER")?;
        }
        self.expect_symbol("=")?;
        Ok(Kind::ExecuteAs(self.expression()?, login))
    }

    fn arguments(&mut self, status: Option<String>, procedure: Name) -> Result<Kind, Message> {
        let mut arguments = Vec::new();
        if self.argument_follows() {
            arguments.push(self.argument()?);
            while self.accept_symbol(",") {
                arguments.push(self.argument()?);
            }
        }
        Ok(Kind::Execute {
            status,
            procedure,
            arguments,
        })
    }

    fn argument_follows(&self) -> bool {
        match self.peek() {
            lexer::Kind::Variable(_)
            | lexer::Kind::Integer(_)
            | lexer::Kind::Float(_)
            | lexer::Kind::Text { .. }
            | lexer::Kind::Binary(_)
            | lexer::Kind::Symbol("-") => true,
            lexer::Kind::Word(_) => self.is("NULL") || self.is("DEFAULT"),
            _ => false,
        }
    }

    fn argument(&mut self) -> Result<Argument, Message> {
        let mut name = None;
        if let (lexer::Kind::Variable(given), lexer::Kind::Symbol("=")) =
            (self.peek(), self.peek_at(1))
        {
            name = Some(given.to_lowercase());
            self.at += 2;
        }
        if self.accept("DEFAULT") {
            return Ok(Argument {
                name,
                value: None,
                output: false,
            });
        }
        let value = Some(self.argument_value()?);
        let output = self.accept("OUTPUT") || self.accept("OUT");
        if output && !matches!(value, Some(Expr::Variable(_))) {
            let text =
                "Cannot use the OUTPUT option when passing a constant to a stored procedure.";
            return Err(Message::new(179, 15, 1, text).at(self.line()));
        }
        Ok(Argument {
            name,
            value,
            output,
        })
    }

    /// A constant or a variable: an argument may be no other expression.
    fn argument_value(&mut self) -> Result<Expr, Message> {
        match self.peek().clone() {
            lexer::Kind::Variable(name) if name.starts_with("@@") => {
                self.bump();
                Ok(Expr::Global(name.to_lowercase()))
            }
            lexer::Kind::Variable(_) => Ok(Expr::Variable(self.variable()?)),
            lexer::Kind::Integer(_)
            | lexer::Kind::Float(_)
            | lexer::Kind::Text { .. }
            | lexer::Kind::Binary(_)
            | lexer::Kind::Symbol("-") => {
                let start = self.at;
                let value = self.expression()?;
                match value {
                    Expr::Value(_) => Ok(value),
                    _ => {
                        self.at = start + 1;
                        Err(self.unexpected())
                    }
                }
            }
            lexer::Kind::Word(word) if word.eq_ignore_ascii_case("NULL") => self.expression(),
            // A word alone is a text.
            lexer::Kind::Word(_) => Ok(Expr::Value(Value::text(&self.name()?))),
            _ => Err(self.unexpected()),
        }
    }
}
