//! Opening sessions: looking once whether locks are safe there, then one for each who needs one.

use crate::{
    connect::{Link, nothing},
    errors::{failed, refused},
    keys::Key,
    options::Options,
    schema,
    session::{Connection, GRANTED, Habits},
};
use lockwork_core::lock::{Error, ErrorKind, LockId, Mode, Result, backend::session::Open};
use std::time::Duration;
use tokio::sync::OnceCell;

/// How long getting in may take, and any answer but that to a wait.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Opens sessions of one database.
#[derive(Debug)]
pub(crate) struct Opener {
    pub(crate) options: Options,
    habits: OnceCell<Habits>,
}

impl Opener {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            options,
            habits: OnceCell::new(),
        }
    }

    /// Looks whether locks are safe there, once.
    pub(crate) async fn look(&self) -> Result<Habits> {
        self.habits
            .get_or_try_init(|| self.look_now())
            .await
            .copied()
    }

    async fn look_now(&self) -> Result<Habits> {
        let mut link = Link::to(&self.options.config).await?;
        let text = "SELECT @@VERSION, \
                    CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), 'Updateability'))";
        let row = link.row(text, &[]).await?;
        let version: &str = row.try_get(0).map_err(refused)?.ok_or_else(nothing)?;
        let updateability: Option<&str> = row.try_get(1).map_err(refused)?;
        if updateability == Some("READ_ONLY") {
            let message = "the database is read-only, a secondary perhaps, whose locks exclude \
                           nobody on the primary: connect to the primary";
            return Err(Error::new(ErrorKind::Denied, message));
        }
        let habits = Habits {
            hears_attention: !version.contains("Babelfish"),
        };
        self.try_out(&mut link).await?;
        if self.options.tokens {
            schema::ensure(&mut link, &self.options).await?;
        }
        Ok(habits)
    }

    /// Takes a lock that nobody has and gives it back. Who may not give back would lose a connection
    /// with each lock, and be told nothing.
    async fn try_out(&self, link: &mut Link) -> Result<()> {
        let text = "DECLARE @r int; \
                    EXEC @r = sp_getapplock @Resource = @P2, @LockMode = 'Exclusive', \
                    @LockOwner = 'Session', @LockTimeout = 0, @DbPrincipal = @P1; \
                    IF @r >= 0 EXEC sp_releaseapplock @Resource = @P2, @LockOwner = 'Session', \
                    @DbPrincipal = @P1; \
                    SELECT @r;";
        let resource = format!("lockwork/try-out/{:032x}", rand::random::<u128>());
        let row = link
            .row(text, &[&self.options.principal, &resource])
            .await?;
        match row.try_get(0).map_err(refused)?.ok_or_else(nothing)? {
            GRANTED.. => Ok(()),
            code => Err(failed(code)),
        }
    }
}

impl Open for Opener {
    type Session = Connection;

    async fn open(&self, _: Option<Duration>) -> Result<Connection> {
        let habits = self.look().await?;
        let link = Link::to(&self.options.config).await?;
        Ok(Connection::new(link, &self.options, habits))
    }

    fn key(&self, id: &LockId) -> Key {
        Key::of(id, self.options.compat)
    }

    /// One permit can be waited for, but not any of several.
    fn waits_for(&self, mode: Mode) -> bool {
        !matches!(mode, Mode::Permit { .. })
    }
}
