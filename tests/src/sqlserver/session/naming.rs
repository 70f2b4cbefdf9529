//! What an application lock is known by: its name, its principal and its owner.

use super::Session;
use crate::sqlserver::{
    locks::{Key, Owner},
    sql::Message,
    state::PUBLIC,
};

impl Session {
    /// An owner by its word; an error inside for a transaction where there is none.
    pub(super) fn owner(&self, word: &str) -> Option<Result<Owner, Message>> {
        let owner = |transaction| Owner {
            session: self.id,
            transaction,
        };
        if word.eq_ignore_ascii_case("Session") {
            return Some(Ok(owner(None)));
        }
        if !word.eq_ignore_ascii_case("Transaction") {
            return None;
        }
        Some(match self.transaction_id() {
            Some(id) => Ok(owner(Some(id))),
            None => {
                let text = "The statement or function must be executed in the context of a user \
                            transaction.";
                Err(Message::new(3918, 16, 1, text))
            }
        })
    }

    /// What a principal and a name lock; an error if this session is not in that principal.
    pub(super) fn key(
        &self,
        principal: Option<&str>,
        mut resource: Vec<u16>,
    ) -> Result<Key, Message> {
        if self.is_babelfish() {
            return Ok(Key {
                database: 0,
                principal: 0,
                resource: cut_to_bytes(&resource, 255),
            });
        }
        resource.truncate(255);
        let principal = principal.unwrap_or_default();
        let state = self.state();
        let database = state.database(self.database);
        let found = database
            .and_then(|it| it.principal(principal))
            .map(|it| it.id);
        let user = self.identity.user;
        let is_member = |id: i32| {
            id == PUBLIC
                || database.is_some_and(|it| it.is_owner(user) || it.roles(user).contains(&id))
        };
        let Some(principal) = found.filter(|id| is_member(*id)) else {
            let text = format!(
                "The database principal '{principal}' does not exist, or user is not a member."
            );
            return Err(Message::new(1202, 16, 1, text));
        };
        Ok(Key {
            database: self.database,
            principal,
            resource,
        })
    }
}

/// The beginning of a text that is not longer than so many bytes of UTF-8.
fn cut_to_bytes(units: &[u16], limit: usize) -> Vec<u16> {
    let text = String::from_utf16_lossy(units);
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].encode_utf16().collect()
}
