//! Connection strings of ADO.NET.

use crate::{CANARY, canary, database, error_of, refusal, shared, works};
use lockwork::{ErrorKind::Denied, ErrorKind::Invalid, Locks, sqlserver::Options};
use lockwork_conformance::Certificates;

/// A string that is right, and more.
fn with(more: &str) -> String {
    let port = shared().address().port();
    format!("Server=127.0.0.1,{port};Password={CANARY};User ID=sa;Database=strings;{more}")
}

fn refused(text: &str, words: &str) {
    let error = Options::from_ado(text).expect_err(text);
    println!("{error}");
    canary::is_not_in(&error);
    refusal::is(&error, Invalid, words);
}

#[tokio::test]
async fn strings_that_are_right_lead_to_the_server() {
    canary::listen();
    database("strings");
    let port = shared().address().port();
    for text in [
        with("TrustServerCertificate=True"),
        with("Encrypt=Optional;TrustServerCertificate=yes;"),
        with("Encrypt=Strict;Trust Server Certificate=true;MultipleActiveResultSets=False"),
        format!(
            "data source=tcp:127.0.0.1,{port};initial catalog='strings';uid=sa;pwd=\"{CANARY}\";\
             trustservercertificate=true;Connect Timeout=30;Application Name=x"
        ),
    ] {
        let options = Options::from_ado(&text).unwrap();
        canary::is_not_shown_by(&options);
        let server = options.connect().await.unwrap();
        canary::is_not_shown_by(&server);
        works(&Locks::new(server)).await;
    }
    let untrusted = Options::from_ado(&with("")).unwrap();
    let error = error_of(untrusted.connect()).await;
    refusal::is(&error, Denied, "is not to be trusted");
}

#[tokio::test]
async fn what_cannot_be_heeded_is_refused() {
    canary::listen();
    for (more, words) in [
        (
            "MultipleActiveResultSets=True",
            "leave MultipleActiveResultSets away",
        ),
        ("Integrated Security=SSPI", "give User ID and Password"),
        ("Trusted_Connection=True", "give User ID and Password"),
        (
            "Authentication=ActiveDirectoryDefault",
            "give User ID and Password",
        ),
        ("Encrypt=perhaps", "Strict, Mandatory or Optional"),
        ("Failover Partner=b", "key=failoverpartner"),
        ("ServerCertificate=/nowhere", "ServerCertificate names"),
        ("Server=db\\NAMED", "write Server=HOST,PORT"),
        ("Server=db,many", "Server is HOST or HOST,PORT"),
        ("Server=db:1433", "Server is HOST or HOST,PORT"),
        ("Server=", "Server is missing"),
        ("Server=,1433", "Server is missing"),
        ("Database='x", "ends with one"),
    ] {
        refused(&with(more), words);
    }
    refused(CANARY, "KEY=VALUE");
    refused(&format!("Server=db;Password={CANARY}"), "User ID");
    refused(
        &format!("User ID=sa;Password={CANARY}"),
        "Server is missing",
    );
}

/// A key that nobody knows may be the rest of a password.
#[tokio::test]
async fn a_password_with_a_semicolon_is_not_shown() {
    canary::listen();
    refused(
        &format!("Server=h;User ID=u;Password=12;{CANARY}"),
        "KEY=VALUE",
    );
    refused(
        &format!("Server=h;User ID=u;Password=12;{CANARY}=;Database=x"),
        "in quotes",
    );
}

#[tokio::test]
async fn nobody_trusts_anybody_and_one_certificate_only() {
    canary::listen();
    let certificates = Certificates::make();
    let file = format!("ServerCertificate={}", certificates.authority.display());
    for both in [
        format!("TrustServerCertificate=true;{file}"),
        format!("{file};TrustServerCertificate=true"),
    ] {
        refused(&with(&both), "leave TrustServerCertificate away");
    }
}
