//! Every session says that it is there, by a lock that all of them share.
//!
//! Two things rest on that. Nodes whose versions map names to other numbers see each other and
//! refuse to run side by side. And whoever finds nobody there leaps over token numbers: lock sessions
//! do not wait for the disk (`synchronous_commit = off`), so a crash can make the server forget the
//! last numbers it handed out; but a crash also ends every session, so the next one is alone.

use crate::{
    errors::refused,
    keys::FORMAT,
    open::standby,
    options::Options,
    text::{first, row, run},
};
use lockwork_core::lock::{Error, ErrorKind, Result};
use sqlx::{PgConnection, Row};

/// The first number of such locks; the second is the key format.
pub(crate) const PRESENCE: i32 = i32::from_be_bytes(*b"lkwk");

/// How many numbers a crash may make the server forget: what it hands out in thirty seconds, which
/// is how long its log may stay in memory (three times the longest `wal_writer_delay`), at more than
/// a hundred thousand a second. Tokens have room for 2^25 such leaps.
const LEAP: i64 = 1 << 22;

/// Whoever leaps is done in milliseconds.
const LEAPING: &str = "SET lock_timeout = '3s'";

/// Says that we are there.
pub(crate) async fn announce(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let text = format!("SELECT pg_try_advisory_lock({PRESENCE}, {FORMAT}), pg_is_in_recovery()");
    let found = row(connection, text).await?;
    // It was the primary when we looked; who answers to its name may be another by now.
    if found.try_get(1).map_err(refused)? {
        return Err(standby());
    }
    let alone: bool = first(&found)?;
    if alone && options.tokens {
        leap(connection, options).await?;
    }
    let share = format!(
        "{LEAPING}; SELECT pg_advisory_lock_shared({PRESENCE}, {FORMAT}); SET lock_timeout = 0"
    );
    run(connection, share).await?;
    if alone {
        let others = format!("SELECT pg_advisory_unlock({PRESENCE}, {FORMAT})");
        run(connection, others).await?;
    }
    refuse_other_formats(connection).await
}

async fn leap(connection: &mut PgConnection, options: &Options) -> Result<()> {
    let sequence = options.sequence();
    // What counts is how it is set when the transaction ends.
    let text = format!(
        "BEGIN; SET LOCAL synchronous_commit = on; \
         SELECT setval('{sequence}'::regclass, nextval('{sequence}'::regclass) + {LEAP}); COMMIT"
    );
    run(connection, text).await
}

/// After our own presence is known: of two who come at once, one at least sees the other.
async fn refuse_other_formats(connection: &mut PgConnection) -> Result<()> {
    let text = format!(
        "SELECT min(l.objid::int8) FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
         WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid::int8 = {PRESENCE} \
           AND l.objid::int8 NOT IN (0, {FORMAT}) AND d.datname = current_database()"
    );
    let other: Option<i64> = first(&row(connection, text).await?)?;
    let Some(other) = other else { return Ok(()) };
    let message = "nodes of another version of lockwork are at work in this database, and theirs \
                   and our locks would not exclude each other: stop the ones or the others";
    Err(Error::new(ErrorKind::Denied, message)
        .with("their_key_format", other)
        .with("our_key_format", FORMAT))
}
