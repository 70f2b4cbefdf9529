//! Locks that end with a transaction of the caller's.

use crate::{Compat, errors::refused, keys::Key};
use lockwork_core::lock::{Error, ErrorKind, LockId, Name, Result, Space};
use sqlx::{PgTransaction, Row};

/// Takes the mutex `name` for as long as `transaction` lasts, waiting for it on the server.
///
/// It is the mutex that [`Locks::mutex`](lockwork_core::lock::Locks::mutex) of the same database
/// takes. There is nothing to release and nothing to lose: committing, rolling back and a broken
/// connection all end the lock together with what it protects. Who waits for it elsewhere hears of
/// its end by trying again, within 150 ms.
///
/// # Errors
/// [`Deadlock`](ErrorKind::Deadlock) if the server finds a cycle of waiters, and what the server has
/// to say otherwise; after any error the transaction is of no more use.
///
/// # Cancel safety
/// Dropped while it waits, the transaction must be dropped as well.
pub async fn lock_in(transaction: &mut PgTransaction<'_>, name: &str) -> Result<()> {
    let query = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(number(name)?);
    let locked = query.execute(&mut **transaction).await;
    locked.map(drop).map_err(|error| {
        let code = error.as_database_error().and_then(|error| error.code());
        match code.as_deref() {
            Some("40P01") => {
                let message = "the server found a cycle of transactions that wait for each other: \
                               roll back and begin again";
                Error::new(ErrorKind::Deadlock, message).because(error)
            }
            _ => refused(error),
        }
    })
}

/// Takes the mutex `name` for as long as `transaction` lasts if it is free: see [`lock_in`].
///
/// # Errors
/// What the server has to say; after any error the transaction is of no more use.
pub async fn try_lock_in(transaction: &mut PgTransaction<'_>, name: &str) -> Result<bool> {
    let query = sqlx::query("SELECT pg_try_advisory_xact_lock($1)").bind(number(name)?);
    let row = query.fetch_one(&mut **transaction).await.map_err(refused)?;
    row.try_get(0).map_err(refused)
}

fn number(name: &str) -> Result<i64> {
    let id = LockId::new(Space::Mutex, Name::new(name)?);
    Ok(Key::of(&id, Compat::None).lock)
}
