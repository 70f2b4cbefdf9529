//! Where the programs come from: who lacks one is told.

use lockwork_servers::{Redis, RedisSettings};
use std::process::Command;

#[test]
fn who_lacks_redis_is_told_what_to_install() {
    let output = Command::new(env!("CARGO_BIN_EXE_server-keeper"))
        .arg("redis")
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`redis-server` is not installed"), "{said}");
    assert!(said.contains("package `redis-server`"), "{said}");
    assert!(said.contains("cargo xtask up"), "{said}");
}

#[test]
fn valkey_is_started_like_redis_where_it_can_be_had() {
    let server = match Redis::start(RedisSettings::valkey()) {
        Ok(server) => server,
        Err(problem) => {
            assert!(problem.to_string().starts_with("Valkey cannot be had here"));
            eprintln!("left out: {problem}");
            return;
        }
    };
    let info = server.ask(&["INFO", "server"]).unwrap();
    assert!(info.contains("valkey_version:"), "{info}");
    server.kill().unwrap();
    server.restart().unwrap();
    assert_eq!(server.ask(&["PING"]).unwrap(), "PONG");
}
