//! Connecting where that must fail, and looking at the error.

use crate::canary::{self, CANARY};
use lockwork::{Error, ErrorKind};
use std::time::{Duration, Instant};

/// Connecting may take five seconds, and our machine may be busy.
const LIMIT: Duration = Duration::from_millis(6500);

/// The error of a URL that must not work, after it was looked at for the password.
pub(crate) async fn of(url: &str) -> Error {
    assert!(url.contains(CANARY), "a test without its canary: {url}");
    canary::listen();
    let began = Instant::now();
    let refused = lockwork::connect(url).await;
    let took = began.elapsed();
    let error = refused.expect_err("this must be refused");
    println!("{:?} after {took:.1?}: {error}", error.kind());
    assert!(took < LIMIT, "too late, after {took:?}: {error}");
    canary::is_not_in(&error);
    error
}

/// Connecting by this URL fails so, with these words among others.
pub(crate) async fn expect(url: &str, kind: ErrorKind, words: &str) {
    let error = of(url).await;
    is(&error, kind, words);
}

/// Fails unless the error is such, with these words among others.
pub(crate) fn is(error: &Error, kind: ErrorKind, words: &str) {
    assert_eq!(error.kind(), kind, "{error:?}");
    let text = error.to_string();
    assert!(text.contains(words), "no {words:?} in {text:?}");
    let is_transient = kind == ErrorKind::Unavailable;
    assert_eq!(error.is_transient(), is_transient, "{error:?}");
}
