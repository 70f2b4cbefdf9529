//! Answers that come twice or half make for errors, and never for a lock that two have.

use crate::{
    CANARY, asking, canary, guarded,
    mangler::{Mangle, Mangler},
};
use lockwork::{Guard, Locks, Result};
use lockwork_servers::RedisSettings;
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// For how long they try.
const TIME: Duration = Duration::from_secs(2);

/// Who is inside, and what was seen so far.
#[derive(Debug, Default)]
struct Room {
    inside: Option<(usize, lockwork::Instant)>,
    last_token: u64,
    entered: usize,
    refused: usize,
}

impl Room {
    fn enter(&mut self, who: usize, guard: &Guard) {
        if !guard.is_valid() {
            return;
        }
        if let Some((other, until)) = self.inside {
            assert!(until.has_passed(), "{who} is in while {other} is");
        }
        let token = guard.token().expect("a token").get();
        assert!(token > self.last_token, "{token} after {}", self.last_token);
        self.last_token = token;
        self.entered += 1;
        self.inside = guard.valid_until().map(|until| (who, until));
    }

    fn leave(&mut self, who: usize) {
        self.inside.take_if(|(inside, _)| *inside == who);
    }
}

/// So often at most.
const ROUNDS: usize = 5;

/// Goes in and out if it is let in.
async fn go_in_and_out(who: usize, mutex: &lockwork::Mutex, room: &Mutex<Room>) -> Result<()> {
    if let Some(guard) = mutex.try_lock_for(Duration::from_millis(200)).await? {
        room.lock().unwrap().enter(who, &guard);
        tokio::task::yield_now().await;
        room.lock().unwrap().leave(who);
        guard.release().await?;
    }
    Ok(())
}

/// One of those who want the same lock.
async fn among_others(who: usize, locks: Locks, room: Arc<Mutex<Room>>) {
    let (mutex, end) = (locks.mutex("mangled"), Instant::now() + TIME);
    while Instant::now() < end {
        if let Err(error) = go_in_and_out(who, &mutex, &room).await {
            canary::is_not_in(&error);
            room.lock().unwrap().refused += 1;
        }
    }
}

/// One whose lock nobody else wants: of such the server speaks all at once. After an error it wants another, as the
/// server looks closely for a while at one that is in doubt.
async fn alone(locks: &Locks) {
    let (mut number, end) = (0, Instant::now() + TIME);
    let mut room = Mutex::default();
    while Instant::now() < end {
        let mutex = locks.mutex(format!("alone {number}"));
        if let Err(error) = go_in_and_out(0, &mutex, &room).await {
            canary::is_not_in(&error);
            (number, room) = (number + 1, Mutex::default());
        }
    }
}

/// A client, as soon as one is let in.
async fn client(url: &str) -> Locks {
    let mut locks = None;
    asking::until("a connection", async || {
        locks = lockwork::connect(url).await.ok();
        locks.is_some()
    })
    .await;
    locks.unwrap()
}

/// Three clients that want the same lock, for a while.
async fn crowd(url: &str, room: &Arc<Mutex<Room>>) {
    let mut tasks = tokio::task::JoinSet::new();
    for who in 0..3 {
        let locks = client(url).await;
        tasks.spawn(among_others(who, locks, room.clone()));
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
}

async fn never_overlap(how: Mangle, one_in: u32) {
    canary::listen();
    let server = guarded(RedisSettings::new());
    let mangler = Mangler::start(server.port(), how, one_in).await;
    let another = Mangler::start(server.port(), how, one_in).await;
    let url = |port| format!("redis://admin:{CANARY}@127.0.0.1:{port}?lease=500ms&tenure=0");
    let (crowded, lonely) = (url(mangler.port), url(another.port));
    let lone = client(&lonely).await;
    let room = Arc::new(Mutex::new(Room::default()));
    let enough = || room.lock().unwrap().entered > 5 && mangler.mangled() > 5;
    // How much there is to see is up to chance.
    for _ in 0..ROUNDS {
        tokio::join!(crowd(&crowded, &room), alone(&lone));
        if enough() {
            break;
        }
    }
    assert!(enough(), "nothing to see");
    let room = room.lock().unwrap();
    println!("{how:?}: mangled {}, {room:?}", mangler.mangled());
}

#[tokio::test]
async fn answers_that_come_twice_let_nobody_in_who_was_not_granted_it() {
    never_overlap(Mangle::Double, 20).await;
}

#[tokio::test]
async fn answers_that_are_cut_off_let_nobody_in_who_was_not_granted_it() {
    never_overlap(Mangle::Cut, 20).await;
}

#[tokio::test]
async fn answers_that_are_mixed_up_let_nobody_in_who_was_not_granted_it() {
    never_overlap(Mangle::Mix, 40).await;
}
