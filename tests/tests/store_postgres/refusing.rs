//! What a store refuses, in a sentence that says what to do, and without the password.

use crate::{server, support::*};
use lockwork::store::postgres::PostgresStore;
use lockwork::{
    runtime::store::InstanceStore,
    workflow::{
        Error,
        ErrorKind::{Denied, Invalid, Unavailable, Unsupported},
    },
};
use lockwork_servers::{PgBouncer, PoolMode, Postgres, Settings};
use std::{error::Error as _, net::TcpListener};

/// A password that is in no sentence.
const CANARY: &str = "canary-8731";

async fn refused(url: &str) -> Error {
    let error = PostgresStore::connect(url).await.expect_err("refused");
    let mut text = format!("{error} {error:?}");
    let mut cause = error.source();
    while let Some(one) = cause {
        text += &format!(" {one} {one:?}");
        cause = one.source();
    }
    println!("{error}");
    assert!(!text.contains(CANARY), "{text}");
    error
}

async fn expect(url: &str, kind: lockwork::workflow::ErrorKind, says: &str) {
    let error = refused(url).await;
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

fn url(server: &Postgres, user: &str) -> String {
    format!(
        "postgres://{user}:{CANARY}@127.0.0.1:{}/postgres",
        server.port()
    )
}

#[tokio::test]
async fn who_is_not_let_in_is_told_why() {
    let server = Postgres::start(Settings::new().password()).unwrap();
    expect(
        &url(&server, "lockwork"),
        Denied,
        "check both, and pg_hba.conf",
    )
    .await;
    let nowhere = server.url().replace("/postgres?", "/nowhere?");
    let nowhere = nowhere
        .strip_suffix("/postgres")
        .map_or(nowhere.clone(), |url| format!("{url}/nowhere"));
    expect(&nowhere, Invalid, "create it, or name another").await;
    expect(
        &format!("{}?shcema=x", url(&server, "a")),
        Invalid,
        "known=schema, pool",
    )
    .await;
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let closed = format!("postgres://a:{CANARY}@127.0.0.1:{closed}/postgres");
    expect(&closed, Unavailable, "check host and port").await;
}

#[tokio::test]
async fn a_role_without_rights_is_told_what_an_administrator_runs() {
    let server = server(&[]);
    server.sql("CREATE ROLE app LOGIN").unwrap();
    let url = url(&server, "app");
    let error = refused(&url).await;
    assert_eq!(error.kind(), Denied);
    let text = error.to_string();
    assert!(
        text.contains("have an administrator run the script"),
        "{text}"
    );
    let (_, grants) = text.split_once("then=").unwrap();
    let grants = grants.strip_suffix(')').unwrap();
    server.sql(&PostgresStore::schema_sql("lockwork")).unwrap();
    assert_eq!(refused(&url).await.kind(), Denied);
    server.sql(grants).unwrap();
    let store = PostgresStore::connect(&url).await.unwrap();
    store.create(new("a")).await.unwrap();
    let claimed = store.claim(&instance("a"), "c").await.unwrap().unwrap();
    let mut commit = nothing(&claimed);
    commit.errands = vec![errand("e1", "a", NOW), errand("e2", "a", NOW)];
    store.commit(commit).await.unwrap();
    assert!(store.delete(&instance("a")).await.unwrap());
    server
        .sql("REVOKE ALL ON ALL TABLES IN SCHEMA lockwork FROM app")
        .unwrap();
    assert_eq!(kind(store.create(new("b")).await), Denied);
}

#[tokio::test]
async fn a_standby_is_refused_until_it_is_the_primary() {
    let primary = server(&[]);
    drop(crate::node(&primary).await);
    let standby = primary.standby().unwrap();
    expect(&standby.url(), Denied, "connect to the primary").await;
    primary.kill().unwrap();
    standby.sql("SELECT pg_promote()").unwrap();
    crate::node(&standby).await.create(new("a")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_read_only_is_refused() {
    let server = server(&[]);
    let store = crate::node(&server).await;
    server
        .sql("ALTER DATABASE postgres SET default_transaction_read_only = on")
        .unwrap();
    expect(
        &format!("{}?schema=other", server.url()),
        Denied,
        "read-only",
    )
    .await;
    let late = crate::node(&server).await;
    assert_eq!(kind(late.create(new("a")).await), Denied);
    server
        .sql(
            "BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT",
        )
        .unwrap();
    late.create(new("a")).await.unwrap();
    store.create(new("b")).await.unwrap();
}

#[tokio::test]
async fn a_server_that_forgets_what_it_has_confirmed_is_refused() {
    let server = server(&[]);
    server
        .sql("ALTER ROLE lockwork SET synchronous_commit = off")
        .unwrap();
    expect(&server.url(), Denied, "synchronous_commit is off").await;
    server
        .sql("ALTER ROLE lockwork SET synchronous_commit = local")
        .unwrap();
    crate::node(&server).await.create(new("a")).await.unwrap();
}

#[tokio::test]
async fn another_isolation_of_the_role_does_not_matter() {
    let server = server(&[]);
    server
        .sql("ALTER ROLE lockwork SET default_transaction_isolation = 'serializable'")
        .unwrap();
    crate::node(&server).await.create(new("a")).await.unwrap();
}

#[tokio::test]
async fn a_schema_of_a_newer_version_is_refused() {
    let server = server(&[]);
    drop(crate::node(&server).await);
    server
        .sql("UPDATE lockwork.store_format SET number = 99")
        .unwrap();
    expect(&server.url(), Unsupported, "update this node").await;
}

#[tokio::test]
async fn a_pooler_that_keeps_statements_may_stand_in_between() {
    let server = server(&[]);
    let pooler = PgBouncer::start(&server, PoolMode::Transaction).unwrap();
    match PostgresStore::connect(&pooler.url()).await {
        Ok(store) => {
            for id in ["a", "b", "c"] {
                let created = store.create(new(id)).await;
                if let Err(error) = created {
                    // Before 1.21 it does not.
                    assert_eq!(error.kind(), Denied, "{error}");
                    assert!(
                        error.to_string().contains("max_prepared_statements"),
                        "{error}"
                    );
                }
            }
        }
        Err(error) => assert!(
            error.to_string().contains("max_prepared_statements"),
            "{error}"
        ),
    }
}
