//! What the doctor finds about a file, and that it leaves everything as it was.

use crate::support::{Place, create, soon};
use lockwork_core::{
    lock::{Finding, Severity},
    workflow::ErrorKind,
};
use sqlx::Executor;
use std::fs;

async fn look(url: &str) -> Vec<Finding> {
    soon(lockwork_store::doctor(url)).await.unwrap().findings
}

/// The one finding that is more than a note, and not about the room on this machine's disk.
async fn the_one(url: &str, severity: Severity, says: &str) {
    let mut found = look(url).await;
    found.retain(|one| one.severity > Severity::Note && !one.what.contains("left on the disk"));
    let [one] = &found[..] else {
        panic!("not one: {found:#?}")
    };
    assert_eq!(one.severity, severity, "{one}");
    assert!(one.to_string().contains(says), "{one}");
}

#[tokio::test]
async fn a_store_in_order_has_nothing_to_say() {
    let place = Place::new();
    let store = place.open().await;
    create(&store, "a").await;
    // While it is in use, and after.
    for _ in 0..2 {
        let report = soon(lockwork_store::doctor(&place.url())).await.unwrap();
        assert!(report.is_safe());
        let others = report.findings.iter();
        let others = others.filter(|one| !one.what.contains("left on the disk"));
        assert_eq!(others.count(), 0, "{report:?}");
        soon(store.close()).await;
    }
}

#[tokio::test]
async fn a_file_that_is_missing_is_not_made() {
    let place = Place::new();
    let found = look(&place.url()).await;
    assert!(found.iter().all(|one| one.severity < Severity::Unsafe));
    assert!(found.iter().any(|one| one.what.contains("no tables")));
    assert!(!place.file().exists());
}

#[tokio::test]
async fn a_directory_that_is_missing_is_named() {
    let place = Place::new();
    let url = format!("sqlite:{}/none/lockwork.db", place.file().display());
    the_one(&url, Severity::Unsafe, "/none does not exist").await;
}

#[tokio::test]
async fn a_file_of_another_kind_is_none_for_a_store() {
    let place = Place::new();
    let text = "a letter, and certainly no database; it is longer than the header of one, which has a hundred bytes.";
    fs::write(place.file(), text).unwrap();
    the_one(
        &place.url(),
        Severity::Unsafe,
        "no SQLite database; name another",
    )
    .await;
    assert_eq!(fs::read_to_string(place.file()).unwrap(), text);
}

#[tokio::test]
async fn tables_of_other_versions_are_told_from_ours() {
    let place = Place::new();
    soon(place.open().await.close()).await;
    let set = async |text: &'static str| {
        let mut other = place.connection().await;
        other.execute(text).await.unwrap();
    };
    set("UPDATE lockwork_meta SET value = 99 WHERE key = 'schema'").await;
    the_one(&place.url(), Severity::Unsafe, "update this program").await;
    set("UPDATE lockwork_meta SET value = 1 WHERE key = 'schema'").await;
    the_one(&place.url(), Severity::Warning, "end those first").await;
}

#[tokio::test]
async fn a_file_without_its_log_is_worth_a_word() {
    let place = Place::new();
    soon(place.open().await.close()).await;
    let mut other = place.connection().await;
    other.execute("PRAGMA journal_mode = delete").await.unwrap();
    the_one(&place.url(), Severity::Warning, "journal_mode is delete").await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_cannot_be_written_is_told_how_it_can() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    soon(place.open().await.close()).await;
    fs::set_permissions(place.file(), fs::Permissions::from_mode(0o400)).unwrap();
    if fs::OpenOptions::new()
        .write(true)
        .open(place.file())
        .is_ok()
    {
        println!("skipped: this user may write everything");
        return;
    }
    the_one(
        &place.url(),
        Severity::Unsafe,
        "make the file, its directory",
    )
    .await;
}

#[tokio::test]
async fn a_file_that_somebody_keeps_locked_cannot_be_judged_now() {
    let place = Place::new();
    soon(place.open().await.close()).await;
    let mut other = place.connection().await;
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let url = format!("{}?busy=100ms", place.url());
    let error = soon(lockwork_store::doctor(&url)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_url_that_is_wrong_is_no_finding() {
    for url in ["nothing:x", "sqlite:", "sqlite:x?a=b"] {
        let error = soon(lockwork_store::doctor(url)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{url}");
    }
}
