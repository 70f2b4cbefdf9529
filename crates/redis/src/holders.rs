//! Who holds a lock and who waits for it, as the script tells.

use crate::{errors::contradiction, things::Said};
use lockwork_core::lock::{Holder, Holders, Mode, OwnerId, Result, Waiting};
use redis::{FromRedisValue, Value};
use std::{
    num::NonZeroU32,
    time::{Duration, SystemTime},
};

/// Owner, mode, permits, token, since when, who.
type Held = (String, u8, u32, i64, u64, String);
/// Owner, mode, permits.
type Waits = (String, u8, u32);

pub(crate) fn read(seen: Value) -> Result<Holders> {
    let seen = <(Vec<Held>, Vec<Waits>)>::from_redis_value(seen);
    let (held, waits) = seen.map_err(|_| contradiction())?;
    let holders = held.into_iter().map(holder).collect::<Result<_>>()?;
    let waiting = waits.into_iter().map(|(owner, code, of)| {
        let (owner, mode) = (self::owner(&owner)?, mode(code, of)?);
        Ok(Waiting::new(owner, mode))
    });
    Ok(Holders::new(holders, waiting.collect::<Result<_>>()?))
}

fn holder((owner, code, of, token, since, client): Held) -> Result<Holder> {
    let mut holder = Holder::new(self::owner(&owner)?, mode(code, of)?);
    holder.token = Said::token(token)?;
    holder.since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(since));
    holder.client = Some(client);
    Ok(holder)
}

fn mode(code: u8, of: u32) -> Result<Mode> {
    match (code, NonZeroU32::new(of)) {
        (1, _) => Ok(Mode::Exclusive),
        (2, _) => Ok(Mode::Read),
        (3, _) => Ok(Mode::Upgradeable),
        (4, _) => Ok(Mode::Write),
        (5, Some(of)) => Ok(Mode::Permit { of }),
        _ => Err(contradiction()),
    }
}

fn owner(hex: &str) -> Result<OwnerId> {
    let number = u128::from_str_radix(hex, 16).map_err(|_| contradiction())?;
    Ok(OwnerId::from_bytes(number.to_be_bytes()))
}
