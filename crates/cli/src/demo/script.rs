//! What happens in a demo, in which order: nodes, orders, a kill in the middle, and what came of it.

use super::{
    board::Board,
    fleet::Fleet,
    listen::{Commit, listen},
    orders::{self, Count},
    place::Place,
    proof,
    screen::Screen,
    summary::{self, Summary},
};
use crate::{
    args::DemoCluster,
    client::Node,
    exit::{self, End, Ended},
    show,
};
use std::time::{Duration, Instant};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::{MissedTickBehavior, interval, timeout},
};

/// Between two orders, so that there is something to see.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the store is asked how far the orders are.
const LOOK: Duration = Duration::from_millis(200);

/// How long after the last order what nodes tell may still come. What a node wrote down in the moment in which it was
/// killed, it told nobody.
const GRACE: Duration = Duration::from_secs(1);

/// No demo takes longer, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(180);

/// What is under way.
struct Scene<'a> {
    args: &'a DemoCluster,
    run: String,
    fleet: &'a mut Fleet,
    screen: &'a mut Screen,
    board: Board,
    told: UnboundedReceiver<Commit>,
    count: Count,
    asked_for: u32,
    /// Since when all orders are at their end.
    ended: Option<Instant>,
}

/// Plays it to its end.
pub(super) async fn play(
    args: &DemoCluster,
    place: &Place,
    fleet: &mut Fleet,
    screen: &mut Screen,
) -> Ended {
    let (began, run) = (Instant::now(), orders::run_id());
    let told = start(args, place, &run, fleet, screen).await?;
    let mut scene = Scene {
        args,
        run,
        fleet,
        screen,
        board: Board::default(),
        told,
        count: Count::default(),
        asked_for: 0,
        ended: None,
    };
    let limit = End::new(
        exit::FOUND,
        format!("the orders were not finished within {LIMIT:?}"),
    );
    timeout(LIMIT, scene.work()).await.map_err(|_| limit)??;
    let mut proof = proof::read(&scene.any()?, &scene.run, scene.wanted()).await?;
    if scene.board.killed.is_none() {
        proof
            .wrong
            .push("no node was killed: none had anything in hand".to_owned());
    }
    let (board, fleet) = (&scene.board, &*scene.fleet);
    let summary = Summary {
        took: began.elapsed(),
        proof: &proof,
        board,
        fleet,
    };
    match args.json {
        true => show::print(summary.json()),
        false => scene.screen.end(&summary.lines(place)),
    }
    Ok(if proof.wrong.is_empty() {
        0
    } else {
        exit::FOUND
    })
}

/// Nodes, and what they shall do.
async fn start(
    args: &DemoCluster,
    place: &Place,
    run: &str,
    fleet: &mut Fleet,
    screen: &mut Screen,
) -> Ended<UnboundedReceiver<Commit>> {
    let (tell, told) = unbounded_channel();
    for number in 0..args.nodes {
        let node = fleet.add(place, run).await?;
        let (name, pid, url) = (&node.name, node.pid, &node.url);
        screen.event(&format!("node {name} is ready: process {pid}, {url}"));
        let by = usize::try_from(number).unwrap_or_default();
        listen(by, Node::at(url)?, tell.clone());
    }
    orders::publish(&Node::at(&fleet.members[0].url)?).await?;
    let (orders, nodes) = (args.orders, args.nodes);
    screen.event(&format!(
        "{orders} orders are started, each through another of the {nodes} nodes"
    ));
    Ok(told)
}

impl Scene<'_> {
    /// Until all orders are finished, and others have gone on with what the killed node had in hand.
    async fn work(&mut self) -> Ended<()> {
        let (mut pause, mut look) = (interval(PAUSE), interval(LOOK));
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.is_over() {
            tokio::select! {
                Some(commit) = self.told.recv() => self.heard(commit).await,
                _ = pause.tick(), if self.asked_for < self.args.orders => {
                    orders::start(self.fleet, &self.run, self.asked_for).await?;
                    self.asked_for += 1;
                }
                _ = look.tick() => self.look().await?,
            }
        }
        let finished = self.count.finished;
        self.screen
            .event(&format!("{finished} orders are finished"));
        Ok(())
    }

    fn is_over(&self) -> bool {
        let is_late = |ended: Instant| ended.elapsed() > GRACE;
        self.ended
            .is_some_and(|ended| self.board.is_taken_over() || is_late(ended))
    }

    fn wanted(&self) -> usize {
        usize::try_from(self.args.orders).unwrap_or(usize::MAX)
    }

    /// A node that lives.
    fn any(&self) -> Ended<Node> {
        let living = self.fleet.living(0)?.into_iter().next();
        living.ok_or_else(|| End::new(exit::UNAVAILABLE, "no node is left"))
    }

    async fn heard(&mut self, commit: Commit) {
        if let Some((by, after)) = self.board.apply(commit, Instant::now()) {
            let (name, after) = (&self.fleet.members[by].name, after.as_secs_f64());
            let line = format!("node {name} goes on with one of them, {after:.1} s after the kill");
            self.screen.event(&line);
        }
        // In the middle: with half of the orders there, and with something in hand.
        let is_middle = self.asked_for * 2 >= self.args.orders;
        let victim = self
            .board
            .busiest()
            .filter(|_| is_middle && self.board.killed.is_none());
        if let Some(victim) = victim {
            self.kill(victim).await;
        }
    }

    async fn kill(&mut self, victim: usize) {
        self.fleet.kill(victim).await;
        self.board.kill(victim, Instant::now());
        let (name, runs) = (
            &self.fleet.members[victim].name,
            self.board.work(victim).runs,
        );
        let s = if runs == 1 { "" } else { "s" };
        self.screen.event(&format!(
            "node {name} is killed (kill -9) with {runs} instance{s} in hand"
        ));
        let lease = summary::LEASE.as_secs();
        self.screen.event(&format!(
            "nobody may touch them before its lease is over: {lease} s from its last sign of life"
        ));
    }

    async fn look(&mut self) -> Ended<()> {
        let found = orders::all(&self.any()?, "demo-order", &self.run).await?;
        self.count = Count::of(&found);
        if self.count.finished + self.count.failed >= self.wanted() {
            self.ended.get_or_insert_with(Instant::now);
        }
        if self.screen.has_table() {
            let table = summary::table(&self.board, self.fleet, self.count);
            self.screen.draw(table);
        }
        Ok(())
    }
}
