//! Tables of users.

use super::{
    Session, Stop,
    define::exists,
    eval::denied,
    sources::{Row, Rows, SourceColumn},
};
use crate::sqlserver::{
    sql::{
        Message,
        ast::{ColumnDefinition, Cond, Expr, Name, TableStatement},
        value::Value,
    },
    state::{Object, Table, same},
};

impl Session {
    pub(super) fn change_table(&mut self, statement: &TableStatement) -> Result<(), Stop> {
        let count = match statement {
            TableStatement::Create(name, columns) => {
                self.create_table(name, columns)?;
                return Ok(());
            }
            TableStatement::Drop { names, if_exists } => {
                for name in names {
                    self.drop_table(name, *if_exists)?;
                }
                return Ok(());
            }
            TableStatement::Insert {
                table,
                columns,
                rows,
            } => {
                let rows = rows
                    .iter()
                    .map(|row| row.iter().map(|it| self.eval(it, None)).collect());
                let rows = rows.collect::<Result<Vec<Vec<Value>>, Message>>()?;
                self.insert(table, columns, rows)?
            }
            TableStatement::InsertQuery {
                table,
                columns,
                query,
            } => {
                let rows = self.query(query, None)?.rows;
                self.insert(table, columns, rows)?
            }
            TableStatement::Update {
                table,
                changes,
                filter,
            } => self.update(table, changes, filter.as_ref())?,
            TableStatement::Delete { table, filter } => self.delete(table, filter.as_ref())?,
        };
        self.row_count = i64::try_from(count).unwrap_or(i64::MAX);
        self.done(0xc3, Some(count as u64));
        Ok(())
    }

    /// The rows of a table; `None` if there is none of that name.
    pub(super) fn table_rows(&self, name: &Name) -> Result<Option<Rows>, Message> {
        let schema = name.schema().unwrap_or("dbo");
        let state = self.state();
        let database = match name.database() {
            Some(database) => state.database_named(database),
            None => state.database(self.database),
        };
        let Some((database, table)) =
            database.and_then(|it| Some((it, it.table(schema, name.last())?)))
        else {
            return Ok(None);
        };
        let object = Object::in_schema(schema, name.last());
        if !database.allows(self.identity.user, "SELECT", Some(&object)) {
            return Err(denied("SELECT", name.last(), &database.name, schema));
        }
        let columns = table.columns.iter().map(|it| SourceColumn {
            source: String::new(),
            name: it.name.clone(),
            kind: it.kind,
        });
        Ok(Some(Rows {
            columns: columns.collect(),
            rows: table.rows.clone(),
        }))
    }

    /// Runs `change` on a table that this session may change.
    fn with_table<T>(
        &self,
        name: &Name,
        permission: &str,
        change: impl FnOnce(&mut Table) -> Result<T, Message>,
    ) -> Result<T, Message> {
        let schema = name.schema().unwrap_or("dbo");
        let object = Object::in_schema(schema, name.last());
        let allowed = self.allows(permission, Some(&object));
        self.change(|database, _| {
            let at = database.name.clone();
            let Some(table) = database.table_mut(schema, name.last()) else {
                return Err(Message::no_object(&name.written()));
            };
            match allowed {
                true => change(table),
                false => Err(denied(permission, name.last(), &at, schema)),
            }
        })
    }

    fn create_table(&self, name: &Name, columns: &[ColumnDefinition]) -> Result<(), Message> {
        let schema = name.schema().unwrap_or("dbo");
        let allowed = self.allows("CREATE TABLE", Some(&Object::schema(schema)));
        let at = self.database_name();
        self.change(|database, id| {
            let place = database.schema(schema).map(|it| it.id);
            let Some(place) = place.filter(|_| allowed) else {
                let text = format!("CREATE TABLE permission denied in database '{at}'.");
                return Err(Message::new(262, 14, 1, text));
            };
            if database.object_id(schema, name.last()).is_some() {
                return Err(exists(name.last()));
            }
            database.tables.push(Table {
                id,
                schema: place,
                name: name.last().into(),
                columns: columns.to_vec(),
                rows: Vec::new(),
            });
            Ok(())
        })
    }

    fn drop_table(&self, name: &Name, if_exists: bool) -> Result<(), Message> {
        let dropped = self.change(|database, _| {
            let found = database.table(name.schema().unwrap_or("dbo"), name.last());
            let found = found.map(|it| it.id);
            database.tables.retain(|it| Some(it.id) != found);
            Ok(found.is_some())
        })?;
        match dropped || if_exists {
            true => Ok(()),
            false => {
                let text = format!(
                    "Cannot drop the table '{}', because it does not exist or you do not have \
                     permission.",
                    name.written()
                );
                Err(Message::new(3701, 11, 5, text))
            }
        }
    }

    fn insert(
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

    fn update(
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

    fn delete(&self, name: &Name, filter: Option<&Cond>) -> Result<usize, Message> {
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
        if super::arithmetic::compare(&other[key], &row[key])?.is_some_and(|it| it.is_eq()) {
            let text = format!(
                "Violation of PRIMARY KEY constraint. Cannot insert duplicate key in object '{}'.",
                table.name
            );
            return Err(Message::new(2627, 14, 1, text));
        }
    }
    Ok(())
}
