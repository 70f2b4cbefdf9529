//! The cases, by what they are about.

mod administering;
mod as_mutex;
mod cancelling;
mod closing;
mod dropping;
mod fencing;
mod leasing;
mod losing;
mod naming;
mod processes;
mod rw_lock;
mod semaphore;
mod together;
mod upgrading;
mod waiting;

use crate::{BoxFuture, Context, Harness, Promise};
use lockwork::{Guarantee, Info};
use std::time::Duration;

/// One fact every backend must show.
#[derive(Clone, Copy)]
pub struct Case {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    pub(crate) every_view: bool,
    pub(crate) needs: &'static [Need],
    pub(crate) limit: Duration,
    pub(crate) body: fn(Context) -> BoxFuture<'static, ()>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Case({}::{})", self.group, self.name)
    }
}

/// What a case needs of a backend to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    RwLock,
    Upgradeable,
    Semaphore,
    Token,
    Lease,
    /// Several of its leases end within seconds.
    ShortLease,
    Sever,
    OtherProcesses,
    Promise(Promise),
}

/// What is known of a backend before a case begins.
pub(crate) struct Scene<'a> {
    pub(crate) info: Info,
    pub(crate) harness: &'a dyn Harness,
}

impl Need {
    pub(crate) fn is_met(self, scene: &Scene<'_>) -> bool {
        let can = scene.info.capability;
        match self {
            Self::RwLock => can.rw_lock,
            Self::Upgradeable => can.upgradeable,
            Self::Semaphore => can.semaphore,
            Self::Token => can.token,
            Self::Lease => scene.info.guarantee == Guarantee::Lease,
            Self::ShortLease => scene.harness.lease() <= Duration::from_secs(1),
            Self::Sever => scene.harness.sever().is_some(),
            Self::OtherProcesses => scene.harness.url().is_some(),
            Self::Promise(promise) => scene.harness.promises(promise),
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::RwLock => "has no read/write locks",
            Self::Upgradeable => "has no upgradeable reads",
            Self::Semaphore => "has no semaphores",
            Self::Token => "has no tokens",
            Self::Lease => "has no leases",
            Self::ShortLease => "has long leases only",
            Self::Sever => "cannot lose locks",
            Self::OtherProcesses => "is not reached by other processes",
            Self::Promise(Promise::WriterPreference) => "lets readers overtake writers elsewhere",
            Self::Promise(Promise::Order) => "does not serve clients in order",
            Self::Promise(Promise::KnowsHolders) => "does not tell who holds a lock",
            Self::Promise(Promise::ListsHeld) => "does not list what is held",
            Self::Promise(Promise::KnowsWaiters) => "does not know who waits",
            Self::Promise(Promise::KnowsTokens) => "does not know the tokens of holders",
            Self::Promise(Promise::NameSpaces) => "has one name space for several primitives",
            Self::Promise(Promise::WholeNames) => "puts something in front of names",
        }
    }
}

impl Case {
    const fn new(name: &'static str, body: fn(Context) -> BoxFuture<'static, ()>) -> Self {
        let limit = Duration::from_secs(60);
        Self {
            group: "",
            name,
            every_view: false,
            needs: &[],
            limit,
            body,
        }
    }

    /// On each primitive as a mutex.
    const fn every_view(mut self) -> Self {
        self.every_view = true;
        self
    }

    const fn needs(mut self, needs: &'static [Need]) -> Self {
        self.needs = needs;
        self
    }

    /// Whether all it does for many seconds is to wait for the end of a lease, or of what somebody had who is gone.
    pub(crate) fn waits_long(&self, harness: &dyn Harness) -> bool {
        let is_for_an_end =
            |need: &Need| matches!(need, Need::Lease | Need::Sever | Need::OtherProcesses);
        harness.lease() > LONG && self.needs.iter().any(is_for_an_end)
    }
}

/// Cases that wait for shorter leases have more to do than to wait.
const LONG: Duration = Duration::from_secs(5);

/// A case from the function of its name.
macro_rules! case {
    ($name:ident) => {
        $crate::cases::Case::new(stringify!($name), |cx| Box::pin($name(cx)))
    };
}
pub(crate) use case;

/// Every case there is.
#[must_use]
pub fn every() -> Vec<Case> {
    let groups: [(&str, Vec<Case>); 15] = [
        ("as_mutex", as_mutex::list()),
        ("rw_lock", rw_lock::list()),
        ("upgrading", upgrading::list()),
        ("semaphore", semaphore::list()),
        ("together", together::list()),
        ("waiting", waiting::list()),
        ("cancelling", cancelling::list()),
        ("dropping", dropping::list()),
        ("losing", losing::list()),
        ("leasing", leasing::list()),
        ("fencing", fencing::list()),
        ("naming", naming::list()),
        ("closing", closing::list()),
        ("administering", administering::list()),
        ("processes", processes::list()),
    ];
    let named =
        |(group, cases): (_, Vec<Case>)| cases.into_iter().map(move |case| Case { group, ..case });
    groups.into_iter().flat_map(named).collect()
}
