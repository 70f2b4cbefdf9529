//! The one statement that does everything: it goes through its rows in order and does with each
//! what its first column says. The rows are made in `rows.rs`.
//!
//! The server prepares every branch of it each time, taken or not, and that takes longer than
//! taking a lock. So there is a second one for what most batches consist of: the same, with few
//! branches and columns.
//!
//! Every function in it answers at once; none waits. That the rows are gone through in order, and
//! that a `CASE` looks at no branch it does not need, is what the whole backend rests on: one
//! function scan, no join, no sort, nothing that could be folded beforehand.

use std::sync::Arc;

/// What to do with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i16)]
pub(crate) enum Op {
    /// Takes the lock alone, with a token.
    Exclusive = 1,
    /// Takes the lock with other readers, if no writer waits for its turn.
    Read = 2,
    /// The same, and is the one of them that may rise.
    Upgradeable = 3,
    /// Takes the first permit that is free.
    Permit = 4,
    /// Gives back what was taken alone, and tells those who wait.
    GiveExclusive = 10,
    GiveRead = 11,
    GiveUpgradeable = 12,
    GiveUpgraded = 13,
    /// A waiting writer holds this, so that no reader overtakes it.
    Turn = 20,
    /// Waits no more.
    Leave = 21,
    /// A writer waits no more; readers may.
    LeaveTurn = 22,
    /// Lets go of a number, whether it is held or not.
    Drop = 30,
    DropShared = 31,
}

impl Op {
    /// Whether the short statement can do it.
    pub(crate) const fn is_plain(self) -> bool {
        matches!(self, Self::Exclusive | Self::GiveExclusive | Self::Leave)
    }
}

/// What a row says if the lock was not free,
pub(crate) const REFUSED: i64 = -1;
/// or if somebody looked in this very moment whether anybody waits: try again.
pub(crate) const UNREGISTERED: i64 = -3;
/// What a row says of what was given back and nobody waits for,
pub(crate) const GIVEN: i64 = 1;
/// or somebody waits for.
pub(crate) const GIVEN_AND_TOLD: i64 = 2;

/// Where waiters are told.
pub(crate) const CHANNEL: &str = "lockwork";

/// Both of them.
#[derive(Clone, Debug)]
pub(crate) struct Statements {
    /// Does everything.
    pub(crate) whole: Arc<str>,
    /// Does what is [plain](Op::is_plain), with keys that are no pairs.
    pub(crate) plain: Arc<str>,
}

impl Statements {
    /// With tokens from `sequence` if there is one. `pairs` for keys that may be pairs.
    pub(crate) fn new(sequence: Option<&str>, pairs: bool) -> Self {
        let token = match sequence {
            Some(sequence) => format!("nextval('{sequence}'::regclass)"),
            None => "0::int8".to_owned(),
        };
        Self {
            whole: whole(&token, pairs).into(),
            plain: plain(&token).into(),
        }
    }
}

/// Says whether anybody waits, to those as well. After it was given back, not before: a waiter looks
/// once more after it has made itself known.
fn tell() -> String {
    format!(
        "CASE WHEN pg_try_advisory_lock(r.wait) \
           THEN CASE WHEN pg_advisory_unlock(r.wait) THEN {GIVEN}::int8 END \
           ELSE CASE WHEN pg_notify('{CHANNEL}', r.wait::text) IS NULL \
             THEN NULL::int8 ELSE {GIVEN_AND_TOLD}::int8 END END"
    )
}

fn plain(token: &str) -> String {
    let tell = tell();
    format!(
        "SELECT r.n, CASE \
           WHEN r.op = 1 THEN \
             CASE WHEN r.registers AND NOT pg_try_advisory_lock_shared(r.wait) \
               THEN {UNREGISTERED}::int8 \
               ELSE CASE WHEN pg_try_advisory_lock(r.lock) THEN {token} \
                 ELSE {REFUSED}::int8 END END \
           WHEN r.op = 10 THEN CASE WHEN pg_advisory_unlock(r.lock) THEN {tell} END \
           WHEN r.op = 21 THEN CASE WHEN pg_advisory_unlock_shared(r.wait) THEN 1 END \
         END \
         FROM unnest($1::int2[], $2::int8[], $3::int8[], $4::bool[]) \
         WITH ORDINALITY AS r(op, lock, wait, registers, n)"
    )
}

fn whole(token: &str, pairs: bool) -> String {
    let lock = |function: &str| on_lock(function, pairs);
    let take = lock("pg_try_advisory_lock");
    let take_shared = lock("pg_try_advisory_lock_shared");
    let give = lock("pg_advisory_unlock");
    let give_shared = lock("pg_advisory_unlock_shared");
    let read = format!(
        "CASE WHEN pg_try_advisory_lock_shared(r.turn) THEN \
           CASE WHEN {take_shared} \
             THEN CASE WHEN pg_advisory_unlock_shared(r.turn) THEN 0::int8 END \
             ELSE CASE WHEN pg_advisory_unlock_shared(r.turn) THEN NULL::int8 END END \
         END"
    );
    let tell = tell();
    // Permits are counted in a select list, one by one and no further than needed. In a `FROM` all
    // of them would be made first, and there may be four thousand million.
    format!(
        "SELECT r.n, CASE \
           WHEN r.op < 10 THEN \
             CASE WHEN r.registers AND NOT pg_try_advisory_lock_shared(r.wait) \
               THEN {UNREGISTERED}::int8 \
               ELSE COALESCE(CASE r.op \
                 WHEN 1 THEN CASE WHEN {take} THEN {token} END \
                 WHEN 2 THEN {read} \
                 WHEN 3 THEN CASE WHEN pg_try_advisory_lock(r.rise) THEN \
                   COALESCE({read}, CASE WHEN pg_advisory_unlock(r.rise) THEN NULL::int8 END) END \
                 WHEN 4 THEN (SELECT s FROM (SELECT (r.rise + i) % r.of AS s \
                     FROM (SELECT generate_series(0, r.of - 1) AS i) AS each) AS slots \
                   WHERE CASE WHEN r.lock + s <> ALL($8) \
                     THEN pg_try_advisory_lock(r.lock + s) ELSE false END LIMIT 1) \
               END, {REFUSED}::int8) END \
           WHEN r.op = 10 THEN CASE WHEN {give} THEN {tell} END \
           WHEN r.op = 11 THEN CASE WHEN {give_shared} THEN {tell} END \
           WHEN r.op = 12 THEN \
             CASE WHEN {give_shared} THEN CASE WHEN pg_advisory_unlock(r.rise) THEN {tell} END END \
           WHEN r.op = 13 THEN CASE WHEN {give} THEN CASE WHEN {give_shared} \
             THEN CASE WHEN pg_advisory_unlock(r.rise) THEN {tell} END END END \
           WHEN r.op = 20 THEN CASE WHEN pg_try_advisory_lock(r.turn) THEN 1 ELSE 0 END \
           WHEN r.op = 21 THEN CASE WHEN pg_advisory_unlock_shared(r.wait) THEN 1 END \
           WHEN r.op = 22 THEN CASE WHEN pg_advisory_unlock(r.turn) THEN {tell} END \
           WHEN r.op = 30 THEN CASE WHEN {give} THEN 1 ELSE 0 END \
           WHEN r.op = 31 THEN CASE WHEN {give_shared} THEN 1 ELSE 0 END \
         END \
         FROM unnest($1::int2[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], \
           $7::bool[], $9::bool[]) \
         WITH ORDINALITY AS r(op, lock, wait, turn, rise, of, registers, pair, n)"
    )
}

/// `function` of the lock's own number.
fn on_lock(function: &str, pairs: bool) -> String {
    if !pairs {
        return format!("{function}(r.lock)");
    }
    // The shifts keep the sign, and what is shifted fits.
    let (high, low) = ("(r.lock >> 32)::int4", "((r.lock << 32) >> 32)::int4");
    format!("CASE WHEN r.pair THEN {function}({high}, {low}) ELSE {function}(r.lock) END")
}
