//! The statements, with the schema in them. Each is prepared once for each connection.

use sqlx::{AssertSqlSafe, Postgres, postgres::PgArguments, query::Query, query::QueryAs};
use std::sync::Arc;

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)*) => {
        /// Everything that is asked of the server.
        #[derive(Debug)]
        pub(super) struct Statements { $($(#[$doc])* pub(super) $name: Arc<str>,)* }

        impl Statements {
            /// Those of a schema, as it stands in a statement.
            pub(super) fn new(schema: &str) -> Self {
                Self { $($name: String::from($text).replace("SCHEMA", schema).into(),)* }
            }
        }
    };
}

statements! {
    create = call("create", 22);
    creates = call("creates", 16);
    // The row's own columns alone: a claim that has waited for a commit sees what that has made of them. It need not
    // wait for the disk itself: a claim that a crash makes the server forget is nobody else's, by its id.
    claim = "UPDATE SCHEMA.instance SET epoch = epoch + 1, claim_id = $2 WHERE id = $1 \
             RETURNING id, epoch, version, state, cancel, committed_by, set_config('synchronous_commit', 'off', true)";
    claims = call("claims", 2);
    commit = call("commit", 42);
    commits = call("commits", 16);
    load = "SELECT id, state, version, epoch, seq FROM SCHEMA.instance WHERE id = $1";
    // `$6` is always given, so that no plan has to begin at the newest.
    list = "SELECT id, state, version, epoch, seq FROM SCHEMA.instance \
            WHERE seq < $6 AND ($1::text IS NULL OR of IN (SELECT id FROM SCHEMA.definition WHERE definition = $1)) \
              AND ($2::smallint IS NULL OR sub_status = $2) AND ($3::text IS NULL OR correlation = $3) \
              AND ($5::boolean IS NULL OR over = $5) \
            ORDER BY seq DESC LIMIT $4";
    journal = "SELECT entries FROM SCHEMA.journal WHERE instance = $1 AND last >= $2 ORDER BY version";
    entries = "SELECT coalesce(max(last) + 1, 0) FROM SCHEMA.journal WHERE instance = $1";
    cancel = call("cancel", 1);
    delete = call("delete", 1);
    forget = call("forget", 2);
    import = call("import", 15);
    tasks = "SELECT bookmark, task FROM SCHEMA.task ORDER BY bookmark";

    add = call("add", 7);
    take = "WITH due AS (SELECT id, free FROM SCHEMA.errand WHERE free <= $1 AND ($5 = 1 OR seq % $5 = ANY ($6)) \
                ORDER BY free, seq LIMIT $3 FOR UPDATE SKIP LOCKED), \
            taken AS (UPDATE SCHEMA.errand AS at SET free = $2, hold = $4 || at.seq, attempts = at.attempts + 1 \
                FROM due WHERE at.id = due.id \
                RETURNING coalesce(at.long, at.id) AS id, at.kind, at.instance, at.bookmark, at.body, at.stimulus, at.own, at.due, at.hold, \
                    at.attempts, at.seq, due.free AS was) \
            SELECT id, kind, instance, bookmark, body, stimulus, own, due, hold, attempts FROM taken ORDER BY was, seq";
    renew = "UPDATE SCHEMA.errand AS at SET free = $3 FROM unnest($1::text[], $2::text[]) AS mine (id, hold) \
             WHERE at.id = mine.id AND at.hold = mine.hold RETURNING at.hold";
    release = "UPDATE SCHEMA.errand SET free = $3, hold = NULL, attempts = attempts - $4 WHERE id = $1 AND hold = $2";
    done = call("done", 3);
    bury = call("bury", 5);
    next_due = "SELECT least((SELECT min(free) FROM SCHEMA.errand), \
                (SELECT min(timer) FROM SCHEMA.bookmark WHERE timer IS NOT NULL), \
                (SELECT min(next) FROM SCHEMA.trigger WHERE next IS NOT NULL), (SELECT min(free) FROM SCHEMA.job))";

    send = call("send", 17);
    fire = call("fire", 2);
    schedule = call("schedule", 8);
    // In the order of `Timer`: of neither are more read than are wanted.
    timers = "(SELECT timer AS due, false AS starts, id AS first, instance AS second FROM SCHEMA.bookmark \
                  WHERE timer IS NOT NULL ORDER BY timer, id, instance LIMIT $1) \
              UNION ALL (SELECT next, true, definition, node FROM SCHEMA.trigger \
                  WHERE next IS NOT NULL ORDER BY next, definition, node LIMIT $1) \
              ORDER BY due, starts, first, second LIMIT $1";
    waiting = "SELECT id, stimulus, to_instance, created, expires FROM SCHEMA.waiting ORDER BY seq";
    purge = call("purge", 2);
    dead_letters = "SELECT id, at, replayed, reason, errand, stimulus_id, stimulus, to_instance, created, expires \
                    FROM SCHEMA.dead_letter ORDER BY id";
    dead_letter = "SELECT id, at, replayed, reason, errand, stimulus_id, stimulus, to_instance, created, expires \
                   FROM SCHEMA.dead_letter WHERE id = $1";
    replay = call("replay", 8);

    put = call("put", 11);
    last_version = "SELECT id, number, published, created, body FROM SCHEMA.definition WHERE definition = $1 \
                    ORDER BY number DESC LIMIT 1";
    version = "SELECT id, number, published, created FROM SCHEMA.definition WHERE id = $1";
    // `$2`: 0 published, 1 latest, 2 draft, 3 published or latest, 4 the one with the number `$3`.
    selected = "SELECT id, number, published, created FROM SCHEMA.definition \
                WHERE definition = $1 AND CASE $2::smallint WHEN 0 THEN published WHEN 4 THEN number = $3 ELSE true END \
                ORDER BY CASE WHEN $2 = 3 THEN published ELSE false END DESC, number DESC LIMIT 1";
    body = "SELECT body FROM SCHEMA.definition WHERE id = $1";
    versions = "SELECT id, number, published, created, body FROM SCHEMA.definition \
                WHERE $1::text IS NULL OR definition = $1 ORDER BY definition, number";
    retract = call("retract", 1);
    index = call("index", 5);
    triggers = "SELECT node, hash, schedule, next FROM SCHEMA.trigger WHERE definition = $1 ORDER BY ordinal";

    take_jobs = "UPDATE SCHEMA.job AS at SET free = $2, hold = $4 || due.number, attempts = at.attempts + 1 \
                 FROM (SELECT bookmark, row_number() OVER () AS number FROM (SELECT bookmark FROM SCHEMA.job \
                     WHERE free <= $1 ORDER BY free, bookmark LIMIT $3 FOR UPDATE SKIP LOCKED) AS free) AS due \
                 WHERE at.bookmark = due.bookmark \
                 RETURNING at.instance, at.bookmark, at.job, at.hold, at.attempts";
    renew_jobs = "UPDATE SCHEMA.job AS at SET free = $3 FROM unnest($1::text[], $2::text[]) AS mine (bookmark, hold) \
                  WHERE at.bookmark = mine.bookmark AND at.hold = mine.hold RETURNING at.hold";
    release_jobs = "UPDATE SCHEMA.job AS at SET free = $3, hold = NULL, attempts = at.attempts - 1 \
                    FROM unnest($1::text[], $2::text[]) AS mine (bookmark, hold) \
                    WHERE at.bookmark = mine.bookmark AND at.hold = mine.hold RETURNING at.bookmark";
    finish_job = "WITH gone AS (DELETE FROM SCHEMA.job WHERE bookmark = $1 AND hold = $2 RETURNING 1), \
                  added AS (INSERT INTO SCHEMA.errand (id, kind, instance, bookmark, body, due, free) \
                      SELECT $3, 1, $4, $1, $5, $6, $6 FROM gone ON CONFLICT (id) DO NOTHING) \
                  SELECT EXISTS (SELECT FROM gone)";

    beat = "INSERT INTO SCHEMA.node (name, since, beat, until, bursts, running) VALUES ($1, $2, $3, $4, $5, $6) \
            ON CONFLICT (name) DO UPDATE SET since = excluded.since, beat = excluded.beat, until = excluded.until, \
                bursts = excluded.bursts, running = excluded.running \
            RETURNING set_config('synchronous_commit', 'off', true)";
    nodes = "SELECT name, since, beat, until, bursts, running FROM SCHEMA.node ORDER BY name";
    forget_nodes = "DELETE FROM SCHEMA.node WHERE until < $1";
    // Whoever comes second sees what the first one said only if the row is touched.
    parts = "INSERT INTO SCHEMA.agreed (name, number) VALUES ('parts', greatest($1, 1)) \
             ON CONFLICT (name) DO UPDATE SET number = agreed.number RETURNING number";
    to_be_ended = "SELECT id FROM SCHEMA.instance WHERE id = ANY ($1) AND cancel AND NOT over";

    ring = "SELECT pg_notify($1, $2)";
}

/// A call of one of our functions.
fn call(name: &str, arguments: usize) -> String {
    let arguments: Vec<_> = (1..=arguments).map(|number| format!("${number}")).collect();
    format!(
        "SELECT * FROM SCHEMA.store_{name}_v1({})",
        arguments.join(", ")
    )
}

/// A statement, to be given its arguments.
pub(super) fn ask(text: &Arc<str>) -> Query<'static, Postgres, PgArguments> {
    sqlx::query(AssertSqlSafe(Arc::clone(text)))
}

/// The same, with rows of a type.
pub(super) fn ask_as<T>(text: &Arc<str>) -> QueryAs<'static, Postgres, T, PgArguments>
where
    T: for<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow>,
{
    sqlx::query_as(AssertSqlSafe(Arc::clone(text)))
}

/// A column of a table that a statement is given.
pub(super) fn column<T>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect()
}

/// A type of rows, by the names of their columns.
macro_rules! row {
    ($(#[$doc:meta])* $seen:vis struct $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        $seen struct $name { $($field: $type,)* }

        impl<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow> for $name {
            fn from_row(row: &'r sqlx::postgres::PgRow) -> Result<Self, sqlx::Error> {
                use sqlx::Row;
                Ok(Self { $($field: row.try_get(stringify!($field))?,)* })
            }
        }
    };
}
pub(super) use row;
