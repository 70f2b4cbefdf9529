//! Not being let in, and not finding the server.

use crate::{CANARY, refusal, shared, somebody, url};
use lockwork::ErrorKind::{Denied, Invalid, Unavailable};
use std::net::TcpListener;

#[tokio::test]
async fn a_wrong_password_is_denied() {
    let url = url(shared().port(), "lockwork", "postgres");
    refusal::expect(&url, Denied, "check both, and pg_hba.conf").await;
}

#[tokio::test]
async fn an_unknown_user_is_denied() {
    let url = url(shared().port(), "nobody", "postgres");
    refusal::expect(&url, Denied, "check both, and pg_hba.conf").await;
}

#[tokio::test]
async fn an_unknown_database_is_named_as_such() {
    let url = url(shared().port(), "admin", "nowhere");
    refusal::expect(&url, Invalid, "create it, or name another").await;
}

#[tokio::test]
async fn an_unknown_host_cannot_be_reached() {
    // No name ends so: RFC 6761, 6.4.
    let url = format!("postgres://admin:{CANARY}@db.invalid/postgres");
    refusal::expect(&url, Unavailable, "check host and port").await;
}

#[tokio::test]
async fn a_closed_port_cannot_be_reached() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let url = url(port, "admin", "postgres");
    refusal::expect(&url, Unavailable, "check host and port").await;
}

#[tokio::test]
async fn a_socket_that_is_not_there_cannot_be_reached() {
    let url = format!("postgres://admin:{CANARY}@%2Fnowhere%2Fat%2Fall/postgres");
    refusal::expect(&url, Unavailable, "whether it runs").await;
}

#[tokio::test]
async fn a_role_that_may_not_connect_is_told_which_right_it_lacks() {
    let url = somebody("unconnected");
    let revoke = "REVOKE CONNECT ON DATABASE unconnected FROM PUBLIC";
    shared().sql(revoke).unwrap();
    refusal::expect(&url, Denied, "GRANT it CONNECT on the database").await;
}
