//! Running the programs of all tests, a few at once: most of what tests do is wait. Those that do not come last, one by
//! one. What a program prints is kept in a file, and shown when it failed. Tests that were only late are run again then,
//! alone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::Variable;
use super::late;
use super::programs::Program;
use crate::outcome::{Failure, Outcome};
use crate::paint;
use crate::run::{self, Ended};

/// How many programs run at once. Each has threads of its own.
const LANES: usize = 2;

/// The longest of them takes a fraction of this on a slow machine.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// They begin first, the longest of all before the others: one lane would end long before another otherwise.
const LONGEST: [&str; 3] = ["tests/runtime", "tests/azure", "tests/conformance"];

/// They take all the machine has: beside them leases of others end, and beside others they take longer than they may.
const ALONE: [&str; 2] = ["tests/cluster", "tests/store_crash"];

/// Runs them all, with these variables besides; what they print goes to `logs`.
pub(crate) fn run(
    mut programs: Vec<Program>,
    logs: &Path,
    prepare: impl Fn(&mut Command) + Sync,
    variables: &[Variable],
) -> Outcome {
    fs::create_dir_all(logs).map_err(|error| {
        Failure::failed(format!("{} cannot be made ({error}).", logs.display()))
    })?;
    // Taken from the end.
    programs.sort_by_key(|program| LONGEST.iter().position(|name| *name == program.name));
    let is_alone = |program: &Program| ALONE.contains(&program.name.as_str());
    let (alone, beside): (Vec<_>, Vec<_>) = programs.into_iter().partition(is_alone);
    let resets = can_reset_signals();
    let prepared = |program: &Program| {
        let mut command = started(&program.path, resets);
        command.current_dir(&program.home).envs(variables.to_vec());
        prepare(&mut command);
        command
    };
    let failed = Mutex::new(Vec::new());
    for (lanes, programs) in [(LANES, beside), (1, alone)] {
        in_lanes(lanes, programs, logs, &prepared, &failed);
    }
    let mut failed = failed.into_inner().unwrap_or_default();
    failed.retain(|program| !is_in_time_alone(program, logs, &prepared));
    verdict(&failed, logs)
}

/// Gives a program the signals of a terminal. A shell ignores some for whatever it runs in the background, and `nohup` one
/// more; programs inherit that, and a test of Ctrl-C would wait for ever.
const RESET: &str = "--default-signal=HUP,INT,QUIT";

/// Whether `env` knows how: that of GNU does since 8.31, others do not.
fn can_reset_signals() -> bool {
    let mut asked = Command::new("env");
    asked.args([RESET, "true"]).stdin(Stdio::null());
    let asked = asked.stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// A program as it is started.
fn started(program: &Path, resets: bool) -> Command {
    if !resets {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.arg(RESET).arg(program);
    command
}

/// Runs them, so many at once.
fn in_lanes(
    lanes: usize,
    programs: Vec<Program>,
    logs: &Path,
    prepared: &(impl Fn(&Program) -> Command + Sync),
    failed: &Mutex<Vec<Program>>,
) {
    let left = Mutex::new(programs);
    let lane = || {
        while let Some(program) = take(&left) {
            if !one(
                &program.name,
                &mut prepared(&program),
                &log_of(&program, logs),
            ) {
                add(failed, program);
            }
        }
    };
    thread::scope(|scope| (0..lanes).for_each(|_| drop(scope.spawn(lane))));
}

fn log_of(program: &Program, logs: &Path) -> PathBuf {
    logs.join(program.name.replace('/', "-") + ".log")
}

/// How often a test that was late has to be in time when it has the machine for itself.
const AGAIN: usize = 5;

/// Whether all that failed in it was a limit of time, and none of it does so alone.
fn is_in_time_alone(
    program: &Program,
    logs: &Path,
    prepared: &impl Fn(&Program) -> Command,
) -> bool {
    let log = log_of(program, logs);
    let printed = fs::read_to_string(&log).unwrap_or_default();
    let Some(late) = late::only(&printed) else {
        return false;
    };
    late.iter().enumerate().all(|(number, test)| {
        println!("   late, and now alone: {test}");
        let log = log.with_extension(format!("late-{number}"));
        (0..AGAIN).all(|_| one(test, prepared(program).args(["--exact", test]), &log))
    })
}

fn take(left: &Mutex<Vec<Program>>) -> Option<Program> {
    left.lock().ok()?.pop()
}

fn add(failed: &Mutex<Vec<Program>>, program: Program) {
    if let Ok(mut failed) = failed.lock() {
        failed.push(program);
    }
}

fn verdict(failed: &[Program], logs: &Path) -> Outcome {
    if failed.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = failed.iter().map(|program| &*program.name).collect();
    Err(Failure::failed(format!(
        "Tests failed in {}; what each printed stands above and in {}.",
        names.join(", "),
        logs.display()
    )))
}

/// Runs one to its end, tells what became of it, and whether it succeeded.
fn one(name: &str, command: &mut Command, log: &Path) -> bool {
    let begun = Instant::now();
    let ended = kept(command, log);
    let time = begun.elapsed().as_secs_f64();
    let printed = fs::read_to_string(log).unwrap_or_default();
    let passed = matches!(&ended, Ok(Ended::Exited(status)) if status.success());
    let paint = paint::stdout();
    let mark = match passed {
        true => paint.green("ok"),
        false => paint.red("failed"),
    };
    let summary = printed.lines().rev().find(|line| is_summary(line));
    let shown = match (&ended, passed) {
        (_, true) => summary.unwrap_or_default().to_owned(),
        (Ok(Ended::Exited(status)), _) => format!("{}\nended with {status}", of_failures(&printed)),
        (Ok(Ended::TimedOut), _) => format!("{printed}\nit was still running and was killed"),
        (Err(failure), _) => failure.to_string(),
    };
    println!("{name:<34}{time:>7.1} s  {mark}  {shown}");
    passed
}

fn is_summary(line: &str) -> bool {
    line.starts_with("test result:")
}

/// What begins the part in which a program of tests says why some failed.
const WHY: &str = "\nfailures:\n";

/// Of what a program printed, which tests failed and why: nobody finds that among thousands that did not. All of it where
/// it says nothing of the kind.
fn of_failures(printed: &str) -> String {
    let Some((tests, why)) = printed.split_once(WHY) else {
        return printed.to_owned();
    };
    let failed = tests.lines().filter(|line| line.ends_with("FAILED"));
    let failed: Vec<_> = failed.collect();
    format!("\n{}\n{WHY}{why}", failed.join("\n"))
}

/// Runs one; what it prints goes into a file.
fn kept(command: &mut Command, log: &Path) -> Outcome<Ended> {
    let (file, second) = opened(log).map_err(|error| {
        Failure::failed(format!("{} cannot be written ({error}).", log.display()))
    })?;
    command.stdin(Stdio::null()).stdout(file).stderr(second);
    run::within(command, LIMIT)
}

fn opened(log: &Path) -> io::Result<(File, File)> {
    let file = File::create(log)?;
    let second = file.try_clone()?;
    Ok((file, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(name: &str, text: &str) -> Program {
        let home = std::env::temp_dir();
        let path = home.join(format!("lanes-{}-{name}", std::process::id()));
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(&path, mode).unwrap();
        Program {
            name: name.to_owned(),
            path,
            home,
        }
    }

    fn ran(programs: Vec<Program>) -> Outcome {
        let logs = std::env::temp_dir().join(format!("lanes-{}", std::process::id()));
        let paths: Vec<_> = programs.iter().map(|one| one.path.clone()).collect();
        let outcome = run(programs, &logs, |_| (), &[("LANE", "yes".to_owned())]);
        paths.iter().for_each(|path| fs::remove_file(path).unwrap());
        outcome
    }

    #[test]
    fn one_that_fails_is_named_and_the_others_run_all_the_same() {
        let touched = std::env::temp_dir().join(format!("lanes-{}-touched", std::process::id()));
        let programs = vec![
            script(
                "after",
                &format!("test \"$LANE\" = yes && touch {}", touched.display()),
            ),
            script("bad", "echo no; exit 3"),
        ];
        let failure = ran(programs).unwrap_err().to_string();
        assert!(failure.contains("failed in bad;"), "{failure}");
        fs::remove_file(touched).unwrap();
    }

    /// Fails as `first` says the first time, and succeeds when it is asked for one test alone.
    fn first(name: &str, first: &str) -> Program {
        let text = format!(
            "test \"$1\" = --exact && exit 0\n\
             printf 'failures:\\n\\n---- a ----\\n{first}\\n\\nfailures:\\n    a\\n'; exit 101"
        );
        script(name, &text)
    }

    #[test]
    fn what_was_only_late_is_judged_again_alone() {
        ran(vec![first("late", "they meet: not within 5s")]).unwrap();
    }

    #[test]
    fn of_a_program_that_failed_only_what_failed_is_shown() {
        let printed = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b ----\nno\n";
        let shown = of_failures(printed);
        assert!(!shown.contains("test a"), "{shown}");
        assert!(shown.contains("test b ... FAILED"), "{shown}");
        assert!(shown.contains("---- b ----\nno"), "{shown}");
        assert_eq!(of_failures("it was killed"), "it was killed");
    }

    #[test]
    fn what_was_wrong_is_wrong() {
        let failure = ran(vec![first("wrong", "assertion failed: left == right")]);
        assert!(
            failure
                .unwrap_err()
                .to_string()
                .contains("failed in wrong;")
        );
    }

    /// Runs a program as a shell does in the background, and says by which signal it ended.
    fn in_background(command: &Command) -> Option<i32> {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' INT; \"$@\"; exit $?", "sh"]);
        shell.arg(command.get_program()).args(command.get_args());
        let status = shell.status().unwrap();
        status
            .code()
            .filter(|code| *code > 128)
            .map(|code| code - 128)
    }

    #[test]
    fn a_program_can_be_interrupted_although_the_run_was_started_in_the_background() {
        const INT: i32 = 2;
        let program = script("interrupted", "kill -INT $$; exit 0");
        let ended = [true, false].map(|resets| in_background(&started(&program.path, resets)));
        fs::remove_file(&program.path).unwrap();
        if can_reset_signals() {
            assert_eq!(ended, [Some(INT), None]);
        }
    }

    #[test]
    fn all_that_succeed_are_a_success() {
        ran(vec![script("good", "exit 0"), script("better", "exit 0")]).unwrap();
    }
}
