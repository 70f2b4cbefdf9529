//! One connection: locks live on it, and it can wait at the server while it holds none.

mod plan;
mod readers;

use crate::{
    connect::{Link, nothing},
    errors::{failed, refused},
    keys::Key,
    options::Options,
    statement::{Said, Statement},
};
use lockwork_core::lock::{
    Error, ErrorKind, Mode, Result, Token,
    backend::session::{Answer, Batch, Session, Take, Taken},
};
use readers::Readers;
use std::{collections::HashMap, fmt, time::Duration};

/// A grant after a wait is 1; some servers say 0.
pub(crate) const GRANTED: i32 = 0;

/// Not in time.
pub(crate) const TIMED_OUT: i32 = -1;

/// Of no use; or busy, from servers that say so when asked not to wait.
pub(crate) const WRONG: i32 = -999;

/// A server that does not hear when a wait is called off is not asked for longer ones than this.
const DEAF: Duration = Duration::from_secs(2);

/// What servers differ in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    /// Whether a wait ends when it is called off.
    pub(crate) hears_attention: bool,
}

/// A session of the server.
pub(crate) struct Connection {
    link: Link,
    habits: Habits,
    principal: String,
    sequence: Option<String>,
    /// By which the server knows this session.
    number: Option<i32>,
    /// The permits we have.
    slots: HashMap<Key, Vec<i64>>,
    readers: Readers,
    undo: Undo,
    /// Whether a wait was begun whose end nobody has read.
    waits: bool,
    /// The server contradicts us: nothing that is held here can be relied on.
    is_mad: bool,
}

/// What is needed to undo an exchange and is not in its batch.
#[derive(Debug, Default)]
struct Undo {
    /// How many permits there were before.
    before: HashMap<Key, usize>,
    /// Permits that were to be given back.
    given: Vec<(Key, i64)>,
    /// Readers that came in.
    readers: Vec<Key>,
}

impl Undo {
    fn forget(&mut self) {
        self.before.clear();
        self.given.clear();
        self.readers.clear();
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Connection {
    pub(crate) fn new(link: Link, options: &Options, habits: Habits) -> Self {
        Self {
            link,
            habits,
            principal: options.principal.clone(),
            sequence: options.tokens.then(|| options.sequence()),
            number: None,
            slots: HashMap::new(),
            readers: Readers::default(),
            undo: Undo::default(),
            waits: false,
            is_mad: false,
        }
    }

    fn statement(&self) -> Statement {
        Statement::new(&self.principal, self.sequence.as_deref())
    }

    /// Sends, and gets what is said to each thing.
    async fn send(&mut self, statement: &Statement) -> Result<Vec<Said>> {
        let row = self
            .link
            .row(&statement.text(), &statement.parameters())
            .await?;
        let number: i32 = row.try_get(0).map_err(refused)?.ok_or_else(nothing)?;
        if *self.number.get_or_insert(number) != number {
            return Err(self.contradiction());
        }
        let each = (0..statement.things()).map(|thing| {
            let code: Option<i32> = row.try_get(1 + 2 * thing).map_err(refused)?;
            let number = row.try_get(2 + 2 * thing).map_err(refused)?;
            // Nothing was to be done.
            let code = code.unwrap_or(GRANTED);
            Ok(Said { code, number })
        });
        each.collect()
    }

    fn contradiction(&mut self) -> Error {
        self.is_mad = true;
        let message = "SQL Server does not hold what was held on this connection: a proxy may be in \
                       between, connect to the server itself";
        Error::new(ErrorKind::Unexpected, message)
    }

    /// Settles what some servers call wrong and others busy, by asking which of it could be had, and taking that in a
    /// way in which they say which. Only asking would not do: it may have been busy and be free since.
    async fn ask_back(&mut self, takes: Vec<&Take<Key>>, answer: &mut Answer<Key>) -> Result<()> {
        let said = self.ask_each(&takes, Statement::test).await?;
        let each = takes.into_iter().zip(said);
        let free: Vec<_> = each
            .filter(|(_, said)| said.code == 1)
            .map(|(take, _)| take)
            .collect();
        let said = self.ask_each(&free, Statement::take_clearly).await?;
        match self.read_takes(free.into_iter().zip(said), answer)?.len() {
            0 => Ok(()),
            _ => Err(failed(WRONG)),
        }
    }

    /// What is said to each of these, asked for so. To none nothing is said.
    async fn ask_each(
        &mut self,
        takes: &[&Take<Key>],
        how: fn(&mut Statement, &Take<Key>),
    ) -> Result<Vec<Said>> {
        if takes.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.statement();
        for take in takes {
            how(&mut statement, take);
        }
        self.send(&statement).await
    }

    async fn wait_for(
        &mut self,
        take: &Take<Key>,
        at_most: Duration,
    ) -> Result<Option<Taken<Key>>> {
        let at_most = match self.habits.hears_attention {
            true => at_most,
            false => at_most.min(DEAF),
        };
        let milliseconds = i32::try_from(at_most.as_millis()).unwrap_or(i32::MAX);
        let mut statement = self.statement();
        // Not less than was asked for: who comes back too early asks again for nothing.
        statement.take_within(take, i64::from(milliseconds) + 1);
        let said = self.send(&statement).await?;
        let said = said.first().ok_or_else(nothing)?;
        match said.code {
            GRANTED.. => {
                if take.mode == Mode::Read {
                    self.readers.enter(&take.key);
                }
                Ok(Some(Taken {
                    key: take.key.clone(),
                    token: token(said.number),
                }))
            }
            TIMED_OUT => Ok(None),
            code => Err(failed(code)),
        }
    }
}

fn token(number: Option<i64>) -> Option<Token> {
    u64::try_from(number?).ok().and_then(Token::from_server)
}

impl Session for Connection {
    type Key = Key;

    async fn exchange(&mut self, batch: &Batch<Key>) -> Result<Answer<Key>> {
        let statement = self.plan(batch);
        let said = self.send(&statement).await?;
        let mut answer = Answer::granting(Vec::new());
        let unclear = self.read(batch, said, &mut answer)?;
        self.ask_back(unclear, &mut answer).await?;
        Ok(answer)
    }

    async fn clean_up(&mut self, batch: &Batch<Key>) -> Result<()> {
        if self.is_mad {
            return Err(self.contradiction());
        }
        let statement = self.plan_clean_up(batch)?;
        self.send(&statement).await.map(drop)
    }

    async fn news(&mut self) -> Result<Key> {
        self.link.closed().await;
        let message = "SQL Server ended the connection";
        Err(Error::new(ErrorKind::Unavailable, message))
    }

    async fn wait(&mut self, take: &Take<Key>, at_most: Duration) -> Result<Option<Taken<Key>>> {
        self.waits = true;
        let waited = self.wait_for(take, at_most).await;
        self.waits = false;
        waited
    }

    async fn stop(&mut self, take: &Take<Key>) -> Result<()> {
        if self.waits {
            self.link.cancel().await?;
            self.waits = false;
        }
        let mut statement = self.statement();
        statement.drop_all(take.key.resource());
        if let Some(gate) = take.key.gate() {
            statement.drop_all(gate);
        }
        self.send(&statement).await.map(drop)
    }
}
