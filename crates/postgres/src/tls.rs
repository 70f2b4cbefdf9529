//! Whether the server must prove who it is.

use lockwork_core::lock::{Error, ErrorKind, Result};
use rustls::crypto::CryptoProvider;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::net::IpAddr;

/// What is asked for, or else what is right for that host: nobody listens on the way to this
/// machine itself, and everywhere else the certificate must hold. Who names an authority wants it
/// to be asked, here too; the driver asks none for `require`, where `libpq` does.
pub(crate) fn mode(
    options: &PgConnectOptions,
    asked: Option<&str>,
    names_authority: bool,
) -> Result<PgSslMode> {
    match asked {
        Some("require") if names_authority => Ok(PgSslMode::VerifyCa),
        Some(asked) => asked.parse().map_err(|_| {
            let message = "sslmode is verify-full, verify-ca, require, prefer, allow or disable";
            Error::new(ErrorKind::Invalid, message)
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

/// The driver asks the process which cryptography to use where there is more than one to choose from, as
/// with the driver of SQL Server in the same program; unless somebody has said so, this one.
pub(crate) fn provide_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // Somebody else may have been quicker, and then that one it is.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(host: &str, asked: Option<&str>, names_authority: bool) -> PgSslMode {
        let options = PgConnectOptions::new_without_pgpass().host(host);
        mode(&options, asked, names_authority).expect("a mode")
    }

    #[test]
    fn only_this_machine_need_not_prove_who_it_is() {
        for host in [
            "localhost",
            "127.0.0.1",
            "127.1.2.3",
            "::1",
            "[::1]",
            "/run/x",
        ] {
            assert!(matches!(of(host, None, false), PgSslMode::Prefer), "{host}");
        }
        for host in [
            "db.example.com",
            "10.0.0.1",
            "localhost.example.com",
            "0.0.0.0",
            "::2",
        ] {
            let mode = of(host, None, false);
            assert!(matches!(mode, PgSslMode::VerifyFull), "{host}");
        }
    }

    #[test]
    fn an_authority_that_is_named_is_asked() {
        assert!(matches!(of("localhost", None, true), PgSslMode::VerifyFull));
        let required = of("localhost", Some("require"), true);
        assert!(matches!(required, PgSslMode::VerifyCa));
        let alone = of("db.example.com", Some("require"), false);
        assert!(matches!(alone, PgSslMode::Require));
    }
}
