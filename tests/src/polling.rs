//! Giving up half way, on purpose.

use std::{future::Future, pin::pin, task::Poll};

/// Polls `work` at most `polls` times, as often as it wakes; then drops it.
pub async fn poll_at_most<T>(polls: u32, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut left) = (pin!(work), polls);
    std::future::poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match work.as_mut().poll(cx) {
            Poll::Pending if left == 0 => Poll::Ready(None),
            polled => polled.map(Some),
        }
    })
    .await
}
