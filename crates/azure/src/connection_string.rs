//! Connection strings, as the portal shows them: `AccountName=…;AccountKey=…;EndpointSuffix=…`.

use crate::{
    Options,
    credential::{AZURITE_ACCOUNT, AZURITE_KEY},
};
use lockwork_core::lock::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// Azurite's own, where it listens unless told otherwise.
const DEVELOPMENT: &str = "http://127.0.0.1:10000/devstoreaccount1";

pub(crate) fn read(text: &str, container: &str) -> Result<Options> {
    let mut parts = parts(text)?;
    let mut part = |name: &str| parts.remove(name).filter(|value| !value.is_empty());
    if part("usedevelopmentstorage").is_some_and(|yes| yes.eq_ignore_ascii_case("true")) {
        let options = Options::at(DEVELOPMENT, AZURITE_ACCOUNT, container)?;
        return Ok(options.shared_key(AZURITE_KEY));
    }
    let (account, endpoint) = (part("accountname"), part("blobendpoint"));
    let protocol = part("defaultendpointsprotocol").unwrap_or_else(|| "https".to_owned());
    let suffix = part("endpointsuffix").unwrap_or_else(|| "core.windows.net".to_owned());
    let endpoint = match (endpoint, &account) {
        (Some(endpoint), _) => endpoint,
        (None, Some(account)) => format!("{protocol}://{account}.blob.{suffix}"),
        (None, None) => return Err(wrong("AccountName or BlobEndpoint")),
    };
    let options = Options::at(&endpoint, account.as_deref().unwrap_or(""), container)?;
    match (part("accountkey"), part("sharedaccesssignature")) {
        (Some(key), None) if account.is_some() => Ok(options.shared_key(key)),
        (Some(_), None) => Err(wrong("AccountName")),
        (None, Some(signature)) => Ok(options.sas(signature)),
        _ => Err(wrong("AccountKey or SharedAccessSignature, one of them")),
    }
}

fn parts(text: &str) -> Result<HashMap<String, String>> {
    let parts = text
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        Some((name.trim().to_lowercase(), value.trim().to_owned()))
    };
    let all: Option<_> = parts.map(pair).collect();
    all.ok_or_else(|| wrong("NAME=VALUE between semicolons"))
}

/// Without any of the text, which has a key in it.
fn wrong(lacks: &'static str) -> Error {
    let message = "this is not a connection string of a storage account: take it from az storage account \
                   show-connection-string";
    Error::new(ErrorKind::Invalid, message).with("lacks", lacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> String {
        let options = read(text, "locks").expect("options");
        options.container.to_string()
    }

    #[test]
    fn a_string_of_the_portal_leads_to_its_account() {
        let text = "DefaultEndpointsProtocol=https;AccountName=orders;AccountKey=c2VjcmV0;\
                    EndpointSuffix=core.windows.net";
        assert_eq!(url(text), "https://orders.blob.core.windows.net/locks");
    }

    #[test]
    fn an_endpoint_of_its_own_goes_first() {
        let text = "BlobEndpoint=https://blobs.example.com/orders;SharedAccessSignature=sv=1&sig=2";
        assert_eq!(url(text), "https://blobs.example.com/orders/locks");
    }

    #[test]
    fn development_storage_is_azurite() {
        let container = "http://127.0.0.1:10000/devstoreaccount1/locks";
        assert_eq!(url("UseDevelopmentStorage=true"), container);
    }

    #[test]
    fn what_is_missing_is_said_without_the_key() {
        for text in [
            "AccountKey=c2VjcmV0",
            "AccountName=orders",
            "AccountName=orders;AccountKey=c2VjcmV0;SharedAccessSignature=sv=1&sig=c2VjcmV0",
            "c2VjcmV0",
        ] {
            let error = read(text, "locks").expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(!format!("{error:?}").contains("c2Vj"), "{error:?}");
        }
    }
}
