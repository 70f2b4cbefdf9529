//! Functions and `@@` values about the server, the session and what there is.

use super::super::Session;
use crate::sqlserver::{
    sql::{
        Message,
        value::{Type, Value},
    },
    state::same,
};

impl Session {
    pub(in super::super) fn global(&self, name: &str) -> Result<Value, Message> {
        Ok(match name {
            "@@spid" => Value::small(self.id),
            "@@version" => Value::text(&self.server.settings.version_text()),
            "@@servername" => Value::name(self.server.settings.name()),
            "@@servicename" => Value::name("MSSQLSERVER"),
            "@@error" => Value::int(self.last_error),
            "@@rowcount" => Value::int(i32::try_from(self.row_count).unwrap_or(i32::MAX)),
            "@@trancount" => Value::int(self.transaction_count()),
            "@@lock_timeout" => Value::int(i32::try_from(self.lock_timeout).unwrap_or(-1)),
            "@@nestlevel" => Value::int(i32::try_from(self.depth).unwrap_or(0)),
            "@@procid" => Value::int(0),
            "@@max_precision" => Value::int(38),
            "@@identity" => Value::null(Type::BigInt),
            _ => return Err(Message::undeclared(name)),
        })
    }

    pub(super) fn system_function(
        &self,
        name: &str,
        values: &[Value],
    ) -> Result<Option<Value>, Message> {
        let first = values.first();
        let text = first.and_then(Value::to_text);
        Ok(Some(match (name, values.len()) {
            ("xact_state", 0) => Value::small(self.transaction_state()),
            ("db_name", 0) => Value::name(&self.database_name()),
            ("db_name", 1) => {
                let id = first.map(Value::integer).transpose()?.flatten();
                let state = self.state();
                let database = state
                    .databases
                    .iter()
                    .find(|it| Some(i64::from(it.id)) == id);
                named(database.map(|it| it.name.clone()))
            }
            ("db_id", 0) => Value::small(self.database as i16),
            ("db_id", 1) => {
                let state = self.state();
                let database = text.and_then(|it| state.database_named(&it));
                database.map_or(Value::null(Type::SmallInt), |it| Value::small(it.id as i16))
            }
            ("object_id", 1 | 2) => self.object_id(values),
            ("schema_id", _) => {
                let state = self.state();
                let name = text.unwrap_or_else(|| "dbo".into());
                let schema = state
                    .database(self.database)
                    .and_then(|it| it.schema(&name));
                schema.map_or(Value::null(Type::Int), |it| Value::int(it.id))
            }
            ("schema_name", _) => {
                let id = first
                    .map(Value::integer)
                    .transpose()?
                    .flatten()
                    .unwrap_or(1);
                let state = self.state();
                let database = state.database(self.database);
                let mut schemas = database.into_iter().flat_map(|it| &it.schemas);
                named(
                    schemas
                        .find(|it| i64::from(it.id) == id)
                        .map(|it| it.name.clone()),
                )
            }
            ("host_name", 0) => self.own(|info| info.host.clone()),
            ("app_name" | "program_name", 0) => self.own(|info| info.program.clone()),
            ("suser_sname" | "suser_name" | "system_user", 0) => Value::name(&self.identity.login),
            ("original_login", 0) => Value::name(&self.original_login),
            ("serverproperty", 1) => self.server_property(&text.unwrap_or_default()),
            ("databasepropertyex", 2) => self.database_property(values),
            ("error_number", 0) => self.caught(|it| Value::int(it.number), Type::Int),
            ("error_message", 0) => {
                self.caught(|it| Value::text(&it.text), Type::NVarChar(Some(4000)))
            }
            ("error_severity", 0) => self.caught(|it| Value::int(it.class.into()), Type::Int),
            ("error_state", 0) => self.caught(|it| Value::int(it.state.into()), Type::Int),
            ("error_line", 0) => self.caught(|it| Value::int(it.line.cast_signed()), Type::Int),
            ("error_procedure", 0) => self.caught(
                |it| match it.procedure.is_empty() {
                    true => Value::null(Type::SYSNAME),
                    false => Value::name(&it.procedure),
                },
                Type::SYSNAME,
            ),
            _ => return Ok(None),
        }))
    }

    fn caught(&self, of: impl Fn(&Message) -> Value, kind: Type) -> Value {
        self.caught.last().map_or(Value::null(kind), of)
    }

    fn own(&self, of: impl Fn(&crate::sqlserver::state::SessionInfo) -> String) -> Value {
        named(self.state().sessions.get(&self.id).map(of))
    }

    /// The number of a sequence (`SO`) or a table (`U`) by its name.
    fn object_id(&self, values: &[Value]) -> Value {
        let null = Value::null(Type::Int);
        let (Some(name), kind) = (values[0].to_text(), values.get(1).and_then(Value::to_text))
        else {
            return null;
        };
        let parts = split_name(&name);
        let state = self.state();
        let database = match parts.len() {
            3 if !parts[0].is_empty() => state.database_named(&parts[0]),
            _ => state.database(self.database),
        };
        let last = parts.last().cloned().unwrap_or_default();
        let schema = parts.len().checked_sub(2).map(|at| parts[at].clone());
        let schema = schema
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| "dbo".into());
        let found = database.and_then(|database| {
            let place = database.schema(&schema)?.id;
            let seen = database.shows(self.identity.user, place, &last);
            match kind.as_deref().map(str::trim) {
                _ if !seen => None,
                Some(kind) if same(kind, "SO") => database.sequence(&schema, &last).map(|it| it.id),
                Some(kind) if same(kind, "U") => database.table(&schema, &last).map(|it| it.id),
                Some(_) => None,
                None => database.object_id(&schema, &last),
            }
        });
        found.map_or(null, Value::int)
    }

    fn server_property(&self, name: &str) -> Value {
        let settings = &self.server.settings;
        match name.to_lowercase().as_str() {
            "productversion" => Value::name(settings.product_version()),
            "productmajorversion" => Value::name("16"),
            "productlevel" => Value::name("RTM"),
            "edition" => Value::name("Developer Edition (64-bit)"),
            "engineedition" => Value::int(3),
            "servername" | "machinename" => Value::name(settings.name()),
            "ishadrenabled" | "isclustered" | "isintegratedsecurityonly" => Value::int(0),
            "collation" => Value::name("SQL_Latin1_General_CP1_CI_AS"),
            _ => Value::null(Type::SYSNAME),
        }
    }

    fn database_property(&self, values: &[Value]) -> Value {
        let (name, property) = (values[0].to_text(), values[1].to_text());
        let state = self.state();
        let database = name.and_then(|it| state.database_named(&it));
        let (Some(database), Some(property)) = (database, property) else {
            return Value::null(Type::SYSNAME);
        };
        match property.to_lowercase().as_str() {
            "updateability" => Value::name(match database.read_only {
                true => "READ_ONLY",
                false => "READ_WRITE",
            }),
            "status" => Value::name("ONLINE"),
            "collation" => Value::name("SQL_Latin1_General_CP1_CI_AS"),
            "recovery" => Value::name("FULL"),
            "useraccess" => Value::name("MULTI_USER"),
            _ => Value::null(Type::SYSNAME),
        }
    }
}

fn named(name: Option<String>) -> Value {
    name.map_or(Value::null(Type::SYSNAME), |name| Value::name(&name))
}

/// The parts of a name in a text, each of which may be in brackets.
pub(in super::super) fn split_name(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    let mut closing = None;
    while let Some(char) = chars.next() {
        let last = parts.len() - 1;
        match (closing, char) {
            (Some(mark), _) if char == mark => {
                if chars.peek() == Some(&mark) {
                    chars.next();
                    parts[last].push(mark);
                } else {
                    closing = None;
                }
            }
            (Some(_), _) => parts[last].push(char),
            (None, '[') => closing = Some(']'),
            (None, '"') => closing = Some('"'),
            (None, '.') => parts.push(String::new()),
            (None, _) => parts[last].push(char),
        }
    }
    parts
}
