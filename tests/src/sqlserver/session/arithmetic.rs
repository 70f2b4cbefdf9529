//! Operators.

use crate::sqlserver::sql::{
    Message, overflow,
    value::{Data, Type, Value, folded},
};
use std::cmp::Ordering;

/// The value of two others with an operator between them.
pub(super) fn binary(left: &Value, operator: &str, right: &Value) -> Result<Value, Message> {
    let kind = left.kind.with(right.kind);
    if kind.is_text() && operator == "+" {
        return Ok(concatenated(left, right));
    }
    if kind.is_text() || kind.is_time() {
        let (kind, name) = (kind.name(), operator_name(operator));
        let text = format!(
            "The data types {} and {kind} are incompatible in the {name} operator.",
            left.kind.name()
        );
        return Err(Message::new(402, 16, 1, text));
    }
    if left.is_null() || right.is_null() {
        return Ok(Value::null(kind));
    }
    let (left, right) = (left.convert(kind)?, right.convert(kind)?);
    match (left.data, right.data) {
        (Some(Data::Integer(left)), Some(Data::Integer(right))) => {
            integers(left, operator, right, kind)
        }
        (Some(Data::Float(left)), Some(Data::Float(right))) => floats(left, operator, right),
        (Some(Data::Binary(left)), Some(Data::Binary(right))) if operator == "+" => Ok(Value::new(
            Type::VarBinary(None),
            Data::Binary([left, right].concat()),
        )),
        _ => Ok(Value::null(kind)),
    }
}

fn operator_name(operator: &str) -> &'static str {
    match operator {
        "+" => "add",
        "-" => "subtract",
        "*" => "multiply",
        "/" => "divide",
        "%" => "modulo",
        _ => "bitwise",
    }
}

fn concatenated(left: &Value, right: &Value) -> Value {
    let kind = left.kind.with(right.kind);
    let length = |value: &Value| match value.kind {
        Type::VarChar(length) | Type::NVarChar(length) => length,
        _ => Some(30),
    };
    let length = length(left).zip(length(right));
    let length = length.map(|(one, two)| one.saturating_add(two).min(4000));
    let kind = match kind {
        Type::VarChar(_) => Type::VarChar(length),
        _ => Type::NVarChar(length),
    };
    match (left.to_units(), right.to_units()) {
        (Some(left), Some(right)) => Value::new(kind, Data::Text([left, right].concat())),
        _ => Value::null(kind),
    }
}

fn integers(left: i64, operator: &str, right: i64, kind: Type) -> Result<Value, Message> {
    let value = match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" | "%" if right == 0 => {
            return Err(Message::new(
                8134,
                16,
                1,
                "Divide by zero error encountered.",
            ));
        }
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        "&" => Some(left & right),
        "|" => Some(left | right),
        _ => Some(left ^ right),
    };
    let value = value.ok_or_else(|| overflow(kind))?;
    let kind = if kind == Type::Bit { Type::Int } else { kind };
    Value::big(value).convert(kind)
}

fn floats(left: f64, operator: &str, right: f64) -> Result<Value, Message> {
    let value = match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" if right == 0.0 => {
            return Err(Message::new(
                8134,
                16,
                1,
                "Divide by zero error encountered.",
            ));
        }
        "/" => left / right,
        _ => left % right,
    };
    Ok(Value::new(Type::Float, Data::Float(value)))
}

/// How two values compare; `None` if one is NULL.
pub(super) fn compare(left: &Value, right: &Value) -> Result<Option<Ordering>, Message> {
    if left.is_null() || right.is_null() {
        return Ok(None);
    }
    let kind = left.kind.with(right.kind);
    let kind = match kind {
        Type::VarChar(_) | Type::NVarChar(_) => Type::NVarChar(None),
        Type::VarBinary(_) => Type::VarBinary(None),
        kind => kind,
    };
    let (left, right) = (left.convert(kind)?.data, right.convert(kind)?.data);
    Ok(match (left, right) {
        (Some(Data::Text(left)), Some(Data::Text(right))) => {
            Some(folded(&left).cmp(&folded(&right)))
        }
        (Some(Data::Integer(left)), Some(Data::Integer(right))) => Some(left.cmp(&right)),
        (Some(Data::Time(left)), Some(Data::Time(right))) => Some(left.cmp(&right)),
        (Some(Data::Binary(left)), Some(Data::Binary(right))) => Some(left.cmp(&right)),
        (Some(Data::Float(left)), Some(Data::Float(right))) => left.partial_cmp(&right),
        _ => None,
    })
}

/// Which of two values an aggregate keeps, or what it makes of both.
pub(super) fn chosen(aggregate: &str, one: Value, two: Value) -> Result<Value, Message> {
    if aggregate == "sum" {
        return binary(&one, "+", &two);
    }
    let greater = compare(&one, &two)? == Some(Ordering::Greater);
    Ok(if greater == (aggregate == "max") {
        one
    } else {
        two
    })
}
