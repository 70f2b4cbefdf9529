//! Waiting for a time.

use crate::support::{Instance, NOON, definition, expr, log, remembering, sequence};
use lockwork_core::workflow::{Run, SubStatus};
use serde_json::{Value, json};

const HOUR: i64 = 3_600_000;

fn timer(kind: &str, with: Value) -> Value {
    json!({ "type": kind, "id": "timer", "with": with })
}

#[test]
fn each_timer_is_due_when_it_says_and_goes_on_then() {
    for (timer, due) in [
        (
            timer("Delay", json!({ "for": "1h30m" })),
            NOON + HOUR * 3 / 2,
        ),
        (timer("Timer", json!({ "every": "250ms" })), NOON + 250),
        (timer("StartAt", json!({ "at": NOON + 7 })), NOON + 7),
        (
            timer("StartAt", json!({ "at": "2027-01-15T13:00:00Z" })),
            NOON + HOUR,
        ),
        (
            timer("Cron", json!({ "at": "30 12 * * *" })),
            NOON + HOUR / 2,
        ),
        (
            timer(
                "Cron",
                json!({ "at": "0 14 * * *", "zone": "Europe/Berlin" }),
            ),
            NOON + HOUR,
        ),
        (timer("Cron", json!({ "at": "5 0 12 * * *" })), NOON + 5_000),
    ] {
        let root = sequence("main", [log("a"), timer.clone(), log("b")]);
        let mut instance = Instance::run(definition(root));
        instance.is(SubStatus::Suspended);
        let [bookmark] = instance.state.waiting() else {
            panic!("{:?}", instance.state.bookmarks);
        };
        assert_eq!(
            bookmark.due.map(|due| due.as_millis()),
            Some(due),
            "{timer}"
        );
        instance.wake(due - 1);
        assert_eq!(instance.lines(), ["a"], "{timer}");
        instance.wake(due);
        assert_eq!(instance.lines(), ["a", "b"], "{timer}");
        instance.is_finished();
    }
}

#[test]
fn a_moment_that_has_passed_is_not_waited_for() {
    for timer in [
        timer("StartAt", json!({ "at": NOON - 1 })),
        timer("StartAt", json!({ "at": "1999-12-31T23:59:59Z" })),
        timer("StartAt", json!({ "at": NOON })),
        timer("Delay", json!({ "for": "0s" })),
    ] {
        let instance = Instance::run(definition(sequence("main", [timer, log("after")])));
        assert_eq!(instance.lines(), ["after"]);
        instance.is_finished();
    }
}

#[test]
fn a_timer_that_takes_long_to_set_is_waited_for_all_the_same() {
    for timer in [
        timer("Delay", json!({ "for": "3ms" })),
        timer("Timer", json!({ "every": "3ms" })),
        timer("Cron", json!({ "at": "* * * * * *" })),
    ] {
        let mut instance = Instance::new(definition(timer));
        instance.clock.run(HOUR);
        instance.go(Run::default());
        instance.is(SubStatus::Suspended);
    }
}

#[test]
fn how_long_to_wait_may_be_an_expression() {
    let delay = timer("Delay", json!({ "for": { "$text": "{{ n }}s" } }));
    let instance = Instance::run(remembering(json!({ "n": 90 }), delay));
    let due = instance.state.waiting()[0].due.unwrap();
    assert_eq!(due.as_millis(), NOON + 90_000);
}

#[test]
fn what_turns_out_to_be_no_time_is_a_failure() {
    for timer in [
        timer("Delay", json!({ "for": expr("n") })),
        timer("Timer", json!({ "every": expr("n") })),
        timer("StartAt", json!({ "at": expr("n") })),
        timer("Cron", json!({ "at": expr("n") })),
    ] {
        let instance = Instance::run(remembering(json!({ "n": "soon" }), timer));
        assert_eq!(instance.codes(), ["input.type"]);
    }
}

#[test]
fn the_longest_delay_is_due_at_the_end_of_time() {
    let delay = timer("Delay", json!({ "for": "200000000000d" }));
    let instance = Instance::run(definition(delay));
    let due = instance.state.waiting()[0].due.unwrap();
    assert_eq!(due.as_millis(), i64::MAX);
}

#[test]
fn two_timers_that_are_due_together_are_told_apart() {
    let delay = |id: &str| json!({ "type": "Delay", "id": id, "with": { "for": "1s" } });
    let both = crate::support::parallel("both", [delay("a"), delay("b")]);
    let mut instance = Instance::run(definition(both));
    let [a, b] = instance.state.waiting() else {
        panic!("{:?}", instance.state.bookmarks);
    };
    assert_ne!(a.hash, b.hash);
    instance.wake(NOON + 1_000);
    instance.is_finished();
}
