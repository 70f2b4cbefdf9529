//! Work that may wait for the disk: on a thread where waiting harms nobody.

use lockwork_core::lock::{Error, ErrorKind, Result, backend::Shield};

/// Does `work` on a thread of its own.
///
/// # Cancel safety
/// Once begun, `work` goes on to its end; what it yields is dropped.
pub(crate) async fn wait<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    // Within a shield, so that the keeper's threads are used: the caller may have none.
    let done = Shield::new(async move { tokio::task::spawn_blocking(work).await });
    done.await.unwrap_or_else(|error| {
        let message = "work on the lock directory ended before it was done: report it";
        Err(Error::new(ErrorKind::Unexpected, message).because(error))
    })
}
