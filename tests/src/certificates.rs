//! Certificates for a server on this machine, good and bad, for tests of what a client trusts.

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, Error, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The names a client finds a server on this machine by.
const HERE: [&str; 2] = ["localhost", "127.0.0.1"];

/// A certificate and its key, as files in PEM.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// An authority and what it signed, in a directory that is removed with the value.
#[derive(Debug)]
pub struct Certificates {
    directory: TempDir,
    /// The certificate of the authority: what a client is told to trust.
    pub authority: PathBuf,
    /// Signed by the authority, for `localhost` and 127.0.0.1.
    pub good: Identity,
    /// For the same names, signed by nobody but itself.
    pub self_signed: Identity,
    /// Signed by the authority for the same names, good until the end of 2001.
    pub expired: Identity,
    /// Signed by the authority, for another name.
    pub wrong_name: Identity,
}

impl Certificates {
    /// Makes new ones.
    ///
    /// # Panics
    /// If there is no room for the files.
    #[must_use]
    pub fn make() -> Self {
        let directory = tempfile::tempdir().expect("room for a directory");
        let made = make(directory.path()).expect("certificates");
        let (authority, [good, self_signed, expired, wrong_name]) = made;
        Self {
            directory,
            authority,
            good,
            self_signed,
            expired,
            wrong_name,
        }
    }

    /// Where the files are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

fn make(directory: &Path) -> Result<(PathBuf, [Identity; 4]), Error> {
    let (authority, issuer) = authority()?;
    let path = directory.join("authority.crt");
    write(&path, &authority.pem());
    let identity = |name: &str, params: CertificateParams, itself: bool| {
        let key = KeyPair::generate()?;
        let certificate = match itself {
            true => params.self_signed(&key)?,
            false => params.signed_by(&key, &issuer)?,
        };
        Ok(save(directory, name, &certificate, &key))
    };
    let mut expired = server(&HERE)?;
    expired.not_before = date_time_ymd(2001, 1, 1);
    expired.not_after = date_time_ymd(2001, 12, 31);
    let identities = [
        identity("good", server(&HERE)?, false)?,
        identity("self-signed", server(&HERE)?, true)?,
        identity("expired", expired, false)?,
        identity("wrong-name", server(&["elsewhere.invalid"])?, false)?,
    ];
    Ok((path, identities))
}

fn authority() -> Result<(Certificate, Issuer<'static, KeyPair>), Error> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new([])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
        .distinguished_name
        .push(DnType::CommonName, "The authority of a lockwork test");
    let certificate = params.self_signed(&key)?;
    Ok((certificate, Issuer::new(params, key)))
}

fn server(names: &[&str]) -> Result<CertificateParams, Error> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names)?;
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn save(directory: &Path, name: &str, certificate: &Certificate, key: &KeyPair) -> Identity {
    let identity = Identity {
        certificate: directory.join(format!("{name}.crt")),
        key: directory.join(format!("{name}.key")),
    };
    write(&identity.certificate, &certificate.pem());
    write(&identity.key, &key.serialize_pem());
    identity
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("room for a file");
}
