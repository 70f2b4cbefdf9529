//! The engine every backend is built with: what its parts cost by themselves.

use super::{EACH, one_thread, time_each};
use crate::cell::{Cell, Outcome, Side, Turns};
use lockwork::backend::{Shield, keeper};
use std::{hint::black_box, pin::Pin};

pub(super) const CELLS: &[Cell] = &[
    Cell {
        name: "engine/shield",
        about: "Awaits a future that is ready at once behind a shield: no task, no thread.",
        figures: &[EACH],
        operations: 100_000,
        most_rounds: None,
        subject: Side {
            label: "Shield::new(ready).await",
            start: shield,
        },
        floor: Some(Side {
            label: "boxed future",
            start: boxed,
        }),
        bar: None,
    },
    Cell {
        name: "engine/keeper-hop",
        about: "Has the keeper thread run an empty task and waits for it: what a thread hop costs.",
        figures: &[EACH],
        operations: 2_000,
        most_rounds: None,
        subject: Side {
            label: "keeper::spawn(empty).await",
            start: keeper_hop,
        },
        floor: Some(Side {
            label: "tokio::spawn(empty).await on one thread",
            start: own_hop,
        }),
        bar: None,
    },
];

fn shield() -> Outcome<Turns> {
    let runtime = one_thread()?;
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |turn| {
            let work = Shield::new(async move { black_box(turn) });
            black_box(black_box(work).await);
            Ok(())
        })
    }))
}

fn boxed() -> Outcome<Turns> {
    type Work = Pin<Box<dyn Future<Output = u64> + Send>>;
    let runtime = one_thread()?;
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |turn| {
            let work: Work = Box::pin(async move { black_box(turn) });
            black_box(black_box(work).await);
            Ok(())
        })
    }))
}

fn keeper_hop() -> Outcome<Turns> {
    let runtime = one_thread()?;
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |_| {
            Ok(keeper::spawn(async {}).await?)
        })
    }))
}

fn own_hop() -> Outcome<Turns> {
    let runtime = one_thread()?;
    Ok(Box::new(move |operations| {
        time_each(&runtime, operations, async |_| {
            Ok(tokio::spawn(async {}).await?)
        })
    }))
}
