//! What a Redis is told before it starts.

use super::redis;
use lockwork_servers::{Clock, Redis, RedisSettings, redis::ask};

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
