//! Answers that do not come whole make for errors, and never for a lock that is held by nobody or by
//! two.

use crate::{
    SOON, at, canary, connect, database,
    mangler::{ALL, Mangle, Mangler},
    refusal, shared, works,
};
use lockwork::{
    ErrorKind::{Unavailable, Unexpected},
    Locks,
};
use lockwork_conformance::{backends::sqlserver::Server, within};
use std::{
    sync::Arc,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

/// A mangler before a new database, and its address there.
async fn between(name: &str, how: Mangle) -> (Mangler, String) {
    database(name);
    let mangler = Mangler::start(shared().address().port(), how).await;
    let url = format!(
        "{}&encrypt=none",
        at(mangler.port, "sa", name).replace("?trust=any", "?")
    );
    (mangler, url.replace("?&", "?"))
}

/// How many locks the server knows in a database.
fn held(name: &str) -> i32 {
    let server = Server::new(&crate::url(shared(), "sa", "master")).unwrap();
    let text = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'APPLICATION' \
                AND resource_database_id = DB_ID(@P1)";
    server.numbers("master", text, name).unwrap()[0]
}

/// Waits until the server knows so many.
async fn until(name: &str, many: i32) {
    let deadline = Instant::now() + SOON;
    while held(name) != many {
        assert!(
            Instant::now() < deadline,
            "{many} locks in {name}: not within {SOON:?}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whatever is mangled while connecting, and wherever: an error that a program can act on, in time.
#[tokio::test]
async fn a_mangled_answer_while_connecting_is_an_error() {
    canary::listen();
    let mut asked = JoinSet::new();
    for how in ALL {
        for number in 1..=10 {
            asked.spawn(connects_or_not(how, number));
        }
    }
    while let Some(ended) = asked.join_next().await {
        ended.unwrap();
    }
}

async fn connects_or_not(how: Mangle, number: usize) {
    let name = format!("mangled_{how:?}_{number}");
    let (mangler, url) = between(&name, how).await;
    mangler.arm(number);
    let limit = SOON * 2;
    let connected = within(limit, "an answer", lockwork::connect(&url)).await;
    let done = mangler.mangled() == 1;
    match connected {
        Ok(locks) => {
            drop(locks);
            println!("{name}: came in, mangled: {done}");
        }
        Err(error) => {
            println!("{name}: {:?}: {error}", error.kind());
            assert!(done, "{name}: {error:?}");
            let kinds = [Unavailable, Unexpected];
            assert!(kinds.contains(&error.kind()), "{name}: {error:?}");
            canary::is_not_in(&error);
        }
    }
    until(&name, 0).await;
}

/// Asks while an answer is mangled. The connection ends with what was granted on it: whoever is told
/// that they have the lock was granted it on another, and once.
async fn asks(mangler: &Mangler, locks: &Locks, name: &str) {
    let before = mangler.mangled();
    mangler.arm(1);
    let mutex = locks.mutex("mangled");
    let answer = within(SOON, "an answer", mutex.try_lock()).await;
    assert_eq!(mangler.mangled(), before + 1, "nothing was mangled");
    match answer {
        Ok(Some(guard)) => {
            until(name, 1).await;
            assert!(guard.is_valid());
            within(SOON, "its end", guard.release()).await.unwrap();
        }
        Ok(None) => {}
        Err(error) => {
            canary::is_not_in(&error);
            refusal::is(&error, Unavailable, "");
        }
    }
    until(name, 0).await;
}

#[tokio::test]
async fn an_answer_that_is_cut_off_grants_nothing() {
    let (mangler, url) = between("cut", Mangle::Cut).await;
    let locks = connect(&url).await;
    for _ in 0..20 {
        works(&locks).await;
        asks(&mangler, &locks, "cut").await;
    }
    works(&locks).await;
}

#[tokio::test]
async fn an_answer_that_stops_half_way_grants_nothing() {
    let (mangler, url) = between("stalled", Mangle::Stall).await;
    let locks = connect(&url).await;
    let held = locks.mutex("held").lock().await.unwrap();
    asks(&mangler, &locks, "stalled").await;
    let lost = within(SOON, "the news", held.lost()).await;
    canary::is_not_shown_by(&lost);
    works(&locks).await;
}

#[tokio::test]
async fn what_is_held_on_a_connection_is_lost_with_it() {
    let (mangler, url) = between("lost", Mangle::Cut).await;
    let locks = connect(&url).await;
    let held = locks.mutex("held").lock().await.unwrap();
    asks(&mangler, &locks, "lost").await;
    let lost = within(SOON, "the news", held.lost()).await;
    canary::is_not_shown_by(&lost);
    assert!(!held.is_valid());
    works(&locks).await;
}

/// What was seen inside so far.
#[derive(Default)]
struct Room {
    last_token: AtomicU64,
    entered: AtomicUsize,
    refused: AtomicUsize,
}

async fn go_in_and_out(locks: Locks, room: Arc<Room>) {
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end {
        let mutex = locks.mutex("mangled");
        match mutex.try_lock_for(Duration::from_millis(200)).await {
            Ok(Some(guard)) => {
                // The server gives it to another when this connection has ended: then it is lost.
                if guard.is_valid() {
                    let token = guard.token().expect("a token").get();
                    let before = room.last_token.fetch_max(token, Relaxed);
                    assert!(token > before, "{token} after {before}");
                    room.entered.fetch_add(1, Relaxed);
                }
                let _ = guard.release().await;
            }
            Ok(None) => {}
            Err(error) => {
                canary::is_not_in(&error);
                room.refused.fetch_add(1, Relaxed);
            }
        }
    }
}

#[tokio::test]
async fn answers_that_are_cut_off_now_and_then_grant_nothing_twice() {
    let (mangler, url) = between("cut_often", Mangle::Cut).await;
    let room = Arc::new(Room::default());
    let mut tasks = JoinSet::new();
    for _ in 0..3 {
        let locks = connect(&format!("{url}&tenure=0")).await;
        tasks.spawn(go_in_and_out(locks, room.clone()));
    }
    while !tasks.is_empty() {
        mangler.arm(rand::random_range(1..20));
        let pause = tokio::time::sleep(Duration::from_millis(30));
        tokio::select! {
            () = pause => {}
            Some(ended) = tasks.join_next() => ended.unwrap(),
        }
    }
    mangler.arm(0);
    let (entered, refused) = (room.entered.load(Relaxed), room.refused.load(Relaxed));
    let mangled = mangler.mangled();
    println!("mangled {mangled}: {entered} times inside, {refused} times refused");
    assert!(entered > 5 && mangled > 5, "nothing to see");
    until("cut_often", 0).await;
}
