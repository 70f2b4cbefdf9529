//! Who holds a lock and who waits for it, as the server's own list of locks tells.

use crate::{errors::refused, keys::Key};
use lockwork_core::lock::{Holder, Holders, Mode, OwnerId, Result, Space, Waiting};
use sqlx::{AssertSqlSafe, PgConnection, Row, postgres::PgRow};
use std::num::NonZeroU32;

/// One entry of the server's list.
struct Entry {
    pid: i32,
    number: i64,
    shared: bool,
    client: Option<String>,
}

pub(crate) async fn look(connection: &mut PgConnection, key: Key, space: Space) -> Result<Holders> {
    let entries = entries(connection, key, space).await?;
    let is_in = |entry: &&Entry| entry.number != key.wait && entry.number != key.rise;
    let holders = entries.iter().filter(is_in).map(|entry| {
        let rises = entries
            .iter()
            .any(|other| other.pid == entry.pid && other.number == key.rise);
        let mut holder = Holder::new(owner(entry.pid), mode(space, entry.shared, rises));
        holder.client.clone_from(&entry.client);
        (entry.pid, holder)
    });
    let waits = entries.iter().filter(|entry| entry.number == key.wait);
    let waiting = waits.map(|entry| Waiting::new(owner(entry.pid), asked(space)));
    let waiting = waiting.collect();
    Ok(Holders::new(once_each(holders.collect()), waiting))
}

/// The processes that hold the lock.
pub(crate) async fn pids(
    connection: &mut PgConnection,
    key: Key,
    space: Space,
) -> Result<Vec<i32>> {
    let entries = entries(connection, key, space).await?;
    let is_in = |entry: &&Entry| entry.number != key.wait && entry.number != key.rise;
    let mut pids: Vec<_> = entries
        .iter()
        .filter(is_in)
        .map(|entry| entry.pid)
        .collect();
    if space != Space::Semaphore {
        // A writer that has risen is there twice.
        pids.sort_unstable();
        pids.dedup();
    }
    Ok(pids)
}

async fn entries(connection: &mut PgConnection, key: Key, space: Space) -> Result<Vec<Entry>> {
    // Permits lie in a row behind the first.
    let last = match space {
        Space::Semaphore => key.slot(i64::from(u32::MAX)),
        _ => key.lock,
    };
    let text = "SELECT l.pid, (l.classid::int8 << 32) | l.objid::int8, l.mode = 'ShareLock', \
          concat_ws(' ', nullif(a.application_name, ''), host(a.client_addr), \
            'as ' || a.usename, 'backend ' || l.pid) \
        FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
          LEFT JOIN pg_stat_activity a ON a.pid = l.pid \
        WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database() \
          AND (l.objsubid = CASE WHEN $5 THEN 2 ELSE 1 END \
              AND ((l.classid::int8 << 32) | l.objid::int8) BETWEEN $1 AND $2 \
            OR l.objsubid = 1 AND ((l.classid::int8 << 32) | l.objid::int8) IN ($3, $4)) \
        ORDER BY l.pid, l.mode";
    let query = sqlx::query(AssertSqlSafe(text))
        .bind(key.lock)
        .bind(last)
        .bind(key.wait)
        .bind(key.rise)
        .bind(key.pair);
    let rows = query.fetch_all(connection).await.map_err(refused)?;
    rows.iter().map(entry).collect()
}

fn entry(row: &PgRow) -> Result<Entry> {
    Ok(Entry {
        pid: row.try_get(0).map_err(refused)?,
        number: row.try_get(1).map_err(refused)?,
        shared: row.try_get(2).map_err(refused)?,
        client: row.try_get(3).map_err(refused)?,
    })
}

/// A writer that has risen holds the lock alone and as a reader; it is one holder.
fn once_each(holders: Vec<(i32, Holder)>) -> Vec<Holder> {
    let mut each: Vec<(i32, Holder)> = Vec::new();
    for (pid, holder) in holders {
        match each.iter_mut().find(|(known, _)| *known == pid) {
            Some((_, known)) if known.mode == Mode::Upgradeable && holder.mode == Mode::Write => {
                *known = holder;
            }
            Some((_, known)) if known.mode == Mode::Write && holder.mode == Mode::Upgradeable => {}
            _ => each.push((pid, holder)),
        }
    }
    each.into_iter().map(|(_, holder)| holder).collect()
}

const fn mode(space: Space, shared: bool, rises: bool) -> Mode {
    match (space, shared) {
        (Space::Semaphore, _) => PERMIT,
        (Space::RwLock, true) if rises => Mode::Upgradeable,
        (Space::RwLock, true) => Mode::Read,
        (Space::RwLock, false) => Mode::Write,
        _ => Mode::Exclusive,
    }
}

/// What is waited for is not told; the most that can be asked for.
const fn asked(space: Space) -> Mode {
    mode(space, false, false)
}

/// Of how many, the server does not know.
const PERMIT: Mode = Mode::Permit {
    of: NonZeroU32::MAX,
};

/// The server knows owners by their backend only.
fn owner(pid: i32) -> OwnerId {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&pid.to_be_bytes());
    OwnerId::from_bytes(bytes)
}
