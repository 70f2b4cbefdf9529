//! Azure Blob storage: a container for each case, in Azurite or a real account.

use crate::{BoxFuture, Harness, Promise, Residue, Started};
use lockwork::{
    Locks, Result,
    azure::{
        Options, Tokens,
        azure_core::Result as Answer,
        azure_storage_blob::{
            BlobContainerClient,
            models::{BlobClientBreakLeaseOptions, BlobItem, LeaseState},
        },
    },
    unescaped,
};
use std::{
    sync::{Arc, OnceLock, mpsc},
    time::Duration,
};
use tokio::runtime::Runtime;
use url::Url;

/// Where the account is: `azblob+http://127.0.0.1:PORT/devstoreaccount1`, or `azblob://:KEY@ACCOUNT`.
const SERVER: &str = "LOCKWORK_AZURE_URL";

/// The shortest that the server grants.
const LEASE: Duration = Duration::from_secs(15);

struct Corner {
    url: String,
    options: Options,
    administrator: Arc<BlobContainerClient>,
}

/// Locks in the account that `LOCKWORK_AZURE_URL` names.
///
/// # Errors
/// If none is named, or it cannot be reached.
pub fn start() -> Started {
    Corner::start(Tokens::Metadata)
}

/// The same with tokens from page blobs.
///
/// # Errors
/// As [`start`].
pub fn sequence() -> Started {
    Corner::start(Tokens::Sequence)
}

/// The options for a new container in the account that `url` names.
fn options(url: &Url, container: &str) -> Result<Options> {
    let host = url.host_str().unwrap_or_default();
    let Some(scheme) = url.scheme().strip_prefix("azblob+") else {
        let key = url.password().and_then(unescaped).unwrap_or_default();
        return Ok(Options::new(host, container)?.shared_key(key));
    };
    let (port, account) = (url.port().unwrap_or(80), url.path().trim_matches('/'));
    let development = format!("{scheme}://{host}:{port}/{account}");
    let text = format!("BlobEndpoint={development};AccountName={account};AccountKey={AZURITE}");
    Options::from_connection_string(&text, container)
}

/// The key of Azurite's account, which everybody knows.
const AZURITE: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

impl Corner {
    fn start(tokens: Tokens) -> Started {
        let account = std::env::var(SERVER)
            .map_err(|_| format!("{SERVER} names no account; `cargo xtask test` starts Azurite"))?;
        let container = format!("lockwork-{:016x}", rand::random::<u64>());
        let url: Url = account.parse().map_err(|_| "that is no URL")?;
        let made = || -> Result<Self> {
            let options = options(&url, &container)?.lease(LEASE).tokens(tokens);
            let administrator = Arc::new(options.client()?);
            let counted = match tokens {
                Tokens::Sequence => "sequence",
                _ => "metadata",
            };
            let (account, seconds) = (account.trim_end_matches('/'), LEASE.as_secs());
            let url = format!("{account}/{container}?lease={seconds}s&tokens={counted}");
            Ok(Self {
                url,
                options,
                administrator,
            })
        };
        let corner = made().map_err(|error| error.to_string())?;
        let created = corner.ask(|container| async move { container.create(None).await.map(drop) });
        created.map_err(|error| error.to_string())?;
        Ok(Arc::new(corner))
    }

    /// Does as an administrator would, and waits for it.
    fn ask<T: Send + 'static, Work: Future<Output = Answer<T>> + Send + 'static>(
        &self,
        work: impl FnOnce(Arc<BlobContainerClient>) -> Work,
    ) -> Answer<T> {
        let (done, answer) = mpsc::channel();
        let work = work(self.administrator.clone());
        runtime().spawn(async move {
            // Nobody listens any more only where the test has failed.
            let _ = done.send(work.await);
        });
        answer
            .recv()
            .expect("the runtime of the administrator runs")
    }

    fn leased(&self) -> Vec<String> {
        let listed = self.ask(list);
        let listed = listed.expect("the server shows what is there");
        let leased = listed.into_iter().filter(is_leased);
        leased.filter_map(|item| item.name).collect()
    }
}

async fn list(container: Arc<BlobContainerClient>) -> Answer<Vec<BlobItem>> {
    use futures_util::TryStreamExt;
    container.list_blobs(None)?.try_collect().await
}

fn is_leased(item: &BlobItem) -> bool {
    let state = item.properties.as_ref().and_then(|about| about.lease_state);
    matches!(state, Some(LeaseState::Leased | LeaseState::Breaking))
}

/// What administrators do must go on while a case waits for it, on whatever thread.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let built = builder.worker_threads(1).enable_all().build();
        built.expect("a runtime")
    })
}

impl Harness for Corner {
    fn client(&self, tenure: Duration) -> BoxFuture<'_, Result<Locks>> {
        Box::pin(async move {
            let backend = self.options.clone().connect().await?;
            Ok(Locks::with_tenure(backend, tenure))
        })
    }

    fn url(&self) -> Option<String> {
        Some(self.url.clone())
    }

    fn sever(&self) -> Option<BoxFuture<'_, ()>> {
        Some(Box::pin(async {
            for name in self.leased() {
                let broken = self.ask(|container| async move {
                    let now = BlobClientBreakLeaseOptions {
                        break_period: Some(0),
                        ..BlobClientBreakLeaseOptions::default()
                    };
                    container.blob_client(&name).break_lease(Some(now)).await
                });
                broken.expect("the server breaks what is leased");
            }
        }))
    }

    /// Nobody is ever told.
    fn mute(&self) {}

    fn residue(&self) -> Option<Residue> {
        Some(Residue {
            locks: self.leased().len(),
            waiters: 0,
        })
    }

    fn promises(&self, promise: Promise) -> bool {
        matches!(
            promise,
            Promise::KnowsHolders
                | Promise::ListsHeld
                | Promise::KnowsTokens
                | Promise::NameSpaces
                | Promise::WholeNames
        )
    }

    /// Each is several requests.
    fn drops(&self) -> u32 {
        2_000
    }

    fn lease(&self) -> Duration {
        LEASE
    }

    fn takeover(&self) -> Duration {
        LEASE + Duration::from_millis(1500)
    }

    fn notice(&self) -> Duration {
        LEASE / 3 + Duration::from_secs(1)
    }

    fn patience(&self) -> Duration {
        Duration::from_millis(1500)
    }
}

impl Drop for Corner {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let removed = self.ask(|container| async move { container.delete(None).await.map(drop) });
        if let Err(error) = removed {
            eprintln!("a container was left behind: {error}");
        }
    }
}
