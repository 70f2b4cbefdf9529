//! Which servers are believed to be who they say they are.

use crate::{CANARY, connect, guarded, refusal, works};
use lockwork::ErrorKind::{Denied, Invalid};
use lockwork_conformance::{
    Certificates, Identity,
    sqlserver::{Encryption, Settings, StandIn},
};

/// How to go to a server, in both ways that TLS can begin.
const WAYS: [Encryption; 2] = [Encryption::Required, Encryption::Strict];

const NOT_TRUSTED: &str = "the certificate of the SQL Server is not to be trusted";

fn server(identity: &Identity, way: Encryption) -> StandIn {
    guarded(Settings::new().encryption(way).identity(identity.clone()))
}

fn url(server: &StandIn, way: Encryption, host: &str, query: &str) -> String {
    let port = server.address().port();
    let encrypt = match way {
        Encryption::Strict => "strict",
        _ => "true",
    };
    format!("sqlserver://sa:{CANARY}@{host}:{port}/master?encrypt={encrypt}&{query}")
}

fn authority(certificates: &Certificates) -> String {
    format!("sslrootcert={}", certificates.authority.display())
}

#[tokio::test]
async fn the_good_certificate_is_believed() {
    let certificates = Certificates::make();
    let trust = authority(&certificates);
    for way in WAYS {
        let server = server(&certificates.good, way);
        for host in ["localhost", "127.0.0.1"] {
            works(&connect(&url(&server, way, host, &trust)).await).await;
        }
    }
}

#[tokio::test]
async fn no_other_certificate_is_believed() {
    let certificates = Certificates::make();
    let trust = authority(&certificates);
    for way in WAYS {
        for identity in [
            &certificates.self_signed,
            &certificates.expired,
            &certificates.wrong_name,
        ] {
            let server = server(identity, way);
            let url = url(&server, way, "localhost", &trust);
            refusal::expect(&url, Denied, NOT_TRUSTED).await;
        }
    }
}

#[tokio::test]
async fn without_the_authority_the_good_certificate_is_a_strangers() {
    let certificates = Certificates::make();
    for way in WAYS {
        let server = server(&certificates.good, way);
        let url = url(&server, way, "localhost", "");
        refusal::expect(&url, Denied, "by sslrootcert=FILE").await;
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_believed_under_that_name() {
    let certificates = Certificates::make();
    let trust = authority(&certificates);
    let way = Encryption::Required;
    let server = server(&certificates.wrong_name, way);
    let with = |name: &str| {
        url(
            &server,
            way,
            "localhost",
            &format!("{trust}&sslname={name}"),
        )
    };
    works(&connect(&with("elsewhere.invalid")).await).await;
    refusal::expect(&with("nowhere.invalid"), Denied, "by sslname").await;
    refusal::expect(&with("no%20name"), Invalid, "check sslname").await;
}

#[tokio::test]
async fn who_trusts_anybody_is_asked_for_nothing() {
    let certificates = Certificates::make();
    for way in WAYS {
        for identity in [&certificates.self_signed, &certificates.expired] {
            let server = server(identity, way);
            works(&connect(&url(&server, way, "localhost", "trust=any")).await).await;
        }
    }
}

#[tokio::test]
async fn nobody_trusts_anybody_and_an_authority_only() {
    let certificates = Certificates::make();
    let way = Encryption::Required;
    let server = server(&certificates.good, way);
    let both = format!("{}&trust=any", authority(&certificates));
    let url = url(&server, way, "localhost", &both);
    refusal::expect(&url, Invalid, "leave trust=any away").await;
}
