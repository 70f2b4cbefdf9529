//! Whether a server is one on which commits count.

use super::errors::Trouble;
use lockwork_core::workflow::{Error, ErrorKind, Result};
use sqlx::PgConnection;

/// The first version with everything that is used.
const OLDEST: i32 = 140_000;

pub(super) type Found = (i32, bool, String, String, String, String, String);

/// What a server says of itself.
pub(super) async fn found(at: &mut PgConnection) -> Result<Found> {
    let text = "SELECT current_setting('server_version_num')::int4, pg_is_in_recovery(), \
        current_setting('synchronous_commit'), current_setting('fsync'), \
        current_setting('default_transaction_isolation'), current_setting('server_encoding'), \
        current_setting('full_page_writes')";
    let found = sqlx::query_as::<_, Found>(text).persistent(false);
    let found = found.fetch_one(at).await;
    found.map_err(|error| Trouble::from(error).into_error())
}

/// Refuses a server that forgets what it has confirmed, or takes no orders; has a word about others.
pub(super) async fn server(at: &mut PgConnection) -> Result<()> {
    let found = found(at).await?;
    judge(&found)?;
    let off = off(&found);
    if !off.is_empty() {
        tracing::warn!(
            off = off.join(", "),
            "this server may lose or damage everything when its machine fails: turn it on"
        );
    }
    Ok(())
}

/// What is off without which a failing machine takes everything with it.
pub(super) fn off((.., fsync, _, _, pages): &Found) -> Vec<&'static str> {
    let settings = [("fsync", fsync), ("full_page_writes", pages)];
    let off = settings.into_iter().filter(|(_, value)| *value == "off");
    off.map(|(name, _)| name).collect()
}

pub(super) fn judge((version, is_standby, waits, _, isolation, encoding, _): &Found) -> Result<()> {
    let denied = |message| Err(Error::new(ErrorKind::Denied, message));
    if *version < OLDEST {
        return denied("this PostgreSQL is too old for a store: use version 14 or later")
            .map_err(|error: Error| error.with("server_version_num", version));
    }
    if *is_standby {
        return denied("this server is a standby, which takes no orders: connect to the primary");
    }
    if waits == "off" {
        return denied(
            "synchronous_commit is off for this role, database or server, so a crash would make it forget commits that \
             it has confirmed: ALTER ROLE or ALTER DATABASE … RESET synchronous_commit, or turn it on in \
             postgresql.conf",
        );
    }
    if isolation != "read committed" {
        return denied(
            "default_transaction_isolation is not `read committed`, and a pooler in between keeps us from saying so: \
             ALTER ROLE … SET default_transaction_isolation = 'read committed'",
        );
    }
    if encoding != "UTF8" {
        return denied("the database has another encoding than UTF8: create one that has it")
            .map_err(|error: Error| error.with("encoding", encoding));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(version: i32, standby: bool, rest: [&str; 4]) -> Found {
        let [waits, isolation, encoding, fsync] = rest.map(str::to_owned);
        (
            version,
            standby,
            waits,
            fsync,
            isolation,
            encoding,
            "on".to_owned(),
        )
    }

    #[test]
    fn servers_on_which_commits_do_not_count_are_refused() {
        let good = ["on", "read committed", "UTF8", "on"];
        assert!(judge(&found(150_000, false, good)).is_ok());
        let fast = ["on", "read committed", "UTF8", "off"];
        assert!(judge(&found(150_000, false, fast)).is_ok());
        for bad in [
            found(130_014, false, good),
            found(150_000, true, good),
            found(150_000, false, ["off", "read committed", "UTF8", "on"]),
            found(150_000, false, ["on", "serializable", "UTF8", "on"]),
            found(150_000, false, ["on", "read committed", "LATIN1", "on"]),
        ] {
            let error = judge(&bad).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::Denied, "{bad:?}");
        }
    }
}
