//! Not being let in, and not finding the server.

use crate::{CANARY, canary, refusal, shared, url};
use lockwork::ErrorKind::{Denied, Invalid, Unavailable};
use std::net::TcpListener;

#[tokio::test]
async fn a_wrong_password_is_denied() {
    let line = ["ACL", "SETUSER", "other", "on", ">another", "+@all"];
    shared().ask(&line).unwrap();
    let url = url(shared().port(), "other");
    refusal::expect(&url, Denied, "refused user or password: check both").await;
}

#[tokio::test]
async fn an_unknown_user_is_denied() {
    let url = url(shared().port(), "nobody");
    refusal::expect(&url, Denied, "refused user or password: check both").await;
}

#[tokio::test]
async fn the_password_of_another_user_is_not_that_of_the_default_user() {
    let url = format!("redis://:{CANARY}@127.0.0.1:{}", shared().port());
    refusal::expect(&url, Denied, "refused user or password: check both").await;
}

#[tokio::test]
async fn nobody_is_let_in_without_a_password_where_one_is_needed() {
    let url = format!("redis://127.0.0.1:{}", shared().port());
    let error = lockwork::connect(&url).await.unwrap_err();
    println!("{error}");
    refusal::is(&error, Denied, "refused user or password: check both");
}

#[tokio::test]
async fn a_user_without_a_password_may_be_a_password_without_a_colon() {
    let url = format!("redis://{CANARY}@127.0.0.1:{}", shared().port());
    refusal::expect(&url, Invalid, "redis://:password@host").await;
}

#[tokio::test]
async fn an_unknown_host_cannot_be_reached() {
    // No name ends so: RFC 6761, 6.4.
    for scheme in ["redis", "rediss", "redis+cluster"] {
        let url = format!("{scheme}://admin:{CANARY}@db.invalid");
        refusal::expect(&url, Unavailable, "check host").await;
    }
}

#[tokio::test]
async fn a_closed_port_cannot_be_reached() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    refusal::expect(&url(port, "admin"), Unavailable, "check host and port").await;
    for scheme in ["redis+cluster", "rediss+cluster"] {
        let url = format!("{scheme}://admin:{CANARY}@127.0.0.1:{port},localhost:{port}");
        refusal::expect(&url, Unavailable, "check host").await;
    }
    for scheme in ["redis+sentinel", "rediss+sentinel"] {
        let url = format!("{scheme}://admin:{CANARY}@127.0.0.1:{port},localhost:{port}/name");
        refusal::expect(&url, Unavailable, "check host").await;
    }
}

#[tokio::test]
async fn the_right_user_and_password_are_let_in() {
    canary::listen();
    let locks = lockwork::connect(&url(shared().port(), "admin")).await;
    let locks = locks.unwrap();
    let guard = locks.mutex("entering").lock().await.unwrap();
    guard.release().await.unwrap();
    canary::is_not_in_the_log();
}
