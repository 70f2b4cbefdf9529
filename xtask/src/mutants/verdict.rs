//! What a run says about a breakage. Only a test that ran and failed is red;
//! everything else that can make `cargo test` fail proves nothing.

use std::fmt;
use std::path::PathBuf;

use crate::run::Ended;

/// What became of one breakage.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Its test failed, as it must.
    Red,
    /// Its test began and did not end within the limit.
    RedTimedOut,
    /// Its test passed: the breakage went unseen.
    Green,
    /// The patch does not fit the tree.
    DoesNotApply,
    /// The patched tree does not build.
    DoesNotCompile { log: PathBuf },
    /// The command failed, and no test did.
    NoTestFailed { log: PathBuf },
    /// Without the patch the command did not run exactly one test, green.
    NotGreenBefore { log: PathBuf },
}

impl Verdict {
    /// Whether the breakage was seen.
    pub(crate) fn passed(&self) -> bool {
        matches!(self, Self::Red | Self::RedTimedOut)
    }

    /// Where to read on, when there is something to find out.
    pub(crate) fn log(&self) -> Option<&PathBuf> {
        match self {
            Self::DoesNotCompile { log }
            | Self::NoTestFailed { log }
            | Self::NotGreenBefore { log } => Some(log),
            Self::Red | Self::RedTimedOut | Self::Green | Self::DoesNotApply => None,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Red => "red",
            Self::RedTimedOut => "red (timed out)",
            Self::Green => "GREEN",
            Self::DoesNotApply => "does not apply",
            Self::DoesNotCompile { .. } => "does not compile",
            Self::NoTestFailed { .. } => "failed, but no test did",
            Self::NotGreenBefore { .. } => "not one green test before the patch",
        })
    }
}

/// Judges a run with the patch laid on.
pub(crate) fn judge(ended: Ended, output: &str, log: PathBuf) -> Verdict {
    match ended {
        Ended::Exited(status) if status.success() => Verdict::Green,
        Ended::Exited(_) if says_failed(output) => Verdict::Red,
        Ended::TimedOut if output.lines().any(|line| line == "running 1 test") => {
            Verdict::RedTimedOut
        }
        Ended::Exited(_) | Ended::TimedOut => Verdict::NoTestFailed { log },
    }
}

/// Whether a run without the patch showed one test, and showed it green. More
/// than one would leave open which of them the patch turns red.
pub(crate) fn is_one_green_test(ended: Ended, output: &str) -> bool {
    let green = matches!(ended, Ended::Exited(status) if status.success());
    let passed: usize = output
        .lines()
        .filter_map(|line| count(line, "passed;"))
        .sum();
    green && passed == 1
}

/// The line of the test counts too: a process that aborts after it never
/// prints the totals.
fn says_failed(output: &str) -> bool {
    output.lines().any(|line| {
        count(line, "failed;") == Some(1)
            || (line.starts_with("test ") && line.ends_with("... FAILED"))
    })
}

/// The number before a word of the totals, as in
/// `test result: ok. 1 passed; 0 failed; …`.
fn count(line: &str, word: &str) -> Option<usize> {
    let words: Vec<&str> = line.strip_prefix("test result:")?.split(' ').collect();
    let place = words.iter().position(|candidate| *candidate == word)?;
    words.get(place.checked_sub(1)?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    const ONE_FAILED: &str = "running 1 test\ntest a::b ... FAILED\n\n\
        test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out\n";
    const ONE_PASSED: &str = "test result: ok. 0 passed; 0 failed; 0 ignored\n\
        test result: ok. 1 passed; 0 failed; 0 ignored\n";

    fn exited(code: i32) -> Ended {
        Ended::Exited(ExitStatus::from_raw(code << 8))
    }

    fn verdict(ended: Ended, output: &str) -> String {
        judge(ended, output, PathBuf::new()).to_string()
    }

    #[test]
    fn a_failed_test_is_red() {
        assert_eq!(verdict(exited(101), ONE_FAILED), "red");
    }

    #[test]
    fn a_failed_test_whose_process_aborts_is_red() {
        assert_eq!(verdict(exited(101), "test a::b ... FAILED\n"), "red");
    }

    #[test]
    fn a_passed_test_is_green() {
        assert_eq!(verdict(exited(0), ONE_PASSED), "GREEN");
    }

    #[test]
    fn a_failure_without_a_failed_test_is_not_red() {
        assert_eq!(
            verdict(exited(101), "error: no such test target\n"),
            "failed, but no test did"
        );
    }

    #[test]
    fn a_timeout_is_red_only_once_the_test_began() {
        assert_eq!(
            verdict(Ended::TimedOut, "running 1 test\n"),
            "red (timed out)"
        );
        assert_eq!(verdict(Ended::TimedOut, ""), "failed, but no test did");
    }

    #[test]
    fn a_baseline_is_exactly_one_passed_test() {
        assert!(is_one_green_test(exited(0), ONE_PASSED));
        assert!(!is_one_green_test(exited(0), ""));
        assert!(!is_one_green_test(exited(0), &ONE_PASSED.repeat(2)));
        assert!(!is_one_green_test(exited(101), ONE_PASSED));
    }
}
