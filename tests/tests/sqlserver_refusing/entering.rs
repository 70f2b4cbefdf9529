//! Not being let in, and not finding the server.

use crate::{CANARY, at, connect, database, login, refusal, run, shared, url, works};
use lockwork::ErrorKind::{Denied, Invalid, Unavailable};
use std::net::TcpListener;

const BOTH: &str = "refused the user or the password: check both";

#[tokio::test]
async fn a_wrong_password_is_denied() {
    run(
        "master",
        ["CREATE LOGIN other WITH PASSWORD = 'An0ther one'"],
    );
    refusal::expect(&url(shared(), "other", "master"), Denied, BOTH).await;
}

#[tokio::test]
async fn an_unknown_user_is_denied() {
    refusal::expect(&url(shared(), "nobody", "master"), Denied, BOTH).await;
}

#[tokio::test]
async fn a_login_that_is_disabled_is_denied() {
    login("disabled");
    run("master", ["ALTER LOGIN disabled DISABLE"]);
    let url = url(shared(), "disabled", "master");
    refusal::expect(&url, Denied, "whether the login is enabled").await;
}

#[tokio::test]
async fn an_unknown_database_is_named_as_such() {
    let url = url(shared(), "sa", "nowhere");
    refusal::expect(&url, Invalid, "there is no such database").await;
}

#[tokio::test]
async fn a_login_without_a_user_in_the_database_is_told_so() {
    database("closed");
    login("outsider");
    let url = url(shared(), "outsider", "closed");
    refusal::expect(&url, Invalid, "or the login has no user in it").await;
}

#[tokio::test]
async fn an_unknown_host_cannot_be_reached() {
    // No name ends so: RFC 6761, 6.4.
    let url = format!("sqlserver://sa:{CANARY}@db.invalid/master");
    refusal::expect(&url, Unavailable, "check host and port").await;
}

#[tokio::test]
async fn a_closed_port_cannot_be_reached() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    refusal::expect(&at(port, "sa", "master"), Unavailable, "whether it runs").await;
}

#[tokio::test]
async fn a_host_to_which_no_way_leads_is_given_up() {
    // For documents only: RFC 5737.
    let url = format!("sqlserver://sa:{CANARY}@192.0.2.1/master");
    refusal::expect(&url, Unavailable, "check host and port").await;
}

#[tokio::test]
async fn the_right_user_and_password_are_let_in() {
    let url = database("entered");
    works(&connect(&url).await).await;
}

#[tokio::test]
async fn both_schemes_of_a_url_mean_the_same() {
    let url = database("schemes");
    let short = url.replacen("sqlserver", "mssql", 1);
    let (one, other) = (connect(&url).await, connect(&short).await);
    let guard = one.mutex("a").lock().await.unwrap();
    assert!(other.mutex("a").try_lock().await.unwrap().is_none());
    guard.release().await.unwrap();
}
