//! Which servers are believed to be who they say they are, and who we are to them.

use crate::{CANARY, canary, guarded, refusal, shared};
use lockwork::ErrorKind::{Denied, Invalid, Unavailable};
use lockwork_conformance::{Certificates, Identity};
use lockwork_servers::{Redis, RedisSettings};
use std::fs;

fn server(identity: &Identity) -> Redis {
    guarded(RedisSettings::new().tls(&identity.certificate, &identity.key))
}

fn url(port: u16, host: &str, query: &str) -> String {
    format!("rediss://admin:{CANARY}@{host}:{port}?{query}")
}

fn trust(certificates: &Certificates) -> String {
    format!("sslrootcert={}", certificates.authority.display())
}

fn ours(identity: &Identity) -> String {
    let (certificate, key) = (identity.certificate.display(), identity.key.display());
    format!("sslcert={certificate}&sslkey={key}")
}

async fn works(url: &str) {
    canary::listen();
    let locks = lockwork::connect(url).await.unwrap();
    let guard = locks.mutex("certificates").lock().await.unwrap();
    guard.release().await.unwrap();
    canary::is_not_in_the_log();
}

#[tokio::test]
async fn the_good_certificate_is_believed() {
    let certificates = Certificates::make();
    let server = server(&certificates.good);
    for host in ["localhost", "127.0.0.1"] {
        works(&url(
            server.tls_port().unwrap(),
            host,
            &trust(&certificates),
        ))
        .await;
    }
}

#[tokio::test]
async fn no_other_certificate_is_believed() {
    let certificates = Certificates::make();
    for identity in [
        &certificates.self_signed,
        &certificates.expired,
        &certificates.wrong_name,
    ] {
        let server = server(identity);
        let port = server.tls_port().unwrap();
        let url = url(port, "localhost", &trust(&certificates));
        refusal::expect(&url, Denied, "is not to be trusted").await;
        let cluster = url.replacen("rediss", "rediss+cluster", 1);
        refusal::expect(&cluster, Denied, "is not to be trusted").await;
    }
}

#[tokio::test]
async fn without_the_authority_the_good_certificate_is_a_strangers() {
    let certificates = Certificates::make();
    let server = server(&certificates.good);
    let url = url(server.tls_port().unwrap(), "localhost", "");
    refusal::expect(&url, Denied, "by sslrootcert").await;
}

#[tokio::test]
async fn a_server_that_wants_to_know_who_we_are_is_told() {
    let certificates = Certificates::make();
    let good = &certificates.good;
    let settings = RedisSettings::new().tls(&good.certificate, &good.key);
    let server = guarded(settings.client_authority(&certificates.authority));
    let (port, trust) = (server.tls_port().unwrap(), trust(&certificates));
    let with = |ours: &str| url(port, "localhost", &format!("{trust}&{ours}"));
    works(&with(&ours(good))).await;
    refusal::expect(&with(""), Denied, "sslcert").await;
    let stranger = ours(&certificates.self_signed);
    refusal::expect(&with(&stranger), Denied, "sslcert").await;
}

#[tokio::test]
async fn one_who_speaks_tls_and_one_who_does_not_are_told_to_agree() {
    let certificates = Certificates::make();
    let server = server(&certificates.good);
    let plain = crate::url(server.tls_port().unwrap(), "admin");
    refusal::expect(&plain, Unavailable, "whether TLS is on").await;
    let encrypted = url(shared().port(), "localhost", &trust(&certificates));
    refusal::expect(&encrypted, Unavailable, "whether TLS is on").await;
}

#[tokio::test]
async fn files_that_are_no_certificates_are_refused() {
    let certificates = Certificates::make();
    let none = certificates.directory().join("none");
    fs::write(&none, "nothing").unwrap();
    let (none, good) = (none.display(), &certificates.good);
    let (certificate, key) = (good.certificate.display(), good.key.display());
    for (query, words) in [
        (format!("sslcert={certificate}&sslkey={none}"), "PEM"),
        (format!("sslcert={none}&sslkey={key}"), "PEM"),
        (format!("sslcert={certificate}&sslkey={certificate}"), "PEM"),
        (format!("sslrootcert={none}"), "PEM"),
        (format!("sslcert={certificate}"), "sslcert and sslkey"),
        (format!("sslkey={key}"), "sslcert and sslkey"),
        ("sslrootcert=/nowhere".to_owned(), "option=sslrootcert"),
        ("sslcert=/nowhere".to_owned(), "option=sslcert"),
        (
            format!("sslcert={certificate}&sslkey=/nowhere"),
            "option=sslkey",
        ),
    ] {
        let url = url(shared().port(), "localhost", &query);
        refusal::expect(&url, Invalid, words).await;
    }
}
