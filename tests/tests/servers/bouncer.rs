//! PgBouncer in both modes: in one of them a lock of a session is not the client's.

use super::server;
use lockwork_servers::{PgBouncer, PoolMode, Postgres, Settings};

const HELD: &str = "select count(*) from pg_locks where locktype = 'advisory'";

#[test]
fn in_transaction_mode_a_lock_outlives_the_client_that_took_it() {
    let server = server();
    let bouncer = PgBouncer::start(&server, PoolMode::Transaction).unwrap();
    bouncer.sql("select pg_advisory_lock(7)").unwrap();
    assert_eq!(server.sql(HELD).unwrap(), "1");
}

#[test]
fn in_session_mode_a_lock_ends_with_the_client() {
    let server = Postgres::start(Settings::new().password()).unwrap();
    let bouncer = PgBouncer::start(&server, PoolMode::Session).unwrap();
    bouncer.sql("select pg_advisory_lock(7)").unwrap();
    super::eventually("its end", || server.sql(HELD).unwrap() == "0");
}
