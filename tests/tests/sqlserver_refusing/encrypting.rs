//! Two sides that want different things of encryption.

use crate::{canary, connect, guarded, refusal, url, works};
use lockwork::ErrorKind::{Denied, Unavailable};
use lockwork_conformance::sqlserver::{Encryption, Settings, StandIn};

fn server(encryption: Encryption) -> StandIn {
    guarded(Settings::new().encryption(encryption))
}

fn with(server: &StandIn, encrypt: &str) -> String {
    format!("{}&encrypt={encrypt}", url(server, "sa", "master"))
}

const WANTS: &str = "whether encrypt is what the server wants";

#[tokio::test]
async fn a_server_without_encryption_is_refused_unless_none_is_asked_for() {
    let server = server(Encryption::NotSupported);
    refusal::expect(&with(&server, "true"), Denied, "or say encrypt=none").await;
    refusal::expect(&with(&server, "strict"), Unavailable, WANTS).await;
    refusal::expect(&with(&server, "login"), Unavailable, WANTS).await;
    works(&connect(&with(&server, "none")).await).await;
}

#[tokio::test]
async fn a_server_that_requires_encryption_refuses_who_has_none() {
    let server = server(Encryption::Required);
    refusal::expect(&with(&server, "none"), Unavailable, WANTS).await;
    for encrypt in ["true", "login", "strict"] {
        works(&connect(&with(&server, encrypt)).await).await;
    }
}

#[tokio::test]
async fn a_strict_server_refuses_whoever_begins_otherwise() {
    let server = server(Encryption::Strict);
    for encrypt in ["true", "login", "none"] {
        refusal::expect(&with(&server, encrypt), Unavailable, WANTS).await;
    }
    works(&connect(&with(&server, "strict")).await).await;
}

#[tokio::test]
async fn a_server_that_leaves_it_to_us_does_as_we_like() {
    let server = server(Encryption::Optional);
    for encrypt in ["true", "strict", "login", "none"] {
        works(&connect(&with(&server, encrypt)).await).await;
    }
    canary::is_not_in_the_log();
}
