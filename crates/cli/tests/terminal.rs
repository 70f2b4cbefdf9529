//! `exec` at a terminal: whose keys they are. Needs `script`, of util-linux; without, says so.

#![cfg(target_os = "linux")]

mod common;

use common::{LIMIT, becomes};
use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";
/// Not one long sleep: a signal that a shell catches just before it starts one waits for its end.
const FOREVER: &str = "while :; do sleep 0.02; done";

/// A shell with job control at a terminal of its own. Killed when dropped.
struct Desk {
    script: Child,
    keys: ChildStdin,
    screen: Arc<Mutex<String>>,
}

impl Desk {
    fn sit_down() -> Option<Self> {
        let mut script = Command::new("script")
            .args(["-qec", "sh -i", "/dev/null"])
            .env("LOCKWORK_URL", "memory:")
            .env("L", env!("CARGO_BIN_EXE_lockwork"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .inspect_err(|error| println!("skipped: there is no `script` here: {error}"))
            .ok()?;
        let screen = Arc::new(Mutex::new(String::new()));
        let mut output = script.stdout.take()?;
        let shown = screen.clone();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..read]);
                shown.lock().expect("nobody panics").push_str(&text);
            }
        });
        let keys = script.stdin.take()?;
        let mut desk = Self {
            script,
            keys,
            screen,
        };
        // A prompt that is not also what was typed to have it.
        desk.types("PS1='READ''Y> '\n");
        desk.sees("READY> ");
        Some(desk)
    }

    fn types(&mut self, keys: &str) {
        let typed = self.keys.write_all(keys.as_bytes());
        typed.expect("the terminal is there");
    }

    /// Waits until `text` is on the screen, and wipes the screen up to there.
    fn sees(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            let mut screen = self.screen.lock().expect("nobody panics");
            if let Some(at) = screen.find(text) {
                screen.drain(..at + text.len());
                return;
            }
            assert!(
                start.elapsed() < LIMIT,
                "too late: no {text:?} in {screen:?}"
            );
            drop(screen);
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// What the shell says the last command ended with.
    fn sees_code(&mut self, code: u8) {
        self.types("echo co''de $?\n");
        self.sees(&format!("code {code}\r"));
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

#[test]
fn the_command_reads_what_is_typed_and_ctrl_c_ends_it() {
    let Some(mut desk) = Desk::sit_down() else {
        return;
    };
    desk.types(&format!(
        "$L exec n -- sh -c 'trap \"exit 42\" INT; read x; echo \"read $x\"; {FOREVER}'\n"
    ));
    desk.sees("nobody else respects");
    desk.types("some''thing\n");
    desk.sees("read some''thing");
    desk.types(CTRL_C);
    desk.sees("READY> ");
    desk.sees_code(42);
}

#[test]
fn ctrl_z_stops_the_command_and_brings_the_shell_back() {
    let Some(mut desk) = Desk::sit_down() else {
        return;
    };
    desk.types("$L exec n -- sh -c 'echo be''gun; read x; echo \"read $x\"; exit 7'\n");
    desk.sees("begun");
    desk.types(CTRL_Z);
    desk.sees("READY> ");
    desk.types("jobs; echo lis''ted\n");
    desk.sees("Stopped");
    desk.sees("listed");
    desk.types("fg\n");
    desk.sees("exec n --"); // the shell says which job goes on
    desk.types("on''ward\n");
    desk.sees("read on''ward");
    desk.sees("READY> ");
    desk.sees_code(7);
}

#[test]
fn ctrl_c_ends_a_command_whose_output_is_piped_on() {
    let Some(mut desk) = Desk::sit_down() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let ended = dir.path().join("ended");
    desk.types(&format!(
        "$L exec n -- sh -c 'trap \"echo > {}; exit\" INT; echo be''gun; {FOREVER}' | cat\n",
        ended.display()
    ));
    desk.sees("begun");
    desk.types(CTRL_C);
    becomes("the command heard it", || ended.exists());
    desk.sees("READY> ");
}

#[test]
fn a_command_that_turns_to_the_terminal_later_gets_it() {
    let Some(mut desk) = Desk::sit_down() else {
        return;
    };
    desk.types("echo | $L exec n -- sh -c 'read x < /dev/tty; echo \"read $x\"'\n");
    desk.sees("nobody else respects");
    desk.types("some''thing\n");
    desk.sees("read some''thing");
    desk.sees("READY> ");
}
