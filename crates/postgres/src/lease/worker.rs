//! A few connections: what stands in line is asked in one message, and the answers are given out.

use super::{
    line::{Answer, Company, PATIENCE, Question, late},
    refusal,
};
use lockwork_core::lock::{Error, backend::line::Failure};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Executor, PgConnection,
    postgres::{PgConnectOptions, PgRow},
    raw_sql,
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Semaphore, mpsc},
    time::{Instant, timeout_at},
};

/// How many questions go together at most.
const BATCH: usize = 64;

/// What goes before every batch. Whatever server, role or database say: rows are judged as they are
/// now, and nothing waits for longer than we do. Only what asks for it waits for the disk: see
/// `lease_lasts_v1`. All of it ends with the transaction.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
    SELECT set_config('lockwork.usual', \
        CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' \
          ELSE current_setting('synchronous_commit') END, true), \
      set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '3000', true), \
      set_config('statement_timeout', '4000', true);";

/// Connections nobody uses at the moment; the one used last is on top, so that no second one is
/// opened where one is enough.
#[derive(Clone, Debug, Default)]
struct Idle(Arc<Mutex<Vec<PgConnection>>>);

impl Idle {
    fn connections(&self) -> MutexGuard<'_, Vec<PgConnection>> {
        // Nothing that can panic runs under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Works until nobody asks any more, on `first` and so many connections at most.
pub(super) async fn run(
    mut asked: mpsc::UnboundedReceiver<Question>,
    connect: PgConnectOptions,
    first: PgConnection,
    connections: usize,
) {
    let idle = Idle::default();
    idle.connections().push(first);
    let hands = Arc::new(Semaphore::new(connections));
    while let Some(first) = asked.recv().await {
        // Meanwhile others come, and go along.
        let Ok(hand) = hands.clone().acquire_owned().await else {
            return;
        };
        let batches = together(first, &mut asked);
        let mut worker = Worker {
            connect: connect.clone(),
            connection: idle.connections().pop(),
        };
        let idle = idle.clone();
        tokio::spawn(async move {
            for batch in batches {
                worker.see_to(batch).await;
            }
            idle.connections().extend(worker.connection);
            drop(hand);
        });
    }
}

/// What stands in line behind `first`; those that may go together, together.
fn together(first: Question, asked: &mut mpsc::UnboundedReceiver<Question>) -> Vec<Vec<Question>> {
    let (mut batch, mut alone) = (Vec::new(), Vec::new());
    let mut next = Some(first);
    while let Some(question) = next {
        if question.company == Company::None {
            alone.push(question);
            break;
        }
        batch.push(question);
        next = match batch.len() < BATCH {
            true => asked.try_recv().ok(),
            false => None,
        };
    }
    // A stable sort: about one lock, they go in the order they came.
    batch.sort_by_key(|question| question.company);
    let batches = [batch, alone].into_iter();
    batches.filter(|batch| !batch.is_empty()).collect()
}

struct Worker {
    connect: PgConnectOptions,
    connection: Option<PgConnection>,
}

impl Worker {
    async fn see_to(&mut self, batch: Vec<Question>) {
        let batch = in_time(batch);
        if batch.is_empty() {
            return;
        }
        match self.ask(&batch).await {
            // One of them is what the server minds; the others need not fail for it.
            Err(Failure::NotDone(_)) if batch.len() > 1 && self.connection.is_some() => {
                for question in batch {
                    let alone = in_time(vec![question]);
                    if !alone.is_empty() {
                        let said = self.ask(&alone).await;
                        hand_out(alone, said);
                    }
                }
            }
            said => hand_out(batch, said),
        }
    }

    /// Asks all of these. What was open before may have been closed meanwhile, which shows only when
    /// it is used: then on a new connection, once more. Everything may be asked twice.
    async fn ask(&mut self, batch: &[Question]) -> Result<Answer, Failure> {
        let until = Instant::now() + PATIENCE;
        let was_open = self.connection.is_some();
        match self.ask_once(batch, until).await {
            Err(Failure::Unknown(error)) if was_open && Instant::now() < until => {
                tracing::debug!(%error, "a connection for leases was lost");
                let again = self.ask_once(batch, until).await;
                match again {
                    Ok(rows) => Ok(Answer {
                        rows,
                        asked_twice: true,
                    }),
                    Err(Failure::NotDone(error) | Failure::Unknown(error)) => {
                        Err(Failure::Unknown(error))
                    }
                }
            }
            once => once.map(|rows| Answer {
                rows,
                asked_twice: false,
            }),
        }
    }

    async fn ask_once(
        &mut self,
        batch: &[Question],
        until: Instant,
    ) -> Result<Vec<PgRow>, Failure> {
        let mut connection = self.open(until).await.map_err(Failure::NotDone)?;
        let asked = connection.fetch_all(raw_sql(AssertSqlSafe(text(batch))));
        match timeout_at(until, asked).await {
            Ok(Ok(rows)) => {
                self.connection = Some(connection);
                // The first is what goes before.
                Ok(rows.into_iter().skip(1).collect())
            }
            Ok(Err(error)) if is_clear(&error) => {
                self.roll_back(connection).await;
                Err(Failure::NotDone(refusal(error)))
            }
            Ok(Err(error)) => Err(Failure::Unknown(refusal(error))),
            Err(_) => Err(Failure::Unknown(late())),
        }
    }

    async fn open(&mut self, until: Instant) -> Result<PgConnection, Error> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => match timeout_at(until, self.connect.connect()).await {
                Ok(connected) => connected.map_err(refusal),
                Err(_) => Err(late()),
            },
        }
    }

    /// Keeps a connection whose transaction has failed, if it can be ended.
    async fn roll_back(&mut self, mut connection: PgConnection) {
        let limit = Instant::now() + Duration::from_secs(1);
        let rolled_back = timeout_at(limit, connection.execute(raw_sql("ROLLBACK"))).await;
        if matches!(rolled_back, Ok(Ok(_))) {
            self.connection = Some(connection);
        }
    }
}

/// Those that are not too old to be asked; the others are told so.
fn in_time(mut batch: Vec<Question>) -> Vec<Question> {
    let too_old = |question: &mut Question| question.asked_at.elapsed() >= PATIENCE;
    for question in batch.extract_if(.., too_old) {
        give(question, Err(Failure::NotDone(late())));
    }
    batch
}

fn text(batch: &[Question]) -> String {
    let mut text = BEGIN.to_owned();
    for question in batch {
        text.push_str(question.statement.as_str());
        text.push_str("; ");
    }
    text.push_str("COMMIT");
    text
}

/// Whether the server says itself that nothing was done. One that ends does not know.
fn is_clear(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| !code.starts_with("08") && !code.starts_with("57P"))
}

fn hand_out(batch: Vec<Question>, said: Result<Answer, Failure>) {
    let expected = batch.len();
    let said = said.and_then(|answer| match answer.rows.len() {
        rows if rows == expected || expected == 1 => Ok(answer),
        _ => Err(Failure::Unknown(super::contradiction())),
    });
    match said {
        Ok(answer) if expected == 1 => {
            if let Some(question) = batch.into_iter().next() {
                give(question, Ok(answer));
            }
        }
        Ok(Answer { rows, asked_twice }) => {
            for (question, row) in batch.into_iter().zip(rows) {
                let rows = vec![row];
                give(question, Ok(Answer { rows, asked_twice }));
            }
        }
        Err(failure) => {
            for question in batch {
                give(question, Err(failure.clone()));
            }
        }
    }
}

/// Whoever does not wait any more needs no answer.
fn give(question: Question, answer: Result<Answer, Failure>) {
    let _ = question.answer.send(answer);
}
