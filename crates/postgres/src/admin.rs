//! Connections for what is asked about locks rather than of them.

use crate::{errors::refused, open::PATIENCE, options::Options};
use lockwork_core::lock::{Error, ErrorKind, Result, backend::keeper};
use sqlx::{ConnectOptions, PgConnection};

/// Runs `work` on a connection of its own. It lives on the keeper thread: whoever asks may come
/// from a runtime that ends meanwhile.
pub(crate) async fn on_a_connection<T, Work>(
    options: &Options,
    work: impl FnOnce(PgConnection) -> Work + Send + 'static,
) -> Result<T>
where
    T: Send + 'static,
    Work: Future<Output = Result<T>> + Send,
{
    let connect = options.connect.clone();
    let run = keeper::spawn(tokio::time::timeout(PATIENCE, async move {
        work(connect.connect().await.map_err(refused)?).await
    }));
    match run.await {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(Error::new(
            ErrorKind::Unavailable,
            "PostgreSQL did not answer in time: check the network, and whether it is overloaded",
        )),
        Err(error) => Err(Error::new(ErrorKind::Unexpected, "the keeper ended").because(error)),
    }
}
