//! For people who write backends: the contract, and the engine that does the hard parts.
//!
//! A backend answers one question: [`Backend::acquire`], *this name, in this mode, waiting this
//! long*. Everything users touch is built on that answer, once, in this crate. So is everything
//! that is hard:
//!
//! | task | use |
//! |---|---|
//! | an attempt must not be cut off half way | [`Shield`] |
//! | a grant must never be lost on its way | [`Owned`]: its drop gives it back |
//! | wait for a server that can give hints, or cannot | [`wait_for_grant`], [`Hints`] |
//! | be told by another backend where one's own server tells nobody | [`wake::Wake`] |
//! | keep leases alive, notice when they are not | [`lease::LeaseKeeper`] |
//! | ask many questions in few calls | [`line::Lines`] |
//! | many locks on few connections, in few round trips | [`session::Pool`] |
//! | work that outlives the user's runtime | [`keeper`] |
//! | exclusion and order inside one process | [`queue::Queue`]; [`Locks`](super::Locks) puts it in front of every backend |
//! | take several at once without a statement for it | [`try_each`] |
//!
//! What is left for the backend crate is its server: the statement, the script, the error codes.
//!
//! # The contract
//!
//! * **Exclusion.** Two requests that reach one server exclude each other as
//!   [`Present`] says, also when they come from one process. ([`queue::Queue`] stands
//!   in front, but two `Locks` on clones of one backend have two queues.)
//! * **Deadline.** At least one try, whatever the deadline; `Ok(None)` once it has passed. Where the
//!   server could not even be asked by then, an error: `None` says that somebody else has the lock.
//! * **Cancel safety.** The acquire future may be dropped at any await. Then nothing stays held
//!   and no waiter stays queued at the server. What only asks may be dropped anyhow.
//! * **Idempotence.** A request carries its owner id; a server that has already granted it says
//!   so again. A release frees what that owner holds and nothing else.
//! * **Errors.** Once an acquire has failed before its deadline, no attempt of its owner is under way
//!   any more that could be granted or given back later: a retry carries the same owner. After the
//!   deadline nobody retries.
//! * **Validity.** [`Hold::valid_until`] counts from before the request was sent. When it passes,
//!   [`Hold::lost`] fires without waiting for any answer. A loss is never healed.
//! * **Tokens** rise per name across release, expiry, crash and restart, for as long as the server
//!   keeps its data.

mod any;
pub mod client;
mod each;
mod hints;
pub mod keeper;
pub mod lease;
pub mod line;
mod owned;
pub mod queue;
pub mod session;
mod shield;
mod upgrade;
mod wait;
pub mod wake;

pub use super::{
    id::{ByName, NameHasher},
    mode::Present,
};
pub use any::{AnyBackend, AnyHold};
pub(in crate::lock) use each::give_back;
pub use each::try_each;
pub use hints::{Hints, Listener};
pub use owned::{Owned, Releases};
pub use shield::Shield;
pub use upgrade::Upgrade;
pub use wait::{Attempt, Pace, wait_for_grant, wait_until};

use super::{
    Deadline, Error, ErrorKind, Held, Holders, Info, Instant, LockId, Lost, Report, Request,
    Result, Token,
};
use std::{fmt, time::Duration};

/// A place where locks live. The contract is in the [module's page](self).
pub trait Backend: fmt::Debug + Send + Sync + 'static {
    /// What a grant is here.
    type Hold: Hold;

    /// What this backend is and can do. Never changes.
    fn info(&self) -> Info;

    /// Asks for one lock. `Ok(None)` when the deadline passed first.
    fn acquire(&self, request: Request) -> impl Future<Output = Result<Option<Self::Hold>>> + Send;

    /// Tries to take all of these at once, or none, without waiting for anybody.
    ///
    /// The requests are for different locks and in the order of their ids; so are the holds.
    /// [`try_each`] does it for servers that have no way of their own.
    fn acquire_all(
        &self,
        requests: Vec<Request>,
    ) -> impl Future<Output = Result<Option<Vec<Self::Hold>>>> + Send;

    /// Who holds `id` and who waits for it.
    fn holders(&self, id: &LockId) -> impl Future<Output = Result<Holders>> + Send;

    /// Which locks are held whose names begin with `beginning`, or may: see [`Held::is_whole`].
    ///
    /// Unless a backend says otherwise it keeps nothing of which names could be made.
    fn held(&self, beginning: &str) -> impl Future<Output = Result<Vec<Held>>> + Send {
        let _ = beginning;
        let message = "these locks cannot be listed: their names are kept as numbers that lead back to none. Ask for \
                       one by its name, as `lockwork holders NAME` does";
        let scheme = self.info().scheme;
        std::future::ready(Err(
            Error::new(ErrorKind::Unsupported, message).with("backend", scheme)
        ))
    }

    /// Takes `id` away from everybody who holds it, and says from how many.
    ///
    /// Their guards are lost as soon as they can be told, and the next grant has a higher token
    /// than any of theirs.
    fn break_lock(&self, id: &LockId) -> impl Future<Output = Result<usize>> + Send;

    /// Looks at the deployment.
    fn doctor(&self) -> impl Future<Output = Result<Report>> + Send;

    /// Removes what names left behind that nobody has used for `idle`, and says of how many.
    ///
    /// Never what anybody holds or waits for, and tokens rise across it. Nothing to do for a
    /// server whose leftovers end by themselves.
    fn collect(&self, idle: Duration) -> impl Future<Output = Result<usize>> + Send {
        let _ = idle;
        std::future::ready(Ok(0))
    }
}

/// One grant, as the backend sees it.
///
/// It needs no `Drop`: the engine keeps every hold in an [`Owned`] from the moment it exists.
pub trait Hold: fmt::Debug + Send + Sync + 'static {
    /// Whether [`Hold::release`] never waits for anything: one poll, on any thread, and it is over.
    /// Such a hold is released then and there, without a box or a thread to go on on.
    const AT_ONCE: bool = false;

    /// Whether [`Hold::release`], and the tries that lead to such a hold, open neither timers nor sockets of
    /// their own, but wait for what tasks tell that have theirs. Such work needs less of a [`Shield`].
    const QUIET: bool = false;

    /// The grant's token; promised for exclusive, write and upgraded grants where the backend has
    /// tokens at all.
    fn token(&self) -> Option<Token>;

    /// Resolves if the grant is lost.
    fn lost(&self) -> Lost;

    /// Until when the grant is good if nothing more is heard from the server; `None` if it needs
    /// no news.
    fn valid_until(&self) -> Option<Instant>;

    /// Duplicates of the descriptors this grant rests on, where it rests on any: the grant lasts for
    /// as long as any process has one of them open, or until it is released. None by default.
    ///
    /// # Errors
    /// What the system says, when it gives no more descriptors.
    #[cfg(unix)]
    fn descriptors(&self) -> std::io::Result<Vec<std::os::fd::OwnedFd>> {
        Ok(Vec::new())
    }

    /// Makes an upgradeable reader the writer, once all other readers have left. `false` when the
    /// deadline passed first.
    ///
    /// Afterwards [`Hold::token`] is the writer's. When this fails, runs out or is dropped half
    /// way, the hold is what it was, an upgradeable reader, or it is lost; never silently a writer.
    fn upgrade(&mut self, deadline: Deadline) -> impl Future<Output = Result<bool>> + Send;

    /// Gives the grant back. Of a grant that was lost, does nothing, successfully.
    ///
    /// The engine never drops this half way; it runs [shielded](Shield).
    fn release(self) -> impl Future<Output = Result<()>> + Send
    where
        Self: Sized;
}
