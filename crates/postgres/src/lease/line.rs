//! The way to the server: a line of questions, and a few connections that take from it.
//!
//! The connections live on the keeper thread, so they outlive the runtime of whoever asks. What
//! arrives while both are busy goes together, in one message: see `worker.rs`.

use super::{statement::Statement, worker};
use crate::Options;
use lockwork_core::lock::{
    Error, ErrorKind, Instant, Result,
    backend::{keeper, line::Failure},
};
use sqlx::{PgConnection, postgres::PgRow};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How many connections there are at most; the second is opened when it is first needed.
const CONNECTIONS: usize = 2;

/// How long a question may take, from being asked to its answer, and as long again if it had to
/// stand in line behind one that took all of that.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the server. Clones share their connections.
#[derive(Clone, Debug)]
pub(super) struct Line(mpsc::UnboundedSender<Question>);

/// Something to be asked, and where the answer goes.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) statement: Statement,
    pub(super) company: Company,
    pub(super) asked_at: Instant,
    pub(super) answer: oneshot::Sender<Result<Answer, Failure>>,
}

/// With what a question may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Company {
    /// With others that have one row for an answer, in the order of these numbers: every transaction
    /// takes its numbers in order, so that none waits for another in a circle.
    Others(i64),
    /// Alone.
    None,
}

/// What the server said.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) rows: Vec<PgRow>,
    /// It was asked before, and what was said to that is not known.
    pub(super) asked_twice: bool,
}

impl Line {
    /// A line to the server that `connection` is one to, of those that `options` lead to.
    pub(super) fn new(options: &Options, connection: PgConnection) -> Self {
        let (questions, asked) = mpsc::unbounded_channel();
        let connect = options.connect.clone();
        keeper::spawn(worker::run(asked, connect, connection, CONNECTIONS));
        Self(questions)
    }

    /// Asks for one row, with others.
    pub(super) async fn ask(&self, number: i64, statement: Statement) -> Result<Answer, Failure> {
        self.put(Company::Others(number), statement).await
    }

    /// Asks for any number of rows.
    pub(super) async fn ask_alone(&self, statement: Statement) -> Result<Vec<PgRow>> {
        let answer = self.put(Company::None, statement).await;
        Ok(answer.map(|answer| answer.rows)?)
    }

    /// Asks for something of which nobody waits for the answer.
    pub(super) fn tell(&self, number: i64, statement: Statement) {
        drop(self.send(Company::Others(number), statement));
    }

    async fn put(&self, company: Company, statement: Statement) -> Result<Answer, Failure> {
        let answer = self.send(company, statement);
        answer.await.unwrap_or_else(|_| {
            let error = Error::new(ErrorKind::Unexpected, "the keeper ended");
            Err(Failure::Unknown(error))
        })
    }

    fn send(
        &self,
        company: Company,
        statement: Statement,
    ) -> oneshot::Receiver<Result<Answer, Failure>> {
        let (answer, answered) = oneshot::channel();
        let question = Question {
            statement,
            company,
            asked_at: Instant::now(),
            answer,
        };
        // Somebody reads it for as long as there is a line; should nobody, the answer is missing.
        let _ = self.0.send(question);
        answered
    }
}

/// There was no answer in time.
pub(super) fn late() -> Error {
    Error::new(ErrorKind::Unavailable, "PostgreSQL did not answer in time")
}
