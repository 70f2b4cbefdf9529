//! A process that starts a PostgreSQL server, or a Redis or an Azurite if told so, freezes it, says
//! where it is, and waits to be killed.

#[cfg(unix)]
fn main() {
    use std::io::Read;

    let server = match std::env::args().nth(1).as_deref() {
        Some("redis") => redis_server(),
        Some("azurite") => azurite(),
        _ => postgres(),
    };
    // Until whoever started this is gone as well.
    let _ = std::io::stdin().read(&mut [0]);
    drop(server);
}

#[cfg(unix)]
fn postgres() -> Box<dyn std::any::Any> {
    use lockwork_servers::{Postgres, Settings};

    let server = Postgres::start(Settings::new()).expect("a server");
    server.freeze().expect("a server that can be frozen");
    let pid = server.pid().expect("a server that runs");
    println!("kept {pid} {}", server.data().display());
    Box::new(server)
}

#[cfg(unix)]
fn redis_server() -> Box<dyn std::any::Any> {
    use lockwork_servers::{Redis, RedisSettings};

    let server = Redis::start(RedisSettings::new()).expect("a server");
    server.freeze().expect("a server that can be frozen");
    let pid = server.pid().expect("a server that runs");
    println!("kept {pid} {}", server.data().display());
    Box::new(server)
}

#[cfg(unix)]
fn azurite() -> Box<dyn std::any::Any> {
    use lockwork_servers::Azurite;

    let server = Azurite::start().expect("a server");
    server.freeze().expect("a server that can be frozen");
    let pid = server.pid().expect("a server that runs");
    println!("kept {pid} {}", server.data().display());
    Box::new(server)
}

#[cfg(not(unix))]
fn main() {
    eprintln!("servers are started on Unix only");
}
