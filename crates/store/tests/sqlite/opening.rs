//! Opening a file: what is made, what is refused, and several at once.

use crate::support::{Place, at, create, errand, instance, kind, soon};
use lockwork_core::workflow::ErrorKind;
use lockwork_runtime::{
    MemoryStore,
    store::{ErrandStore, InstanceStore, Store},
};
use lockwork_store::sqlite::{Options, SqliteStore};
use sqlx::{Connection, Executor};
use std::{fs, time::Duration};

#[tokio::test]
async fn what_was_written_is_there_when_the_file_is_opened_again() {
    let place = Place::new();
    let store = place.open().await;
    create(&store, "a").await;
    soon(store.close()).await;
    let store = place.open().await;
    assert!(soon(store.load(&instance("a"))).await.unwrap().is_some());
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let store = place.open().await;
    create(&store, "a").await;
    for beside in ["", "-wal", "-shm", "-turn"] {
        let file = format!("{}{beside}", place.file().display());
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_missing_directory_is_named() {
    let place = Place::new();
    let url = format!("sqlite:{}/none/lockwork.db", place.file().display());
    let error = soon(SqliteStore::open(&url)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("/none"), "{error}");
}

#[tokio::test]
async fn a_file_of_another_kind_is_left_alone() {
    let place = Place::new();
    let text = "a letter, and certainly no database; it is longer than the header of one, which has a hundred bytes.";
    fs::write(place.file(), text).unwrap();
    assert_eq!(
        kind(soon(SqliteStore::open(&place.url())).await),
        ErrorKind::Invalid
    );
    assert_eq!(fs::read_to_string(place.file()).unwrap(), text);
}

#[tokio::test]
async fn a_store_that_a_newer_version_has_changed_is_refused() {
    let place = Place::new();
    soon(place.open().await.close()).await;
    let mut other = place.connection().await;
    let newer = "UPDATE lockwork_meta SET value = value + 1 WHERE key = 'schema'";
    other.execute(newer).await.unwrap();
    let error = soon(SqliteStore::open(&place.url())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("update this program"), "{error}");
}

#[tokio::test]
async fn many_may_open_a_new_file_at_once() {
    for _ in 0..10 {
        let place = Place::new();
        let opening: Vec<_> = (0..8)
            .map(|_| {
                let url = place.url();
                tokio::spawn(async move { SqliteStore::open(&url).await })
            })
            .collect();
        for (number, store) in opening.into_iter().enumerate() {
            let store = soon(store).await.unwrap().unwrap();
            create(&store, &format!("i{number}")).await;
        }
    }
}

#[tokio::test]
async fn two_on_one_file_see_what_the_other_does() {
    let place = Place::new();
    let (one, other) = (place.open().await, place.open().await);
    create(&one, "a").await;
    assert!(soon(other.load(&instance("a"))).await.unwrap().is_some());
    soon(other.add(vec![errand("e")])).await.unwrap();
    let taken = soon(one.take(at(0), at(10), 10)).await.unwrap();
    assert_eq!(taken.len(), 1);
    assert!(
        soon(other.take(at(0), at(10), 10))
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn whoever_finds_the_file_locked_waits() {
    let place = Place::new();
    let store = place.open().await;
    let mut other = place.connection().await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let creating = create(&store, "a");
    tokio::pin!(creating);
    let early = tokio::time::timeout(Duration::from_millis(200), &mut creating).await;
    assert!(early.is_err(), "it did not wait");
    other.execute("COMMIT").await.unwrap();
    creating.await;
}

#[tokio::test]
async fn whoever_waits_too_long_is_told_so_and_can_ask_again() {
    let place = Place::new();
    let store = Options::new(place.file()).busy(Duration::from_millis(50));
    let store = soon(SqliteStore::open_with(store)).await.unwrap();
    let mut other = place.connection().await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let error = soon(store.add(vec![errand("e")])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("busy"), "{error}");
    other.execute("COMMIT").await.unwrap();
    soon(store.add(vec![errand("e")])).await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_store_that_was_dropped_closes_its_file() {
    let place = Place::new();
    let store = place.open().await;
    create(&store, "a").await;
    assert!(soon(store.load(&instance("a"))).await.unwrap().is_some());
    assert!(is_open(&place));
    drop(store);
    soon(async {
        while is_open(&place) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// Whether this process has the file open, or one beside it.
#[cfg(target_os = "linux")]
fn is_open(place: &Place) -> bool {
    let file = place.file().display().to_string();
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let open = open.filter_map(|one| fs::read_link(one.ok()?.path()).ok());
    open.into_iter()
        .any(|one| one.display().to_string().starts_with(&file))
}

#[tokio::test]
async fn a_store_that_was_closed_says_so() {
    let place = Place::new();
    let store = place.open().await;
    soon(store.close()).await;
    let error = soon(store.add(vec![errand("e")])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(!error.is_transient());
    assert!(soon(store.next_due()).await.is_err());
    soon(store.close()).await;
}

#[tokio::test]
async fn what_was_over_long_ago_is_forgotten_some_at_a_time() {
    let place = Place::new();
    let store = place.open().await;
    forgets(&store).await;
    forgets(&MemoryStore::new()).await;
}

async fn forgets(store: &impl Store) {
    use crate::support::{new_instance, state};
    use lockwork_core::workflow::SubStatus;
    for number in 0..5 {
        let mut state = state(&format!("i{number}"));
        if number > 0 {
            state.sub_status = SubStatus::Finished;
            state.finished = Some(at(10 - number));
        }
        soon(store.create(new_instance(state))).await.unwrap();
    }
    assert_eq!(soon(store.forget(at(6), 10)).await.unwrap(), 0);
    assert_eq!(soon(store.forget(at(9), 2)).await.unwrap(), 2);
    let left = soon(store.list(lockwork_runtime::store::Filter::default())).await;
    let left = left.unwrap();
    let left: Vec<_> = left.iter().map(|one| one.state.instance.as_str()).collect();
    assert_eq!(left, ["i2", "i1", "i0"]);
    assert_eq!(soon(store.forget(at(1000), 10)).await.unwrap(), 2);
}

#[tokio::test]
async fn tables_of_somebody_else_stay_in_the_same_file() {
    let place = Place::new();
    let options = sqlx::sqlite::SqliteConnectOptions::new();
    let options = options.filename(place.file()).create_if_missing(true);
    let mut own = sqlx::SqliteConnection::connect_with(&options)
        .await
        .unwrap();
    own.execute("CREATE TABLE instances (a); PRAGMA user_version = 7")
        .await
        .unwrap();
    let store = place.open().await;
    create(&store, "a").await;
    let version: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(&mut own)
        .await
        .unwrap();
    assert_eq!(version, 7);
}
