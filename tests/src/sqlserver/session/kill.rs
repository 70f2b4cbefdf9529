//! KILL, SHUTDOWN and USE.

use super::{Session, Stop};
use crate::sqlserver::sql::Message;

impl Session {
    pub(super) fn kill(&self, number: i64) -> Result<(), Stop> {
        if !self.server_allows("ALTER ANY CONNECTION") {
            let text = "User does not have permission to use the KILL statement.";
            return Err(Message::new(6102, 14, 1, text).into());
        }
        if number == i64::from(self.id) {
            let text = "Cannot use KILL to kill your own process.";
            return Err(Message::new(6104, 16, 1, text).into());
        }
        if number <= 0 {
            let text = format!("Session ID {number} is not valid.");
            return Err(Message::new(6101, 16, 1, text).into());
        }
        let state = self.state();
        let victim = i16::try_from(number)
            .ok()
            .and_then(|it| state.sessions.get(&it));
        let Some(victim) = victim else {
            let text = format!("Process ID {number} is not an active process ID.");
            return Err(Message::new(6106, 16, 2, text).into());
        };
        victim.kill.notify_one();
        Ok(())
    }

    pub(super) fn shutdown(&self) -> Result<(), Stop> {
        if !self.server_allows("SHUTDOWN") {
            let text = "SHUTDOWN permission was denied in database 'master'.";
            return Err(Message::new(6004, 14, 1, text).into());
        }
        self.server.shut_down();
        Err(Stop::Over)
    }

    pub(super) fn use_database(&mut self, name: &str) -> Result<(), Stop> {
        let old = self.database_name();
        let (id, name, user) = {
            let state = self.state();
            let Some(database) = state.database_named(name) else {
                let text = format!(
                    "Database '{name}' does not exist. Make sure that the name is entered correctly."
                );
                return Err(Message::new(911, 16, 1, text).into());
            };
            let login = &self.identity.login;
            let Some(user) = state.user_of(login, database) else {
                let text = format!(
                    "The server principal \"{login}\" is not able to access the database \
                     \"{}\" under the current security context.",
                    database.name
                );
                return Err(Message::new(916, 14, 2, text).into());
            };
            (database.id, database.name.clone(), user)
        };
        self.database = id;
        self.identity.user = user;
        if let Some(info) = self.state().sessions.get_mut(&self.id) {
            info.database = id;
        }
        self.out.changed(1, &name, &old);
        let text = format!("Changed database context to '{name}'.");
        self.say(&Message::new(5701, 0, 2, text).at(1));
        Ok(())
    }
}
