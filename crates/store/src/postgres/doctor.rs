//! Looking at a server, and at what is in between, without changing anything there.

use super::{Options, check, errors::Trouble, pool::Pool, schema, tls};
use crate::doctor::{form, refused};
use lockwork_core::{
    lock::{Finding, Report, Severity},
    workflow::{Error, ErrorKind, Result},
};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row, raw_sql};
use std::time::{Duration, Instant, SystemTime};
use tokio::time::timeout;

/// How far clocks may be apart before somebody wonders, and before a node takes what another one still has in hand.
const WONDERS: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_secs(6);

/// How often something is asked of which the best answer counts.
const TIMES: usize = 3;

/// How long a statement may take while another connection is in a transaction: a pooler may have one only.
const ANSWER: Duration = Duration::from_secs(1);

pub(crate) async fn look(url: &str) -> Result<Report> {
    let options = Options::read(url)?;
    tls::provide_cryptography();
    let pool = Pool::new(&options);
    let mut one = pool.open().await.map_err(Trouble::into_error)?;
    let findings = examine(&mut one, &pool, &options).await;
    // It is gone either way.
    let _ = one.close().await;
    findings.map(Report::new)
}

async fn examine(at: &mut PgConnection, pool: &Pool, options: &Options) -> Result<Vec<Finding>> {
    let mut findings = server(at).await?;
    match tables(at, options).await {
        Ok(found) => findings.extend(found),
        Err(error) if error.kind() == ErrorKind::Unavailable => return Err(error),
        Err(error) => findings.push(refused(&error)),
    }
    findings.extend(room(at, options).await?);
    findings.extend(clock(at).await?);
    findings.extend(pooler(at, pool).await?);
    Ok(findings)
}

/// Whether commits count there.
async fn server(at: &mut PgConnection) -> Result<Vec<Finding>> {
    let found = check::found(at).await?;
    let mut findings = Vec::new();
    if let Err(error) = check::judge(&found) {
        findings.push(refused(&error));
    }
    let off = check::off(&found);
    if !off.is_empty() {
        findings.push(Finding::new(
            Severity::Unsafe,
            format!(
                "with {} off, this server may lose or damage everything when its machine fails",
                off.join(" and ")
            ),
            "turn it on in postgresql.conf",
        ));
    }
    let reads_only: bool = one(
        at,
        "SELECT current_setting('transaction_read_only')::bool AND NOT pg_is_in_recovery()",
    )
    .await?;
    if reads_only {
        findings.push(Finding::new(
            Severity::Unsafe,
            "the database is read-only for this role: default_transaction_read_only is on",
            "ALTER ROLE or ALTER DATABASE … RESET default_transaction_read_only, or turn it off in postgresql.conf",
        ));
    }
    Ok(findings)
}

/// Whether the tables are there, fit, and may be used or made.
async fn tables(at: &mut PgConnection, options: &Options) -> Result<Option<Finding>> {
    let found = schema::found(at, options).await?;
    let found = found.map(|number| u64::try_from(number).unwrap_or_default());
    let may = match found == Some(schema::KNOWN) {
        true => schema::may_use(at, options).await?,
        false => schema::may_make(at, options).await?,
    };
    match may {
        true => Ok(form(found, schema::KNOWN)),
        false => Err(schema::lacking(options)),
    }
}

/// Whether a node finds as many connections as it may use.
async fn room(at: &mut PgConnection, options: &Options) -> Result<Option<Finding>> {
    let text = "SELECT (current_setting('max_connections')::int8 - current_setting('superuser_reserved_connections')::int8 \
                - (SELECT sum(numbackends) FROM pg_stat_database))::int8";
    let left: i64 = one(at, text).await?;
    // And one that listens.
    let wanted = options.pool + 1;
    let is_short = usize::try_from(left).unwrap_or_default() < wanted;
    Ok(is_short.then(|| {
        Finding::new(
            Severity::Warning,
            format!(
                "{} connections are left on the server, and a node uses up to {wanted}",
                left.max(0)
            ),
            "raise max_connections, or lower `pool` in the URL of each node",
        )
    }))
}

async fn clock(at: &mut PgConnection) -> Result<Option<Finding>> {
    let mut best: Option<(Duration, i128)> = None;
    for _ in 0..TIMES {
        let (asked, began) = (millis(SystemTime::now()), Instant::now());
        let theirs: i64 = one(
            at,
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8",
        )
        .await?;
        let way = began.elapsed();
        // In the middle of the way there and back, it was that late here.
        let ours = asked + i128::try_from(way.as_millis() / 2).unwrap_or_default();
        let is_better = best.is_none_or(|(best, _)| way < best);
        if is_better {
            best = Some((way, i128::from(theirs) - ours));
        }
    }
    Ok(best.and_then(|(way, ahead)| apart(ahead, way)))
}

fn millis(time: SystemTime) -> i128 {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i128::try_from(since.as_millis()).unwrap_or(i128::MAX)
}

/// Whether a server's clock is too far `ahead` of ours, in milliseconds, for whatever part of the `way` the answer took.
fn apart(ahead: i128, way: Duration) -> Option<Finding> {
    let off = u64::try_from(ahead.unsigned_abs()).unwrap_or(u64::MAX);
    let surely = Duration::from_millis(off).saturating_sub(way / 2);
    let severity = match surely {
        off if off > LEASE => Severity::Unsafe,
        off if off > WONDERS => Severity::Warning,
        _ => return None,
    };
    let way = if ahead > 0 { "ahead of" } else { "behind" };
    let seconds = surely.as_secs_f64();
    Some(Finding::new(
        severity,
        format!("the server's clock is {seconds:.1} s {way} this machine's"),
        "have all machines keep time by NTP: timers and what a dead node had in hand go by each node's own clock",
    ))
}

/// Whether each transaction may get another connection: then nobody hears what other nodes tell.
async fn pooler(at: &mut PgConnection, pool: &Pool) -> Result<Option<Finding>> {
    let mut other = match pool.open().await {
        Ok(other) => other,
        // There may be no room for a second one, which was told.
        Err(_) => return Ok(None),
    };
    let has_own = has_own_session(at, &mut other).await;
    let _ = other.close().await;
    Ok((!has_own?).then(|| {
        Finding::new(
            Severity::Warning,
            "a pooler in transaction mode is in between: what other nodes tell is not heard, and work is found up to a second later",
            "connect to the server itself, or to a pool in session mode",
        )
    }))
}

/// Leaves a mark on the session, and looks for it while the `other` keeps whatever connection it was given.
async fn has_own_session(at: &mut PgConnection, other: &mut PgConnection) -> Result<bool> {
    let mark = format!("{:032x}", rand::random::<u128>());
    let leave = format!("SELECT set_config('lockwork.mark', '{mark}', false)");
    let _: String = one(at, &leave).await?;
    for _ in 0..TIMES {
        run(other, "BEGIN").await?;
        let _: i32 = one(other, "SELECT 1").await?;
        let look = "SELECT coalesce(current_setting('lockwork.mark', true), '')";
        let found = timeout(ANSWER, one::<String>(at, look)).await;
        run(other, "ROLLBACK").await?;
        if !found.is_ok_and(|found| found.is_ok_and(|found| found == mark)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The only value that `text` gives. Without preparing anything: what stands in between may not keep it.
async fn one<T>(at: &mut PgConnection, text: &str) -> Result<T>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    let row = at.fetch_one(raw_sql(AssertSqlSafe(text.to_owned()))).await;
    let value = row.and_then(|row| row.try_get(0));
    value.map_err(failed)
}

async fn run(at: &mut PgConnection, text: &'static str) -> Result<()> {
    at.execute(raw_sql(text)).await.map(drop).map_err(failed)
}

fn failed(error: sqlx::Error) -> Error {
    Trouble::from(error).into_error()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_apart_by_what_the_way_does_not_explain() {
        let severity = |ahead, way| {
            let finding = apart(ahead, Duration::from_millis(way));
            finding.map(|finding| finding.severity)
        };
        assert_eq!(severity(900, 0), None);
        assert_eq!(severity(1_400, 1_000), None);
        assert_eq!(severity(-1_400, 100), Some(Severity::Warning));
        assert_eq!(severity(6_400, 1_000), Some(Severity::Warning));
        assert_eq!(severity(6_400, 10), Some(Severity::Unsafe));
        assert_eq!(severity(-60_000, 10), Some(Severity::Unsafe));
    }

    #[test]
    fn a_clock_is_ahead_or_behind() {
        let told = |ahead| apart(ahead, Duration::ZERO).map(|finding| finding.what);
        assert_eq!(
            told(2_000).as_deref(),
            Some("the server's clock is 2.0 s ahead of this machine's")
        );
        assert_eq!(
            told(-2_000).as_deref(),
            Some("the server's clock is 2.0 s behind this machine's")
        );
    }
}
