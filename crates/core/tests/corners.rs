//! Corners: interleavings that once went wrong, each as the fact that holds now.

// A test says what it expects by unwrapping it, in its helpers too.
#![allow(clippy::unwrap_used)]

mod common;

use common::{
    db::Db,
    leases::{Answer, LeaseBackend, Leases},
    ms, within,
};
use lockwork_core::lock::{
    Backend, Capability, Deadline, Guarantee, Hold, Holders, Info, LockId, LockOptions, Locks,
    Memory, Mode, Name, Report, Request, Result, Scope, Wait,
    backend::{
        Owned, Pace, Releases, keeper,
        queue::Queue,
        session::{Options, Pool, SessionHold},
        try_each,
    },
};
use std::{num::NonZeroU32, sync::mpsc, thread};
use tokio::time::{sleep, timeout};

/// Long enough to be sure that somebody sleeps.
const ASLEEP: u64 = 1500;

async fn reader_behind_a_writer_who_gives_up(readers: [&Locks; 2], writer: &Locks) {
    let _first = readers[0].rw_lock("x").read().await.unwrap();
    let writing = tokio::spawn({
        let lock = writer.rw_lock("x");
        async move { lock.try_write_for(ms(100)).await.unwrap().is_none() }
    });
    sleep(ms(30)).await;
    let reading = tokio::spawn({
        let lock = readers[1].rw_lock("x");
        async move { lock.read().await.unwrap() }
    });
    assert!(writing.await.unwrap());
    assert!(
        timeout(ms(ASLEEP), reading).await.is_ok(),
        "the reader sleeps on: not within {ASLEEP} ms"
    );
}

#[tokio::test]
async fn a_reader_behind_a_writer_whose_wait_ran_out_comes_in() {
    let locks = Locks::new(Memory::new());
    reader_behind_a_writer_who_gives_up([&locks, &locks], &locks).await;
    let memory = Memory::new();
    let [a, b, c] = [(); 3].map(|()| Locks::new(memory.clone()));
    reader_behind_a_writer_who_gives_up([&a, &b], &c).await;
}

#[tokio::test]
async fn a_newcomer_does_not_take_the_wake_up_of_those_behind_a_lost_grant() {
    let mutex = Locks::new(Memory::new()).mutex("x");
    let _zombie = mutex.lock().await.unwrap();
    let waiting = tokio::spawn({
        let mutex = mutex.clone();
        async move { mutex.lock().await.unwrap() }
    });
    sleep(ms(50)).await;
    // The keeper is busy for a moment, so the newcomer is first to see the loss.
    let (begun, begins) = mpsc::channel();
    keeper::spawn(async move {
        begun.send(()).unwrap();
        thread::sleep(ms(100));
    });
    begins.recv().unwrap();
    mutex.break_lock("to see").await.unwrap();
    drop(mutex.try_lock().await.unwrap());
    assert!(
        timeout(ms(ASLEEP), waiting).await.is_ok(),
        "the waiter sleeps on: not within {ASLEEP} ms"
    );
}

#[tokio::test]
async fn an_upgrader_hears_of_its_loss_and_is_in_nobodys_way() {
    let lock = Locks::new(Memory::new()).rw_lock("x");
    let mut guard = lock.upgradeable_read().await.unwrap();
    let _reader = lock.read().await.unwrap();
    let upgrading = tokio::spawn(async move { guard.upgrade().await });
    sleep(ms(30)).await;
    lock.break_lock("to see").await.unwrap();
    let next = tokio::spawn(async move { lock.write().await.unwrap() });
    assert!(
        timeout(ms(ASLEEP), next).await.is_ok(),
        "the next writer sleeps on: not within {ASLEEP} ms"
    );
    let upgraded = timeout(ms(ASLEEP), upgrading)
        .await
        .expect("the upgrader hears of it: not within 1.5 s")
        .unwrap();
    assert!(upgraded.is_err());
}

#[tokio::test]
async fn a_broken_upgrader_has_no_token_above_the_next_holders() {
    let memory = Memory::new();
    let (here, there) = (Locks::new(memory.clone()), Locks::new(memory));
    let mut guard = here.rw_lock("x").upgradeable_read().await.unwrap();
    let reader = there.rw_lock("x").read().await.unwrap();
    let upgrading = tokio::spawn(async move {
        let upgraded = guard.upgrade().await;
        (upgraded, guard)
    });
    sleep(ms(30)).await;
    drop(reader); // the upgrade is granted now, and not yet heard of
    there.rw_lock("x").break_lock("to see").await.unwrap();
    let next = there.rw_lock("x").try_write().await.unwrap().unwrap();
    let (upgraded, guard) = upgrading.await.unwrap();
    assert!(
        upgraded.is_err(),
        "a lost upgrader was told that it is the writer"
    );
    assert!(guard.token() < next.token());
}

#[tokio::test]
async fn work_that_ends_after_the_loss_is_an_error() {
    let locks = Locks::new(LeaseBackend::new(
        Leases::answering([Answer::Fail]),
        ms(150),
    ));
    let options = LockOptions::new().renew(false);
    let guard = locks.mutex("x").lock_with(options).await.unwrap().unwrap();
    let outcome = guard.run(async { thread::sleep(ms(400)) }).await;
    assert!(outcome.is_err() && !guard.is_valid());
}

#[tokio::test]
async fn a_lost_share_is_surrendered_all_the_same() {
    let server = Leases::answering([Answer::Fail]);
    let queue = Queue::new(
        LeaseBackend::new(server.clone(), ms(150)),
        ms(20),
        Releases::new(),
    );
    let ask = |mode, deadline| Request::new(Name::new("x").unwrap(), mode, deadline);
    let mut reading = ask(Mode::Read, Deadline::Now);
    reading.renew = false;
    let reader = queue.acquire(reading).await.unwrap().unwrap();
    // Somebody who waited is why the line knows of the loss, and is forgotten before the reader.
    let writing = ask(Mode::Write, Wait::For(ms(30)).deadline());
    assert!(queue.acquire(writing).await.unwrap().is_none());
    within(ms(5000), reader.lost().into_future()).await;
    while queue.lines() > 0 {
        sleep(ms(2)).await;
    }
    reader.release().await.unwrap();
    assert_eq!(server.writers(), ["end"], "it was not given back");
}

/// The fake database as a backend.
#[derive(Debug)]
struct Sessions(Pool<Db>);

impl Sessions {
    fn locks(db: &Db) -> Locks {
        let mut options = Options::default();
        options.pace = Pace {
            least: ms(300),
            most: ms(300),
        };
        Locks::new(Self(Pool::new(db.clone(), options)))
    }
}

impl Backend for Sessions {
    type Hold = SessionHold<String>;

    fn info(&self) -> Info {
        Info::new(
            "fake",
            Scope::Cluster,
            Guarantee::Session,
            Capability::all(),
        )
    }

    async fn acquire(&self, request: Request) -> Result<Option<Self::Hold>> {
        Ok(self.0.acquire(request).await?.map(Owned::into_inner))
    }

    async fn acquire_all(&self, requests: Vec<Request>) -> Result<Option<Vec<Self::Hold>>> {
        try_each(self, requests).await
    }

    async fn holders(&self, _: &LockId) -> Result<Holders> {
        Ok(Holders::default())
    }

    async fn break_lock(&self, _: &LockId) -> Result<usize> {
        Ok(0)
    }

    async fn doctor(&self) -> Result<Report> {
        Ok(Report::default())
    }
}

#[tokio::test]
async fn a_try_does_not_overtake_one_who_waits_at_the_server() {
    let db = Db::default();
    let semaphore = Sessions::locks(&db).semaphore("s", 2);
    let permit = Mode::Permit {
        of: NonZeroU32::new(2).unwrap(),
    };
    db.rival_takes("semaphore:s", permit);
    db.rival_takes("semaphore:s", permit);
    let waiting = tokio::spawn({
        let semaphore = semaphore.clone();
        async move { semaphore.acquire().await.unwrap() }
    });
    sleep(ms(50)).await;
    db.rival_leaves();
    assert!(
        semaphore.try_acquire().await.unwrap().is_none(),
        "it overtook the one ahead in line"
    );
    drop(within(ms(5000), waiting).await.unwrap());
}

#[tokio::test]
async fn nobody_becomes_upgradeable_beside_a_question_an_upgrade_could_not_call_back() {
    let db = Db::default();
    let lock = Sessions::locks(&db).rw_lock("x");
    db.rival_takes("rwlock:x", Mode::Write);
    let reading = tokio::spawn({
        let lock = lock.clone();
        async move { lock.read().await.unwrap() }
    });
    sleep(ms(50)).await;
    db.rival_leaves();
    assert!(lock.try_upgradeable_read().await.unwrap().is_none());
    drop(within(ms(5000), reading).await.unwrap());
}
