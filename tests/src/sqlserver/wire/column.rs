//! The values the server sends, each of a type that may be NULL.

use crate::sqlserver::sql::{
    time::{DAY, SECOND},
    value::{Data, Type, Value},
};

/// `SQL_Latin1_General_CP1_CI_AS`.
pub(crate) const COLLATION: [u8; 5] = [0x09, 0x04, 0xd0, 0x00, 0x34];

/// A type as a column or a returned value has it.
pub(crate) fn put_type(out: &mut Vec<u8>, kind: Type) {
    match kind {
        Type::Bit => out.extend([0x68, 1]),
        Type::TinyInt => out.extend([0x26, 1]),
        Type::SmallInt => out.extend([0x26, 2]),
        Type::Int => out.extend([0x26, 4]),
        Type::BigInt => out.extend([0x26, 8]),
        Type::Float => out.extend([0x6d, 8]),
        Type::DateTime => out.extend([0x6f, 8]),
        Type::DateTime2 => out.extend([0x2a, 7]),
        Type::VarChar(length) => put_sized(out, 0xa7, length, true),
        Type::NVarChar(length) => put_sized(out, 0xe7, length.map(|it| it * 2), true),
        Type::VarBinary(length) => put_sized(out, 0xa5, length, false),
    }
}

fn put_sized(out: &mut Vec<u8>, kind: u8, bytes: Option<u16>, collated: bool) {
    out.push(kind);
    out.extend(bytes.unwrap_or(0xffff).to_le_bytes());
    if collated {
        out.extend(COLLATION);
    }
}

/// A value of such a type; one that does not go into it is NULL.
pub(crate) fn put_value(out: &mut Vec<u8>, kind: Type, value: &Value) {
    let converted = value.convert(kind).ok().and_then(|value| value.data);
    match (kind, converted) {
        (Type::VarChar(length), data) => {
            let bytes = data.map(|data| match data {
                Data::Text(units) => units.into_iter().map(|unit| unit as u8).collect(),
                _ => Vec::new(),
            });
            put_bytes(out, length, bytes);
        }
        (Type::NVarChar(length), data) => {
            let bytes = data.map(|data| match data {
                Data::Text(units) => units.into_iter().flat_map(u16::to_le_bytes).collect(),
                _ => Vec::new(),
            });
            put_bytes(out, length, bytes);
        }
        (Type::VarBinary(length), data) => {
            let bytes = data.map(|data| match data {
                Data::Binary(bytes) => bytes,
                _ => Vec::new(),
            });
            put_bytes(out, length, bytes);
        }
        (_, None) => out.push(0),
        (kind, Some(data)) => put_fixed(out, kind, &data),
    }
}

fn put_fixed(out: &mut Vec<u8>, kind: Type, data: &Data) {
    match *data {
        Data::Integer(value) => {
            let size = match kind {
                Type::Bit | Type::TinyInt => 1,
                Type::SmallInt => 2,
                Type::BigInt => 8,
                _ => 4,
            };
            out.push(size);
            out.extend(&value.to_le_bytes()[..size.into()]);
        }
        Data::Float(value) => {
            out.push(8);
            out.extend(value.to_le_bytes());
        }
        Data::Time(ticks) if kind == Type::DateTime => {
            let days = (ticks.div_euclid(DAY) - 693_595) as i32;
            let parts = (ticks.rem_euclid(DAY) * 300 / SECOND) as u32;
            out.push(8);
            out.extend(days.to_le_bytes());
            out.extend(parts.to_le_bytes());
        }
        Data::Time(ticks) => {
            out.push(8);
            out.extend(&ticks.rem_euclid(DAY).to_le_bytes()[..5]);
            out.extend(&ticks.div_euclid(DAY).to_le_bytes()[..3]);
        }
        Data::Text(_) | Data::Binary(_) => out.push(0),
    }
}

fn put_bytes(out: &mut Vec<u8>, limit: Option<u16>, bytes: Option<Vec<u8>>) {
    match (limit, bytes) {
        (Some(_), None) => out.extend(0xffff_u16.to_le_bytes()),
        (Some(_), Some(bytes)) => {
            out.extend((bytes.len() as u16).to_le_bytes());
            out.extend(bytes);
        }
        (None, None) => out.extend(u64::MAX.to_le_bytes()),
        (None, Some(bytes)) => {
            out.extend((bytes.len() as u64).to_le_bytes());
            if !bytes.is_empty() {
                out.extend((bytes.len() as u32).to_le_bytes());
                out.extend(bytes);
            }
            out.extend(0_u32.to_le_bytes());
        }
    }
}
