//! Values and their types. Each value has a type, NULL too, so that a result has one in any case.

use super::Message;

/// A type of T-SQL, as far as this server has it. `None` as a length is `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Bit,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Float,
    VarChar(Option<u16>),
    NVarChar(Option<u16>),
    VarBinary(Option<u16>),
    DateTime,
    DateTime2,
}

impl Type {
    pub(crate) const SYSNAME: Self = Self::NVarChar(Some(128));

    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Self::VarChar(_) | Self::NVarChar(_))
    }

    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::DateTime | Self::DateTime2)
    }

    pub(crate) const fn is_integer(self) -> bool {
        matches!(
            self,
            Self::Bit | Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt
        )
    }

    /// What an error message calls it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bit => "bit",
            Self::TinyInt => "tinyint",
            Self::SmallInt => "smallint",
            Self::Int => "int",
            Self::BigInt => "bigint",
            Self::Float => "float",
            Self::VarChar(_) => "varchar",
            Self::NVarChar(_) => "nvarchar",
            Self::VarBinary(_) => "varbinary",
            Self::DateTime => "datetime",
            Self::DateTime2 => "datetime2",
        }
    }

    /// The higher one takes part with the other in an expression (Microsoft's "data type
    /// precedence").
    const fn precedence(self) -> u8 {
        match self {
            Self::VarBinary(_) => 0,
            Self::VarChar(_) => 1,
            Self::NVarChar(_) => 2,
            Self::Bit => 3,
            Self::TinyInt => 4,
            Self::SmallInt => 5,
            Self::Int => 6,
            Self::BigInt => 7,
            Self::Float => 8,
            Self::DateTime => 9,
            Self::DateTime2 => 10,
        }
    }

    /// The type both go into.
    pub(crate) fn with(self, other: Self) -> Self {
        let longer = |one: Option<u16>, two: Option<u16>| Some(one?.max(two?));
        match (self, other) {
            (Self::VarChar(one), Self::VarChar(two)) => Self::VarChar(longer(one, two)),
            (Self::VarBinary(one), Self::VarBinary(two)) => Self::VarBinary(longer(one, two)),
            (
                Self::VarChar(one) | Self::NVarChar(one),
                Self::VarChar(two) | Self::NVarChar(two),
            ) => Self::NVarChar(longer(one, two)),
            _ if self.precedence() >= other.precedence() => self,
            _ => other,
        }
    }
}

/// What a value is when it is not NULL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Integer(i64),
    Float(f64),
    /// UTF-16, which may have half a pair where a text was cut.
    Text(Vec<u16>),
    Binary(Vec<u8>),
    /// In 100 ns since the first day of year 1.
    Time(i64),
}

/// A value of a type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) kind: Type,
    pub(crate) data: Option<Data>,
}

impl Value {
    pub(crate) const fn null(kind: Type) -> Self {
        Self { kind, data: None }
    }

    pub(crate) const fn new(kind: Type, data: Data) -> Self {
        let data = Some(data);
        Self { kind, data }
    }

    pub(crate) fn int(value: i32) -> Self {
        Self::new(Type::Int, Data::Integer(value.into()))
    }

    pub(crate) const fn big(value: i64) -> Self {
        Self::new(Type::BigInt, Data::Integer(value))
    }

    pub(crate) fn small(value: i16) -> Self {
        Self::new(Type::SmallInt, Data::Integer(value.into()))
    }

    pub(crate) fn bit(value: bool) -> Self {
        Self::new(Type::Bit, Data::Integer(value.into()))
    }

    /// A text as nvarchar.
    pub(crate) fn text(value: &str) -> Self {
        Self::units(value.encode_utf16().collect())
    }

    /// A text as sysname.
    pub(crate) fn name(value: &str) -> Self {
        Self::new(Type::SYSNAME, Data::Text(value.encode_utf16().collect()))
    }

    pub(crate) fn units(units: Vec<u16>) -> Self {
        let length = u16::try_from(units.len()).ok().filter(|it| *it <= 4000);
        let kind = Type::NVarChar(length.map(|it| it.max(1)));
        Self::new(kind, Data::Text(units))
    }

    pub(crate) const fn is_null(&self) -> bool {
        self.data.is_none()
    }

    /// As a number, for what takes one; a text is read as one.
    pub(crate) fn integer(&self) -> Result<Option<i64>, Message> {
        match self.data {
            Some(Data::Integer(value)) => Ok(Some(value)),
            _ => match self.convert(Type::BigInt)?.data {
                Some(Data::Integer(value)) => Ok(Some(value)),
                _ => Ok(None),
            },
        }
    }

    /// As UTF-16, whatever it is.
    pub(crate) fn to_units(&self) -> Option<Vec<u16>> {
        match self.data.as_ref()? {
            Data::Text(units) => Some(units.clone()),
            _ => match self.convert(Type::NVarChar(None)).ok()?.data? {
                Data::Text(units) => Some(units),
                _ => None,
            },
        }
    }

    /// As a text for a person.
    pub(crate) fn to_text(&self) -> Option<String> {
        self.to_units()
            .map(|units| String::from_utf16_lossy(&units))
    }
}

/// How two texts compare: without regard to case or to blanks at the end, as in the default
/// collation of SQL Server.
pub(crate) fn folded(units: &[u16]) -> String {
    let text = String::from_utf16_lossy(units);
    text.trim_end_matches(' ').to_lowercase()
}
