//! Who logs in to the servers started here, with what, and where.

/// The user of every server started here; a superuser, as in the image.
pub const USER: &str = "lockwork";

/// The password of that user. It protects nothing: the servers listen on
/// 127.0.0.1 and hold what tests wrote.
pub const PASSWORD: &str = "only-for-local-tests";

/// The database that a new server has anyway.
pub const DATABASE: &str = "postgres";

/// Where PostgreSQL, or what speaks like it, is reached with the password.
pub fn url(port: u16) -> String {
    format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{port}/{DATABASE}")
}
