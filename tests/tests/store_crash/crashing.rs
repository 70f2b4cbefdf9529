//! A node that is killed again and again leaves what one leaves that is not.

use crate::{
    asked,
    left::until_nothing_is_left,
    place::Place,
    undisturbed::{all_over, store_tasks, undisturbed},
};
use lockwork::{runtime::Store, workflow::InstanceId};
use lockwork_conformance::{
    within,
    workflows::{Node, Order, Plan, difference, journals},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::{
    collections::{HashMap, VecDeque},
    path::Path,
    time::{Duration, Instant},
};

const INSTANCES: u64 = 500;

/// So many orders at once, so that many bursts are under way when the node is killed.
const AT_ONCE: usize = 48;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_killed_on_sqlite_leave_what_an_undisturbed_one_does() {
    killed_again_and_again(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_killed_on_postgres_leave_what_an_undisturbed_one_does() {
    killed_again_and_again(Place::postgres()).await;
}

async fn killed_again_and_again(place: Place) {
    let (seed, kills) = (asked("LOCKWORK_SEED", 17), asked("LOCKWORK_KILLS", 20));
    let plan = Plan::new(seed, asked("LOCKWORK_INSTANCES", INSTANCES)).unwrap();
    let expected = undisturbed(&plan).await;
    let (store, begun) = (place.store().await, Instant::now());
    let mut work = Work::new(&plan);
    let mut chance = StdRng::seed_from_u64(seed.wrapping_add(1));
    for kill in 0..kills {
        let node = work.node(&place, plan.orders.len(), kill, kills).await;
        let long = Duration::from_millis(chance.random_range(50..700));
        work.cut_short(node, &*store, long).await;
    }
    let node = work.node(&place, plan.orders.len(), kills, kills).await;
    let limit = Duration::from_secs(60);
    within(
        limit,
        "every instance finishes",
        work.until_the_end(node, &*store),
    )
    .await;
    let found = journals(&*store).await.unwrap();
    println!(
        "seed {seed}: {kills} kills in {:?}, {} instances, {} entries in their journals, {} orders given again",
        begun.elapsed(),
        found.len(),
        found.values().map(|(_, lines)| lines.len()).sum::<usize>(),
        work.again,
    );
    if let Some(difference) = difference(&expected, &found) {
        panic!("seed {seed}, {kills} kills: {difference}");
    }
    place.assert_empty().await;
}

/// What nodes are told, and what they have not answered yet.
struct Work {
    /// What is told later.
    rest: VecDeque<Order>,
    /// What may be told now.
    ready: VecDeque<Order>,
    told: HashMap<u64, Order>,
    /// Tasks that were told of already.
    tasks: Vec<Order>,
    /// Instances that were not seen to be over.
    instances: Vec<InstanceId>,
    /// How many orders were given to one more node.
    again: usize,
}

impl Work {
    fn new(plan: &Plan) -> Self {
        Self {
            rest: plan.orders.clone().into(),
            ready: VecDeque::new(),
            told: HashMap::new(),
            tasks: Vec::new(),
            instances: plan.instances.clone(),
            again: 0,
        }
    }

    /// The next node, and its share of the orders: so there is something to do at each kill.
    async fn node(&mut self, place: &Place, orders: usize, kill: u64, kills: u64) -> Node {
        let left = orders as u64 * (kills - kill) / (kills + 1);
        while self.rest.len() as u64 > left {
            self.ready.extend(self.rest.pop_front());
        }
        Node::start(Path::new(env!("CARGO_BIN_EXE_workflow-node")), &place.url()).await
    }

    /// Works with a node for so long, kills it, and takes back what it has not answered.
    async fn cut_short(&mut self, mut node: Node, store: &dyn Store, long: Duration) {
        let work = self.work(&mut node, store, false);
        assert!(tokio::time::timeout(long, work).await.is_err());
        node.kill().await;
        self.again += self.told.len();
        self.ready.extend(self.told.drain().map(|(_, order)| order));
    }

    async fn until_the_end(&mut self, mut node: Node, store: &dyn Store) {
        self.work(&mut node, store, true).await;
        until_nothing_is_left(store).await;
        node.kill().await;
    }

    /// Tells the node what there is. Ends only if told so, when everything is over.
    async fn work(&mut self, node: &mut Node, store: &dyn Store, ends: bool) {
        let mut look = tokio::time::interval(Duration::from_millis(100));
        loop {
            while self.told.len() < AT_ONCE
                && let Some(order) = self.ready.pop_front()
            {
                let number = node.tell(&order).await;
                self.told.insert(number, order);
            }
            tokio::select! {
                answer = node.answer() => {
                    let answer = answer.expect("nobody killed this node");
                    let order = self.told.remove(&answer.order).expect("it was told");
                    if let Some(error) = answer.error {
                        eprintln!("{order:?}: {error}");
                        self.ready.push_back(order);
                    }
                }
                _ = look.tick() => {
                    self.look_for_tasks(store).await;
                    let told = self.told.is_empty() && self.ready.is_empty();
                    if ends && told && all_over(store, &mut self.instances).await {
                        return;
                    }
                }
            }
        }
    }

    async fn look_for_tasks(&mut self, store: &dyn Store) {
        for order in store_tasks(store).await {
            if !self.tasks.contains(&order) {
                self.tasks.push(order.clone());
                self.ready.push_back(order);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_nobody_disturbs_is_the_same_twice() {
    let plan = Plan::new(asked("LOCKWORK_SEED", 17), INSTANCES).unwrap();
    let (first, second) = (undisturbed(&plan).await, undisturbed(&plan).await);
    if let Some(difference) = difference(&first, &second) {
        panic!("{difference}");
    }
}
