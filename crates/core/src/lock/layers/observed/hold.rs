//! A hold that somebody watches.

use super::{Asking, Observer, Outcome, Subject, UPGRADE, listening::Listening};
use crate::lock::{Deadline, Hold, Instant, Lost, Result, Token};

/// A hold that somebody watches.
#[derive(Debug)]
pub struct ObservedHold<O, H> {
    observer: O,
    subject: Subject,
    since: Instant,
    listening: Listening,
    inner: H,
}

impl<O: Observer, H: Hold> ObservedHold<O, H> {
    pub(super) fn new(observer: O, subject: Subject, inner: H) -> Self {
        let listening = Listening::new(inner.lost(), {
            let (observer, subject) = (observer.clone(), subject.clone());
            move |loss| observer.lost(&subject, loss)
        });
        Self {
            observer,
            subject,
            since: Instant::now(),
            listening,
            inner,
        }
    }
}

impl<O: Observer, H: Hold> Hold for ObservedHold<O, H> {
    const AT_ONCE: bool = H::AT_ONCE;

    fn token(&self) -> Option<Token> {
        self.inner.token()
    }

    fn lost(&self) -> Lost {
        self.inner.lost()
    }

    fn valid_until(&self) -> Option<Instant> {
        self.inner.valid_until()
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        self.inner.descriptors()
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        let subject = Subject {
            mode: UPGRADE,
            ..self.subject.clone()
        };
        let asking = Asking::new(self.observer.clone(), subject);
        let upgraded = self.inner.upgrade(deadline).await;
        asking.answered(&match &upgraded {
            Ok(true) => Outcome::Granted(self.inner.token()),
            Ok(false) => Outcome::Busy,
            Err(error) => Outcome::Failed(error),
        });
        upgraded
    }

    async fn release(self) -> Result<()> {
        // What ends from here on is given back and not lost.
        drop(self.listening);
        let held = self.since.elapsed();
        let released = self.inner.release().await;
        self.observer.released(&self.subject, &released, held);
        released
    }
}
