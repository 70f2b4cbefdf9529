//! What is said about a demo: a table while it runs, and what came of it.

use super::{
    board::{Board, Killed},
    fleet::Fleet,
    orders::Count,
    place::Place,
    proof::Proof,
};
use crate::{show, table};
use lockwork::distributed::DistributedOptions;
use serde_json::{Value, json};
use std::{sync::LazyLock, time::Duration};

/// How long what a node had in hand outlives it, on nodes of `lockwork serve`.
pub(super) static LEASE: LazyLock<Duration> = LazyLock::new(|| DistributedOptions::default().lease);

/// What came of it.
#[derive(Debug)]
pub(super) struct Summary<'a> {
    pub(super) took: Duration,
    pub(super) proof: &'a Proof,
    pub(super) board: &'a Board,
    pub(super) fleet: &'a Fleet,
}

/// Who is at what.
pub(super) fn table(board: &Board, fleet: &Fleet, count: Count) -> Vec<String> {
    let rows = fleet.members.iter().enumerate().map(|(number, member)| {
        let killed = board.killed.as_ref().filter(|killed| killed.node == number);
        let state = match killed {
            Some(killed) => format!("killed {:.1} s ago", killed.at.elapsed().as_secs_f64()),
            None => "alive".to_owned(),
        };
        let work = board.work(number);
        [
            member.name.clone(),
            state,
            work.runs.to_string(),
            work.steps.to_string(),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let mut lines = table::lines(
        ["NODE", "STATE             ", "IN HAND", "STEPS DONE"],
        &rows,
    );
    lines[0] = show::bold(&lines[0]);
    let Count {
        started,
        runs,
        waits,
        finished,
        failed,
    } = count;
    let failed = match failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    lines.insert(0, String::new());
    lines.push(format!(
        "{}  {started} started: {runs} run, {waits} wait, {finished} finished{failed}",
        show::bold("ORDERS")
    ));
    lines
}

impl Summary<'_> {
    pub(super) fn lines(&self, place: &Place) -> Vec<String> {
        let Proof {
            orders,
            finished,
            parcels,
            steps,
            wrong,
        } = self.proof;
        let mut lines = vec![String::new()];
        if wrong.is_empty() {
            let title = format!("{orders} orders started, {finished} finished, each once");
            lines.push(show::bold(&title));
            lines.push(format!(
                "{parcels} parcels were sent; each of {steps} steps is in its journal once"
            ));
        } else {
            lines.push(show::bold("something is not as it should be"));
            lines.extend(
                wrong
                    .iter()
                    .map(|wrong| format!("  {}", show::harmless(wrong))),
            );
        }
        lines.extend(
            self.board
                .killed
                .as_ref()
                .map(|killed| self.takeover(killed)),
        );
        if let Some(dir) = place.kept() {
            lines.push(format!(
                "look at them: lockwork dev --dir {}",
                dir.display()
            ));
        }
        lines
    }

    fn takeover(&self, killed: &Killed) -> String {
        let (name, lease) = (&self.fleet.members[killed.node].name, LEASE.as_secs());
        let (first, last) = span(killed);
        let (many, last) = (killed.taken.len(), seconds(last));
        let after = match seconds(first) {
            first if first == last => last,
            first => format!("{first} to {last}"),
        };
        format!(
            "node {name} was killed with {many} in hand: others went on after {after} s; its lease was {lease} s"
        )
    }

    pub(super) fn json(&self) -> Value {
        let killed = self.board.killed.as_ref().map(|killed| {
            let (first, last) = span(killed);
            json!({
                "node": self.fleet.members[killed.node].name,
                "inHand": killed.taken.len(),
                "firstTakenOverMs": ms(first),
                "lastTakenOverMs": ms(last),
            })
        });
        json!({
            "once": self.proof.wrong.is_empty(),
            "nodes": self.fleet.members.len(),
            "orders": self.proof.orders,
            "finished": self.proof.finished,
            "parcels": self.proof.parcels,
            "steps": self.proof.steps,
            "wrong": self.proof.wrong,
            "killed": killed,
            "leaseMs": ms(*LEASE),
            "tookMs": ms(self.took),
        })
    }
}

/// The shortest and the longest that others took.
fn span(killed: &Killed) -> (Duration, Duration) {
    let all = || killed.taken.iter().copied();
    (
        all().min().unwrap_or_default(),
        all().max().unwrap_or_default(),
    )
}

fn seconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64())
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
