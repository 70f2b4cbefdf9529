//! Rows of tables: put in, changed and removed.

use super::{
    Session,
    arithmetic::compare,
    sources::{Row, SourceColumn},
};
use crate::sqlserver::{
    sql::{
        Message,
        ast::{ColumnDefinition, Cond, Expr, Name},
        value::Value,
    },
    state::{Table, same},
};

impl Session {
    pub(super) fn insert(
        &self,
        name: &Name,
        columns: &[String],
        rows: Vec<Vec<Value>>,
    ) -> Result<usize, Message> {
        let definitions = self.with_table(name, "INSERT", |table| Ok(table.columns.clone()))?;
        let mut complete = Vec::new();
        for row in rows {
            complete.push(self.complete(&definitions, columns, &row)?);
        }
        self.with_table(name, "INSERT", |table| {
            for row in &complete {
                check_key(table, row)?;
                table.rows.push(row.clone());
            }
            Ok(complete.len())
        })
    }

    /// A row with a value for each column.
    fn complete(
        &self,
        definitions: &[ColumnDefinition],
        columns: &[String],
        values: &[Value],
    ) -> Result<Vec<Value>, Message> {
        let count = if columns.is_empty() {
            definitions.len()
        } else {
            columns.len()
        };
        if count != values.len() {
            let text = "Column name or number of supplied values does not match table definition.";
            return Err(Message::new(213, 16, 1, text));
        }
        let unknown = columns
            .iter()
            .find(|name| !definitions.iter().any(|it| same(&it.name, name)));
        if let Some(name) = unknown {
            return Err(Message::new(
                207,
                16,
                1,
                format!("Invalid column name '{name}'."),
            ));
        }
        let row = definitions.iter().enumerate().map(|(place, definition)| {
            let given = match columns.is_empty() {
                true => Some(place),
                false => columns.iter().position(|name| same(name, &definition.name)),
            };
            let value = match (given, &definition.default) {
                (Some(given), _) => values[given].clone(),
                (None, Some(default)) => self.eval(default, None)?,
                (None, None) => Value::null(definition.kind),
            };
            checked(definition, &value)
        });
        row.collect()
    }

    pub(super) fn update(
        &self,
        name: &Name,
        changes: &[(String, Expr)],
        filter: Option<&Cond>,
    ) -> Result<usize, Message> {
        let before = self.with_table(name, "UPDATE", |table| {
            Ok((table.columns.clone(), table.rows.clone()))
        })?;
        let (definitions, mut rows) = before;
        let columns = source_columns(name, &definitions);
        let mut count = 0;
        for values in &mut rows {
            let old = values.clone();
            let row = Row {
                columns: &columns,
                values: &old,
                group: None,
                outer: None,
            };
            if !self.is_kept(filter, &row)? {
                continue;
            }
            for (column, expr) in changes {
                let place = definitions.iter().position(|it| same(&it.name, column));
                let Some(place) = place else {
                    return Err(Message::new(
                        207,
                        16,
                        1,
                        format!("Invalid column name '{column}'."),
                    ));
                };
                values[place] = checked(&definitions[place], &self.eval(expr, Some(&row))?)?;
            }
            count += 1;
        }
        self.with_table(name, "UPDATE", |table| {
            table.rows = rows;
            Ok(count)
        })
    }

    pub(super) fn delete(&self, name: &Name, filter: Option<&Cond>) -> Result<usize, Message> {
        let before = self.with_table(name, "DELETE", |table| {
            Ok((table.columns.clone(), table.rows.clone()))
        })?;
        let (definitions, rows) = before;
        let columns = source_columns(name, &definitions);
        let count = rows.len();
        let mut kept = Vec::new();
        for values in rows {
            let row = Row {
                columns: &columns,
                values: &values,
                group: None,
                outer: None,
            };
            if !self.is_kept(filter, &row)? {
                kept.push(values);
            }
        }
        let count = count - kept.len();
        self.with_table(name, "DELETE", |table| {
            table.rows = kept;
            Ok(count)
        })
    }

    fn is_kept(&self, filter: Option<&Cond>, row: &Row<'_>) -> Result<bool, Message> {
        match filter {
            Some(filter) => Ok(self.holds(filter, Some(row))? == Some(true)),
            None => Ok(true),
        }
    }
}

fn source_columns(name: &Name, definitions: &[ColumnDefinition]) -> Vec<SourceColumn> {
    let columns = definitions.iter().map(|it| SourceColumn {
        source: name.last().into(),
        name: it.name.clone(),
        kind: it.kind,
    });
    columns.collect()
}

fn checked(definition: &ColumnDefinition, value: &Value) -> Result<Value, Message> {
    let value = value.convert(definition.kind)?;
    if value.is_null() && !definition.nullable {
        let text = format!(
            "Cannot insert the value NULL into column '{}'; column does not allow nulls.",
            definition.name
        );
        return Err(Message::new(515, 16, 2, text));
    }
    Ok(value)
}

fn check_key(table: &Table, row: &[Value]) -> Result<(), Message> {
    let Some(key) = table.columns.iter().position(|it| it.key) else {
        return Ok(());
    };
    for other in &table.rows {
        if compare(&other[key], &row[key])?.is_some_and(|it| it.is_eq()) {
            let text = format!(
                "Violation of PRIMARY KEY constraint. Cannot insert duplicate key in object '{}'.",
                table.name
            );
            return Err(Message::new(2627, 14, 1, text));
        }
    }
    Ok(())
}
