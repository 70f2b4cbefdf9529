//! Definitions and what starts instances of them, in memory.

use super::{Inner, MemoryStore};
use crate::store::{
    DefinitionStore, NewVersion, Timer, TimerKind, TriggerRow, VersionRow, derived,
};
use lockwork_core::workflow::{
    Answer, DefinitionHandle, DefinitionId, Error, ErrorKind, Result, StimulusHash, Time,
    VersionId, VersionSelect,
};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Debug, Default)]
pub(super) struct Definitions {
    versions: BTreeMap<DefinitionId, Vec<VersionRow>>,
    triggers: BTreeMap<DefinitionId, (VersionId, Vec<TriggerRow>)>,
}

impl Definitions {
    pub(super) fn by_hash(
        &self,
        hash: &StimulusHash,
    ) -> impl Iterator<Item = (&VersionId, &TriggerRow)> {
        let all = self.triggers.values();
        let all = all.flat_map(|(version, rows)| rows.iter().map(move |row| (version, row)));
        all.filter(move |(_, row)| row.hash == *hash)
    }

    pub(super) fn next_schedule(&self) -> Option<Time> {
        let rows = self.triggers.values().flat_map(|(_, rows)| rows);
        rows.filter_map(|row| row.next).min()
    }

    /// When each schedule comes the next time.
    pub(super) fn timers(&self) -> impl Iterator<Item = Timer> {
        let all = self.triggers.iter();
        let all = all.flat_map(|(id, (_, rows))| rows.iter().map(move |row| (id, row)));
        all.filter_map(|(id, row)| {
            let kind = TimerKind::Start {
                definition: id.clone(),
                node: row.node.clone(),
            };
            row.next.map(|due| Timer { due, kind })
        })
    }

    pub(super) fn is_of(&self, version: &VersionId, definition: &DefinitionId) -> bool {
        let rows = self.versions.get(definition).into_iter().flatten();
        rows.into_iter().any(|row| row.id == *version)
    }

    fn resolve(&self, handle: &DefinitionHandle) -> Option<&VersionRow> {
        match handle {
            DefinitionHandle::Version(id) => {
                self.versions.values().flatten().find(|row| row.id == *id)
            }
            DefinitionHandle::Of { definition, select } => {
                let rows = self.versions.get(definition)?;
                let published = || rows.iter().find(|row| row.published);
                match select {
                    VersionSelect::Published => published(),
                    VersionSelect::Latest => rows.last(),
                    VersionSelect::Draft => rows.last().filter(|row| !row.published),
                    VersionSelect::PublishedOrLatest => published().or(rows.last()),
                    VersionSelect::Number(number) => rows.iter().find(|row| row.number == *number),
                }
            }
        }
    }

    fn put(&mut self, new: NewVersion) -> Result<VersionRow> {
        let id = new.definition.id.clone();
        let rows = self.versions.entry(id.clone()).or_default();
        let same = rows
            .last()
            .is_some_and(|row| *row.definition == new.definition);
        if !same {
            let number = rows.last().map_or(1, |row| row.number + 1);
            rows.push(VersionRow {
                id: VersionId::new(&format!("{id}:{number}"))?,
                number,
                published: false,
                definition: Arc::new(new.definition),
                created: new.now,
            });
        }
        if new.publish {
            let last = rows.len().saturating_sub(1);
            let each = rows.iter_mut().enumerate();
            each.for_each(|(at, row)| row.published = at == last);
        }
        let row = rows.last().cloned();
        let row = row.ok_or_else(|| Error::new(ErrorKind::Unexpected, "a version is gone"))?;
        if new.publish {
            self.index(&id, row.id.clone(), new.triggers);
        }
        Ok(row)
    }

    /// One that was there keeps its next time.
    fn index(
        &mut self,
        definition: &DefinitionId,
        version: VersionId,
        triggers: Vec<TriggerRow>,
    ) -> usize {
        let (before, old) = self
            .triggers
            .remove(definition)
            .unwrap_or((version.clone(), Vec::new()));
        let same = |one: &TriggerRow, other: &TriggerRow| {
            (&one.node, one.hash, &one.schedule) == (&other.node, other.hash, &other.schedule)
        };
        let mut changed = old
            .iter()
            .filter(|old| !triggers.iter().any(|new| same(old, new)))
            .count();
        let rows = triggers
            .into_iter()
            .map(|new| match old.iter().find(|old| same(old, &new)) {
                Some(old) => {
                    changed += usize::from(before != version);
                    old.clone()
                }
                None => {
                    changed += 1;
                    new
                }
            });
        let rows = rows.collect();
        self.triggers.insert(definition.clone(), (version, rows));
        changed
    }
}

impl Inner {
    pub(super) fn fire_schedules(&mut self, now: Time, limit: usize) -> usize {
        let all = self.definitions.triggers.iter_mut();
        let all = all.flat_map(|(id, (version, rows))| {
            rows.iter_mut()
                .map(|row| (id.clone(), version.clone(), row))
        });
        let due = all.filter(|(_, _, row)| row.next.is_some_and(|next| next <= now));
        let errands = due.take(limit).filter_map(|(definition, version, row)| {
            let (at, schedule) = (row.next?, row.schedule.as_ref()?);
            row.next = derived::next_after(schedule, at, now);
            Some(derived::scheduled(&definition, &version, row, at))
        });
        let errands: Vec<_> = errands.collect();
        let fired = errands.len();
        errands.into_iter().for_each(|errand| {
            self.add_errand(errand);
        });
        fired
    }
}

impl DefinitionStore for MemoryStore {
    fn put(&self, new: NewVersion) -> Answer<'_, VersionRow> {
        self.answer(|inner| inner.definitions.put(new))
    }

    fn resolve<'a>(&'a self, handle: &'a DefinitionHandle) -> Answer<'a, Option<VersionRow>> {
        self.answer(|inner| Ok(inner.definitions.resolve(handle).cloned()))
    }

    fn versions<'a>(&'a self, definition: Option<&'a DefinitionId>) -> Answer<'a, Vec<VersionRow>> {
        self.answer(|inner| {
            let all = inner.definitions.versions.iter();
            let wanted = all.filter(|(id, _)| definition.is_none_or(|wanted| wanted == *id));
            Ok(wanted.flat_map(|(_, rows)| rows.iter().cloned()).collect())
        })
    }

    fn retract<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, bool> {
        self.answer(|inner| {
            inner.definitions.triggers.remove(definition);
            let rows = inner.definitions.versions.get_mut(definition);
            let mut published = false;
            for row in rows.into_iter().flatten() {
                published |= std::mem::take(&mut row.published);
            }
            Ok(published)
        })
    }

    fn index<'a>(&'a self, version: &'a VersionId, triggers: Vec<TriggerRow>) -> Answer<'a, usize> {
        self.answer(|inner| {
            let handle = DefinitionHandle::Version(version.clone());
            let row = inner
                .definitions
                .resolve(&handle)
                .filter(|row| row.published);
            let Some(definition) = row.map(|row| row.definition.id.clone()) else {
                return Ok(0);
            };
            Ok(inner
                .definitions
                .index(&definition, version.clone(), triggers))
        })
    }

    fn triggers<'a>(&'a self, definition: &'a DefinitionId) -> Answer<'a, Vec<TriggerRow>> {
        self.answer(|inner| {
            let rows = inner.definitions.triggers.get(definition);
            Ok(rows.map(|(_, rows)| rows.clone()).unwrap_or_default())
        })
    }
}
