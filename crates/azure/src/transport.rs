//! The client for HTTP by which everything is asked: the container, and Entra ID who we are.
//!
//! The one that the SDK makes by itself brings a second library of cryptography, in C, and cannot be told when
//! a connection is too old.

use azure_core::http::{ClientOptions, Transport};
use lockwork_core::lock::{Error, ErrorKind, Result};
use reqwest::{Client, redirect};
use rustls::{ClientConfig, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use std::{sync::Arc, time::Duration};

/// As long as the SDK waits.
const CONNECTING: Duration = Duration::from_secs(20);

/// As long as the SDK waits. Whoever asks for a lock has a deadline of its own, which is shorter.
const READING: Duration = Duration::from_secs(60);

/// A connection that nobody used for so long is not used again: Node, which Azurite runs on, closes it after
/// five seconds (`keepAliveTimeout`), and what is sent at that moment is refused. To connect anew costs a
/// few round trips, at most one time in four seconds.
const IDLE: Duration = Duration::from_secs(4);

/// Options that say which client it is, and nothing else.
///
/// # Errors
/// [`Unexpected`](ErrorKind::Unexpected) if the certificates this machine trusts cannot be read.
pub(crate) fn options() -> Result<ClientOptions> {
    let client = Client::builder()
        .tls_backend_preconfigured(encryption()?)
        .connect_timeout(CONNECTING)
        .read_timeout(READING)
        .pool_idle_timeout(IDLE)
        // A storage account sends nobody elsewhere, and what we know goes to nobody else.
        .redirect(redirect::Policy::none())
        .build()
        .map_err(unusable)?;
    Ok(ClientOptions {
        transport: Some(Transport::new(Arc::new(client))),
        ..ClientOptions::default()
    })
}

/// By the authorities this machine trusts.
fn encryption() -> Result<ClientConfig> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(unusable)?;
    Ok(config.with_no_client_auth())
}

fn unusable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    let message =
        "no client for HTTPS can be made: check that the certificates of this machine can be read";
    Error::new(ErrorKind::Unexpected, message).because(error)
}
