//! Creating, claiming and changing instances.

use super::{Both, chance::Chance};
use crate::support::{entry, soon};
use lockwork_core::workflow::{Bookmark, BookmarkId, SubStatus, Value, VersionId};
use lockwork_flow::{Job, State, Task};
use lockwork_runtime::store::{
    Claimed, Commit, Creation, Errand, ErrandKind, Held, InstanceStore, NewInstance, NewJob,
};
use std::sync::Arc;

impl Both {
    pub(super) async fn create(&mut self) {
        let mut state = State::new(
            self.chance.instance(),
            VersionId::new("w:1").unwrap(),
            self.now,
        );
        state.correlation = self.chance.some(2, Chance::key);
        let new = NewInstance {
            state,
            activation: self.chance.some(3, Chance::key),
            key: self
                .chance
                .some(3, |chance| format!("{}/{}", chance.key(), chance.below(20))),
            errand: self
                .chance
                .one_in(2)
                .then(|| (self.new_errand(), self.later())),
            consumes: None,
            claim: self.chance.some(3, Chance::key),
        };

        let asked: Vec<_> = new.errand.iter().map(|(errand, _)| errand).collect();
        let (memory, sqlite) = self.some_other(&asked);
        self.log.push(format!("create {new:?} consumes {memory:?}"));
        let memory = NewInstance {
            consumes: memory,
            ..new.clone()
        };
        let sqlite = NewInstance {
            consumes: sqlite,
            ..new
        };
        let memory = soon(self.memory.create(memory))
            .await
            .map_err(|error| error.kind());
        let sqlite = soon(self.sqlite.create(sqlite))
            .await
            .map_err(|error| error.kind());
        match (memory, sqlite) {
            (Ok(Creation::New(memory)), Ok(Creation::New(sqlite))) => {
                let held = |one: Option<Box<Held>>| one.into_iter().map(|held| *held).collect();
                self.keep((held(memory), held(sqlite)));
            }
            other => self.same(&other),
        }
    }

    pub(super) async fn claim(&mut self) {
        let (instance, id) = (self.chance.instance(), format!("claim{}", self.count()));
        self.log.push(format!("claim {instance} {id}"));
        let memory = soon(self.memory.claim(&instance, &id)).await.unwrap();
        let sqlite = soon(self.sqlite.claim(&instance, &id)).await.unwrap();
        self.same(&(&memory, &sqlite));
        self.claims.extend(memory);
    }

    /// What becomes of an instance in a commit.
    pub(super) fn next_state(
        &mut self,
        claimed: &Claimed,
    ) -> (State, Vec<Bookmark>, Vec<BookmarkId>) {
        let mut state = State::clone(&claimed.state);
        let waiting = state.waiting().to_vec();
        let mut removed = Vec::new();
        state.bookmarks.clear();
        if !self.chance.one_in(5) {
            state.sub_status = SubStatus::Suspended;
            state.finished = None;
            state.bookmarks = waiting.clone();
            state.bookmarks.retain(|_| !self.chance.one_in(3));
        } else {
            state.sub_status = SubStatus::Faulted;
            state.finished = Some(self.now);
        }
        for one in &waiting {
            if !state.bookmarks.contains(one) {
                removed.push(one.id.clone());
            }
        }
        let mut added = Vec::new();
        if state.sub_status == SubStatus::Suspended {
            for _ in 0..self.chance.below(3) {
                added.push(self.new_bookmark(&state.instance.clone()));
            }
            state.bookmarks.extend(added.iter().cloned());
        }
        if self.chance.one_in(4) {
            state.correlation = self.chance.some(2, Chance::key);
        }
        (state, added, removed)
    }

    pub(super) async fn commit(&mut self) {
        if self.claims.is_empty() {
            return;
        }
        let which = self.chance.index(self.claims.len());
        let claimed = self.claims.swap_remove(which);
        let (mut state, added, removed) = self.next_state(&claimed);
        let journal: Vec<_> = (0..self.chance.below(3))
            .map(|n| entry(state.entries + n))
            .collect();
        state.entries += journal.len() as u64;
        let job = Job {
            kind: "shell".to_owned(),
            with: Value::Null,
            key: "key".to_owned(),
        };
        let task = Task {
            id: "task".to_owned(),
            name: "do".to_owned(),
            payload: Value::Null,
            instance: state.instance.clone(),
        };
        let wanted = added.first().map(|one| one.id.clone());
        let job = wanted
            .clone()
            .filter(|_| self.chance.one_in(2))
            .map(|bookmark| NewJob { bookmark, job });
        let task = wanted
            .filter(|_| self.chance.one_in(3))
            .map(|bookmark| (bookmark, task));
        let errands = self.chance.one_in(2).then(|| self.new_errand());
        // What resumes a bookmark is never asked for by the commit that adds it.
        let resumes = |errand: &Errand| matches!(errand.kind, ErrandKind::Deliver { .. });
        let errands: Vec<_> = errands.into_iter().filter(|one| !resumes(one)).collect();
        let continues = self
            .chance
            .one_in(3)
            .then(|| (self.new_errand(), self.later()));
        let continues = continues.filter(|(errand, _)| !resumes(errand));
        let commit = Commit {
            claim: claimed.claim,
            added,
            removed,
            journal,
            consumes: None,
            stays: self.chance.one_in(3),
            errands,
            jobs: job.into_iter().collect(),
            tasks: task.into_iter().collect(),
            continues,
            now: self.now,
            state: Arc::new(state),
        };

        let continues = commit.continues.iter().map(|(errand, _)| errand);
        let asked: Vec<_> = commit.errands.iter().chain(continues).collect();
        let (memory, sqlite) = self.some_other(&asked);
        self.log.push(format!("{commit:?} consumes {memory:?}"));
        let memory = Commit {
            consumes: memory,
            ..commit.clone()
        };
        let sqlite = Commit {
            consumes: sqlite,
            ..commit
        };
        let mut memory = soon(self.memory.commit(memory))
            .await
            .map_err(|error| error.kind());
        let mut sqlite = soon(self.sqlite.commit(sqlite))
            .await
            .map_err(|error| error.kind());
        if let (Ok(memory), Ok(sqlite)) = (&mut memory, &mut sqlite) {
            let (memory, sqlite) = (memory.continues.take(), sqlite.continues.take());
            self.keep((memory.into_iter().collect(), sqlite.into_iter().collect()));
        }
        self.same(&(memory, sqlite));
    }
}
