//! What is true, false or unknown.

use super::Parser;
use crate::sqlserver::sql::{
    Message,
    ast::{Cond, Expr, When},
    lexer::Kind,
};

impl Parser {
    pub(super) fn condition(&mut self) -> Result<Cond, Message> {
        let mut left = self.conjunction()?;
        let mut terms = 0;
        while self.accept("OR") {
            terms += 1;
            self.check_length(terms)?;
            left = Cond::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Cond, Message> {
        let mut left = self.inside(Self::negation)?;
        let mut terms = 0;
        while self.accept("AND") {
            terms += 1;
            self.check_length(terms)?;
            left = Cond::And(Box::new(left), Box::new(self.inside(Self::negation)?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Cond, Message> {
        match self.accept("NOT") {
            true => Ok(Cond::Not(Box::new(self.inside(Self::negation)?))),
            false => self.predicate(),
        }
    }

    fn predicate(&mut self) -> Result<Cond, Message> {
        if self.accept("EXISTS") {
            self.expect_symbol("(")?;
            let query = Box::new(self.query()?);
            self.expect_symbol(")")?;
            return Ok(Cond::Exists(query));
        }
        // A parenthesis may be around a condition or around an expression of one.
        if self.is_symbol("(") && !self.is_at(1, "SELECT") {
            let start = self.at;
            self.bump();
            let inner = self.condition().ok();
            if let Some(inner) =
                inner.filter(|_| self.accept_symbol(")") && !self.continues_expression())
            {
                return Ok(inner);
            }
            self.at = start;
        }
        let left = self.expression()?;
        self.rest_of_predicate(left)
    }

    fn continues_expression(&self) -> bool {
        matches!(
            self.peek(),
            Kind::Symbol("=" | "<" | ">" | "<=" | ">=" | "<>" | "!=" | "+" | "-" | "*" | "/" | "%")
        ) || ["IN", "LIKE", "BETWEEN", "IS"]
            .iter()
            .any(|word| self.is(word))
    }

    fn rest_of_predicate(&mut self, left: Expr) -> Result<Cond, Message> {
        if let Kind::Symbol(operator @ ("=" | "<" | ">" | "<=" | ">=" | "<>" | "!=")) = *self.peek()
        {
            self.bump();
            let right = self.expression()?;
            return Ok(Cond::Compare(left, operator, right));
        }
        if self.accept("IS") {
            let not = self.accept("NOT");
            self.expect("NULL")?;
            return Ok(negated(not, Cond::IsNull(left)));
        }
        let not = self.accept("NOT");
        let cond = if self.accept("IN") {
            self.list(left)?
        } else if self.accept("LIKE") {
            let pattern = self.expression()?;
            let escape = match self.accept("ESCAPE") {
                true => Some(self.expression()?),
                false => None,
            };
            Cond::Like(left, pattern, escape)
        } else if self.accept("BETWEEN") {
            let low = self.expression()?;
            self.expect("AND")?;
            Cond::Between(left, low, self.expression()?)
        } else {
            return Err(self.no_condition());
        };
        Ok(negated(not, cond))
    }

    fn list(&mut self, left: Expr) -> Result<Cond, Message> {
        self.expect_symbol("(")?;
        let cond = if self.is("SELECT") {
            Cond::InQuery(left, Box::new(self.query()?))
        } else {
            let mut items = vec![self.expression()?];
            while self.accept_symbol(",") {
                items.push(self.expression()?);
            }
            Cond::In(left, items)
        };
        self.expect_symbol(")")?;
        Ok(cond)
    }

    fn no_condition(&self) -> Message {
        let Kind::Word(near) = self.peek() else {
            return self.unexpected();
        };
        let text = format!(
            "An expression of non-boolean type specified in a context where a condition is \
             expected, near '{near}'."
        );
        Message::new(4145, 15, 1, text).at(self.line())
    }
}

fn negated(not: bool, cond: Cond) -> Cond {
    if not { Cond::Not(Box::new(cond)) } else { cond }
}

impl Expr {
    /// Whether a sequence is asked somewhere inside.
    pub(super) fn has_next_value(&self) -> bool {
        match self {
            Self::NextValue(_) => true,
            Self::Negative(of)
            | Self::BitNot(of)
            | Self::Collated(of, _)
            | Self::Convert { of, .. } => of.has_next_value(),
            Self::Binary(left, _, right) => left.has_next_value() || right.has_next_value(),
            Self::Call(_, arguments) => arguments.iter().any(Self::has_next_value),
            Self::Case {
                of,
                whens,
                otherwise,
            } => {
                let inside = whens.iter().any(|(when, then)| {
                    then.has_next_value()
                        || match when {
                            When::Equal(expr) => expr.has_next_value(),
                            When::True(cond) => cond.has_next_value(),
                        }
                });
                inside
                    || [of, otherwise]
                        .into_iter()
                        .flatten()
                        .any(|expr| expr.has_next_value())
            }
            _ => false,
        }
    }
}

impl Cond {
    /// Whether a sequence is asked somewhere inside.
    pub(super) fn has_next_value(&self) -> bool {
        match self {
            Self::And(left, right) | Self::Or(left, right) => {
                left.has_next_value() || right.has_next_value()
            }
            Self::Not(of) => of.has_next_value(),
            Self::Compare(left, _, right) => left.has_next_value() || right.has_next_value(),
            Self::IsNull(of) | Self::InQuery(of, _) => of.has_next_value(),
            Self::In(of, items) => of.has_next_value() || items.iter().any(Expr::has_next_value),
            Self::Like(of, pattern, _) => of.has_next_value() || pattern.has_next_value(),
            Self::Between(of, low, high) => [of, low, high].into_iter().any(Expr::has_next_value),
            Self::Exists(_) => false,
        }
    }
}
