//! Another engine inside of the program, dbos, on the same server.

use super::clients::{self, CLIENTS, two_threads};
use crate::{
    cell::{Outcome, Turns},
    cells::postgres,
};
use dbos::{Config, DBOS};

/// A workflow of three steps, each of which gives a number.
pub(super) fn three_steps() -> Outcome<Turns> {
    let (threads, url) = (two_threads()?, postgres::url()?);
    let config = Config {
        app_version: Some("1".to_owned()),
        max_connections: CLIENTS.try_into()?,
        ..Config::new("bench", url)
    };
    let engine = DBOS::new(config);
    let workflow = engine.register_workflow("three-steps", steps)?;
    threads.block_on(engine.launch())?;
    Ok(Box::new(move |operations| {
        let (_runs, workflow) = (&engine, workflow.clone());
        threads.block_on(clients::timed(operations, move |_, _| {
            let workflow = workflow.clone();
            async move {
                match workflow.run(()).await? {
                    3 => Ok(()),
                    other => Err(format!("three steps should give 3, and gave {other}").into()),
                }
            }
        }))
    }))
}

async fn steps(_: ()) -> dbos::Result<u64> {
    let mut sum = 0;
    for name in ["a", "b", "c"] {
        sum += dbos::step(name, || async { Ok(1) }).await?;
    }
    Ok(sum)
}
