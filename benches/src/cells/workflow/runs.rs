//! Bursts on a runtime, with a store.

use super::{counted, orders};
use crate::{
    cell::{Outcome, Turns},
    cells::one_thread,
};
use lockwork::workflow::{Create, CreateAndRun, Runtime, SubStatus, Values};
use serde_json::json;

/// Instances that wait are resumed, each at its bookmark.
pub(super) fn resumed() -> Outcome<Turns> {
    let thread = one_thread()?;
    Ok(Box::new(move |operations| {
        // Anew for each turn, so that none finds a fuller store than the one before.
        let (runtime, handle) = thread.block_on(orders::runtime(orders::waiting()?))?;
        let placed = thread.block_on(async {
            let mut placed = Vec::new();
            for n in 0..operations {
                placed.push(orders::placed(&runtime, &handle, &format!("paid-{n}")).await?);
            }
            Outcome::Ok(placed)
        })?;
        let resumer = runtime.resumer();
        counted(operations, || {
            thread.block_on(async {
                for (instance, bookmark) in placed {
                    let ran = resumer.resume(&instance, bookmark, Values::new()).await?;
                    waits(ran.sub_status)?;
                }
                Ok(())
            })
        })
    }))
}

/// The same instances are told of their events.
pub(super) fn told() -> Outcome<Turns> {
    let thread = one_thread()?;
    Ok(Box::new(move |operations| {
        let (runtime, handle) = thread.block_on(orders::runtime(orders::waiting()?))?;
        let names: Vec<_> = (0..operations).map(|n| format!("paid-{n}")).collect();
        thread.block_on(async {
            for name in &names {
                orders::placed(&runtime, &handle, name).await?;
            }
            Outcome::Ok(())
        })?;
        let sender = runtime.sender();
        counted(operations, || {
            thread.block_on(async {
                for name in &names {
                    let reached = sender.event(name, json!({})).await?;
                    let resumed = reached.resumed.first().ok_or("an order waits for it")?;
                    waits(resumed.sub_status)?;
                }
                Ok(())
            })
        })
    }))
}

/// Instances are created, and run to their end.
pub(super) fn created() -> Outcome<Turns> {
    let thread = one_thread()?;
    Ok(Box::new(move |operations| {
        let (runtime, handle) = thread.block_on(orders::runtime(orders::short()?))?;
        counted(operations, || {
            thread.block_on(async {
                for _ in 0..operations {
                    let create = CreateAndRun::new(Create::new(handle.clone()));
                    let ran = runtime.client(None).create_and_run(create).await?;
                    if ran.sub_status != SubStatus::Finished {
                        return Err("it should be over".into());
                    }
                }
                Ok(())
            })
        })
    }))
}

fn waits(found: SubStatus) -> Outcome<()> {
    match found {
        SubStatus::Suspended => Ok(()),
        other => Err(format!("it should wait, and is {other:?}").into()),
    }
}
