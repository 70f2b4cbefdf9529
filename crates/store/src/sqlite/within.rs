//! Starting, sending and asking inside of the caller's own transaction.

use super::{errands, tell};
use lockwork_core::workflow::{Create, InstanceId, Result, Run, Stimulus, Time};
use lockwork_runtime::{
    Clock, Options, SystemClock,
    store::{Errand, ErrandKind, Sending},
};
use sqlx::SqliteConnection;

/// What can be asked of the runtime inside of the caller's own transaction.
#[derive(Debug)]
pub struct Within<'c> {
    connection: &'c mut SqliteConnection,
    now: Time,
}

/// Writes down what a runtime shall do, with the caller's own rows or not at all.
///
/// `connection` is the caller's, to the file of the store, in a transaction. Nothing happens before that is committed, and
/// nothing at all if it is not; afterwards a runtime on the file does what was asked for within a second.
///
/// If something fails here, roll the transaction back.
pub fn within(connection: &mut SqliteConnection) -> Within<'_> {
    Within {
        connection,
        now: SystemClock.now(),
    }
}

impl Within<'_> {
    /// As if it were this late.
    #[must_use]
    pub const fn at(mut self, now: Time) -> Self {
        self.now = now;
        self
    }

    /// An instance shall exist, and run. Its id is the caller's: asked for twice, it is one.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn start(self, instance: InstanceId, create: Create, run: Run) -> Result<()> {
        let errand = Errand {
            id: format!("start/{instance}"),
            kind: ErrandKind::Start {
                instance,
                create,
                run,
            },
            due: self.now,
        };
        self.add(vec![errand]).await
    }

    /// Something happened: whoever waits for it is told, and if that is nobody it waits as long as a runtime's does.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn send(self, stimulus: Stimulus) -> Result<()> {
        let sending = Sending {
            id: errands::new_hold(),
            stimulus,
            now: self.now,
            expires: Some(self.now.after(Options::default().stimulus_waits)),
            consumes: None,
            hold: self.now,
        };
        tell::send(self.connection, sending).await.map(drop)
    }

    /// Something has to be done. What is there already under the same name is not added again.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn add(self, errands: Vec<Errand>) -> Result<()> {
        errands::add(self.connection, errands).await
    }
}
