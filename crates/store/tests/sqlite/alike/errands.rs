//! Telling, and what has to be done.

use super::Both;
use crate::support::{soon, values};
use lockwork_runtime::store::{ErrandStore, JobStore, Release, Sending, StimulusStore, TakenJob};

impl Both {
    pub(super) async fn send(&mut self) {
        let stimulus = self.chance.stimulus(&self.bookmarks);
        let sending = Sending {
            id: format!("s{}", self.count()),
            stimulus,
            now: self.now,
            expires: self.chance.one_in(2).then(|| self.later()),
            consumes: None,
            hold: self.later(),
        };

        let (memory, sqlite) = self.some_other(&[]);
        self.log.push(format!("{sending:?} consumes {memory:?}"));
        let memory = Sending {
            consumes: memory,
            ..sending.clone()
        };
        let sqlite = Sending {
            consumes: sqlite,
            ..sending
        };
        let memory = soon(self.memory.send(memory))
            .await
            .map_err(|error| error.kind());
        let sqlite = soon(self.sqlite.send(sqlite))
            .await
            .map_err(|error| error.kind());
        match (memory, sqlite) {
            (Ok(memory), Ok(sqlite)) => {
                self.same(&(
                    (memory.queued, memory.duplicate),
                    (sqlite.queued, sqlite.duplicate),
                ));
                self.keep((memory.errands, sqlite.errands));
            }
            other => self.same(&other),
        }
    }

    pub(super) async fn take(&mut self) {
        let (until, limit) = (self.later(), self.chance.index(2) * 1000);
        let taken = both!(self, take(self.now, until, limit));
        self.keep((taken.0.unwrap(), taken.1.unwrap()));
    }

    pub(super) async fn give_back(&mut self) {
        let Some((memory, sqlite)) = self.some_held() else {
            return;
        };
        let (now, later) = (self.now, self.later());
        let what = self.chance.below(5);
        self.log.push(format!("give back {what} {memory:?}"));
        let release = Release {
            due: later,
            counts: self.chance.one_in(2),
            error: None,
        };
        let said = match what {
            0 => (
                soon(self.memory.release(&memory, release.clone()))
                    .await
                    .map(|()| true),
                soon(self.sqlite.release(&sqlite, release))
                    .await
                    .map(|()| true),
            ),
            1 => (
                soon(self.memory.done(&memory)).await,
                soon(self.sqlite.done(&sqlite)).await,
            ),
            2 => (
                soon(self.memory.bury(&memory, "why", now))
                    .await
                    .map(|()| true),
                soon(self.sqlite.bury(&sqlite, "why", now))
                    .await
                    .map(|()| true),
            ),
            3 => (
                soon(self.memory.redirect(&memory, now, later))
                    .await
                    .map(|()| true),
                soon(self.sqlite.redirect(&sqlite, now, later))
                    .await
                    .map(|()| true),
            ),
            _ => (
                soon(self.memory.renew(std::slice::from_ref(&memory), later))
                    .await
                    .map(|lost| lost.is_empty()),
                soon(self.sqlite.renew(std::slice::from_ref(&sqlite), later))
                    .await
                    .map(|lost| lost.is_empty()),
            ),
        };
        self.same(&(
            said.0.map_err(|error| error.kind()),
            said.1.map_err(|error| error.kind()),
        ));
    }

    pub(super) async fn jobs(&mut self) {
        let (until, limit) = (self.later(), self.chance.index(3));
        let (memory, sqlite) = both!(self, take_jobs(self.now, until, limit));
        let (memory, sqlite) = (memory.unwrap(), sqlite.unwrap());
        let of = |all: &[TakenJob]| -> Vec<_> {
            all.iter()
                .map(|job| (job.bookmark.clone(), job.job.clone(), job.attempt))
                .collect()
        };
        self.same(&(of(&memory), of(&sqlite)));
        self.jobs.extend(memory.into_iter().zip(sqlite));
        if self.jobs.is_empty() {
            return;
        }
        let at = self.chance.index(self.jobs.len());
        let (memory, sqlite) = self.jobs.swap_remove(at);
        let what = self.chance.below(3);
        self.log.push(format!("job {what} {memory:?}"));
        let said = match what {
            0 => {
                let memory = std::slice::from_ref(&memory);
                soon(self.memory.release_jobs(memory, self.now))
                    .await
                    .unwrap();
                let sqlite = std::slice::from_ref(&sqlite);
                soon(self.sqlite.release_jobs(sqlite, self.now))
                    .await
                    .unwrap();
                (true, true)
            }
            1 => (
                soon(self.memory.finish_job(&memory, values("done"), self.now))
                    .await
                    .unwrap(),
                soon(self.sqlite.finish_job(&sqlite, values("done"), self.now))
                    .await
                    .unwrap(),
            ),
            _ => (
                soon(self.memory.renew_jobs(std::slice::from_ref(&memory), until))
                    .await
                    .unwrap()
                    .is_empty(),
                soon(self.sqlite.renew_jobs(std::slice::from_ref(&sqlite), until))
                    .await
                    .unwrap()
                    .is_empty(),
            ),
        };
        self.same(&said);
    }
}
