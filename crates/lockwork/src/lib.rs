#![doc = include_str!("../README.md")]
//! # Where to look
//!
//! | for | see |
//! |---|---|
//! | taking a lock | [`Locks`], [`Mutex`], [`RwLock`], [`Semaphore`], [`All`] |
//! | what holding it means | [`Guard`], [`Lost`], [`Token`] |
//! | choosing a backend by URL | [`connect`], [`registry`] |
//! | retries, traces, metrics, faults for tests | [`layers`] |
//! | what a backend can do | [`Info`], [`Capability`] |
//! | writing a backend | [`backend`] |
#![cfg_attr(
    feature = "runtime",
    doc = "\
| writing a workflow | [`flow`], [`flow::build`] |
| running workflows | [`runtime`], [`runtime::RuntimeBuilder`] |
| what can be asked of an instance | [`workflow::Client`] |"
)]
#![cfg_attr(
    any(feature = "store-postgres", feature = "store-sqlite"),
    doc = "\
| keeping workflows in a database | [`store`], [`store::connect`] |"
)]
#![cfg_attr(
    feature = "distributed",
    doc = "\
| running workflows on many nodes | [`distributed`], [`distributed::Distributed`] |"
)]
#![cfg_attr(
    feature = "server",
    doc = "\
| a node that is asked by HTTP | [`server`], [`server::Serve`] |"
)]

pub use lockwork_core::lock::*;

#[cfg(feature = "azure")]
#[doc(inline)]
pub use lockwork_azure as azure;

#[cfg(feature = "distributed")]
#[doc(inline)]
pub use lockwork_distributed as distributed;

#[cfg(feature = "file")]
#[doc(inline)]
pub use lockwork_file as file;

#[cfg(feature = "runtime")]
#[doc(inline)]
pub use lockwork_core::workflow;

#[cfg(feature = "runtime")]
#[doc(inline)]
pub use lockwork_flow as flow;

#[cfg(feature = "postgres")]
#[doc(inline)]
pub use lockwork_postgres as postgres;

#[cfg(feature = "redis")]
#[doc(inline)]
pub use lockwork_redis as redis;

#[cfg(feature = "runtime")]
#[doc(inline)]
pub use lockwork_runtime as runtime;

#[cfg(feature = "server")]
#[doc(inline)]
pub use lockwork_server as server;

#[cfg(feature = "sqlserver")]
#[doc(inline)]
pub use lockwork_sqlserver as sqlserver;

#[cfg(any(feature = "store-postgres", feature = "store-sqlite"))]
#[doc(inline)]
pub use lockwork_store as store;

/// The guide to workflows, whose code has to compile and to run.
#[cfg(all(doctest, feature = "runtime"))]
#[doc = include_str!("../workflows.md")]
mod guide {}

/// The guide to clusters, whose code has to compile.
#[cfg(all(doctest, feature = "distributed", feature = "store-postgres"))]
#[doc = include_str!("../running-a-cluster.md")]
mod cluster_guide {}

/// Connects to the lock backend that `url` names.
///
/// | URL | locks for | options |
/// |---|---|---|
/// | `memory:`, `memory:NAME` | tasks of this process | `tenure` |
/// | `file:DIRECTORY` | processes of this machine | `tenure`, `idle`, `shared`, `any_fs`, `poll` |
/// | `postgres://USER:PASSWORD@HOST/DATABASE` | all processes that reach the database | `tenure`, `lease`, `quota`, `capacity`, `schema`, `tokens`, `compat`, `mode`, `sslmode`, `sslrootcert`, `sslcert`, `sslkey` |
/// | `redis://USER:PASSWORD@HOST/DATABASE`, `rediss:`, `redis+cluster:`, `redis+sentinel:` | all processes that reach the server | `tenure`, `lease`, `prefix`, `sslrootcert`, `sslcert`, `sslkey` |
/// | `sqlserver://USER:PASSWORD@HOST/DATABASE`, `mssql:` | all processes that reach the database | `tenure`, `lease`, `capacity`, `schema`, `principal`, `tokens`, `compat`, `encrypt`, `trust`, `sslname`, `sslrootcert`, `sslcert`, `sslkey` |
/// | `azblob://ACCOUNT/CONTAINER`, `azblob+http:`, `azblob+https:` | all processes that reach the container | `tenure`, `lease`, `prefix`, `tokens`, `auth` |
///
/// `tenure` is how long a process may pass a lock among its own tasks before the backend hears of
/// it again: `40ms` unless said otherwise, `0` for never.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> lockwork::Result<()> {
/// let locks = lockwork::connect("memory:").await?;
/// let guard = locks.mutex("nightly-report").lock().await?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`ErrorKind::Invalid`] if this is not a URL, or its scheme or an option is unknown; the sentence
/// names those that are known. Otherwise what the server has to say.
pub async fn connect(url: &str) -> Result<Locks> {
    registry().connect(url).await
}

/// The backends compiled in. Add your own with [`Registry::with`].
#[must_use]
pub fn registry() -> Registry {
    let registry = Registry::new().with(MEMORY);
    #[cfg(feature = "file")]
    let registry = registry.with(file::DRIVER);
    #[cfg(not(feature = "file"))]
    let registry = registry.without("file", "file locks need the feature `file` of lockwork");
    #[cfg(feature = "postgres")]
    let registry = registry.with(postgres::DRIVER);
    #[cfg(not(feature = "postgres"))]
    let registry = ["postgres", "postgresql"]
        .into_iter()
        .fold(registry, |registry, scheme| {
            let advice = "locks in PostgreSQL need the feature `postgres` of lockwork";
            registry.without(scheme, advice)
        });
    #[cfg(feature = "redis")]
    let registry = registry.with(redis::DRIVER);
    #[cfg(not(feature = "redis"))]
    let registry = ["redis", "rediss"]
        .into_iter()
        .fold(registry, |registry, scheme| {
            let advice = "locks in Redis need the feature `redis` of lockwork";
            registry.without(scheme, advice)
        });
    #[cfg(feature = "sqlserver")]
    let registry = registry.with(sqlserver::DRIVER);
    #[cfg(not(feature = "sqlserver"))]
    let registry = ["sqlserver", "mssql"]
        .into_iter()
        .fold(registry, |registry, scheme| {
            let advice = "locks in SQL Server need the feature `sqlserver` of lockwork";
            registry.without(scheme, advice)
        });
    #[cfg(feature = "azure")]
    let registry = registry.with(azure::DRIVER);
    #[cfg(not(feature = "azure"))]
    let registry =
        ["azblob", "azblob+http", "azblob+https"]
            .into_iter()
            .fold(registry, |registry, scheme| {
                let advice = "locks in Azure Blob storage need the feature `azure` of lockwork";
                registry.without(scheme, advice)
            });
    registry
}
