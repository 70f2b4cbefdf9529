//! What one call of the script does with many things, as the server is asked for it.

use crate::{SOON, TOKENS, key, server};
use lockwork_servers::Redis;
use redis::{Client, Cmd, Connection, Value, cmd};
use std::{
    thread,
    time::{Duration, Instant},
};

/// The script as the backend has it; or as it is to a server before Redis 7.0.
fn script(is_old: bool) -> String {
    let inner = include_str!("../../../crates/redis/src/lock.lua");
    let outer = include_str!("../../../crates/redis/src/call.lua");
    let version = "redis.REDIS_VERSION_NUM";
    assert_eq!(outer.matches(version).count(), 1);
    let outer = match is_old {
        true => outer.replace(version, "nil"),
        false => outer.to_owned(),
    };
    outer.replace("--@ lock.lua\n", inner)
}

const TAKE: &str = "take 1 30000 0";
const WAIT: &str = "wait 1 30000 0";
const GIVE: &str = "give 1 30000 0";
const RENEW: &str = "renew 1 30000 0";
const RENEW_BRIEFLY: &str = "renew 1 100 0";
const LOOK: &str = "look 1 0 0";

/// A second, after which nothing of it is left.
const BURY: &str = "give 1 30000 1000";

const BUSY: i64 = 2;
const BURIED: i64 = 3;
const GONE: i64 = 4;
const FAILED: i64 = -1;

/// An errand, a name and an owner.
type Thing<'a> = (&'a str, &'a str, char);

struct Caller {
    connection: Connection,
    /// The count that tokens are taken from; none as in a cluster, where each lock has its own.
    count: &'static str,
    lease: u32,
    is_old: bool,
}

/// What was said to one thing.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Done(i64),
    /// So many hold it.
    Seen(usize),
    Else(i64),
}

impl Caller {
    fn of(server: &Redis) -> Self {
        let client = Client::open(server.url().as_str()).unwrap();
        Self {
            connection: client.get_connection().unwrap(),
            count: TOKENS,
            lease: 30_000,
            is_old: false,
        }
    }

    fn ask<T: redis::FromRedisValue>(&mut self, command: &Cmd) -> T {
        command.query(&mut self.connection).unwrap()
    }

    /// One call for all of these, an errand, a name and an owner each: those first that are plain and the
    /// first about their lock, as the backend asks.
    fn call(&mut self, things: &[Thing<'_>]) -> Vec<Said> {
        let is_first = |at: usize| {
            things[..at]
                .iter()
                .all(|(_, name, _)| *name != things[at].1)
        };
        let sort = |at: &usize| match things[*at].0 {
            GIVE if is_first(*at) => 0,
            WAIT if is_first(*at) => 1,
            TAKE if is_first(*at) => 2,
            _ => 3,
        };
        let mut order: Vec<usize> = (0..things.len()).collect();
        order.sort_by_key(sort);
        let end = |of| order.iter().filter(|at| sort(at) <= of).count();
        let in_order = || order.iter().map(|at| things[*at]);
        let mut call = cmd("EVAL");
        call.arg(script(self.is_old)).arg(things.len());
        for (_, name, _) in in_order() {
            call.arg(key(name));
        }
        call.arg("nonce").arg("client").arg("inbox");
        call.arg(self.lease).arg(&[end(0), end(1), end(2)]);
        call.arg(self.count);
        for (place, (_, _, owner)) in (1..).zip(in_order()) {
            match (end(0) + 1..=end(2)).contains(&place) {
                true => call.arg(format!("-{} {place:03}", id(owner))),
                false => call.arg(format!("-{}", id(owner))),
            };
        }
        for (errand, _, _) in in_order().skip(end(2)) {
            call.arg(errand);
        }
        let answer: Vec<Value> = self.ask(&call);
        assert_eq!(answer[0], Value::BulkString(b"nonce".to_vec()));
        // Tokens follow each other.
        let given = sort_said(&answer[1], end(0), 0);
        let taken = sort_said(&answer[2], end(2) - end(0), 1);
        let others = answer[3..].iter().map(said);
        let answers = given.into_iter().chain(taken).chain(others);
        let mut placed: Vec<_> = order.iter().zip(answers).collect();
        assert_eq!(placed.len(), things.len());
        placed.sort_by_key(|(at, _)| **at);
        placed.into_iter().map(|(_, said)| said).collect()
    }

    /// The token of the only thing there is.
    fn token(&mut self, errand: &str, name: &str, owner: char) -> i64 {
        match self.call(&[(errand, name, owner)])[..] {
            [Said::Done(token)] => token,
            ref other => panic!("{other:?}"),
        }
    }

    /// The server may use so many bytes; as many as there are, if none.
    fn limit(&mut self, bytes: &str) {
        let mut limit = cmd("CONFIG");
        let _: () = self.ask(limit.arg("SET").arg("maxmemory").arg(bytes));
    }

    fn record(&mut self, name: &str) -> Option<String> {
        self.ask(cmd("GET").arg(key(name)))
    }

    fn holder(&mut self, name: &str) -> Option<char> {
        self.record(name)?.split_once('-')?.1.chars().next()
    }

    /// Whether whoever gives it back or takes it looks closely; nobody knows where there is no key.
    fn is_looked_at(&mut self, name: &str) -> Option<bool> {
        Some(!self.record(name)?.starts_with('-'))
    }

    /// Waits until the lease of whoever holds it is over.
    fn until_over(&mut self, name: &str) {
        let begun = Instant::now();
        while self.call(&[(LOOK, name, 'z')]) != [Said::Seen(0)] {
            assert!(begun.elapsed() < SOON, "too late: the lease is not over");
        }
        // A key that goes with the lease goes in the same millisecond.
        thread::sleep(Duration::from_millis(5));
    }

    /// What time it is there, as tokens count.
    fn clock(&mut self) -> i64 {
        let (seconds, micros): (i64, i64) = self.ask(&cmd("TIME"));
        (seconds * 1_000_000 + micros) * 32 / 1_000
    }
}

fn tombstone(name: &str, owner: char) -> String {
    format!("{}:d:{}", key(name), id(owner))
}

fn id(owner: char) -> String {
    owner.to_string().repeat(22)
}

/// What was said to so many of a sort: one number for all, each of which has so much more than the one before it; or
/// something to each.
fn sort_said(value: &Value, many: usize, more: i64) -> Vec<Said> {
    match value {
        Value::Array(each) => each.iter().map(said).collect(),
        Value::Int(number) => (1..=many as i64)
            .map(|at| Said::Done(number + at * more))
            .collect(),
        _ => panic!("{value:?}"),
    }
}

fn said(value: &Value) -> Said {
    match value {
        Value::Int(number) => Said::Done(*number),
        Value::Array(values) => match values[..] {
            [Value::Int(1), Value::Array(ref seen)] => match &seen[..] {
                [Value::Array(holders), _] => Said::Seen(holders.len()),
                _ => panic!("{value:?}"),
            },
            [Value::Int(verdict), _] => Said::Else(verdict),
            _ => panic!("{value:?}"),
        },
        _ => panic!("{value:?}"),
    }
}

/// The same on a server as it is, and as one before Redis 7.0.
fn new_and_old(fact: impl Fn(&mut Caller)) {
    for is_old in [false, true] {
        let server = server();
        fact(&mut Caller {
            is_old,
            ..Caller::of(&server)
        });
    }
}

#[test]
fn the_same_lock_several_times_in_one_call_is_done_in_order() {
    new_and_old(|caller| {
        for _ in 0..3 {
            let said = caller.call(&[
                (TAKE, "x", 'a'),
                (WAIT, "y", 'a'),
                (GIVE, "x", 'a'),
                (TAKE, "x", 'b'),
                (TAKE, "x", 'c'),
                (GIVE, "y", 'a'),
            ]);
            let [Said::Done(first), Said::Done(_), rest @ ..] = &said[..] else {
                panic!("{said:?}");
            };
            let [
                Said::Done(1),
                Said::Done(second),
                Said::Else(BUSY),
                Said::Done(1),
            ] = rest
            else {
                panic!("{said:?}");
            };
            assert!(second > first, "{said:?}");
            assert_eq!(caller.holder("x"), Some('b'));
            assert_eq!(caller.holder("y"), None);
            // What stands first in a call is done first as well.
            let said = caller.call(&[
                (GIVE, "x", 'b'),
                (RENEW, "x", 'b'),
                (TAKE, "x", 'd'),
                (GIVE, "x", 'b'),
                (RENEW, "x", 'd'),
                (GIVE, "x", 'd'),
            ]);
            let [
                Said::Done(1),
                Said::Else(GONE),
                Said::Done(third),
                rest @ ..,
            ] = &said[..]
            else {
                panic!("{said:?}");
            };
            assert!(third > second, "{said:?}");
            assert_eq!(rest, [Said::Done(0), Said::Done(0), Said::Done(1)]);
            assert_eq!(caller.holder("x"), None);
        }
    });
}

#[test]
fn whoever_does_not_hold_it_gives_nothing_back() {
    let server = server();
    let mut caller = Caller::of(&server);
    caller.call(&[(TAKE, "x", 'a'), (TAKE, "y", 'a')]);
    let said = caller.call(&[(GIVE, "x", 'b'), (GIVE, "y", 'a'), (GIVE, "z", 'a')]);
    assert_eq!(said, [Said::Done(0), Said::Done(1), Said::Done(0)]);
    assert_eq!(caller.holder("x"), Some('a'));
    assert_eq!(caller.holder("y"), None);
}

#[test]
fn what_is_no_lock_does_not_stop_the_others() {
    new_and_old(|caller| {
        let _: i64 = caller.ask(cmd("SADD").arg(key("set")).arg("member"));
        caller.call(&[(TAKE, "held", 'a'), (TAKE, "kept", 'a')]);
        for round in 0..2 {
            let said = caller.call(&[
                (TAKE, "free", 'b'),
                (TAKE, "set", 'b'),
                (GIVE, "held", 'a'),
                (TAKE, "held", 'b'),
                (RENEW, "kept", 'a'),
                (TAKE, "another", 'b'),
            ]);
            for at in [0, 3, 5] {
                assert!(
                    matches!(said[at], Said::Done(1_000_000_000_000..)),
                    "{said:?}"
                );
            }
            assert_eq!(said[1], Said::Else(FAILED), "{said:?}");
            assert_eq!(said[2], Said::Done(i64::from(round == 0)), "{said:?}");
            assert_eq!(said[4], Said::Done(0), "{said:?}");
        }
        let kind: String = caller.ask(cmd("TYPE").arg(key("set")));
        assert_eq!(kind, "set");
    });
}

#[test]
fn where_nobody_can_count_nothing_is_taken_and_what_is_held_is_given_back() {
    new_and_old(|caller| {
        caller.call(&[(TAKE, "held", 'a')]);
        let _: () = caller.ask(cmd("SET").arg(TOKENS).arg("text"));
        let said = caller.call(&[(TAKE, "x", 'b'), (GIVE, "held", 'a'), (WAIT, "y", 'b')]);
        assert_eq!(
            said,
            [Said::Else(FAILED), Said::Done(1), Said::Else(FAILED)]
        );
        for name in ["x", "y", "held"] {
            assert_eq!(caller.record(name), None, "{name}");
        }
    });
}

#[test]
fn tokens_are_what_time_it_is_and_rise_where_the_clock_does_not() {
    let server = server();
    let mut caller = Caller::of(&server);
    let take = |caller: &mut Caller| {
        let token = caller.token(TAKE, "x", 'a');
        caller.call(&[(GIVE, "x", 'a')]);
        token
    };
    // Nothing is known, or what a replica knew that fell behind.
    for known in [None, Some(5)] {
        if let Some(known) = known {
            let _: () = caller.ask(cmd("SET").arg(TOKENS).arg(known));
        }
        let before = caller.clock();
        let token = take(&mut caller);
        assert!((before..=caller.clock() + 1).contains(&token), "{token}");
    }
    // The clock was set back, or many were taken.
    let ahead = caller.clock() + 32 * 60_000;
    let _: () = caller.ask(cmd("SET").arg(TOKENS).arg(ahead));
    assert_eq!(take(&mut caller), ahead + 1);
    let said = caller.call(&[(TAKE, "x", 'b'), (WAIT, "y", 'b'), (TAKE, "z", 'b')]);
    let mut tokens: Vec<_> = said
        .iter()
        .map(|said| match said {
            Said::Done(token) => token - ahead,
            said => panic!("{said:?}"),
        })
        .collect();
    tokens.sort_unstable();
    assert_eq!(tokens, [2, 3, 4]);
}

#[test]
fn a_lock_with_a_count_of_its_own_keeps_it_for_two_days() {
    let server = server();
    let mut caller = Caller::of(&server);
    caller.count = "";
    let last = format!("{}:t", key("x"));
    let first = caller.token(TAKE, "x", 'a');
    for owner in ['a', 'b', 'c'] {
        let lasts: i64 = caller.ask(cmd("PTTL").arg(&last));
        assert!(lasts > 47 * 3_600_000, "{lasts}");
        caller.call(&[(GIVE, "x", owner), (TAKE, "x", owner)]);
        caller.call(&[(GIVE, "x", owner)]);
        let _: bool = caller.ask(cmd("PEXPIRE").arg(&last).arg(60_000));
        assert!(caller.token(WAIT, "x", owner) > first);
        caller.call(&[(GIVE, "x", owner)]);
    }
}

#[test]
fn whoever_waits_or_is_refused_is_seen_among_many() {
    let server = server();
    let mut caller = Caller::of(&server);
    caller.call(&[(TAKE, "waited", 'a'), (BURY, "buried", 'a')]);
    // Stands in line, and has its turn when it is given back.
    caller.call(&[(WAIT, "waited", 'b')]);
    caller.call(&[(GIVE, "waited", 'a')]);
    let said = caller.call(&[
        (TAKE, "free", 'a'),
        (TAKE, "waited", 'a'),
        (TAKE, "buried", 'a'),
        (TAKE, "other", 'a'),
    ]);
    assert!(matches!(said[0], Said::Done(_)), "{said:?}");
    assert_eq!(said[1..3], [Said::Else(BUSY), Said::Else(BURIED)]);
    assert!(matches!(said[3], Said::Done(_)), "{said:?}");
    assert_eq!(caller.record("waited").as_deref(), Some("?"));
    let said = caller.call(&[(WAIT, "waited", 'b'), (TAKE, "buried", 'b')]);
    assert!(
        matches!(said[..], [Said::Done(_), Said::Done(_)]),
        "{said:?}"
    );
    // Nobody has to look closely any more where nobody waits, but for as long as somebody is buried.
    assert_eq!(caller.is_looked_at("waited"), Some(false));
    let is_looked_at = caller.is_looked_at("buried");
    let is_buried: bool = caller.ask(cmd("EXISTS").arg(tombstone("buried", 'a')));
    assert!(is_looked_at == Some(true) || !is_buried);
}

#[test]
fn whoever_is_buried_while_another_holds_it_is_refused_after_that() {
    let server = server();
    let mut caller = Caller::of(&server);
    for is_given_back in [true, false] {
        caller.lease = 100;
        let name = format!("given back: {is_given_back}");
        caller.call(&[(TAKE, &name, 'a')]);
        assert_eq!(caller.call(&[(BURY, &name, 'b')]), [Said::Done(0)]);
        match is_given_back {
            true => drop(caller.call(&[(GIVE, &name, 'a')])),
            false => caller.until_over(&name),
        }
        let said = caller.call(&[(TAKE, &name, 'b')]);
        let is_buried: bool = caller.ask(cmd("EXISTS").arg(tombstone(&name, 'b')));
        assert!(said == [Said::Else(BURIED)] || !is_buried, "{said:?}");
        caller.lease = 30_000;
        assert!(caller.token(TAKE, &name, 'c') > 0);
    }
}

#[test]
fn a_holder_for_whose_lock_somebody_waits_renews_it_and_loses_it_as_any_other() {
    let server = server();
    let mut caller = Caller::of(&server);
    caller.lease = 100;
    let token = caller.token(TAKE, "x", 'a');
    assert_eq!(caller.call(&[(WAIT, "x", 'b')]), [Said::Else(BUSY)]);
    // A third of a minute.
    assert_eq!(caller.call(&[(RENEW, "x", 'a')]), [Said::Done(0)]);
    assert_eq!(caller.token(WAIT, "x", 'a'), token);
    assert_eq!(caller.call(&[(RENEW_BRIEFLY, "x", 'a')]), [Said::Done(0)]);
    caller.until_over("x");
    assert!(caller.token(WAIT, "x", 'b') > token);
    assert_eq!(caller.call(&[(GIVE, "x", 'a')]), [Said::Done(0)]);
    assert_eq!(caller.holder("x"), Some('b'));
    assert_eq!(caller.is_looked_at("x"), Some(false));
}

#[test]
fn what_somebody_waits_for_is_renewed_and_given_back_where_the_memory_is_full() {
    let server = server();
    let mut caller = Caller::of(&server);
    let token = caller.token(TAKE, "x", 'a');
    assert_eq!(caller.call(&[(WAIT, "x", 'b')]), [Said::Else(BUSY)]);
    caller.limit("1");
    assert_eq!(caller.call(&[(TAKE, "y", 'a')]), [Said::Else(FAILED)]);
    assert_eq!(caller.call(&[(RENEW, "x", 'a')]), [Said::Done(0)]);
    assert_eq!(caller.call(&[(GIVE, "x", 'a')]), [Said::Done(1)]);
    assert_eq!(caller.record("x").as_deref(), Some("?"));
    caller.limit("0");
    assert!(caller.token(WAIT, "x", 'b') > token);
}

#[test]
fn who_waits_longer_than_a_lease_is_not_overtaken_when_it_ends() {
    let server = server();
    let mut caller = Caller::of(&server);
    caller.lease = 100;
    caller.call(&[(TAKE, "x", 'a')]);
    caller.call(&[(WAIT, "x", 'b')]);
    // Nobody gives it back, so nobody is told.
    caller.until_over("x");
    assert_eq!(caller.call(&[(TAKE, "x", 'c')]), [Said::Else(BUSY)]);
    assert!(caller.token(WAIT, "x", 'b') > 0);
    assert_eq!(caller.holder("x"), Some('b'));
}
