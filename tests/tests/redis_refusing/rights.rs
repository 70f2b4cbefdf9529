//! A user who may not do everything that is needed.

use crate::{CANARY, asking, canary, refusal, shared, url};
use lockwork::{ErrorKind::Denied, Locks};

/// What a user may do, as the documentation of `lockwork-redis` has it.
const RIGHTS: &str = include_str!("../../../crates/redis/acl.txt");

const ADVICE: &str = "grant what the README of lockwork-redis lists";

/// A new user with these rights, and without those that follow.
fn user(name: &str, rights: &str, without: &[&str]) -> String {
    let password = format!(">{CANARY}");
    let mut line = vec!["ACL", "SETUSER", name, "reset", "on", &password];
    line.extend(rights.split_whitespace());
    line.extend(without);
    shared().ask(&line).unwrap();
    url(shared().port(), name)
}

async fn connect(url: &str) -> Locks {
    canary::listen();
    lockwork::connect(url).await.unwrap()
}

#[tokio::test]
async fn the_rights_that_are_written_down_are_enough() {
    let locks = connect(&user("enough", RIGHTS, &[])).await;
    locks
        .mutex("rights")
        .lock()
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
    let lock = locks.rw_lock("rights");
    let mut reader = lock.upgradeable_read().await.unwrap();
    reader.upgrade().await.unwrap();
    reader.release().await.unwrap();
    let semaphore = locks.semaphore("rights", 2);
    semaphore.acquire().await.unwrap().release().await.unwrap();
    canary::is_not_in_the_log();
}

#[tokio::test]
async fn one_who_may_not_run_scripts_is_denied() {
    let locks = connect(&user("no-eval", RIGHTS, &["-eval", "-evalsha"])).await;
    asking::expect(&locks, Denied, ADVICE).await;
}

#[tokio::test]
async fn one_who_may_not_do_something_inside_of_the_script_is_denied() {
    for missing in ["-set", "-incrby", "-time", "-mget", "-pexpire"] {
        let locks = connect(&user("no-command", RIGHTS, &[missing])).await;
        let mutex = locks.mutex(format!("without{missing}"));
        let error = match missing {
            // It is there for who asks again.
            "-pexpire" => {
                let guard = mutex.lock().await.unwrap();
                guard.release().await.unwrap();
                continue;
            }
            // Who holds it is not asked before it is given back.
            "-mget" => asking::error_of(mutex.lock().await.unwrap().release()).await,
            _ => asking::error_of(mutex.try_lock()).await,
        };
        refusal::is(&error, Denied, ADVICE);
    }
    let locks = connect(&user("no-zadd", RIGHTS, &["-zadd"])).await;
    let semaphore = locks.semaphore("without", 1);
    let error = asking::error_of(semaphore.try_acquire()).await;
    refusal::is(&error, Denied, ADVICE);
}

#[tokio::test]
async fn one_who_may_not_subscribe_is_denied() {
    let url = user("no-subscribe", RIGHTS, &["-subscribe"]);
    refusal::expect(&url, Denied, ADVICE).await;
    let url = user("no-channel", RIGHTS, &["resetchannels", "&other:*"]);
    refusal::expect(&url, Denied, ADVICE).await;
}

#[tokio::test]
async fn one_who_may_not_touch_the_keys_is_denied() {
    let locks = connect(&user("no-key", RIGHTS, &["resetkeys", "~other:*"])).await;
    asking::expect(&locks, Denied, ADVICE).await;
    // Of a lock, but not of what belongs to it.
    let locks = connect(&user("half-key", RIGHTS, &["resetkeys", "~lockwork:1:{*}"])).await;
    asking::expect(&locks, Denied, ADVICE).await;
}

#[tokio::test]
async fn who_may_neither_ask_about_the_server_nor_have_a_name_has_locks_nevertheless() {
    let modest = ["-info", "-client|setname", "-publish"];
    let locks = connect(&user("modest", RIGHTS, &modest)).await;
    let guard = locks.mutex("modest").lock().await.unwrap();
    guard.release().await.unwrap();
    let error = asking::error_of(locks.doctor()).await;
    refusal::is(&error, Denied, "may not ask for INFO");
}
