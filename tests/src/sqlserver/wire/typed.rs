//! The values a client sends with a call, each after its type.

use super::{Cursor, Malformed, cursor::units};
use crate::sqlserver::sql::{
    time::{DAY, SECOND},
    value::{Data, Type, Value},
};

/// A length that means NULL, or a type without a limit.
const NONE: u16 = 0xffff;

/// Reads a type and a value of it.
pub(crate) fn read(from: &mut Cursor<'_>) -> Result<Value, Malformed> {
    let kind = from.u8()?;
    match kind {
        0x1f => Ok(Value::null(Type::Int)),
        0x30 => integer(from, 1),
        0x32 => bit(from, 1),
        0x34 => integer(from, 2),
        0x38 => integer(from, 4),
        0x7f => integer(from, 8),
        0x26 | 0x68 | 0x6d | 0x6f => by_length(from, kind),
        0x2a => date_time_2(from),
        0xe7 | 0xef => {
            let (limit, _) = (from.u16()?, from.take(5)?);
            let bytes = bytes(from, limit)?;
            let kind = Type::NVarChar((limit != NONE).then_some(limit / 2));
            Ok(bytes.map_or(Value::null(kind), |it| {
                Value::new(kind, Data::Text(units(&it)))
            }))
        }
        0xa7 | 0xaf => {
            let (limit, _) = (from.u16()?, from.take(5)?);
            let bytes = bytes(from, limit)?;
            let kind = Type::VarChar((limit != NONE).then_some(limit));
            let wide = |it: Vec<u8>| it.into_iter().map(u16::from).collect();
            Ok(bytes.map_or(Value::null(kind), |it| {
                Value::new(kind, Data::Text(wide(it)))
            }))
        }
        0xa5 | 0xad => {
            let limit = from.u16()?;
            let bytes = bytes(from, limit)?;
            let kind = Type::VarBinary((limit != NONE).then_some(limit));
            Ok(bytes.map_or(Value::null(kind), |it| Value::new(kind, Data::Binary(it))))
        }
        _ => Err(Malformed),
    }
}

/// A type whose value says its length in a byte: none is NULL.
fn by_length(from: &mut Cursor<'_>, kind: u8) -> Result<Value, Malformed> {
    let (size, length) = (from.u8()?, from.u8()?);
    if length == 0 {
        return Ok(Value::null(match (kind, size) {
            (0x68, _) => Type::Bit,
            (0x6d, _) => Type::Float,
            (0x6f, _) => Type::DateTime,
            (_, 1) => Type::TinyInt,
            (_, 2) => Type::SmallInt,
            (_, 8) => Type::BigInt,
            _ => Type::Int,
        }));
    }
    match kind {
        0x68 => bit(from, length),
        0x26 => integer(from, length),
        0x6d if length == 8 => Ok(Value::new(
            Type::Float,
            Data::Float(f64::from_bits(from.u64()?)),
        )),
        0x6d if length == 4 => {
            let value = f32::from_bits(from.u32()?);
            Ok(Value::new(Type::Float, Data::Float(value.into())))
        }
        0x6f if length == 8 => date_time(from),
        _ => Err(Malformed),
    }
}

fn bit(from: &mut Cursor<'_>, length: u8) -> Result<Value, Malformed> {
    match length {
        1 => Ok(Value::bit(from.u8()? != 0)),
        _ => Err(Malformed),
    }
}

fn integer(from: &mut Cursor<'_>, length: u8) -> Result<Value, Malformed> {
    let (kind, value) = match length {
        1 => (Type::TinyInt, i64::from(from.u8()?)),
        2 => (Type::SmallInt, i64::from(from.u16()?.cast_signed())),
        4 => (Type::Int, i64::from(from.u32()?.cast_signed())),
        8 => (Type::BigInt, from.u64()?.cast_signed()),
        _ => return Err(Malformed),
    };
    Ok(Value::new(kind, Data::Integer(value)))
}

/// Days since 1900 and three hundredths of a second.
fn date_time(from: &mut Cursor<'_>) -> Result<Value, Malformed> {
    let (days, parts) = (from.u32()?.cast_signed(), from.u32()?);
    let ticks = (i64::from(days) + 693_595) * DAY + i64::from(parts) * SECOND / 300;
    Ok(Value::new(Type::DateTime, Data::Time(ticks)))
}

/// A scale, a number of such parts of a second in as many bytes as they take, and days.
fn date_time_2(from: &mut Cursor<'_>) -> Result<Value, Malformed> {
    let (scale, length) = (from.u8()?, from.u8()?);
    if length == 0 {
        return Ok(Value::null(Type::DateTime2));
    }
    let clock = usize::from(length).checked_sub(3).filter(|it| *it <= 5);
    let clock = little(from.take(clock.ok_or(Malformed)?)?);
    let days = little(from.take(3)?);
    let unit = 10_i64.pow(7_u8.saturating_sub(scale).into());
    Ok(Value::new(
        Type::DateTime2,
        Data::Time(days * DAY + clock * unit),
    ))
}

fn little(bytes: &[u8]) -> i64 {
    bytes
        .iter()
        .rev()
        .fold(0, |sum, byte| (sum << 8) | i64::from(*byte))
}

/// The bytes of a value whose type has a limit, or none: then they come in pieces.
fn bytes(from: &mut Cursor<'_>, limit: u16) -> Result<Option<Vec<u8>>, Malformed> {
    if limit != NONE {
        let length = from.u16()?;
        let bytes = (length != NONE).then(|| from.take(length.into()));
        return Ok(bytes.transpose()?.map(Into::into));
    }
    if from.u64()? == u64::MAX {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    loop {
        // A client may leave out the end where nothing follows an empty piece.
        let length = if from.is_empty() { 0 } else { from.u32()? };
        if length == 0 {
            return Ok(Some(bytes));
        }
        bytes.extend(from.take(length as usize)?);
    }
}
