//! A Redis of one's own: what it is told, and what it survives.

use super::eventually;
use lockwork_conformance::Certificates;
use lockwork_servers::{
    Clock, Redis, RedisSettings,
    redis::{ask, ask_as, setup},
};
use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpStream},
    path::PathBuf,
    process::Command,
    time::Duration,
};

fn redis(settings: RedisSettings) -> Redis {
    Redis::start(settings).unwrap()
}

#[test]
fn a_redis_answers_and_knows_nothing_of_another_one() {
    let (one, two) = (redis(RedisSettings::new()), redis(RedisSettings::new()));
    assert_eq!(one.url(), format!("redis://127.0.0.1:{}", one.port()));
    assert_eq!(ask(one.port(), &["SET", "here", "7"]).unwrap(), "OK");
    assert_eq!(one.ask(&["GET", "here"]).unwrap(), "7");
    assert_eq!(two.ask(&["EXISTS", "here"]).unwrap(), "0");
    assert!(one.log().contains("Ready to accept connections"));
}

#[test]
fn a_setting_of_redis_is_in_force_and_the_last_one_wins() {
    let settings = RedisSettings::new().set("databases", "3").set("hz", "20");
    let server = redis(settings.set("databases", "5"));
    let value = |name| server.ask(&["CONFIG", "GET", name]).unwrap();
    assert_eq!(value("databases"), "databases\n5");
    assert_eq!(value("hz"), "hz\n20");
    assert_eq!(value("save"), "save\n");
}

#[test]
fn a_setting_that_redis_does_not_know_is_named_in_the_error() {
    let settings = RedisSettings::new().set("no-such-setting", "1");
    let problem = Redis::start(settings).unwrap_err().to_string();
    assert!(problem.contains("ended at once"), "{problem}");
    assert!(problem.contains("no-such-setting"), "{problem}");
}

#[test]
fn a_full_redis_refuses_what_it_may_not_throw_away() {
    let server = redis(RedisSettings::new().max_memory(1, "noeviction"));
    let refusal = server.ask(&["SET", "a", "b"]).unwrap_err().to_string();
    assert!(refusal.contains("OOM"), "{refusal}");
}

#[test]
fn a_killed_redis_comes_back_on_its_port_with_what_was_on_disk() {
    let server = redis(RedisSettings::new().durable());
    let (url, before) = (server.url(), server.pid().unwrap());
    server.ask(&["SET", "kept", "7"]).unwrap();
    server.kill().unwrap();
    assert_eq!(server.pid(), None);
    assert!(server.ask(&["PING"]).is_err());
    server.restart().unwrap();
    assert_eq!(server.url(), url);
    assert_ne!(server.pid(), Some(before));
    assert_eq!(server.ask(&["GET", "kept"]).unwrap(), "7");
}

#[test]
fn a_redis_without_a_disk_forgets_everything_when_killed() {
    let server = redis(RedisSettings::new());
    server.ask(&["SET", "lost", "7"]).unwrap();
    server.kill().unwrap();
    server.restart().unwrap();
    assert_eq!(server.ask(&["EXISTS", "lost"]).unwrap(), "0");
}

#[test]
fn a_frozen_redis_answers_again_once_thawed() {
    let server = redis(RedisSettings::new());
    let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port())).unwrap();
    client
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    server.freeze().unwrap();
    client.write_all(b"PING\r\n").unwrap();
    let mut answer = [0; 7];
    let silence = client.read(&mut answer).unwrap_err();
    assert_eq!(silence.kind(), ErrorKind::WouldBlock);
    server.thaw();
    client
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+PONG\r\n");
}

#[test]
fn a_user_may_do_what_the_acl_says_and_nothing_else() {
    let settings = RedisSettings::new()
        .acl("user default off")
        .acl("user reader on >secret ~mine:* +get");
    let server = redis(settings);
    let as_reader = |words| ask_as(server.port(), "reader", "secret", words);
    server.ask(&["SET", "mine:a", "7"]).unwrap();
    assert_eq!(as_reader(&["GET", "mine:a"]).unwrap(), "7");
    for (words, code) in [
        (&["GET", "other"][..], "NOPERM"),
        (&["SET", "mine:a", "8"], "NOPERM"),
    ] {
        let refusal = as_reader(words).unwrap_err().to_string();
        assert!(refusal.contains(code), "{refusal}");
    }
    let nobody = ask(server.port(), &["GET", "mine:a"]).unwrap_err();
    assert!(nobody.to_string().contains("NOAUTH"), "{nobody}");
    let port = server.port();
    let url = format!("redis://reader:secret@127.0.0.1:{port}");
    assert_eq!(server.url_for("reader", "secret"), url);
}

#[test]
fn the_least_rights_are_known_to_redis_and_keep_to_their_names() {
    let line = format!("user {}", setup::least_user());
    let server = redis(RedisSettings::new().acl(&line));
    let password = lockwork_servers::login::PASSWORD;
    let as_user = |words| ask_as(server.port(), "lockwork", password, words);
    assert_eq!(as_user(&["SET", "lockwork:a", "7"]).unwrap(), "OK");
    let elsewhere = as_user(&["SET", "other", "7"]).unwrap_err();
    assert!(elsewhere.to_string().contains("NOPERM"), "{elsewhere}");
    let too_much = as_user(&["FLUSHALL"]).unwrap_err();
    assert!(too_much.to_string().contains("NOPERM"), "{too_much}");
}

#[test]
fn a_redis_with_tls_alone_has_no_plain_port_and_is_still_asked() {
    let certificates = Certificates::make();
    let good = &certificates.good;
    let settings = RedisSettings::new().tls(&good.certificate, &good.key);
    let server = redis(settings.clone().without_plain());
    assert_eq!(
        server.url(),
        format!("rediss://127.0.0.1:{}", server.port())
    );
    assert_eq!(server.tls_port(), Some(server.port()));
    assert_eq!(server.ask(&["PING"]).unwrap(), "PONG");
    assert!(ask(server.port(), &["PING"]).is_err());
    let both = redis(settings);
    assert_eq!(ask(both.port(), &["PING"]).unwrap(), "PONG");
    assert!(ask(both.tls_port().unwrap(), &["PING"]).is_err());
}

#[test]
fn a_variable_is_in_the_environment_of_the_server() {
    // Else it writes its title over what the system shows.
    let settings = RedisSettings::new().set("set-proc-title", "no");
    let server = redis(settings.env("LOCKWORK_TEST", "seen"));
    let there = std::fs::read(format!("/proc/{}/environ", server.pid().unwrap())).unwrap();
    let mut pairs = there.split(|byte| *byte == 0);
    assert!(pairs.any(|pair| pair == b"LOCKWORK_TEST=seen"));
}

#[test]
fn the_clock_of_a_redis_jumps_when_it_is_turned_and_ends_what_has_a_date() {
    let clock = match Clock::new() {
        Ok(clock) => clock,
        Err(problem) => return eprintln!("left out: {problem}"),
    };
    let server = redis(RedisSettings::new().clock(&clock));
    let seconds = || {
        let time = server.ask(&["TIME"]).unwrap();
        time.lines().next().unwrap().parse::<i64>().unwrap()
    };
    let before = seconds();
    server.ask(&["SET", "dated", "7", "EX", "600"]).unwrap();
    clock.turn(3_600).unwrap();
    assert!((3_600..3_660).contains(&(seconds() - before)));
    assert_eq!(server.ask(&["GET", "dated"]).unwrap(), "");
    clock.turn(-3_600).unwrap();
    assert!((-3_600..-3_540).contains(&(seconds() - before)));
}

#[test]
fn nothing_of_a_dropped_redis_stays_even_frozen() {
    let server = redis(RedisSettings::new().durable());
    let (pid, data) = (server.pid().unwrap(), server.data().to_owned());
    assert!(data.is_dir());
    server.freeze().unwrap();
    drop(server);
    assert!(!data.exists());
    assert!(!PathBuf::from(format!("/proc/{pid}")).exists());
}

#[test]
fn a_replica_has_what_was_written_and_writes_nothing() {
    let primary = redis(RedisSettings::new().acl("user default off"));
    primary.ask(&["SET", "before", "1"]).unwrap();
    let replica = primary
        .replica(RedisSettings::new().acl("user default off"))
        .unwrap();
    assert_eq!(replica.ask(&["GET", "before"]).unwrap(), "1");
    primary.ask(&["SET", "after", "2"]).unwrap();
    replica.in_sync_with(&primary).unwrap();
    assert_eq!(replica.ask(&["GET", "after"]).unwrap(), "2");
    let refusal = replica.ask(&["SET", "no", "3"]).unwrap_err().to_string();
    assert!(refusal.contains("READONLY"), "{refusal}");
    primary.kill().unwrap();
    replica.ask(&["REPLICAOF", "NO", "ONE"]).unwrap();
    eventually("a primary", || replica.ask(&["SET", "no", "3"]).is_ok());
}

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
