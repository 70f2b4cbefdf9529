//! Where workflows are kept, for one test: a store that nobody else uses, and more handles on it.

mod postgres;

use lockwork::{
    runtime::{MemoryStore, Store},
    workflow::Result,
};
use std::sync::Arc;
use tempfile::TempDir;

/// Which store tests of the runtime use.
const CHOICE: &str = "LOCKWORK_STORE";

/// The stores there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// In memory; what the others are compared with.
    Memory,
    /// In a file.
    Sqlite,
    /// In a database of the server that `LOCKWORK_POSTGRES_URL` names.
    Postgres,
}

impl StoreKind {
    /// All of them.
    pub const EVERY: [Self; 3] = [Self::Memory, Self::Sqlite, Self::Postgres];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// The one that `LOCKWORK_STORE` names; nothing, if it names none.
    ///
    /// # Panics
    /// If it names one that does not exist.
    #[must_use]
    pub fn chosen() -> Option<Self> {
        let name = std::env::var(CHOICE).ok()?;
        let found = Self::EVERY.into_iter().find(|kind| kind.name() == name);
        Some(
            found.unwrap_or_else(|| {
                panic!("{CHOICE}={name}: memory, sqlite and postgres are stores")
            }),
        )
    }

    /// The environment in which this one is [chosen](Self::chosen).
    #[must_use]
    pub const fn choice(self) -> (&'static str, &'static str) {
        (CHOICE, self.name())
    }

    /// Whether a run in which it cannot be reached has failed: `LOCKWORK_REQUIRE` names it, `store-sqlite` say.
    #[must_use]
    pub fn is_required(self) -> bool {
        let names = std::env::var("LOCKWORK_REQUIRE").unwrap_or_default();
        let own = format!("store-{}", self.name());
        names.split(',').any(|name| name.trim() == own)
    }
}

/// A place for a store that nobody else uses. What is there goes when it goes, or with the server.
#[derive(Debug)]
pub struct StorePlace(Place);

#[derive(Debug)]
enum Place {
    Memory(Arc<MemoryStore>),
    Sqlite(TempDir),
    Postgres(String),
}

impl StorePlace {
    /// A new one.
    ///
    /// # Errors
    /// A sentence, if there can be none.
    pub fn new(kind: StoreKind) -> std::result::Result<Self, String> {
        Ok(Self(match kind {
            StoreKind::Memory => Place::Memory(Arc::default()),
            StoreKind::Sqlite => {
                Place::Sqlite(tempfile::tempdir().map_err(|error| error.to_string())?)
            }
            StoreKind::Postgres => Place::Postgres(postgres::schema()?),
        }))
    }

    /// How another process would name it; nothing, if none can reach it.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        match &self.0 {
            Place::Memory(_) => None,
            Place::Sqlite(directory) => {
                let file = directory.path().join("lockwork.db");
                Some(format!("sqlite:{}", file.display()))
            }
            Place::Postgres(url) => Some(url.clone()),
        }
    }

    /// Another handle on it, as another node would have one.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn open(&self) -> Result<Arc<dyn Store>> {
        match (&self.0, self.url()) {
            (Place::Memory(store), _) => Ok(Arc::clone(store) as Arc<dyn Store>),
            (_, Some(url)) => lockwork::store::connect(&url).await,
            (_, None) => unreachable!("a place outside of this process has a URL"),
        }
    }
}
