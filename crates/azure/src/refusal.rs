//! What a request that was not done means for a lock: every answer is sorted here, once.

use crate::{errors, times};
use azure_core::{
    error::ErrorKind,
    http::{
        RawResponse,
        headers::{HeaderName, Headers},
    },
};
use lockwork_core::lock::{Error, backend::line::Failure};
use std::time::{Duration, SystemTime};

/// Why a request was not done.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) said: Said,
    /// The server's clock.
    pub(crate) date: Option<SystemTime>,
    /// For so long the server wants to be left alone.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) error: Error,
}

/// What the server said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// There is no such blob.
    NoBlob,
    /// There is no such container.
    NoContainer,
    /// The blob, or the container, is there already.
    Exists,
    /// The blob is not what it was.
    Changed,
    /// Somebody else has the lease.
    Leased,
    /// The lease is not this owner's, or not any more.
    NotOurs,
    /// It has too much to do, and has not done this.
    Later,
    /// It will not do that.
    Refused,
    /// Nothing: it may have done it, or may still do it.
    Nothing,
}

impl Refusal {
    pub(crate) fn of(error: &azure_core::Error) -> Self {
        let ErrorKind::HttpResponse {
            status,
            error_code,
            raw_response,
        } = error.kind()
        else {
            return Self::without_answer(error);
        };
        let (status, code) = (u16::from(*status), error_code.as_deref().unwrap_or(""));
        let headers = raw_response.as_deref().map(RawResponse::headers);
        let date = headers.and_then(times::date);
        Self {
            said: sort(status, code),
            date,
            retry_after: headers.and_then(retry_after),
            error: errors::answered(status, code, date),
        }
    }

    fn without_answer(error: &azure_core::Error) -> Self {
        let said = match error.kind() {
            // Nothing was sent.
            ErrorKind::Connection | ErrorKind::Credential => Said::Refused,
            _ => Said::Nothing,
        };
        Self {
            said,
            date: None,
            retry_after: None,
            error: errors::unanswered(error),
        }
    }

    /// There was no answer in time.
    pub(crate) fn late() -> Self {
        Self {
            said: Said::Nothing,
            date: None,
            retry_after: None,
            error: errors::late(),
        }
    }

    /// The server is not asked, because it wants to be left alone for so much longer.
    pub(crate) fn unasked(rest: Duration) -> Self {
        Self {
            said: Said::Later,
            date: None,
            retry_after: Some(rest),
            error: errors::quiet(rest),
        }
    }

    /// Whether a write may be done later that was not done now: it was somebody else's blob for a while, or
    /// nobody knows what it was.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.said, Said::Exists | Said::Later | Said::Nothing)
    }

    /// What it means for whoever wanted a lock.
    pub(crate) fn failure(self) -> Failure {
        match self.said {
            Said::Nothing => Failure::Unknown(self.error),
            _ => Failure::NotDone(self.error),
        }
    }
}

/// By status and code: <https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes>.
fn sort(status: u16, code: &str) -> Said {
    match (status, code) {
        (_, "ContainerNotFound" | "ContainerBeingDeleted" | "ContainerDisabled") => {
            Said::NoContainer
        }
        // An answer to HEAD has no body, and not always a code.
        (404, "BlobNotFound" | "") => Said::NoBlob,
        // Of a blob that is there and leased, who wants to create it hears of the lease only.
        (_, "BlobAlreadyExists" | "ContainerAlreadyExists" | "LeaseIdMissing") => Said::Exists,
        (_, "LeaseAlreadyPresent" | "LeaseIsBreakingAndCannotBeAcquired") => Said::Leased,
        (409 | 412, code) if code.starts_with("Lease") => Said::NotOurs,
        (412, _) => Said::Changed,
        (429 | 503, _) => Said::Later,
        (408 | 500..=599, _) => Said::Nothing,
        _ => Said::Refused,
    }
}

fn retry_after(headers: &Headers) -> Option<Duration> {
    const MILLIS: [HeaderName; 2] = [
        HeaderName::from_static("x-ms-retry-after-ms"),
        HeaderName::from_static("retry-after-ms"),
    ];
    const SECONDS: HeaderName = HeaderName::from_static("retry-after");
    let number = |name: &HeaderName| headers.get_optional_str(name)?.parse::<u64>().ok();
    let millis = MILLIS.iter().find_map(number).map(Duration::from_millis);
    millis.or_else(|| number(&SECONDS).map(Duration::from_secs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_about_a_lease_has_one_meaning() {
        let answers = [
            (404, "BlobNotFound", Said::NoBlob),
            (404, "", Said::NoBlob),
            (404, "ContainerNotFound", Said::NoContainer),
            (409, "ContainerBeingDeleted", Said::NoContainer),
            (409, "BlobAlreadyExists", Said::Exists),
            (412, "LeaseIdMissing", Said::Exists),
            (409, "LeaseAlreadyPresent", Said::Leased),
            (409, "LeaseIsBreakingAndCannotBeAcquired", Said::Leased),
            (409, "LeaseIdMismatchWithLeaseOperation", Said::NotOurs),
            (409, "LeaseNotPresentWithLeaseOperation", Said::NotOurs),
            (409, "LeaseIsBrokenAndCannotBeRenewed", Said::NotOurs),
            (412, "LeaseIdMismatchWithBlobOperation", Said::NotOurs),
            (412, "LeaseNotPresentWithBlobOperation", Said::NotOurs),
            (412, "LeaseLost", Said::NotOurs),
            (412, "ConditionNotMet", Said::Changed),
            (429, "", Said::Later),
            (503, "ServerBusy", Said::Later),
            (500, "OperationTimedOut", Said::Nothing),
            (500, "InternalError", Said::Nothing),
            (403, "AuthenticationFailed", Said::Refused),
            (400, "InvalidHeaderValue", Said::Refused),
        ];
        for (status, code, said) in answers {
            assert_eq!(sort(status, code), said, "{status} {code}");
        }
    }

    #[test]
    fn how_long_to_wait_is_read_in_both_units() {
        let mut headers = Headers::new();
        headers.insert("retry-after", "3");
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(3)));
        headers.insert("x-ms-retry-after-ms", "250");
        assert_eq!(retry_after(&headers), Some(Duration::from_millis(250)));
    }
}
