//! What is asked of the storage account, all of it: one request each, with an end in time.

use crate::{
    cache::Known,
    record::Record,
    refusal::{Refusal, Said},
    times,
};
use azure_core::http::{Etag, RequestContent, headers::HeaderName};
use azure_storage_blob::{
    BlobClient, BlobContainerClient,
    models::{
        BlobClientAcquireLeaseOptions, BlobClientBreakLeaseOptions, BlobClientDeleteOptions,
        BlobClientGetPropertiesResultHeaders, BlobClientSetMetadataOptions,
        BlobContainerClientListBlobsOptions, BlobItem, BlockBlobClientUploadOptions, LeaseState,
        ListBlobsIncludeItem, PageBlobClientCreateOptions, PageBlobClientSetSequenceNumberOptions,
        PageBlobClientSetSequenceNumberResultHeaders, SequenceNumberActionType,
    },
};
use futures_util::TryStreamExt;
use lockwork_core::lock::{Instant, Result};
use std::{
    collections::HashMap,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};
use tokio::time::{sleep, timeout};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a request is sent again that the server had no time for.
const AGAIN: u32 = 3;

/// Until the first of those, unless the server says how long; then twice as long each.
const PAUSE: Duration = Duration::from_millis(200);

/// Longer than this nobody waits for a server that wants to be left alone.
const LONGEST_QUIET: Duration = Duration::from_secs(5);

/// A request's answer.
pub(crate) type Answer<T> = Result<T, Refusal>;

/// The container in which locks are.
pub(crate) struct Blobs {
    container: BlobContainerClient,
    /// Until then, in nanoseconds of our clock, the server wants to be left alone.
    quiet_until: AtomicU64,
}

/// A blob as the server shows it.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) is_leased: bool,
    pub(crate) etag: Etag,
    pub(crate) metadata: HashMap<String, String>,
    /// Of a page blob.
    pub(crate) sequence: Option<i64>,
}

/// What a request that may have been sent twice brought.
#[derive(Debug)]
pub(crate) struct Asked<T> {
    pub(crate) answer: Answer<T>,
    /// It was sent before, and what became of that is not known.
    pub(crate) twice: bool,
}

impl Blobs {
    pub(crate) fn new(container: BlobContainerClient) -> Self {
        Self {
            container,
            quiet_until: AtomicU64::new(0),
        }
    }

    pub(crate) const fn container(&self) -> &BlobContainerClient {
        &self.container
    }

    fn blob(&self, name: &str) -> BlobClient {
        self.container.blob_client(name)
    }

    /// Sends it once, and waits for the answer for a while.
    pub(crate) async fn once<T>(
        &self,
        request: impl Future<Output = azure_core::Result<T>> + Send,
    ) -> Answer<T> {
        let answer = match timeout(PATIENCE, request).await {
            Ok(answer) => answer.map_err(|error| Refusal::of(&error)),
            Err(_) => Err(Refusal::late()),
        };
        if let Err(Refusal {
            said: Said::Later,
            retry_after: Some(rest),
            ..
        }) = &answer
        {
            let until = Instant::now() + *rest;
            self.quiet_until
                .fetch_max(until.as_nanos(), Ordering::Relaxed);
        }
        answer
    }

    /// Sends it again where the server had no time for it, and once where nothing was heard. Only for
    /// what does no harm when it is done twice.
    pub(crate) async fn ask<T, Request>(
        &self,
        mut request: impl FnMut() -> Request + Send,
    ) -> Asked<T>
    where
        T: Send,
        Request: Future<Output = azure_core::Result<T>> + Send,
    {
        let (mut twice, mut pause, mut again) = (false, PAUSE, AGAIN);
        loop {
            if let Err(refusal) = self.wait_until_welcome().await {
                let answer = Err(refusal);
                return Asked { answer, twice };
            }
            match self.once(request()).await {
                Err(refusal) if refusal.said == Said::Later && again > 0 => {
                    again -= 1;
                    sleep(refusal.retry_after.map_or(pause, |_| Duration::ZERO)).await;
                    pause *= 2;
                }
                Err(refusal) if refusal.said == Said::Nothing && !twice => twice = true,
                answer => return Asked { answer, twice },
            }
        }
    }

    async fn wait_until_welcome(&self) -> Answer<()> {
        let rest = Instant::from_nanos(self.quiet_until.load(Ordering::Relaxed)).remaining();
        if rest > LONGEST_QUIET {
            return Err(Refusal::unasked(rest));
        }
        sleep(rest).await;
        Ok(())
    }

    pub(crate) async fn look(&self, name: &str) -> Answer<Seen> {
        let blob = self.blob(name);
        let asked = self.ask(|| async {
            let found = blob.get_properties(None).await?;
            Ok(Seen {
                is_leased: matches!(
                    found.lease_state()?,
                    Some(LeaseState::Leased | LeaseState::Breaking)
                ),
                etag: found.etag()?.unwrap_or_else(|| Etag::from("")),
                metadata: found.metadata()?,
                sequence: found.blob_sequence_number()?,
            })
        });
        asked.await.answer
    }

    /// Creates a blob, and never writes over one.
    pub(crate) async fn create(&self, name: &str, record: &Record) -> Answer<Etag> {
        let blob = self.blob(name).block_blob_client();
        let asked = self.ask(|| {
            let options = BlockBlobClientUploadOptions {
                metadata: Some(record.metadata()),
                ..BlockBlobClientUploadOptions::default()
            };
            let nothing = RequestContent::from(Vec::new());
            let created = blob.upload(nothing, Some(options.if_not_exists()));
            async { Ok(created.await?.etag.unwrap_or_else(|| Etag::from(""))) }
        });
        asked.await.answer
    }

    /// Creates a page blob, and never writes over one.
    pub(crate) async fn create_counted(
        &self,
        name: &str,
        first: i64,
        record: &Record,
    ) -> Answer<()> {
        let blob = self.blob(name).page_blob_client();
        let asked = self.ask(|| {
            let options = PageBlobClientCreateOptions {
                blob_sequence_number: Some(first),
                metadata: Some(record.metadata()),
                ..PageBlobClientCreateOptions::default()
            };
            let created = blob.create(0, Some(options.if_not_exists()));
            async { created.await.map(drop) }
        });
        asked.await.answer
    }

    /// Leases a blob, if it is still the one with this ETag.
    pub(crate) async fn acquire(
        &self,
        name: &str,
        lease: &str,
        seconds: i32,
        etag: Option<&Etag>,
    ) -> Asked<()> {
        let blob = self.blob(name);
        self.ask(|| {
            let options = BlobClientAcquireLeaseOptions {
                if_match: etag.cloned(),
                proposed_lease_id: Some(lease.to_owned()),
                ..BlobClientAcquireLeaseOptions::default()
            };
            let leased = blob.acquire_lease(seconds, Some(options));
            async { leased.await.map(drop) }
        })
        .await
    }

    /// Writes down a grant, under its lease.
    pub(crate) async fn write(&self, name: &str, lease: &str, record: &Record) -> Answer<Etag> {
        let lease = Some(lease.to_owned());
        let options = || BlobClientSetMetadataOptions {
            lease_id: lease.clone(),
            ..BlobClientSetMetadataOptions::default()
        };
        self.set(name, record, options).await
    }

    /// Writes the same again, if nobody has written since, so that the blob is another one to those who
    /// knew it.
    pub(crate) async fn touch(&self, name: &str, known: &Known) -> Answer<Etag> {
        let options = || BlobClientSetMetadataOptions {
            if_match: Some(known.etag.clone()),
            ..BlobClientSetMetadataOptions::default()
        };
        self.set(name, &known.record, options).await
    }

    async fn set(
        &self,
        name: &str,
        record: &Record,
        options: impl Fn() -> BlobClientSetMetadataOptions<'static> + Send + Sync,
    ) -> Answer<Etag> {
        const ETAG: HeaderName = HeaderName::from_static("etag");
        let (blob, metadata) = (self.blob(name), record.metadata());
        let asked = self.ask(|| async {
            let set = blob.set_metadata(&metadata, Some(options())).await?;
            Ok(Etag::from(
                set.headers().get_optional_str(&ETAG).unwrap_or(""),
            ))
        });
        asked.await.answer
    }

    /// One more than the last number of a page blob, under its lease.
    pub(crate) async fn count(&self, name: &str, lease: &str) -> Answer<i64> {
        let blob = self.blob(name).page_blob_client();
        let asked = self.ask(|| {
            let options = PageBlobClientSetSequenceNumberOptions {
                lease_id: Some(lease.to_owned()),
                ..PageBlobClientSetSequenceNumberOptions::default()
            };
            let increment = SequenceNumberActionType::Increment;
            let counted = blob.set_sequence_number(increment, Some(options));
            async { Ok(counted.await?.blob_sequence_number()?.unwrap_or_default()) }
        });
        asked.await.answer
    }

    /// Renews a lease. Once: whoever keeps it knows when to ask again.
    pub(crate) async fn renew(&self, name: &str, lease: &str) -> Answer<()> {
        let blob = self.blob(name);
        let renewed = self.once(blob.renew_lease(lease.to_owned(), None)).await;
        renewed.map(drop)
    }

    /// Ends a lease. Whether or not the server wants to be left alone: others wait for it.
    pub(crate) async fn release(&self, name: &str, lease: &str) -> Answer<()> {
        let blob = self.blob(name);
        let release = || self.once(blob.release_lease(lease.to_owned(), None));
        match release().await {
            Err(refusal) if matches!(refusal.said, Said::Later | Said::Nothing) => {
                sleep(PAUSE).await;
                release().await.map(drop)
            }
            answer => answer.map(drop),
        }
    }

    /// Ends whatever lease there is, at once.
    pub(crate) async fn break_now(&self, name: &str) -> Answer<()> {
        let blob = self.blob(name);
        let asked = self.ask(|| {
            let options = BlobClientBreakLeaseOptions {
                break_period: Some(0),
                ..BlobClientBreakLeaseOptions::default()
            };
            blob.break_lease(Some(options))
        });
        asked.await.answer.map(drop)
    }

    /// Removes a blob under its lease.
    pub(crate) async fn delete(&self, name: &str, lease: &str) -> Answer<()> {
        let blob = self.blob(name);
        let asked = self.ask(|| {
            let options = BlobClientDeleteOptions {
                lease_id: Some(lease.to_owned()),
                ..BlobClientDeleteOptions::default()
            };
            blob.delete(Some(options))
        });
        asked.await.answer.map(drop)
    }

    /// All blobs whose names begin so, with their metadata.
    pub(crate) async fn list(&self, prefix: &str) -> Answer<Vec<BlobItem>> {
        let asked = self.ask(|| async {
            let options = BlobContainerClientListBlobsOptions {
                include: Some(vec![ListBlobsIncludeItem::Metadata]),
                prefix: Some(prefix.to_owned()),
                ..BlobContainerClientListBlobsOptions::default()
            };
            let found = self.container.list_blobs(Some(options))?;
            found.try_collect::<Vec<_>>().await
        });
        asked.await.answer
    }

    pub(crate) async fn create_container(&self) -> Answer<()> {
        let asked = self.ask(|| async { self.container.create(None).await.map(drop) });
        asked.await.answer
    }
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Blobs")
            .field(&self.container.url().as_str())
            .finish()
    }
}

/// Whether somebody has the lease of a blob in a list.
pub(crate) fn is_leased(item: &BlobItem) -> bool {
    let state = item.properties.as_ref().and_then(|about| about.lease_state);
    matches!(state, Some(LeaseState::Leased | LeaseState::Breaking))
}

/// When a blob in a list was last written to.
pub(crate) fn written_at(item: &BlobItem) -> Option<SystemTime> {
    let about = item.properties.as_ref()?;
    about.last_modified.and_then(times::system)
}
