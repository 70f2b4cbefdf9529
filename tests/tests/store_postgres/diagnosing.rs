//! What the doctor finds about a server, and that it leaves everything as it was.

use crate::{SOON, server};
use lockwork::{Finding, Severity, store::postgres::PostgresStore};
use lockwork_conformance::within;
use lockwork_servers::{PgBouncer, PoolMode, Postgres};

async fn look(url: &str) -> Vec<Finding> {
    let report = within(SOON, "a report", lockwork::store::doctor(url)).await;
    let findings = report.unwrap().findings;
    for finding in &findings {
        println!("{finding}");
        assert!(!finding.to_string().contains("canary"), "{finding}");
    }
    findings
}

/// The one finding that is more than a note.
async fn the_one(url: &str, severity: Severity, says: &str) {
    let mut found = look(url).await;
    found.retain(|one| one.severity > Severity::Note);
    let [one] = &found[..] else {
        panic!("not one: {found:#?}")
    };
    assert_eq!(one.severity, severity, "{one}");
    assert!(one.to_string().contains(says), "{one}");
}

fn url(server: &Postgres, user: &str) -> String {
    format!(
        "postgres://{user}:canary@127.0.0.1:{}/postgres",
        server.port()
    )
}

#[tokio::test]
async fn a_server_in_order_has_nothing_to_say_and_nothing_is_made_there() {
    let server = server(&[]);
    let found = look(&server.url()).await;
    let [note] = &found[..] else {
        panic!("not one: {found:#?}")
    };
    assert_eq!(note.severity, Severity::Note);
    assert!(note.what.contains("no tables"), "{note}");
    let made = server.sql("SELECT to_regnamespace('lockwork') IS NULL");
    assert_eq!(made.unwrap().trim(), "t");
    drop(crate::node(&server).await);
    assert!(look(&server.url()).await.is_empty());
}

#[tokio::test]
async fn a_server_that_may_forget_is_unsafe() {
    let server = server(&[("fsync", "off")]);
    drop(crate::node(&server).await);
    the_one(&server.url(), Severity::Unsafe, "fsync off").await;
    server
        .sql("ALTER ROLE lockwork SET synchronous_commit = off")
        .unwrap();
    let found = look(&server.url()).await;
    let unsafe_ones = found.iter().filter(|one| one.severity == Severity::Unsafe);
    assert_eq!(unsafe_ones.count(), 2);
    assert!(
        found[0].what.contains("synchronous_commit is off"),
        "{}",
        found[0]
    );
}

#[tokio::test]
async fn a_role_without_rights_is_told_what_an_administrator_runs() {
    let server = server(&[]);
    server.sql("CREATE ROLE app LOGIN").unwrap();
    let url = url(&server, "app");
    let says = "have an administrator run the script";
    the_one(&url, Severity::Unsafe, says).await;
    server.sql(&PostgresStore::schema_sql("lockwork")).unwrap();
    the_one(&url, Severity::Unsafe, says).await;
    server.sql("GRANT USAGE ON SCHEMA lockwork TO app").unwrap();
    the_one(&url, Severity::Unsafe, says).await;
    server
        .sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA lockwork TO app")
        .unwrap();
    assert!(look(&url).await.is_empty());
}

#[tokio::test]
async fn tables_of_other_versions_are_told_from_ours() {
    let server = server(&[]);
    drop(crate::node(&server).await);
    server
        .sql("UPDATE lockwork.store_format SET number = 99")
        .unwrap();
    the_one(&server.url(), Severity::Unsafe, "update this program").await;
    server
        .sql("UPDATE lockwork.store_format SET number = 1")
        .unwrap();
    the_one(&server.url(), Severity::Warning, "end those first").await;
}

#[tokio::test]
async fn a_server_that_takes_no_orders_is_unsafe() {
    let primary = server(&[]);
    drop(crate::node(&primary).await);
    let standby = primary.standby().unwrap();
    the_one(&standby.url(), Severity::Unsafe, "connect to the primary").await;
    primary
        .sql("ALTER DATABASE postgres SET default_transaction_read_only = on")
        .unwrap();
    the_one(
        &primary.url(),
        Severity::Unsafe,
        "is read-only for this role",
    )
    .await;
}

#[tokio::test]
async fn few_connections_and_a_pooler_are_worth_a_word() {
    let server = server(&[]);
    drop(crate::node(&server).await);
    let many = format!("{}?pool=10000", server.url());
    the_one(&many, Severity::Warning, "raise max_connections").await;
    let pooler = PgBouncer::start(&server, PoolMode::Transaction).unwrap();
    the_one(
        &pooler.url(),
        Severity::Warning,
        "a pooler in transaction mode",
    )
    .await;
}
