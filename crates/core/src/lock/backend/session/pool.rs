//! Choosing a session, and opening more.

use super::{
    KeyOf, Open, Options, SessionHold, Take, actor,
    asking::{Answered, Asked},
    claims::{Claim, Claims},
    link::{Granted, Link},
    rests::Rests,
    taking::Asker,
};
use crate::lock::{
    Error, ErrorKind, LockId, Request, Result,
    backend::{Attempt, Hints, Owned, Shield, keeper, wait_for_grant},
    clock,
};
use std::{
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Many locks on few connections. Cheap to clone.
#[derive(Debug)]
pub struct Pool<O: Open>(Arc<Inner<O>>);

#[derive(Debug)]
pub(super) struct Inner<O: Open> {
    pub(super) open: Arc<O>,
    pub(super) options: Options,
    pub(super) claims: Claims<KeyOf<O>>,
    rests: Arc<Rests<KeyOf<O>>>,
    sessions: Mutex<Sessions<KeyOf<O>>>,
    pub(super) places: Arc<Semaphore>,
    hints: Hints,
}

/// A grant of a pool.
type HoldOf<O> = SessionHold<KeyOf<O>>;

/// Takes, each with its place.
type Claimed<O> = Vec<(Take<KeyOf<O>>, Claim<KeyOf<O>>)>;

/// The sessions of a pool.
#[derive(Debug)]
pub(super) struct Sessions<K: Eq + Hash> {
    /// They try for many, and never wait at the server.
    trying: Vec<Link<K>>,
    /// They wait at the server, each for one, or hold what they waited for.
    pub(super) waiting: Vec<Link<K>>,
}

impl<K: Eq + Hash> Sessions<K> {
    fn all(&self) -> impl Iterator<Item = &Link<K>> {
        self.trying.iter().chain(&self.waiting)
    }
}

impl<O: Open> Pool<O> {
    /// Opens nothing yet.
    pub fn new(open: O, options: Options) -> Self {
        Self(Arc::new(Inner {
            open: Arc::new(open),
            options,
            claims: Claims::default(),
            rests: Arc::default(),
            sessions: Mutex::new(Sessions {
                trying: Vec::new(),
                waiting: Vec::new(),
            }),
            places: Arc::new(Semaphore::new(options.places.min(Semaphore::MAX_PERMITS))),
            hints: Hints::new(),
        }))
    }

    /// Where hints go in that come by another way than [`Session::news`](super::Session::news).
    #[must_use]
    pub fn hints(&self) -> &Hints {
        &self.0.hints
    }

    /// What opens the sessions.
    #[must_use]
    pub fn opener(&self) -> &O {
        &self.0.open
    }

    /// How many sessions are open or being opened. For tests and diagnosis.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.0.sessions().all().count()
    }

    /// Asks for a lock until granted or until the deadline.
    ///
    /// # Errors
    /// What the server has to say, or [`Unavailable`](ErrorKind::Unavailable) if a connection broke
    /// or stayed silent.
    ///
    /// # Cancel safety
    /// Dropping this leaves nothing held and nobody waiting.
    pub async fn acquire(&self, request: Request) -> Result<Option<Owned<HoldOf<O>>>> {
        let left = CancellationToken::new();
        let _leaves_when_dropped = left.clone().drop_guard();
        let pace = self.0.options.pace;
        wait_for_grant(request.deadline, pace, None, &request.releases, || {
            let (inner, request, left) = (self.0.clone(), request.clone(), left.clone());
            async move { inner.take(&request, &left).await }
        })
        .await
    }

    /// Tries for all of these in one round trip. All are granted, or none stays.
    ///
    /// # Errors
    /// As [`Pool::acquire`].
    ///
    /// # Cancel safety
    /// Dropping this leaves nothing held.
    pub async fn try_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Owned<HoldOf<O>>>>> {
        let inner = self.0.clone();
        let (granted, _counted) = Shield::new(async move {
            // As in `wait_for_grant`: whoever waits for releases waits for what may need some.
            let counted: Vec<_> = requests.iter().map(|one| one.releases.count()).collect();
            (inner.take_all(&requests).await, counted)
        })
        .await;
        granted
    }
}

impl<O: Open> Inner<O> {
    /// Asks for one; if its deadline has not passed, until it does.
    async fn take(
        &self,
        request: &Request,
        left: &CancellationToken,
    ) -> Result<Attempt<HoldOf<O>>> {
        let id = request.id();
        let take = Take {
            key: self.open.key(&id),
            mode: request.mode,
            upgrade: false,
            waits: !request.deadline.has_passed(),
        };
        let rest = self.rests.until(&take.key).filter(|_| take.waits);
        if let Some(until) = rest {
            let rested = request.deadline.wait_for(clock::sleep_until(until));
            let goes_on = tokio::select! {
                rested = rested => rested.is_some(),
                () = left.cancelled() => false,
            };
            if !goes_on {
                return Ok(Attempt::Busy { again_in: None });
            }
        }
        let mut hints = self.hints.listen(&id);
        // A session may have ended between our choice and our request, or while we waited; once
        // more, then, on another.
        let mut has_waited = false;
        for _ in 0..2 {
            let mut asker = Asker {
                request,
                take: &take,
                left,
                hints: &mut hints,
            };
            let Some((session, answered)) = self.ask(&mut asker).await? else {
                return Ok(Attempt::Busy { again_in: None });
            };
            match answered {
                Answered::Granted(token) => {
                    return Ok(Attempt::Granted(self.hold(session, &id, take, token)));
                }
                Answered::Refused => return Ok(Attempt::Busy { again_in: None }),
                Answered::Over { waited } => has_waited |= waited,
            }
        }
        // A server that answers between breaks is there; it is asked again, after a pause.
        match has_waited {
            true => Ok(Attempt::Busy { again_in: None }),
            false => Err(unanswered()),
        }
    }

    async fn take_all(&self, requests: &[Request]) -> Result<Option<Vec<Owned<HoldOf<O>>>>> {
        // As for one: a session may have ended between our choice and our request.
        for _ in 0..2 {
            let Some(claimed) = self.claim_all(requests) else {
                return Ok(None);
            };
            if let Some(granted) = self.take_together(requests, claimed).await? {
                return Ok(granted);
            }
        }
        Err(unanswered())
    }

    /// All of these, or none; `None` if the session ended before it answered.
    async fn take_together(
        &self,
        requests: &[Request],
        claimed: Claimed<O>,
    ) -> Result<Option<Option<Vec<Owned<HoldOf<O>>>>>> {
        let Some(bears) = requests.iter().map(|request| self.bears(request)).min() else {
            return Ok(Some(Some(Vec::new())));
        };
        let session = self.session(bears, requests.len())?;
        let takes: Vec<_> = claimed.iter().map(|(take, _)| take.clone()).collect();
        let asking = claimed.into_iter();
        let asking = asking.map(|(take, claim)| Asked::new(&session, take, Some(claim)));
        let (takings, asked): (Vec<_>, Vec<_>) = asking.unzip();
        session.ask(actor::Ask::Together(takings));
        let (mut granted, mut failed, mut is_over) = (Vec::new(), None, false);
        // Every answer, even after the end: with it the place is free to be claimed anew.
        for asked in asked {
            match asked.answer().await {
                Some(Ok(one)) => granted.extend(one),
                Some(Err(error)) => failed = Some(error),
                None => is_over = true,
            }
        }
        if is_over {
            return Ok(None);
        }
        if granted.len() < requests.len() {
            // First all are on their way, then each is waited for: they ride together.
            let back: Vec<_> = granted.into_iter().map(Granted::give_back).collect();
            for given in back {
                // A session that has ended has given everything back.
                let _ = given.await;
            }
            return failed.map_or(Ok(Some(None)), Err);
        }
        let holds = requests.iter().zip(takes).zip(granted);
        let holds = holds.map(|((request, take), granted)| {
            let hold = self.hold(session.clone(), &request.id(), take, granted.accept());
            Owned::new(hold, request.releases.clone())
        });
        Ok(Some(Some(holds.collect())))
    }

    /// A place for each, or for none.
    fn claim_all(&self, requests: &[Request]) -> Option<Claimed<O>> {
        let claimed = requests.iter().map(|request| {
            let take = Take {
                key: self.open.key(&request.id()),
                mode: request.mode,
                upgrade: false,
                waits: false,
            };
            let claim = self.claims.claim(&take.key, take.mode)?;
            Some((take, claim))
        });
        claimed.collect()
    }

    fn hold(
        &self,
        session: Link<KeyOf<O>>,
        id: &LockId,
        take: Take<KeyOf<O>>,
        token: Option<crate::lock::Token>,
    ) -> HoldOf<O> {
        let waiting = (self.options.pace, self.hints.clone(), id.clone());
        SessionHold::new(session, take.key, take.mode, token, waiting)
    }

    /// For how long the server is to bear the silence of a session this request may live on.
    pub(super) fn bears(&self, request: &Request) -> Option<Duration> {
        let usual = self.options.server_bears?;
        Some(request.lease.map_or(usual, |wish| wish.min(usual)))
    }

    /// A session with room for so many more, or a new one. The room is theirs: whoever comes at
    /// the same moment finds it taken.
    pub(super) fn session(&self, bears: Option<Duration>, more: usize) -> Result<Link<KeyOf<O>>> {
        let mut sessions = self.sessions();
        self.within_quota(&sessions, more)?;
        let (trying, capacity) = (&mut sessions.trying, self.options.capacity);
        if let Some(session) = trying.iter().find(|s| s.suits(bears, more, capacity)) {
            session.reserve(more);
            return Ok(session.clone());
        }
        let session = self.start(bears, more);
        trying.push(session.clone());
        Ok(session)
    }

    /// Opens a session, with room taken for so many.
    pub(super) fn start(&self, bears: Option<Duration>, load: usize) -> Link<KeyOf<O>> {
        let options = self.options.bearing(bears);
        let (session, run) = actor::start(self.open.clone(), options, self.rests.clone());
        session.reserve(load);
        keeper::spawn(run);
        session
    }

    /// Those that live.
    pub(super) fn sessions(&self) -> MutexGuard<'_, Sessions<KeyOf<O>>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.trying.retain(Link::is_live);
        sessions.waiting.retain(Link::is_live);
        sessions
    }

    /// Whether so many more may be asked for.
    pub(super) fn within_quota(&self, sessions: &Sessions<KeyOf<O>>, more: usize) -> Result<()> {
        let load: usize = sessions.all().map(Link::load).sum();
        match self.open.quota() {
            quota if load.saturating_add(more) > quota => Err(too_many(quota)),
            _ => Ok(()),
        }
    }
}

fn unanswered() -> Error {
    let message = "the connection ended before it answered";
    Error::new(ErrorKind::Unavailable, message)
}

fn too_many(quota: usize) -> Error {
    let message = "this process has as many locks as it may have at this server: release some, or \
                   raise the quota together with what the server can hold";
    Error::new(ErrorKind::Unavailable, message).with("quota", quota)
}

impl<O: Open> Clone for Pool<O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}
