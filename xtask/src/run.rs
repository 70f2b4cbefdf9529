//! Running other programs for the chores: to the end, for their output, or
//! with a limit after which the whole process group is killed.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::outcome::{Failure, Outcome};
use crate::paint;

/// How a program with a limit ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ended {
    /// By itself.
    Exited(ExitStatus),
    /// It was still running at its limit and was killed.
    TimedOut,
}

/// Runs a program to its end and expects success. Its output is the operator's.
pub(crate) fn run(command: &mut Command) -> Outcome {
    println!("{}", paint::stdout().dim(&format!("$ {}", shown(command))));
    let status = command.status().map_err(|error| lost(command, &error))?;
    expect_success(command, status)
}

/// Runs a program that has a limit and expects success within it.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Outcome {
    println!("{}", paint::stdout().dim(&format!("$ {}", shown(command))));
    finish_within(command, limit)
}

/// The same without telling the command, for when standard output is not for
/// people.
pub(crate) fn finish_within(command: &mut Command, limit: Duration) -> Outcome {
    match within(command, limit)? {
        Ended::Exited(status) => expect_success(command, status),
        Ended::TimedOut => Err(too_slow(command, limit)),
    }
}

/// Runs a program to its end and says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> Outcome<bool> {
    let status = command.status().map_err(|error| lost(command, &error))?;
    Ok(status.success())
}

/// Runs a program and returns what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Outcome<Vec<u8>> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| lost(command, &error))?;
    expect_success(command, output.status)?;
    Ok(output.stdout)
}

/// Runs a program that has a limit and returns the line or two it wrote to
/// standard output: they must fit the pipe, for they are read in the end.
pub(crate) fn output_within(command: &mut Command, limit: Duration) -> Outcome<String> {
    let mut child = spawn(command.stdout(Stdio::piped()))?;
    match wait(command, &mut child, limit)? {
        Ended::Exited(status) => expect_success(command, status)?,
        Ended::TimedOut => return Err(too_slow(command, limit)),
    }
    let mut text = String::new();
    if let Some(mut output) = child.stdout.take() {
        let read = output.read_to_string(&mut text);
        read.map_err(|error| lost(command, &error))?;
    }
    Ok(text)
}

/// Runs a program until its end or its limit, whichever comes first.
///
/// The program leads a process group of its own: `cargo` does not pass a kill
/// on to the test it runs, the group does. The price is that Ctrl-C reaches
/// this process only, and the program goes on until it ends.
pub(crate) fn within(command: &mut Command, limit: Duration) -> Outcome<Ended> {
    let mut child = spawn(command)?;
    wait(command, &mut child, limit)
}

fn spawn(command: &mut Command) -> Outcome<Child> {
    let child = command.process_group(0).spawn();
    child.map_err(|error| lost(command, &error))
}

fn wait(command: &Command, child: &mut Child, limit: Duration) -> Outcome<Ended> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| lost(command, &error))? {
            return Ok(Ended::Exited(status));
        }
        if Instant::now() >= deadline {
            kill_group(child)?;
            return Ok(Ended::TimedOut);
        }
        sleep(Duration::from_millis(20));
    }
}

/// The standard library kills one process; a group takes the `kill` program.
fn kill_group(child: &mut Child) -> Outcome {
    let group = format!("-{}", child.id());
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", &group]);
    let status = kill.status().map_err(|error| lost(&kill, &error))?;
    expect_success(&kill, status)?;
    child.wait().map_err(|error| lost(&kill, &error))?;
    Ok(())
}

fn expect_success(command: &Command, status: ExitStatus) -> Outcome {
    if status.success() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "`{}` ended with {status}; what it printed above says why.",
        shown(command)
    )))
}

fn too_slow(command: &Command, limit: Duration) -> Failure {
    Failure::failed(format!(
        "`{}` was still running after {} s and was killed; find out what it waits for.",
        shown(command),
        limit.as_secs()
    ))
}

fn lost(command: &Command, error: &std::io::Error) -> Failure {
    Failure::failed(format!(
        "`{}` could not be run ({error}); check that the program is installed and on the PATH.",
        shown(command)
    ))
}

/// The command as an operator would type it: the program without its directory.
fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_past_its_limit_is_killed_with_its_children() {
        let begun = Instant::now();
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 30 & wait"]);
        let ended = within(&mut shell, Duration::from_millis(100)).unwrap();
        assert!(matches!(ended, Ended::TimedOut));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_failing_program_is_named_without_its_directory() {
        let failure = run(Command::new("/bin/sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(failure.to_string().starts_with("`sh -c exit 3` ended"));
    }
}
