//! Something that is no lock, under the key of one.

use crate::{asking, connect, refusal, shared};
use lockwork::{Error, ErrorKind::Invalid};
use lockwork_servers::Redis;

const ADVICE: &str = "remove it, or choose another prefix";

/// Things that others store.
const THINGS: [&[&str]; 8] = [
    &["RPUSH", "KEY", "a", "b"],
    &["HSET", "KEY", "a", "b"],
    &["SET", "KEY", "hello"],
    &["SET", "KEY", "hello", "PX", "600000"],
    &["SET", "KEY", "[]", "PX", "600000"],
    // Numbers, a list of one, and nothing, to those who unpack it.
    &["SET", "KEY", "1", "PX", "600000"],
    &["SET", "KEY", "{\"a\": 1}", "PX", "600000"],
    &[
        "SET",
        "KEY",
        "0123456789abcdef0123456789abcdef",
        "PX",
        "600000",
    ],
];

/// What is there, as it is stored.
fn seen(server: &Redis, key: &str) -> String {
    let kind = server.ask(&["TYPE", key]).unwrap();
    let words: &[&str] = match kind.as_str() {
        "list" => &["LRANGE", key, "0", "-1"],
        "hash" => &["HGETALL", key],
        "string" => &["GET", key],
        _ => panic!("it is gone: {kind}"),
    };
    let lasts = server.ask(&["PTTL", key]).unwrap() != "-1";
    format!("{kind} {lasts} {}", server.ask(words).unwrap())
}

/// Stores each of them under a key and has somebody ask for its lock.
async fn each(key: &str, ask: impl AsyncFn() -> Vec<Error>) {
    let server = shared();
    for thing in THINGS {
        println!("{thing:?}");
        let named: Vec<&str> = thing
            .iter()
            .map(|word| if *word == "KEY" { key } else { word })
            .collect();
        server.ask(&["DEL", key]).unwrap();
        server.ask(&named).unwrap();
        let before = seen(server, key);
        for error in ask().await {
            refusal::is(&error, Invalid, ADVICE);
        }
        assert_eq!(seen(server, key), before);
    }
    server.ask(&["DEL", key]).unwrap();
}

#[tokio::test]
async fn what_is_under_the_key_of_a_mutex_stays_as_it_is() {
    let locks = connect(shared().port()).await;
    let mutex = locks.mutex("foreign");
    each("lockwork:1:{mutex:foreign}", async || {
        vec![
            asking::error_of(mutex.try_lock()).await,
            asking::error_of(mutex.try_lock_for(asking::WAIT)).await,
            asking::error_of(locks.all(["foreign", "free"]).try_lock()).await,
            asking::error_of(mutex.holders()).await,
            asking::error_of(mutex.break_lock("a test")).await,
        ]
    })
    .await;
    let guard = locks.mutex("free").try_lock().await.unwrap();
    assert!(guard.is_some(), "what came with it was not given back");
}

#[tokio::test]
async fn what_is_under_the_key_of_a_read_write_lock_stays_as_it_is() {
    let locks = connect(shared().port()).await;
    let lock = locks.rw_lock("foreign");
    each("lockwork:1:{rwlock:foreign}", async || {
        vec![
            asking::error_of(lock.try_read()).await,
            asking::error_of(lock.try_read_for(asking::WAIT)).await,
            asking::error_of(lock.try_upgradeable_read()).await,
            asking::error_of(lock.try_write_for(asking::WAIT)).await,
            asking::error_of(lock.holders()).await,
            asking::error_of(lock.break_lock("a test")).await,
        ]
    })
    .await;
}

#[tokio::test]
async fn what_is_under_the_key_of_a_semaphore_stays_as_it_is() {
    let locks = connect(shared().port()).await;
    let semaphore = locks.semaphore("foreign", 3);
    each("lockwork:1:{semaphore:foreign}", async || {
        vec![
            asking::error_of(semaphore.try_acquire()).await,
            asking::error_of(semaphore.try_acquire_for(asking::WAIT)).await,
            asking::error_of(semaphore.holders()).await,
            asking::error_of(semaphore.break_lock("a test")).await,
        ]
    })
    .await;
}
