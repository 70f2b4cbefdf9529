//! Tables of users.

use super::{
    Session, Stop,
    define::exists,
    eval::denied,
    sources::{Rows, SourceColumn},
};
use crate::sqlserver::{
    sql::{
        Message,
        ast::{ColumnDefinition, Name, TableStatement},
        value::Value,
    },
    state::{Object, Table},
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
    pub(super) fn with_table<T>(
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
}
