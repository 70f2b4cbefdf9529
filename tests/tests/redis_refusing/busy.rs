//! A server that is there and has no time, or no room for one more.

use crate::{CANARY, asking, canary, connect, guarded, refusal, url};
use lockwork::ErrorKind::Unavailable;
use lockwork_servers::{Redis, RedisSettings};
use std::{net::TcpStream, sync::Arc};
use tokio::task::spawn_blocking;

#[tokio::test]
async fn a_server_with_a_script_that_does_not_end_is_busy() {
    let settings = RedisSettings::new().set("busy-reply-threshold", "50");
    let server = Arc::new(guarded(settings));
    let locks = connect(server.port()).await;
    let guard = locks.mutex("before").lock().await.unwrap();
    let theirs = server.clone();
    let script = spawn_blocking(move || theirs.ask(&["EVAL", "while true do end", "0"]));
    asking::until("a busy server", async || says(&server, "BUSY")).await;
    asking::expect(&locks, Unavailable, "see SCRIPT KILL").await;
    refusal::expect(&url(server.port(), "admin"), Unavailable, "see SCRIPT KILL").await;
    server.ask(&["SCRIPT", "KILL"]).unwrap();
    script.await.unwrap().unwrap_err();
    assert!(guard.is_valid());
    guard.release().await.unwrap();
    let again = locks.mutex("before").lock().await.unwrap();
    again.release().await.unwrap();
    canary::is_not_in_the_log();
}

#[tokio::test]
async fn a_server_that_reads_its_data_is_not_ready_yet() {
    // A server with many keys, of which each takes a while.
    let settings = RedisSettings::new()
        .set("key-load-delay", "1000")
        .set("loading-process-events-interval-bytes", "1024");
    let server = Arc::new(guarded(settings));
    let fill = "for i = 1, 2000 do redis.call('SET', 'key' .. i, string.rep('x', 100)) end";
    server.ask(&["EVAL", fill, "0"]).unwrap();
    server.ask(&["SAVE"]).unwrap();
    let locks = connect(server.port()).await;
    server.kill().unwrap();
    let theirs = server.clone();
    let restarted = spawn_blocking(move || theirs.restart());
    asking::until("a server that loads", async || says(&server, "LOADING")).await;
    asking::expect(&locks, Unavailable, "not ready yet: try again later").await;
    // Whoever comes only now is let in, and told the same.
    let new = connect(server.port()).await;
    asking::expect(&new, Unavailable, "not ready yet: try again later").await;
    restarted.await.unwrap().unwrap();
    asking::until("a server that is ready", async || !says(&server, "LOADING")).await;
    let guard = locks.mutex("early").lock().await.unwrap();
    guard.release().await.unwrap();
}

/// Whether it refuses everything with this word.
fn says(server: &Redis, word: &str) -> bool {
    let answer = server.ask(&["GET", "a"]);
    answer.is_err_and(|problem| problem.to_string().contains(word))
}

#[tokio::test]
async fn a_server_with_as_many_clients_as_it_takes_is_unavailable_to_newcomers_until_one_leaves() {
    let server = guarded(RedisSettings::new().set("maxclients", "10"));
    let port = server.port();
    let locks = connect(port).await;
    let fill = || (0..20).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap());
    let others: Vec<TcpStream> = fill().collect();
    asking::until("a full server", async || server.ask(&["PING"]).is_err()).await;
    refusal::expect(&url(port, "admin"), Unavailable, "raise maxclients").await;
    // Who was there before has its connections.
    let guard = locks.mutex("room").lock().await.unwrap();
    guard.release().await.unwrap();
    drop(others);
    asking::until("room", async || server.ask(&["PING"]).is_ok()).await;
    let url = format!("redis://admin:{CANARY}@127.0.0.1:{port}");
    drop(lockwork::connect(&url).await.unwrap());
}
