//! Exit codes and output: what a script around `lockwork` relies on.

#![cfg(unix)]

mod common;
mod tools;

use common::{code, done, lockwork, script, send, text, wait};
use nix::sys::signal::Signal;
use std::{io::Write, process::Stdio};

#[test]
fn the_exit_code_is_the_commands() {
    for expected in [0, 1, 7, 75, 255] {
        let output = done(&mut script(&[], &format!("exit {expected}")));
        assert_eq!(code(output.status), expected);
    }
}

#[test]
fn a_command_that_dies_by_a_signal_ends_with_128_and_its_number() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGSEGV] {
        let number = signal as i32;
        let output = done(&mut script(&[], &format!("kill -{number} $$")));
        assert_eq!(code(output.status), 128 + number);
    }
}

#[test]
fn a_command_that_is_not_there_ends_with_127() {
    let output = done(&mut lockwork(&["exec", "n", "--", "/no/such/command"]));
    assert_eq!(code(output.status), 127);
    assert!(text(&output.stderr).contains("lockwork: /no/such/command was not found"));
}

#[test]
fn a_command_that_cannot_be_run_ends_with_126() {
    for command in ["/dev/null", "/"] {
        let output = done(&mut lockwork(&["exec", "n", "--", command]));
        assert_eq!(code(output.status), 126, "{command}");
    }
}

#[test]
fn standard_output_is_the_commands_alone() {
    let output = done(&mut script(&["-vvv"], "echo only; echo other >&2"));
    assert_eq!(text(&output.stdout), "only\n");
    let own = |line: &&str| !line.starts_with("lockwork: ");
    let stderr = text(&output.stderr);
    assert_eq!(stderr.lines().filter(own).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn standard_input_is_the_commands() {
    let mut command = lockwork(&["exec", "n", "--", "cat"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"through\n").unwrap();
    drop(input);
    assert_eq!(text(&wait(child).stdout), "through\n");
}

#[test]
fn the_command_knows_the_locks_name_and_token() {
    let output = done(&mut script(&[], "echo $LOCKWORK_NAME $LOCKWORK_TOKEN"));
    let stdout = text(&output.stdout);
    let (name, token) = stdout.trim().split_once(' ').unwrap();
    assert_eq!(name, "n");
    assert!(token.parse::<lockwork::Token>().is_ok());
}

#[test]
fn a_lock_without_a_token_hides_that_of_one_around_it() {
    let mut command = script(&["--read"], "echo token=$LOCKWORK_TOKEN");
    let output = done(command.env("LOCKWORK_TOKEN", "65536"));
    assert_eq!(text(&output.stdout), "token=\n");
}

#[test]
fn a_command_gets_its_arguments_as_they_are() {
    let words = [
        "exec", "n", "--", "printf", "%s|", "--wait", "a b", "", "--",
    ];
    let output = done(&mut lockwork(&words));
    assert_eq!(text(&output.stdout), "--wait|a b||--|");
}

#[test]
fn wrong_usage_ends_with_2_and_a_sentence_that_helps() {
    let cases: &[(&[&str], &str)] = &[
        (&["exec", "n", "ls"], "Put -- before the command"),
        (&["exec", "n"], "Put -- before the command"),
        (&["exec", "--", "ls"], "name goes before --"),
        (
            &["exec", "--locks", "file://locks", "n", "--", "ls"],
            "file:./locks",
        ),
        (
            &["exec", "--locks", "tabel:", "n", "--", "ls"],
            "known=memory",
        ),
        (
            &["exec", "--locks", "./locks", "n", "--", "ls"],
            "file:./locks",
        ),
        (
            &["exec", "--locks", "memory:?no=1", "n", "--", "ls"],
            "option=no",
        ),
        (&["exec", "--locks", "", "n", "--", "ls"], "Add --locks URL"),
        (&["exec", "--wait", "30", "n", "--", "ls"], "30s"),
        (
            &["exec", "--permits", "0", "n", "--", "ls"],
            "at least one permit",
        ),
        (&["exec", "--read", "--write", "n", "--", "ls"], "--write"),
        (&["exec", "", "--", "ls"], "a lock needs a name"),
        (&["__guardian", "1"], ""),
        (&["__run"], ""),
    ];
    for (words, hint) in cases {
        let output = done(&mut lockwork(words));
        assert_eq!(code(output.status), 2, "{words:?}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains(hint), "{words:?}: {stderr}");
        assert_eq!(text(&output.stdout), "", "{words:?}");
    }
}

#[test]
fn help_and_version_are_asked_for_and_no_error() {
    for words in [&["--help"][..], &["exec", "--help"], &["--version"]] {
        let output = done(&mut lockwork(words));
        assert_eq!(code(output.status), 0);
        assert!(text(&output.stdout).contains("lockwork"));
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn the_other_verbs_print_tables_or_json() {
    let json = |words: &[&str]| {
        let output = done(&mut lockwork(words));
        assert_eq!(code(output.status), 0, "{words:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    assert_eq!(
        json(&["holders", "n", "--json"])["holders"],
        serde_json::json!([])
    );
    assert_eq!(json(&["locks", "gc", "--json"])["removed"], 0);
    assert_eq!(json(&["doctor", "--json"])["safe"], true);
    let told = |words| text(&done(&mut lockwork(words)).stdout);
    assert_eq!(told(&["holders", "--rw", "n"]), "nobody holds n\n");
    assert!(told(&["locks", "gc", "--idle", "2h"]).starts_with("removed"));
    assert!(told(&["doctor"]).contains("nothing here breaks a promise"));
}

#[test]
fn what_reads_the_output_may_stop_reading() {
    let mut command = lockwork(&["doctor"]);
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(code(wait(child).status), 0);
}

#[test]
fn signals_that_were_ignored_before_stay_ignored_in_the_command() {
    // As under `nohup`.
    let inner = "trap '' HUP; exec \"$0\" exec n -- sh -c 'kill -HUP $$; echo alive'";
    let mut command = std::process::Command::new("sh");
    let output = done(
        command
            .args(["-c", inner, env!("CARGO_BIN_EXE_lockwork")])
            .env("LOCKWORK_URL", "memory:")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    );
    assert_eq!(text(&output.stdout), "alive\n");
}

#[test]
fn signals_are_passed_on_to_the_command() {
    for signal in [
        Signal::SIGHUP,
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGTERM,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
        Signal::SIGWINCH,
    ] {
        let name = signal.as_str().trim_start_matches("SIG");
        let dir = tempfile::tempdir().unwrap();
        let ready = dir.path().join("ready");
        let trap = format!(
            "trap 'echo got {name}; exit 42' {name}; echo > {}; while :; do sleep 0.02; done",
            ready.display()
        );
        let child = script(&[], &trap).spawn().unwrap();
        common::line(&ready);
        send(&child, signal);
        let output = wait(child);
        assert_eq!(text(&output.stdout), format!("got {name}\n"));
        assert_eq!(code(output.status), 42, "{name}");
    }
}

#[test]
fn a_command_that_ends_by_a_signal_that_was_passed_on_ends_with_its_code() {
    let dir = tempfile::tempdir().unwrap();
    let ready = dir.path().join("ready");
    let child = script(&[], &format!("echo > {}; sleep 60", ready.display()));
    let child = { child }.spawn().unwrap();
    common::line(&ready);
    send(&child, Signal::SIGTERM);
    assert_eq!(code(wait(child).status), 143);
}
