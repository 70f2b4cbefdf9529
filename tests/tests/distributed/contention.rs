//! Two nodes whose locks are not the same.

use crate::{
    place::Place,
    support::{World, instance, of, soon},
    told::Told,
};
use lockwork::{
    flow::build::*,
    runtime::store::{Errand, ErrandKind},
    workflow::{Run, SubStatus},
};
use std::time::Duration;

/// Two nodes on one store and on two lock servers, and an errand that runs an instance.
async fn at_odds() -> (World, World) {
    let (here, there) = (Place::new(), Place::new());
    let world = here.world().await;
    let other = world.node(|builder| there.join(builder));
    world
        .publish(workflow("w").root(call("stay", "gate")))
        .await;
    soon(world.client("a").create(of("w"))).await.unwrap();
    let kind = ErrandKind::Run {
        instance: instance("a"),
        run: Run::default(),
    };
    let due = lockwork::runtime::Clock::now(&world.clock);
    let id = "run".to_owned();
    world
        .store
        .add(vec![Errand { id, kind, due }])
        .await
        .unwrap();
    (world, other)
}

/// The other node claims the instance while this one runs it, and dies: so this one is fenced off.
async fn fence_off(world: &World, times: usize) {
    let running = world.spawn_settle();
    world.gate.called(times).await;
    let (id, claim) = (instance("a"), format!("other {times}"));
    let claimed = world.store.claim(&id, &claim).await;
    claimed.unwrap().expect("it is there");
    world.gate.open();
    crate::support::joined(running).await;
    world.gate.close();
}

#[tokio::test]
async fn two_nodes_that_keep_fencing_each_other_off_leave_it_alone_longer_each_time_and_tell_somebody()
 {
    let told = Told::new();
    let (world, _other) = at_odds().await;
    for times in 1..=5_u32 {
        fence_off(&world, times as usize).await;
        let now = lockwork::runtime::Clock::now(&world.clock);
        let due = world
            .store
            .next_due()
            .await
            .unwrap()
            .expect("it is left to do");
        let (pause, least) = (due.since(now), Duration::from_millis(100 << times));
        assert!(
            pause >= least && pause <= least * 3 / 2,
            "{times}: {pause:?}"
        );
        let incidents = world.state("a").await.incidents.len();
        assert_eq!(incidents, usize::from(times == 5), "after {times}");
        world.clock.advance(pause);
    }
    let incident = &world.state("a").await.incidents[0];
    assert_eq!(incident.failure.code, "instance.contended");
    assert!(incident.failure.message.contains("same lock server"));
    assert_eq!(told.count(&["ERROR", "same lock server"]), 1);
    world.gate.open();
    world.settle().await;
    assert_eq!(
        world.status("a").await,
        SubStatus::Finished,
        "nothing is lost"
    );
}
