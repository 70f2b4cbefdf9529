//! Watching what happens to locks and changing nothing: what [`Trace`](super::Trace) and the metrics
//! layer have in common.

mod hold;
mod listening;

pub use hold::ObservedHold;

use crate::lock::{
    Backend, Error, Held, Hold, Holders, Info, Instant, LockId, Loss, Name, OwnerId, Report,
    Request, Result, Token,
};
use std::{fmt, future::Future, time::Duration};
use tracing::{Instrument, Span};

/// Who is told. None of these may block: some are called on the keeper thread.
pub trait Observer: fmt::Debug + Clone + Send + Sync + 'static {
    /// What a request happens in.
    fn span(&self, _: &Subject) -> Span {
        Span::none()
    }

    /// A request, or an upgrade, is over.
    fn answered(&self, subject: &Subject, outcome: &Outcome<'_>, waited: Duration);

    /// A hold was given back, or could not be.
    fn released(&self, subject: &Subject, released: &Result<()>, held: Duration);

    /// A hold is lost. Told when it happens; its release is told as well, later.
    fn lost(&self, subject: &Subject, loss: Loss);
}

/// Which request or hold something happens to.
#[derive(Clone, Debug)]
pub struct Subject {
    pub(super) scheme: &'static str,
    pub(super) name: Name,
    /// The mode's word, or [`UPGRADE`].
    pub(super) mode: &'static str,
    pub(super) owner: OwnerId,
}

/// The step from upgradeable reader to writer.
pub(super) const UPGRADE: &str = "upgrade";

/// How a request ended.
#[derive(Debug)]
pub enum Outcome<'a> {
    /// With the lock.
    Granted(Option<Token>),
    /// Somebody else had it until the deadline.
    Busy,
    /// With an error.
    Failed(&'a Error),
    /// Nobody waited for its end.
    Abandoned,
}

/// A backend that somebody watches.
#[derive(Debug)]
pub struct Observed<O, B> {
    observer: O,
    inner: B,
}

impl<O: Observer, B: Backend> Observed<O, B> {
    pub(super) const fn new(observer: O, inner: B) -> Self {
        Self { observer, inner }
    }

    fn ask(&self, request: &Request) -> Asking<O> {
        let subject = Subject {
            scheme: self.inner.info().scheme,
            name: request.name.clone(),
            mode: request.mode.as_str(),
            owner: request.owner,
        };
        Asking::new(self.observer.clone(), subject)
    }
}

impl<O: Observer, B: Backend> Backend for Observed<O, B> {
    type Hold = ObservedHold<O, B::Hold>;

    fn info(&self) -> Info {
        self.inner.info()
    }

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        let asking = self.ask(&request);
        let span = asking.span();
        let answer = self.inner.acquire(request).instrument(span.clone()).await;
        let _in = span.enter();
        match answer {
            Ok(Some(hold)) => Ok(Some(asking.granted(hold))),
            Ok(None) => {
                asking.answered(&Outcome::Busy);
                Ok(None)
            }
            Err(error) => {
                asking.answered(&Outcome::Failed(&error));
                Err(error)
            }
        }
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        let askings: Vec<_> = requests.iter().map(|request| self.ask(request)).collect();
        match self.inner.acquire_all(requests).await {
            Ok(Some(holds)) => {
                let holds = askings.into_iter().zip(holds);
                Ok(Some(
                    holds.map(|(asking, hold)| asking.granted(hold)).collect(),
                ))
            }
            Ok(None) => {
                for asking in askings {
                    asking.answered(&Outcome::Busy);
                }
                Ok(None)
            }
            Err(error) => {
                for asking in askings {
                    asking.answered(&Outcome::Failed(&error));
                }
                Err(error)
            }
        }
    }

    fn holders(&self, id: &LockId) -> impl Future<Output = Result<Holders>> + Send {
        self.inner.holders(id)
    }

    fn held(&self, beginning: &str) -> impl Future<Output = Result<Vec<Held>>> + Send {
        self.inner.held(beginning)
    }

    fn break_lock(&self, id: &LockId) -> impl Future<Output = Result<usize>> + Send {
        self.inner.break_lock(id)
    }

    fn doctor(&self) -> impl Future<Output = Result<Report>> + Send {
        self.inner.doctor()
    }

    fn collect(&self, idle: Duration) -> impl Future<Output = Result<usize>> + Send {
        self.inner.collect(idle)
    }
}

/// A request under way. Dropped without an answer, it was abandoned.
struct Asking<O: Observer> {
    /// `None` once answered.
    open: Option<(O, Subject)>,
    since: Instant,
}

impl<O: Observer> Asking<O> {
    fn new(observer: O, subject: Subject) -> Self {
        Self {
            open: Some((observer, subject)),
            since: Instant::now(),
        }
    }

    fn span(&self) -> Span {
        let open = self.open.as_ref();
        open.map_or_else(Span::none, |(observer, subject)| observer.span(subject))
    }

    fn granted<H: Hold>(mut self, hold: H) -> ObservedHold<O, H> {
        let (observer, subject) = self
            .tell(&Outcome::Granted(hold.token()))
            .expect("it is answered once, by value");
        ObservedHold::new(observer, subject, hold)
    }

    fn answered(mut self, outcome: &Outcome<'_>) {
        self.tell(outcome);
    }

    fn tell(&mut self, outcome: &Outcome<'_>) -> Option<(O, Subject)> {
        let (observer, subject) = self.open.take()?;
        observer.answered(&subject, outcome, self.since.elapsed());
        Some((observer, subject))
    }
}

impl<O: Observer> Drop for Asking<O> {
    fn drop(&mut self) {
        self.tell(&Outcome::Abandoned);
    }
}
