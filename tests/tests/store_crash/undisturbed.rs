//! What a run gives if nobody disturbs it: on the store in memory, which all others must be like.

use lockwork::{
    runtime::{LocalRuntime, MemoryStore, RuntimeBuilder, Store},
    workflow::{InstanceId, Status},
};
use lockwork_conformance::{
    within,
    workflows::{Journals, Order, Plan, definitions, jobs, journals, registry},
};
use std::{sync::Arc, time::Duration};
use tokio::{sync::Semaphore, task::JoinSet};

/// Longer than it takes on any machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The journals of a run in this process, from its beginning to its end.
pub(crate) async fn undisturbed(plan: &Plan) -> Journals {
    let store = Arc::new(MemoryStore::new());
    let builder = RuntimeBuilder::new(store.clone()).registry(registry());
    let runtime = jobs(builder).build();
    for definition in definitions().unwrap() {
        runtime.definitions().publish(definition).await.unwrap();
    }
    runtime.start().await.unwrap();
    within(LIMIT, "an undisturbed run", async {
        tell(&runtime, plan.orders.clone()).await;
        let mut rest = plan.instances.clone();
        while !all_over(&*store, &mut rest).await {
            let tasks = store_tasks(&*store).await;
            tell(&runtime, tasks).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    runtime.drain().await;
    journals(&*store).await.unwrap()
}

async fn tell(runtime: &LocalRuntime, orders: Vec<Order>) {
    let (mut set, room) = (JoinSet::new(), Arc::new(Semaphore::new(48)));
    for order in orders {
        let permit = Arc::clone(&room).acquire_owned().await.unwrap();
        let runtime = runtime.clone();
        set.spawn(async move {
            let _permit = permit;
            order.obey(&runtime).await.unwrap();
        });
    }
    set.join_all().await;
}

/// What somebody outside shall do now, done.
pub(crate) async fn store_tasks(store: &dyn Store) -> Vec<Order> {
    let tasks = store.tasks().await.unwrap().into_iter();
    tasks.map(|task| Order::Done { task: task.id }).collect()
}

/// Whether all of `rest` are over. Those that are seen to be leave it.
pub(crate) async fn all_over(store: &dyn Store, rest: &mut Vec<InstanceId>) -> bool {
    while let Some(last) = rest.last() {
        let record = store.load(last).await.unwrap();
        match record.map(|record| record.state.sub_status.status()) {
            Some(Status::Finished) => drop(rest.pop()),
            _ => return false,
        }
    }
    true
}
