//! Who holds a lock and who waits for it, as the table tells.

use super::{contradiction, server::token};
use crate::errors::refused;
use lockwork_core::lock::{Holder, Holders, Mode, OwnerId, Result, Waiting};
use sqlx::{Row, postgres::PgRow};
use std::time::{Duration, SystemTime};

/// What is asked. Rows whose time is up are there until somebody comes by.
pub(super) const LOOK: &str = "SELECT encode(owner, 'hex'), mode, waits, permits, token, \
        floor(extract(epoch FROM since) * 1000000)::int8, client \
    FROM SCHEMA.lease WHERE key = ? AND mode <> 0 AND expires > clock_timestamp() \
    ORDER BY since, owner";

pub(super) fn read(rows: &[PgRow]) -> Result<Holders> {
    let (mut holders, mut waiting) = (Vec::new(), Vec::new());
    for row in rows {
        let owner =
            OwnerId::from_hex(row.try_get(0).map_err(refused)?).ok_or_else(contradiction)?;
        let mode = mode(
            row.try_get(1).map_err(refused)?,
            row.try_get(3).map_err(refused)?,
        )?;
        match row.try_get(2).map_err(refused)? {
            true => waiting.push(Waiting::new(owner, mode)),
            false => holders.push(holder(row, owner, mode)?),
        }
    }
    Ok(Holders::new(holders, waiting))
}

fn holder(row: &PgRow, owner: OwnerId, mode: Mode) -> Result<Holder> {
    let mut holder = Holder::new(owner, mode);
    let number: Option<i64> = row.try_get(4).map_err(refused)?;
    holder.token = number.map(token).transpose()?;
    let since: i64 = row.try_get(5).map_err(refused)?;
    let since = Duration::from_micros(u64::try_from(since).unwrap_or_default());
    holder.since = SystemTime::UNIX_EPOCH.checked_add(since);
    holder.client = Some(row.try_get(6).map_err(refused)?);
    Ok(holder)
}

fn mode(code: i16, permits: i64) -> Result<Mode> {
    let numbers = u8::try_from(code).ok().zip(u32::try_from(permits).ok());
    let mode = numbers.and_then(|(code, permits)| Mode::from_code(code, permits));
    mode.ok_or_else(contradiction)
}
