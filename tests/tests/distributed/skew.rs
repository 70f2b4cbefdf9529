//! Nodes whose clocks do not agree.

use crate::{
    place::Place,
    support::{World, event_called, joined, of, soon},
};
use lockwork::{
    flow::{Commit, build::*},
    runtime::{Clock, Error, ErrorKind, Sleep, SystemClock, store::Filter},
    workflow::{Addressee, SubStatus, Time},
};
use std::time::Duration;

const MINUTE: i64 = 60_000;
const INSTANCES: usize = 60;

/// The clock of this machine, set wrong by so many milliseconds.
#[derive(Debug)]
struct Skewed(i64);

impl Clock for Skewed {
    fn now(&self) -> Time {
        Time::from_millis(SystemClock.now().as_millis() + self.0)
    }

    fn until(&self, time: Time) -> Sleep<'_> {
        let time = Time::from_millis(time.as_millis() - self.0);
        Box::pin(async move { SystemClock.until(time).await })
    }
}

/// Waits for a time, a child and a signal, and says something before and after each.
async fn publish(world: &World) {
    let note = |id: &str| {
        sequence(
            format!("{id}-both"),
            [call(id, "note"), log(format!("{id}-said"), id)],
        )
    };
    world.publish(workflow("child").root(note("child"))).await;
    for (id, commit) in [("burst", Commit::Burst), ("step", Commit::Step)] {
        let steps = [
            note("first"),
            delay("nap", "5ms"),
            note("second"),
            execute_workflow("bill", "child"),
            event("wait", "Go"),
            note("last"),
        ];
        let order = workflow(id).commit(commit);
        world.publish(order.root(sequence("all", steps))).await;
    }
}

/// What a node was asked is done, or it says that another node does it.
fn done_or_fenced<T: std::fmt::Debug>(answer: Result<T, Error>) -> bool {
    answer.map_or_else(
        |error| {
            assert_eq!(error.kind(), ErrorKind::Fenced, "{error}");
            false
        },
        |_| true,
    )
}

/// Starts one here, and tells it something there.
async fn start_and_tell(number: usize, here: &World, there: &World) -> bool {
    let (id, mut to) = (format!("i{number}"), Addressee::default());
    let create = of(["burst", "step"][number / 3 % 2]).correlation(&id);
    let started = done_or_fenced(joined(here.spawn_start(&id, create)).await);
    to.correlation = Some(id);
    let sender = there.runtime().sender();
    let told = soon(sender.send(event_called("Go").to(to))).await;
    done_or_fenced(told) && started
}

/// Ends when all are over.
async fn until_over(world: &World) {
    soon(async {
        loop {
            let all = world.store.list(Filter::default()).await.unwrap();
            let over = |status| status == SubStatus::Finished;
            if all.len() == 2 * INSTANCES && all.iter().all(|one| over(one.state.sub_status)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Others take what a slow node has in hand, because by their clocks it has had it for too long; so some of its steps are
/// begun again. What counts is each of them once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_nodes_whose_clocks_are_wrong_by_a_minute_everything_counts_once() {
    let place = Place::new();
    let right = World::with(|builder| place.join(builder).clock(SystemClock)).await;
    let another = |by| right.node(|builder| place.join(builder).clock(Skewed(by)));
    let (fast, slow) = (another(MINUTE), another(-MINUTE));
    let nodes = [&right, &fast, &slow];
    publish(&right).await;
    for node in nodes {
        soon(node.runtime().start()).await.unwrap();
    }
    let mut refused = 0;
    for number in 0..INSTANCES {
        let (here, there) = (nodes[number % 3], nodes[(number + 1) % 3]);
        refused += usize::from(!start_and_tell(number, here, there).await);
    }
    until_over(&right).await;
    for number in 0..INSTANCES {
        let said = right.logged(&format!("i{number}")).await;
        assert_eq!(said, ["first", "second", "last"]);
    }
    let again = right.notes.all().len() - 4 * INSTANCES;
    println!(
        "{refused} of {INSTANCES} were told that another node does it, {again} steps were begun again"
    );
    assert!(right.waiting().await.is_empty());
    assert_eq!(right.store.dead_letters().await.unwrap(), []);
    for node in nodes {
        soon(node.runtime().drain()).await;
    }
}
