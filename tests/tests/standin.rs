//! Whether the stand-in server and its two backends do what the conformance suite relies on.

use lockwork::{
    Backend, Deadline, ErrorKind, Hold, Instant, Locks, Loss, Mode, Name, Registry, Request,
};
use lockwork_conformance::standin::{LEASE, LeaseBackend, SESSION, Server, SessionBackend};
use rand::RngExt;
use std::{future::Future, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

const LIMIT: Duration = Duration::from_secs(20);
const SOON: Duration = Duration::from_secs(1);
const OWNER: &str = "00112233445566778899aabbccddeeff";

/// Both backends, each as somebody who is alone with its connection.
const KINDS: [fn(&Server) -> Locks; 2] = [
    |server| Locks::with_tenure(LeaseBackend::new(server.addr()), Duration::ZERO),
    |server| Locks::with_tenure(SessionBackend::new(server.addr()), Duration::ZERO),
];

/// The same with leases so long that nothing is gone just because its time is up.
const LASTING: [fn(&Server) -> Locks; 2] = [
    |server| Locks::with_tenure(lasting(server), Duration::ZERO),
    KINDS[1],
];

fn lasting(server: &Server) -> LeaseBackend {
    LeaseBackend::with_lease(server.addr(), Duration::from_secs(30))
}

async fn limited<T>(work: impl Future<Output = T>) -> T {
    timeout(LIMIT, work).await.expect("this test hangs")
}

/// Waits until `fact` is true, and fails if that takes too long.
async fn becomes(what: &str, within: Duration, fact: impl Fn() -> bool) {
    let limit = Instant::now() + within;
    while !fact() {
        assert!(!limit.has_passed(), "not within {within:?}: {what}");
        sleep(Duration::from_millis(2)).await;
    }
}

async fn nothing_stays(server: &Server) {
    becomes("nothing is held and nobody waits", SOON, || {
        server.locks_now() == 0 && server.waiters_now() == 0
    })
    .await;
}

fn request(name: &str, deadline: Deadline) -> Request {
    let name = Name::new(name).expect("a name");
    Request::new(name, Mode::Exclusive, deadline)
}

/// A client that says what it is told, word by word.
struct Raw(BufReader<TcpStream>);

impl Raw {
    async fn to(server: &Server) -> Self {
        let stream = TcpStream::connect(server.addr()).await;
        Self(BufReader::new(stream.expect("the server listens")))
    }

    async fn says(&mut self, line: &str) -> String {
        let line = format!("{line}\n");
        let written = self.0.write_all(line.as_bytes()).await;
        written.expect("the server is there");
        self.hears().await
    }

    /// The next line; empty when the connection is closed.
    async fn hears(&mut self) -> String {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).await;
        read.expect("the server is there");
        line.trim_end().to_owned()
    }
}

#[tokio::test]
async fn two_clients_exclude_each_other() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let (one, two) = (kind(&server), kind(&server));
            let guard = one.mutex("ключ/鍵").lock().await.unwrap();
            assert!(two.mutex("ключ/鍵").try_lock().await.unwrap().is_none());
            assert!(two.mutex("ключ").try_lock().await.unwrap().is_some());
            let waiting = tokio::spawn(async move { two.mutex("ключ/鍵").lock().await });
            let first = guard.token();
            guard.release().await.unwrap();
            assert!(waiting.await.unwrap().unwrap().token() > first);
        }
    })
    .await;
}

#[tokio::test]
async fn a_semaphore_counts_the_permits_of_all_clients() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let (one, two) = (kind(&server), kind(&server));
            let (one, two) = (one.semaphore("s", 3), two.semaphore("s", 3));
            let _first = one.acquire().await.unwrap();
            let _second = one.acquire().await.unwrap();
            let _third = two.acquire().await.unwrap();
            assert!(two.try_acquire().await.unwrap().is_none());
            assert!(one.try_acquire().await.unwrap().is_none());
        }
    })
    .await;
}

#[tokio::test]
async fn waiters_come_in_in_the_order_of_their_arrival() {
    limited(async {
        let server = Server::start();
        let first = LeaseBackend::new(server.addr());
        let guard = first.acquire(request("line", Deadline::Now)).await;
        let guard = guard.unwrap().unwrap();
        let mut waiters = JoinSet::new();
        for number in 0..5 {
            let addr = server.addr();
            waiters.spawn(async move {
                let backend = LeaseBackend::new(addr);
                let hold = backend.acquire(request("line", Deadline::Never)).await;
                let hold = hold.unwrap().unwrap();
                let token = hold.token();
                hold.release().await.unwrap();
                (token, number)
            });
            becomes("one more waits", SOON, || {
                server.waiters_now() == number + 1
            })
            .await;
        }
        guard.release().await.unwrap();
        let mut order = waiters.join_all().await;
        order.sort();
        let order: Vec<usize> = order.into_iter().map(|(_, number)| number).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
        nothing_stays(&server).await;
    })
    .await;
}

#[tokio::test]
async fn a_waiter_that_falls_silent_loses_its_place() {
    limited(async {
        let server = Server::start();
        let mut raw = Raw::to(&server).await;
        let other = OWNER.replace("00", "ff");
        let granted = raw
            .says(&format!("1 try mutex:78 {other} exclusive 300 once"))
            .await;
        assert_eq!(granted, "1 granted 1");
        let busy = raw
            .says(&format!("2 try mutex:78 {OWNER} exclusive 300 wait"))
            .await;
        assert!(busy.starts_with("2 busy "), "{busy}");
        becomes("the lease has run out", SOON, || server.locks_now() == 0).await;
        let ahead = raw
            .says(&format!("3 try mutex:78 {other} exclusive 300 once"))
            .await;
        assert_eq!(ahead, "3 busy -");
        becomes("nobody waits", 2 * SOON, || server.waiters_now() == 0).await;
        let granted = raw
            .says(&format!("4 try mutex:78 {other} exclusive 300 once"))
            .await;
        assert_eq!(granted, "4 granted 2");
    })
    .await;
}

#[tokio::test]
async fn a_lease_runs_out_by_the_clock_of_the_server_after_that_of_its_holder() {
    limited(async {
        let server = Server::start();
        let lease = Duration::from_millis(200);
        let holder = LeaseBackend::with_lease(server.addr(), lease);
        let mut once = request("lease", Deadline::Now);
        once.renew = false;
        let hold = holder.acquire(once).await.unwrap().unwrap();
        let other = LeaseBackend::new(server.addr());
        let next = other.acquire(request("lease", Deadline::Never)).await;
        assert!(next.unwrap().unwrap().token() > hold.token());
        assert!(hold.valid_until().unwrap().has_passed());
        assert_eq!(hold.lost().await, Loss::Expired);
    })
    .await;
}

#[tokio::test]
async fn a_renewed_lease_outlives_its_time_several_times() {
    limited(async {
        let server = Server::start();
        let lease = Duration::from_millis(500);
        let holder = Locks::new(LeaseBackend::with_lease(server.addr(), lease));
        let other = KINDS[0](&server);
        let guard = holder.mutex("kept").lock().await.unwrap();
        let waited = other.mutex("kept").try_lock_for(3 * lease).await.unwrap();
        assert!(waited.is_none());
        assert!(guard.is_valid());
        guard.release().await.unwrap();
        nothing_stays(&server).await;
    })
    .await;
}

#[tokio::test]
async fn a_try_is_idempotent_and_what_ran_out_is_not_renewed() {
    limited(async {
        let server = Server::start();
        let mut raw = Raw::to(&server).await;
        let ask = format!("try mutex:78 {OWNER} exclusive 400 once");
        assert_eq!(raw.says(&format!("1 {ask}")).await, "1 granted 1");
        assert_eq!(raw.says(&format!("2 {ask}")).await, "2 granted 1");
        let renew = format!("renew mutex:78/{OWNER} mutex:79/{OWNER}");
        assert_eq!(raw.says(&format!("3 {renew}")).await, "3 renewed 1 0");
        becomes("the lease has run out", SOON, || server.locks_now() == 0).await;
        assert_eq!(raw.says(&format!("4 {renew}")).await, "4 renewed 0 0");
        assert_eq!(raw.says(&format!("5 {ask}")).await, "5 granted 2");
    })
    .await;
}

#[tokio::test]
async fn a_try_that_comes_after_its_release_is_refused() {
    limited(async {
        let server = Server::start();
        let mut raw = Raw::to(&server).await;
        let release = raw.says(&format!("1 release mutex:78 {OWNER} 500")).await;
        assert_eq!(release, "1 ok");
        let ask = format!("try mutex:78 {OWNER} exclusive 100 wait");
        assert_eq!(raw.says(&format!("2 {ask}")).await, "2 refused");
        assert_eq!((server.locks_now(), server.waiters_now()), (0, 0));
        let again = format!("3 {ask}");
        while raw.says(&again).await == "3 refused" {
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(server.locks_now(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_session_is_never_in_its_own_way_but_in_that_of_others() {
    limited(async {
        let server = Server::start();
        let (mut one, mut two) = (Raw::to(&server).await, Raw::to(&server).await);
        let taken = one.says("1 batch +mutex:78/exclusive").await;
        assert_eq!(taken, "1 taken mutex:78/1");
        let again = one.says("2 batch +mutex:78/exclusive").await;
        assert_eq!(again, "2 taken mutex:78/2");
        one.says("3 batch +rwlock:78/write").await;
        let beside = one.says("4 batch +rwlock:78/read").await;
        assert_eq!(beside, "4 taken rwlock:78/-");
        let both = "1 batch +mutex:78/exclusive +rwlock:78/read";
        assert_eq!(two.says(both).await, "1 taken");
        // Counted: given back once, it is held still.
        one.says("5 batch -mutex:78/exclusive -rwlock:78/write")
            .await;
        assert_eq!(two.says(both).await, "1 taken rwlock:78/-");
        drop(one);
        becomes("one lock is free", SOON, || server.locks_now() == 1).await;
        assert_eq!(
            two.says("2 batch +mutex:78/exclusive").await,
            "2 taken mutex:78/4"
        );
    })
    .await;
}

#[tokio::test]
async fn those_who_subscribed_hear_of_what_is_freed_unless_hints_are_muted() {
    limited(async {
        let server = Server::start();
        let (mut ear, mut other) = (Raw::to(&server).await, Raw::to(&server).await);
        assert_eq!(ear.says("1 subscribe").await, "1 ok");
        for muted in [false, true] {
            server.mute_pushes(muted);
            other.says("1 batch +mutex:78/exclusive").await;
            other.says("2 batch -mutex:78/exclusive").await;
            if !muted {
                assert_eq!(ear.hears().await, "freed mutex:78");
            }
            assert_eq!(ear.says("2 ping").await, "2 ok");
        }
    })
    .await;
}

#[tokio::test]
async fn the_server_ends_a_silent_session_but_not_one_that_pings() {
    limited(async {
        let limit = Duration::from_millis(600);
        let server = Server::with_session_timeout(limit);
        let mut silent = Raw::to(&server).await;
        silent.says("1 batch +mutex:78/exclusive").await;
        let pinging = SessionBackend::with_session_timeout(server.addr(), limit);
        let hold = pinging.acquire(request("held", Deadline::Now)).await;
        let hold = hold.unwrap().unwrap();
        assert_eq!(silent.hears().await, "");
        becomes("one lock is free", SOON, || server.locks_now() == 1).await;
        sleep(2 * limit).await;
        assert_eq!(hold.lost().get(), None);
        server.pause(true);
        let loss = hold.lost().await;
        assert!(matches!(loss, Loss::Expired | Loss::Disconnected), "{loss}");
        becomes("the other is free too", SOON, || server.locks_now() == 0).await;
    })
    .await;
}

#[tokio::test]
async fn an_upgrade_waits_for_readers_and_keeps_new_ones_out() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let (one, two) = (kind(&server).rw_lock("rw"), kind(&server).rw_lock("rw"));
            let reader = two.read().await.unwrap();
            let mut guard = one.upgradeable_read().await.unwrap();
            assert!(!guard.try_upgrade().await.unwrap());
            let upgrading = tokio::spawn(async move {
                guard.upgrade().await.unwrap();
                guard
            });
            reader.release().await.unwrap();
            let guard = upgrading.await.unwrap();
            assert!(guard.token().is_some());
            assert!(two.try_read().await.unwrap().is_none());
            guard.release().await.unwrap();
            two.read().await.unwrap().release().await.unwrap();
            nothing_stays(&server).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_reader_called_back_for_an_upgrade_comes_in_afterwards() {
    limited(async {
        for kind in LASTING {
            let server = Server::start();
            let lock = kind(&server).rw_lock("rw");
            let mut guard = lock.upgradeable_read().await.unwrap();
            server.pause(true);
            let reading = tokio::spawn(async move { lock.read().await });
            // Its request is to be on its way when the upgrade calls it back. If this is too short
            // for that, the case is easier, not red.
            sleep(Duration::from_millis(50)).await;
            let upgrade = timeout(Duration::from_millis(50), guard.upgrade());
            assert!(upgrade.await.is_err());
            server.pause(false);
            guard.upgrade().await.unwrap();
            guard.release().await.unwrap();
            reading.await.unwrap().unwrap().release().await.unwrap();
            nothing_stays(&server).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_grant_whose_reply_was_lost_is_granted_once() {
    limited(async {
        let server = Server::start();
        let backend = lasting(&server);
        backend.ping().await.unwrap();
        server.drop_replies(1);
        let ask = request("lost", Deadline::Now);
        let hold = backend.acquire(ask.clone()).await.unwrap().unwrap();
        let found = backend.holders(&ask.id()).await.unwrap();
        assert_eq!(found.holders.len(), 1);
        assert_eq!(found.holders[0].token, hold.token());
        assert_eq!(found.holders[0].owner, ask.owner);
        hold.release().await.unwrap();
        nothing_stays(&server).await;
    })
    .await;
}

#[tokio::test]
async fn a_request_that_is_given_up_after_lost_replies_leaves_nothing() {
    limited(async {
        let server = Server::start();
        let backend = lasting(&server);
        backend.ping().await.unwrap();
        server.drop_replies(2);
        let given_up = backend.acquire(request("lost", Deadline::Never)).await;
        assert_eq!(given_up.unwrap_err().kind(), ErrorKind::Unavailable);
        nothing_stays(&server).await;
    })
    .await;
}

#[tokio::test]
async fn a_request_dropped_while_its_reply_is_lost_leaves_nothing() {
    limited(async {
        for kind in LASTING {
            let server = Server::start();
            let locks = kind(&server);
            drop(locks.mutex("connected").lock().await.unwrap());
            nothing_stays(&server).await;
            server.pause(true);
            let mutex = locks.mutex("dropped");
            let dropped = timeout(Duration::from_millis(20), mutex.lock()).await;
            assert!(dropped.is_err());
            let before = server.requests_handled();
            server.drop_replies(1);
            server.pause(false);
            becomes("the request has arrived", SOON, || {
                server.requests_handled() > before
            })
            .await;
            nothing_stays(&server).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_waiter_whose_deadline_passes_leaves_the_line_at_once() {
    limited(async {
        let server = Server::start();
        let backend = lasting(&server);
        let hold = backend.acquire(request("busy", Deadline::Now)).await;
        let other = lasting(&server);
        let deadline = Deadline::At(Instant::now() + Duration::from_millis(100));
        let refused = other.acquire(request("busy", deadline)).await.unwrap();
        assert!(refused.is_none());
        becomes("nobody waits", SOON / 2, || server.waiters_now() == 0).await;
        hold.unwrap().unwrap().release().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_guard_is_lost_when_the_server_cuts_it_off_and_can_be_taken_anew() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let locks = kind(&server);
            let guard = locks.mutex("cut").lock().await.unwrap();
            server.sever_all();
            let loss = guard.lost().await;
            assert!(matches!(loss, Loss::Taken | Loss::Disconnected), "{loss}");
            let again = taken_anew(&locks).await;
            assert!(again > guard.token());
        }
    })
    .await;
}

/// Takes the lock, though the server may be about to close the connection it is asked on.
async fn taken_anew(locks: &Locks) -> Option<lockwork::Token> {
    loop {
        match locks.mutex("cut").lock().await {
            Ok(guard) => return guard.token(),
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_broken_lock_is_lost_and_free() {
    limited(async {
        for kind in KINDS {
            let server = Server::start();
            let (one, two) = (kind(&server), kind(&server));
            let guard = one.mutex("broken").lock().await.unwrap();
            assert_eq!(two.mutex("broken").break_lock("a test").await.unwrap(), 1);
            guard.lost().await;
            let next = two.mutex("broken").lock().await.unwrap();
            assert!(next.token() > guard.token());
        }
    })
    .await;
}

#[tokio::test]
async fn two_hundred_cancelled_requests_leave_nothing() {
    limited(async {
        for kind in LASTING {
            let server = Server::start();
            server.delay(Duration::from_millis(1));
            let clients: Vec<Locks> = (0..4).map(|_| kind(&server)).collect();
            let mut tasks = JoinSet::new();
            for number in 0..200 {
                let locks = clients[number % clients.len()].clone();
                tasks.spawn(async move {
                    let (patience, pause, hold) = {
                        let mut rng = rand::rng();
                        let mut micros = |most| Duration::from_micros(rng.random_range(0..most));
                        (micros(30_000), micros(60_000), micros(1_000))
                    };
                    sleep(pause).await;
                    let mutex = locks.mutex(["a", "b", "c"][number % 3]);
                    let held = async {
                        let guard = mutex.lock().await.unwrap();
                        sleep(hold).await;
                        drop(guard);
                    };
                    let _ = timeout(patience, held).await;
                });
            }
            tasks.join_all().await;
            nothing_stays(&server).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_url_finds_the_stand_in() {
    limited(async {
        let server = Server::start();
        let registry = Registry::new().with(LEASE).with(SESSION);
        let addr = server.addr();
        for url in [
            format!("standin-lease://{addr}?lease=500ms&tenure=0"),
            format!("standin-session://{addr}?capacity=1&bears=5s&tenure=1ms"),
        ] {
            let locks = registry.connect(&url).await.unwrap();
            let guard = locks.mutex("by url").lock().await.unwrap();
            assert_eq!(server.locks_now(), 1);
            guard.release().await.unwrap();
            assert!(locks.doctor().await.unwrap().is_safe());
        }
        let misspelt = format!("standin-lease://{addr}?leese=1s");
        let unknown = registry.connect(&misspelt).await;
        assert_eq!(unknown.unwrap_err().kind(), ErrorKind::Invalid);
        drop(server);
        let gone = registry.connect(&format!("standin-lease://{addr}")).await;
        assert_eq!(gone.unwrap_err().kind(), ErrorKind::Unavailable);
    })
    .await;
}
