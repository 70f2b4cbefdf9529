//! Blocks, transactions, and what goes wrong on purpose.

use super::Parser;
use crate::sqlserver::sql::{
    Message,
    ast::{Kind, Statement},
    lexer,
};

impl Parser {
    pub(super) fn begin(&mut self) -> Result<Kind, Message> {
        self.bump();
        if self.accept("TRAN") || self.accept("TRANSACTION") {
            self.transaction_name();
            return Ok(Kind::BeginTransaction);
        }
        if self.accept("TRY") {
            let body = self.statements_until_end()?;
            self.expect("TRY")?;
            self.accept_symbol(";");
            self.expect("BEGIN")?;
            self.expect("CATCH")?;
            let outside = std::mem::replace(&mut self.in_catch, true);
            let handler = self.statements_until_end();
            self.in_catch = outside;
            let handler = handler?;
            self.expect("CATCH")?;
            return Ok(Kind::Try(body, handler));
        }
        let body = self.statements_until_end()?;
        match body.is_empty() {
            true => Err(Message::keyword("end").at(self.line())),
            false => Ok(Kind::Block(body)),
        }
    }

    fn statements_until_end(&mut self) -> Result<Vec<Statement>, Message> {
        let mut statements = Vec::new();
        loop {
            self.skip_semicolons();
            if self.accept("END") {
                return Ok(statements);
            }
            statements.push(self.statement()?);
        }
    }

    fn transaction_name(&mut self) -> Option<String> {
        if let lexer::Kind::Variable(_) = self.peek() {
            return self.variable().ok();
        }
        // What begins another statement is no name, though it is not reserved.
        if self.is("THROW") {
            return None;
        }
        self.accept_name()
    }

    pub(super) fn end_transaction(&mut self) -> Result<Kind, Message> {
        if self.accept("COMMIT") {
            if self.accept("TRAN") || self.accept("TRANSACTION") {
                self.transaction_name();
            } else {
                self.accept("WORK");
            }
            return Ok(Kind::Commit);
        }
        if self.accept("SAVE") {
            if !self.accept("TRAN") {
                self.expect("TRANSACTION")?;
            }
            let name = self.transaction_name();
            return name.map(Kind::Save).ok_or_else(|| self.unexpected());
        }
        self.expect("ROLLBACK")?;
        if self.accept("TRAN") || self.accept("TRANSACTION") {
            return Ok(Kind::Rollback(self.transaction_name()));
        }
        self.accept("WORK");
        Ok(Kind::Rollback(None))
    }

    pub(super) fn throw(&mut self) -> Result<Kind, Message> {
        let line = self.line();
        self.bump();
        let starts = matches!(
            self.peek(),
            lexer::Kind::Integer(_) | lexer::Kind::Variable(_)
        );
        if !starts {
            if !self.in_catch {
                let text = "To rethrow an error, a THROW statement must be used inside a CATCH \
                            block. Insert the THROW statement inside a CATCH block, or add error \
                            parameters to the THROW statement.";
                return Err(Message::new(10704, 15, 1, text).at(line));
            }
            return Ok(Kind::Throw(None));
        }
        let number = self.expression()?;
        self.expect_symbol(",")?;
        let text = self.expression()?;
        self.expect_symbol(",")?;
        let state = self.expression()?;
        Ok(Kind::Throw(Some([number, text, state])))
    }

    pub(super) fn raise_error(&mut self) -> Result<Kind, Message> {
        self.bump();
        self.expect_symbol("(")?;
        let text = self.expression()?;
        self.expect_symbol(",")?;
        let class = self.expression()?;
        self.expect_symbol(",")?;
        let state = self.expression()?;
        let mut arguments = Vec::new();
        while self.accept_symbol(",") {
            arguments.push(self.expression()?);
        }
        self.expect_symbol(")")?;
        if self.accept("WITH") {
            self.name()?;
            while self.accept_symbol(",") {
                self.name()?;
            }
        }
        Ok(Kind::RaiseError(text, class, state, arguments))
    }
}
