//! Functions about who somebody is and what they may do.

use super::{super::Session, system::split_name};
use crate::sqlserver::{
    sql::{
        Message,
        value::{Type, Value},
    },
    state::{Object, PUBLIC_PROCEDURES, PrincipalKind, same},
};

impl Session {
    pub(super) fn rights_function(
        &self,
        name: &str,
        values: &[Value],
    ) -> Result<Option<Value>, Message> {
        let text = |place: usize| values.get(place).and_then(Value::to_text);
        Ok(Some(match (name, values.len()) {
            ("user_name" | "current_user" | "session_user" | "user", 0) => {
                self.user_name(self.identity.user)
            }
            ("user_name", 1) => match values[0].integer()?.and_then(|it| i32::try_from(it).ok()) {
                Some(id) => self.user_name(id),
                None => Value::null(Type::SYSNAME),
            },
            ("database_principal_id", 0) => Value::int(self.identity.user),
            ("database_principal_id", 1) => {
                let state = self.state();
                let database = state.database(self.database);
                let found = text(0).and_then(|it| database?.principal(&it).map(|it| it.id));
                found.map_or(Value::null(Type::Int), Value::int)
            }
            ("is_member", 1) => self.membership(self.identity.user, text(0).as_deref()),
            ("is_rolemember", 1) => self.membership(self.identity.user, text(0).as_deref()),
            ("is_rolemember", 2) => {
                let state = self.state();
                let database = state.database(self.database);
                let member = text(1).and_then(|it| database?.principal(&it).map(|it| it.id));
                drop(state);
                match member {
                    Some(member) => self.membership(member, text(0).as_deref()),
                    None => Value::null(Type::Int),
                }
            }
            ("is_srvrolemember", 1 | 2) => {
                let login = text(1).unwrap_or_else(|| self.identity.login.clone());
                let state = self.state();
                match text(0).as_deref() {
                    Some(role) if same(role, "sysadmin") => {
                        Value::int(state.is_administrator(&login).into())
                    }
                    Some(role) if same(role, "public") => Value::int(1),
                    _ => Value::null(Type::Int),
                }
            }
            ("has_perms_by_name", 3..) => {
                let (Some(permission), class) = (text(2), text(1)) else {
                    return Ok(Some(Value::null(Type::Int)));
                };
                self.has_permission(text(0).as_deref(), class.as_deref(), &permission)
            }
            ("has_dbaccess", 1) => {
                let state = self.state();
                let database = text(0).and_then(|it| state.database_named(&it));
                database.map_or(Value::null(Type::Int), |it| {
                    Value::int(state.user_of(&self.identity.login, it).is_some().into())
                })
            }
            _ => return Ok(None),
        }))
    }

    fn user_name(&self, id: i32) -> Value {
        let state = self.state();
        let database = state.database(self.database);
        let user = database.and_then(|it| it.principal_by_id(id));
        user.map_or(Value::null(Type::SYSNAME), |it| Value::name(&it.name))
    }

    fn membership(&self, member: i32, role: Option<&str>) -> Value {
        let state = self.state();
        let database = state.database(self.database);
        let found = database.zip(role).and_then(|(database, role)| {
            let role = database.principal(role)?;
            let is_role = role.kind == PrincipalKind::Role;
            is_role.then(|| database.roles(member).contains(&role.id))
        });
        found.map_or(Value::null(Type::Int), |it| Value::int(it.into()))
    }

    fn has_permission(
        &self,
        securable: Option<&str>,
        class: Option<&str>,
        permission: &str,
    ) -> Value {
        let permission = permission.to_uppercase();
        let class = class.map(str::to_uppercase);
        let allowed = match (class.as_deref(), securable) {
            (None | Some("SERVER"), None) => Some(self.server_allows(&permission)),
            (Some("DATABASE"), _) => {
                let state = self.state();
                let database = match securable {
                    Some(name) => state.database_named(name),
                    None => state.database(self.database),
                };
                database.map(|database| {
                    let user = state.user_of(&self.identity.login, database);
                    user.is_some_and(|it| database.allows(it, &permission, None))
                })
            }
            (Some("SCHEMA"), Some(name)) => {
                let state = self.state();
                let database = state.database(self.database);
                let known = database.is_some_and(|it| it.schema(name).is_some());
                drop(state);
                Some(known && self.allows(&permission, Some(&Object::schema(name))))
            }
            (Some("OBJECT"), Some(name)) => self.has_object_permission(name, &permission),
            _ => None,
        };
        allowed.map_or(Value::null(Type::Int), |it| Value::int(it.into()))
    }

    fn has_object_permission(&self, name: &str, permission: &str) -> Option<bool> {
        let parts = split_name(name);
        let last = parts.last()?.to_lowercase();
        let schema = parts.len().checked_sub(2).map(|at| parts[at].clone());
        let procedure = PUBLIC_PROCEDURES.contains(&format!("sys.{last}").as_str());
        let schema = match (procedure, schema) {
            (true, _) => "sys".to_owned(),
            (false, Some(schema)) => schema,
            (false, None) => "dbo".to_owned(),
        };
        let state = self.state();
        let object = Object::in_schema(&schema, &last);
        if procedure {
            let may_call = state.allows_call(&self.identity.login, &object);
            return Some(permission == "EXECUTE" && may_call);
        }
        let database = state.database(self.database)?;
        let known = database.object_id(&schema, &last).is_some();
        Some(known && database.allows(self.identity.user, permission, Some(&object)))
    }
}
