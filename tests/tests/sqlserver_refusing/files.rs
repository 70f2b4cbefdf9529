//! Files that a URL names, and that are not what they should be.

use crate::{CANARY, connect, guarded, refusal, works};
use lockwork::ErrorKind::Invalid;
use lockwork_conformance::{
    Certificates,
    sqlserver::{Encryption, Settings, StandIn},
};
use std::{fs, path::PathBuf};

fn server(certificates: &Certificates) -> StandIn {
    let settings = Settings::new().encryption(Encryption::Required);
    guarded(settings.identity(certificates.good.clone()))
}

fn url(server: &StandIn, query: &str) -> String {
    let port = server.address().port();
    format!("sqlserver://sa:{CANARY}@localhost:{port}/master?{query}")
}

/// A file with this in it.
fn file(certificates: &Certificates, name: &str, inside: &str) -> PathBuf {
    let path = certificates.directory().join(name);
    fs::write(&path, inside).unwrap();
    path
}

#[tokio::test]
async fn files_that_are_not_there_are_named() {
    let certificates = Certificates::make();
    let server = server(&certificates);
    let good = certificates.good.certificate.display();
    for (query, option) in [
        ("sslrootcert=/nowhere".to_owned(), "option=sslrootcert"),
        ("sslcert=/nowhere".to_owned(), "option=sslcert"),
        (format!("sslcert={good}&sslkey=/nowhere"), "option=sslkey"),
    ] {
        refusal::expect(&url(&server, &query), Invalid, option).await;
    }
}

#[tokio::test]
async fn a_certificate_goes_with_its_key() {
    let certificates = Certificates::make();
    let server = server(&certificates);
    let good = &certificates.good;
    for query in [
        format!("sslcert={}", good.certificate.display()),
        format!("sslkey={}", good.key.display()),
    ] {
        refusal::expect(&url(&server, &query), Invalid, "sslcert and sslkey").await;
    }
}

#[tokio::test]
async fn files_that_are_no_pem_are_named() {
    let certificates = Certificates::make();
    let server = server(&certificates);
    let none = file(&certificates, "none.pem", CANARY);
    let (none, good) = (none.display(), &certificates.good);
    let (certificate, key) = (good.certificate.display(), good.key.display());
    for (query, option) in [
        (format!("sslrootcert={none}"), "option=sslrootcert"),
        (format!("sslrootcert={key}"), "option=sslrootcert"),
        (format!("sslcert={none}&sslkey={key}"), "option=sslcert"),
        (format!("sslcert={key}&sslkey={key}"), "option=sslcert"),
        (
            format!("sslcert={certificate}&sslkey={none}"),
            "option=sslkey",
        ),
        (
            format!("sslcert={certificate}&sslkey={certificate}"),
            "option=sslkey",
        ),
    ] {
        refusal::expect(&url(&server, &query), Invalid, option).await;
    }
}

#[tokio::test]
async fn files_that_only_look_like_pem_are_of_no_use() {
    let certificates = Certificates::make();
    let server = server(&certificates);
    let frame = |kind: &str| format!("-----BEGIN {kind}-----\n{CANARY}!\n-----END {kind}-----\n");
    let certificate = file(&certificates, "torn.crt", &frame("CERTIFICATE"));
    let key = file(&certificates, "torn.key", &frame("PRIVATE KEY"));
    let (certificate, key) = (certificate.display(), key.display());
    let (good, other) = (&certificates.good, &certificates.self_signed);
    let trust = format!("sslrootcert={}", certificates.authority.display());
    let (mine, my_key) = (good.certificate.display(), good.key.display());
    for query in [
        format!("sslrootcert={certificate}"),
        format!("{trust}&sslcert={certificate}&sslkey={my_key}"),
        format!("{trust}&sslcert={mine}&sslkey={key}"),
        // The key of another certificate.
        format!("{trust}&sslcert={mine}&sslkey={}", other.key.display()),
    ] {
        let words = "a file for TLS is of no use";
        refusal::expect(&url(&server, &query), Invalid, words).await;
    }
}

/// The driver goes by how they end.
#[tokio::test]
async fn names_that_the_driver_cannot_read_are_told_how_to_end() {
    let certificates = Certificates::make();
    let server = server(&certificates);
    let good = &certificates.good;
    let copy = |from: &PathBuf, name: &str| {
        let text = fs::read_to_string(from).unwrap();
        file(&certificates, name, &text)
    };
    let certificate = copy(&good.certificate, "client.cert");
    let key = copy(&good.key, "client.secret");
    let (mine, my_key) = (good.certificate.display(), good.key.display());
    for (query, words) in [
        (
            format!("sslcert={}&sslkey={my_key}", certificate.display()),
            ".pem or .crt",
        ),
        (
            format!("sslcert={mine}&sslkey={}", key.display()),
            ".pem or .key",
        ),
    ] {
        refusal::expect(&url(&server, &query), Invalid, words).await;
    }
    let trust = format!("sslrootcert={}", certificates.authority.display());
    let right = format!("{trust}&sslcert={mine}&sslkey={my_key}");
    works(&connect(&url(&server, &right)).await).await;
}
