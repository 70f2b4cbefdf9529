//! Long work.

use super::{
    PostgresStore,
    errands::lost,
    errors::Trouble,
    pool::Operation,
    rows::{Row, attempts, instance},
    statements::{Statements, ask_as},
    text::{drawn, limit, millis},
};
use crate::json;
use lockwork_core::workflow::{Answer, BookmarkId, Result, Time, Values};
use lockwork_runtime::store::{JobStore, TakenJob, derived};
use sqlx::PgConnection;

struct Taking {
    now: i64,
    until: i64,
    limit: i64,
    hold: String,
}

type JobRow = (String, String, String, String, i32);

impl Operation for Taking {
    type Out = Vec<TakenJob>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let take = ask_as::<JobRow>(&sql.take_jobs)
            .bind(self.now)
            .bind(self.until)
            .bind(self.limit)
            .bind(&self.hold);
        let rows = take.fetch_all(at).await?.into_iter();
        let jobs = rows.filter_map(|row| match job(row) {
            Ok(job) => Some(job),
            Err(error) => {
                tracing::error!(%error, "long work cannot be read, and is not done");
                None
            }
        });
        Ok(jobs.collect())
    }
}

fn job((of, bookmark, text, hold, number): JobRow) -> Result<TakenJob> {
    Ok(TakenJob {
        instance: instance(Some(&of), &bookmark)?,
        job: json::read("job", &bookmark, &text)?,
        bookmark: BookmarkId::new(&bookmark)?,
        hold,
        attempt: attempts(number),
    })
}

/// Some that were handed out, column by column.
struct Holds {
    bookmarks: Vec<String>,
    holds: Vec<String>,
}

impl Holds {
    fn of(jobs: &[TakenJob]) -> Self {
        Self {
            bookmarks: jobs.iter().map(|job| job.bookmark.to_string()).collect(),
            holds: jobs.iter().map(|job| job.hold.clone()).collect(),
        }
    }
}

struct Renewing {
    held: Holds,
    until: i64,
}

impl Operation for Renewing {
    type Out = Vec<String>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let renew = ask_as::<(String,)>(&sql.renew_jobs);
        let renew = renew
            .bind(&self.held.bookmarks)
            .bind(&self.held.holds)
            .bind(self.until);
        Ok(lost(&self.held.holds, &renew.fetch_all(at).await?))
    }
}

struct Releasing {
    held: Holds,
    now: i64,
}

impl Operation for Releasing {
    type Out = usize;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<usize, Trouble> {
        let release = ask_as::<(String,)>(&sql.release_jobs);
        let release = release
            .bind(&self.held.bookmarks)
            .bind(&self.held.holds)
            .bind(self.now);
        Ok(release.fetch_all(at).await?.len())
    }

    fn rings(released: &usize) -> bool {
        *released > 0
    }
}

/// The row of the errand that brings the result, and by what the job is known.
struct Finishing {
    bookmark: String,
    hold: String,
    row: Row,
}

impl Operation for Finishing {
    type Out = bool;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<bool, Trouble> {
        let finish = ask_as::<(bool,)>(&sql.finish_job)
            .bind(&self.bookmark)
            .bind(&self.hold)
            .bind(&self.row.id)
            .bind(&self.row.instance)
            .bind(&self.row.body)
            .bind(self.row.due);
        Ok(finish.fetch_one(at).await?.0)
    }

    fn rings(was_wanted: &bool) -> bool {
        *was_wanted
    }
}

impl JobStore for PostgresStore {
    fn take_jobs(&self, now: Time, until: Time, most: usize) -> Answer<'_, Vec<TakenJob>> {
        self.answer(Ok(Taking {
            now: millis(now),
            until: millis(until),
            limit: limit(most),
            hold: drawn(),
        }))
    }

    fn renew_jobs<'a>(&'a self, jobs: &'a [TakenJob], until: Time) -> Answer<'a, Vec<String>> {
        if jobs.is_empty() {
            return Box::pin(async { Ok(Vec::new()) });
        }
        self.answer(Ok(Renewing {
            held: Holds::of(jobs),
            until: millis(until),
        }))
    }

    fn release_jobs<'a>(&'a self, jobs: &'a [TakenJob], now: Time) -> Answer<'a, ()> {
        if jobs.is_empty() {
            return Box::pin(async { Ok(()) });
        }
        let releasing = Releasing {
            held: Holds::of(jobs),
            now: millis(now),
        };
        Box::pin(async move { self.answer(Ok(releasing)).await.map(drop) })
    }

    fn finish_job<'a>(&'a self, job: &'a TakenJob, result: Values, now: Time) -> Answer<'a, bool> {
        let row = Row::of(&derived::job_done(job, result, now));
        self.answer(row.map(|row| Finishing {
            bookmark: job.bookmark.to_string(),
            hold: job.hold.clone(),
            row,
        }))
    }
}
