//! What a Redis survives, and what is left of it when nobody needs it any more.

use super::redis;
use lockwork_servers::RedisSettings;
use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, TcpStream},
    path::PathBuf,
    time::Duration,
};

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
    let silence = client.read_exact(&mut answer).unwrap_err();
    assert_eq!(silence.kind(), ErrorKind::WouldBlock);
    server.thaw();
    client
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"+PONG\r\n");
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
