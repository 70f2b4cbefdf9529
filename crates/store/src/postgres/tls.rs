//! Whether the server must prove who it is.

use super::errors::invalid;
use lockwork_core::workflow::Result;
use rustls::crypto::CryptoProvider;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::net::IpAddr;

/// What is asked for, or else what is right for that host: nobody listens on the way to this machine itself, and
/// everywhere else the certificate must hold. Who names an authority wants it to be asked.
pub(super) fn mode(
    options: &PgConnectOptions,
    asked: Option<&str>,
    names_authority: bool,
) -> Result<PgSslMode> {
    match asked {
        Some("require") if names_authority => Ok(PgSslMode::VerifyCa),
        Some(asked) => asked.parse().map_err(|_| {
            invalid("sslmode is verify-full, verify-ca, require, prefer, allow or disable")
        }),
        None if names_authority => Ok(PgSslMode::VerifyFull),
        None if options.get_socket().is_some() || is_here(options.get_host()) => {
            Ok(PgSslMode::Prefer)
        }
        None => Ok(PgSslMode::VerifyFull),
    }
}

fn is_here(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host.starts_with('/') || host == "localhost" || address.is_ok_and(|ip| ip.is_loopback())
}

/// The driver asks the process which cryptography to use where there is more than one to choose from; unless somebody
/// has said so, this one.
pub(super) fn provide_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // Somebody else may have been quicker, and then that one it is.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
