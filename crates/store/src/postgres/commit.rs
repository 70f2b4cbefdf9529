//! Claims and commits.

use super::{
    errors::Trouble,
    pool::Operation,
    rows::{Columns, Row, attempts},
    statements::{Statements, ask_as, column},
    text::{self, bytes, millis, signed, some_key, unsigned},
    together::Together,
};
use crate::json;
use lockwork_core::workflow::{Bookmark, Error, ErrorKind, InstanceId, Result, Status, SubStatus};
use lockwork_flow::State;
use lockwork_runtime::store::{Claim, Claimed, Commit, Committed, Errand, Held};
use sqlx::PgConnection;
use std::{collections::HashMap, sync::Arc};

/// What is known of an instance, as it is written.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) instance: String,
    pub(super) of: String,
    pub(super) sub_status: i16,
    pub(super) over: bool,
    pub(super) finished: Option<i64>,
    pub(super) correlation: Option<String>,
    pub(super) state: String,
}

impl Known {
    pub(super) fn of(state: &State) -> Result<Self> {
        Ok(Self {
            instance: state.instance.as_str().to_owned(),
            of: state.version.as_str().to_owned(),
            sub_status: number(state.sub_status),
            over: state.sub_status.status() == Status::Finished,
            finished: state.finished.map(millis),
            correlation: some_key(state.correlation.as_deref())?,
            state: json::write(state)?,
        })
    }
}

/// How far an instance is, as a number.
pub(super) fn number(sub_status: SubStatus) -> i16 {
    let mut all = SubStatus::ALL.iter().zip(0..);
    let found = all.find(|(one, _)| **one == sub_status);
    found.map_or(-1, |(_, number)| number)
}

/// A state, as it is read.
pub(super) fn state(instance: &dyn std::fmt::Display, text: &str) -> Result<Arc<State>> {
    let read = json::read("instance", instance, text);
    read.map(Arc::new).map_err(|damaged: Error| {
        // One that a newer version has written is not damaged.
        let newer = serde_json::from_str(text).map(State::from_value);
        match newer {
            Ok(Err(error)) if error.kind() == ErrorKind::Unsupported => {
                error.with("instance", instance)
            }
            _ => damaged,
        }
    })
}

/// Bookmarks, column by column.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) ids: Vec<String>,
    pub(super) hashes: Vec<Vec<u8>>,
    pub(super) executions: Vec<String>,
    pub(super) burns: Vec<bool>,
    pub(super) dues: Vec<Option<i64>>,
}

impl Marks {
    pub(super) fn of(bookmarks: &[Bookmark]) -> Self {
        let mut marks = Self::default();
        for bookmark in bookmarks {
            marks.ids.push(bookmark.id.as_str().to_owned());
            marks.hashes.push(bytes(&bookmark.hash));
            marks
                .executions
                .push(bookmark.execution.as_str().to_owned());
            marks.burns.push(bookmark.burns);
            marks.dues.push(bookmark.due.map(millis));
        }
        marks
    }
}

/// Claims an instance.
#[derive(Debug)]
pub(super) struct Claiming {
    pub(super) instance: InstanceId,
    pub(super) id: String,
}

/// What follows, in the answer to one claim, is the setting that it makes.
type ClaimRow = (String, i64, i64, String, bool, Option<String>);

impl Operation for Claiming {
    type Out = Option<Claimed>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let claim = ask_as::<ClaimRow>(&sql.claim);
        let claim = claim
            .bind(self.instance.as_str())
            .bind(text::escaped(&self.id));
        let row = claim.fetch_optional(at).await?;
        Ok(row.map(|row| self.claimed(row)).transpose()?)
    }
}

impl Claiming {
    fn claimed(&self, row: ClaimRow) -> Result<Claimed> {
        let (_, epoch, version, text, cancel, committed_by) = row;
        Ok(Claimed {
            claim: Claim {
                instance: self.instance.clone(),
                epoch: unsigned(epoch),
                id: self.id.clone(),
                version: unsigned(version),
            },
            state: state(&self.instance, &text)?,
            cancel,
            committed_by: committed_by.map(text::unescaped),
        })
    }
}

impl Together for Claiming {
    fn instance(&self) -> &str {
        self.instance.as_str()
    }

    async fn run_all<'a>(
        all: &'a [Self],
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Vec<Self::Out>, Trouble> {
        let claims = ask_as::<ClaimRow>(&sql.claims)
            .bind(column(all.iter().map(|one| one.instance.as_str())))
            .bind(column(all.iter().map(|one| text::escaped(&one.id))));
        let rows = claims.fetch_all(at).await?.into_iter();
        let mut rows: HashMap<_, _> = rows.map(|row| (row.0.clone(), row)).collect();
        let claimed = all.iter().map(|one| {
            let row = rows.remove(one.instance.as_str());
            row.map(|row| one.claimed(row)).transpose()
        });
        Ok(claimed.collect::<Result<_>>()?)
    }
}

/// A commit, as it is written.
#[derive(Debug)]
pub(super) struct Committing {
    claim: Claim,
    known: Known,
    stay: bool,
    now: i64,
    journal: Option<(String, i64)>,
    removed: Vec<String>,
    added: Marks,
    consumes: Option<(String, String)>,
    stays: bool,
    errands: Columns,
    jobs: (Vec<String>, Vec<String>),
    tasks: (Vec<String>, Vec<String>),
    continues: Option<Holding>,
}

/// An errand that is handed out as it is added.
#[derive(Debug)]
pub(super) struct Holding {
    pub(super) row: Row,
    errand: Errand,
    pub(super) until: i64,
    pub(super) hold: String,
}

impl Holding {
    pub(super) fn new((errand, until): (Errand, lockwork_core::workflow::Time)) -> Result<Self> {
        Ok(Self {
            row: Row::of(&errand)?,
            errand,
            until: millis(until),
            hold: text::drawn(),
        })
    }

    pub(super) fn held(&self, number: Option<i32>) -> Held {
        Held {
            errand: self.errand.clone(),
            hold: self.hold.clone(),
            attempt: number.map_or(1, attempts),
        }
    }
}

impl Committing {
    pub(super) fn new(commit: Commit) -> Result<Self> {
        let last = commit.journal.last().map(|entry| signed(entry.sequence));
        let journal = match last {
            Some(last) => Some((json::write(&commit.journal)?, last)),
            None => None,
        };
        // What is consumed is gone afterwards, also if it is asked for once more.
        let done = commit.consumes.as_ref().filter(|_| !commit.stays);
        let done = done.map(|held| held.errand.id.as_str());
        let errands = commit.errands.iter();
        let errands = errands.filter(|errand| Some(errand.id.as_str()) != done);
        let pair = |(id, text): (String, Result<String>)| Ok((id, text?));
        let jobs = commit.jobs.iter();
        let jobs = jobs.map(|new| pair((new.bookmark.to_string(), json::write(&new.job))));
        let tasks = commit.tasks.iter();
        let tasks = tasks.map(|(id, task)| pair((id.to_string(), json::write(task))));
        Ok(Self {
            known: Known::of(&commit.state)?,
            stay: commit.state.bookmarks.len() > commit.added.len(),
            now: millis(commit.now),
            journal,
            removed: commit.removed.iter().map(ToString::to_string).collect(),
            added: Marks::of(&commit.added),
            errands: Columns::of(errands)?,
            jobs: jobs.collect::<Result<_>>()?,
            tasks: tasks.collect::<Result<_>>()?,
            continues: commit.continues.map(Holding::new).transpose()?,
            stays: commit.stays && commit.consumes.is_some(),
            consumes: consumed(commit.consumes.as_ref())?,
            claim: commit.claim,
        })
    }
}

/// By what an errand that is consumed is found.
pub(super) fn consumed(held: Option<&Held>) -> Result<Option<(String, String)>> {
    let found = held.map(|held| Ok((text::name(&held.errand.id)?.into_owned(), held.hold.clone())));
    found.transpose()
}

type CommitRow = (i64, bool, Option<i32>, bool);

impl Operation for Committing {
    type Out = (Committed, bool);

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let Self { claim, known, .. } = self;
        let (journal, last) = match &self.journal {
            Some((journal, last)) => (Some(journal), Some(*last)),
            None => (None, None),
        };
        let next = self.continues.as_ref();
        let row = next.map(|next| &next.row);
        let commit = ask_as::<CommitRow>(&sql.commit)
            .bind(claim.instance.as_str())
            .bind(signed(claim.epoch))
            .bind(text::escaped(&claim.id))
            .bind(signed(claim.version))
            .bind(&known.state)
            .bind(known.sub_status)
            .bind(known.over)
            .bind(known.finished)
            .bind(&known.correlation)
            .bind(self.stay)
            .bind(self.now)
            .bind(journal)
            .bind(last)
            .bind(&self.removed)
            .bind(&self.added.ids)
            .bind(&self.added.hashes)
            .bind(&self.added.executions)
            .bind(&self.added.burns)
            .bind(&self.added.dues)
            .bind(self.consumes.as_ref().map(|(id, _)| id))
            .bind(self.consumes.as_ref().map(|(_, hold)| hold))
            .bind(self.stays)
            .bind(&self.errands.ids)
            .bind(&self.errands.kinds)
            .bind(&self.errands.instances)
            .bind(&self.errands.bookmarks)
            .bind(&self.errands.bodies)
            .bind(&self.errands.stimuli)
            .bind(&self.errands.dues)
            .bind(&self.jobs.0)
            .bind(&self.jobs.1)
            .bind(&self.tasks.0)
            .bind(&self.tasks.1)
            .bind(row.map(|row| &row.id))
            .bind(row.map(|row| row.kind))
            .bind(row.and_then(|row| row.instance.as_ref()))
            .bind(row.and_then(|row| row.bookmark.as_ref()))
            .bind(row.and_then(|row| row.body.as_ref()))
            .bind(row.and_then(|row| row.stimulus.as_ref()))
            .bind(row.map(|row| row.due))
            .bind(next.map(|next| next.until))
            .bind(next.map(|next| &next.hold));
        let (version, cancel, again, rings) = commit.fetch_one(at).await?;
        let committed = Committed {
            version: unsigned(version),
            cancel,
            continues: next.map(|next| next.held(again)),
        };
        Ok((committed, rings))
    }

    fn rings((_, rings): &Self::Out) -> bool {
        *rings
    }
}

impl Committing {
    /// Whether it can be written with others: it leaves nothing to wait for, and asks for nothing.
    pub(super) fn is_simple(&self) -> bool {
        !self.stay
            && self.added.ids.is_empty()
            && self.errands.ids.is_empty()
            && self.jobs.0.is_empty()
            && self.tasks.0.is_empty()
            && self.continues.is_none()
    }
}

impl Together for Committing {
    fn instance(&self) -> &str {
        &self.known.instance
    }

    async fn run_all<'a>(
        all: &'a [Self],
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Vec<Self::Out>, Trouble> {
        let (known, claims) = (
            || all.iter().map(|one| &one.known),
            || all.iter().map(|one| &one.claim),
        );
        let journal = || all.iter().map(|one| one.journal.as_ref());
        let consumes = || {
            all.iter()
                .filter_map(|one| Some((one, one.consumes.as_ref()?)))
        };
        let removed = || {
            let of = |one: &'a Self| one.removed.iter().map(|id| (&*one.known.instance, &**id));
            all.iter().flat_map(of)
        };
        let commits = ask_as::<(String, i64, bool)>(&sql.commits)
            .bind(column(known().map(|known| &*known.instance)))
            .bind(column(claims().map(|claim| signed(claim.epoch))))
            .bind(column(claims().map(|claim| text::escaped(&claim.id))))
            .bind(column(claims().map(|claim| signed(claim.version))))
            .bind(column(known().map(|known| &*known.state)))
            .bind(column(known().map(|known| known.sub_status)))
            .bind(column(known().map(|known| known.over)))
            .bind(column(known().map(|known| known.finished)))
            .bind(column(known().map(|known| known.correlation.as_deref())))
            .bind(column(journal().map(|at| at.map(|(text, _)| &**text))))
            .bind(column(journal().map(|at| at.map(|(_, last)| *last))))
            .bind(column(consumes().map(|(_, (id, _))| &**id)))
            .bind(column(consumes().map(|(_, (_, hold))| &**hold)))
            .bind(column(consumes().map(|(one, _)| one.stays)))
            .bind(column(removed().map(|(instance, _)| instance)))
            .bind(column(removed().map(|(_, id)| id)));
        let rows = commits.fetch_all(at).await?.into_iter();
        let rows: HashMap<_, _> = rows
            .map(|(id, version, cancel)| (id, (version, cancel)))
            .collect();
        let committed = all.iter().map(|one| {
            let row = rows.get(&one.known.instance);
            let (version, cancel) = row.copied().ok_or(sqlx::Error::RowNotFound)?;
            let committed = Committed {
                version: unsigned(version),
                cancel,
                continues: None,
            };
            Ok((committed, false))
        });
        committed.collect()
    }
}
