//! Functions of texts and numbers.

use super::super::arithmetic;
use crate::sqlserver::sql::{
    Message,
    value::{Data, Type, Value, folded},
};

/// The value of such a function; `None` if it is none.
pub(super) fn call(name: &str, values: &[Value]) -> Result<Option<Value>, Message> {
    if name == "concat" {
        let all = values.iter().filter_map(Value::to_units);
        return Ok(Some(Value::units(all.flatten().collect())));
    }
    Ok(Some(match (name, values) {
        ("nullif", [one, two]) => {
            let equal = arithmetic::compare(one, two)?.is_some_and(|it| it.is_eq());
            if equal {
                Value::null(one.kind)
            } else {
                one.clone()
            }
        }
        ("abs", [of]) => match of.integer()? {
            Some(value) => Value::big(value.abs()).convert(of.kind)?,
            None => Value::null(of.kind),
        },
        ("datalength", [of]) => length(of),
        ("len", [of]) => {
            let units = of.to_units();
            let blank = |unit: &u16| *unit == u16::from(b' ');
            whole(units.map(|it| it.len() - it.iter().rev().take_while(|it| blank(it)).count()))
        }
        ("charindex", [wanted, of]) => find(wanted, of, 1),
        ("charindex", [wanted, of, start]) => find(wanted, of, start.integer()?.unwrap_or(1)),
        ("left" | "right" | "substring", _) => return part(name, values),
        ("replace", [of, from, to]) => replaced(of, from, to),
        ("upper", [of]) => mapped(of, |it| it.to_uppercase()),
        ("lower", [of]) => mapped(of, |it| it.to_lowercase()),
        ("ltrim", [of]) => mapped(of, |it| it.trim_start_matches(' ').into()),
        ("rtrim", [of]) => mapped(of, |it| it.trim_end_matches(' ').into()),
        ("trim", [of]) => mapped(of, |it| it.trim_matches(' ').into()),
        ("quotename", [of]) => match of.to_text() {
            Some(name) if name.encode_utf16().count() <= 128 => {
                Value::text(&format!("[{}]", name.replace(']', "]]")))
            }
            _ => Value::null(Type::NVarChar(Some(258))),
        },
        ("replicate", [of, count]) => {
            let count = usize::try_from(count.integer()?.unwrap_or(-1)).ok();
            match (of.to_units(), count) {
                (Some(units), Some(count)) => Value::units(units.repeat(count.min(8000))),
                _ => Value::null(of.kind),
            }
        }
        ("nchar", [of]) => match of.integer()?.and_then(|it| u16::try_from(it).ok()) {
            Some(unit) => Value::units(vec![unit]),
            None => Value::null(Type::NVarChar(Some(1))),
        },
        _ => return Ok(None),
    }))
}

fn whole(value: Option<usize>) -> Value {
    let value = value.and_then(|it| i32::try_from(it).ok());
    value.map_or(Value::null(Type::Int), Value::int)
}

/// The number of bytes a value takes.
fn length(of: &Value) -> Value {
    let bytes = of.data.as_ref().map(|data| match (data, of.kind) {
        (Data::Text(units), Type::VarChar(_)) => units.len(),
        (Data::Text(units), _) => units.len() * 2,
        (Data::Binary(bytes), _) => bytes.len(),
        (_, Type::Bit | Type::TinyInt) => 1,
        (_, Type::SmallInt) => 2,
        (_, Type::Int) => 4,
        _ => 8,
    });
    whole(bytes)
}

fn find(wanted: &Value, of: &Value, start: i64) -> Value {
    let (Some(wanted), Some(of)) = (wanted.to_units(), of.to_units()) else {
        return Value::null(Type::Int);
    };
    let start = usize::try_from(start - 1).unwrap_or(0);
    let length = wanted.len();
    let fold = |units: &[u16]| folded(units);
    let found = (start..=of.len().saturating_sub(length))
        .find(|at| length > 0 && fold(&of[*at..at + length]) == fold(&wanted));
    whole(Some(found.map_or(0, |at| at + 1)))
}

/// LEFT, RIGHT and SUBSTRING.
fn part(name: &str, values: &[Value]) -> Result<Option<Value>, Message> {
    let (of, first, second) = match values {
        [of, first] if name != "substring" => (of, first.integer()?, None),
        [of, first, second] if name == "substring" => (of, first.integer()?, second.integer()?),
        _ => return Ok(None),
    };
    let (Some(units), Some(first)) = (of.to_units(), first) else {
        return Ok(Some(Value::null(of.kind)));
    };
    let negative = || {
        let text = format!("Invalid length parameter passed to the {name} function.");
        Message::new(537, 16, 2, text)
    };
    let range = match name {
        "left" => 0..usize::try_from(first).map_err(|_| negative())?,
        "right" => {
            let count = usize::try_from(first).map_err(|_| negative())?;
            units.len().saturating_sub(count)..units.len()
        }
        _ => {
            let Some(count) = second else {
                return Ok(Some(Value::null(of.kind)));
            };
            let end = (first - 1).saturating_add(count.max(0));
            if count < 0 {
                return Err(negative());
            }
            usize::try_from(first - 1).unwrap_or(0)..usize::try_from(end).unwrap_or(0)
        }
    };
    let end = range.end.min(units.len());
    let taken = units[range.start.min(end)..end].to_vec();
    Ok(Some(Value::new(
        if of.kind.is_text() {
            of.kind
        } else {
            Type::VarChar(Some(4000))
        },
        Data::Text(taken),
    )))
}

fn replaced(of: &Value, from: &Value, to: &Value) -> Value {
    let (Some(of), Some(from), Some(to)) = (of.to_units(), from.to_units(), to.to_units()) else {
        return Value::null(Type::NVarChar(Some(4000)));
    };
    let mut result = Vec::new();
    let mut at = 0;
    while at < of.len() {
        let here = of.get(at..at + from.len()).filter(|_| !from.is_empty());
        if here.is_some_and(|here| folded(here) == folded(&from)) {
            result.extend(&to);
            at += from.len();
        } else {
            result.push(of[at]);
            at += 1;
        }
    }
    Value::units(result)
}

fn mapped(of: &Value, change: impl Fn(&str) -> String) -> Value {
    match of.to_text() {
        Some(text) => Value::new(
            if of.kind.is_text() {
                of.kind
            } else {
                Type::VarChar(Some(4000))
            },
            Data::Text(change(&text).encode_utf16().collect()),
        ),
        None => Value::null(of.kind),
    }
}
