//! Running other programs with a limit after which the whole process group is
//! killed, for setting servers up and for the chores.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::problem::{Outcome, Problem};

/// How a program with a limit ended.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// By itself.
    Exited(ExitStatus),
    /// It was still running at its limit and was killed.
    TimedOut,
}

/// Runs a program until its end or its limit, whichever comes first.
///
/// The program leads a process group of its own: `cargo` does not pass a kill
/// on to the test it runs, the group does. The price is that Ctrl-C reaches
/// this process only, and the program goes on until it ends.
///
/// # Errors
/// If the program cannot be started.
pub fn within(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    let mut child = command.process_group(0).spawn()?;
    wait(&mut child, limit)
}

/// Runs a program and returns what it wrote, or None when it was still
/// running at its limit and was killed.
///
/// # Errors
/// If the program cannot be started.
pub fn output_within(command: &mut Command, limit: Duration) -> io::Result<Option<Output>> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) = (collect(stdout), collect(stderr));
    let Ended::Exited(status) = wait(&mut child, limit)? else {
        return Ok(None);
    };
    Ok(Some(Output {
        status,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    }))
}

/// Runs a program that is expected to succeed; what it wrote to standard
/// output, without the blanks around it.
pub(crate) fn answer(command: &mut Command, limit: Duration) -> Outcome<String> {
    let shown = shown(command);
    match output_within(command, limit) {
        Ok(Some(output)) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(Some(output)) => Err(Problem::new(format!(
            "`{shown}` ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
        Ok(None) => Err(Problem::new(format!(
            "`{shown}` was still running after {} s and was killed; find out what it waits for.",
            limit.as_secs()
        ))),
        Err(error) => Err(Problem::new(format!(
            "`{shown}` could not be run ({error}); check that the program is installed and on the PATH."
        ))),
    }
}

/// Reads to the end on a thread of its own: a pipe that nobody empties stops
/// the program.
fn collect(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before a failure is still worth showing.
        let _ = from.map(|mut from| from.read_to_end(&mut bytes));
        bytes
    })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Ended> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Exited(status));
        }
        if Instant::now() >= deadline {
            kill_group(child)?;
            return Ok(Ended::TimedOut);
        }
        sleep(Duration::from_millis(5));
    }
}

/// The standard library kills one process; this kills all that it started, if it
/// leads a process group of its own.
///
/// # Errors
/// If it cannot be killed.
pub fn kill_group(child: &mut Child) -> io::Result<()> {
    if let Some(group) = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default()) {
        kill_process_group(group, Signal::KILL)?;
    }
    child.wait().map(drop)
}

/// The command as an operator would type it: the program without its directory.
pub fn shown(command: &Command) -> String {
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
        assert!(begun.elapsed() < Duration::from_secs(10), "too late");
    }

    #[test]
    fn a_program_may_write_more_than_a_pipe_holds() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "head -c 300000 /dev/zero"]);
        let output = output_within(&mut shell, Duration::from_secs(10)).unwrap();
        let output = output.expect("not within 10 s");
        assert_eq!(output.stdout.len(), 300_000);
    }

    #[test]
    fn a_failing_program_is_named_without_its_directory() {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "echo no >&2; exit 3"]);
        let problem = answer(&mut shell, Duration::from_secs(10)).unwrap_err();
        assert!(problem.to_string().starts_with("`sh -c echo no"));
        assert!(problem.to_string().ends_with("3: no"));
    }
}
