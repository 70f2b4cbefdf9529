//! Expressions.

use super::{Parser, names::is_reserved};
use crate::sqlserver::sql::{
    Message,
    ast::{Expr, When},
    lexer::Kind,
    value::{Data, Type, Value},
};

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Expr, Message> {
        let mut left = self.product()?;
        for terms in 0.. {
            self.check_length(terms)?;
            let Kind::Symbol(operator @ ("+" | "-" | "&" | "|" | "^")) = *self.peek() else {
                break;
            };
            self.bump();
            let right = self.product()?;
            left = Expr::Binary(Box::new(left), operator, Box::new(right));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expr, Message> {
        let mut left = self.inside(Self::unary)?;
        for terms in 0.. {
            self.check_length(terms)?;
            let Kind::Symbol(operator @ ("*" | "/" | "%")) = *self.peek() else {
                break;
            };
            self.bump();
            let right = self.inside(Self::unary)?;
            left = Expr::Binary(Box::new(left), operator, Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Message> {
        if self.is_symbol("-") && matches!(self.peek_at(1), Kind::Integer(_) | Kind::Float(_)) {
            let at = self.at;
            if let Ok(value) = self.whole() {
                return Ok(Expr::Value(number(value)));
            }
            self.at = at;
        }
        if self.accept_symbol("-") {
            return Ok(Expr::Negative(Box::new(self.inside(Self::unary)?)));
        }
        if self.accept_symbol("~") {
            return Ok(Expr::BitNot(Box::new(self.inside(Self::unary)?)));
        }
        self.accept_symbol("+");
        let expr = self.primary()?;
        if !self.accept("COLLATE") {
            return Ok(expr);
        }
        let name = self.name()?.to_ascii_uppercase();
        let exact = ["_BIN", "_CS_"].iter().any(|part| name.contains(part));
        Ok(Expr::Collated(Box::new(expr), exact))
    }

    fn primary(&mut self) -> Result<Expr, Message> {
        match self.peek().clone() {
            Kind::Integer(value) => self.literal_of(number(value)),
            Kind::Float(value) => self.literal_of(Value::new(Type::Float, Data::Float(value))),
            Kind::Text { units, wide } => self.literal_of(text(units, wide)),
            Kind::Binary(bytes) => {
                let length = u16::try_from(bytes.len()).ok().map(|it| it.max(1));
                self.literal_of(Value::new(Type::VarBinary(length), Data::Binary(bytes)))
            }
            Kind::Variable(name) if name.starts_with("@@") => {
                self.bump();
                Ok(Expr::Global(name.to_lowercase()))
            }
            Kind::Variable(_) => Ok(Expr::Variable(self.variable()?)),
            Kind::Symbol("(") => self.parenthesized(),
            Kind::Word(word) => self.word(&word),
            Kind::Quoted(_) => self.column_or_call(),
            _ => Err(self.unexpected()),
        }
    }

    fn literal_of(&mut self, value: Value) -> Result<Expr, Message> {
        self.bump();
        Ok(Expr::Value(value))
    }

    fn parenthesized(&mut self) -> Result<Expr, Message> {
        self.expect_symbol("(")?;
        let expr = match self.is("SELECT") {
            true => Expr::Query(Box::new(self.query()?)),
            false => self.expression()?,
        };
        self.expect_symbol(")")?;
        Ok(expr)
    }

    fn word(&mut self, word: &str) -> Result<Expr, Message> {
        match word.to_ascii_uppercase().as_str() {
            "NULL" => self.literal_of(Value::null(Type::Int)),
            "CASE" => self.case(),
            "CAST" | "TRY_CAST" => self.cast(),
            "CONVERT" | "TRY_CONVERT" => self.convert(),
            "NEXT" if self.accept_all(&["NEXT", "VALUE", "FOR"]) => {
                Ok(Expr::NextValue(self.object()?))
            }
            // These need no parentheses.
            name @ ("CURRENT_USER" | "SESSION_USER" | "SYSTEM_USER" | "USER"
            | "CURRENT_TIMESTAMP") => {
                self.bump();
                Ok(Expr::Call(name.to_ascii_lowercase(), Vec::new()))
            }
            name @ ("LEFT" | "RIGHT" | "COALESCE" | "NULLIF") => {
                self.bump();
                self.call(name)
            }
            "IIF" => self.choice(),
            "COUNT" if self.count_of_all() => Ok(Expr::CountAll),
            _ if is_reserved(word) => Err(self.unexpected()),
            _ => self.column_or_call(),
        }
    }

    fn count_of_all(&mut self) -> bool {
        let found = *self.peek_at(1) == Kind::Symbol("(")
            && *self.peek_at(2) == Kind::Symbol("*")
            && *self.peek_at(3) == Kind::Symbol(")");
        if found {
            self.at += 4;
        }
        found
    }

    fn column_or_call(&mut self) -> Result<Expr, Message> {
        let name = self.object()?;
        match self.is_symbol("(") {
            true if name.parts.len() == 1 => self.call(name.last()),
            true => {
                let text = format!(
                    "Cannot find either column \"{}\" or the user-defined function or aggregate \
                     \"{}\", or the name is ambiguous.",
                    name.parts[0],
                    name.written()
                );
                Err(Message::new(4121, 16, 1, text).at(self.line()))
            }
            false => Ok(Expr::Column(name.parts)),
        }
    }

    fn call(&mut self, name: &str) -> Result<Expr, Message> {
        self.expect_symbol("(")?;
        let mut arguments = Vec::new();
        if !self.accept_symbol(")") {
            arguments.extend(self.part_of_date(name));
            arguments.push(self.expression()?);
            while self.accept_symbol(",") {
                arguments.push(self.expression()?);
            }
            self.expect_symbol(")")?;
        }
        Ok(Expr::Call(name.to_lowercase(), arguments))
    }

    /// What a part of a date is called is no column.
    fn part_of_date(&mut self, function: &str) -> Option<Expr> {
        let Kind::Word(part) = self.peek().clone() else {
            return None;
        };
        let of_dates = function.to_ascii_uppercase().starts_with("DATE");
        if !of_dates || *self.peek_at(1) != Kind::Symbol(",") {
            return None;
        }
        self.at += 2;
        Some(Expr::Value(Value::text(&part)))
    }

    fn cast(&mut self) -> Result<Expr, Message> {
        let tries = self.is("TRY_CAST");
        self.bump();
        self.expect_symbol("(")?;
        let of = Box::new(self.expression()?);
        self.expect("AS")?;
        let to = self.cast_type()?;
        self.expect_symbol(")")?;
        Ok(Expr::Convert { of, to, tries })
    }

    fn convert(&mut self) -> Result<Expr, Message> {
        let tries = self.is("TRY_CONVERT");
        self.bump();
        self.expect_symbol("(")?;
        let to = self.cast_type()?;
        self.expect_symbol(",")?;
        let of = Box::new(self.expression()?);
        // A style: the one that is written here is always 121.
        if self.accept_symbol(",") {
            self.whole()?;
        }
        self.expect_symbol(")")?;
        Ok(Expr::Convert { of, to, tries })
    }

    /// `IIF(condition, one, two)`.
    fn choice(&mut self) -> Result<Expr, Message> {
        self.bump();
        self.expect_symbol("(")?;
        let when = When::True(self.plain_condition()?);
        self.expect_symbol(",")?;
        let then = self.expression()?;
        self.expect_symbol(",")?;
        let otherwise = Some(Box::new(self.expression()?));
        self.expect_symbol(")")?;
        Ok(Expr::Case {
            of: None,
            whens: vec![(when, then)],
            otherwise,
        })
    }

    fn case(&mut self) -> Result<Expr, Message> {
        self.expect("CASE")?;
        let of = match self.is("WHEN") {
            true => None,
            false => Some(Box::new(self.expression()?)),
        };
        let mut whens = Vec::new();
        while self.accept("WHEN") {
            let when = match of {
                Some(_) => When::Equal(self.expression()?),
                None => When::True(self.condition()?),
            };
            self.expect("THEN")?;
            whens.push((when, self.expression()?));
        }
        if whens.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = match self.accept("ELSE") {
            true => Some(Box::new(self.expression()?)),
            false => None,
        };
        self.expect("END")?;
        let case = Expr::Case {
            of,
            whens,
            otherwise,
        };
        match case.has_next_value() {
            true => Err(next_value_refused().at(self.line())),
            false => Ok(case),
        }
    }
}

fn number(value: i64) -> Value {
    i32::try_from(value).map_or(Value::big(value), Value::int)
}

fn text(units: Vec<u16>, wide: bool) -> Value {
    let value = Value::units(units);
    match (value.kind, wide) {
        (Type::NVarChar(length), false) => Value {
            kind: Type::VarChar(length),
            data: value.data,
        },
        _ => value,
    }
}

/// Where a sequence may not be asked for its next value.
pub(super) fn next_value_refused() -> Message {
    Message::new(
        11720,
        15,
        1,
        "NEXT VALUE FOR function is not allowed in the TOP, OVER, OUTPUT, ON, WHERE, GROUP BY, \
         HAVING, or ORDER BY clauses.",
    )
}
