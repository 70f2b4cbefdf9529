//! `sp_getapplock` and `sp_releaseapplock`.

use super::{
    Session, Stop,
    procedures::{Given, Parameter, bind, missing},
};
use crate::sqlserver::{
    Server,
    locks::{Answer, Asked, Key, Mode, Owner, Ticket},
    sql::{
        Message,
        value::{Type, Value},
    },
};
use std::{sync::Arc, time::Duration};

const GRANTED: i32 = 0;
const GRANTED_AFTER_WAITING: i32 = 1;
const TIMED_OUT: i32 = -1;
const DEADLOCK_VICTIM: i32 = -3;
const INVALID: i32 = -999;

const GET: &str = "sp_getapplock";
const RELEASE: &str = "sp_releaseapplock";
/// What both call, and what errors are said to come from.
const USER_LOCK: &str = "xp_userlock";

/// A place in a line that is given up when this is dropped, and the session's word for it.
struct Waiting {
    server: Arc<Server>,
    session: i16,
    ticket: Option<Ticket>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.server.state();
        if let Some(ticket) = &self.ticket {
            state.locks.leave(ticket);
        }
        if let Some(info) = state.sessions.get_mut(&self.session) {
            info.wait = None;
        }
    }
}

impl Session {
    /// Others see that it waits until this is dropped.
    pub(super) fn waits_for(&self, what: &'static str) -> impl Drop + Send + use<> {
        self.waiting(what, None)
    }

    fn waiting(&self, what: &'static str, ticket: Option<Ticket>) -> Waiting {
        if let Some(info) = self.state().sessions.get_mut(&self.id) {
            info.wait = Some(what);
        }
        Waiting {
            server: self.server.clone(),
            session: self.id,
            ticket,
        }
    }

    pub(super) async fn get_app_lock(&mut self, given: Vec<Given>) -> Result<i32, Stop> {
        let parameter = |name, kind, default| Parameter {
            name,
            kind,
            default,
        };
        let parameters = [
            parameter("@Resource", self.resource_type(), None),
            parameter("@LockMode", Type::VarChar(Some(32)), None),
            parameter(
                "@LockOwner",
                Type::VarChar(Some(32)),
                Some(Value::text("Transaction")),
            ),
            parameter("@LockTimeout", Type::Int, Some(Value::null(Type::Int))),
            parameter("@DbPrincipal", Type::SYSNAME, Some(Value::text("public"))),
        ];
        let values = bind(GET, &parameters, given)?;
        let [resource, mode, owner, timeout, principal] = values.each_ref().map(Option::as_ref);
        let mode = mode.ok_or_else(|| missing(GET, "@LockMode"))?;
        let Some(mode) = mode.to_text().and_then(|it| Mode::parse(&it)) else {
            return Ok(INVALID);
        };
        let Some((key, owner)) = self.named(resource, owner, principal)? else {
            return Ok(INVALID);
        };
        let timeout = timeout.map(Value::integer).transpose()?.flatten();
        let timeout = timeout.unwrap_or(self.lock_timeout);
        if timeout < -1 {
            self.raise(invalid(1227, "time-out", USER_LOCK).of(USER_LOCK))?;
            return Ok(INVALID);
        }
        self.take(key, owner, mode, timeout).await
    }

    /// What both procedures are told of a lock; `None` if that is not sound. Some of what is wrong
    /// is an error besides, and some of it is not.
    fn named(
        &mut self,
        resource: Option<&Value>,
        owner: Option<&Value>,
        principal: Option<&Value>,
    ) -> Result<Option<(Key, Owner)>, Stop> {
        let owner = owner.and_then(Value::to_text);
        let owner = owner.and_then(|it| self.owner(&it));
        let (Some(resource), Some(Ok(owner))) = (resource, owner) else {
            return Ok(None);
        };
        let Some(units) = resource.to_units() else {
            self.raise(invalid(1224, "resource", USER_LOCK).of(USER_LOCK))?;
            return Ok(None);
        };
        let principal = principal.and_then(Value::to_text);
        match self.key(principal.as_deref(), units) {
            Ok(key) => Ok(Some((key, owner))),
            Err(message) => {
                self.raise(message.of(USER_LOCK))?;
                Ok(None)
            }
        }
    }

    async fn take(&self, key: Key, owner: Owner, mode: Mode, timeout: i64) -> Result<i32, Stop> {
        let wait = timeout != 0;
        let asked = self
            .state()
            .locks
            .ask(key, owner, mode, wait, self.deadlock_priority);
        let (ticket, woken) = match asked {
            Asked::Granted => return Ok(GRANTED),
            Asked::DeadlockVictim => return Ok(DEADLOCK_VICTIM),
            Asked::Refused if self.is_babelfish() => return Ok(INVALID),
            Asked::Refused => return Ok(TIMED_OUT),
            Asked::Waiting(ticket, woken) => (ticket, woken),
        };
        let waiting = self.waiting(mode.wait_type(), Some(ticket));
        let answer = match u64::try_from(timeout) {
            Ok(limit) => {
                let mut woken = woken;
                match tokio::time::timeout(Duration::from_millis(limit), &mut woken).await {
                    Ok(answer) => answer.ok(),
                    // It may have been granted at this very moment: then it is held.
                    Err(_) => {
                        drop(waiting);
                        return Ok(match woken.try_recv() {
                            Ok(Answer::Granted) => self.after_waiting(),
                            Ok(Answer::DeadlockVictim) => DEADLOCK_VICTIM,
                            Err(_) => TIMED_OUT,
                        });
                    }
                }
            }
            Err(_) => woken.await.ok(),
        };
        drop(waiting);
        // As at any server, what the client says may come between a grant and the next statement.
        tokio::task::yield_now().await;
        if self.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        match answer {
            Some(Answer::Granted) => Ok(self.after_waiting()),
            Some(Answer::DeadlockVictim) => Ok(DEADLOCK_VICTIM),
            // Only the end of the session takes the other end away.
            None => Err(Stop::Over),
        }
    }

    fn after_waiting(&self) -> i32 {
        match self.is_babelfish() {
            true => GRANTED,
            false => GRANTED_AFTER_WAITING,
        }
    }

    pub(super) fn release_app_lock(&mut self, given: Vec<Given>) -> Result<i32, Stop> {
        let parameter = |name, kind, default| Parameter {
            name,
            kind,
            default,
        };
        let parameters = [
            parameter("@Resource", self.resource_type(), None),
            parameter(
                "@LockOwner",
                Type::VarChar(Some(32)),
                Some(Value::text("Transaction")),
            ),
            parameter("@DbPrincipal", Type::SYSNAME, Some(Value::text("public"))),
        ];
        let values = bind(RELEASE, &parameters, given)?;
        let [resource, owner, principal] = values.each_ref().map(Option::as_ref);
        let Some((key, owner)) = self.named(resource, owner, principal)? else {
            return Ok(INVALID);
        };
        if self.state().locks.release(&key, owner) {
            return Ok(GRANTED);
        }
        let text = format!(
            "Cannot release the application lock (Database Principal: '{}', Resource: '{}') because \
             it is not currently held.",
            principal.and_then(Value::to_text).unwrap_or_default(),
            resource.and_then(Value::to_text).unwrap_or_default()
        );
        self.raise(Message::new(1223, 16, 1, text).of(USER_LOCK))?;
        Ok(INVALID)
    }

    /// Longer names are cut to this without a word.
    fn resource_type(&self) -> Type {
        match self.is_babelfish() {
            true => Type::NVarChar(None),
            false => Type::NVarChar(Some(255)),
        }
    }
}

/// What is wrong with an argument of an application lock.
pub(super) fn invalid(number: i32, what: &str, function: &str) -> Message {
    let text = format!("An invalid application lock {what} was passed to {function}.");
    Message::new(number, 16, 1, text)
}
