//! One place in the cluster: a node, and another one when that was killed.

use lockwork::runtime::Options;
use lockwork_conformance::{
    generous,
    workflows::{Node, Order},
};
use std::{
    collections::{HashMap, VecDeque},
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::{
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

/// So many orders at once for each node.
const AT_ONCE: usize = 16;

/// What may be told to any node now.
pub(crate) type Ready = Arc<Mutex<VecDeque<Order>>>;

/// What happens to a node.
#[derive(Debug)]
pub(crate) enum Event {
    Kill,
    Freeze(Duration),
    /// It is asked whether it can work. Whoever asks is told why not.
    Ask(oneshot::Sender<Option<String>>),
    /// It is told to end, and another one takes its place. Whoever wants that is told how long it took.
    End(oneshot::Sender<Duration>),
}

/// What is to become of a node that does not stand still.
enum Awake {
    Goes,
    Killed,
    Asked(oneshot::Sender<Option<String>>),
    Ends(oneshot::Sender<Duration>),
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// What a node is told when it begins, besides its name.
    pub(crate) store: String,
    pub(crate) locks: String,
    pub(crate) lease: String,
    pub(crate) witness: String,
    pub(crate) ready: Ready,
    pub(crate) events: mpsc::Receiver<Event>,
}

impl Member {
    async fn node(&self, number: usize) -> Node {
        let program = Path::new(env!("CARGO_BIN_EXE_cluster-node"));
        let name = format!("{}-{number}", self.name);
        let arguments = [&self.store, &self.locks, &name, &self.lease, &self.witness];
        Node::start_with(program, &arguments.map(String::as_str)).await
    }

    /// Works until nobody tells of events any more. Gives the node that is there then.
    pub(crate) async fn work(mut self) -> Node {
        let mut number = 0;
        let mut node = self.node(number).await;
        let mut told: HashMap<u64, Order> = HashMap::new();
        let mut asked = HashMap::new();
        loop {
            self.tell(&mut node, &mut told).await;
            tokio::select! {
                event = self.events.recv() => {
                    let Some(event) = self.until_awake(&node, event).await else {
                        return node;
                    };
                    match event {
                        Awake::Goes => continue,
                        Awake::Asked(by) => {
                            asked.insert(node.tell(&Order::Ready).await, by);
                            continue;
                        }
                        Awake::Killed => node.kill().await,
                        Awake::Ends(took) => took.send(end(node).await).expect("somebody asked"),
                    }
                    asked.clear();
                    self.give_back(told.drain().map(|(_, order)| order));
                    number += 1;
                    node = self.node(number).await;
                }
                answer = node.answer() => {
                    let answer = answer.expect("nobody killed this node");
                    if let Some(by) = asked.remove(&answer.order) {
                        by.send(answer.error).expect("somebody asked");
                        continue;
                    }
                    let order = told.remove(&answer.order).expect("it was told");
                    if answer.error.is_some() {
                        // Orders have keys: given again, they are done once.
                        self.give_back([order]);
                    }
                }
                () = sleep(Duration::from_millis(20)) => {}
            }
        }
    }

    /// Does what an event says, and what others say while the node stands still. `None` when there will be no more.
    async fn until_awake(&mut self, node: &Node, mut event: Option<Event>) -> Option<Awake> {
        loop {
            let long = match event {
                Some(Event::Freeze(long)) => long,
                Some(Event::Kill) => return Some(Awake::Killed),
                Some(Event::Ask(by)) => {
                    node.thaw();
                    return Some(Awake::Asked(by));
                }
                Some(Event::End(took)) => {
                    node.thaw();
                    return Some(Awake::Ends(took));
                }
                None => {
                    node.thaw();
                    return None;
                }
            };
            node.freeze();
            let Ok(next) = timeout(long, self.events.recv()).await else {
                node.thaw();
                return Some(Awake::Goes);
            };
            event = next;
        }
    }

    async fn tell(&self, node: &mut Node, told: &mut HashMap<u64, Order>) {
        while told.len() < AT_ONCE {
            let next = self.ready.lock().unwrap().pop_front();
            let Some(order) = next else { return };
            let number = node.tell(&order).await;
            told.insert(number, order);
        }
    }

    fn give_back(&self, orders: impl IntoIterator<Item = Order>) {
        self.ready.lock().unwrap().extend(orders);
    }
}

/// It ends by itself before its deadline, and says that it has handed over everything.
async fn end(node: Node) -> Duration {
    let (began, deadline) = (Instant::now(), Options::default().drain);
    let ended = node.end(generous(deadline)).await;
    let took = began.elapsed();
    let ended = ended.unwrap_or_else(|| panic!("it did not end within {deadline:?}"));
    // What is not handed over by then is given up, and it says so: that is late, and whatever else it says is wrong.
    let how = match took < deadline {
        true => "it had time left",
        false => "not over after its deadline",
    };
    assert!(
        ended.success(),
        "told to end: {ended} after {took:?}, {how}"
    );
    took
}
