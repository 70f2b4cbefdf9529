//! Whether somebody between us and the server gives each transaction another connection.
//!
//! Such a pooler has one connection serve two clients by turns. So two connections of ours leave a
//! mark each on their session and then look by turns: each must find its own mark, also while the
//! other is in the middle of a transaction.

use crate::{
    errors::{pooled, refused},
    settings,
    text::{first, row, run},
};
use lockwork_core::lock::{Error, Result};
use sqlx::{ConnectOptions, PgConnection, postgres::PgConnectOptions};
use std::time::Duration;

/// How often to look. A pooler gives out the connection it got back last, so the first look shows
/// it, unless another client of the pooler gets in the way.
const TIMES: usize = 4;

/// How long a statement may take while the other is in a transaction: a pooler may have one
/// connection only.
const ANSWER: Duration = Duration::from_secs(1);

/// What is on the session that answers.
const MARK: &str = "SELECT coalesce(current_setting('lockwork.mark', true), '')";

/// The same at the beginning of a transaction.
const BEGIN: &str = "BEGIN; SELECT coalesce(current_setting('lockwork.mark', true), '')";

/// Refuses a pooler in transaction mode between us and the server that `one` is connected to.
pub(crate) async fn refuse(one: &mut PgConnection, options: &PgConnectOptions) -> Result<()> {
    let mut other = options.connect().await.map_err(refused)?;
    let compared = compare(one, &mut other).await;
    settings::close(other).await;
    match compared? {
        true => Ok(()),
        false => {
            let (kind, message) = pooled();
            Err(Error::new(kind, message))
        }
    }
}

/// Whether both have a session of their own.
async fn compare(one: &mut PgConnection, other: &mut PgConnection) -> Result<bool> {
    let marks = (leave_mark(one).await?, leave_mark(other).await?);
    for _ in 0..TIMES {
        // By turns: each asks right after the other has let go.
        let before = mark_of(one, MARK).await?;
        let others = mark_of(other, BEGIN).await?;
        let meanwhile = tokio::time::timeout(ANSWER, mark_of(one, MARK)).await;
        run(other, "COMMIT".to_owned()).await?;
        let meanwhile = meanwhile.is_ok_and(|found| found.is_ok_and(|found| found == marks.0));
        if before != marks.0 || others != marks.1 || !meanwhile {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn leave_mark(connection: &mut PgConnection) -> Result<String> {
    let mark = format!("{:032x}", rand::random::<u128>());
    let leave = format!("SELECT set_config('lockwork.mark', '{mark}', false)");
    run(connection, leave).await.map(|()| mark)
}

async fn mark_of(connection: &mut PgConnection, text: &str) -> Result<String> {
    first(&row(connection, text.to_owned()).await?)
}
