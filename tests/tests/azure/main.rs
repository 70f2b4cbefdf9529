//! Azure Blob storage where it hurts: requests that are refused, late or lost, leases that are broken,
//! blobs that are removed, an Azurite that stands still or restarts, and what it all costs.
#![cfg(target_os = "linux")]
// What helps a test says what it expects as the test does.
#![allow(clippy::unwrap_used, clippy::future_not_send)]

mod asking;
mod collecting;
mod contending;
mod counting;
mod killing;
mod leaving;
mod losing_replies;
mod renewing;
mod restarting;
mod throttling;
mod waking;
mod weather;

use lockwork::{
    Guard, Locks,
    azure::{Options, azure_storage_blob::BlobContainerClient},
};
use lockwork_conformance::{Taker, generous, within};
use lockwork_servers::Azurite;
use std::{
    path::Path,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};
use url::Url;
use weather::Weather;

/// Long enough for anything that ends at all.
const SOON: Duration = Duration::from_secs(30);

/// The shortest there is.
const LEASE: Duration = Duration::from_secs(15);

/// The key of Azurite's account, which everybody knows.
const KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A server for all tests that do no harm to it.
fn shared() -> &'static Azurite {
    static SERVER: OnceLock<Azurite> = OnceLock::new();
    SERVER.get_or_init(|| Azurite::start().unwrap())
}

/// A container of one test's own, and the weather on the way there.
struct Place {
    options: Options,
    container: BlobContainerClient,
    url: String,
    weather: Arc<Weather>,
}

impl Place {
    /// In the server that all share.
    async fn new() -> Self {
        Self::at(shared()).await
    }

    async fn at(server: &Azurite) -> Self {
        let name = format!("test-{:016x}", rand::random::<u64>());
        let url: Url = server.url().parse().unwrap();
        let (port, account) = (url.port().unwrap(), "devstoreaccount1");
        let endpoint = format!("http://127.0.0.1:{port}/{account}");
        let options = Options::at(&endpoint, account, &name).unwrap();
        let options = options.shared_key(KEY).lease(LEASE);
        let container = options.client().unwrap();
        container.create(None).await.unwrap();
        Self {
            options,
            container,
            url: format!("{}/{name}?lease=15s&tenure=0s", server.url()),
            weather: Arc::default(),
        }
    }

    /// A client whose requests pass the weather, and that passes nothing on among its own tasks.
    async fn client(&self) -> Locks {
        let options = self.options.clone().policy(self.weather.clone());
        locks(options).await
    }

    /// A client whose requests do not.
    async fn other(&self) -> Locks {
        locks(self.options.clone()).await
    }

    /// Another process.
    async fn taker(&self) -> Taker {
        Taker::start(Path::new(env!("CARGO_BIN_EXE_taker")), &self.url).await
    }

    /// The only blob there is.
    async fn blob(&self) -> String {
        let mut blobs = self.blobs().await;
        assert_eq!(blobs.len(), 1, "{blobs:?}");
        blobs.remove(0).0
    }

    /// All blobs, and whether somebody has each.
    async fn blobs(&self) -> Vec<(String, bool)> {
        use futures_util::TryStreamExt;
        let listed = self.container.list_blobs(None).unwrap();
        let listed: Vec<_> = listed.try_collect().await.unwrap();
        let show = |item: lockwork::azure::azure_storage_blob::models::BlobItem| {
            let state = item.properties.and_then(|about| about.lease_state);
            let is_leased = state.is_some_and(|state| state.to_string() == "leased");
            (item.name.unwrap(), is_leased)
        };
        listed.into_iter().map(show).collect()
    }

    /// Waits until nobody has any.
    async fn nothing_left(&self, limit: Duration) {
        let (began, allowed, mut was_slow) = (Instant::now(), generous(limit), false);
        while self.blobs().await.iter().any(|(_, is_leased)| *is_leased) {
            let after = began.elapsed();
            // What is still there after half a lease would be given back only by the lease's end, so it is wrong. What
            // goes before that was slow.
            assert!(after < allowed.max(LEASE / 2), "a lease is left");
            was_slow = after >= allowed;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let after = began.elapsed();
        assert!(!was_slow, "given back after {after:?}, allowed {allowed:?}");
    }
}

async fn locks(options: Options) -> Locks {
    Locks::with_tenure(options.connect().await.unwrap(), Duration::ZERO)
}

/// The mutex called `x`.
async fn lock(locks: &Locks) -> Guard {
    within(SOON, "the lock is taken", locks.mutex("x").lock())
        .await
        .unwrap()
}
