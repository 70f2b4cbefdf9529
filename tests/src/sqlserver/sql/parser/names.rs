//! Names, types and literals.

use super::Parser;
use crate::sqlserver::sql::{Message, ast::Name, lexer::Kind, value::Type};

/// Words that are no names unless they are quoted, as far as they are known here.
const RESERVED: [&str; 99] = [
    "ADD",
    "ALL",
    "ALTER",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "BEGIN",
    "BETWEEN",
    "BREAK",
    "BY",
    "CASE",
    "CHECK",
    "CLOSE",
    "COALESCE",
    "COLUMN",
    "COMMIT",
    "CONSTRAINT",
    "CONTINUE",
    "CONVERT",
    "CREATE",
    "CROSS",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "DATABASE",
    "DECLARE",
    "DEFAULT",
    "DELETE",
    "DENY",
    "DESC",
    "DISTINCT",
    "DROP",
    "ELSE",
    "END",
    "ESCAPE",
    "EXCEPT",
    "EXEC",
    "EXECUTE",
    "EXISTS",
    "EXIT",
    "FETCH",
    "FOR",
    "FROM",
    "FULL",
    "FUNCTION",
    "GOTO",
    "GRANT",
    "GROUP",
    "HAVING",
    "IF",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTO",
    "IS",
    "JOIN",
    "KEY",
    "KILL",
    "LEFT",
    "LIKE",
    "MERGE",
    "NOT",
    "NULL",
    "NULLIF",
    "ON",
    "OPEN",
    "OR",
    "ORDER",
    "OUTER",
    "PRIMARY",
    "PRINT",
    "PROC",
    "PROCEDURE",
    "RAISERROR",
    "RETURN",
    "REVERT",
    "REVOKE",
    "RIGHT",
    "ROLLBACK",
    "SAVE",
    "SCHEMA",
    "SELECT",
    "SET",
    "SHUTDOWN",
    "TABLE",
    "THEN",
    "TO",
    "TOP",
    "TRAN",
    "TRANSACTION",
    "TRUNCATE",
    "UNION",
    "UPDATE",
    "USE",
    "USER",
    "VALUES",
    "WAITFOR",
    "WHEN",
];
const MORE_RESERVED: [&str; 7] = [
    "COLLATE",
    "OPTION",
    "REFERENCES",
    "UNIQUE",
    "WHERE",
    "WHILE",
    "WITH",
];

pub(super) fn is_reserved(word: &str) -> bool {
    let word = word.to_ascii_uppercase();
    RESERVED.contains(&word.as_str()) || MORE_RESERVED.contains(&word.as_str())
}

impl Parser {
    /// A name in one part, if there is one next.
    pub(super) fn accept_name(&mut self) -> Option<String> {
        let name = match self.peek() {
            Kind::Quoted(name) => name.clone(),
            Kind::Word(word) if !is_reserved(word) => word.clone(),
            _ => return None,
        };
        self.bump();
        Some(name)
    }

    pub(super) fn name(&mut self) -> Result<String, Message> {
        self.accept_name().ok_or_else(|| self.unexpected())
    }

    /// A name with what it is in. Parts in the middle may be left out: `master..name`.
    pub(super) fn object(&mut self) -> Result<Name, Message> {
        let mut parts = vec![self.name()?];
        while self.accept_symbol(".") {
            if self.is_symbol(".") {
                parts.push(String::new());
            } else {
                parts.push(self.name()?);
            }
        }
        match parts.len() {
            1..=4 => Ok(Name { parts }),
            _ => Err(Message::syntax(".").at(self.line())),
        }
    }

    /// A variable that was declared.
    pub(super) fn variable(&mut self) -> Result<String, Message> {
        let line = self.line();
        let Kind::Variable(name) = self.bump() else {
            self.at = self.at.saturating_sub(1);
            return Err(self.unexpected());
        };
        let name = name.to_lowercase();
        match self.variables.contains(&name) {
            true => Ok(name),
            false => Err(Message::undeclared(&name).at(line)),
        }
    }

    /// A variable that is declared here.
    pub(super) fn new_variable(&mut self) -> Result<String, Message> {
        let line = self.line();
        let name = match self.peek() {
            Kind::Variable(name) if !name.starts_with("@@") => name.to_lowercase(),
            _ => return Err(self.unexpected()),
        };
        self.bump();
        if self.variables.contains(&name) {
            let text = format!(
                "The variable name '{name}' has already been declared. Variable names must be \
                 unique within a query batch or stored procedure."
            );
            return Err(Message::new(134, 15, 1, text).at(line));
        }
        self.variables.push(name.clone());
        Ok(name)
    }

    /// A whole number, which may be negative.
    pub(super) fn whole(&mut self) -> Result<i64, Message> {
        let negative = self.accept_symbol("-");
        if !negative {
            self.accept_symbol("+");
        }
        match *self.peek() {
            Kind::Integer(value) => {
                self.bump();
                Ok(if negative { -value } else { value })
            }
            // The least of all has no positive partner.
            Kind::Float(value)
                if negative && value.to_bits() == 9_223_372_036_854_775_808.0_f64.to_bits() =>
            {
                self.bump();
                Ok(i64::MIN)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A text between single quotes.
    pub(super) fn literal(&mut self) -> Result<String, Message> {
        match self.peek() {
            Kind::Text { units, .. } => {
                let text = String::from_utf16_lossy(units);
                self.bump();
                Ok(text)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// A type, such as `nvarchar(255)`, of a variable or a column.
    pub(super) fn type_name(&mut self) -> Result<Type, Message> {
        self.type_or_length(1)
    }

    /// A type that a value is converted to.
    pub(super) fn cast_type(&mut self) -> Result<Type, Message> {
        self.type_or_length(30)
    }

    /// A type, and its length where it says none.
    fn type_or_length(&mut self, length: u16) -> Result<Type, Message> {
        let line = self.line();
        let mut name = self.object()?;
        let sys = name
            .schema()
            .is_none_or(|schema| schema.eq_ignore_ascii_case("sys"));
        let word = name.parts.pop().filter(|_| sys).unwrap_or_default();
        let kind = match word.to_ascii_lowercase().as_str() {
            "bit" => Type::Bit,
            "tinyint" => Type::TinyInt,
            "smallint" => Type::SmallInt,
            "int" | "integer" => Type::Int,
            "bigint" => Type::BigInt,
            "float" | "real" => {
                self.length()?;
                Type::Float
            }
            "datetime" => Type::DateTime,
            "datetime2" => {
                self.length()?;
                Type::DateTime2
            }
            "sysname" => Type::SYSNAME,
            "varchar" | "char" => Type::VarChar(self.length()?.unwrap_or(Some(length))),
            "nvarchar" | "nchar" => Type::NVarChar(self.length()?.unwrap_or(Some(length))),
            "varbinary" | "binary" => Type::VarBinary(self.length()?.unwrap_or(Some(length))),
            "sql_variant" => Type::NVarChar(Some(4000)),
            _ => {
                let text = format!("Cannot find data type {word}.");
                return Err(Message::new(2715, 16, 6, text).at(line));
            }
        };
        Ok(kind)
    }

    /// A length in parentheses, where `max` is `Some(None)`.
    fn length(&mut self) -> Result<Option<Option<u16>>, Message> {
        if !self.accept_symbol("(") {
            return Ok(None);
        }
        let length = match self.accept("MAX") {
            true => None,
            false => {
                let length = self.whole()?;
                let length = u16::try_from(length).ok().filter(|it| *it <= 8000);
                Some(length.ok_or_else(|| self.unexpected())?)
            }
        };
        self.expect_symbol(")")?;
        Ok(Some(length))
    }
}
