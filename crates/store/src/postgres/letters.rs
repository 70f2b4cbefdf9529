//! Stimuli that wait, and what was not done.

use super::{
    errors::Trouble,
    pool::Operation,
    rows::{Row, damaged, instance},
    statements::{Statements, ask_as, row},
    text::unescaped,
};
use crate::json;
use lockwork_core::workflow::{Result, Stimulus, Time};
use lockwork_runtime::store::{DeadLetter, Letter, WaitingStimulus};
use sqlx::PgConnection;

/// All that wait.
pub(super) struct Waiting;

type WaitingRow = (String, String, Option<String>, i64, Option<i64>);

impl Operation for Waiting {
    type Out = Vec<WaitingStimulus>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let rows = ask_as::<WaitingRow>(&sql.waiting).fetch_all(at).await?;
        Ok(rows.into_iter().map(waiting).collect::<Result<_>>()?)
    }
}

fn waiting((id, text, to, created, expires): WaitingRow) -> Result<WaitingStimulus> {
    let mut stimulus: Stimulus = json::read("waiting", &id, &text)?;
    if let Some(to) = to {
        stimulus.to.instance = Some(instance(Some(&to), &id)?);
    }
    Ok(WaitingStimulus {
        id: unescaped(id),
        stimulus,
        created: Time::from_millis(created),
        expires: expires.map(Time::from_millis),
    })
}

pub(super) struct Purging(pub(super) i64, pub(super) i64);

impl Operation for Purging {
    type Out = usize;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<usize, Trouble> {
        let purge = ask_as::<(i64,)>(&sql.purge).bind(self.0).bind(self.1);
        let (expired,) = purge.fetch_one(at).await?;
        Ok(usize::try_from(expired).unwrap_or_default())
    }
}

row! {
    struct DeadRow {
        id: String,
        at: i64,
        replayed: Option<i64>,
        reason: String,
        errand: Option<String>,
        stimulus_id: Option<String>,
        stimulus: Option<String>,
        to_instance: Option<String>,
        created: Option<i64>,
        expires: Option<i64>,
    }
}

impl DeadRow {
    fn letter(self) -> Result<DeadLetter> {
        let letter = match (self.errand, self.stimulus_id, self.stimulus) {
            (Some(errand), ..) => Letter::Errand(json::read("dead_letter", &self.id, &errand)?),
            (None, Some(id), Some(stimulus)) => {
                let created = self.created.unwrap_or_default();
                let row = (id, stimulus, self.to_instance, created, self.expires);
                Letter::Stimulus(waiting(row)?)
            }
            _ => return Err(damaged("dead_letter", &self.id)),
        };
        // Its row may be called by a hash of it.
        let id = match &letter {
            Letter::Errand(errand) => errand.id.clone(),
            Letter::Stimulus(waiting) => waiting.id.clone(),
        };
        Ok(DeadLetter {
            id,
            letter,
            reason: json::read("dead_letter", &self.id, &self.reason)?,
            at: Time::from_millis(self.at),
            replayed: self.replayed.map(Time::from_millis),
        })
    }
}

/// All of them, or the one with a name.
pub(super) struct Dead(pub(super) Option<String>);

impl Operation for Dead {
    type Out = Vec<DeadLetter>;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<Self::Out, Trouble> {
        let rows = match &self.0 {
            None => ask_as::<DeadRow>(&sql.dead_letters).fetch_all(at).await?,
            Some(id) => {
                let one = ask_as::<DeadRow>(&sql.dead_letter).bind(id);
                one.fetch_all(at).await?
            }
        };
        Ok(rows
            .into_iter()
            .map(DeadRow::letter)
            .collect::<Result<_>>()?)
    }
}

/// Tries an errand once more.
pub(super) struct Replaying {
    pub(super) dead: String,
    pub(super) now: i64,
    pub(super) row: Row,
}

impl Operation for Replaying {
    type Out = bool;

    async fn run<'a>(
        &'a self,
        at: &'a mut PgConnection,
        sql: &'a Statements,
    ) -> Result<bool, Trouble> {
        let replay = ask_as::<(bool,)>(&sql.replay)
            .bind(&self.dead)
            .bind(self.now)
            .bind(&self.row.id)
            .bind(self.row.kind)
            .bind(&self.row.instance)
            .bind(&self.row.bookmark)
            .bind(&self.row.body)
            .bind(&self.row.stimulus);
        Ok(replay.fetch_one(at).await?.0)
    }

    fn rings(could: &bool) -> bool {
        *could
    }
}
