//! Who holds a lock and who waits for it, as the server's own list of locks tells those who may see
//! it.

use crate::{
    connect::{Link, nothing},
    errors::refused,
    keys::Key,
};
use lockwork_core::lock::{
    Error, ErrorKind, Holder, Holders, Mode, OwnerId, Result, Space, Waiting,
};
use std::num::NonZeroU32;
use tiberius::Row;

const NO_SUCH_VIEW: u32 = 208;

/// One entry of the server's list.
struct Entry {
    session: i32,
    mode: Mode,
    is_in: bool,
    client: String,
    /// It is the gate of a read/write lock, and not the lock.
    is_gate: bool,
}

pub(crate) async fn look(link: &mut Link, key: &Key, space: Space) -> Result<Holders> {
    let (holding, waiting): (Vec<_>, Vec<_>) = entries(link, key, space)
        .await?
        .into_iter()
        .partition(|entry| entry.is_in);
    let holders = holders(holding).into_iter().map(|entry| {
        let mut holder = Holder::new(owner(entry.session), entry.mode);
        holder.client = Some(entry.client);
        holder
    });
    let waiting = waiting
        .into_iter()
        .map(|entry| Waiting::new(owner(entry.session), entry.mode));
    Ok(Holders::new(holders.collect(), waiting.collect()))
}

/// The sessions that hold the lock, each as often as it does.
pub(crate) async fn sessions(link: &mut Link, key: &Key, space: Space) -> Result<Vec<i32>> {
    let entries = entries(link, key, space).await?.into_iter();
    let holding = holders(entries.filter(|entry| entry.is_in).collect());
    Ok(holding.into_iter().map(|entry| entry.session).collect())
}

/// A writer has gate and lock, or has the gate only and waits; who has the gate to rise from is an
/// upgradeable reader until it is the writer.
fn holders(mut entries: Vec<Entry>) -> Vec<Entry> {
    let writers: Vec<_> = entries
        .iter()
        .filter(|entry| entry.mode == Mode::Write && !entry.is_gate)
        .map(|entry| entry.session)
        .collect();
    let is_holder = |entry: &Entry| {
        !entry.is_gate || entry.mode == Mode::Upgradeable && !writers.contains(&entry.session)
    };
    entries.retain(is_holder);
    entries
}

async fn entries(link: &mut Link, key: &Key, space: Space) -> Result<Vec<Entry>> {
    let text = "SELECT CONVERT(int, l.request_session_id), \
          CONVERT(nvarchar(60), l.request_mode), CONVERT(nvarchar(60), l.request_status), \
          CONVERT(nvarchar(128), s.program_name), CONVERT(nvarchar(128), s.host_name), \
          CONVERT(nvarchar(128), s.login_name), CONVERT(nvarchar(256), l.resource_description) \
        FROM sys.dm_tran_locks l \
          LEFT JOIN sys.dm_exec_sessions s ON s.session_id = l.request_session_id \
        WHERE l.resource_type = 'APPLICATION' AND l.resource_database_id = DB_ID() \
          AND CHARINDEX(@P1, l.resource_description) > 0 \
        ORDER BY l.request_session_id";
    let rows = link.rows(text, &[&key.shown()]).await;
    let rows = rows.map_err(|error| match error.code() {
        Some(NO_SUCH_VIEW) => {
            let message = "this server keeps no list of its locks: it is Babelfish, perhaps";
            Error::new(ErrorKind::Unsupported, message).because(error)
        }
        _ => refused(error),
    })?;
    rows.iter().map(|row| entry(row, key, space)).collect()
}

fn entry(row: &Row, key: &Key, space: Space) -> Result<Entry> {
    let text = |at: usize| -> Result<&str> {
        let text: Option<&str> = row.try_get(at).map_err(refused)?;
        Ok(text.unwrap_or_default())
    };
    let session: i32 = row.try_get(0).map_err(refused)?.ok_or_else(nothing)?;
    let (program, host, login) = (text(3)?, text(4)?, text(5)?);
    let client = [program, host, "as", login, "session"].into_iter();
    let client: Vec<_> = client.filter(|part| !part.is_empty()).collect();
    Ok(Entry {
        session,
        mode: mode(space, text(1)?),
        is_in: text(2)? == "GRANT",
        client: format!("{} {session}", client.join(" ")),
        is_gate: key.is_gate(text(6)?),
    })
}

fn mode(space: Space, letter: &str) -> Mode {
    match (space, letter) {
        (Space::Semaphore, _) => PERMIT,
        (Space::RwLock, "S") => Mode::Read,
        (Space::RwLock, "U") => Mode::Upgradeable,
        (Space::RwLock, _) => Mode::Write,
        _ => Mode::Exclusive,
    }
}

/// Of how many, the server does not know.
const PERMIT: Mode = Mode::Permit {
    of: NonZeroU32::MAX,
};

/// The server knows owners by their session only.
fn owner(session: i32) -> OwnerId {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&session.to_be_bytes());
    OwnerId::from_bytes(bytes)
}
