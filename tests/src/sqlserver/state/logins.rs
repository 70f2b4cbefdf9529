//! Who may connect, and as whom they come into a database.

use super::{DBO, Database, GUEST, State, same};

#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) name: String,
    pub(crate) password: String,
    pub(crate) enabled: bool,
    /// The role of `sa`, which may do everything.
    pub(crate) administrator: bool,
    pub(crate) database: String,
}

impl Login {
    pub(super) fn administrator(password: &str) -> Self {
        Self {
            name: "sa".into(),
            password: password.into(),
            enabled: true,
            administrator: true,
            database: "master".into(),
        }
    }
}

impl State {
    pub(crate) fn login(&self, name: &str) -> Option<&Login> {
        self.logins.iter().find(|it| same(&it.name, name))
    }

    pub(crate) fn is_administrator(&self, login: &str) -> bool {
        self.login(login).is_some_and(|it| it.administrator)
    }

    /// The user a login is in a database; `None` if it may not come in.
    pub(crate) fn user_of(&self, login: &str, database: &Database) -> Option<i32> {
        if self.is_administrator(login) {
            return Some(DBO);
        }
        let mut users = database.principals.iter();
        let own = users.find(|it| it.login.as_deref().is_some_and(|it| same(it, login)));
        // Everybody is let into the databases of the system.
        own.map(|it| it.id)
            .or_else(|| database.is_system().then_some(GUEST))
    }
}
