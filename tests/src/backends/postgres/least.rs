//! A role with the least rights: those that the backend's README names, by the very SQL in it.

use super::{PgConnectOptions, Started, run, started};

/// Where the SQL is.
const README: &str = include_str!("../../../../crates/postgres/README.md");

const ROLE: &str = "lockwork_least";

/// It protects what tests wrote.
const PASSWORD: &str = "least-of-local-tests";

/// The same as [`start`](super::start) for a client that may do what the README says and no more.
///
/// # Errors
/// If no server is named, it cannot be reached, or it refuses what the README says.
pub fn least() -> Started {
    started(true)
}

/// How the role gets to the database.
pub(super) fn client(server: &PgConnectOptions) -> PgConnectOptions {
    server.clone().username(ROLE).password(PASSWORD)
}

/// The same as a URL.
pub(super) fn url(server: &PgConnectOptions, database: &str) -> String {
    let (host, port) = (server.get_host(), server.get_port());
    format!("postgres://{ROLE}:{PASSWORD}@{host}:{port}/{database}")
}

/// Does as the README says in a new database. What everybody may do in it is revoked first.
pub(super) fn prepare(server: &PgConnectOptions, database: &str) -> sqlx::Result<()> {
    let (role, rest) = script(database);
    if let Err(error) = run(server, role) {
        let code = error.as_database_error().and_then(|error| error.code());
        // There from another database.
        if code.as_deref() != Some("42710") {
            return Err(error);
        }
    }
    let revoke = format!(
        "REVOKE ALL ON DATABASE {database} FROM PUBLIC; REVOKE ALL ON SCHEMA public FROM PUBLIC; "
    );
    run(&server.clone().database(database), revoke + &rest)
}

/// The statement that makes the role, and those for one database.
fn script(database: &str) -> (String, String) {
    let (_, text) = README.split_once("```sql\n").expect("SQL in the README");
    let (text, _) = text.split_once("```").expect("its end");
    let text = text
        .replace("DATABASE app ", &format!("DATABASE {database} "))
        .replace("ROLE app ", &format!("ROLE {ROLE} "))
        .replace("TO app;", &format!("TO {ROLE};"))
        .replace("'change me'", &format!("'{PASSWORD}'"));
    let (role, rest) = text.split_once(";\n").expect("several statements");
    (role.to_owned(), rest.to_owned())
}
