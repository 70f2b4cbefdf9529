//! What a server is started with.

use crate::Identity;
use std::{ffi::OsString, path::PathBuf};

/// Which server it behaves like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flavor {
    /// SQL Server.
    #[default]
    SqlServer,
    /// Babelfish for PostgreSQL, whose application locks differ in several ways.
    Babelfish,
}

/// What it says about encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// It has none, and says so.
    NotSupported,
    /// As the client likes; a client that would rather not has its login encrypted all the same.
    #[default]
    Optional,
    /// Nobody comes in without.
    Required,
    /// Only TLS before anything else is said, as in TDS 8.0.
    Strict,
}

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(crate) flavor: Flavor,
    pub(crate) encryption: Encryption,
    pub(crate) identity: Option<Identity>,
    password: String,
    pub(crate) port: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl Settings {
    /// SQL Server, with encryption for who wants it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            flavor: Flavor::default(),
            encryption: Encryption::default(),
            identity: None,
            password: "Str0ng & p@ss/word".into(),
            port: 0,
        }
    }

    /// The same as another server.
    #[must_use]
    pub const fn flavor(mut self, flavor: Flavor) -> Self {
        self.flavor = flavor;
        self
    }

    /// The same with another word about encryption.
    #[must_use]
    pub const fn encryption(mut self, encryption: Encryption) -> Self {
        self.encryption = encryption;
        self
    }

    /// The same with a certificate; without one, it makes its own.
    #[must_use]
    pub fn identity(mut self, identity: Identity) -> Self {
        self.identity = Some(identity);
        self
    }

    /// The same with another password of `sa`.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        password.clone_into(&mut self.password);
        self
    }

    /// The same on a port of its own, to come back on it after an end.
    #[must_use]
    pub const fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The password of `sa`.
    #[must_use]
    pub fn password(&self) -> &str {
        &self.password
    }

    /// What it calls itself.
    #[expect(clippy::unused_self, reason = "a setting like the others")]
    pub(crate) const fn name(&self) -> &'static str {
        "STANDIN"
    }

    pub(crate) const fn product_version(&self) -> &'static str {
        match self.flavor {
            Flavor::SqlServer => "16.0.4185.3",
            Flavor::Babelfish => "12.0.2000.8",
        }
    }

    /// `@@VERSION`.
    pub(crate) fn version_text(&self) -> String {
        match self.flavor {
            Flavor::SqlServer => format!(
                "Microsoft SQL Server 2022 - {} (X64) \n\tA stand-in for tests, not SQL Server\n\t\
                 Developer Edition (64-bit) on Linux <X64>",
                self.product_version()
            ),
            Flavor::Babelfish => format!(
                "Babelfish for PostgreSQL with SQL Server Compatibility - {}\n\tA stand-in for \
                 tests, not Babelfish\nPostgreSQL 16.4 on x86_64-pc-linux-gnu",
                self.product_version()
            ),
        }
    }

    /// As the words of a command line.
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![
            "--password".into(),
            self.password.clone().into(),
            "--port".into(),
            self.port.to_string().into(),
            "--encryption".into(),
            match self.encryption {
                Encryption::NotSupported => "not-supported",
                Encryption::Optional => "optional",
                Encryption::Required => "required",
                Encryption::Strict => "strict",
            }
            .into(),
        ];
        if self.flavor == Flavor::Babelfish {
            words.push("--babelfish".into());
        }
        if let Some(identity) = &self.identity {
            words.extend(["--certificate".into(), identity.certificate.clone().into()]);
            words.extend(["--key".into(), identity.key.clone().into()]);
        }
        words
    }

    /// What the words of a command line say; an error in words for a word that is not known.
    ///
    /// # Errors
    /// If there is one.
    pub fn from_arguments(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut settings = Self::new();
        let (mut certificate, mut key) = (None, None);
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--password" => settings.password = value()?,
                "--port" => settings.port = value()?.parse().map_err(|_| "no port".to_owned())?,
                "--babelfish" => settings.flavor = Flavor::Babelfish,
                "--certificate" => certificate = Some(PathBuf::from(value()?)),
                "--key" => key = Some(PathBuf::from(value()?)),
                "--encryption" => {
                    settings.encryption = match value()?.as_str() {
                        "not-supported" => Encryption::NotSupported,
                        "optional" => Encryption::Optional,
                        "required" => Encryption::Required,
                        "strict" => Encryption::Strict,
                        other => return Err(format!("no such encryption: {other}")),
                    };
                }
                other => return Err(format!("not known: {other}")),
            }
        }
        settings.identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some(Identity { certificate, key }),
            (None, None) => None,
            _ => return Err("a certificate and its key go together".into()),
        };
        Ok(settings)
    }
}
