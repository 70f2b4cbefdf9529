//! Requests with a shared access signature: it is put into the URL of each, on its way out.

use crate::signing::pass_on;
use async_trait::async_trait;
use azure_core::{
    credentials::Secret,
    http::{
        Context, Request,
        policies::{Policy, PolicyResult},
    },
};
use lockwork_core::lock::{Error, ErrorKind, Result};
use std::sync::Arc;
use url::form_urlencoded;

/// What a signature consists of. Everything else after the `?` of a URL is an option of ours.
const PARTS: &[&str] = &[
    "sv", "ss", "srt", "sp", "st", "se", "sip", "spr", "sig", "sr", "si", "sdd", "skoid", "sktid",
    "skt", "ske", "sks", "skv", "saoid", "suoid", "scid", "ses", "sduoid", "skdutid",
];

/// Whether this is a part of a signature.
pub(crate) fn is_part(name: &str) -> bool {
    PARTS.contains(&name)
}

/// Puts a signature into URLs.
#[derive(Debug)]
pub(crate) struct Signature(Secret);

impl Signature {
    /// # Errors
    /// [`ErrorKind::Invalid`] if it lacks what every signature has.
    pub(crate) fn new(text: &str) -> Result<Self> {
        let text = text.trim().trim_start_matches('?');
        let has =
            |part: &str| form_urlencoded::parse(text.as_bytes()).any(|(name, _)| name == part);
        if !(has("sig") && has("sv")) {
            let message = "this is not a shared access signature: it has sv= and sig= in it, and is made by \
                           az storage container generate-sas";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        Ok(Self(Secret::new(text.to_owned())))
    }
}

#[async_trait]
#[expect(
    elided_lifetimes_in_paths,
    reason = "the trait elides it, and `async_trait` minds"
)]
impl Policy for Signature {
    async fn send(
        &self,
        cx: &Context,
        request: &mut Request,
        next: &[Arc<dyn Policy>],
    ) -> PolicyResult {
        let mut query = request.url().query().unwrap_or("").to_owned();
        if !query.is_empty() {
            query.push('&');
        }
        query.push_str(self.0.secret());
        request.url_mut().set_query(Some(&query));
        pass_on(cx, request, next).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_known_by_its_parts_and_prints_as_nothing() {
        let signature = Signature::new("?sv=2024-11-04&sp=rcw&sig=c2VjcmV0").expect("one");
        assert!(!format!("{signature:?}").contains("c2Vj"));
        let error = Signature::new("c2VjcmV0").expect_err("none");
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!format!("{error:?}").contains("c2Vj"));
    }
}
