//! Many locks on few connections: who shares one, what rides together, and what is lost when.

#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by unwrapping it"
)]

#[path = "../common/mod.rs"]
mod common;

mod at_server;
mod batching;
mod bearing;
mod connecting;
mod excluding;
mod giving_up;
mod leaving;
mod losing;
mod sharing;
mod together;
mod turns;
mod upgrading;
mod validity;
mod waiting;

use common::{
    db::{Db, Exchange},
    eventually, ms,
};
use lockwork_core::lock::{
    Deadline, Mode, Name, Request, Result,
    backend::{
        Owned, Pace,
        session::{Options, Pool, SessionHold},
    },
};
use std::{future::Future, pin::Pin, time::Duration};
use tokio::task::JoinHandle;

type Held = Owned<SessionHold<String>>;

/// A busy machine may be so late.
const LATE: Duration = ms(150);

fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    options.pace = Pace {
        least: ms(5),
        most: ms(10),
    };
    change(&mut options);
    options
}

fn pool(change: impl FnOnce(&mut Options)) -> (Db, Pool<Db>) {
    let db = Db::default();
    (db.clone(), Pool::new(db, options(change)))
}

fn request(name: &str, mode: Mode, deadline: Deadline) -> Request {
    Request::new(Name::new(name).unwrap(), mode, deadline)
}

/// Asks once.
async fn ask(pool: &Pool<Db>, name: &str, mode: Mode) -> Result<Option<Held>> {
    pool.acquire(request(name, mode, Deadline::Now)).await
}

/// Takes what must be free.
async fn take(pool: &Pool<Db>, name: &str, mode: Mode) -> Held {
    let held = ask(pool, name, mode).await.unwrap();
    held.unwrap_or_else(|| panic!("{name} is free"))
}

/// Takes what is free, or will be in a moment: a session that ended frees its keys after it has
/// told its holds.
async fn take_again(pool: &Pool<Db>, name: &str, mode: Mode) -> Held {
    let held = pool.acquire(request(name, mode, Deadline::Never)).await;
    held.unwrap().unwrap()
}

/// Asks once, in a task of its own.
fn asking(pool: &Pool<Db>, name: &str, mode: Mode) -> JoinHandle<Result<Option<Held>>> {
    let (pool, name) = (pool.clone(), name.to_owned());
    tokio::spawn(async move { ask(&pool, &name, mode).await })
}

fn exchange(session: u64, gives: &[&str], takes: &[&str]) -> Exchange {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Exchange {
        session,
        gives: owned(gives),
        leaves: Vec::new(),
        takes: owned(takes),
    }
}

/// Nobody is tried for again without news before the test is over.
fn on_news_only(options: &mut Options) {
    options.pace = Pace {
        least: Duration::from_secs(3600),
        most: Duration::from_secs(3600),
    };
}

/// Waits for a lock in a task of its own.
fn waiting(pool: &Pool<Db>, name: &str, mode: Mode) -> JoinHandle<Result<Option<Held>>> {
    waiting_until(pool, name, mode, Deadline::Never)
}

fn waiting_until(
    pool: &Pool<Db>,
    name: &str,
    mode: Mode,
    deadline: Deadline,
) -> JoinHandle<Result<Option<Held>>> {
    let (pool, request) = (pool.clone(), request(name, mode, deadline));
    tokio::spawn(async move { pool.acquire(request).await })
}

/// Waits until the server knows exactly these as waiting.
async fn waits_at(db: &Db, who: &[&str]) {
    eventually(&format!("{who:?} wait"), || db.waiting() == who).await;
}

/// All who left, in the order in which the server was told.
fn left(db: &Db) -> Vec<String> {
    let exchanges = db.exchanges().into_iter();
    exchanges.flat_map(|exchange| exchange.leaves).collect()
}

/// Blocks the first session inside an exchange, so that what follows has to wait.
async fn occupy(db: &Db, pool: &Pool<Db>) -> JoinHandle<Result<Option<Held>>> {
    let arrived = db.before().arrived();
    db.before().close();
    let occupying = asking(pool, "occupying", Mode::Exclusive);
    db.before().reached(arrived + 1).await;
    occupying
}

/// Lets tasks of this thread, which nothing else runs on, come to where they wait.
async fn let_them_ask() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

type Answer = Result<Option<Held>>;
type Asked<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;
