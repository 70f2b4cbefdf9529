//! Whether the server must prove who it is.

use lockwork_core::lock::{Error, ErrorKind, Result};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::net::IpAddr;

/// What is asked for, or else what is right for that host: nobody listens on the way to this
/// machine itself, and everywhere else the certificate must hold.
pub(crate) fn mode(options: &PgConnectOptions, asked: Option<&str>) -> Result<PgSslMode> {
    match asked {
        Some(asked) => asked.parse().map_err(|_| {
            let message = "sslmode is verify-full, verify-ca, require, prefer, allow or disable";
            Error::new(ErrorKind::Invalid, message)
        }),
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
