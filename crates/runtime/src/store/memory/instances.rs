//! Instances, in memory.

use super::{Inner, MemoryStore, fenced};
use crate::store::{
    Claim, Claimed, Commit, Committed, Creation, Filter, InstanceStore, NewInstance, Position,
    Record,
};
use lockwork_core::workflow::{
    Answer, Bookmark, BookmarkId, Error, ErrorKind, InstanceId, Result, Status, StimulusHash, Time,
};
use lockwork_flow::{Entry, State, Task};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

#[derive(Debug, Default)]
pub(super) struct Instances {
    pub(super) rows: HashMap<InstanceId, Row>,
    pub(super) by_hash: HashMap<StimulusHash, BTreeMap<BookmarkId, InstanceId>>,
    activations: HashMap<String, InstanceId>,
    keys: HashMap<String, InstanceId>,
    tasks: BTreeMap<BookmarkId, Task>,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) state: Arc<State>,
    version: u64,
    epoch: u64,
    claim: String,
    committed_by: Option<String>,
    pub(super) cancel: bool,
    activation: Option<String>,
    journal: Vec<Entry>,
    order: u64,
}

impl Row {
    fn record(&self) -> Record {
        Record {
            state: Arc::clone(&self.state),
            version: self.version,
            epoch: self.epoch,
            position: Position::new(self.order),
        }
    }
}

fn missing(instance: &InstanceId) -> Error {
    Error::new(ErrorKind::NotFound, "there is no such instance").with("instance", instance)
}

impl Inner {
    fn create(&mut self, new: NewInstance) -> Result<Creation> {
        self.check_held(new.consumes.as_ref())?;
        let now = new.state.created;
        let creation = match self.refusal(&new) {
            Some(refusal) => refusal,
            None => {
                let ends = new.consumes.as_ref();
                let ends = ends.is_some_and(|held| self.errands.is_cancelled(held));
                let instance = new.state.instance.clone();
                self.insert(new.state, new.activation, new.key);
                if let Some(row) = self.instances.rows.get_mut(&instance) {
                    row.cancel = ends;
                }
                if let Some(claim) = new.claim {
                    self.claim(&instance, &claim);
                }
                Creation::New(
                    new.errand
                        .and_then(|(errand, until)| self.add_held(errand, until))
                        .map(Box::new),
                )
            }
        };
        let done = matches!(creation, Creation::New(_) | Creation::SameKey(_));
        if let Some(held) = new.consumes.filter(|_| done) {
            self.remove_errand(&held.errand.id, now);
        }
        Ok(creation)
    }

    /// Why it is not created.
    fn refusal(&self, new: &NewInstance) -> Option<Creation> {
        let same = new
            .key
            .as_ref()
            .and_then(|key| self.instances.keys.get(key));
        if let Some(same) = same {
            return Some(Creation::SameKey(same.clone()));
        }
        if self.instances.rows.contains_key(&new.state.instance) {
            return Some(Creation::Exists);
        }
        let other = new
            .activation
            .as_ref()
            .and_then(|key| self.instances.activations.get(key));
        other.map(|other| Creation::Refused(other.clone()))
    }

    fn insert(&mut self, state: State, activation: Option<String>, key: Option<String>) {
        let instance = state.instance.clone();
        if let Some(key) = key {
            self.instances.keys.insert(key, instance.clone());
        }
        let runs = state.sub_status.status() == Status::Running;
        if let Some(activation) = activation.clone().filter(|_| runs) {
            self.instances
                .activations
                .insert(activation, instance.clone());
        }
        let row = Row {
            state: Arc::new(state),
            version: 0,
            epoch: 0,
            claim: String::new(),
            committed_by: None,
            cancel: false,
            activation,
            journal: Vec::new(),
            order: self.count(),
        };
        self.instances.rows.insert(instance, row);
    }

    fn claim(&mut self, instance: &InstanceId, id: &str) -> Option<Claimed> {
        let row = self.instances.rows.get_mut(instance)?;
        row.epoch += 1;
        id.clone_into(&mut row.claim);
        Some(Claimed {
            claim: Claim {
                instance: instance.clone(),
                epoch: row.epoch,
                id: id.to_owned(),
                version: row.version,
            },
            state: Arc::clone(&row.state),
            cancel: row.cancel,
            committed_by: row.committed_by.clone(),
        })
    }

    fn commit(&mut self, commit: Commit) -> Result<Committed> {
        self.check_commit(&commit)?;
        let Commit {
            claim, state, now, ..
        } = commit;
        let instance = claim.instance;
        let over = state.sub_status.status() == Status::Finished;
        commit
            .removed
            .iter()
            .for_each(|id| self.forget_bookmark(&instance, id));
        let Some(row) = self.instances.rows.get_mut(&instance) else {
            return Err(missing(&instance));
        };
        let moved = row.state.correlation != state.correlation;
        row.state = state;
        row.version += 1;
        row.committed_by = Some(claim.id);
        row.cancel &= !over;
        row.journal.extend(commit.journal);
        let mut committed = Committed {
            version: row.version,
            cancel: row.cancel,
            continues: None,
        };
        if let Some(key) = row.activation.clone() {
            match over {
                true => self.instances.activations.remove(&key),
                false => self.instances.activations.insert(key, instance.clone()),
            };
        }
        self.add_bookmarks(&instance, &commit.added, now);
        if moved {
            self.offer_all(&instance, now);
        }
        if over {
            self.stimuli.forget(&instance);
        }
        let jobs = commit.jobs.into_iter();
        jobs.for_each(|job| self.jobs.add(instance.clone(), job));
        self.instances.tasks.extend(commit.tasks);
        commit.errands.into_iter().for_each(|errand| {
            self.add_errand(errand);
        });
        if let Some((errand, until)) = commit.continues {
            committed.continues = self.add_held(errand, until);
        }
        match commit.consumes {
            Some(held) if commit.stays => self.errands.got_on(&held.errand.id),
            Some(held) => drop(self.remove_errand(&held.errand.id, now)),
            None => {}
        }
        Ok(committed)
    }

    /// Everything that could keep a commit from counting, before anything is changed.
    fn check_commit(&self, commit: &Commit) -> Result<()> {
        let claim = &commit.claim;
        let row = self.instances.rows.get(&claim.instance);
        let row = row.ok_or_else(|| missing(&claim.instance))?;
        if (row.epoch, &row.claim, row.version) != (claim.epoch, &claim.id, claim.version) {
            return Err(fenced("somebody else has claimed this instance since")
                .with("instance", &claim.instance));
        }
        self.check_held(commit.consumes.as_ref())?;
        self.check_activation(row.activation.as_ref(), &claim.instance)
    }

    fn check_activation(&self, key: Option<&String>, instance: &InstanceId) -> Result<()> {
        let other = key.and_then(|key| self.instances.activations.get(key));
        match other.filter(|other| *other != instance) {
            None => Ok(()),
            Some(other) => {
                let message = "another instance like this one runs, and one only may";
                Err(Error::new(ErrorKind::Conflict, message).with("running", other))
            }
        }
    }

    fn add_bookmarks(&mut self, instance: &InstanceId, added: &[Bookmark], now: Time) {
        for bookmark in added {
            let same = self.instances.by_hash.entry(bookmark.hash).or_default();
            same.insert(bookmark.id.clone(), instance.clone());
            self.offer(&bookmark.id, instance, now);
        }
    }

    /// Other stimuli fit an instance with another correlation.
    fn offer_all(&mut self, instance: &InstanceId, now: Time) {
        let row = self.instances.rows.get(instance);
        let waiting = row.into_iter().flat_map(|row| row.state.waiting());
        let ids: Vec<_> = waiting.map(|bookmark| bookmark.id.clone()).collect();
        ids.iter().for_each(|id| self.offer(id, instance, now));
    }

    /// A bookmark is gone, and with it whatever was done for it.
    fn forget_bookmark(&mut self, instance: &InstanceId, id: &BookmarkId) {
        self.hide_bookmark(instance, id);
        self.jobs.remove(id);
        self.instances.tasks.remove(id);
    }

    /// Neither a stimulus nor a time finds a bookmark any more.
    fn hide_bookmark(&mut self, instance: &InstanceId, id: &BookmarkId) {
        let row = self.instances.rows.get(instance);
        let bookmark = row.and_then(|row| row.state.bookmarks.iter().find(|one| one.id == *id));
        if let Some(bookmark) = bookmark {
            if let Some(due) = bookmark.due {
                self.stimuli
                    .timers
                    .remove(&(due, id.clone(), instance.clone()));
            }
            if let Some(same) = self.instances.by_hash.get_mut(&bookmark.hash) {
                same.remove(id);
                if same.is_empty() {
                    self.instances.by_hash.remove(&bookmark.hash.clone());
                }
            }
        }
    }

    fn delete(&mut self, instance: &InstanceId) -> bool {
        let Some(row) = self.instances.rows.get(instance) else {
            return false;
        };
        let bookmarks: Vec<_> = row
            .state
            .bookmarks
            .iter()
            .map(|one| one.id.clone())
            .collect();
        bookmarks
            .iter()
            .for_each(|id| self.forget_bookmark(instance, id));
        self.free_activation(instance);
        self.instances.rows.remove(instance);
        self.instances.keys.retain(|_, of| of != instance);
        for id in self.errands.of(instance) {
            self.remove_errand(&id, Time::default());
        }
        self.stimuli.forget(instance);
        true
    }

    fn forget(&mut self, before: Time, limit: usize) -> usize {
        let over = self.instances.rows.values().filter_map(|row| {
            let finished = row.state.finished.filter(|finished| *finished < before)?;
            let over = row.state.sub_status.status() == Status::Finished;
            over.then(|| (finished, row.order, row.state.instance.clone()))
        });
        let mut over: Vec<_> = over.collect();
        over.sort_unstable();
        over.truncate(limit);
        let forgotten = over.iter();
        forgotten.filter(|(_, _, id)| self.delete(id)).count()
    }

    /// Another one may run in its place.
    fn free_activation(&mut self, instance: &InstanceId) {
        let row = self.instances.rows.get(instance);
        let key = row.and_then(|row| row.activation.clone());
        let mine = |key: &String| self.instances.activations.get(key) == Some(instance);
        if let Some(key) = key.filter(mine) {
            self.instances.activations.remove(&key);
        }
    }

    fn import(&mut self, mut state: State, activation: Option<String>) -> Result<()> {
        let instance = state.instance.clone();
        self.check_activation(activation.as_ref(), &instance)?;
        let before = self.instances.rows.get(&instance);
        let (epoch, version) = before.map_or((0, 0), |row| (row.epoch, row.version));
        let journal = before.map(|row| row.journal.clone()).unwrap_or_default();
        // What happened stays in the journal, and the next entry comes after it.
        let entries = journal.last().map_or(0, |entry| entry.sequence + 1);
        state.entries = state.entries.max(entries);
        let old = before.into_iter().flat_map(|row| &row.state.bookmarks);
        let old: Vec<_> = old.map(|one| one.id.clone()).collect();
        let (bookmarks, now) = (state.waiting().to_vec(), state.created);
        for id in &old {
            // What is done for a bookmark that comes back is still wanted.
            match bookmarks.iter().any(|one| one.id == *id) {
                true => self.hide_bookmark(&instance, id),
                false => self.forget_bookmark(&instance, id),
            }
        }
        self.free_activation(&instance);
        self.insert(state, activation, None);
        if let Some(row) = self.instances.rows.get_mut(&instance) {
            (row.epoch, row.version, row.journal) = (epoch + 1, version + 1, journal);
        }
        self.add_bookmarks(&instance, &bookmarks, now);
        Ok(())
    }

    fn list(&self, filter: &Filter) -> Vec<Record> {
        let fits = |row: &&Row| {
            let of = |id| self.definitions.is_of(&row.state.version, id);
            filter.definition.as_ref().is_none_or(of)
                && filter
                    .sub_status
                    .is_none_or(|wanted| row.state.sub_status == wanted)
                && (filter.correlation.is_none() || row.state.correlation == filter.correlation)
                && filter
                    .over
                    .is_none_or(|over| over == (row.state.sub_status.status() == Status::Finished))
                && filter.after.is_none_or(|after| row.order < after.number())
        };
        let mut rows: Vec<_> = self.instances.rows.values().filter(fits).collect();
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.order));
        rows.truncate(filter.limit.unwrap_or(usize::MAX));
        rows.into_iter().map(Row::record).collect()
    }
}

impl InstanceStore for MemoryStore {
    fn create(&self, new: NewInstance) -> Answer<'_, Creation> {
        self.answer(|inner| inner.create(new))
    }

    fn claim<'a>(&'a self, instance: &'a InstanceId, id: &'a str) -> Answer<'a, Option<Claimed>> {
        self.answer(|inner| Ok(inner.claim(instance, id)))
    }

    fn commit(&self, commit: Commit) -> Answer<'_, Committed> {
        self.answer(|inner| inner.commit(commit))
    }

    fn load<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<Record>> {
        self.answer(|inner| Ok(inner.instances.rows.get(instance).map(Row::record)))
    }

    fn list(&self, filter: Filter) -> Answer<'_, Vec<Record>> {
        self.answer(|inner| Ok(inner.list(&filter)))
    }

    fn journal<'a>(&'a self, instance: &'a InstanceId, from: u64) -> Answer<'a, Vec<Entry>> {
        self.answer(|inner| {
            let row = inner.instances.rows.get(instance);
            let entries = row.into_iter().flat_map(|row| &row.journal);
            Ok(entries
                .filter(|entry| entry.sequence >= from)
                .cloned()
                .collect())
        })
    }

    fn request_cancel<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, Option<bool>> {
        self.answer(|inner| {
            let Some(row) = inner.instances.rows.get_mut(instance) else {
                inner.errands.cancel_start(instance);
                return Ok(None);
            };
            let over = row.state.sub_status.status() == Status::Finished;
            row.cancel |= !over;
            Ok(Some(over))
        })
    }

    fn delete<'a>(&'a self, instance: &'a InstanceId) -> Answer<'a, bool> {
        self.answer(|inner| Ok(inner.delete(instance)))
    }

    fn forget(&self, before: Time, limit: usize) -> Answer<'_, usize> {
        self.answer(|inner| Ok(inner.forget(before, limit)))
    }

    fn import(&self, state: State, activation: Option<String>) -> Answer<'_, ()> {
        self.answer(|inner| inner.import(state, activation))
    }

    fn tasks(&self) -> Answer<'_, Vec<Task>> {
        self.answer(|inner| Ok(inner.instances.tasks.values().cloned().collect()))
    }
}
