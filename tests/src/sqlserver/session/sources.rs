//! Where the rows of a query come from, and the joining of them.

use super::{Session, views};
use crate::sqlserver::sql::{
    Message,
    ast::{Select, Source},
    value::{Type, Value},
};
use crate::sqlserver::state::same;

/// A column of what a query reads.
#[derive(Clone, Debug)]
pub(super) struct SourceColumn {
    pub(super) source: String,
    pub(super) name: String,
    pub(super) kind: Type,
}

/// Rows with the columns they have.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) columns: Vec<SourceColumn>,
    pub(super) rows: Vec<Vec<Value>>,
}

/// Rows that are taken together.
pub(super) type Group<'a> = &'a [Vec<Value>];

/// The row that an expression is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) columns: &'a [SourceColumn],
    pub(super) values: &'a [Value],
    /// Those it stands for, where rows are counted.
    pub(super) group: Option<Group<'a>>,
    /// The row of the query that this one is in.
    pub(super) outer: Option<&'a Self>,
}

impl Row<'_> {
    /// The value of a column by its name, with or without that of its source.
    pub(super) fn find(&self, parts: &[String]) -> Result<Option<Value>, Message> {
        let (name, source) = match parts {
            [name] => (name, None),
            [.., source, name] => (name, Some(source)),
            [] => return Ok(None),
        };
        let is_it = |column: &SourceColumn| {
            same(&column.name, name) && source.is_none_or(|source| same(source, &column.source))
        };
        let mut found = (0..).zip(self.columns).filter(|(_, column)| is_it(column));
        let Some((place, _)) = found.next() else {
            return Ok(None);
        };
        if found.next().is_some() {
            let text = format!("Ambiguous column name '{name}'.");
            return Err(Message::new(209, 16, 1, text));
        }
        Ok(self.values.get::<usize>(place).cloned())
    }
}

impl Session {
    /// All rows that the sources of a query have together.
    pub(super) fn joined(&self, select: &Select, outer: Option<&Row<'_>>) -> Result<Rows, Message> {
        let mut joined = Rows {
            columns: Vec::new(),
            rows: vec![Vec::new()],
        };
        for source in &select.from {
            let next = self.source(source)?;
            joined = self.join(joined, next, source, outer)?;
        }
        Ok(joined)
    }

    fn join(
        &self,
        left: Rows,
        right: Rows,
        source: &Source,
        outer: Option<&Row<'_>>,
    ) -> Result<Rows, Message> {
        let columns = [left.columns, right.columns.clone()].concat();
        let nulls: Vec<Value> = right
            .columns
            .iter()
            .map(|it| Value::null(it.kind))
            .collect();
        let mut rows = Vec::new();
        for one in left.rows {
            let before = rows.len();
            for two in &right.rows {
                let values = [one.as_slice(), two].concat();
                let row = Row {
                    columns: &columns,
                    values: &values,
                    group: None,
                    outer,
                };
                let kept = match &source.on {
                    Some(on) => self.holds(on, Some(&row))? == Some(true),
                    None => true,
                };
                if kept {
                    rows.push(values);
                }
            }
            if source.outer && rows.len() == before {
                rows.push([one.as_slice(), &nulls].concat());
            }
        }
        Ok(Rows { columns, rows })
    }

    fn source(&self, source: &Source) -> Result<Rows, Message> {
        let name = &source.name;
        let mut rows = match self.table_rows(name)? {
            Some(rows) => rows,
            None => views::rows(self, name)?,
        };
        let alias = source.alias.as_deref().unwrap_or_else(|| name.last());
        for column in &mut rows.columns {
            alias.clone_into(&mut column.source);
        }
        Ok(rows)
    }
}
