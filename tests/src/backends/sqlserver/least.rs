//! A user with the least rights: those that the backend's README names, by the very SQL in it.

use super::{Server, Started, started};

/// Where the SQL is.
const README: &str = include_str!("../../../../crates/sqlserver/README.md");

const USER: &str = "lockwork_least";

/// It protects what tests wrote.
const PASSWORD: &str = "Least-0f-local-tests";

/// The same as [`start`](super::start) for a client that may do what the README says and no more.
///
/// # Errors
/// If the server cannot be reached, or refuses what the README says.
pub fn least() -> Started {
    started(true, "")
}

/// How the user gets to the database.
pub(super) fn url(server: &Server, database: &str) -> String {
    server.url_as(USER, PASSWORD, database)
}

/// Does as the README says for a new database.
pub(super) fn prepare(server: &Server, database: &str) -> Result<(), String> {
    let [login, rights, seeing] = scripts();
    // There from another database.
    if let Err(error) = server.run("master", login)
        && !error.contains("already exists")
    {
        return Err(error);
    }
    server.run("master", seeing)?;
    server.run(database, rights)
}

/// The SQL of the README: for the server, for the database, and to see and break locks.
fn scripts() -> [Vec<String>; 3] {
    let mut parts = README.split("```sql\n").skip(1).map(|part| {
        let (text, _) = part.split_once("```").expect("the end of the SQL");
        let text = text
            .replace("LOGIN app", &format!("LOGIN {USER}"))
            .replace("USER app", &format!("USER {USER}"))
            .replace("MEMBER app", &format!("MEMBER {USER}"))
            .replace("TO app", &format!("TO {USER}"))
            .replace("'change me'", &format!("'{PASSWORD}'"));
        text.split("GO\n").map(str::to_owned).collect()
    });
    let mut next = || parts.next().expect("SQL in the README");
    [next(), next(), next()]
}
