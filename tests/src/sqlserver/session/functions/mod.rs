//! Functions, and `@@` values.

mod applock;
mod rights;
mod system;
mod text;

use super::{Session, sources::Row};
use crate::sqlserver::sql::{
    Message,
    ast::Expr,
    time,
    value::{Data, Type, Value},
};

impl Session {
    pub(super) fn call(
        &self,
        name: &str,
        arguments: &[Expr],
        row: Option<&Row<'_>>,
    ) -> Result<Value, Message> {
        if let ("count" | "min" | "max" | "sum", [of]) = (name, arguments) {
            return self.aggregate(name, of, row);
        }
        if let "coalesce" | "isnull" = name {
            return self.first_present(name, arguments, row);
        }
        let values = arguments.iter().map(|it| self.eval(it, row));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        if let Some(value) = text::call(name, &values)? {
            return Ok(value);
        }
        if let Some(value) = self.applock_function(name, &values)? {
            return Ok(value);
        }
        if let Some(value) = self.system_function(name, &values)? {
            return Ok(value);
        }
        if let Some(value) = self.rights_function(name, &values)? {
            return Ok(value);
        }
        time_function(name, &values)?.ok_or_else(|| {
            let text = format!("'{name}' is not a recognized built-in function name.");
            Message::new(195, 15, 10, text)
        })
    }

    /// The first of some values that is not NULL, with the type of the first or of all.
    fn first_present(
        &self,
        name: &str,
        arguments: &[Expr],
        row: Option<&Row<'_>>,
    ) -> Result<Value, Message> {
        let Some(first) = arguments.first() else {
            return Err(wrong_count(name, 2));
        };
        if name == "isnull" && arguments.len() != 2 {
            return Err(wrong_count(name, 2));
        }
        let mut value = self.eval(first, row)?;
        let mut kind = value.kind;
        for argument in &arguments[1..] {
            if !value.is_null() {
                break;
            }
            value = self.eval(argument, row)?;
            kind = if name == "isnull" {
                kind
            } else {
                kind.with(value.kind)
            };
        }
        // A NULL without a type takes that of its replacement.
        let untyped = matches!(first, Expr::Value(value) if value.is_null());
        value.convert(if untyped { value.kind } else { kind })
    }
}

fn time_function(name: &str, values: &[Value]) -> Result<Option<Value>, Message> {
    let now = |kind| Value::new(kind, Data::Time(time::now()));
    Ok(Some(match (name, values) {
        ("sysutcdatetime" | "sysdatetime", []) => now(Type::DateTime2),
        ("getdate" | "getutcdate" | "current_timestamp", []) => now(Type::DateTime),
        ("datediff" | "datediff_big", [part, from, to]) => {
            let (from, to) = (from.convert(Type::DateTime2)?, to.convert(Type::DateTime2)?);
            let kind = if name == "datediff" {
                Type::Int
            } else {
                Type::BigInt
            };
            let (Some(Data::Time(from)), Some(Data::Time(to))) = (from.data, to.data) else {
                return Ok(Some(Value::null(kind)));
            };
            let part = part.to_text().unwrap_or_default();
            let count = time::difference(&part, from, to).ok_or_else(|| no_part(&part, name))?;
            let overflowed = |_| {
                let text = "The datediff function resulted in an overflow. The number of dateparts \
                            separating two date/time instances is too large. Try to use datediff \
                            with a less precise datepart.";
                Message::new(535, 16, 0, text)
            };
            Value::big(count).convert(kind).map_err(overflowed)?
        }
        ("dateadd", [part, count, moment]) => {
            let part = part.to_text().unwrap_or_default();
            let kind = if moment.kind.is_time() {
                moment.kind
            } else {
                Type::DateTime
            };
            let moment = moment.convert(kind)?;
            let (Some(count), Some(Data::Time(ticks))) = (count.integer()?, moment.data) else {
                return Ok(Some(Value::null(kind)));
            };
            let added = time::parts(&part, count).ok_or_else(|| no_part(&part, name))?;
            Value::new(kind, Data::Time(ticks + added))
        }
        _ => return Ok(None),
    }))
}

fn no_part(part: &str, function: &str) -> Message {
    let text = format!("'{part}' is not a recognized {function} option.");
    Message::new(155, 15, 1, text)
}

fn wrong_count(function: &str, count: usize) -> Message {
    let text = format!("The {function} function requires {count} argument(s).");
    Message::new(174, 15, 1, text)
}
