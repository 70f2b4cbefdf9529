//! Logins, users and roles.

use super::{Session, define::missing};
use crate::sqlserver::{
    sql::{Message, ast::Definition},
    state::{DBO, Database, Login, PUBLIC, Principal, PrincipalKind, same},
};

impl Session {
    pub(super) fn define_principal(&self, definition: &Definition) -> Result<(), Message> {
        match definition {
            Definition::CreateLogin {
                name,
                password,
                database,
            } => self.create_login(name, password, database.as_deref()),
            Definition::AlterLogin {
                name,
                password,
                enabled,
            } => self.alter_login(name, password.as_deref(), *enabled),
            Definition::DropLogin(name) => self.drop_login(name),
            Definition::CreateUser { name, login } => self.create_user(name, login.as_deref()),
            Definition::CreateRole(name) => {
                self.may("CREATE ROLE")?;
                self.change(|database, id| add(database, id, name, PrincipalKind::Role, None))
            }
            Definition::DropUser { name, if_exists } => {
                self.drop_principal(name, PrincipalKind::User, *if_exists)
            }
            Definition::DropRole { name, if_exists } => {
                self.drop_principal(name, PrincipalKind::Role, *if_exists)
            }
            Definition::Member {
                role,
                member,
                add,
                server,
            } => match server {
                true => self.change_administrators(role, member, *add),
                false => self.change_members(role, member, *add),
            },
            _ => Ok(()),
        }
    }

    fn may(&self, permission: &str) -> Result<(), Message> {
        match self.allows(permission, None) {
            true => Ok(()),
            false => Err(no_permission()),
        }
    }

    fn may_change_logins(&self) -> Result<(), Message> {
        match self.server_allows("ALTER ANY LOGIN") {
            true => Ok(()),
            false => Err(no_permission()),
        }
    }

    fn create_login(
        &self,
        name: &str,
        password: &str,
        database: Option<&str>,
    ) -> Result<(), Message> {
        self.may_change_logins()?;
        let mut state = self.state();
        if state.login(name).is_some() {
            let text = format!("The server principal '{name}' already exists.");
            return Err(Message::new(15025, 16, 2, text));
        }
        state.logins.push(Login {
            name: name.into(),
            password: password.into(),
            enabled: true,
            administrator: false,
            database: database.unwrap_or("master").into(),
        });
        Ok(())
    }

    fn alter_login(
        &self,
        name: &str,
        password: Option<&str>,
        enabled: Option<bool>,
    ) -> Result<(), Message> {
        let allowed = self.server_allows("ALTER ANY LOGIN");
        let mut state = self.state();
        let login = state.logins.iter_mut().find(|it| same(&it.name, name));
        let Some(login) = login.filter(|_| allowed) else {
            return Err(cannot("alter", "login", name));
        };
        if let Some(password) = password {
            password.clone_into(&mut login.password);
        }
        login.enabled = enabled.unwrap_or(login.enabled);
        Ok(())
    }

    fn drop_login(&self, name: &str) -> Result<(), Message> {
        let allowed = self.server_allows("ALTER ANY LOGIN");
        let mut state = self.state();
        if state.login(name).is_none_or(|it| it.name == "sa") || !allowed {
            return Err(cannot("drop", "login", name));
        }
        if state.sessions.values().any(|it| same(&it.login, name)) {
            let text = format!("Could not drop login '{name}' as the user is currently logged in.");
            return Err(Message::new(15434, 16, 1, text));
        }
        state.logins.retain(|it| !same(&it.name, name));
        Ok(())
    }

    fn create_user(&self, name: &str, login: Option<&str>) -> Result<(), Message> {
        self.may("ALTER ANY USER")?;
        let unknown = login.filter(|it| self.state().login(it).is_none());
        if let Some(login) = unknown {
            let text = format!("'{login}' is not a valid login or you do not have permission.");
            return Err(Message::new(15007, 16, 1, text));
        }
        self.change(|database, id| add(database, id, name, PrincipalKind::User, login))
    }

    fn drop_principal(
        &self,
        name: &str,
        kind: PrincipalKind,
        if_exists: bool,
    ) -> Result<(), Message> {
        let (word, permission) = match kind {
            PrincipalKind::User => ("user", "ALTER ANY USER"),
            PrincipalKind::Role => ("role", "ALTER ANY ROLE"),
        };
        let allowed = self.allows(permission, None);
        self.change(|database, _| {
            let found = database.principal(name);
            let found = found.filter(|it| it.kind == kind && !it.is_fixed() && allowed);
            let Some(id) = found.map(|it| it.id) else {
                return missing(word, name, if_exists);
            };
            if database.members.iter().any(|(role, _)| *role == id) {
                let text = "The role has members. It must be empty before it can be dropped.";
                return Err(Message::new(15144, 16, 1, text));
            }
            database.forget(id);
            Ok(())
        })
    }

    fn change_members(&self, role: &str, member: &str, add: bool) -> Result<(), Message> {
        let allowed = self.allows("ALTER ANY ROLE", None);
        self.change(|database, _| {
            let found = database.principal(role);
            let found =
                found.filter(|it| it.kind == PrincipalKind::Role && it.id != PUBLIC && allowed);
            let Some(role) = found.map(|it| it.id) else {
                return Err(cannot("alter", "role", role));
            };
            let found = database.principal(member).filter(|it| it.id != DBO);
            let Some(member) = found.map(|it| it.id) else {
                return Err(cannot("add", "principal", member));
            };
            database.members.retain(|it| *it != (role, member));
            if add {
                database.members.push((role, member));
            }
            Ok(())
        })
    }

    fn change_administrators(&self, role: &str, member: &str, add: bool) -> Result<(), Message> {
        let allowed = self.server_allows("CONTROL SERVER") && same(role, "sysadmin");
        let mut state = self.state();
        let login = state.logins.iter_mut().find(|it| same(&it.name, member));
        let Some(login) = login.filter(|_| allowed) else {
            return Err(cannot("alter", "server role", role));
        };
        login.administrator = add;
        Ok(())
    }
}

fn add(
    database: &mut Database,
    id: i32,
    name: &str,
    kind: PrincipalKind,
    login: Option<&str>,
) -> Result<(), Message> {
    if database.principal(name).is_some() {
        let text = format!("User, group, or role '{name}' already exists in the current database.");
        return Err(Message::new(15023, 16, 1, text));
    }
    database.add_principal(Principal {
        id,
        name: name.into(),
        kind,
        login: login.map(str::to_owned),
    });
    Ok(())
}

fn no_permission() -> Message {
    Message::new(
        15247,
        16,
        1,
        "User does not have permission to perform this action.",
    )
}

pub(super) fn cannot(act: &str, kind: &str, name: &str) -> Message {
    let text = format!(
        "Cannot {act} the {kind} '{name}', because it does not exist or you do not have permission."
    );
    Message::new(15151, 16, 1, text)
}
