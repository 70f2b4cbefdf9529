//! What these tests share: a directory, limits for whatever waits, and instances that wait for something.

use lockwork_core::workflow::{
    Bookmark, BookmarkId, ErrorKind, ExecutionId, InstanceId, NodeId, Result, Stimulus, SubStatus,
    Time, Value, Values, VersionId,
};
use lockwork_flow::{Entry, Happened, State};
use lockwork_runtime::store::{
    Claimed, Commit, Creation, Errand, ErrandKind, NewInstance, Sending, Store,
};
use lockwork_store::sqlite::SqliteStore;
use sqlx::{ConnectOptions, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{
    future::Future,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// What `work` gives, if it does so in time.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(LIMIT, work).await;
    done.unwrap_or_else(|_| panic!("not within {LIMIT:?}"))
}

/// `limit` plus ten times what this machine is late with a sleep of a millisecond, at the 99th percentile: what a promise of
/// `limit` is checked against, as in the suite of all stores.
pub(crate) fn generous(limit: Duration) -> Duration {
    let nap = Duration::from_millis(1);
    let mut late: Vec<_> = (0..200)
        .map(|_| {
            let start = Instant::now();
            thread::sleep(nap);
            start.elapsed().saturating_sub(nap)
        })
        .collect();
    late.sort_unstable();
    limit + late[late.len() * 99 / 100] * 10
}

/// A place for a store.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { directory }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("lockwork.db")
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite:{}", self.file().display())
    }

    pub(crate) async fn open(&self) -> SqliteStore {
        soon(SqliteStore::open(&self.url())).await.unwrap()
    }

    /// A connection that is not the store's.
    pub(crate) async fn connection(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.file());
        options.connect().await.unwrap()
    }
}

pub(crate) fn at(millis: i64) -> Time {
    Time::from_millis(millis)
}

pub(crate) fn instance(id: &str) -> InstanceId {
    InstanceId::new(id).unwrap()
}

pub(crate) fn state(id: &str) -> State {
    let version = VersionId::new("w:1").unwrap();
    State::new(instance(id), version, at(0))
}

pub(crate) fn new_instance(state: State) -> NewInstance {
    NewInstance {
        state,
        activation: None,
        key: None,
        errand: None,
        consumes: None,
        claim: None,
    }
}

pub(crate) async fn create(store: &impl Store, id: &str) {
    let created = soon(store.create(new_instance(state(id)))).await.unwrap();
    assert_eq!(created, Creation::New(None));
}

pub(crate) async fn claim(store: &impl Store, id: &str) -> Claimed {
    let claimed = soon(store.claim(&instance(id), "claim")).await.unwrap();
    claimed.expect("the instance exists")
}

pub(crate) fn stimulus(name: &str) -> Stimulus {
    Stimulus::new("Event", &Value::from(name)).unwrap()
}

pub(crate) fn bookmark(id: &str, event: &str) -> Bookmark {
    Bookmark {
        id: BookmarkId::new(id).unwrap(),
        name: "Event".to_owned(),
        hash: stimulus(event).hash,
        payload: Value::Null,
        node: NodeId::new("wait").unwrap(),
        execution: ExecutionId::numbered(1),
        resume: None,
        burns: true,
        created: at(0),
        due: None,
    }
}

pub(crate) fn sending(id: &str, stimulus: Stimulus) -> Sending {
    Sending {
        id: id.to_owned(),
        stimulus,
        now: at(0),
        expires: Some(at(1_000_000)),
        consumes: None,
        hold: at(0),
    }
}

pub(crate) fn errand(id: &str) -> Errand {
    Errand {
        id: id.to_owned(),
        kind: ErrandKind::Send(stimulus(id)),
        due: at(0),
    }
}

pub(crate) fn entry(sequence: u64) -> Entry {
    Entry {
        sequence,
        at: at(0),
        happened: Happened::InstanceStarted,
        node: None,
        execution: None,
        note: Some("a note".to_owned()),
    }
}

/// A commit after which the instance waits at these.
pub(crate) fn commit(claimed: Claimed, bookmarks: Vec<Bookmark>) -> Commit {
    let mut state = State::clone(&claimed.state);
    let journal = vec![entry(state.entries)];
    state.entries += 1;
    state.sub_status = SubStatus::Suspended;
    state.bookmarks.clone_from(&bookmarks);
    Commit {
        added: bookmarks,
        journal,
        ..Commit::new(claimed.claim, Arc::new(state), at(0))
    }
}

/// An instance that waits for an event.
pub(crate) async fn suspend(store: &impl Store, id: &str, event: &str) {
    create(store, id).await;
    let claimed = claim(store, id).await;
    let bookmark = bookmark(&format!("{id}:1"), event);
    soon(store.commit(commit(claimed, vec![bookmark])))
        .await
        .unwrap();
}

pub(crate) fn kind<T: std::fmt::Debug>(answer: Result<T>) -> ErrorKind {
    answer.expect_err("this should have failed").kind()
}

/// Values with something in them.
pub(crate) fn values(text: &str) -> Values {
    Values::from_iter([("text".to_owned(), text.into())])
}
