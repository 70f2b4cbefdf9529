//! From a URL to a store.

use lockwork_core::workflow::{Error, ErrorKind, Result};
use lockwork_runtime::Store;
use std::sync::Arc;

/// Opens the store that `url` names.
///
/// # Errors
/// [`ErrorKind::Invalid`] if the scheme is unknown; otherwise what the store has to say.
pub async fn connect(url: &str) -> Result<Arc<dyn Store>> {
    let scheme = url.split(':').next().unwrap_or_default();
    match scheme {
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Arc::new(crate::sqlite::SqliteStore::open(url).await?)),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Arc::new(
            crate::postgres::PostgresStore::connect(url).await?,
        )),
        _ => Err(Error::new(ErrorKind::Invalid, "no store has this scheme").with("scheme", scheme)),
    }
}
