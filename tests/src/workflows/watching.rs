//! Whether a step begins although its node may not work on the instance any more.
//!
//! Whoever calls an activity asks right before whether the lock is lost. It may be lost between that and the moment in which
//! it is asked here, and the process may be frozen in between: nobody can do anything about that, and what follows is not
//! committed. So what counts is what was said to the one who asked.

use futures_util::FutureExt;
use lockwork::{
    Backend, Deadline, Held, Hold, Holders, Info, Instant, LockId, Locks, Lost, Name, Report,
    Request, Result, Token,
    flow::{Around, Calling, Cx, Doing, Registry},
    layers::Layer,
};
use std::{cell::RefCell, fs::File, io::Write, path::PathBuf, time::Duration};

thread_local! {
    /// The lock of which was said last on this thread that it is good, until a step begins here.
    static GOOD: RefCell<Option<Name>> = const { RefCell::new(None) };
}

/// What the key of the lock of an instance begins with.
const KEY: &str = "workflow-instance:";

/// The same activities, and steps of them that begin although the turn of their instance is over are written to a file, one
/// in a line; unless the lock was good when it was asked for that: for locks that are [`asked`].
#[must_use]
pub fn watched(registry: Registry, file: PathBuf) -> Registry {
    registry.around(Watching { file })
}

#[derive(Debug)]
struct Watching {
    file: PathBuf,
}

impl Around for Watching {
    /// Asks anew, and not whoever should have asked before the call.
    fn around<'a>(&'a self, cx: &'a mut Cx<'_>, calling: Calling<'a>) -> Doing<'a> {
        let good = GOOD.take();
        let good = good
            .as_ref()
            .and_then(|name| name.as_str().strip_prefix(KEY));
        let is_lost = cx.lost().now_or_never().is_some();
        // What was just said was not said to whoever calls the next one.
        GOOD.take();
        if is_lost && good != Some(cx.instance().as_str()) {
            let file = File::options().append(true).create(true).open(&self.file);
            let line = format!("{} {}\n", calling.kind(), cx.key());
            let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
            written.expect("the file can be written");
        }
        calling.call(cx)
    }
}

/// The same locks, and it is remembered whether they were good when they were asked last.
#[must_use]
pub fn asked(locks: &Locks) -> Locks {
    locks.layer(Asking)
}

#[derive(Debug)]
struct Asking;

impl<B: Backend> Layer<B> for Asking {
    type Layered = Asked<B>;

    fn layer(self, inner: B) -> Asked<B> {
        Asked(inner)
    }
}

#[derive(Debug)]
struct Asked<B>(B);

impl<B: Backend> Backend for Asked<B> {
    type Hold = AskedHold<B::Hold>;

    fn info(&self) -> Info {
        self.0.info()
    }

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        let name = request.name.clone();
        let hold = self.0.acquire(request).await?;
        Ok(hold.map(|inner| AskedHold { name, inner }))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        let names: Vec<_> = requests
            .iter()
            .map(|request| request.name.clone())
            .collect();
        let holds = self.0.acquire_all(requests).await?;
        let held = |(inner, name)| AskedHold { name, inner };
        Ok(holds.map(|holds| holds.into_iter().zip(names).map(held).collect()))
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        self.0.holders(id).await
    }

    async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        self.0.held(beginning).await
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        self.0.break_lock(id).await
    }

    async fn doctor(&self) -> Result<Report> {
        self.0.doctor().await
    }

    async fn collect(&self, idle: Duration) -> Result<usize> {
        self.0.collect(idle).await
    }
}

#[derive(Debug)]
struct AskedHold<H> {
    name: Name,
    inner: H,
}

impl<H: Hold> Hold for AskedHold<H> {
    const AT_ONCE: bool = H::AT_ONCE;

    fn token(&self) -> Option<Token> {
        self.inner.token()
    }

    fn lost(&self) -> Lost {
        self.inner.lost()
    }

    /// Asked of each that is not known to be lost.
    fn valid_until(&self) -> Option<Instant> {
        let until = self.inner.valid_until();
        let is_good = !until.is_some_and(Instant::has_passed);
        GOOD.set(is_good.then(|| self.name.clone()));
        until
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        self.inner.descriptors()
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        self.inner.upgrade(deadline).await
    }

    async fn release(self) -> Result<()> {
        self.inner.release().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork::Memory;

    #[tokio::test]
    async fn what_was_said_to_the_last_one_who_asked_is_remembered_once() {
        let locks = asked(&Locks::new(Memory::new()));
        let guard = locks.mutex("x").lock().await.expect("a lock");
        assert!(guard.is_valid());
        assert_eq!(GOOD.take().expect("it is good").as_str(), "x");
        assert!(GOOD.take().is_none());
    }
}
