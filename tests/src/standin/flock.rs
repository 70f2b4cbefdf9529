//! Mutexes that rest on descriptors, as simple as can be: each is the operating system's own lock on
//! an open file. They end when the last process has closed it, which is what `exec` builds on.

use lockwork::{
    Backend, Capability, Deadline, Driver, Error, ErrorKind, Guarantee, Hold, Holders, Info,
    Instant, LockId, Locks, Lost, Report, Request, Result, Scope, Token, backend::try_each,
};
use std::{
    fs::{File, OpenOptions, TryLockError},
    path::PathBuf,
    time::Duration,
};

/// How often to ask again.
const PACE: Duration = Duration::from_millis(2);

/// `standin-flock:/DIRECTORY`.
pub const FLOCK: Driver = Driver {
    schemes: &["standin-flock"],
    connect: |url| {
        let dir = PathBuf::from(url.path());
        Box::pin(async { Ok(Locks::with_tenure(FlockBackend { dir }, Duration::ZERO)) })
    },
};

/// Locks on the files of a directory.
#[derive(Clone, Debug)]
pub struct FlockBackend {
    dir: PathBuf,
}

/// A locked file.
#[derive(Debug)]
pub struct Flocked(File);

impl FlockBackend {
    fn try_lock(&self, request: &Request) -> Result<Option<Flocked>> {
        let path = self.dir.join(format!("{}.lock", request.name));
        let mut how = OpenOptions::new();
        let file = how.append(true).create(true).open(path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Flocked(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(refused(error)),
        }
    }
}

impl Backend for FlockBackend {
    type Hold = Flocked;

    fn info(&self) -> Info {
        let capability = Capability::mutex_only();
        Info::new("standin-flock", Scope::Host, Guarantee::Process, capability)
    }

    async fn acquire(&self, request: Request) -> Result<Option<Flocked>> {
        loop {
            let last = request.deadline.has_passed();
            match self.try_lock(&request)? {
                None if !last => tokio::time::sleep(PACE).await,
                answer => return Ok(answer),
            }
        }
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Flocked>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, _: &LockId) -> Result<Holders> {
        Ok(Holders::default())
    }

    async fn break_lock(&self, _: &LockId) -> Result<usize> {
        Err(Error::new(ErrorKind::Unsupported, "nobody can break these"))
    }

    async fn doctor(&self) -> Result<Report> {
        Ok(super::report())
    }
}

impl Hold for Flocked {
    fn token(&self) -> Option<Token> {
        None
    }

    fn lost(&self) -> Lost {
        Lost::never()
    }

    fn valid_until(&self) -> Option<Instant> {
        None
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        Ok(vec![self.0.try_clone()?.into()])
    }

    async fn upgrade(&mut self, _: Deadline) -> Result<bool> {
        Err(Error::new(ErrorKind::Unsupported, "these are mutexes"))
    }

    async fn release(self) -> Result<()> {
        self.0.unlock().map_err(refused)
    }
}

fn refused(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "the lock's file cannot be used").because(error)
}
