//! A role that may connect and nothing else: what it is told, and that what it is told is enough.

use crate::{canary, refusal, shared, somebody, url};
use lockwork::{Error, ErrorKind::Denied, Locks};
use lockwork_servers::postgres::sql;

/// The SQL that an error has for the administrator.
fn script(error: &Error) -> String {
    let text = error.to_string();
    let (_, script) = text.split_once("script=").expect("a script");
    script.strip_suffix(')').expect("its end").to_owned()
}

fn as_administrator(database: &str, text: &str) {
    sql(&url(shared().port(), "admin", database), text).unwrap();
}

async fn token(locks: &Locks) -> u64 {
    let guard = locks.mutex("a").lock().await.unwrap();
    let token = guard.token().unwrap().get();
    guard.release().await.unwrap();
    token
}

#[tokio::test]
async fn the_script_in_the_error_is_all_that_an_administrator_has_to_run() {
    let url = somebody("plain");
    let error = refusal::of(&url).await;
    refusal::is(&error, Denied, "have an administrator run the script");
    as_administrator("plain", &script(&error));
    let locks = lockwork::connect(&url).await.unwrap();
    assert!(token(&locks).await < token(&locks).await);
    canary::is_not_in_the_log();
}

#[tokio::test]
async fn without_tokens_no_right_is_needed_but_to_connect() {
    let url = somebody("modest");
    refusal::expect(&url, Denied, "or add ?tokens=false").await;
    let locks = lockwork::connect(&format!("{url}?tokens=false"))
        .await
        .unwrap();
    let guard = locks.mutex("a").lock().await.unwrap();
    assert!(guard.token().is_none());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_right_that_is_missing_later_is_granted_by_the_same_script() {
    let url = somebody("half_way");
    let made = "CREATE SCHEMA lockwork; CREATE SEQUENCE lockwork.token AS bigint CACHE 1";
    as_administrator("half_way", made);
    for missing in [
        "SELECT 1",
        "GRANT USAGE ON SCHEMA lockwork TO half_way",
        "GRANT USAGE, SELECT ON SEQUENCE lockwork.token TO half_way",
    ] {
        as_administrator("half_way", missing);
        let error = refusal::of(&url).await;
        refusal::is(&error, Denied, "have an administrator run the script");
        let _ = script(&error);
    }
    let error = refusal::of(&url).await;
    as_administrator("half_way", &script(&error));
    let locks = lockwork::connect(&url).await.unwrap();
    assert!(token(&locks).await > 0);
}

#[tokio::test]
async fn the_script_fits_an_unusual_role_and_schema() {
    somebody("unusual");
    let name = r#"Odd "Role""#.replace('"', "\"\"");
    as_administrator(
        "unusual",
        &format!("ALTER ROLE unusual RENAME TO \"{name}\""),
    );
    as_administrator(
        "unusual",
        &format!("ALTER ROLE \"{name}\" PASSWORD '{}'", crate::CANARY),
    );
    let url = url(shared().port(), "Odd%20%22Role%22", "unusual");
    let url = format!("{url}?schema=Of%20%22ours%22");
    let error = refusal::of(&url).await;
    as_administrator("unusual", &script(&error));
    let locks = lockwork::connect(&url).await.unwrap();
    assert!(token(&locks).await > 0);
}
