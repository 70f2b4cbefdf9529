//! GRANT, DENY and REVOKE.

use super::{Session, principals::cannot};
use crate::sqlserver::{
    sql::{
        Message,
        ast::{Act, Right, Securable},
    },
    state::{Database, Grant, Grantee, Object, PUBLIC_PROCEDURES},
};

/// Permissions that are about the whole server.
const OF_SERVER: [&str; 8] = [
    "ALTER ANY CONNECTION",
    "ALTER ANY DATABASE",
    "ALTER ANY LOGIN",
    "CONNECT SQL",
    "CONTROL SERVER",
    "CREATE ANY DATABASE",
    "VIEW SERVER PERFORMANCE STATE",
    "VIEW SERVER STATE",
];

impl Session {
    pub(super) fn change_right(&self, right: &Right) -> Result<(), Message> {
        for permission in &right.permissions {
            for to in &right.to {
                match OF_SERVER.contains(&permission.as_str()) {
                    true => self.change_server_right(right, permission, to)?,
                    false => self.change_database_right(right, permission, to)?,
                }
            }
        }
        Ok(())
    }

    fn change_server_right(
        &self,
        right: &Right,
        permission: &str,
        to: &str,
    ) -> Result<(), Message> {
        let allowed = self.server_allows("CONTROL SERVER");
        if self.database_name() != "master" {
            let text = "Permissions at the server scope can only be granted when the current \
                        database is master";
            return Err(Message::new(4621, 16, 10, text));
        }
        let mut state = self.state();
        let known = to == "public" || state.login(to).is_some();
        if !known || !allowed {
            return Err(cannot("find", "login", to));
        }
        let grantee = Grantee::Login(to.to_lowercase());
        set(
            &mut state.server_rights,
            right.act,
            &grantee,
            permission,
            None,
        );
        Ok(())
    }

    fn change_database_right(
        &self,
        right: &Right,
        permission: &str,
        to: &str,
    ) -> Result<(), Message> {
        let allowed = self.allows("CONTROL", None);
        let in_master = self.database_name() == "master";
        self.change(|database, _| {
            let grantee = database.principal(to).map(|it| it.id);
            let Some(grantee) = grantee.filter(|_| allowed) else {
                return Err(cannot("find", "user", to));
            };
            let on = match &right.on {
                Some(securable) => securable_object(database, securable)?,
                None => None,
            };
            if on.as_ref().is_some_and(Object::is_public_procedure) && !in_master {
                let text = "Permissions on server scoped catalog views or system stored procedures \
                            or extended stored procedures can be granted only when the current \
                            database is master.";
                return Err(Message::new(4629, 16, 10, text));
            }
            let grantee = Grantee::Principal(grantee);
            set(&mut database.rights, right.act, &grantee, permission, on);
            Ok(())
        })
    }
}

/// What a right is about; `None` for the database itself.
fn securable_object(database: &Database, securable: &Securable) -> Result<Option<Object>, Message> {
    let name = &securable.name;
    let last = name.last();
    let missing = |kind: &str| cannot("find", kind, last);
    match securable.class.as_str() {
        "DATABASE" => Ok(None),
        "SCHEMA" => {
            let schema = database.schema(last).ok_or_else(|| missing("schema"))?;
            Ok(Some(Object::schema(&schema.name)))
        }
        "OBJECT" => {
            let of_system = PUBLIC_PROCEDURES
                .contains(&format!("sys.{last}").to_lowercase().as_str())
                && name
                    .schema()
                    .is_none_or(|it| ["sys", "dbo"].contains(&it.to_lowercase().as_str()));
            let schema = if of_system {
                "sys"
            } else {
                name.schema().unwrap_or("dbo")
            };
            match of_system || database.object_id(schema, last).is_some() {
                true => Ok(Some(Object::in_schema(schema, last))),
                false => Err(missing("object")),
            }
        }
        class => Ok(Some(Object {
            class: class.into(),
            name: last.to_lowercase(),
        })),
    }
}

/// Whatever was said before of the same is forgotten.
fn set(rights: &mut Vec<Grant>, act: Act, to: &Grantee, permission: &str, on: Option<Object>) {
    rights.retain(|it| !(it.to == *to && it.permission == permission && it.on == on));
    if act != Act::Revoke {
        rights.push(Grant {
            to: to.clone(),
            permission: permission.into(),
            on,
            denied: act == Act::Deny,
        });
    }
}
