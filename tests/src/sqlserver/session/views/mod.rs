//! The views of the system: who is connected, who holds what, and what there is.

mod catalog;
mod dynamic;

use super::{
    Session,
    sources::{Rows, SourceColumn},
};
use crate::sqlserver::sql::{
    Message,
    ast::Name,
    value::{Type, Value},
};

/// A column of a view, and its type.
type ViewColumn = (&'static str, Type);

/// The rows of a view.
pub(super) fn rows(session: &Session, name: &Name) -> Result<Rows, Message> {
    let in_sys = name
        .schema()
        .is_some_and(|it| it.eq_ignore_ascii_case("sys"));
    let view = name.last().to_lowercase();
    let rows = match in_sys {
        true => dynamic::rows(session, &view)?,
        false => None,
    };
    let rows = match rows {
        None if in_sys => catalog::rows(session, &view),
        rows => rows,
    };
    rows.ok_or_else(|| Message::no_object(&name.written()))
}

fn made(columns: &[ViewColumn], rows: Vec<Vec<Value>>) -> Rows {
    let columns = columns.iter().map(|(name, kind)| SourceColumn {
        source: String::new(),
        name: (*name).into(),
        kind: *kind,
    });
    Rows {
        columns: columns.collect(),
        rows,
    }
}
