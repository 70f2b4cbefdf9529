//! EXECUTE AS and REVERT.

use super::{Identity, Session, Stop};
use crate::sqlserver::sql::{Message, ast::Expr};

impl Session {
    pub(super) fn execute_as(&mut self, name: &Expr, login: bool) -> Result<(), Stop> {
        let name = self.eval(name, None)?.to_text().unwrap_or_default();
        let found = match login {
            true => self.login_identity(&name),
            false => self.user_identity(&name),
        };
        let Some(identity) = found else {
            let kind = if login { "server" } else { "database" };
            let text = format!(
                "Cannot execute as the {kind} principal because the principal \"{name}\" does not \
                 exist, this type of principal cannot be impersonated, or you do not have \
                 permission."
            );
            return Err(Message::new(if login { 15406 } else { 15517 }, 16, 1, text).into());
        };
        let before = std::mem::replace(&mut self.identity, identity);
        self.earlier.push(before);
        Ok(())
    }

    fn login_identity(&self, name: &str) -> Option<Identity> {
        let state = self.state();
        let login = state.login(name)?.name.clone();
        let allowed = state.server_allows(&self.identity.login, "CONTROL SERVER");
        let user = state.user_of(&login, state.database(self.database)?);
        let user = user.filter(|_| allowed)?;
        Some(Identity { login, user })
    }

    fn user_identity(&self, name: &str) -> Option<Identity> {
        let state = self.state();
        let database = state.database(self.database)?;
        let allowed = database.allows(self.identity.user, "IMPERSONATE", None);
        let user = database.principal(name).filter(|_| allowed)?;
        // A user without a login has no rights at the server.
        let login = user.login.clone().unwrap_or_default();
        Some(Identity {
            login,
            user: user.id,
        })
    }

    pub(super) fn revert(&mut self) {
        if let Some(before) = self.earlier.pop() {
            self.identity = before;
        }
    }
}
