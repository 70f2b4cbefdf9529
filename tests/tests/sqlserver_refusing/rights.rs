//! A user who may connect and nothing else: what it is told, and that what it is told is enough.

use crate::{CANARY, connect, guarded, refusal, run, somebody, url, works};
use lockwork::{Error, ErrorKind::Denied};
use lockwork_conformance::{backends::sqlserver::Server, sqlserver::Settings};

/// The SQL that an error has for the administrator.
fn script(error: &Error) -> String {
    let text = error.to_string();
    let mut parts = text.split('`');
    parts.nth(1).expect("a script").to_owned()
}

#[tokio::test]
async fn the_script_in_the_error_is_all_that_an_administrator_has_to_run() {
    let url = somebody("plain");
    let error = refusal::of(&url).await;
    refusal::is(&error, Denied, "have an administrator run");
    run("plain", [&script(&error)]);
    let locks = connect(&url).await;
    assert!(works(&locks).await < works(&locks).await);
    // Once more does no harm.
    run("plain", [&script(&error)]);
}

#[tokio::test]
async fn the_script_fits_an_unusual_user_and_schema() {
    somebody("unusual");
    run(
        "unusual",
        [
            "DROP USER unusual",
            "CREATE USER [Odd ]] 'one'] FOR LOGIN unusual",
        ],
    );
    let url = format!(
        "{}&schema=it's%20%5Bours%5D",
        url(crate::shared(), "unusual", "unusual")
    );
    let error = refusal::of(&url).await;
    run("unusual", [&script(&error)]);
    assert!(works(&connect(&url).await).await.is_some());
}

#[tokio::test]
async fn the_right_to_use_a_sequence_that_is_there_is_in_the_script_too() {
    let url = somebody("half_way");
    run(
        "half_way",
        [
            "CREATE SCHEMA lockwork",
            "CREATE SEQUENCE lockwork.token AS bigint START WITH 1 INCREMENT BY 1",
        ],
    );
    let error = refusal::of(&url).await;
    refusal::is(&error, Denied, "GRANT UPDATE ON OBJECT::[lockwork].[token]");
    run("half_way", [&script(&error)]);
    assert!(works(&connect(&url).await).await.is_some());
}

/// Who may look at it sees that it is there.
#[tokio::test]
async fn who_may_look_at_the_sequence_but_not_count_is_told_so() {
    let url = somebody("looking");
    run(
        "looking",
        [
            "CREATE SCHEMA lockwork",
            "CREATE SEQUENCE lockwork.token AS bigint START WITH 1 INCREMENT BY 1",
            "GRANT VIEW DEFINITION ON OBJECT::lockwork.token TO looking",
        ],
    );
    refusal::expect(&url, Denied, "UPDATE on the sequence of lockwork").await;
}

#[tokio::test]
async fn who_may_create_a_schema_needs_nothing_else() {
    let url = somebody("creating");
    let rights = "GRANT CREATE SCHEMA, CREATE SEQUENCE, ALTER, UPDATE TO creating";
    run("creating", [rights]);
    assert!(works(&connect(&url).await).await.is_some());
}

#[tokio::test]
async fn without_tokens_no_right_is_needed_but_to_connect() {
    let url = somebody("modest");
    refusal::expect(&url, Denied, "or say tokens=false").await;
    let locks = connect(&format!("{url}&tokens=false")).await;
    assert_eq!(works(&locks).await, None);
    assert!(!locks.info().capability.token);
}

/// On a server of its own: it is taken from everybody.
#[tokio::test]
async fn who_may_not_lock_is_told_which_right_is_missing() {
    let standin = guarded(Settings::new());
    let server = Server::new(&url(&standin, "sa", "master")).unwrap();
    let deny = |procedure: &str| format!("DENY EXECUTE ON sys.{procedure} TO public");
    let grant = |procedure: &str| format!("GRANT EXECUTE ON sys.{procedure} TO public");
    let login = format!("CREATE LOGIN barred WITH PASSWORD = '{CANARY}'");
    let made = [login, "CREATE DATABASE barred".to_owned()];
    server.run("master", made).unwrap();
    let user = "CREATE USER barred FOR LOGIN barred".to_owned();
    server.run("barred", [user]).unwrap();
    let url = format!("{}&tokens=false", url(&standin, "barred", "barred"));
    for procedure in ["sp_getapplock", "sp_releaseapplock"] {
        server.run("master", [deny(procedure)]).unwrap();
        let words = "EXECUTE on sp_getapplock and sp_releaseapplock";
        refusal::expect(&url, Denied, words).await;
        server.run("master", [grant(procedure)]).unwrap();
    }
    works(&connect(&url).await).await;
}
