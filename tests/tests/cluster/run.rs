//! One run: load, faults, quiet, and what is left.

use crate::{
    asked,
    faults::{Fault, Faults},
    left::until_nothing_is_left,
    locks::LockServer,
    member::{Event, Member, Ready},
    stuck,
    undisturbed::{all_over, store_tasks, undisturbed},
};
use lockwork::{runtime::Store, workflow::InstanceId};
use lockwork_conformance::{
    Proxy, within,
    workflows::{Journals, Order, Plan, difference, journals},
};
use lockwork_servers::{Postgres, Settings};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::{sync::mpsc, task::JoinSet, time::sleep};

const NODES: usize = 3;

type Members = JoinSet<lockwork_conformance::workflows::Node>;

/// Short, so that a run sees it pass many times.
const LEASE: Duration = Duration::from_secs(2);

/// How long after the last fault everything must be over, besides what a lease is longer than usual.
const QUIET: Duration = Duration::from_secs(30);

/// A cluster, and what was done to it.
#[derive(Debug)]
pub(crate) struct Run {
    server: LockServer,
    lease: Duration,
    store: Arc<dyn Store>,
    place: Postgres,
    /// Between the nodes and their store.
    network: Proxy,
    witness: TempDir,
    ready: Ready,
    tasks: Vec<Order>,
    rest: Vec<InstanceId>,
    expected: Journals,
}

impl Run {
    /// Disturbs it in every way, and fails if anything was lost, done twice, or is stuck.
    pub(crate) async fn of(server: LockServer) {
        let (seed, seconds) = (asked("LOCKWORK_SEED", 17), asked("LOCKWORK_SECONDS", 12));
        let plan = Plan::new(seed, asked("LOCKWORK_INSTANCES", seconds * 4)).unwrap();
        let mut run = Self::new(server, LEASE, &plan).await;
        let mut faults = Faults::new(seed, NODES, asked("LOCKWORK_FAULTS", 0) as usize);
        let (members, events) = run.members(NODES);
        run.disturb(&plan, &mut faults, &events, Duration::from_secs(seconds))
            .await;
        let found = run.over(members, events).await;
        run.check(&found, &format!("seed {seed} {faults}"));
    }

    /// Waits until everything is over, and gives what is left.
    pub(crate) async fn over(
        &mut self,
        mut members: Members,
        events: Vec<mpsc::Sender<Event>>,
    ) -> Journals {
        let quiet = Instant::now();
        let more = self.server.lease(LEASE).saturating_sub(LEASE);
        let over = async {
            tokio::select! {
                () = self.until_over() => {}
                ended = members.join_next() => panic!("a node ended by itself: {ended:?}"),
            }
        };
        within(QUIET + more, "every instance is over", over).await;
        let quiet = quiet.elapsed().as_secs_f64();
        println!(
            "{:<10} over after {quiet:.1} s of quiet",
            self.server.name()
        );
        self.assert_ended_alike().await;
        until_nothing_is_left(&*self.store).await;
        drop(events);
        for node in members.join_all().await {
            node.kill().await;
        }
        journals(&*self.store).await.unwrap()
    }

    /// Whatever ended otherwise leaves something too, and waiting for that to go would look like being late.
    async fn assert_ended_alike(&self) {
        let found = journals(&*self.store).await.unwrap();
        for (id, (expected, _)) in &self.expected {
            let (status, lines) = found.get(id).unwrap_or_else(|| panic!("{id} is missing"));
            assert_eq!(status, expected, "{id} ended otherwise: {lines:#?}");
        }
    }

    /// Compares it with what one undisturbed node leaves.
    pub(crate) fn check(&self, found: &Journals, what: &str) {
        let (name, invalid) = (self.server.name(), self.begun_without_a_lock());
        println!(
            "{name:<10} {:>5} instances {what}, {} steps begun without a lock",
            found.len(),
            invalid.len(),
        );
        if let Some(difference) = difference(&self.expected, found) {
            panic!("{name}, {what}: {difference}");
        }
        assert_eq!(invalid, [""; 0], "steps begun without a lock");
    }

    pub(crate) async fn new(server: LockServer, lease: Duration, plan: &Plan) -> Self {
        let place = Postgres::start(Settings::new()).unwrap();
        let network = Proxy::start(place.port()).await.unwrap();
        Self {
            expected: undisturbed(plan).await,
            store: lockwork::store::connect(&url(&place)).await.unwrap(),
            witness: tempfile::tempdir().unwrap(),
            ready: Ready::default(),
            tasks: Vec::new(),
            rest: plan.instances.clone(),
            lease,
            server,
            network,
            place,
        }
    }

    fn witness(&self) -> String {
        let file = self.witness.path().join("witness");
        file.display().to_string()
    }

    pub(crate) fn members(&self, nodes: usize) -> (Members, Vec<mpsc::Sender<Event>>) {
        let (mut members, mut events) = (JoinSet::new(), Vec::new());
        for number in 0..nodes {
            let (sender, receiver) = mpsc::channel(1);
            let member = Member {
                name: format!("node-{number}"),
                store: with_options(&self.place.url_at("127.0.0.1", self.network.port())),
                locks: self.server.url(),
                lease: self.lease.as_millis().to_string(),
                witness: self.witness(),
                ready: Arc::clone(&self.ready),
                events: receiver,
            };
            members.spawn(member.work());
            events.push(sender);
        }
        (members, events)
    }

    /// Tells nodes what the plan has, and does things to them meanwhile.
    async fn disturb(
        &mut self,
        plan: &Plan,
        faults: &mut Faults,
        nodes: &[mpsc::Sender<Event>],
        long: Duration,
    ) {
        let began = Instant::now();
        let mut given = 0;
        while began.elapsed() < long || !faults.are_enough() {
            let (pause, fault) = faults.next();
            sleep(pause).await;
            let part = began.elapsed().as_secs_f64() / long.as_secs_f64();
            let upto = (plan.orders.len() as f64 * part).ceil() as usize;
            let upto = upto.min(plan.orders.len());
            self.give(plan.orders[given..upto].iter().cloned());
            given = upto;
            self.look_for_tasks().await;
            if self.happens(fault, nodes).await {
                faults.count(fault);
            }
        }
        self.give(plan.orders[given..].iter().cloned());
    }

    async fn happens(&mut self, fault: Fault, nodes: &[mpsc::Sender<Event>]) -> bool {
        let freeze = Event::Freeze(self.server.lease(LEASE).mul_f64(1.3));
        match fault {
            // One that just begins has its hands full.
            Fault::Kill(node) => nodes[node].try_send(Event::Kill).is_ok(),
            Fault::Freeze(node) => nodes[node].try_send(freeze).is_ok(),
            Fault::Cut => self.server.cut(),
            Fault::CutStore => {
                self.network.reset();
                true
            }
            Fault::Restart => self.server.restart().await,
            Fault::Empty => self.server.empty().await,
        }
    }

    async fn until_over(&mut self) {
        let (began, mut told) = (Instant::now(), false);
        while !all_over(&*self.store, &mut self.rest).await {
            self.look_for_tasks().await;
            if !told && began.elapsed() > QUIET.mul_f64(0.8) {
                told = true;
                stuck::tell(&self.place, &self.rest).await;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    pub(crate) fn give(&self, orders: impl IntoIterator<Item = Order>) {
        self.ready.lock().unwrap().extend(orders);
    }

    pub(crate) async fn look_for_tasks(&mut self) {
        for order in store_tasks(&*self.store).await {
            if !self.tasks.contains(&order) {
                self.tasks.push(order.clone());
                self.give([order]);
            }
        }
    }

    /// Ends when so many nodes have said that they live.
    pub(crate) async fn until_alive(&self, nodes: usize) {
        let alive = async {
            while self.store.nodes().await.unwrap().len() < nodes {
                sleep(Duration::from_millis(10)).await;
            }
        };
        within(QUIET, "all nodes live", alive).await;
    }

    /// The store is away.
    pub(crate) fn store_stops(&self) {
        self.place.stop().unwrap();
    }

    /// It is there again.
    pub(crate) fn store_is_back(&self) {
        self.place.restart().unwrap();
    }

    fn begun_without_a_lock(&self) -> Vec<String> {
        let told = std::fs::read_to_string(self.witness()).unwrap_or_default();
        told.lines().map(str::to_owned).collect()
    }

    /// Ends when nodes were told everything that they may be told now.
    pub(crate) async fn until_told(&self) {
        let told = async {
            while !self.ready.lock().unwrap().is_empty() {
                sleep(Duration::from_millis(1)).await;
            }
        };
        within(QUIET, "nodes were told what to do", told).await;
    }
}

pub(crate) fn url(store: &Postgres) -> String {
    with_options(&store.url())
}

fn with_options(url: &str) -> String {
    format!("{url}?sslmode=disable&pool=8")
}
