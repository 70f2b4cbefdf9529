//! The one connection that writes, and the thread it is used from.
//!
//! Whoever wants to write hands over an operation. Operations that come while others are under way are committed
//! together with them: the disk is waited for once, by all of them. Each is behind a savepoint of its own, so one that
//! is refused takes no other with it. Nobody is answered before the commit.
//!
//! A group in which everybody could do without what they did is not waited for by anybody: it is in the log, and on the
//! disk with the next one. Only a loss of power could undo it, and that ends all processes that could have known of it.

use super::{
    Options, error, open, sql,
    turn::{self, Turn},
};
use lockwork_core::workflow::{Answer, Error, ErrorKind, Result};
use sqlx::SqliteConnection;
use std::{collections::VecDeque, fmt};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

/// How many operations may stand in line. More wait outside.
const LINE: usize = 1024;

const BEGIN: &str = "BEGIN IMMEDIATE; SAVEPOINT operation";
const NEXT: &str = "RELEASE operation; SAVEPOINT operation";
const UNDO: &str = "ROLLBACK TO operation";
const COMMIT: &str = "RELEASE operation; COMMIT";

/// Takes operations to the thread that writes. That ends when this is gone, and what was handed over is done.
pub(super) struct Writer {
    line: mpsc::Sender<Box<dyn Operation>>,
    closing: watch::Sender<bool>,
    ended: watch::Receiver<bool>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(connection: SqliteConnection, options: Options) -> Result<Self> {
        let (line, operations) = mpsc::channel(LINE);
        let (closing, close) = watch::channel(false);
        let (end, ended) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(no_thread)?;
        let thread = Thread {
            connection: Some(Opened::new(connection)),
            turn: Turn::beside(&options.file),
            gathered: VecDeque::new(),
            operations,
            close,
            options,
        };
        std::thread::Builder::new()
            .name("lockwork-sqlite".to_owned())
            .spawn(move || {
                runtime.block_on(thread.run());
                end.send_replace(true);
            })
            .map_err(no_thread)?;
        Ok(Self {
            line,
            closing,
            ended,
        })
    }

    /// Does `work` in a transaction. Once it was handed over it is done, even if nobody waits for it any more.
    pub(super) async fn write<T, W>(&self, lasts: Lasts, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(&'c mut SqliteConnection) -> Answer<'c, T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let asked = Asked {
            lasts,
            work: Some(work),
            result: None,
            reply,
        };
        let sent = self.line.send(Box::new(asked)).await;
        sent.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Ends the thread, once everything that stands in line is done.
    pub(super) async fn close(&self) {
        self.closing.send_replace(true);
        let mut ended = self.ended.clone();
        // Gone without a word is ended too.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

fn closed() -> Error {
    let message = "the store is closed: open it again";
    Error::new(ErrorKind::Unavailable, message).transient(false)
}

/// What fails in the middle of the disk takes all of the group with it (<https://www.sqlite.org/lang_transaction.html>,
/// "Response To Errors Within A Transaction"): there is nothing left that could be undone.
fn taken_back(error: Error) -> Error {
    let message = "the store's file failed while it was written, and nothing of that counts: check its disk; the store goes \
                   on by itself";
    Error::new(ErrorKind::Unavailable, message).because(error)
}

fn no_thread(error: std::io::Error) -> Error {
    let message = "the store got no thread: allow this process more of them";
    Error::new(ErrorKind::Unavailable, message).because(error)
}

/// Whether what was done has to outlast a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasts {
    /// It has to.
    Always,
    /// Whoever could tell is gone by then: claims and holds, which are worth nothing without whoever has them.
    WhileSomebodyKnows,
}

/// Something to do in a transaction.
trait Operation: Send {
    /// Whether it has to outlast a loss of power.
    fn lasts(&self) -> Lasts;

    /// Does it, and says whether it counts.
    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> Run<'c>;

    /// Tells whoever asked.
    fn settle(self: Box<Self>, committed: &Result<()>);
}

type Run<'c> = std::pin::Pin<Box<dyn Future<Output = bool> + Send + 'c>>;

struct Asked<T, W> {
    lasts: Lasts,
    work: Option<W>,
    result: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T, W> Operation for Asked<T, W>
where
    T: Send + 'static,
    W: for<'c> FnOnce(&'c mut SqliteConnection) -> Answer<'c, T> + Send + 'static,
{
    fn lasts(&self) -> Lasts {
        self.lasts
    }

    fn run<'c>(&'c mut self, connection: &'c mut SqliteConnection) -> Run<'c> {
        Box::pin(async move {
            if let Some(work) = self.work.take() {
                self.result = Some(work(connection).await);
            }
            matches!(self.result, Some(Ok(_)))
        })
    }

    fn settle(self: Box<Self>, committed: &Result<()>) {
        let result = match (committed, self.result) {
            (Err(error), _) => Err(error.clone()),
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(closed()),
        };
        // Whoever has gone away does not want to know.
        let _ = self.reply.send(result);
    }
}

/// A connection, and whether its commits wait for the disk, once that was said.
struct Opened {
    connection: SqliteConnection,
    lasts: Option<Lasts>,
}

/// Who waits here looks again by itself: what SQLite does meanwhile grows to a tenth of a second, and to be that late
/// would cost all that others left room for.
const LOOK_ONCE: &str = "PRAGMA busy_timeout = 1";

impl Opened {
    const fn new(connection: SqliteConnection) -> Self {
        let lasts = None;
        Self { connection, lasts }
    }

    /// Says what was not said yet. Never prepared: what is done by compiling it would be done once only.
    async fn prepare(&mut self, lasts: Lasts) -> sqlx::Result<()> {
        if self.lasts.is_none() {
            sqlx::raw_sql(LOOK_ONCE)
                .execute(&mut self.connection)
                .await?;
        }
        if self.lasts != Some(lasts) {
            let level = match lasts {
                Lasts::Always => "PRAGMA synchronous = FULL",
                Lasts::WhileSomebodyKnows => "PRAGMA synchronous = NORMAL",
            };
            sqlx::raw_sql(level).execute(&mut self.connection).await?;
            self.lasts = Some(lasts);
        }
        Ok(())
    }

    /// Begins a transaction, and waits until `until` for others to end theirs.
    async fn begin(&mut self, lasts: Lasts, until: Instant) -> Result<&mut SqliteConnection> {
        self.prepare(lasts).await.map_err(error::of)?;
        loop {
            let begun = sql::all(&mut self.connection, sql::sql(BEGIN)).await;
            match begun {
                Ok(_) => return Ok(&mut self.connection),
                Err(failed) if error::is_busy(&failed) && Instant::now() < until => {
                    tokio::time::sleep(turn::AGAIN).await;
                }
                Err(failed) => return Err(error::of(failed)),
            }
        }
    }
}

struct Thread {
    connection: Option<Opened>,
    operations: mpsc::Receiver<Box<dyn Operation>>,
    /// Those that are next.
    gathered: VecDeque<Box<dyn Operation>>,
    close: watch::Receiver<bool>,
    turn: Turn,
    options: Options,
}

impl Thread {
    async fn run(mut self) {
        while self.gather().await {
            self.group().await;
        }
        if let Some(opened) = self.connection.take() {
            open::close(opened.connection).await;
        }
    }

    /// Waits for an operation. Says whether there is one.
    async fn gather(&mut self) -> bool {
        if self.gathered.is_empty() {
            let next = self.next().await;
            self.gathered.extend(next);
        }
        while self.gathered.len() < self.options.group
            && let Ok(next) = self.operations.try_recv()
        {
            self.gathered.push_back(next);
        }
        !self.gathered.is_empty()
    }

    /// The next operation, until there will be none any more.
    async fn next(&mut self) -> Option<Box<dyn Operation>> {
        tokio::select! {
            biased;
            next = self.operations.recv() => return next,
            _ = self.close.wait_for(|close| *close) => self.operations.close(),
        }
        self.operations.recv().await
    }

    /// The next one of this group, if it has room for it.
    fn join(&mut self, lasts: Lasts, members: usize) -> Option<Box<dyn Operation>> {
        if members >= self.options.group {
            return None;
        }
        if self.gathered.is_empty() {
            self.gathered.extend(self.operations.try_recv().ok());
        }
        self.gathered
            .pop_front_if(|next| lasts == Lasts::Always || next.lasts() == lasts)
    }

    /// Does what is there, commits it, and tells everybody.
    async fn group(&mut self) {
        let lasts = match self.gathered.iter().any(|one| one.lasts() == Lasts::Always) {
            true => Lasts::Always,
            false => Lasts::WhileSomebodyKnows,
        };
        let mut done = Vec::new();
        let mut opened = self.connection.take();
        let committed = match Self::begin(&self.options, &self.turn, &mut opened, lasts).await {
            Ok(connection) => self.transaction(connection, lasts, &mut done).await,
            Err(error) => {
                // None of them would have to wait for less.
                done.extend(self.gathered.drain(..));
                Err(error)
            }
        };
        match (committed.is_ok(), opened) {
            (true, opened) => self.connection = opened,
            (false, Some(opened)) => open::close(opened.connection).await,
            (false, None) => {}
        }
        for operation in done {
            operation.settle(&committed);
        }
    }

    async fn transaction(
        &mut self,
        connection: &mut SqliteConnection,
        lasts: Lasts,
        done: &mut Vec<Box<dyn Operation>>,
    ) -> Result<()> {
        while let Some(mut operation) = self.join(lasts, done.len()) {
            let first = done.is_empty();
            let begun = match first {
                true => Ok(()),
                false => execute(connection, NEXT).await,
            };
            let counts = begun.is_ok() && operation.run(connection).await;
            done.push(operation);
            begun?;
            if !counts {
                execute(connection, UNDO).await.map_err(taken_back)?;
            }
        }
        execute(connection, COMMIT).await
    }

    /// Begins a transaction, on a new connection if the last one was of no use any more.
    async fn begin<'c>(
        options: &Options,
        turn: &Turn,
        opened: &'c mut Option<Opened>,
        lasts: Lasts,
    ) -> Result<&'c mut SqliteConnection> {
        let opened = match opened {
            Some(opened) => opened,
            none => none.insert(Opened::new(open::writer(options).await?)),
        };
        let until = Instant::now() + options.busy;
        let _next = turn.wait(until).await;
        opened.begin(lasts, until).await
    }
}

async fn execute(connection: &mut SqliteConnection, text: &'static str) -> Result<()> {
    let done = sql::all(connection, sql::sql(text)).await;
    done.map(drop).map_err(error::of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::Row;

    async fn level(writer: &Writer, lasts: Lasts) -> i64 {
        let level = writer.write(lasts, |connection| {
            Box::pin(async move {
                let row = sqlx::query("PRAGMA synchronous").fetch_one(connection);
                Ok(row.await.map_err(error::of)?.get(0))
            })
        });
        level.await.unwrap()
    }

    #[tokio::test]
    async fn whoever_needs_the_disk_waits_for_it_each_time() {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new(directory.path().join("lockwork.db"));
        let connection = open::writer(&options).await.unwrap();
        let writer = Writer::start(connection, options).unwrap();
        for _ in 0..3 {
            assert_eq!(level(&writer, Lasts::WhileSomebodyKnows).await, 1);
            assert_eq!(level(&writer, Lasts::Always).await, 2);
        }
        writer.close().await;
    }
}
