//! Who may do what.

use super::{Database, State, same};

/// What a right is about; `None` for all of a database or a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// `OBJECT`, `SCHEMA` or `ROLE`.
    pub(crate) class: String,
    /// In lower case, with its schema where it has one.
    pub(crate) name: String,
}

impl Object {
    pub(crate) fn in_schema(schema: &str, name: &str) -> Self {
        Self {
            class: "OBJECT".into(),
            name: format!("{schema}.{name}").to_lowercase(),
        }
    }

    pub(crate) fn schema(name: &str) -> Self {
        Self {
            class: "SCHEMA".into(),
            name: name.to_lowercase(),
        }
    }

    /// Whether it is one of [`PUBLIC_PROCEDURES`].
    pub(crate) fn is_public_procedure(&self) -> bool {
        PUBLIC_PROCEDURES.contains(&self.name.as_str())
    }

    /// The schema it is in, as something with rights of its own.
    fn container(&self) -> Option<Self> {
        let (schema, _) = self.name.split_once('.')?;
        Some(Self::schema(schema))
    }
}

/// A right that was granted, or denied.
#[derive(Debug)]
pub(crate) struct Grant {
    /// A principal of the database by its number, or a login by its name.
    pub(crate) to: Grantee,
    pub(crate) permission: String,
    pub(crate) on: Option<Object>,
    pub(crate) denied: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Grantee {
    Principal(i32),
    Login(String),
}

/// Procedures of the system that everybody may call unless they are told otherwise.
pub(crate) const PUBLIC_PROCEDURES: [&str; 3] = [
    "sys.sp_getapplock",
    "sys.sp_releaseapplock",
    "sys.sp_executesql",
];

impl Database {
    /// Whether a principal may do something with `on`, or with the whole database.
    pub(crate) fn allows(&self, principal: i32, permission: &str, on: Option<&Object>) -> bool {
        if self.is_owner(principal) {
            return true;
        }
        let all = self.roles(principal);
        let about = |grant: &&Grant| {
            let to = matches!(grant.to, Grantee::Principal(id) if all.contains(&id));
            to && reaches(grant.on.as_ref(), on)
        };
        let grants: Vec<&Grant> = self.rights.iter().filter(about).collect();
        let mut denied = grants.iter().filter(|it| it.denied);
        if denied.any(|it| covers(&it.permission, permission)) {
            return false;
        }
        let mut granted = grants.iter().filter(|it| !it.denied);
        let public = on.is_some_and(Object::is_public_procedure);
        (public && permission == "EXECUTE") || granted.any(|it| covers(&it.permission, permission))
    }
}

impl Database {
    /// Whether a principal sees that there is such an object: who may do nothing with it does not.
    pub(crate) fn shows(&self, principal: i32, schema: i32, name: &str) -> bool {
        let schema = self.schemas.iter().find(|it| it.id == schema);
        let object = schema.map(|it| Object::in_schema(&it.name, name));
        let any = [
            "VIEW DEFINITION",
            "SELECT",
            "UPDATE",
            "INSERT",
            "DELETE",
            "REFERENCES",
            "ALTER",
        ];
        any.iter()
            .any(|permission| self.allows(principal, permission, object.as_ref()))
    }
}

impl State {
    /// Whether a login may call a procedure of the system: a right of `master`, wherever it calls.
    pub(crate) fn allows_call(&self, login: &str, procedure: &Object) -> bool {
        let master = self.database_named("master");
        master.is_some_and(|master| {
            let user = self.user_of(login, master);
            user.is_some_and(|user| master.allows(user, "EXECUTE", Some(procedure)))
        })
    }

    /// Whether a login may do something with the whole server.
    pub(crate) fn server_allows(&self, login: &str, permission: &str) -> bool {
        if self.is_administrator(login) {
            return true;
        }
        let own = |grant: &&Grant| match &grant.to {
            Grantee::Login(name) => same(name, login) || same(name, "public"),
            Grantee::Principal(_) => false,
        };
        let (denied, granted): (Vec<&Grant>, Vec<&Grant>) = self
            .server_rights
            .iter()
            .filter(own)
            .partition(|it| it.denied);
        let covered = |it: &&Grant| covers(&it.permission, permission);
        !denied.iter().any(covered) && (permission == "CONNECT SQL" || granted.iter().any(covered))
    }
}

/// Whether a right about `given` is one about `on` too.
fn reaches(given: Option<&Object>, on: Option<&Object>) -> bool {
    match (given, on) {
        (None, _) => true,
        (Some(given), Some(on)) => given == on || on.container().is_some_and(|it| *given == it),
        (Some(_), None) => false,
    }
}

/// Whether a permission is the same as another or includes it.
fn covers(given: &str, wanted: &str) -> bool {
    given == wanted
        || matches!(
            (given, wanted),
            ("ALL" | "CONTROL" | "CONTROL SERVER", _)
                | ("ALTER", "CREATE SEQUENCE" | "CREATE TABLE")
                | ("ALTER ANY SCHEMA", "CREATE SCHEMA")
                | ("ALTER ANY ROLE", "CREATE ROLE")
                | ("VIEW SERVER STATE", "VIEW SERVER PERFORMANCE STATE")
                | ("VIEW DATABASE STATE", "VIEW DATABASE PERFORMANCE STATE")
                | ("ALTER ANY DATABASE", "CREATE ANY DATABASE")
        )
}
