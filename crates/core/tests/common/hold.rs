//! A hold that tells of its release, and a backend that grants nothing else.

use super::events::{Count, Gate};
use lockwork_core::lock::{
    Backend, Capability, Deadline, Error, ErrorKind, Guarantee, Hold, Holders, Info, Instant,
    LockId, Lost, Report, Request, Result, Scope, Token,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// What the holds of one test tell, and what they are told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Releases pass here.
    pub(crate) release: Gate,
    pub(crate) released: Count,
    fails: Arc<AtomicBool>,
    takes: Option<Duration>,
}

impl Ledger {
    pub(crate) fn hold(&self) -> FakeHold {
        FakeHold(self.clone())
    }

    /// From now on releases fail, at the server.
    pub(crate) fn fail(&self) {
        self.fails.store(true, Ordering::SeqCst);
    }

    /// Releases need a timer.
    pub(crate) fn slow(by: Duration) -> Self {
        Self {
            takes: Some(by),
            ..Self::default()
        }
    }
}

/// A hold whose release is told to its [`Ledger`]. Dropped as it is, it is never released.
#[derive(Debug)]
pub(crate) struct FakeHold(Ledger);

impl Hold for FakeHold {
    fn token(&self) -> Option<Token> {
        Token::from_server(1)
    }

    fn lost(&self) -> Lost {
        Lost::never()
    }

    fn valid_until(&self) -> Option<Instant> {
        None
    }

    async fn upgrade(&mut self, _: Deadline) -> Result<bool> {
        Ok(false)
    }

    async fn release(self) -> Result<()> {
        self.0.release.pass().await;
        if let Some(time) = self.0.takes {
            tokio::time::sleep(time).await;
        }
        self.0.released.add();
        if self.0.fails.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Unavailable, "the server is away"));
        }
        Ok(())
    }
}

/// A backend that grants whatever it is asked for.
#[derive(Debug)]
pub(crate) struct Grants(pub(crate) Ledger);

impl Backend for Grants {
    type Hold = FakeHold;

    fn info(&self) -> Info {
        Info::new(
            "fake",
            Scope::Process,
            Guarantee::BestEffort,
            Capability::all(),
        )
    }

    async fn acquire(&self, _: Request) -> Result<Option<FakeHold>> {
        Ok(Some(self.0.hold()))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<FakeHold>>> {
        Ok(Some(requests.iter().map(|_| self.0.hold()).collect()))
    }

    async fn holders(&self, _: &LockId) -> Result<Holders> {
        Ok(Holders::default())
    }

    async fn break_lock(&self, _: &LockId) -> Result<usize> {
        Ok(0)
    }

    async fn doctor(&self) -> Result<Report> {
        Ok(Report::default())
    }
}
