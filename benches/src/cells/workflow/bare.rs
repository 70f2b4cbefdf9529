//! Bursts alone: what is left when nobody writes anything down.

use super::{counted, orders};
use crate::{
    cell::{Outcome, Turns},
    cells::one_thread,
};
use lockwork::{
    flow::{Burst, Definition, Graph, Outside, Progress, Registry, State, Told},
    runtime::{Clock, SystemClock},
    workflow::{DefinitionHandle, InstanceId, Result, Run, Target, Time, VersionId},
};
use std::{hint::black_box, sync::Arc};

/// From the bookmark of an order to the next one, from the same state each time.
pub(super) fn burst() -> Outcome<Turns> {
    let (graph, mut state) = new(orders::waiting()?)?;
    state.input.insert("order".to_owned(), "paid".into());
    let thread = one_thread()?;
    let state = thread.block_on(run(&graph, &state, Run::default()))?;
    let bookmark = state.bookmarks.first().ok_or("an order waits")?.id.clone();
    Ok(turns(graph, state, Run::at(Target::Bookmark(bookmark))))
}

/// From the beginning to the end.
pub(super) fn whole() -> Outcome<Turns> {
    let (graph, state) = new(orders::short()?)?;
    Ok(turns(graph, state, Run::default()))
}

fn turns(graph: Arc<Graph>, state: State, from: Run) -> Turns {
    Box::new(move |operations| {
        let thread = one_thread()?;
        counted(operations, || {
            thread.block_on(async {
                for _ in 0..operations {
                    black_box(run(&graph, &state, from.clone()).await?);
                }
                Ok(())
            })
        })
    })
}

fn new(definition: Definition) -> Result<(Arc<Graph>, State)> {
    let version = VersionId::new("1")?;
    let graph = Graph::new(definition, version.clone(), &Registry::standard())?;
    let instance = InstanceId::drawn(17);
    Ok((Arc::new(graph), State::new(instance, version, Here.now())))
}

async fn run(graph: &Arc<Graph>, state: &State, from: Run) -> Result<State> {
    let mut burst = Burst::new(Arc::clone(graph), state.clone(), Arc::new(Here))?;
    burst.begin(from)?;
    while burst.step().await? == Progress::More {}
    black_box(burst.take());
    Ok(burst.into_state())
}

/// Where it is as late as on this machine, and everything has one version.
#[derive(Debug)]
struct Here;

impl Outside for Here {
    fn now(&self) -> Time {
        SystemClock.now()
    }

    fn version<'a>(&'a self, _: &'a DefinitionHandle) -> Told<'a, Result<VersionId>> {
        Box::pin(std::future::ready(VersionId::new("1")))
    }
}
