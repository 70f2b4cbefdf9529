//! Telling tests that were late from tests that were wrong, by what they printed: on a machine that does other things as
//! well, a limit of time says something about the machine. What is wrong is wrong on any machine.

/// How those say it whose limit has passed, and how lockwork itself says that a server has kept it waiting for too long.
const SAID: [&str; 11] = [
    "not within",
    "not over after",
    "not end within",
    "too late",
    ", allowed ",
    "did not answer",
    "does not answer",
    "PoolTimedOut",
    "not answered in time",
    "not let us in",
    "timed out",
];

/// What stands in front of the names of those that failed, at the end.
const NAMES: &str = "\nfailures:\n    ";

/// The tests that failed, if each of them was late and nothing else.
pub(super) fn only(printed: &str) -> Option<Vec<&str>> {
    let at = printed.rfind(NAMES)?;
    let (told, names) = printed.split_at(at);
    let names = names.trim_start_matches("\nfailures:\n").lines();
    let failed: Vec<_> = names.map_while(|line| line.strip_prefix("    ")).collect();
    let late = |test: &&str| told_of(told, test, &failed).is_some_and(is_late);
    failed.iter().all(late).then_some(failed)
}

/// A test may be a run of others: then each of those that failed was late.
fn is_late(told: &str) -> bool {
    match told.contains(NAMES) {
        true => only(told).is_some(),
        false => SAID.iter().any(|said| told.contains(said)) || told.lines().any(is_of_a_loss),
    }
}

/// Whether somebody lost a lock that nobody took from them, as whoever is not answered in time has to: an error says so, or
/// a guard that should have been good.
fn is_of_a_loss(line: &str) -> bool {
    let is_valid = line.contains("assertion failed: ") && line.contains(".is_valid()");
    line.contains("kind: Lost,") || is_valid && !line.contains('!')
}

/// What was said of one of them: from its own heading to that of another.
fn told_of<'t>(told: &'t str, test: &str, failed: &[&str]) -> Option<&'t str> {
    let begin = heading(told, test)?;
    let after = failed.iter().filter_map(|other| heading(told, other));
    let end = after.filter(|at| *at > begin).min();
    told.get(begin..end.unwrap_or(told.len()))
}

fn heading(told: &str, test: &str) -> Option<usize> {
    let headings = [
        format!("\n---- {test} ----\n"),
        format!("\n---- {test} stdout ----\n"),
    ];
    headings.iter().find_map(|heading| told.find(heading))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: &str = "test a ... FAILED\n\nfailures:\n\n---- a stdout ----\nthread 'a' panicked:\n\
                        they meet: not within 5s (allowed 5.1s)\n\n\nfailures:\n    a\n\ntest result: FAILED.\n";

    #[test]
    fn a_limit_that_has_passed_is_late() {
        assert_eq!(only(LATE), Some(vec!["a"]));
    }

    #[test]
    fn who_was_kept_waiting_by_a_server_is_late() {
        for said in [
            "the PostgreSQL server does not let us in: check host and port",
            "message: \"PostgreSQL did not answer in time\"",
            "the PostgreSQL server does not answer: check host and port",
            "source: Some(PoolTimedOut)",
        ] {
            let told = LATE.replace("they meet: not within 5s (allowed 5.1s)", said);
            assert_eq!(only(&told), Some(vec!["a"]), "{said}");
        }
    }

    #[test]
    fn who_lost_a_lock_that_nobody_took_is_late_and_who_kept_a_lost_one_is_wrong() {
        let saying = |said| LATE.replace("they meet: not within 5s (allowed 5.1s)", said);
        for said in [
            "assertion failed: first.is_valid() && second.is_valid()",
            "`Err` value: Error { kind: Lost, transient: false, message: \"the lock was lost\" }",
        ] {
            assert_eq!(only(&saying(said)), Some(vec!["a"]), "{said}");
        }
        for said in [
            "assertion failed: !guard.is_valid()",
            "assertion failed: !guard.is_valid() && next.is_valid()",
            "two are in, and one guard.is_valid()",
        ] {
            assert_eq!(only(&saying(said)), None, "{said}");
        }
    }

    #[test]
    fn one_that_is_wrong_is_enough() {
        let both = "\nfailures:\n\n---- a ----\nit was not over after 60s\n\n---- b ----\n\
                    assertion `left == right` failed\n\n\nfailures:\n    a\n    b\n\n";
        assert_eq!(only(both), None);
        assert_eq!(only(&both.replace("    b\n", "")), Some(vec!["a"]));
    }

    #[test]
    fn a_run_of_others_is_late_if_each_of_those_was() {
        let around = |inside: &str| {
            format!(
                "\nfailures:\n\n---- on_sqlite stdout ----\n{inside}\n\nfailures:\n    on_sqlite\n\n"
            )
        };
        assert_eq!(only(&around(LATE)), Some(vec!["on_sqlite"]));
        assert_eq!(only(&around(&LATE.replace("not within", "after"))), None);
    }

    #[test]
    fn a_program_that_says_nothing_of_tests_was_not_late() {
        for printed in ["", "killed", "not within 5 s"] {
            assert_eq!(only(printed), None, "{printed}");
        }
    }
}
