//! The language: a part of T-SQL that is large enough to run a server with, from its text to a
//! tree. What is not in it is a syntax error, never overlooked.

pub(crate) mod ast;
mod convert;
mod definition;
mod lexer;
mod message;
mod parser;
pub(crate) mod time;
pub(crate) mod value;

pub(crate) use convert::overflow;
pub(crate) use message::Message;
pub(crate) use parser::{Declared, parse, parse_parameters};
