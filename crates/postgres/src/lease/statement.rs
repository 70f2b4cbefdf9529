//! The text of what is sent to the server, in the simple protocol: one message each way.
//!
//! Poolers in transaction mode allow no more: what is prepared on one connection is not there on the
//! next. So arguments stand in the text itself, and the rule is: **numbers, truth values and hex
//! digits, nothing else**. Names, owners and hosts are bytes here and travel as hex digits. The types
//! below have no way to put a quoted word into a statement. What does stand in it is the name of the
//! schema, from whoever set lockwork up: `Options` refuses quotes, backslashes and dollar signs in it,
//! and it is quoted as a name.

use super::key::Key;
use crate::Options;
use lockwork_core::lock::OwnerId;
use std::fmt::Write as _;

/// An argument of a function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Argument<'a> {
    Number(i64),
    Small(i16),
    Flag(bool),
    Bytes(&'a [u8]),
}

/// A statement that keeps to the rule.
#[derive(Clone, Debug)]
pub(super) struct Statement(String);

impl Statement {
    /// `SELECT * FROM` one of our functions.
    pub(super) fn call(
        options: &Options,
        function: &'static str,
        arguments: &[Argument<'_>],
    ) -> Self {
        let mut text = format!("SELECT * FROM {}.{function}(", options.quoted_schema());
        for (at, argument) in arguments.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { ", " });
            push(&mut text, *argument);
        }
        text.push(')');
        Self(text)
    }

    /// The same with a list for each argument.
    pub(super) fn call_lists(
        options: &Options,
        function: &'static str,
        lists: &[(&'static str, Vec<Argument<'_>>)],
    ) -> Self {
        let mut text = format!("SELECT * FROM {}.{function}(", options.quoted_schema());
        for (at, (kind, list)) in lists.iter().enumerate() {
            text.push_str(if at == 0 { "ARRAY[" } else { ", ARRAY[" });
            for (at, argument) in list.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                push(&mut text, *argument);
            }
            text.push_str("]::");
            text.push_str(kind);
            text.push_str("[]");
        }
        text.push(')');
        Self(text)
    }

    /// Text of ours about the table of leases, in which every `?` is replaced by an argument.
    pub(super) fn about(options: &Options, text: &'static str, arguments: &[Argument<'_>]) -> Self {
        let text = text.replace("SCHEMA", &options.quoted_schema());
        let mut parts = text.split('?');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for (part, argument) in parts.zip(arguments) {
            push(&mut filled, *argument);
            filled.push_str(part);
        }
        Self(filled)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a Key> for Argument<'a> {
    fn from(key: &'a Key) -> Self {
        Self::Bytes(&key.bytes)
    }
}

impl<'a> From<&'a OwnerId> for Argument<'a> {
    fn from(owner: &'a OwnerId) -> Self {
        Self::Bytes(owner.as_bytes())
    }
}

fn push(text: &mut String, argument: Argument<'_>) {
    // Writing to a string cannot fail.
    let _ = match argument {
        // In brackets: a minus sign before a cast is not part of the number otherwise.
        Argument::Number(number) => write!(text, "({number})::int8"),
        Argument::Small(number) => write!(text, "({number})::int2"),
        Argument::Flag(flag) => write!(text, "{flag}"),
        Argument::Bytes(bytes) => push_hex(text, bytes),
    };
}

fn push_hex(text: &mut String, bytes: &[u8]) -> std::fmt::Result {
    text.push_str("decode('");
    for byte in bytes {
        write!(text, "{byte:02x}")?;
    }
    text.push_str("', 'hex')");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::postgres::PgConnectOptions;

    #[test]
    fn what_users_say_is_hex_digits_in_the_text() {
        let options = Options::new(PgConnectOptions::new_without_pgpass());
        let arguments = [
            Argument::Number(i64::MIN),
            Argument::Flag(true),
            Argument::Bytes(b"'; DROP"),
        ];
        let statement = Statement::call(&options, "f", &arguments);
        let expected = "SELECT * FROM \"lockwork\".f((-9223372036854775808)::int8, true, \
                        decode('273b2044524f50', 'hex'))";
        assert_eq!(statement.as_str(), expected);
    }

    #[test]
    fn a_list_of_nothing_has_a_type_too() {
        let options = Options::new(PgConnectOptions::new_without_pgpass()).schema("a\"b");
        let lists = [("int8", vec![Argument::Small(7)]), ("bytea", vec![])];
        let statement = Statement::call_lists(&options, "f", &lists);
        let expected = "SELECT * FROM \"a\"\"b\".f(ARRAY[(7)::int2]::int8[], ARRAY[]::bytea[])";
        assert_eq!(statement.as_str(), expected);
    }

    #[test]
    fn arguments_take_the_places_of_question_marks() {
        let options = Options::new(PgConnectOptions::new_without_pgpass());
        let arguments = [Argument::Number(1), Argument::Flag(false)];
        let statement = Statement::about(&options, "SELECT ? FROM SCHEMA.t WHERE ?", &arguments);
        let expected = "SELECT (1)::int8 FROM \"lockwork\".t WHERE false";
        assert_eq!(statement.as_str(), expected);
    }
}
