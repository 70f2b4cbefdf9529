//! A process that takes one lock again and again and writes down when it had it.
//!
//! `contender URL KIND NAME COUNT`. It says `ready`, waits for a line, and in the end prints one
//! line for each stay: the mode, when it began and ended (nanoseconds of [`Instant`]) and the
//! token. What cannot be had is `error KIND SENTENCE`.
//!
//! | kind | |
//! |---|---|
//! | `mutex`, `rw`, `semaphore` | short stays; readers, writers and upgraded readers by lot; 3 permits |
//! | `hold` | long stays in a mutex, each until it is lost at the latest |
//! | `take` | takes a mutex, says when, and keeps it |
//! | `parent`, `bequeath` | the same with a child, which has nothing of the lock or its descriptor |
//! | `count` | no end: prints each token as soon as it has it |
//! | `crowd` | so many tasks, each of which takes a mutex once |
//! | `drop` | gives up so many acquires half way; says how many it got nevertheless, and waits |
//! | `collect` | no end: removes idle files, and prints how many |

use lockwork::{Error, Guard, Instant, Locks, Result};
use lockwork_conformance::drop_many;
use rand::RngExt;
use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
    time::Duration,
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().expect("contender URL KIND NAME COUNT");
    let (url, kind, name) = (next(), next(), next());
    let count = next().parse().expect("a number");
    if let Err(error) = contend(&url, &kind, &name, count).await {
        let cause =
            std::error::Error::source(&error).map_or_else(String::new, |c| format!(" ({c})"));
        say(&format!("error {:?} {error}{cause}\n", error.kind()));
    }
}

async fn contend(url: &str, kind: &str, name: &str, count: usize) -> Result<()> {
    let locks = lockwork::connect(url).await?;
    say("ready\n");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a line");
    match kind {
        "crowd" => return crowd(&locks, name, count).await,
        "drop" => {
            let done = drop_many(&locks, count).await;
            say(&format!("{done}\n"));
            return std::future::pending().await;
        }
        _ => {}
    }
    let mut stays = String::new();
    for _ in 0..count {
        match kind {
            "mutex" => stay(&mut stays, locks.mutex(name).lock().await?).await?,
            "rw" => read_or_write(&mut stays, &locks, name).await?,
            "semaphore" => permit(&mut stays, locks.semaphore(name, 3).acquire().await?).await?,
            "hold" => hold(&mut stays, locks.mutex(name).lock().await?).await,
            "take" => take(locks.mutex(name).lock().await?).await,
            "parent" => parent(locks.mutex(name).lock().await?, false).await?,
            "bequeath" => parent(locks.mutex(name).lock().await?, true).await?,
            "count" => count_for_ever(&locks, name).await?,
            "collect" => collect_for_ever(&locks).await?,
            _ => panic!("unknown kind {kind:?}"),
        }
    }
    say(&stays);
    Ok(())
}

fn write_down(stays: &mut String, guard: &Guard, from: Instant) {
    let (mode, to) = (guard.mode().as_str(), Instant::now().as_nanos());
    let token = guard.token().map_or(0, lockwork::Token::get);
    writeln!(stays, "{mode} {} {to} {token}", from.as_nanos()).expect("room");
}

/// A moment, in which others come and want to get in.
async fn stay(stays: &mut String, guard: Guard) -> Result<()> {
    let from = Instant::now();
    tokio::task::yield_now().await;
    write_down(stays, &guard, from);
    guard.release().await
}

/// Long enough for others to be in as well.
async fn permit(stays: &mut String, guard: Guard) -> Result<()> {
    let from = Instant::now();
    tokio::time::sleep(Duration::from_millis(1)).await;
    write_down(stays, &guard, from);
    guard.release().await
}

async fn read_or_write(stays: &mut String, locks: &Locks, name: &str) -> Result<()> {
    let lock = locks.rw_lock(name);
    let lot = rand::rng().random_range(0..8);
    match lot {
        0..4 => stay(stays, lock.read().await?).await,
        4..6 => stay(stays, lock.write().await?).await,
        6 => stay(stays, lock.upgradeable_read().await?).await,
        _ => {
            let mut guard = lock.upgradeable_read().await?;
            write_down(stays, &guard, Instant::now());
            guard.upgrade().await?;
            stay(stays, guard).await
        }
    }
}

async fn hold(stays: &mut String, guard: Guard) {
    let from = Instant::now();
    let long = Duration::from_millis(rand::rng().random_range(100..400));
    let _ = tokio::time::timeout(long, guard.lost()).await;
    write_down(stays, &guard, from);
}

async fn take(guard: Guard) {
    say(&format!("held {}\n", Instant::now().as_nanos()));
    guard.lost().await;
}

async fn parent(guard: Guard, bequeaths: bool) -> Result<()> {
    let mut child = Command::new("sleep");
    child.arg("60").stdout(Stdio::null()).stdin(Stdio::null());
    if let Some(descriptor) = guard.descriptors()?.pop().filter(|_| bequeaths) {
        child.stdin(Stdio::from(descriptor));
    }
    let mut child = child.spawn().expect("a child");
    say(&format!("child {}\n", child.id()));
    guard.lost().await;
    child.wait().map(|_| ()).map_err(unexpected)
}

fn unexpected(error: std::io::Error) -> Error {
    Error::new(lockwork::ErrorKind::Unexpected, "no child").because(error)
}

async fn count_for_ever(locks: &Locks, name: &str) -> Result<()> {
    loop {
        let guard = locks.mutex(name).lock().await?;
        say(&format!(
            "{}\n",
            guard.token().map_or(0, lockwork::Token::get)
        ));
    }
}

async fn crowd(locks: &Locks, name: &str, count: usize) -> Result<()> {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let mutex = locks.mutex(name);
        tasks.spawn(async move { mutex.lock().await?.release().await });
    }
    say("crowded\n");
    tasks.join_all().await.into_iter().collect()
}

async fn collect_for_ever(locks: &Locks) -> Result<(), Error> {
    loop {
        let removed = locks.collect(Duration::ZERO).await?;
        say(&format!("{removed}\n"));
    }
}

/// In one write, so that a process that is killed leaves no half of it.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody listens any more: then nobody waits for the rest.
    if out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}
