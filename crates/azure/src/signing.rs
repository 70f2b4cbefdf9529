//! Signing requests with an account's key, which the driver cannot do:
//! <https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key>.

use async_trait::async_trait;
use azure_core::{
    credentials::Secret,
    hmac::hmac_sha256,
    http::{
        Body, Context, Request,
        headers::HeaderName,
        policies::{Policy, PolicyResult},
    },
    time::{OffsetDateTime, to_rfc7231},
};
use std::{collections::BTreeMap, sync::Arc};

/// Signs what is sent. The last to touch a request.
#[derive(Debug)]
pub(crate) struct SharedKey {
    pub(crate) account: String,
    /// In base 64. Prints as nothing.
    pub(crate) key: Secret,
}

#[async_trait]
#[expect(
    elided_lifetimes_in_paths,
    reason = "the trait elides it, and `async_trait` minds"
)]
impl Policy for SharedKey {
    async fn send(
        &self,
        cx: &Context,
        request: &mut Request,
        next: &[Arc<dyn Policy>],
    ) -> PolicyResult {
        request.insert_header("x-ms-date", to_rfc7231(&OffsetDateTime::now_utc()));
        let signature = hmac_sha256(&to_sign(&self.account, request), &self.key)?;
        let signed = format!("SharedKey {}:{signature}", self.account);
        request.insert_header("authorization", signed);
        pass_on(cx, request, next).await
    }
}

/// Hands a request to the next policy, of which there is always one: the last sends it.
pub(crate) async fn pass_on(
    cx: &Context<'_>,
    request: &mut Request,
    next: &[Arc<dyn Policy>],
) -> PolicyResult {
    match next.split_first() {
        Some((first, rest)) => first.send(cx, request, rest).await,
        None => Err(azure_core::Error::with_message(
            azure_core::error::ErrorKind::Other,
            "nothing sends what was signed",
        )),
    }
}

fn to_sign(account: &str, request: &Request) -> String {
    let header = |name: &'static str| {
        let name = HeaderName::from_static(name);
        request.headers().get_optional_str(&name).unwrap_or("")
    };
    let length = match request.body() {
        Body::Bytes(bytes) if !bytes.is_empty() => bytes.len().to_string(),
        _ => String::new(),
    };
    let mut text = String::from(request.method().as_str());
    for line in [
        header("content-encoding"),
        header("content-language"),
        &length,
        header("content-md5"),
        header("content-type"),
        // The date is in a header of their own.
        "",
        header("if-modified-since"),
        header("if-match"),
        header("if-none-match"),
        header("if-unmodified-since"),
        header("range"),
    ] {
        text.push('\n');
        text.push_str(line);
    }
    text.push('\n');
    push_headers(&mut text, request);
    push_resource(&mut text, account, request);
    text
}

/// All headers of theirs, by name.
fn push_headers(text: &mut String, request: &Request) {
    let all = request.headers().iter();
    let theirs: BTreeMap<&str, &str> = all
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| name.starts_with("x-ms-"))
        .collect();
    for (name, value) in theirs {
        text.extend([name, ":", value.trim(), "\n"]);
    }
}

/// Whose what is, and what is asked of it.
fn push_resource(text: &mut String, account: &str, request: &Request) {
    text.extend(["/", account, request.url().path()]);
    let mut asked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in request.url().query_pairs() {
        let values = asked.entry(name.to_lowercase()).or_default();
        values.push(value.into_owned());
    }
    for (name, mut values) in asked {
        values.sort();
        text.extend(["\n", &name, ":", &values.join(",")]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use azure_core::http::{Method, Url};

    fn request(url: &str) -> Request {
        Request::new(Url::parse(url).expect("a URL"), Method::Put)
    }

    #[test]
    fn what_is_signed_has_the_form_that_the_server_wants() {
        let mut request = request("https://a.blob.core.windows.net/c/lockwork%2F1?comp=lease&Z=2");
        request.insert_header("x-ms-version", "2026-02-06");
        request.insert_header("x-ms-date", "Mon, 16 Nov 2026 21:00:00 GMT");
        request.insert_header("if-match", "\"0x1\"");
        request.insert_header("accept", "application/xml");
        assert_eq!(
            to_sign("a", &request),
            "PUT\n\n\n\n\n\n\n\n\"0x1\"\n\n\n\nx-ms-date:Mon, 16 Nov 2026 21:00:00 GMT\n\
             x-ms-version:2026-02-06\n/a/c/lockwork%2F1\ncomp:lease\nz:2"
        );
    }

    #[test]
    fn the_length_of_a_body_is_signed_unless_there_is_none() {
        let mut request = request("https://a.blob.core.windows.net/c/b");
        request.set_body(b"four".to_vec());
        assert!(to_sign("a", &request).starts_with("PUT\n\n\n4\n"));
        request.set_body(Vec::new());
        assert!(to_sign("a", &request).starts_with("PUT\n\n\n\n"));
    }

    #[test]
    fn a_key_prints_as_nothing() {
        let key = SharedKey {
            account: "a".to_owned(),
            key: Secret::new("c2VjcmV0"),
        };
        assert!(!format!("{key:?}").contains("c2Vj"));
    }
}
