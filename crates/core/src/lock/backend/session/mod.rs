//! Sessions: grants that live on a connection. Postgres and SQL Server are made of these.
//!
//! A backend says what one round trip does ([`Session::exchange`]); the [`Pool`] does the rest:
//!
//! * **One task owns each connection.** Callers never touch it, so a dropped future cannot leave
//!   a statement running that nobody reads.
//! * **Batches.** What is asked while a round trip is under way rides in the next one. A lone
//!   caller never waits for company.
//! * **Many locks, few connections.** A session takes up to [`Options::capacity`] grants before
//!   another is opened; nothing ever waits at the server on a session that holds something.
//! * **Waiting.** Whoever is refused and may wait stays with the session, which tries again for all
//!   of them in one round trip: when the server says that somebody let go, and now and then anyway.
//!   Where a session can [wait at the server](Session::wait), a few do, each for one who was refused.
//! * **Taking turns.** Whoever gave back what others wait for lets them go first.
//! * **A session does not exclude itself**, so the pool does: by key, not by name, and across all
//!   its sessions. Two names that fall on one key exclude each other.
//! * **Loss.** When a connection breaks, stays silent for too long or outlives what the server
//!   would bear, every hold on it is lost at once and its keys are free to be asked for again.
//!
//! The tasks live on the [keeper thread](super::keeper), so that connections outlive the runtime
//! they were first used from.

mod actor;
mod asking;
mod at_server;
mod claims;
mod early;
mod hold;
mod link;
mod looks;
mod pool;
mod rests;
mod riders;
mod taking;
mod waiters;

pub use hold::SessionHold;
pub use pool::Pool;

use super::Pace;
use crate::lock::{Error, ErrorKind, LockId, Mode, Result, Token};
use std::{fmt, hash::Hash, time::Duration};

/// Opens sessions; the pool decides when.
pub trait Open: fmt::Debug + Send + Sync + 'static {
    /// A connection.
    type Session: Session;

    /// Connects. The server is to end the session once it has been silent for as long as `bears`
    /// says, and so to free what a frozen process holds.
    fn open(&self, bears: Option<Duration>) -> impl Future<Output = Result<Self::Session>> + Send;

    /// What the server locks on for `id`. Locks whose keys are equal exclude each other.
    fn key(&self, id: &LockId) -> KeyOf<Self>;

    /// Whether a session can [wait at the server](Session::wait) for a grant in this mode.
    fn waits_for(&self, _mode: Mode) -> bool {
        false
    }

    /// How many grants and requests this process may have at the server, as far as is known by now.
    fn quota(&self) -> usize {
        usize::MAX
    }
}

/// The key type of what `O` opens.
pub type KeyOf<O> = <<O as Open>::Session as Session>::Key;

/// A connection on which grants live and die together.
pub trait Session: fmt::Debug + Send + 'static {
    /// What the server locks on.
    type Key: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static;

    /// One round trip: first everything is given back, then who waits no more is forgotten, then
    /// each take is tried; none waits. An empty batch only proves that the connection lives.
    ///
    /// Answers with the takes that were granted; what is not among them was refused. No key occurs
    /// twice in a batch.
    ///
    /// # Errors
    /// Leaves open what of the batch was done; [`Session::clean_up`] settles that.
    fn exchange(
        &mut self,
        batch: &Batch<Self::Key>,
    ) -> impl Future<Output = Result<Answer<Self::Key>>> + Send;

    /// After a failed exchange: makes sure that all its gives are given and none of its takes is
    /// held.
    ///
    /// # Errors
    /// Ends the session, which has the same effect.
    fn clean_up(&mut self, batch: &Batch<Self::Key>) -> impl Future<Output = Result<()>> + Send;

    /// Waits for news between exchanges: the key of something that somebody let go of.
    ///
    /// # Errors
    /// Only once the connection is of no more use.
    ///
    /// # Cancel safety
    /// Dropped and called again between any two exchanges.
    fn news(&mut self) -> impl Future<Output = Result<Self::Key>> + Send;

    /// Waits at the server for one grant, for `at_most` so long; `None` if it was over before. Asked
    /// of a session that holds nothing, and only where [`Open::waits_for`] says so.
    ///
    /// # Errors
    /// Leaves open whether it was granted; [`Session::stop`] settles that.
    ///
    /// # Cancel safety
    /// Dropped half way, [`Session::stop`] comes before anything else.
    fn wait(
        &mut self,
        _take: &Take<Self::Key>,
        _at_most: Duration,
    ) -> impl Future<Output = Result<Option<Taken<Self::Key>>>> + Send {
        std::future::ready(Ok(None))
    }

    /// After a wait that failed or was dropped half way: makes sure that nothing is waited for and
    /// nothing is held.
    ///
    /// # Errors
    /// Ends the session, which has the same effect.
    fn stop(&mut self, _take: &Take<Self::Key>) -> impl Future<Output = Result<()>> + Send {
        let message = "this session cannot stop waiting";
        std::future::ready(Err(Error::new(ErrorKind::Unsupported, message)))
    }
}

/// What rides in one round trip.
#[derive(Debug)]
#[non_exhaustive]
pub struct Batch<K> {
    /// First these.
    pub gives: Vec<Give<K>>,
    /// Then these: takes that were refused, or whose round trip failed, and for which nobody waits
    /// any more.
    pub leaves: Vec<Take<K>>,
    /// Then these.
    pub takes: Vec<Take<K>>,
}

impl<K> Batch<K> {
    /// Whether it only proves that the connection lives.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.gives.is_empty() && self.leaves.is_empty() && self.takes.is_empty()
    }
}

/// One grant to give back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Give<K> {
    /// Which.
    pub key: K,
    /// How it is held.
    pub mode: Mode,
    /// Not all the way: an upgraded writer becomes an upgradeable reader again.
    pub downgrade: bool,
}

/// One grant to try for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Take<K> {
    /// Which.
    pub key: K,
    /// How.
    pub mode: Mode,
    /// This session is the upgradeable reader and wants to be the writer.
    pub upgrade: bool,
    /// If refused, it is tried for again on this session, until it is granted or among the
    /// [`leaves`](Batch::leaves): the server may be told that somebody waits.
    pub waits: bool,
}

/// What one round trip brought.
#[derive(Clone, Debug)]
pub struct Answer<K> {
    /// What was granted.
    pub taken: Vec<Taken<K>>,
    /// What was given back while others wait for it, where the server tells: they go first.
    pub contended: Vec<K>,
}

impl<K> Answer<K> {
    /// These were granted, and nothing is known of others who wait.
    #[must_use]
    pub const fn granting(taken: Vec<Taken<K>>) -> Self {
        Self {
            taken,
            contended: Vec::new(),
        }
    }
}

/// One take that was granted.
#[derive(Clone, Debug)]
pub struct Taken<K> {
    /// Which.
    pub key: K,
    /// Its token, where the server has them.
    pub token: Option<Token>,
}

/// How a pool behaves.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How many grants live on one session before another is opened. Default: 1,000.
    pub capacity: usize,
    /// How many keys ride in one round trip. Default: 1,000.
    pub batch: usize,
    /// How long an answer may take before the session is given up. Default: 5 s.
    pub patience: Duration,
    /// How often an idle session is asked whether it lives. Default: 2 s.
    pub ping_every: Duration,
    /// For how long the server bears a silent session; its grants are valid for that long after
    /// the last request that was answered. Default: `None`, for as long as the connection stands.
    pub server_bears: Option<Duration>,
    /// How long a session that holds nothing is kept. Default: 10 s.
    pub linger: Duration,
    /// How often to try again for what was busy, without news. A session tries for all who wait
    /// after the longest; the rest is for what this process itself is in the way of, and for
    /// upgrades. Default: 50 to 150 ms.
    pub pace: Pace,
    /// How many sessions may wait at the server, or hold what they waited for. Whoever finds none
    /// free is tried for again at the pace. Default: 4.
    pub places: usize,
    /// How long a session waits at the server before it asks anew, which bounds how long a server
    /// can keep a place in its line for a process that is gone without a trace. Default: 10 s.
    pub wait_at_most: Duration,
}

impl Options {
    /// The same for a session whose silence the server bears for so long.
    fn bearing(mut self, bears: Option<Duration>) -> Self {
        if let Some(bears) = bears.filter(|_| bears != self.server_bears) {
            // Two of them may go unanswered.
            self.ping_every = self.ping_every.min(bears / 3);
        }
        self.server_bears = bears;
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            capacity: 1000,
            batch: 1000,
            patience: Duration::from_secs(5),
            ping_every: Duration::from_secs(2),
            server_bears: None,
            linger: Duration::from_secs(10),
            pace: Pace {
                least: Duration::from_millis(50),
                most: Duration::from_millis(150),
            },
            places: 4,
            wait_at_most: Duration::from_secs(10),
        }
    }
}
