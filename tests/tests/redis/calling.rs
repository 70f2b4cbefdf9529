//! What one call of the script does with many things, as the server is asked for it.

use crate::{key, server};
use lockwork_servers::Redis;
use redis::{Client, Cmd, Connection, Value, cmd};

/// The script as the backend has it.
fn script() -> String {
    let inner = include_str!("../../../crates/redis/src/lock.lua");
    include_str!("../../../crates/redis/src/call.lua").replace("--@ lock.lua\n", inner)
}

const TAKE: &str = "take 1 30000 0";
const WAIT: &str = "wait 1 30000 0";
const GIVE: &str = "give 1 30000 0";
const RENEW: &str = "renew 1 30000 0";

/// A second, after which nothing of it is left.
const BURY: &str = "give 1 30000 1000";

const BUSY: i64 = 2;
const BURIED: i64 = 3;
const GONE: i64 = 4;
const FAILED: i64 = -1;

/// An errand, a name and an owner.
type Thing<'a> = (&'a str, &'a str, char);

struct Caller(Connection);

/// What was said to one thing.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Done(i64),
    Else(i64),
}

impl Caller {
    fn of(server: &Redis) -> Self {
        let client = Client::open(server.url().as_str()).unwrap();
        Self(client.get_connection().unwrap())
    }

    fn ask<T: redis::FromRedisValue>(&mut self, command: &Cmd) -> T {
        command.query(&mut self.0).unwrap()
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
        call.arg(script()).arg(things.len());
        for (_, name, _) in in_order() {
            call.arg(key(name));
        }
        call.arg("nonce").arg("client").arg("inbox").arg(1);
        call.arg(30_000).arg(&[end(0), end(1), end(2)]);
        for (_, _, owner) in in_order() {
            call.arg(id(owner));
        }
        for (errand, _, _) in in_order().skip(end(2)) {
            call.arg(errand);
        }
        let answer: Vec<Value> = self.ask(&call);
        assert_eq!(answer[0], Value::BulkString(b"nonce".to_vec()));
        let given: Vec<Said> = match &answer[1] {
            Value::Array(each) => each.iter().map(said).collect(),
            all => (0..end(0)).map(|_| said(all)).collect(),
        };
        let answers = given.into_iter().chain(answer[2..].iter().map(said));
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

    fn holder(&mut self, name: &str) -> Option<char> {
        let record: Option<String> = self.ask(cmd("GET").arg(key(name)));
        record.and_then(|record| record.chars().nth(1))
    }

    fn last(&self, name: &str) -> String {
        format!("{}:t", key(name))
    }
}

fn id(owner: char) -> String {
    owner.to_string().repeat(32)
}

fn said(value: &Value) -> Said {
    match value {
        Value::Int(number) => Said::Done(*number),
        Value::Array(values) => match values[..] {
            [Value::Int(verdict), _] => Said::Else(verdict),
            _ => panic!("{value:?}"),
        },
        _ => panic!("{value:?}"),
    }
}

#[test]
fn the_same_lock_several_times_in_one_call_is_done_in_order() {
    let server = server();
    let mut caller = Caller::of(&server);
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
    let server = server();
    let mut caller = Caller::of(&server);
    let _: i64 = caller.ask(cmd("SADD").arg(key("set")).arg("member"));
    let _: () = caller.ask(cmd("SET").arg(caller.last("uncountable")).arg("text"));
    caller.call(&[(TAKE, "held", 'a'), (TAKE, "kept", 'a')]);
    for round in 0..2 {
        let said = caller.call(&[
            (TAKE, "free", 'b'),
            (TAKE, "set", 'b'),
            (GIVE, "held", 'a'),
            (TAKE, "uncountable", 'b'),
            (TAKE, "held", 'b'),
            (RENEW, "kept", 'a'),
            (TAKE, "another", 'b'),
        ]);
        for at in [0, 4, 6] {
            assert!(
                matches!(said[at], Said::Done(1_000_000_000_000..)),
                "{said:?}"
            );
        }
        for at in [1, 3] {
            assert_eq!(said[at], Said::Else(FAILED), "{said:?}");
        }
        assert_eq!(said[2], Said::Done(i64::from(round == 0)), "{said:?}");
        assert_eq!(said[5], Said::Done(0), "{said:?}");
    }
    let kind: String = caller.ask(cmd("TYPE").arg(key("set")));
    assert_eq!(kind, "set");
    assert_eq!(caller.holder("uncountable"), None);
}

#[test]
fn a_token_that_begins_is_what_time_it_is_and_is_kept_for_two_days() {
    let server = server();
    let mut caller = Caller::of(&server);
    let (seconds, _): (i64, i64) = caller.ask(&cmd("TIME"));
    let first = caller.token(TAKE, "x", 'a');
    assert!((seconds * 1000..).contains(&first), "{first}");
    let lasts: i64 = caller.ask(cmd("PTTL").arg(caller.last("x")));
    assert!(lasts > 47 * 3_600_000, "{lasts}");
    caller.call(&[(GIVE, "x", 'a')]);
    assert_eq!(caller.token(WAIT, "x", 'b'), first + 1);
}

#[test]
fn a_token_is_written_down_anew_each_sixty_fourth_time() {
    let server = server();
    let mut caller = Caller::of(&server);
    let last = caller.last("x");
    let before = 64 * 30_000_000_000_i64 - 2;
    let _: () = caller.ask(cmd("SET").arg(&last).arg(before).arg("PX").arg(60_000));
    for (owner, ahead) in [('a', 1), ('b', 2), ('c', 3)] {
        assert_eq!(caller.token(TAKE, "x", owner), before + ahead);
        let lasts: i64 = caller.ask(cmd("PTTL").arg(&last));
        assert_eq!(lasts > 47 * 3_600_000, ahead >= 2, "{ahead}: {lasts}");
        caller.call(&[(GIVE, "x", owner)]);
    }
}

#[test]
fn whoever_waits_or_is_refused_is_seen_among_many() {
    let server = server();
    let mut caller = Caller::of(&server);
    // Both have a token from which to count on.
    caller.call(&[(TAKE, "waited", 'a'), (TAKE, "buried", 'z')]);
    caller.call(&[(GIVE, "buried", 'z'), (BURY, "buried", 'a')]);
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
    assert_eq!(caller.holder("waited"), None);
    let said = caller.call(&[(WAIT, "waited", 'b'), (TAKE, "buried", 'b')]);
    assert!(
        matches!(said[..], [Said::Done(_), Said::Done(_)]),
        "{said:?}"
    );
    // Nobody has to look closely any more where nobody waits, but for as long as somebody is buried.
    let last: i64 = caller.ask(cmd("GET").arg(caller.last("waited")));
    assert_eq!(said[0], Said::Done(last));
    let last: String = caller.ask(cmd("GET").arg(caller.last("buried")));
    let tombstone = format!("{}:d:{}", key("buried"), id('a'));
    let is_buried: bool = caller.ask(cmd("EXISTS").arg(tombstone));
    assert!(last.contains('?') || !is_buried, "{last}");
    let lasts: i64 = caller.ask(cmd("PTTL").arg(caller.last("buried")));
    assert!(lasts > 47 * 3_600_000, "{lasts}");
}

#[test]
fn who_waits_longer_than_a_lease_is_not_overtaken_when_it_ends() {
    let server = server();
    let mut caller = Caller::of(&server);
    caller.call(&[(TAKE, "x", 'a')]);
    caller.call(&[(WAIT, "x", 'b')]);
    // As when the lease of the holder ends: nobody gave it back, so nobody was told.
    let _: i64 = caller.ask(cmd("DEL").arg(key("x")));
    assert_eq!(caller.call(&[(TAKE, "x", 'c')]), [Said::Else(BUSY)]);
    assert!(caller.token(WAIT, "x", 'b') > 0);
    assert_eq!(caller.holder("x"), Some('b'));
}
