//! CREATE, ALTER and DROP of schemas, sequences and databases.

use super::{Session, Stop, eval::read_only};
use crate::sqlserver::{
    sql::{
        Message,
        ast::{Definition, Name, SequenceOptions},
    },
    state::{Database, Object, Sequence, State, same},
};

impl Session {
    pub(super) fn define(&mut self, definition: &Definition) -> Result<(), Stop> {
        match definition {
            Definition::CreateSchema(name) => {
                if let Err(message) = self.create_schema(name) {
                    return Err(self.schema_failed(&message));
                }
            }
            Definition::DropSchema { name, if_exists } => self.drop_schema(name, *if_exists)?,
            Definition::CreateSequence(name, options) => self.create_sequence(name, options)?,
            Definition::AlterSequence(name, options) => self.alter_sequence(name, options)?,
            Definition::DropSequence { names, if_exists } => {
                for name in names {
                    self.drop_sequence(name, *if_exists)?;
                }
            }
            Definition::CreateDatabase(name) => self.create_database(name)?,
            Definition::DropDatabase { name, if_exists } => self.drop_database(name, *if_exists)?,
            Definition::ReadOnly {
                database,
                read_only,
            } => self.alter_database(database.as_deref(), *read_only)?,
            Definition::Right(right) => self.change_right(right)?,
            other => self.define_principal(other)?,
        }
        Ok(())
    }

    /// Runs `change` on the database of this session, which must not be read-only.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Database, i32) -> Result<T, Message>,
    ) -> Result<T, Message> {
        let mut state = self.state();
        let id = state.new_id();
        let database = state.database_mut(self.database);
        let database = database.ok_or_else(|| Message::no_object(""))?;
        if database.read_only {
            return Err(read_only(&database.name));
        }
        change(database, id)
    }

    fn create_schema(&self, name: &str) -> Result<(), Message> {
        if !self.allows("CREATE SCHEMA", None) {
            return Err(cannot_create("SCHEMA", &self.database_name()));
        }
        self.change(|database, id| {
            if database.schema(name).is_some() {
                return Err(exists(name));
            }
            database.add_schema(id, name);
            Ok(())
        })
    }

    /// Two errors are said of a schema that cannot be made, of which the last can be caught.
    fn schema_failed(&mut self, message: &Message) -> Stop {
        if self.tries == 0 {
            self.say(&message.clone().at(1));
        }
        let text = "CREATE SCHEMA failed due to previous errors.";
        Message::new(2759, 16, 0, text).into()
    }

    fn drop_schema(&self, name: &str, if_exists: bool) -> Result<(), Message> {
        let allowed = self.allows("CONTROL", Some(&Object::schema(name)));
        self.change(|database, _| {
            let Some(schema) = database.schema(name).map(|it| it.id).filter(|_| allowed) else {
                return missing("schema", name, if_exists);
            };
            let sequence = database.sequences.iter().find(|it| it.schema == schema);
            let table = database.tables.iter().find(|it| it.schema == schema);
            let object = sequence
                .map(|it| &it.name)
                .or_else(|| table.map(|it| &it.name));
            if let Some(object) = object {
                let text = format!(
                    "Cannot drop schema '{name}' because it is being referenced by object \
                     '{object}'."
                );
                return Err(Message::new(3729, 16, 1, text));
            }
            database.schemas.retain(|it| it.id != schema);
            Ok(())
        })
    }

    fn create_sequence(&self, name: &Name, options: &SequenceOptions) -> Result<(), Message> {
        let schema = name.schema().unwrap_or("dbo");
        let here = Object::schema(schema);
        if !self.allows("CREATE SEQUENCE", Some(&here)) {
            let text = format!(
                "The specified schema name \"{schema}\" either does not exist or you do not have permission to use it."
            );
            return Err(Message::new(2760, 16, 1, text));
        }
        self.change(|database, id| {
            let Some(place) = database.schema(schema).map(|it| it.id) else {
                let text = format!("The specified schema name \"{schema}\" either does not exist or you do not have permission to use it.");
                return Err(Message::new(2760, 16, 1, text));
            };
            if database.object_id(schema, name.last()).is_some() {
                return Err(exists(name.last()));
            }
            database.sequences.push(Sequence::new(id, place, name.last(), options)?);
            Ok(())
        })
    }

    fn alter_sequence(&self, name: &Name, options: &SequenceOptions) -> Result<(), Message> {
        let schema = name.schema().unwrap_or("dbo");
        let object = Object::in_schema(schema, name.last());
        let allowed = self.allows("ALTER", Some(&object));
        self.change(|database, _| {
            let sequence = database
                .sequence_mut(schema, name.last())
                .filter(|_| allowed);
            let Some(sequence) = sequence else {
                let text = format!(
                    "Cannot find the sequence object '{}', because it does not exist or you do not \
                     have permission.",
                    name.written()
                );
                return Err(Message::new(15151, 16, 1, text));
            };
            *sequence = sequence.altered(options)?;
            Ok(())
        })
    }

    fn drop_sequence(&self, name: &Name, if_exists: bool) -> Result<(), Message> {
        let schema = name.schema().unwrap_or("dbo");
        let object = Object::in_schema(schema, name.last());
        let allowed = self.allows("ALTER", Some(&object));
        self.change(|database, _| {
            let found = database.sequence(schema, name.last()).map(|it| it.id);
            match found.filter(|_| allowed) {
                Some(id) => {
                    database.sequences.retain(|it| it.id != id);
                    Ok(())
                }
                None if if_exists => Ok(()),
                None => {
                    let text = format!(
                        "Cannot drop the sequence object '{}', because it does not exist or you do \
                         not have permission.",
                        name.written()
                    );
                    Err(Message::new(3701, 11, 5, text))
                }
            }
        })
    }

    fn create_database(&self, name: &str) -> Result<(), Message> {
        if !self.server_allows("CREATE ANY DATABASE") {
            return Err(cannot_create("DATABASE", "master"));
        }
        self.outside_transaction("CREATE DATABASE")?;
        let mut state = self.state();
        if state.database_named(name).is_some() {
            let text =
                format!("Database '{name}' already exists. Choose a different database name.");
            return Err(Message::new(1801, 16, 3, text));
        }
        let id = state.new_database_id();
        state.databases.push(Database::new(id, name));
        Ok(())
    }

    fn drop_database(&self, name: &str, if_exists: bool) -> Result<(), Message> {
        self.outside_transaction("DROP DATABASE")?;
        let allowed = self.server_allows("ALTER ANY DATABASE");
        let mut state = self.state();
        let found = state.database_named(name).map(|it| (it.id, it.is_system()));
        let Some((id, system)) = found.filter(|_| allowed) else {
            if if_exists {
                return Ok(());
            }
            let text = format!(
                "Cannot drop the database '{name}', because it does not exist or you do not have \
                 permission."
            );
            return Err(Message::new(3701, 11, 1, text));
        };
        if system {
            let text =
                format!("Cannot drop the database '{name}' because it is a system database.");
            return Err(Message::new(3708, 16, 1, text));
        }
        if is_used(&state, id) {
            let text = format!("Cannot drop database \"{name}\" because it is currently in use.");
            return Err(Message::new(3702, 16, 3, text));
        }
        state.databases.retain(|it| it.id != id);
        Ok(())
    }

    fn alter_database(&self, name: Option<&str>, read_only: bool) -> Result<(), Message> {
        let name = name.map_or_else(|| self.database_name(), str::to_owned);
        let allowed = self.server_allows("ALTER ANY DATABASE");
        let mut state = self.state();
        let database = state.databases.iter_mut().find(|it| same(&it.name, &name));
        let Some(database) = database.filter(|_| allowed) else {
            let text = format!(
                "User does not have permission to alter database '{name}', the database does not \
                 exist, or the database is not in a state that allows access checks."
            );
            return Err(Message::new(5011, 14, 5, text));
        };
        if database.is_system() {
            let text = format!("Option 'READ_ONLY' cannot be set in database '{name}'.");
            return Err(Message::new(5058, 16, 1, text));
        }
        database.read_only = read_only;
        Ok(())
    }

    fn outside_transaction(&self, what: &str) -> Result<(), Message> {
        match self.transaction_id() {
            None => Ok(()),
            Some(_) => {
                let text =
                    format!("{what} statement not allowed within multi-statement transaction.");
                Err(Message::new(226, 16, 5, text))
            }
        }
    }
}

fn is_used(state: &State, database: i32) -> bool {
    state.sessions.values().any(|it| it.database == database)
}

pub(super) fn exists(name: &str) -> Message {
    let text = format!("There is already an object named '{name}' in the database.");
    Message::new(2714, 16, 6, text)
}

pub(super) fn missing(kind: &str, name: &str, if_exists: bool) -> Result<(), Message> {
    match if_exists {
        true => Ok(()),
        false => {
            let text = format!(
                "Cannot drop the {kind} '{name}', because it does not exist or you do not have \
                 permission."
            );
            Err(Message::new(15151, 16, 1, text))
        }
    }
}

fn cannot_create(kind: &str, database: &str) -> Message {
    let text = format!("CREATE {kind} permission denied in database '{database}'.");
    Message::new(262, 14, 1, text)
}
