//! Connections for what is asked about locks rather than of them.

use crate::{connect::Link, open::PATIENCE, options::Options};
use lockwork_core::lock::{Error, ErrorKind, Result, backend::keeper};

/// Runs `work` on a connection of its own. It lives on the keeper thread: whoever asks may come
/// from a runtime that ends meanwhile.
pub(crate) async fn on_a_connection<T, Work>(
    options: &Options,
    work: impl FnOnce(Link) -> Work + Send + 'static,
) -> Result<T>
where
    T: Send + 'static,
    Work: Future<Output = Result<T>> + Send,
{
    let config = options.config.clone();
    on_the_keeper(async move { work(Link::to(&config).await?).await }).await
}

/// Runs `work` on the keeper thread, for as long as the server may take for anything.
pub(crate) async fn on_the_keeper<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    match keeper::spawn(tokio::time::timeout(PATIENCE, work)).await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(Error::new(
            ErrorKind::Unavailable,
            "SQL Server did not answer in time: check host and port, the network, and whether it is \
             overloaded",
        )),
        Err(error) => Err(Error::new(ErrorKind::Unexpected, "the keeper ended").because(error)),
    }
}
