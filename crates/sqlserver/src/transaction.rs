//! Locks that end with a transaction of the caller's.

use crate::{
    Compat,
    errors::{failed, no_transaction, refused},
    keys::Key,
    session::{GRANTED, TIMED_OUT, WRONG},
};
use futures_util::io::{AsyncRead, AsyncWrite};
use lockwork_core::lock::{Error, LockId, Name, Result, Space};
use std::time::Duration;
use tiberius::Client;

/// Takes the mutex `name` for as long as the transaction of `client` lasts, waiting for it on the
/// server for as long as `within` says; `false` if that was not long enough.
///
/// It is the mutex that [`Locks::mutex`](lockwork_core::lock::Locks::mutex) of the same database
/// takes, where that uses the usual principal. There is nothing to release and nothing to lose:
/// committing, rolling back and a broken connection all end the lock together with what it protects.
///
/// The driver gives up on an answer after 30 s unless
/// [`Config::command_timeout`](tiberius::Config::command_timeout) says otherwise: waits are to be
/// shorter than that.
///
/// # Errors
/// [`Deadlock`](lockwork_core::lock::ErrorKind::Deadlock) if the server finds a cycle of waiters and
/// chose this transaction to end it, [`Denied`](lockwork_core::lock::ErrorKind::Denied) if `client` is in no
/// transaction, and what the server has to say otherwise.
///
/// # Cancel safety
/// Dropped while it waits, the connection must be closed: the server may grant the lock to the
/// transaction later.
pub async fn lock_in<S>(client: &mut Client<S>, name: &str, within: Duration) -> Result<bool>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let id = LockId::new(Space::Mutex, Name::new(name)?);
    let key = Key::of(&id, Compat::None);
    let milliseconds = i32::try_from(within.as_millis()).unwrap_or(i32::MAX);
    let (mut code, free) = ask(client, &key, milliseconds).await?;
    // So some servers say busy when they are not to wait.
    if code == WRONG && milliseconds == 0 {
        code = match free {
            Some(0) => TIMED_OUT,
            // It may have been busy and be free since. Who waits is told which.
            _ => ask(client, &key, 1).await?.0,
        };
    }
    match code {
        GRANTED.. => Ok(true),
        TIMED_OUT => Ok(false),
        // The principal is there, and the name is sound.
        WRONG => {
            let (kind, message) = no_transaction();
            Err(Error::new(kind, message).with("code", WRONG))
        }
        code => Err(failed(code)),
    }
}

/// What the server says to who wants it within so many milliseconds; and whether it could be had after that.
async fn ask<S>(client: &mut Client<S>, key: &Key, milliseconds: i32) -> Result<(i32, Option<i32>)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let text = "DECLARE @r int; EXEC @r = sp_getapplock @Resource = @P1, @LockMode = 'Exclusive', \
                @LockOwner = 'Transaction', @LockTimeout = @P2, @DbPrincipal = 'public'; \
                SELECT @r, APPLOCK_TEST('public', @P1, 'Exclusive', 'Transaction');";
    let rows = client
        .query(text, &[&key.resource(), &milliseconds])
        .await
        .map_err(refused)?;
    let row = rows.into_row().await.map_err(refused)?;
    let row = row.ok_or_else(crate::connect::nothing)?;
    let code: Option<i32> = row.try_get(0).map_err(refused)?;
    let free = row.try_get(1).map_err(refused)?;
    Ok((code.unwrap_or(WRONG), free))
}

/// Takes the mutex `name` for as long as the transaction of `client` lasts if it is free: see
/// [`lock_in`].
///
/// # Errors
/// As [`lock_in`].
pub async fn try_lock_in<S>(client: &mut Client<S>, name: &str) -> Result<bool>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    lock_in(client, name, Duration::ZERO).await
}
