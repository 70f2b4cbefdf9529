//! A backend with a will of its own: it answers as a script says, remembers what it was asked, and
//! has something of everything a layer might forget.

use lockwork_core::lock::{
    Backend, Capability, Deadline, Error, ErrorKind, Finding, Guarantee, Held, Hold, Holders, Info,
    Instant, LockId, Lost, Memory, MemoryHold, Report, Request, Result, Scope, Severity, Token,
};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Moody(Arc<State>);

#[derive(Debug, Default)]
struct State {
    memory: Memory,
    script: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<Asked>>,
    keeps: AtomicBool,
    forgets: AtomicBool,
}

/// What an operation meets instead of the memory behind this.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Fails(ErrorKind),
    Busy,
}

/// One operation, and when it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: tokio::time::Instant,
    pub(crate) request: Option<Request>,
}

/// How long every grant says it is good.
pub(crate) const GOOD_FOR: Duration = Duration::from_secs(3600);

/// What [`Backend::collect`] says.
pub(crate) const COLLECTED: usize = 42;

impl Moody {
    /// The next operations meet `answers`, those after them nothing unusual.
    pub(crate) fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let moody = Self::default();
        moody.script(answers);
        moody
    }

    pub(crate) fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        self.0.script.lock().unwrap().extend(answers);
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.0.asked.lock().unwrap().clone()
    }

    /// The requests among them.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.asked()
            .into_iter()
            .filter_map(|it| it.request)
            .collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.memory.is_empty()
    }

    /// From now on a release is done and says that it was not.
    pub(crate) fn fail_releases(&self) {
        self.0.keeps.store(true, SeqCst);
    }

    /// Everybody loses what they hold.
    pub(crate) fn forget(&self) {
        self.0.memory.forget_everything();
    }

    /// From now on a lock is lost in the act of being given back.
    pub(crate) fn forget_on_release(&self) {
        self.0.forgets.store(true, SeqCst);
    }

    /// `true` if the script says that it is busy.
    fn meet(&self, request: Option<&Request>) -> Result<bool> {
        self.0.asked.lock().unwrap().push(Asked {
            at: tokio::time::Instant::now(),
            request: request.cloned(),
        });
        match self.0.script.lock().unwrap().pop_front() {
            None => Ok(false),
            Some(Answer::Busy) => Ok(true),
            Some(Answer::Fails(kind)) => Err(Error::new(kind, "not in the mood")),
        }
    }

    fn hold(&self, inner: MemoryHold) -> MoodyHold {
        MoodyHold {
            inner,
            until: Instant::now() + GOOD_FOR,
            moody: self.clone(),
        }
    }
}

impl Backend for Moody {
    type Hold = MoodyHold;

    fn info(&self) -> Info {
        let capability = Capability::all();
        Info::new("moody", Scope::Host, Guarantee::BestEffort, capability)
    }

    async fn acquire(&self, request: Request) -> Result<Option<MoodyHold>> {
        if self.meet(Some(&request))? {
            return Ok(None);
        }
        let hold = self.0.memory.acquire(request).await?;
        Ok(hold.map(|hold| self.hold(hold)))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<MoodyHold>>> {
        if self.meet(requests.first())? {
            return Ok(None);
        }
        let holds = self.0.memory.acquire_all(requests).await?;
        Ok(holds.map(|holds| holds.into_iter().map(|hold| self.hold(hold)).collect()))
    }

    async fn holders(&self, id: &LockId) -> Result<Holders> {
        self.meet(None)?;
        self.0.memory.holders(id).await
    }

    async fn held(&self, beginning: &str) -> Result<Vec<Held>> {
        self.meet(None)?;
        self.0.memory.held(beginning).await
    }

    async fn break_lock(&self, id: &LockId) -> Result<usize> {
        self.meet(None)?;
        self.0.memory.break_lock(id).await
    }

    async fn doctor(&self) -> Result<Report> {
        self.meet(None)?;
        let finding = Finding::new(Severity::Unsafe, "a mood", "wait until it is over");
        Ok(Report::new(vec![finding]))
    }

    async fn collect(&self, _: Duration) -> Result<usize> {
        self.meet(None)?;
        Ok(COLLECTED)
    }
}

#[derive(Debug)]
pub(crate) struct MoodyHold {
    inner: MemoryHold,
    until: Instant,
    moody: Moody,
}

impl Hold for MoodyHold {
    const AT_ONCE: bool = true;

    fn token(&self) -> Option<Token> {
        self.inner.token()
    }

    fn lost(&self) -> Lost {
        self.inner.lost()
    }

    fn valid_until(&self) -> Option<Instant> {
        Some(self.until)
    }

    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        Ok(vec![std::fs::File::open("/dev/null")?.into()])
    }

    async fn upgrade(&mut self, deadline: Deadline) -> Result<bool> {
        if self.moody.meet(None)? {
            return Ok(false);
        }
        self.inner.upgrade(deadline).await
    }

    async fn release(self) -> Result<()> {
        if self.moody.0.forgets.load(SeqCst) {
            self.moody.forget();
        }
        self.inner.release().await?;
        if self.moody.0.keeps.load(SeqCst) {
            return Err(Error::new(ErrorKind::Unavailable, "not in the mood"));
        }
        Ok(())
    }
}
