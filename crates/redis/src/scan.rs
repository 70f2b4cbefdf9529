//! Which locks are held: the keys are looked through in small steps, on a connection of their own, so that
//! nobody else waits for it.

use crate::{
    errors::{contradiction, refused},
    keys::{self, id_of},
    options::{Deployment, Options},
    wire::Wire,
};
use lockwork_core::lock::{LockId, Result};
use redis::{Cmd, FromRedisValue, Value};
use std::collections::{BTreeSet, HashMap};

/// Keys a server looks at in one step.
const STEP: usize = 1000;

/// The locks that have a key, of which some may be held by nobody when they are looked at.
pub(crate) async fn locks(options: &Options, beginning: &str) -> Result<BTreeSet<LockId>> {
    let mut wire = Wire::open(options, None).await?;
    let mut found = BTreeSet::new();
    for slot in primaries(&mut wire, options).await? {
        let mut cursor = 0;
        loop {
            let step = wire.call_at(slot, step(options, cursor)).await;
            let step = <(u64, Vec<Vec<u8>>)>::from_redis_value(step.map_err(refused)?);
            let (next, keys) = step.map_err(|_| contradiction())?;
            // Keys that are no text are nobody's of ours.
            let keys = keys.iter().filter_map(|key| std::str::from_utf8(key).ok());
            let ids = keys.filter_map(|key| id_of(&options.prefix, key));
            found.extend(ids.filter(|id| id.name.as_str().starts_with(beginning)));
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(found)
}

fn step(options: &Options, cursor: u64) -> Cmd {
    let mut step = redis::cmd("SCAN");
    step.arg(cursor)
        .arg("MATCH")
        .arg(keys::pattern(&options.prefix))
        .arg("COUNT")
        .arg(STEP);
    step
}

/// A slot of each primary of a cluster; elsewhere there is one server, and no slots.
async fn primaries(wire: &mut Wire, options: &Options) -> Result<Vec<Option<u16>>> {
    if options.deployment != Deployment::Cluster {
        return Ok(vec![None]);
    }
    let mut ask = redis::cmd("CLUSTER");
    ask.arg("SLOTS");
    let said = wire.call_at(None, ask).await.map_err(refused)?;
    let ranges = Vec::<Vec<Value>>::from_redis_value(said).map_err(|_| contradiction())?;
    let mut slots = HashMap::new();
    for range in ranges {
        // The first slot, the last, the primary, its replicas.
        let [first, _, primary, ..] = &range[..] else {
            return Err(contradiction());
        };
        let first = u16::from_redis_value(first.clone()).map_err(|_| contradiction())?;
        slots.insert(format!("{primary:?}"), Some(first));
    }
    Ok(slots.into_values().collect())
}
