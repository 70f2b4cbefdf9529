//! The table of backends, out of what each says of itself. A new backend is one more row.

use lockwork::{
    Driver, Guarantee, Info, MEMORY, MEMORY_INFO, Scope, azure, file, postgres, redis, sqlserver,
};

/// One backend.
pub(crate) struct Row {
    /// A URL that shows what such a URL is made of.
    pub(crate) url: &'static str,
    pub(crate) info: Info,
    pub(crate) driver: Driver,
}

/// Every backend, in the order of the table.
pub(crate) const ROWS: &[Row] = &[
    row("memory:", MEMORY_INFO, MEMORY),
    row("file:./locks", file::INFO, file::DRIVER),
    row("postgres://HOST/DATABASE", postgres::INFO, postgres::DRIVER),
    row("redis://HOST", redis::INFO, redis::DRIVER),
    row(
        "redis+quorum://HOST,HOST,HOST",
        redis::QUORUM_INFO,
        redis::DRIVER,
    ),
    row(
        "sqlserver://HOST/DATABASE",
        sqlserver::INFO,
        sqlserver::DRIVER,
    ),
    row("azblob://ACCOUNT/CONTAINER", azure::INFO, azure::DRIVER),
];

const fn row(url: &'static str, info: Info, driver: Driver) -> Row {
    Row { url, info, driver }
}

const HEAD: &str = "\
| URL | locks reach | rests on | read/write | upgradeable | semaphore | token | told when free |
|---|---|---|---|---|---|---|---|
";

/// The table, as it stands in the documents.
pub(crate) fn table() -> String {
    ROWS.iter()
        .fold(HEAD.to_owned(), |table, row| table + &line(row))
}

fn line(row: &Row) -> String {
    let can = row.info.capability;
    let can = [
        can.rw_lock,
        can.upgradeable,
        can.semaphore,
        can.token,
        can.push,
    ];
    let can = can.map(|can| if can { "yes" } else { "no" }).join(" | ");
    let (reach, rests) = (reach(row.info.scope), rests_on(row.info.guarantee));
    format!("| `{}` | {reach} | {rests} | {can} |\n", row.url)
}

fn reach(scope: Scope) -> &'static str {
    match scope {
        Scope::Process => "tasks of this process",
        Scope::Host => "processes of this machine",
        Scope::Cluster => "all machines that reach it",
        new => panic!("the table has no words for {new:?} yet: write them here"),
    }
}

fn rests_on(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::Process => "the process",
        Guarantee::Session => "the connection",
        Guarantee::Lease => "a lease",
        Guarantee::BestEffort => "best effort",
        new => panic!("the table has no words for {new:?} yet: write them here"),
    }
}
