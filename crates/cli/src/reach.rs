//! How this program reaches others: by what it knows them, and whether by a proxy.

use reqwest::Url;
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use rustls_platform_verifier::BuilderVerifierExt;
use std::{error::Error, sync::Arc};

/// For questions to `url`. Certificates of the system are read if somebody asks by TLS, and only then.
pub(crate) fn tls(url: &Url) -> Result<ClientConfig, Box<dyn Error>> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?;
    let config = match url.scheme() {
        "https" => config.with_platform_verifier()?,
        _ => config.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}

/// Whether it is this machine. No proxy reaches that better than we do.
pub(crate) fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address: Option<std::net::IpAddr> = bare.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}
