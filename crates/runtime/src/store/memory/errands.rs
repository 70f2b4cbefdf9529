//! What has to be done, in memory.

use super::{Inner, MemoryStore, fenced};
use crate::store::{
    DeadLetter, Errand, ErrandId, ErrandKind, ErrandStore, Held, Letter, Parts, Reason, Release,
};
use lockwork_core::workflow::{Answer, BookmarkId, InstanceId, Result, Time};
use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(super) struct Errands {
    rows: HashMap<ErrandId, Row>,
    /// By when somebody may be handed them.
    queue: BTreeSet<(Time, u64, ErrandId)>,
    /// Bookmarks that will be resumed by an errand, so that no other is sent there.
    promised: HashMap<BookmarkId, ErrandId>,
}

#[derive(Debug)]
struct Row {
    errand: Errand,
    order: u64,
    free: Time,
    hold: Option<String>,
    attempts: u32,
    /// Whether what it starts shall end at once.
    cancelled: bool,
}

impl Errands {
    pub(super) fn is_promised(&self, bookmark: &BookmarkId) -> bool {
        self.promised.contains_key(bookmark)
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.queue.first().map(|(free, ..)| *free)
    }

    /// Those for an instance that is gone.
    pub(super) fn of(&self, instance: &InstanceId) -> Vec<ErrandId> {
        let rows = self.rows.values().map(|row| &row.errand);
        let rows = rows.filter(|errand| errand.kind.instance() == Some(instance));
        rows.map(|errand| errand.id.clone()).collect()
    }

    /// An instance that was only asked for shall end as soon as it exists.
    pub(super) fn cancel_start(&mut self, instance: &InstanceId) {
        let starts = self.rows.values_mut().filter(|row| {
            matches!(&row.errand.kind, ErrandKind::Start { instance: one, .. } if one == instance)
        });
        starts.for_each(|row| row.cancelled = true);
    }

    pub(super) fn is_cancelled(&self, held: &Held) -> bool {
        let row = self.rows.get(&held.errand.id);
        row.is_some_and(|row| row.cancelled)
    }

    fn held(&self, held: &Held) -> bool {
        let row = self.rows.get(&held.errand.id);
        row.is_some_and(|row| row.hold.as_deref() == Some(&held.hold))
    }

    /// Part of it was done: the rest begins anew.
    pub(super) fn got_on(&mut self, id: &str) {
        if let Some(row) = self.rows.get_mut(id) {
            row.attempts = 1;
        }
    }

    fn move_to(&mut self, id: &str, free: Time) {
        if let Some(row) = self.rows.get_mut(id) {
            self.queue.remove(&(row.free, row.order, id.to_owned()));
            row.free = free;
            self.queue.insert((free, row.order, id.to_owned()));
        }
    }
}

impl Inner {
    /// Adds an errand. Says whether it was not there.
    pub(super) fn add_errand(&mut self, errand: Errand) -> bool {
        if self.errands.rows.contains_key(&errand.id) {
            return false;
        }
        let order = self.count();
        if let ErrandKind::Deliver { bookmark, .. } = &errand.kind {
            self.errands
                .promised
                .insert(bookmark.clone(), errand.id.clone());
        }
        self.errands
            .queue
            .insert((errand.due, order, errand.id.clone()));
        self.errands.rows.insert(
            errand.id.clone(),
            Row {
                free: errand.due,
                order,
                hold: None,
                attempts: 0,
                cancelled: false,
                errand,
            },
        );
        true
    }

    /// Hands out an errand that is there.
    fn hold_errand(&mut self, id: &str, until: Time) -> Option<Held> {
        let hold = self.count().to_string();
        self.errands.move_to(id, until);
        let row = self.errands.rows.get_mut(id)?;
        row.hold = Some(hold.clone());
        row.attempts += 1;
        Some(Held {
            errand: row.errand.clone(),
            hold,
            attempt: row.attempts,
        })
    }

    /// Adds an errand and hands it out.
    pub(super) fn add_held(&mut self, errand: Errand, until: Time) -> Option<Held> {
        let id = errand.id.clone();
        self.add_errand(errand);
        self.hold_errand(&id, until)
    }

    pub(super) fn check_held(&self, held: Option<&Held>) -> Result<()> {
        match held.is_none_or(|held| self.errands.held(held)) {
            true => Ok(()),
            false => Err(fenced("somebody else was handed this errand since")),
        }
    }

    /// Takes an errand away. Whoever it had kept from its bookmark has a chance now.
    pub(super) fn remove_errand(&mut self, id: &str, now: Time) -> Option<Errand> {
        let row = self.errands.rows.remove(id)?;
        self.errands
            .queue
            .remove(&(row.free, row.order, id.to_owned()));
        if let ErrandKind::Deliver {
            bookmark, instance, ..
        } = &row.errand.kind
        {
            let mine = self
                .errands
                .promised
                .get(bookmark)
                .is_some_and(|by| by == id);
            if mine {
                self.errands.promised.remove(bookmark);
                self.offer(&bookmark.clone(), &instance.clone(), now);
            }
        }
        Some(row.errand)
    }

    /// A bookmark whose time has come and could not be resumed: it does not come again.
    fn stop_timer(&mut self, kind: &ErrandKind) {
        if let ErrandKind::Deliver {
            instance,
            bookmark,
            stimulus: None,
            ..
        } = kind
            && let Some(due) = self.bookmark(bookmark, instance).and_then(|(at, _)| at.due)
        {
            let timer = (due, bookmark.clone(), instance.clone());
            self.stimuli.timers.remove(&timer);
        }
    }

    fn take(&mut self, parts: &Parts, now: Time, until: Time, limit: usize) -> Vec<Held> {
        let ready = self
            .errands
            .queue
            .iter()
            .take_while(|(free, ..)| *free <= now)
            .filter(|(_, order, _)| parts.have(*order));
        let ready: Vec<_> = ready.take(limit).map(|(_, _, id)| id.clone()).collect();
        ready
            .into_iter()
            .filter_map(|id| self.hold_errand(&id, until))
            .collect()
    }
}

impl ErrandStore for MemoryStore {
    fn add(&self, errands: Vec<Errand>) -> Answer<'_, ()> {
        self.answer(|inner| {
            errands.into_iter().for_each(|errand| {
                inner.add_errand(errand);
            });
            Ok(())
        })
    }

    fn take_from(
        &self,
        parts: Parts,
        now: Time,
        until: Time,
        limit: usize,
    ) -> Answer<'_, Vec<Held>> {
        self.answer(|inner| Ok(inner.take(&parts, now, until, limit)))
    }

    fn renew<'a>(&'a self, holds: &'a [Held], until: Time) -> Answer<'a, Vec<String>> {
        self.answer(|inner| {
            let (kept, lost): (Vec<_>, Vec<_>) =
                holds.iter().partition(|held| inner.errands.held(held));
            kept.into_iter()
                .for_each(|held| inner.errands.move_to(&held.errand.id, until));
            Ok(lost.into_iter().map(|held| held.hold.clone()).collect())
        })
    }

    fn release<'a>(&'a self, held: &'a Held, release: Release) -> Answer<'a, ()> {
        self.answer(|inner| {
            if inner.errands.held(held) {
                inner.errands.move_to(&held.errand.id, release.due);
                if let Some(row) = inner.errands.rows.get_mut(&held.errand.id) {
                    row.hold = None;
                    row.attempts -= u32::from(!release.counts);
                }
            }
            Ok(())
        })
    }

    fn done<'a>(&'a self, held: &'a Held) -> Answer<'a, bool> {
        self.answer(|inner| {
            let done = inner.errands.held(held);
            if done {
                inner.remove_errand(&held.errand.id, held.errand.due);
            }
            Ok(done)
        })
    }

    fn bury<'a>(&'a self, held: &'a Held, error: &'a str, now: Time) -> Answer<'a, ()> {
        self.answer(|inner| {
            inner.check_held(Some(held))?;
            inner.remove_errand(&held.errand.id, now);
            inner.stop_timer(&held.errand.kind);
            inner.stimuli.bury(DeadLetter {
                id: held.errand.id.clone(),
                letter: Letter::Errand(held.errand.clone()),
                reason: Reason::Failed {
                    attempts: held.attempt,
                    error: error.to_owned(),
                },
                at: now,
                replayed: None,
            });
            Ok(())
        })
    }

    fn next_due(&self) -> Answer<'_, Option<Time>> {
        self.answer(|inner| {
            let next = [
                inner.errands.next(),
                inner.stimuli.next_timer(),
                inner.definitions.next_schedule(),
                inner.jobs.next(),
            ];
            Ok(next.into_iter().flatten().min())
        })
    }
}
