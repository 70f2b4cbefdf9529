//! Long work, in memory.

use super::{Inner, MemoryStore};
use crate::store::{JobStore, NewJob, TakenJob, derived};
use lockwork_core::workflow::{Answer, BookmarkId, InstanceId, Time, Values};
use lockwork_flow::Job;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Jobs {
    rows: BTreeMap<BookmarkId, Row>,
}

#[derive(Debug)]
struct Row {
    instance: InstanceId,
    job: Job,
    free: Time,
    hold: Option<String>,
    attempts: u32,
}

impl Jobs {
    pub(super) fn add(&mut self, instance: InstanceId, new: NewJob) {
        self.rows.insert(
            new.bookmark,
            Row {
                instance,
                job: new.job,
                free: Time::default(),
                hold: None,
                attempts: 0,
            },
        );
    }

    pub(super) fn remove(&mut self, bookmark: &BookmarkId) {
        self.rows.remove(bookmark);
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.rows.values().map(|row| row.free).min()
    }

    fn held(&mut self, job: &TakenJob) -> Option<&mut Row> {
        let row = self.rows.get_mut(&job.bookmark)?;
        (row.hold.as_deref() == Some(&job.hold)).then_some(row)
    }
}

impl Inner {
    fn take_jobs(&mut self, now: Time, until: Time, limit: usize) -> Vec<TakenJob> {
        let mut counted = self.counted;
        let free = self.jobs.rows.iter_mut().filter(|(_, row)| row.free <= now);
        let taken = free.take(limit).map(|(bookmark, row)| {
            counted += 1;
            row.free = until;
            row.attempts += 1;
            TakenJob {
                instance: row.instance.clone(),
                bookmark: bookmark.clone(),
                job: row.job.clone(),
                hold: row.hold.insert(counted.to_string()).clone(),
                attempt: row.attempts,
            }
        });
        let taken = taken.collect();
        self.counted = counted;
        taken
    }
}

impl JobStore for MemoryStore {
    fn take_jobs(&self, now: Time, until: Time, limit: usize) -> Answer<'_, Vec<TakenJob>> {
        self.answer(|inner| Ok(inner.take_jobs(now, until, limit)))
    }

    fn renew_jobs<'a>(&'a self, jobs: &'a [TakenJob], until: Time) -> Answer<'a, Vec<String>> {
        self.answer(|inner| {
            let lost = jobs.iter().filter(|job| match inner.jobs.held(job) {
                Some(row) => {
                    row.free = until;
                    false
                }
                None => true,
            });
            Ok(lost.map(|job| job.hold.clone()).collect())
        })
    }

    fn release_jobs<'a>(&'a self, jobs: &'a [TakenJob], now: Time) -> Answer<'a, ()> {
        self.answer(|inner| {
            for job in jobs {
                if let Some(row) = inner.jobs.held(job) {
                    (row.free, row.hold) = (now, None);
                    row.attempts = row.attempts.saturating_sub(1);
                }
            }
            Ok(())
        })
    }

    fn finish_job<'a>(&'a self, job: &'a TakenJob, result: Values, now: Time) -> Answer<'a, bool> {
        self.answer(|inner| {
            if inner.jobs.held(job).is_none() {
                return Ok(false);
            }
            inner.jobs.remove(&job.bookmark);
            inner.add_errand(derived::job_done(job, result, now));
            Ok(true)
        })
    }
}
