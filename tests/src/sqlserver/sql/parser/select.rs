//! Queries.

use super::{Parser, expressions::next_value_refused, names::is_reserved};
use crate::sqlserver::sql::{
    Message,
    ast::{Cond, Expr, Item, Select, Source},
    lexer::Kind,
};

impl Parser {
    pub(super) fn query(&mut self) -> Result<Select, Message> {
        self.expect("SELECT")?;
        let mut select = Select {
            distinct: self.accept("DISTINCT"),
            top: self.top()?,
            ..Select::default()
        };
        self.accept("ALL");
        select.items.push(self.item()?);
        while self.accept_symbol(",") {
            select.items.push(self.item()?);
        }
        if self.accept("FROM") {
            self.sources(&mut select)?;
        }
        if self.accept("WHERE") {
            select.filter = Some(self.plain_condition()?);
        }
        if self.accept_all(&["GROUP", "BY"]) {
            select.groups.push(self.expression()?);
            while self.accept_symbol(",") {
                select.groups.push(self.expression()?);
            }
        }
        if self.accept_all(&["ORDER", "BY"]) {
            select.order.push(self.order()?);
            while self.accept_symbol(",") {
                select.order.push(self.order()?);
            }
        }
        self.query_options()?;
        Ok(select)
    }

    fn top(&mut self) -> Result<Option<Expr>, Message> {
        if !self.accept("TOP") {
            return Ok(None);
        }
        if self.accept_symbol("(") {
            let count = self.expression()?;
            self.expect_symbol(")")?;
            return Ok(Some(count));
        }
        let count = self.whole()?;
        Ok(Some(Expr::Value(crate::sqlserver::sql::value::Value::big(
            count,
        ))))
    }

    /// A condition in which no sequence is asked.
    pub(super) fn plain_condition(&mut self) -> Result<Cond, Message> {
        let line = self.line();
        let cond = self.condition()?;
        match cond.has_next_value() {
            true => Err(next_value_refused().at(line)),
            false => Ok(cond),
        }
    }

    fn item(&mut self) -> Result<Item, Message> {
        if self.accept_symbol("*") {
            return Ok(Item::All(None));
        }
        let start = self.at;
        if let Some(source) = self.accept_name() {
            if self.accept_symbol(".") && self.accept_symbol("*") {
                return Ok(Item::All(Some(source)));
            }
            self.at = start;
        }
        if matches!(self.peek(), Kind::Variable(name) if !name.starts_with("@@"))
            && *self.peek_at(1) == Kind::Symbol("=")
        {
            let name = self.variable()?;
            self.expect_symbol("=")?;
            return Ok(Item::Assign(name, self.expression()?));
        }
        // `alias = expression`
        if matches!(self.peek(), Kind::Word(word) if !is_reserved(word))
            && *self.peek_at(1) == Kind::Symbol("=")
        {
            let alias = self.name()?;
            self.expect_symbol("=")?;
            return Ok(Item::Expr(self.expression()?, Some(alias)));
        }
        let expr = self.expression()?;
        let alias = self.alias()?;
        Ok(Item::Expr(expr, alias))
    }

    fn alias(&mut self) -> Result<Option<String>, Message> {
        let explicit = self.accept("AS");
        if let Kind::Text { units, .. } = self.peek() {
            let alias = String::from_utf16_lossy(units);
            self.bump();
            return Ok(Some(alias));
        }
        match explicit {
            true => self.name().map(Some),
            // THROW begins a statement where an alias could be, and must follow a semicolon.
            false => Ok(self.accept_name()),
        }
    }

    fn sources(&mut self, select: &mut Select) -> Result<(), Message> {
        select.from.push(self.source()?);
        loop {
            if self.accept_symbol(",") || self.accept_all(&["CROSS", "JOIN"]) {
                select.from.push(self.source()?);
                continue;
            }
            let outer =
                self.accept_all(&["LEFT", "OUTER", "JOIN"]) || self.accept_all(&["LEFT", "JOIN"]);
            if !outer && !self.accept_all(&["INNER", "JOIN"]) && !self.accept("JOIN") {
                return Ok(());
            }
            let mut source = self.source()?;
            self.expect("ON")?;
            source.on = Some(self.plain_condition()?);
            source.outer = outer;
            select.from.push(source);
        }
    }

    fn source(&mut self) -> Result<Source, Message> {
        let name = self.object()?;
        let alias = match self.accept("AS") {
            true => Some(self.name()?),
            false => self.accept_name(),
        };
        self.hints()?;
        Ok(Source {
            name,
            alias,
            on: None,
            outer: false,
        })
    }

    /// `WITH (NOLOCK)` and its kin: nothing is locked here by reading.
    pub(super) fn hints(&mut self) -> Result<(), Message> {
        if !(self.is("WITH") && *self.peek_at(1) == Kind::Symbol("(")) {
            return Ok(());
        }
        self.at += 2;
        self.name()?;
        while self.accept_symbol(",") {
            self.name()?;
        }
        self.expect_symbol(")")
    }

    /// `OPTION (…)`: advice for a planner.
    fn query_options(&mut self) -> Result<(), Message> {
        if !self.accept("OPTION") {
            return Ok(());
        }
        self.expect_symbol("(")?;
        while !self.accept_symbol(")") {
            if *self.peek() == Kind::End {
                return Err(self.unexpected());
            }
            self.bump();
        }
        Ok(())
    }

    fn order(&mut self) -> Result<(Expr, bool), Message> {
        let expr = self.expression()?;
        let down = self.accept("DESC");
        if !down {
            self.accept("ASC");
        }
        Ok((expr, down))
    }
}
