//! `APPLOCK_MODE` and `APPLOCK_TEST`.

use super::super::{Session, applock::invalid};
use crate::sqlserver::{
    locks::{Key, Mode, Owner},
    sql::{
        Message,
        value::{Type, Value},
    },
};

impl Session {
    pub(super) fn applock_function(
        &self,
        name: &str,
        values: &[Value],
    ) -> Result<Option<Value>, Message> {
        match (name, values) {
            ("applock_mode", [principal, resource, owner]) => {
                let mode = match self.is_babelfish() {
                    true => self.any_mode(resource)?,
                    false => {
                        let (key, owner) = self.asked(name, [principal, resource, owner])?;
                        self.state().locks.mode(&key, owner)
                    }
                };
                let text = mode.map_or("NoLock", Mode::name);
                Ok(Some(Value::text(text).convert(Type::NVarChar(Some(32)))?))
            }
            ("applock_test", [principal, resource, mode, owner]) => {
                for (place, value) in (1..).zip(values) {
                    present(name, place, value)?;
                }
                let word = mode.to_text().unwrap_or_default();
                let mode = Mode::parse(&word).ok_or_else(|| invalid(1225, "mode", name))?;
                let (key, owner) = self.asked(name, [principal, resource, owner])?;
                let free = self.state().locks.would_grant(&key, owner, mode);
                Ok(Some(Value::small(free.into())))
            }
            _ => Ok(None),
        }
    }

    fn asked(
        &self,
        name: &str,
        [principal, resource, owner]: [&Value; 3],
    ) -> Result<(Key, Owner), Message> {
        for (place, value) in (1..).zip([principal, resource, owner]) {
            present(name, place, value)?;
        }
        let owner = self.owner(&owner.to_text().unwrap_or_default());
        let owner = owner.ok_or_else(|| invalid(1226, "owner", name))??;
        let principal = principal.to_text();
        let key = self.key(
            principal.as_deref(),
            resource.to_units().unwrap_or_default(),
        )?;
        Ok((key, owner))
    }

    /// What this session holds under a name, whoever owns it: all that the second flavor looks at.
    fn any_mode(&self, resource: &Value) -> Result<Option<Mode>, Message> {
        let key = self.key(None, resource.to_units().unwrap_or_default())?;
        let state = self.state();
        let transaction = self.transaction_id();
        let owners = [None, transaction].map(|transaction| Owner {
            session: self.id,
            transaction,
        });
        let modes = owners
            .into_iter()
            .filter_map(|owner| state.locks.mode(&key, owner));
        Ok(modes.reduce(Mode::with))
    }
}

fn present(function: &str, place: usize, value: &Value) -> Result<(), Message> {
    match value.is_null() {
        false => Ok(()),
        true => {
            let text = format!(
                "Argument data type NULL is invalid for argument {place} of {function} function."
            );
            Err(Message::new(8116, 16, 1, text))
        }
    }
}
