//! A stand-in for tests, not a lock server for anybody's production.
//!
//! It answers one question: does the engine keep its promises over a real socket, between real
//! processes, when replies are lost and connections end? So it has a [`Server`] that can be told to
//! misbehave, and two backends for it, one for each half of the engine:
//!
//! * [`LeaseBackend`]: grants that run out unless renewed, with a line of waiters at the server;
//! * [`SessionBackend`]: grants that live on a connection, as in a database.
//!
//! Both are reached by URL too ([`LEASE`], [`SESSION`]), so that a child process
//! can be told where to go. What goes over the socket is in [`protocol`].

mod driver;
mod lease;
pub mod protocol;
mod server;
mod session;
mod wire;

pub use driver::{LEASE, SESSION};
pub use lease::{Lease, LeaseBackend, LeaseClient};
pub use server::Server;
pub use session::{Connection, Connector, SessionBackend};

use lockwork::{Finding, Report, Severity};

fn report() -> Report {
    Report::new(vec![Finding::new(
        Severity::Note,
        "this is a stand-in for tests, whose locks end with the process it runs in",
        "use a real server for anything but tests",
    )])
}
