//! How requests prove whose they are.

use crate::{identity::Identity, sas::Signature, signing::SharedKey};
use azure_core::{
    credentials::{Secret, TokenCredential},
    http::policies::Policy,
};
use lockwork_core::lock::{Error, ErrorKind, Result};
use std::{fmt, sync::Arc};

/// Whose account `devstoreaccount1` of Azurite is, is known to the whole world.
pub(crate) const AZURITE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

pub(crate) const AZURITE_ACCOUNT: &str = "devstoreaccount1";

/// One of several ways.
#[derive(Clone)]
pub(crate) enum Credential {
    /// The account's key, in base 64.
    Key(Secret),
    /// A shared access signature.
    Sas(Secret),
    Identity(Identity),
    /// Something that has tokens of Entra ID.
    Token(Arc<dyn TokenCredential>),
}

impl Credential {
    /// # Errors
    /// [`ErrorKind::Invalid`] if it has not the form of one.
    pub(crate) fn policy(&self, account: &str) -> Result<Option<Arc<dyn Policy>>> {
        Ok(match self {
            Self::Key(key) => {
                if azure_core::base64::decode(key.secret()).is_err() {
                    let message = "this is not the key of a storage account: it is a text in base 64, from \
                                   az storage account keys list; in a URL write %2F for a / and %2B for a +";
                    return Err(Error::new(ErrorKind::Invalid, message));
                }
                let (account, key) = (account.to_owned(), key.clone());
                Some(Arc::new(SharedKey { account, key }))
            }
            Self::Sas(signature) => Some(Arc::new(Signature::new(signature.secret())?)),
            Self::Identity(_) | Self::Token(_) => None,
        })
    }

    pub(crate) fn token(&self) -> Result<Option<Arc<dyn TokenCredential>>> {
        match self {
            Self::Key(_) | Self::Sas(_) => Ok(None),
            Self::Identity(identity) => identity.credential().map(Some),
            Self::Token(token) => Ok(Some(token.clone())),
        }
    }

    pub(crate) fn is_known_to_all(&self) -> bool {
        matches!(self, Self::Key(key) if key.secret() == AZURITE_KEY)
    }
}

/// Without what is secret.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key(_) => "Key",
            Self::Sas(_) => "Sas",
            Self::Identity(_) => "Identity",
            Self::Token(_) => "Token",
        })
    }
}
