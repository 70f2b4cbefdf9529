//! GRANT, DENY and REVOKE.

use super::Parser;
use crate::sqlserver::sql::{
    Message,
    ast::{Act, Definition, Kind, Right, Securable},
    lexer,
};

impl Parser {
    pub(super) fn right(&mut self) -> Result<Kind, Message> {
        let act = match self.bump().written().to_ascii_uppercase().as_str() {
            "GRANT" => Act::Grant,
            "DENY" => Act::Deny,
            _ => Act::Revoke,
        };
        if act == Act::Revoke {
            self.accept_all(&["GRANT", "OPTION", "FOR"]);
        }
        let mut permissions = vec![self.permission()?];
        while self.accept_symbol(",") {
            permissions.push(self.permission()?);
        }
        let on = match self.accept("ON") {
            true => Some(self.securable()?),
            false => None,
        };
        if !(act == Act::Revoke && self.accept("FROM")) {
            self.expect("TO")?;
        }
        let mut to = vec![self.name()?];
        while self.accept_symbol(",") {
            to.push(self.name()?);
        }
        if !self.accept_all(&["WITH", "GRANT", "OPTION"]) {
            self.accept("CASCADE");
        }
        Ok(Kind::Define(Definition::Right(Right {
            act,
            permissions,
            on,
            to,
        })))
    }

    /// The words of a permission, such as `VIEW SERVER STATE`.
    fn permission(&mut self) -> Result<String, Message> {
        let mut words = Vec::new();
        while let lexer::Kind::Word(word) = self.peek() {
            if ["ON", "TO", "FROM"].iter().any(|end| self.is(end)) {
                break;
            }
            words.push(word.to_ascii_uppercase());
            self.bump();
        }
        let permission = match words.join(" ").as_str() {
            "EXEC" => "EXECUTE".to_owned(),
            words => words.to_owned(),
        };
        match KNOWN.contains(&permission.as_str()) {
            true => Ok(permission),
            false if words.is_empty() => Err(self.unexpected()),
            false => Err(Message::syntax(&words[0]).at(self.line())),
        }
    }

    fn securable(&mut self) -> Result<Securable, Message> {
        let class = match self.peek() {
            lexer::Kind::Word(word) if *self.peek_at(1) == lexer::Kind::Symbol("::") => {
                word.to_ascii_uppercase()
            }
            _ => {
                let name = self.object()?;
                let class = "OBJECT".into();
                return Ok(Securable { class, name });
            }
        };
        if !["OBJECT", "SCHEMA", "DATABASE", "ROLE", "USER", "LOGIN"].contains(&class.as_str()) {
            return Err(self.unexpected());
        }
        self.at += 2;
        let name = self.object()?;
        Ok(Securable { class, name })
    }
}

/// The permissions that this server knows of.
const KNOWN: [&str; 30] = [
    "ALL",
    "ALTER",
    "ALTER ANY CONNECTION",
    "ALTER ANY DATABASE",
    "ALTER ANY LOGIN",
    "ALTER ANY ROLE",
    "ALTER ANY SCHEMA",
    "ALTER ANY USER",
    "CONNECT",
    "CONNECT SQL",
    "CONTROL",
    "CONTROL SERVER",
    "CREATE ANY DATABASE",
    "CREATE DATABASE",
    "CREATE ROLE",
    "CREATE SCHEMA",
    "CREATE SEQUENCE",
    "CREATE TABLE",
    "DELETE",
    "EXECUTE",
    "IMPERSONATE",
    "INSERT",
    "REFERENCES",
    "SELECT",
    "UPDATE",
    "VIEW DATABASE PERFORMANCE STATE",
    "VIEW DATABASE STATE",
    "VIEW DEFINITION",
    "VIEW SERVER PERFORMANCE STATE",
    "VIEW SERVER STATE",
];
