//! Asking for something in the caller's own transaction.

use super::{PostgresStore, errands::Adding, pool::Operation, text};
use lockwork_core::workflow::{Create, InstanceId, Result, Run, Stimulus, Time};
use lockwork_runtime::store::{Errand, ErrandKind};
use sqlx::PgConnection;
use std::time::{SystemTime, UNIX_EPOCH};

/// Asks for something in the transaction that `connection` is in: it is done if that is committed, and never if it is
/// not. Made by [`within`].
#[derive(Debug)]
pub struct Within<'c> {
    connection: &'c mut PgConnection,
    store: &'c PostgresStore,
}

/// What is asked for here counts together with whatever else the transaction of `connection` does: rows of the
/// program's own, say. The connection is one to the database of `store`, by a role with its rights.
///
/// It becomes an errand, which any node carries out after the commit: nothing is locked until then, and the
/// transaction may be of any isolation. Nodes find it within a second; [`PostgresStore::ring`] after the commit tells
/// them at once.
///
/// ```no_run
/// # use lockwork_store::postgres::{self, PostgresStore};
/// # use lockwork_core::workflow::Stimulus;
/// # use serde_json::json;
/// # async fn example(pool: sqlx::PgPool, store: PostgresStore) -> Result<(), Box<dyn std::error::Error>> {
/// let mut transaction = pool.begin().await?;
/// sqlx::query("UPDATE orders SET paid = true WHERE id = 7").execute(&mut *transaction).await?;
/// let paid = Stimulus::new("Event", &json!({"name": "OrderPaid"}))?;
/// postgres::within(&mut transaction, &store).send(paid).await?;
/// transaction.commit().await?;
/// store.ring();
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is asked for yet"]
pub const fn within<'c>(connection: &'c mut PgConnection, store: &'c PostgresStore) -> Within<'c> {
    Within { connection, store }
}

impl Within<'_> {
    /// Tells everybody for whom `stimulus` is, after the commit.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub async fn send(self, stimulus: Stimulus) -> Result<()> {
        let id = format!("send/{}", text::drawn());
        self.one(id, ErrandKind::Send(stimulus)).await
    }

    /// Creates an instance and runs it, after the commit. If there is one with that id then, nothing is started.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub async fn start(self, instance: InstanceId, create: Create, run: Run) -> Result<()> {
        let id = format!("start/{instance}");
        let kind = ErrandKind::Start {
            instance,
            create,
            run,
        };
        self.one(id, kind).await
    }

    async fn one(self, id: String, kind: ErrandKind) -> Result<()> {
        let due = now();
        self.add(vec![Errand { id, kind, due }]).await
    }

    /// Adds errands. One that is there already is not added again.
    ///
    /// # Errors
    /// What the server refuses; the transaction cannot go on then, as after any other statement that it refuses.
    pub async fn add(self, errands: Vec<Errand>) -> Result<()> {
        let adding = Adding::new(&errands)?;
        let added = adding.run(self.connection, &self.store.ways.sql).await;
        added.map_err(super::errors::Trouble::into_error)
    }
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Time::default().after(since.unwrap_or_default())
}
