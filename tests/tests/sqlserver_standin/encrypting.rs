//! Encryption: what the server says, and what a client makes of it.

use crate::guest::{Guest, SOON, asking, config, connect, getting};
use lockwork_conformance::{
    Certificates,
    sqlserver::{Encryption, Settings, StandIn, StandInProcess},
    within,
};
use std::{path::Path, time::Duration};
use tiberius::{Config, EncryptionLevel};

struct Place {
    server: StandIn,
    certificates: Certificates,
}

impl Place {
    fn new(encryption: Encryption) -> Self {
        let certificates = Certificates::make();
        let settings = Settings::new().encryption(encryption);
        let server = StandIn::start(settings.identity(certificates.good.clone()));
        Self {
            server,
            certificates,
        }
    }

    fn config(&self, level: EncryptionLevel) -> Config {
        let mut config = config(self.server.address(), self.server.password());
        config.encryption(level);
        config.trust_cert_ca(self.certificates.authority.display().to_string());
        config
    }

    /// Whether a connection is encrypted after its login; an error if there is none.
    async fn encrypted(&self, level: EncryptionLevel) -> Result<bool, String> {
        let mut client = connect(self.config(level))
            .await
            .map_err(|it| it.to_string())?;
        let sql = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID";
        let row = client
            .simple_query(sql)
            .await
            .unwrap()
            .into_row()
            .await
            .unwrap();
        Ok(row.unwrap().get(0) == Some("TRUE"))
    }
}

#[tokio::test]
async fn a_server_without_it_serves_who_needs_none() {
    let place = Place::new(Encryption::NotSupported);
    assert_eq!(
        place.encrypted(EncryptionLevel::NotSupported).await,
        Ok(false)
    );
    for level in [
        EncryptionLevel::On,
        EncryptionLevel::Required,
        EncryptionLevel::Strict,
    ] {
        assert!(place.encrypted(level).await.is_err(), "{level:?}");
    }
}

#[tokio::test]
async fn a_server_that_may_encrypt_does_so_for_who_wants_it() {
    let place = Place::new(Encryption::Optional);
    assert_eq!(
        place.encrypted(EncryptionLevel::NotSupported).await,
        Ok(false)
    );
    for level in [
        EncryptionLevel::On,
        EncryptionLevel::Required,
        EncryptionLevel::Strict,
    ] {
        assert_eq!(place.encrypted(level).await, Ok(true), "{level:?}");
    }
}

#[tokio::test]
async fn a_login_alone_is_encrypted_where_both_would_rather_not() {
    let place = Place::new(Encryption::Optional);
    assert_eq!(place.encrypted(EncryptionLevel::Off).await, Ok(false));
}

#[tokio::test]
async fn a_server_that_requires_it_encrypts_for_everybody() {
    let place = Place::new(Encryption::Required);
    for level in [
        EncryptionLevel::Off,
        EncryptionLevel::On,
        EncryptionLevel::Required,
        EncryptionLevel::Strict,
    ] {
        assert_eq!(place.encrypted(level).await, Ok(true), "{level:?}");
    }
}

#[tokio::test]
async fn a_strict_server_hears_nothing_but_tls() {
    let place = Place::new(Encryption::Strict);
    assert_eq!(place.encrypted(EncryptionLevel::Strict).await, Ok(true));
    for level in [
        EncryptionLevel::NotSupported,
        EncryptionLevel::Off,
        EncryptionLevel::Required,
    ] {
        assert!(place.encrypted(level).await.is_err(), "{level:?}");
    }
}

#[tokio::test]
async fn its_own_certificate_is_signed_by_nobody() {
    let server = StandIn::start(Settings::new());
    let mut strange = config(server.address(), server.password());
    strange.encryption(EncryptionLevel::Required);
    assert!(connect(strange.clone()).await.is_err());
    strange.trust_cert();
    assert!(connect(strange).await.is_ok());
}

#[tokio::test]
async fn whoever_waits_is_woken_and_cancelled_under_encryption_too() {
    let place = Place::new(Encryption::Required);
    let guest = async |level| Guest {
        client: connect(place.config(level)).await.unwrap(),
    };
    for level in [EncryptionLevel::Required, EncryptionLevel::Strict] {
        let (mut holder, mut waiter) = (guest(level).await, guest(level).await);
        holder.get("a", "Exclusive", 0).await;
        let sql = getting("a", "Exclusive", -1);
        let wait = tokio::time::timeout(Duration::from_millis(60), waiter.client.simple_query(sql));
        assert!(wait.await.is_err());
        within(SOON, "the end of the wait", waiter.client.cancel_query())
            .await
            .unwrap();
        assert_eq!(holder.waiters().await, 0);
        let waiting = asking(waiter, "a", "Exclusive", -1);
        holder.until_waiting(1).await;
        holder.release("a").await;
        assert_eq!(within(SOON, "the grant", waiting).await.unwrap().0, 1);
        let long = "x".repeat(60_000);
        assert_eq!(holder.text(&format!("SELECT N'{long}'")).await, long);
    }
}

#[tokio::test]
async fn a_process_encrypts_as_a_thread_does() {
    let certificates = Certificates::make();
    let program = Path::new(env!("CARGO_BIN_EXE_sqlserver-standin"));
    let settings = Settings::new().encryption(Encryption::Strict);
    let settings = settings.identity(certificates.good.clone());
    let server = StandInProcess::start(program, settings).await;
    let mut config = config(server.address(), server.password());
    config.encryption(EncryptionLevel::Strict);
    config.trust_cert_ca(certificates.authority.display().to_string());
    assert!(connect(config.clone()).await.is_ok());
    config.encryption(EncryptionLevel::NotSupported);
    assert!(connect(config).await.is_err());
}
