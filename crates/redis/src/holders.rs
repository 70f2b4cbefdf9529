//! Who holds a lock and who waits for it, as the script tells.

use crate::{errors::contradiction, owners, things::Said};
use lockwork_core::lock::{Holder, Holders, Mode, Result, Waiting};
use redis::{FromRedisValue, Value};
use std::time::{Duration, SystemTime};

/// Owner, mode, permits, token, since when, who.
type Held = (String, u8, u32, i64, u64, String);
/// Owner, mode, permits.
type Waits = (String, u8, u32);

pub(crate) fn read(seen: Value) -> Result<Holders> {
    let seen = <(Vec<Held>, Vec<Waits>)>::from_redis_value(seen);
    let (held, waits) = seen.map_err(|_| contradiction())?;
    let holders = held.into_iter().map(holder).collect::<Result<_>>()?;
    let waiting = waits.into_iter().map(|(owner, code, of)| {
        let owner = owners::read(&owner).ok_or_else(contradiction)?;
        let mode = Mode::from_code(code, of).ok_or_else(contradiction)?;
        Ok(Waiting::new(owner, mode))
    });
    Ok(Holders::new(holders, waiting.collect::<Result<_>>()?))
}

fn holder((owner, code, of, token, since, client): Held) -> Result<Holder> {
    let owner = owners::read(&owner).ok_or_else(contradiction)?;
    let mode = Mode::from_code(code, of).ok_or_else(contradiction)?;
    let mut holder = Holder::new(owner, mode);
    holder.token = Said::token(token)?;
    holder.since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(since));
    holder.client = Some(client);
    Ok(holder)
}
