//! A process that starts a PostgreSQL server, freezes it, says where it is, and waits to be killed.

#[cfg(unix)]
fn main() {
    use lockwork_servers::{Postgres, Settings};
    use std::io::Read;

    let server = Postgres::start(Settings::new()).expect("a server");
    server.freeze().expect("a server that can be frozen");
    let pid = server.pid().expect("a server that runs");
    println!("kept {pid} {}", server.data().display());
    // Until whoever started this is gone as well.
    let _ = std::io::stdin().read(&mut [0]);
}

#[cfg(not(unix))]
fn main() {
    eprintln!("servers are started on Unix only");
}
