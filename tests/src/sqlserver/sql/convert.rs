//! Values of one type as values of another.

use super::{
    Message,
    value::{Data, Type, Value},
};
use crate::sqlserver::sql::time;

impl Value {
    /// This value as a `kind`; an error where SQL Server has one.
    pub(crate) fn convert(&self, kind: Type) -> Result<Self, Message> {
        let Some(data) = &self.data else {
            return Ok(Self::null(kind));
        };
        let data = match kind {
            Type::Bit => Data::Integer((self.number(data, kind)? != 0).into()),
            Type::TinyInt | Type::SmallInt | Type::Int | Type::BigInt => {
                Data::Integer(in_range(self.number(data, kind)?, data, kind)?)
            }
            Type::Float => Data::Float(self.float(data)?),
            Type::VarChar(length) => Data::Text(cut(narrow(&self.written(data)), length)),
            Type::NVarChar(length) => Data::Text(cut(self.written(data), length)),
            Type::VarBinary(length) => Data::Binary(cut(self.bytes(data)?, length)),
            Type::DateTime | Type::DateTime2 => Data::Time(self.moment(data, kind)?),
        };
        Ok(Self::new(kind, data))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float is cut as SQL Server cuts it"
    )]
    fn number(&self, data: &Data, kind: Type) -> Result<i64, Message> {
        match data {
            Data::Integer(value) => Ok(*value),
            Data::Float(value) => Ok(*value as i64),
            Data::Text(units) => {
                let text = String::from_utf16_lossy(units);
                parse(&text, kind).ok_or_else(|| self.refused(&text, kind))
            }
            Data::Binary(bytes) => Ok(bytes
                .iter()
                .fold(0, |sum, byte| (sum << 8) | i64::from(*byte))),
            Data::Time(_) => Err(not_allowed(self.kind, kind)),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "so it is in SQL Server")]
    fn float(&self, data: &Data) -> Result<f64, Message> {
        match data {
            Data::Float(value) => Ok(*value),
            Data::Text(units) => String::from_utf16_lossy(units)
                .trim()
                .parse()
                .map_err(|_| Message::new(8114, 16, 5, text_8114(self.kind, Type::Float))),
            _ => Ok(self.number(data, Type::BigInt)? as f64),
        }
    }

    fn written(&self, data: &Data) -> Vec<u16> {
        let text = match data {
            Data::Text(units) => return units.clone(),
            Data::Integer(value) => value.to_string(),
            Data::Float(value) => value.to_string(),
            Data::Binary(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Data::Time(ticks) => time::written(*ticks, self.kind),
        };
        text.encode_utf16().collect()
    }

    fn bytes(&self, data: &Data) -> Result<Vec<u8>, Message> {
        match data {
            Data::Binary(bytes) => Ok(bytes.clone()),
            Data::Integer(value) if self.kind == Type::BigInt => Ok(value.to_be_bytes().into()),
            Data::Integer(value) => Ok(value.to_be_bytes()[4..].into()),
            Data::Text(units) if matches!(self.kind, Type::VarChar(_)) => {
                Ok(String::from_utf16_lossy(units).into_bytes())
            }
            Data::Text(units) => Ok(units.iter().flat_map(|unit| unit.to_le_bytes()).collect()),
            _ => Err(not_allowed(self.kind, Type::VarBinary(None))),
        }
    }

    fn moment(&self, data: &Data, kind: Type) -> Result<i64, Message> {
        match data {
            Data::Time(ticks) => Ok(*ticks),
            Data::Text(units) => time::parse(&String::from_utf16_lossy(units)).ok_or_else(|| {
                Message::new(
                    241,
                    16,
                    1,
                    "Conversion failed when converting date and/or time from character string.",
                )
            }),
            _ => Err(not_allowed(self.kind, kind)),
        }
    }

    fn refused(&self, text: &str, kind: Type) -> Message {
        let from = self.kind.name();
        match kind {
            Type::BigInt => Message::new(8114, 16, 5, text_8114(self.kind, kind)),
            _ => Message::new(
                245,
                16,
                1,
                format!(
                    "Conversion failed when converting the {from} value '{text}' to data type {}.",
                    kind.name()
                ),
            ),
        }
    }
}

fn text_8114(from: Type, to: Type) -> String {
    format!(
        "Error converting data type {} to {}.",
        from.name(),
        to.name()
    )
}

fn not_allowed(from: Type, to: Type) -> Message {
    let (from, to) = (from.name(), to.name());
    Message::new(
        529,
        16,
        2,
        format!("Explicit conversion from data type {from} to {to} is not allowed."),
    )
}

fn parse(text: &str, kind: Type) -> Option<i64> {
    match text.trim() {
        "" => Some(0),
        word if kind == Type::Bit && word.eq_ignore_ascii_case("true") => Some(1),
        word if kind == Type::Bit && word.eq_ignore_ascii_case("false") => Some(0),
        word => word.parse().ok(),
    }
}

fn in_range(value: i64, from: &Data, kind: Type) -> Result<i64, Message> {
    let fits = match kind {
        Type::TinyInt => u8::try_from(value).is_ok(),
        Type::SmallInt => i16::try_from(value).is_ok(),
        Type::Int => i32::try_from(value).is_ok(),
        _ => true,
    };
    match (fits, from) {
        (true, _) => Ok(value),
        (false, Data::Text(units)) => Err(Message::new(
            248,
            16,
            1,
            format!(
                "The conversion of the nvarchar value '{}' overflowed an int column.",
                String::from_utf16_lossy(units)
            ),
        )),
        (false, _) => Err(overflow(kind)),
    }
}

/// A number too great for its type.
pub(crate) fn overflow(kind: Type) -> Message {
    Message::new(
        8115,
        16,
        2,
        format!(
            "Arithmetic overflow error converting expression to data type {}.",
            kind.name()
        ),
    )
}

fn cut<T>(mut items: Vec<T>, length: Option<u16>) -> Vec<T> {
    if let Some(length) = length {
        items.truncate(length.into());
    }
    items
}

/// A text as varchar has it, where what is not in the code page becomes a question mark.
pub(crate) fn narrow(units: &[u16]) -> Vec<u16> {
    let question = u16::from(b'?');
    let known = |unit: u16| unit < 0x80 || (0xa0..0x100).contains(&unit);
    char::decode_utf16(units.iter().copied())
        .flat_map(|decoded| match decoded {
            Ok(char) if known(char as u32 as u16) && (char as u32) < 0x100 => {
                vec![char as u32 as u16]
            }
            Ok(char) => vec![question; char.len_utf16()],
            Err(_) => vec![question],
        })
        .collect()
}
