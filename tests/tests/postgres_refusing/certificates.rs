//! Which servers are believed to be who they say they are.

use crate::{CANARY, canary, refusal, shared};
use lockwork::ErrorKind::{Denied, Invalid};
use lockwork_conformance::{Certificates, Identity};
use lockwork_servers::{Postgres, Settings};
use std::{fs, path::Path};

fn server(identity: &Identity) -> Postgres {
    Postgres::start(Settings::new().tls(&identity.certificate, &identity.key)).unwrap()
}

fn url(server: &Postgres, host: &str, query: &str) -> String {
    let port = server.port();
    format!("postgres://lockwork:{CANARY}@{host}:{port}/postgres?{query}")
}

fn full(authority: &Path) -> String {
    format!("sslmode=verify-full&sslrootcert={}", authority.display())
}

#[tokio::test]
async fn the_good_certificate_is_believed() {
    canary::listen();
    let certificates = Certificates::make();
    let server = server(&certificates.good);
    let trust = full(&certificates.authority);
    for host in ["localhost", "127.0.0.1"] {
        let locks = lockwork::connect(&url(&server, host, &trust))
            .await
            .unwrap();
        let guard = locks.mutex(host).lock().await.unwrap();
        let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                         WHERE application_name LIKE 'lockwork/%'";
        assert_eq!(server.sql(encrypted).unwrap(), "t");
        guard.release().await.unwrap();
    }
    canary::is_not_in_the_log();
}

#[tokio::test]
async fn no_other_certificate_is_believed() {
    let certificates = Certificates::make();
    let trust = full(&certificates.authority);
    for identity in [
        &certificates.self_signed,
        &certificates.expired,
        &certificates.wrong_name,
    ] {
        let server = server(identity);
        let url = url(&server, "localhost", &trust);
        refusal::expect(&url, Denied, "the server's certificate does not hold").await;
    }
}

#[tokio::test]
async fn who_names_an_authority_wants_it_asked() {
    let certificates = Certificates::make();
    let server = server(&certificates.self_signed);
    let named = format!("sslrootcert={}", certificates.authority.display());
    for query in [named.clone(), format!("sslmode=require&{named}")] {
        let url = url(&server, "localhost", &query);
        refusal::expect(&url, Denied, "the server's certificate does not hold").await;
    }
}

#[tokio::test]
async fn without_the_authority_the_good_certificate_is_a_strangers() {
    let certificates = Certificates::make();
    let server = server(&certificates.good);
    let url = url(&server, "localhost", "sslmode=verify-full");
    refusal::expect(&url, Denied, "name its authority with sslrootcert=FILE").await;
}

#[tokio::test]
async fn elsewhere_a_server_must_prove_who_it_is_unless_told_otherwise() {
    let certificates = Certificates::make();
    let server = server(&certificates.good);
    // It leads to this machine, and is not the address of it.
    let there = url(&server, "0.0.0.0", "");
    refusal::expect(&there, Denied, "the server's certificate does not hold").await;
    let there = url(&server, "0.0.0.0", "sslmode=require");
    drop(lockwork::connect(&there).await.unwrap());
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_that_is_asked_for() {
    for (host, mode) in [
        ("127.0.0.1", "sslmode=require"),
        ("127.0.0.1", "sslmode=verify-ca"),
        ("0.0.0.0", ""),
    ] {
        let url = url(shared(), host, mode);
        refusal::expect(&url, Denied, "the server has no TLS").await;
    }
}

#[tokio::test]
async fn a_key_that_is_none_is_refused() {
    let certificates = Certificates::make();
    let server = server(&certificates.good);
    let none = certificates.directory().join("none");
    fs::write(&none, "nothing").unwrap();
    let (none, good) = (none.display(), certificates.good.certificate.display());
    for query in [
        format!("sslcert={good}&sslkey={none}"),
        format!("sslcert={good}"),
        format!("sslcert={good}&sslkey={good}"),
    ] {
        refusal::expect(&url(&server, "localhost", &query), Invalid, "sslkey").await;
    }
}
