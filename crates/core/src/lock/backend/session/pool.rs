//! Choosing a session, and opening more.

use super::{
    KeyOf, Open, Options, SessionHold, Take,
    actor::{self, Ask, Link},
    claims::Claims,
};
use crate::lock::{
    Error, ErrorKind, LockId, Request, Result,
    backend::{Attempt, Hints, Owned, keeper, wait_for_grant},
};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// Many locks on few connections. Cheap to clone.
#[derive(Debug)]
pub struct Pool<O: Open>(Arc<Inner<O>>);

#[derive(Debug)]
struct Inner<O: Open> {
    open: Arc<O>,
    options: Options,
    claims: Claims<KeyOf<O>>,
    sessions: Mutex<Vec<Link<KeyOf<O>>>>,
    hints: Hints,
}

impl<O: Open> Pool<O> {
    /// Opens nothing yet.
    pub fn new(open: O, options: Options) -> Self {
        Self(Arc::new(Inner {
            open: Arc::new(open),
            options,
            claims: Claims::default(),
            sessions: Mutex::default(),
            hints: Hints::new(),
        }))
    }

    /// Where hints of the server go in.
    #[must_use]
    pub fn hints(&self) -> &Hints {
        &self.0.hints
    }

    /// How many sessions are open or being opened. For tests and diagnosis.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.0.live().len()
    }

    /// Asks for a lock until granted or until the deadline.
    ///
    /// # Errors
    /// What the server has to say, or [`Unavailable`](ErrorKind::Unavailable) if a connection broke
    /// or stayed silent.
    ///
    /// # Cancel safety
    /// Dropping this leaves nothing held.
    pub async fn acquire(&self, request: Request) -> Result<Option<Owned<SessionHold<KeyOf<O>>>>> {
        let id = request.id();
        let listener = self.0.hints.listen(&id);
        let Options { pace, .. } = self.0.options;
        wait_for_grant(
            request.deadline,
            pace,
            Some(listener),
            &request.releases,
            || {
                let (inner, id, mode) = (self.0.clone(), id.clone(), request.mode);
                async move {
                    let key = inner.open.key(&id);
                    inner
                        .take(
                            id,
                            Take {
                                key,
                                mode,
                                upgrade: false,
                            },
                        )
                        .await
                }
            },
        )
        .await
    }
}

impl<O: Open> Inner<O> {
    async fn take(
        &self,
        id: LockId,
        take: Take<KeyOf<O>>,
    ) -> Result<Attempt<SessionHold<KeyOf<O>>>> {
        // A session may have ended between our choice and our request; once more, then, on another.
        match self
            .take_on(self.session(), id.clone(), take.clone())
            .await?
        {
            Some(attempt) => Ok(attempt),
            None => self
                .take_on(self.session(), id, take)
                .await?
                .ok_or_else(|| {
                    Error::new(
                        ErrorKind::Unavailable,
                        "the connection ended before it answered",
                    )
                }),
        }
    }

    /// `None` if the session ended before it answered, and took what it may have granted with it.
    async fn take_on(
        &self,
        session: Link<KeyOf<O>>,
        id: LockId,
        take: Take<KeyOf<O>>,
    ) -> Result<Option<Attempt<SessionHold<KeyOf<O>>>>> {
        let Some(claim) = self.claims.claim(&take.key, take.mode) else {
            return Ok(Some(Attempt::Busy { again_in: None }));
        };
        let (key, mode) = (take.key.clone(), take.mode);
        let (reply, answer) = oneshot::channel();
        session.ask(Ask::Take {
            take,
            claim: Some(claim),
            reply,
        });
        Ok(match answer.await {
            Err(_) => None,
            Ok(answer) => Some(match answer? {
                Some(granted) => {
                    let waiting = (self.options.pace, self.hints.clone(), id);
                    Attempt::Granted(SessionHold::new(
                        session,
                        key,
                        mode,
                        granted.accept(),
                        waiting,
                    ))
                }
                None => Attempt::Busy { again_in: None },
            }),
        })
    }

    /// A session with room, or a new one.
    fn session(&self) -> Link<KeyOf<O>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(Link::is_live);
        if let Some(session) = sessions.iter().find(|s| s.load() < self.options.capacity) {
            return session.clone();
        }
        let (session, run) = actor::start(self.open.clone(), self.options);
        sessions.push(session.clone());
        keeper::spawn(run);
        session
    }

    fn live(&self) -> Vec<Link<KeyOf<O>>> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions
            .iter()
            .filter(|session| session.is_live())
            .cloned()
            .collect()
    }
}

impl<O: Open> Clone for Pool<O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
