//! What a backend is and can do, readable before anything is asked of it.

use super::Mode;

/// How far a grant reaches. Ordered: a cluster lock also excludes within a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// Tasks of this process.
    Process,
    /// Processes of this machine.
    Host,
    /// Every machine that reaches the same server.
    Cluster,
}

/// What a grant rests on, once its holder is slow, cut off or frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Guarantee {
    /// Ends with its process.
    Process,
    /// Ends when the server gives its connection up for dead.
    Session,
    /// Ends when its time is up, whether or not the holder has noticed.
    Lease,
    /// Usually holds: a server that fails over may grant it twice.
    BestEffort,
}

/// What a backend can be asked for. Asking for more is [`Unsupported`](super::ErrorKind) at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Capability {
    /// [`RwLock`](super::RwLock): read and write.
    pub rw_lock: bool,
    /// Upgradeable reads.
    pub upgradeable: bool,
    /// [`Semaphore`](super::Semaphore).
    pub semaphore: bool,
    /// Tokens with exclusive, write and upgraded grants.
    pub token: bool,
    /// Waiting costs the server nothing: it tells us when to ask again.
    pub push: bool,
}

impl Capability {
    /// A mutex and nothing else.
    #[must_use]
    pub const fn mutex_only() -> Self {
        Self {
            rw_lock: false,
            upgradeable: false,
            semaphore: false,
            token: false,
            push: false,
        }
    }

    /// Everything there is.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            rw_lock: true,
            upgradeable: true,
            semaphore: true,
            token: true,
            push: true,
        }
    }

    /// Whether `mode` can be asked for.
    #[must_use]
    pub const fn has(&self, mode: Mode) -> bool {
        match mode {
            Mode::Exclusive => true,
            Mode::Read | Mode::Write => self.rw_lock,
            Mode::Upgradeable => self.upgradeable,
            Mode::Permit { .. } => self.semaphore,
        }
    }
}

/// What a backend is. Layers forward it unchanged, so none can hide a scope.
///
/// [`Locks::info`](super::Locks::info) has that of what is connected. What a backend is unless its
/// options say otherwise can be read without a server: [`MEMORY_INFO`](super::MEMORY_INFO), and the
/// `INFO` of each backend crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Info {
    /// The URL scheme it is reached by.
    pub scheme: &'static str,
    /// How far its grants reach.
    pub scope: Scope,
    /// What they rest on.
    pub guarantee: Guarantee,
    /// What it can be asked for.
    pub capability: Capability,
}

impl Info {
    /// Describes a backend.
    #[must_use]
    pub const fn new(
        scheme: &'static str,
        scope: Scope,
        guarantee: Guarantee,
        capability: Capability,
    ) -> Self {
        Self {
            scheme,
            scope,
            guarantee,
            capability,
        }
    }
}
