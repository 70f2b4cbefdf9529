//! Asking for a lock where that must fail, and looking at the error.

use crate::{canary, refusal};
use lockwork::{Error, ErrorKind, Locks};
use std::{
    future::Future,
    time::{Duration, Instant},
};

/// How long to wait for a lock that will not come.
pub(crate) const WAIT: Duration = Duration::from_millis(700);

/// How much later than that an error may come, on a machine that may be busy.
const LATER: Duration = Duration::from_millis(500 + 250);

/// The error of something that must fail within the time that was given for it, after it was looked
/// at for the password.
pub(crate) async fn error_of<T>(asked: impl Future<Output = Result<T, Error>>) -> Error {
    let began = Instant::now();
    let answer = tokio::time::timeout(WAIT + LATER, asked).await;
    let took = began.elapsed();
    let error = answer.expect("an answer: not within 1.45 s").err();
    let error = error.expect("this must be refused");
    println!("{:?} after {took:.1?}: {error}", error.kind());
    canary::is_not_in(&error);
    error
}

/// A mutex cannot be had, at once or by waiting, and that is said so.
pub(crate) async fn expect(locks: &Locks, kind: ErrorKind, words: &str) {
    let mutex = locks.mutex("refused");
    refusal::is(&error_of(mutex.try_lock()).await, kind, words);
    refusal::is(&error_of(mutex.try_lock_for(WAIT)).await, kind, words);
}

/// Asks again and again until it is so.
pub(crate) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so().await {
        assert!(Instant::now() < deadline, "not within 10 s: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
