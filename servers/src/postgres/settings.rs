//! What a test says about the server it wants. Everything has a default: a
//! server without a password, without TLS, on 127.0.0.1.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// How a server of a test differs from the others.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub(super) password: bool,
    pub(super) set: Vec<(String, String)>,
    pub(super) listen: Vec<IpAddr>,
    pub(super) hba: Vec<String>,
    pub(super) tls: Option<(PathBuf, PathBuf)>,
}

impl Settings {
    /// Those of a server for everybody.
    pub fn new() -> Self {
        Self::default()
    }

    /// A client needs [`PASSWORD`](crate::login::PASSWORD), and proves by SCRAM
    /// that it has it.
    #[must_use]
    pub fn password(mut self) -> Self {
        self.password = true;
        self
    }

    /// A setting of PostgreSQL; it wins over one of the same name before it.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.set.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Listens on this address too.
    #[must_use]
    pub fn listen(mut self, address: impl Into<IpAddr>) -> Self {
        self.listen.push(address.into());
        self
    }

    /// A line of `pg_hba.conf` that comes before those that let everybody in.
    #[must_use]
    pub fn hba(mut self, line: &str) -> Self {
        self.hba.push(line.to_owned());
        self
    }

    /// TLS with this certificate and its key, both in PEM. The server gets
    /// copies, so the files need not be its own.
    #[must_use]
    pub fn tls(mut self, certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        self.tls = Some((certificate.as_ref().into(), key.as_ref().into()));
        self
    }

    /// The text of `pg_hba.conf`.
    pub(super) fn access(&self) -> String {
        let method = if self.password {
            "scram-sha-256"
        } else {
            "trust"
        };
        let mut text = String::new();
        for line in &self.hba {
            text.push_str(&format!("{line}\n"));
        }
        // `all` does not include replication: PostgreSQL manual, 21.1.
        for database in ["all", "replication"] {
            text.push_str(&format!("host {database} all all {method}\n"));
        }
        text
    }

    /// The value of `listen_addresses`.
    pub(super) fn addresses(&self) -> String {
        let mut text = "127.0.0.1".to_owned();
        for address in &self.listen {
            text.push_str(&format!(",{address}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_test_comes_before_those_for_everybody() {
        let line = "hostnossl all somebody all reject";
        let text = Settings::new().hba(line).password().access();
        assert!(text.starts_with(&format!("{line}\nhost all all all scram-sha-256\n")));
    }

    #[test]
    fn the_server_listens_where_it_is_told_as_well() {
        let settings = Settings::new().listen([10, 1, 2, 3]);
        assert_eq!(settings.addresses(), "127.0.0.1,10.1.2.3");
    }
}
