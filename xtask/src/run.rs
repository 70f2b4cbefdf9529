//! Running other programs for the chores: to the end, for their output, or
//! with a limit after which the whole process group is killed.

use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

pub(crate) use lockwork_servers::run::Ended;
use lockwork_servers::run::{self as servers, shown};

use crate::outcome::{Failure, Outcome};
use crate::paint;

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

/// Runs a program that has a limit and returns what it wrote to standard
/// output. What it wrote to standard error is the operator's, in the end.
pub(crate) fn output_within(command: &mut Command, limit: Duration) -> Outcome<String> {
    let output = servers::output_within(command, limit).map_err(|error| lost(command, &error))?;
    let output = output.ok_or_else(|| too_slow(command, limit))?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    expect_success(command, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program, with a process group of its own, until its end or its
/// limit, whichever comes first.
pub(crate) fn within(command: &mut Command, limit: Duration) -> Outcome<Ended> {
    servers::within(command, limit).map_err(|error| lost(command, &error))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_named_without_its_directory() {
        let failure = run(Command::new("/bin/sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(failure.to_string().starts_with("`sh -c exit 3` ended"));
    }
}
