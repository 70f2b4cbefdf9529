//! One connection: locks live on it, statements run on it, and it listens.

mod clean;
mod plan;

use crate::{
    errors::refused,
    keys::Key,
    rows::Rows,
    statement::{CHANNEL, Statements},
};
use clean::Undo;
use lockwork_core::lock::{
    Error, ErrorKind, Result,
    backend::session::{Answer, Batch, Session, Take},
};
use plan::Plan;
use sqlx::{AssertSqlSafe, Row, postgres::PgListener};
use std::{
    collections::{HashMap, HashSet},
    fmt,
};

/// Somebody looks whether anybody waits for a moment only.
const TIMES: usize = 3;

/// A session of the server.
pub(crate) struct Connection {
    listener: PgListener,
    statements: Statements,
    /// Whether the server tells us what others give back.
    listening: bool,
    /// What others know that we wait for, by the number they know it by.
    known: HashMap<i64, Known>,
    /// What others still know of, and is granted by now: taken back with the next statement.
    stale: Vec<Known>,
    /// The permits we have.
    slots: HashMap<Key, Vec<i64>>,
    /// Upgradeable readers that are writers now.
    risen: HashSet<Key>,
    undo: Undo,
    /// The server contradicts us: nothing that is held here can be relied on.
    is_mad: bool,
}

/// What others know of our waiting for a lock.
#[derive(Clone, Copy, Debug)]
struct Known {
    key: Key,
    /// That somebody waits.
    waits: bool,
    /// That a writer does, whom no reader may overtake.
    turn: bool,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    pub(crate) fn new(listener: PgListener, statements: Statements) -> Self {
        Self {
            listener,
            statements,
            listening: false,
            known: HashMap::new(),
            stale: Vec::new(),
            slots: HashMap::new(),
            risen: HashSet::new(),
            undo: Undo::default(),
            is_mad: false,
        }
    }

    /// Sends rows, and gets one answer for each; no answer is a contradiction.
    async fn send(&mut self, rows: Rows) -> Result<Vec<Option<i64>>> {
        let expected = rows.len();
        let call = rows.for_one_of(&self.statements);
        let (text, arguments) = call.map_err(sqlx::Error::Encode).map_err(refused)?;
        let query = sqlx::query_with(AssertSqlSafe(text), arguments);
        let rows = query.fetch_all(&mut self.listener).await.map_err(refused)?;
        let mut answers = vec![None; expected];
        for row in rows {
            let number: i64 = row.try_get(0).map_err(refused)?;
            let at = usize::try_from(number - 1).ok();
            if let Some(answer) = at.and_then(|at| answers.get_mut(at)) {
                *answer = row.try_get(1).map_err(refused)?;
            }
        }
        Ok(answers)
    }

    async fn listen(&mut self) -> Result<()> {
        if !self.listening {
            self.listener.listen(CHANNEL).await.map_err(refused)?;
            self.listening = true;
        }
        Ok(())
    }

    /// Makes it known that we wait for these, and tries once more: they may have been given back
    /// before anybody knew.
    async fn register(&mut self, takes: Vec<&Take<Key>>, answer: &mut Answer<Key>) -> Result<()> {
        let mut left = takes;
        for _ in 0..TIMES {
            if left.is_empty() {
                break;
            }
            self.listen().await?;
            let mut plan = Plan::default();
            for take in left {
                self.plan_registering(&mut plan, take);
            }
            left = self.carry_out(plan, answer).await?;
        }
        Ok(())
    }

    /// Does as planned, and returns the takes that were refused and that others do not know of.
    async fn carry_out<'b>(
        &mut self,
        plan: Plan<'b>,
        answer: &mut Answer<Key>,
    ) -> Result<Vec<&'b Take<Key>>> {
        let (rows, steps) = plan.into_parts();
        let said = self.send(rows).await?;
        self.read(steps.into_iter().zip(said).collect(), answer)
    }

    fn contradiction(&mut self) -> Error {
        self.is_mad = true;
        let message = "PostgreSQL does not hold what was held on this connection: a pooler may be \
                       in between, connect to the server itself";
        Error::new(ErrorKind::Unexpected, message)
    }
}

impl Session for Connection {
    type Key = Key;

    async fn exchange(&mut self, batch: &Batch<Key>) -> Result<Answer<Key>> {
        let mut answer = Answer::granting(Vec::new());
        let plan = self.plan(batch);
        let mut refused = self.carry_out(plan, &mut answer).await?;
        refused.retain(|take| take.waits);
        self.register(refused, &mut answer).await?;
        Ok(answer)
    }

    async fn clean_up(&mut self, batch: &Batch<Key>) -> Result<()> {
        if self.is_mad {
            return Err(self.contradiction());
        }
        let rows = self.plan_clean_up(batch);
        self.send(rows).await.map(drop)
    }

    async fn news(&mut self) -> Result<Key> {
        loop {
            let heard = self.listener.try_recv().await.map_err(refused)?;
            let Some(heard) = heard else {
                let message = "PostgreSQL ended the connection";
                return Err(Error::new(ErrorKind::Unavailable, message));
            };
            let number = heard.payload().parse().ok();
            if let Some(known) = number.and_then(|number| self.known.get(&number)) {
                return Ok(known.key);
            }
        }
    }
}
