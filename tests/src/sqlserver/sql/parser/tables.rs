//! Tables: what makes them, and what changes their rows.

use super::Parser;
use crate::sqlserver::sql::{
    Message,
    ast::{ColumnDefinition, Kind, TableStatement},
    lexer,
};

impl Parser {
    pub(super) fn create_table(&mut self) -> Result<Kind, Message> {
        let name = self.object()?;
        self.expect_symbol("(")?;
        let mut columns = vec![self.column_definition()?];
        while self.accept_symbol(",") {
            columns.push(self.column_definition()?);
        }
        self.expect_symbol(")")?;
        Ok(Kind::Table(TableStatement::Create(name, columns)))
    }

    fn column_definition(&mut self) -> Result<ColumnDefinition, Message> {
        let mut column = ColumnDefinition {
            name: self.name()?,
            kind: self.type_name()?,
            nullable: true,
            key: false,
            default: None,
        };
        loop {
            if self.accept_all(&["NOT", "NULL"]) {
                column.nullable = false;
            } else if self.accept_all(&["PRIMARY", "KEY"]) {
                column.key = true;
                column.nullable = false;
                if !self.accept("CLUSTERED") {
                    self.accept("NONCLUSTERED");
                }
            } else if self.accept("DEFAULT") {
                column.default = Some(self.expression()?);
            } else if !self.accept("NULL") {
                return Ok(column);
            }
        }
    }

    pub(super) fn drop_table(&mut self) -> Result<Kind, Message> {
        let if_exists = self.if_exists()?;
        let mut names = vec![self.object()?];
        while self.accept_symbol(",") {
            names.push(self.object()?);
        }
        Ok(Kind::Table(TableStatement::Drop { names, if_exists }))
    }

    pub(super) fn change_table(&mut self) -> Result<Kind, Message> {
        if self.accept("INSERT") {
            return self.insert().map(Kind::Table);
        }
        if self.accept("UPDATE") {
            return self.update().map(Kind::Table);
        }
        self.expect("DELETE")?;
        self.accept("FROM");
        let table = self.object()?;
        self.hints()?;
        let filter = match self.accept("WHERE") {
            true => Some(self.plain_condition()?),
            false => None,
        };
        Ok(Kind::Table(TableStatement::Delete { table, filter }))
    }

    fn insert(&mut self) -> Result<TableStatement, Message> {
        self.accept("INTO");
        let table = self.object()?;
        self.hints()?;
        let mut columns = Vec::new();
        if self.accept_symbol("(") {
            columns.push(self.name()?);
            while self.accept_symbol(",") {
                columns.push(self.name()?);
            }
            self.expect_symbol(")")?;
        }
        if self.is("SELECT") {
            let query = Box::new(self.query()?);
            return Ok(TableStatement::InsertQuery {
                table,
                columns,
                query,
            });
        }
        self.expect("VALUES")?;
        let mut rows = vec![self.row()?];
        while self.accept_symbol(",") {
            rows.push(self.row()?);
        }
        Ok(TableStatement::Insert {
            table,
            columns,
            rows,
        })
    }

    fn row(&mut self) -> Result<Vec<crate::sqlserver::sql::ast::Expr>, Message> {
        self.expect_symbol("(")?;
        let mut values = vec![self.expression()?];
        while self.accept_symbol(",") {
            values.push(self.expression()?);
        }
        self.expect_symbol(")")?;
        Ok(values)
    }

    fn update(&mut self) -> Result<TableStatement, Message> {
        let table = self.object()?;
        self.hints()?;
        self.expect("SET")?;
        let mut changes = Vec::new();
        loop {
            let column = self.name()?;
            if !matches!(self.peek(), lexer::Kind::Symbol("=")) {
                return Err(self.unexpected());
            }
            self.bump();
            changes.push((column, self.expression()?));
            if !self.accept_symbol(",") {
                break;
            }
        }
        let filter = match self.accept("WHERE") {
            true => Some(self.plain_condition()?),
            false => None,
        };
        Ok(TableStatement::Update {
            table,
            changes,
            filter,
        })
    }
}
