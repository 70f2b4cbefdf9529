//! Stimuli by chance, and interruptions by another chance, so that both runs of a case see the same stimuli.

use super::{checking, random::Random};
use crate::support::{Instance, NOON, block_on, values};
use lockwork_core::workflow::{Bookmark, Run, Status, Target, Value};
use lockwork_flow::{Burst, Outside, Progress, State};
use serde_json::json;
use std::sync::Arc;

/// Whether an instance is run in one piece.
pub(super) enum Pieces {
    One,
    /// Between two steps, once in so many times, its state is written and read again.
    Many(Random, usize),
}

pub(super) struct Driving {
    instance: Instance,
    random: Random,
    pieces: Pieces,
    /// Bookmarks that were there at some time.
    seen: Vec<Bookmark>,
}

impl Driving {
    pub(super) fn new(instance: Instance, seed: u64, pieces: Pieces) -> Self {
        Self {
            instance,
            random: Random::new(seed ^ 0x5eed),
            pieces,
            seen: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> Instance {
        self.burst(Run::default());
        for _ in 0..12 {
            checking::check(&self.instance);
            if !self.stimulus() {
                break;
            }
        }
        checking::check(&self.instance);
        self.instance
    }

    /// Something happens, unless nothing can any more.
    fn stimulus(&mut self) -> bool {
        let state = &self.instance.state;
        let waiting = state.waiting().to_vec();
        let failed = state.incidents.first().map(|one| one.execution.clone());
        if state.sub_status.status() == Status::Finished && failed.is_none() {
            return false;
        }
        self.seen.extend(waiting.iter().cloned());
        match self.random.below(16) {
            0 => self.cancel(),
            1 => self.burst(Run::default()),
            2..5 if failed.is_some() => {
                let failed = failed.into_iter().next();
                failed
                    .into_iter()
                    .for_each(|one| self.burst(Run::at(Target::Retry(one))));
            }
            5 if !self.seen.is_empty() => {
                let one = self.random.one_of(&self.seen).clone();
                self.resume(&one);
            }
            6..9 => self.later(&waiting),
            _ if !waiting.is_empty() => {
                let one = self.random.one_of(&waiting).clone();
                self.resume(&one);
            }
            _ => {}
        }
        true
    }

    fn resume(&mut self, bookmark: &Bookmark) {
        let status = *self.random.one_of(&["finished", "faulted"]);
        let child = bookmark.name == "Child";
        let last = self
            .instance
            .effects
            .iter()
            .rev()
            .find_map(|effect| match effect {
                lockwork_flow::Effect::Dispatch { instance, .. } => Some(instance.clone()),
                _ => None,
            });
        let input = match child {
            true => json!({ "instance": last, "status": status, "output": {} }),
            false => json!({ "v": self.random.below(9) }),
        };
        let run = Run::at(Target::Bookmark(bookmark.id.clone()));
        self.burst(run.input(values(input)));
    }

    /// Until the next one is due.
    fn later(&mut self, waiting: &[Bookmark]) {
        let Some(due) = waiting.iter().filter_map(|bookmark| bookmark.due).min() else {
            return;
        };
        let now = self.instance.clock.now().max(due);
        self.instance.clock.set(now.as_millis().max(NOON));
        let due: Vec<_> = waiting
            .iter()
            .filter(|one| one.due.is_some_and(|due| due <= now))
            .collect();
        for bookmark in due {
            let run = Run::at(Target::Bookmark(bookmark.id.clone()));
            self.burst(run);
        }
    }

    fn cancel(&mut self) {
        let mut burst = self.instance.burst();
        burst.cancel_all();
        self.instance.keep(burst);
    }

    fn burst(&mut self, run: Run) {
        let mut burst = self.instance.burst();
        burst.begin(run).unwrap();
        loop {
            if let Pieces::Many(cuts, often) = &mut self.pieces
                && cuts.once_in(*often)
            {
                burst = self.cut(burst);
            }
            if block_on(burst.step()).unwrap() == Progress::Idle {
                break;
            }
        }
        self.instance.keep(burst);
    }

    /// Another node goes on.
    fn cut(&mut self, burst: Burst) -> Burst {
        self.instance.keep(burst);
        let written = serde_json::to_string(&self.instance.state).unwrap();
        let read: Value = serde_json::from_str(&written).unwrap();
        self.instance.state = State::from_value(read).unwrap();
        let clock = Arc::clone(&self.instance.clock);
        Burst::new(
            Arc::clone(&self.instance.graph),
            self.instance.state.clone(),
            clock,
        )
        .unwrap()
    }
}
