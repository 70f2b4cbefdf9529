//! `lockwork exec` on leases and sessions: no command runs without its lock, whatever is killed,
//! frozen or cut off.

#![cfg(target_os = "linux")]

#[path = "exec/on.rs"]
mod on;
#[path = "exec/round.rs"]
mod round;

use lockwork::Instant;
use lockwork_conformance::standin::Server;
use on::{On, becomes, files, lease, session};
use round::Frozen;
use rustix::process::Signal;
use std::{thread, time::Duration};

/// What is sent has an effect within this, on a busy machine. Far less than [`LASTING`].
const SOON: Duration = Duration::from_secs(2);
/// A lease that does not end by itself during a test.
const LASTING: Duration = Duration::from_secs(60);
/// Rounds of the long test, for each of its lanes.
const ROUNDS: usize = 10;
const LANES: usize = 10;

/// The stand-in with leases of `time`, and with sessions.
fn both(time: Duration) -> [(Server, On); 2] {
    [lease, session].map(|on| {
        let server = Server::start();
        let on = on(&server, time);
        (server, on)
    })
}

#[test]
fn a_lock_that_is_not_free_ends_with_75() {
    for (_server, on) in both(LASTING) {
        let _held = on.pipeline(&[]);
        for wait in ["no", "0", "100ms"] {
            let output = on.done(&["--wait", wait], "echo ran");
            assert_eq!(output.code, 75, "{output:?}");
            assert_eq!(output.stdout, "");
            assert!(output.stderr.contains("lockwork: n was not free in time"));
        }
    }
}

#[test]
fn readers_run_beside_each_other_and_the_writer_beside_nobody() {
    let server = Server::start();
    let on = lease(&server, LASTING);
    let reader = on.pipeline(&["--read"]);
    assert_eq!(on.done(&["--shared", "--wait", "no"], "exit 3").code, 3);
    assert_eq!(on.done(&["--write", "--wait", "no"], "exit 3").code, 75);
    assert_eq!(on.done(&["--wait", "no"], "exit 3").code, 3, "another kind");
    drop(reader);
}

#[test]
fn as_many_run_as_there_are_permits() {
    let server = Server::start();
    let on = lease(&server, LASTING);
    let _first = on.pipeline(&["--permits", "2"]);
    assert_eq!(
        on.done(&["--permits", "2", "--wait", "no"], "exit 3").code,
        3
    );
    let _second = on.pipeline(&["--permits", "2"]);
    assert_eq!(
        on.done(&["--permits", "2", "--wait", "no"], "exit 3").code,
        75
    );
}

#[test]
fn a_server_that_is_not_there_ends_with_69() {
    for (server, on) in both(LASTING) {
        drop(server);
        let output = on.done(&[], "echo ran");
        assert_eq!(output.code, 69, "{output:?}");
        assert_eq!(output.stdout, "");
        assert!(output.stderr.starts_with("lockwork: "), "{output:?}");
    }
}

#[test]
fn a_signal_while_waiting_ends_with_its_code_and_leaves_nothing() {
    for (server, on) in both(LASTING) {
        let held = on.pipeline(&[]);
        for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
            let requests = server.requests_handled();
            let waiting = on.start(&[], "echo ran");
            becomes("it asked and waits", || {
                server.requests_handled() >= requests + 2
            });
            waiting.send(signal);
            let output = waiting.wait();
            assert_eq!((output.code, output.stdout.as_str()), (code, ""));
            becomes("nobody waits", || server.waiters_now() == 0);
        }
        assert_eq!(held.members(), 4);
    }
}

#[test]
fn a_command_may_last_for_many_leases() {
    let server = Server::start();
    let on = lease(&server, Duration::from_millis(900));
    let output = on.done(&["--grace", "100ms"], "sleep 4; echo done");
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "done\n"),
        "{output:?}"
    );
    assert_eq!(server.locks_now(), 0);
}

#[test]
fn the_lock_is_free_when_exec_has_ended() {
    for (server, on) in both(LASTING) {
        let output = on.done(&["--grace", "50ms"], "trap '' TERM; sleep 300 & exit 9");
        assert_eq!(output.code, 9);
        assert_eq!(server.locks_now(), 0);
    }
}

#[test]
fn a_killed_exec_on_a_lease_takes_its_command_along_long_before_the_next_one_begins() {
    let server = Server::start();
    let on = lease(&server, Duration::from_secs(4));
    let first = on.pipeline(&[]);
    let next = on.start(&[], "ls group.* | wc -l");
    becomes("the next one waits", || server.waiters_now() == 1);
    first.send(Signal::KILL);
    let (took, held) = (first.all_gone(), server.locks_now());
    println!("all four were dead {took:?} after exec was killed");
    assert!(took < SOON, "too late: {took:?}");
    assert_eq!(held, 1, "the lease outlives the command");
    assert_eq!(next.wait().code, 0);
}

#[test]
fn a_killed_exec_on_a_session_takes_its_command_along() {
    let server = Server::start();
    let on = session(&server, LASTING);
    let first = on.pipeline(&[]);
    first.send(Signal::KILL);
    let took = first.all_gone();
    println!("all four were dead {took:?} after exec was killed");
    assert!(took < SOON, "too late: {took:?}");
}

#[test]
fn a_frozen_exec_has_its_command_asked_to_end_and_killed_before_its_lease_is_over() {
    let server = Server::start();
    let time = Duration::from_secs(3);
    let on = lease(&server, time);
    let running = on.start(
        &["--grace", "600ms"],
        "trap 'echo > asked' TERM; echo $$ > group.new; mv group.new group.$$; \
         while :; do sleep 0.01; done",
    );
    let running = running.with_group();
    running.send(Signal::STOP);
    becomes("it is asked to end", || on.has("asked"));
    let asked_at = Instant::now();
    running.all_gone();
    let (dead_after, held) = (asked_at.elapsed(), server.locks_now());
    println!("killed {dead_after:?} after it was asked to end");
    assert!(dead_after > Duration::from_millis(400), "{dead_after:?}");
    assert!(
        dead_after < Duration::from_millis(1000),
        "too late: {dead_after:?}"
    );
    assert_eq!(held, 1, "the lease is not over yet");
    becomes("the lease is over", || server.locks_now() == 0);
    running.send(Signal::CONT);
    let output = running.wait();
    assert_eq!(output.code, 76, "{output:?}");
}

#[test]
fn an_exec_frozen_before_its_command_begins_does_not_stretch_the_lease() {
    // The grant's end is a point in time: what was frozen before it was told is late all the same.
    let server = Server::start();
    let on = lease(&server, Duration::from_millis(1500));
    let waiting = on.start(&[], "echo begun > begun; sleep 300");
    becomes("it has the lock", || server.locks_now() == 1);
    waiting.send(Signal::STOP);
    becomes("the lease is over", || server.locks_now() == 0);
    let next = on.done(&[], "exit 4");
    assert_eq!(next.code, 4);
    waiting.send(Signal::CONT);
    assert_eq!(waiting.wait().code, 76);
}

#[test]
fn a_guardian_that_wakes_late_does_not_begin_to_count_anew() {
    let server = Server::start();
    let time = Duration::from_secs(3);
    let on = lease(&server, time);
    let running = on.pipeline(&[]);
    running.send_guardian(Signal::STOP);
    let requests = server.requests_handled();
    // The second renewal comes when the first one has long been told.
    becomes("two renewals", || server.requests_handled() >= requests + 2);
    running.send(Signal::STOP);
    becomes("the lease is over", || server.locks_now() == 0);
    running.send_guardian(Signal::CONT);
    let took = running.all_gone();
    println!("all four were dead {took:?} after the guardian woke up");
    assert!(took < time / 3, "too late: {took:?}");
}

#[test]
fn a_guardian_frozen_for_longer_than_a_lease_spares_the_command_of_a_lock_that_was_kept() {
    let server = Server::start();
    let on = lease(&server, Duration::from_millis(1500));
    let running = on.start(
        &[],
        "echo $PPID > guardian.$$; echo $$ > group.new; mv group.new group.$$; \
         while [ ! -e go ]; do sleep 0.02; done; exit 5",
    );
    let running = running.with_group();
    running.send_guardian(Signal::STOP);
    let requests = server.requests_handled();
    becomes("four renewals", || {
        server.requests_handled() >= requests + 4
    });
    running.send_guardian(Signal::CONT);
    std::fs::write(on.dir.path().join("go"), "").unwrap();
    let output = running.wait();
    assert_eq!(output.code, 5, "{output:?}");
}

#[test]
fn a_server_that_falls_silent_ends_the_command_before_the_lease_is_over() {
    let server = Server::start();
    let on = lease(&server, Duration::from_secs(4));
    let running = on.pipeline(&["--grace", "100ms"]);
    server.pause(true);
    running.all_gone();
    assert_eq!(server.locks_now(), 1, "the lease is not over yet");
    server.pause(false);
    let output = running.wait();
    assert_eq!(output.code, 76, "{output:?}");
    assert!(
        output.stderr.contains("lockwork: the command"),
        "{output:?}"
    );
}

#[test]
fn a_lock_that_is_lost_kills_the_command_at_once() {
    let time = Duration::from_secs(3);
    for (server, on) in both(time) {
        let running = on.pipeline(&["--grace", "60s"]);
        server.sever_all();
        let took = running.all_gone();
        println!("all four were dead {took:?} after the lock was lost");
        assert!(took < time, "too late: {took:?}");
        let output = running.wait();
        assert_eq!(output.code, 76, "{output:?}");
        assert!(output.stderr.contains("the lock was lost"), "{output:?}");
    }
}

#[test]
fn a_lock_that_is_lost_kills_the_command_of_a_frozen_guardian_too() {
    let server = Server::start();
    let on = session(&server, LASTING);
    let running = on.pipeline(&[]);
    running.send_guardian(Signal::STOP);
    server.sever_all();
    running.all_gone();
    assert_eq!(running.wait().code, 76);
}

#[test]
fn a_killed_guardian_ends_the_command_and_the_lock() {
    for (server, on) in both(LASTING) {
        let running = on.pipeline(&[]);
        running.send_guardian(Signal::KILL);
        let took = running.all_gone();
        println!("all four were dead {took:?} after the guardian was killed");
        let output = running.wait();
        assert_eq!(output.code, 71, "{output:?}");
        assert!(output.stderr.contains("lockwork: the guardian was killed"));
        assert_eq!(server.locks_now(), 0);
    }
}

#[test]
fn a_lock_is_not_released_while_its_command_has_processes() {
    let server = Server::start();
    let on = session(&server, LASTING);
    let running = on.pipeline(&["--grace", "60s"]);
    let next = on.start(&[], "ls group.*");
    running.send(Signal::TERM);
    // Nobody is impressed; the lock stays until the group is ended by force.
    assert_eq!(on.done(&["--wait", "100ms"], "").code, 75);
    running.send_group(Signal::KILL);
    assert_eq!(running.wait().code, 137);
    assert_eq!(next.wait().code, 0);
}

#[test]
fn holders_and_waiters_are_shown() {
    let server = Server::start();
    let on = lease(&server, LASTING);
    let _held = on.pipeline(&[]);
    let waiting = on.start(&[], "true");
    becomes("one waits", || server.waiters_now() == 1);
    let table = on.tell(&["holders", "n"]);
    assert!(table.contains("holds  exclusive"), "{table}");
    assert!(table.contains("waits  exclusive"), "{table}");
    assert!(!table.contains('\x1b'), "no colours on a pipe");
    let json = on.tell(&["holders", "--json", "n"]);
    assert!(json.contains("\"token\":\""), "{json}");
    waiting.send(Signal::TERM);
    assert_eq!(waiting.wait().code, 143);
}

#[test]
fn a_command_keeps_the_descriptors_its_lock_rests_on_after_exec_and_guardian() {
    for (options, beside) in [(&[][..], 75), (&["--close"][..], 0)] {
        let on = files();
        let running = on.pipeline(options);
        // Frozen, so that neither sees the other's end. The system kills one process of the four.
        running.send(Signal::STOP);
        running.send_guardian(Signal::KILL);
        becomes("the command itself is gone", || running.members() == 3);
        running.send(Signal::KILL);
        becomes("exec is gone", || !running.is_alive());
        let output = on.done(&["--wait", "100ms"], "");
        assert_eq!(output.code, beside, "{options:?}: {output:?}");
        running.send_group(Signal::KILL);
        assert_eq!(on.done(&["--wait", "10s"], "").code, 0);
    }
}

#[test]
fn the_guardian_keeps_the_descriptors_that_the_command_does_not_get() {
    let on = files();
    let running = on.pipeline(&["--close"]);
    assert_eq!(running.opened_by_guardian(), 1);
    assert_eq!(running.opened_by_command(), 0);
    let beside = files();
    let running = beside.pipeline(&[]);
    assert_eq!(running.opened_by_command(), 1);
}

#[test]
fn a_release_ends_the_lock_even_where_a_daemon_has_its_descriptors() {
    let on = files();
    let daemon = "setsid sh -c 'echo $$ > new; mv new daemon; exec sleep 300 > /dev/null 2>&1' & \
                  while [ ! -e daemon ]; do sleep 0.01; done";
    assert_eq!(on.done(&[], daemon).code, 0);
    assert_eq!(on.done(&["--wait", "no"], "kill $(cat daemon)").code, 0);
}

#[test]
fn no_command_is_ever_beside_the_next_holders_whoever_is_killed_or_frozen() {
    let server = Server::start();
    alone_in_every_round(|| lease(&server, Duration::from_secs(2)), Frozen::LosesIt);
}

#[test]
fn no_command_is_ever_beside_the_next_holders_on_file_locks_either() {
    // A frozen holder keeps its lock, and a killed one leaves it to its last process.
    alone_in_every_round(files, Frozen::KeepsIt);
}

fn alone_in_every_round(on: impl Fn() -> On + Sync, frozen: Frozen) {
    let lane = |lane: usize| round::rounds(&on(), &format!("lane {lane}"), ROUNDS, frozen);
    let lane = &lane;
    let tallies: Vec<_> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES)
            .map(|each| scope.spawn(move || lane(each)))
            .collect();
        let lanes = lanes.into_iter().map(|lane| lane.join());
        lanes.map(|tally| tally.expect("no panic")).collect()
    });
    println!("{tallies:?}");
    let begun: usize = tallies.iter().map(|tally| tally.begun).sum();
    assert!(begun >= ROUNDS * LANES, "{tallies:?}");
    assert!(
        tallies.iter().all(|tally| tally.overlaps == 0),
        "{tallies:?}"
    );
}
