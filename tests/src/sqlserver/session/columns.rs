//! The columns of an answer: their names, their types, and whether they are counted.

use super::{
    Session,
    sources::{Row, Rows, SourceColumn},
};
use crate::sqlserver::{
    sql::{
        ast::{Expr, Item, Select},
        value::{Type, Value},
    },
    state::same,
    wire::tokens::Column,
};

impl Session {
    /// The columns of an answer. Where it has no row, NULLs tell their types.
    pub(super) fn columns(
        &self,
        select: &Select,
        source: &Rows,
        rows: &[Vec<Value>],
        outer: Option<&Row<'_>>,
        grouped: bool,
    ) -> Vec<Column> {
        let names = names(select, &source.columns);
        let sample = match rows.is_empty() {
            false => Vec::new(),
            true => {
                let nulls = nulls(&source.columns);
                let row = Row {
                    group: grouped.then_some(&[]),
                    ..plain(&source.columns, &nulls, outer)
                };
                self.items(select, &row).unwrap_or_default()
            }
        };
        let kind = |place: usize| {
            let all = rows.iter().chain(std::iter::once(&sample));
            let kinds = all.filter_map(|row| row.get(place)).map(|it| it.kind);
            kinds.reduce(Type::with).unwrap_or(Type::Int)
        };
        let named = names.into_iter().enumerate();
        named
            .map(|(place, name)| Column {
                name,
                kind: kind(place),
            })
            .collect()
    }
}

fn names(select: &Select, columns: &[SourceColumn]) -> Vec<String> {
    let mut names = Vec::new();
    for item in &select.items {
        match item {
            Item::All(source) => {
                let own = columns.iter().filter(|it| is_of(it, source.as_deref()));
                names.extend(own.map(|it| it.name.clone()));
            }
            Item::Expr(_, Some(alias)) => names.push(alias.clone()),
            Item::Expr(Expr::Column(parts), None) => {
                names.push(parts.last().cloned().unwrap_or_default());
            }
            _ => names.push(String::new()),
        }
    }
    names
}

pub(super) fn is_of(column: &SourceColumn, source: Option<&str>) -> bool {
    source.is_none_or(|source| same(source, &column.source))
}

pub(super) fn plain<'a>(
    columns: &'a [SourceColumn],
    values: &'a [Value],
    outer: Option<&'a Row<'a>>,
) -> Row<'a> {
    Row {
        columns,
        values,
        group: None,
        outer,
    }
}

pub(super) fn nulls(columns: &[SourceColumn]) -> Vec<Value> {
    columns
        .iter()
        .map(|column| Value::null(column.kind))
        .collect()
}

pub(super) fn is_aggregate(item: &Item) -> bool {
    match item {
        Item::Expr(expr, _) | Item::Assign(_, expr) => counts(expr),
        Item::All(_) => false,
    }
}

fn counts(expr: &Expr) -> bool {
    match expr {
        Expr::CountAll => true,
        Expr::Call(name, arguments) => {
            ["count", "min", "max", "sum"].contains(&name.as_str()) || arguments.iter().any(counts)
        }
        Expr::Negative(of)
        | Expr::BitNot(of)
        | Expr::Collated(of, _)
        | Expr::Convert { of, .. } => counts(of),
        Expr::Binary(left, _, right) => counts(left) || counts(right),
        Expr::Case {
            whens, otherwise, ..
        } => whens.iter().any(|(_, then)| counts(then)) || otherwise.as_deref().is_some_and(counts),
        _ => false,
    }
}
