//! Statements: which one comes next.

use super::{Parser, expressions::next_value_refused};
use crate::sqlserver::sql::{
    Message,
    ast::{Expr, Kind, Statement},
    lexer,
};

impl Parser {
    pub(super) fn statement(&mut self) -> Result<Statement, Message> {
        let line = self.line();
        self.depth += 1;
        let kind = self.inside(Self::statement_kind);
        self.depth -= 1;
        let kind = kind?;
        self.accept_symbol(";");
        Ok(Statement { line, kind })
    }

    fn statement_kind(&mut self) -> Result<Kind, Message> {
        let lexer::Kind::Word(word) = self.peek().clone() else {
            return Err(self.unexpected());
        };
        match word.to_ascii_uppercase().as_str() {
            "DECLARE" => self.declare(),
            "SET" => self.set(),
            "SELECT" => Ok(Kind::Select(self.query()?)),
            "IF" => self.branch(),
            "BEGIN" => self.begin(),
            "WHILE" => self.repeat(),
            "BREAK" => self.leave_loop(Kind::Break),
            "CONTINUE" => self.leave_loop(Kind::Continue),
            "RETURN" => self.give_back(),
            "THROW" => self.throw(),
            "RAISERROR" => self.raise_error(),
            "PRINT" => {
                self.bump();
                Ok(Kind::Print(self.expression()?))
            }
            "EXEC" | "EXECUTE" => self.execute(),
            "COMMIT" | "ROLLBACK" | "SAVE" => self.end_transaction(),
            "WAITFOR" => {
                self.bump();
                self.expect("DELAY")?;
                Ok(Kind::Wait(self.expression()?))
            }
            "USE" => {
                self.bump();
                Ok(Kind::Use(self.name()?))
            }
            "KILL" => {
                self.bump();
                Ok(Kind::Kill(self.whole()?))
            }
            "SHUTDOWN" => {
                self.bump();
                self.accept_all(&["WITH", "NOWAIT"]);
                Ok(Kind::Shutdown)
            }
            "REVERT" => {
                self.bump();
                Ok(Kind::Revert)
            }
            "CREATE" | "ALTER" | "DROP" => self.define(),
            "GRANT" | "DENY" | "REVOKE" => self.right(),
            "INSERT" | "UPDATE" | "DELETE" => self.change_table(),
            // The name of a procedure alone, which only the first statement may be.
            _ if self.at == 0 => self.execute_unmarked(),
            _ => Err(self.unexpected()),
        }
    }

    fn declare(&mut self) -> Result<Kind, Message> {
        self.bump();
        let mut variables = Vec::new();
        loop {
            let name = self.new_variable()?;
            self.accept("AS");
            let kind = self.type_name()?;
            let value = match self.accept_symbol("=") {
                true => Some(self.expression()?),
                false => None,
            };
            variables.push((name, kind, value));
            if !self.accept_symbol(",") {
                return Ok(Kind::Declare(variables));
            }
        }
    }

    /// `SET @variable = expression`, and `+=` and its kin.
    pub(super) fn assign(&mut self) -> Result<Kind, Message> {
        let name = self.variable()?;
        let operator = match *self.peek() {
            lexer::Kind::Symbol("=") => None,
            lexer::Kind::Symbol("+=") => Some("+"),
            lexer::Kind::Symbol("-=") => Some("-"),
            lexer::Kind::Symbol("*=") => Some("*"),
            lexer::Kind::Symbol("/=") => Some("/"),
            _ => return Err(self.unexpected()),
        };
        self.bump();
        let value = self.expression()?;
        let value = match operator {
            None => value,
            Some(operator) => Expr::Binary(
                Box::new(Expr::Variable(name.clone())),
                operator,
                Box::new(value),
            ),
        };
        Ok(Kind::Set(name, value))
    }

    fn branch(&mut self) -> Result<Kind, Message> {
        self.bump();
        let line = self.line();
        let cond = self.condition()?;
        if cond.has_next_value() {
            return Err(next_value_refused().at(line));
        }
        let then = Box::new(self.statement()?);
        let otherwise = match self.accept("ELSE") {
            true => Some(Box::new(self.statement()?)),
            false => None,
        };
        Ok(Kind::If(cond, then, otherwise))
    }

    fn repeat(&mut self) -> Result<Kind, Message> {
        self.bump();
        let cond = self.plain_condition()?;
        let outside = std::mem::replace(&mut self.in_loop, true);
        let body = self.statement();
        self.in_loop = outside;
        Ok(Kind::While(cond, Box::new(body?)))
    }

    fn leave_loop(&mut self, kind: Kind) -> Result<Kind, Message> {
        if !self.in_loop {
            let (number, word) = match kind {
                Kind::Break => (135, "BREAK"),
                _ => (136, "CONTINUE"),
            };
            let text =
                format!("Cannot use a {word} statement outside the scope of a WHILE statement.");
            return Err(Message::new(number, 15, 1, text).at(self.line()));
        }
        self.bump();
        Ok(kind)
    }

    fn give_back(&mut self) -> Result<Kind, Message> {
        self.bump();
        let value = match self.peek() {
            lexer::Kind::Integer(_) | lexer::Kind::Variable(_) | lexer::Kind::Symbol("-" | "(") => {
                Some(self.expression()?)
            }
            _ => None,
        };
        Ok(Kind::Return(value))
    }
}
