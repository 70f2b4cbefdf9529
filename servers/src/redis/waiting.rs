//! Waiting for what servers do among themselves, for those who start several.
//! Nobody is told when it is done, so they are asked again and again.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::problem::{Outcome, Problem};

/// How long servers on a busy machine may take to agree.
pub const AGREE: Duration = Duration::from_secs(30);

/// Asks until it is so. The sentence says what was waited for.
pub(super) fn until(what: &str, mut is_so: impl FnMut() -> Outcome<bool>) -> Outcome {
    let deadline = Instant::now() + AGREE;
    loop {
        let answer = is_so();
        if matches!(answer, Ok(true)) {
            return Ok(());
        }
        if Instant::now() >= deadline {
            let why = answer.err().map(|problem| format!(" {problem}"));
            return Err(Problem::new(format!(
                "{what} did not come about within {} s; the logs of the servers say why.{}",
                AGREE.as_secs(),
                why.unwrap_or_default()
            )));
        }
        sleep(Duration::from_millis(20));
    }
}

/// The value of a field in what `INFO` and its like answer.
pub(super) fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    let mut values = pairs.filter_map(|(key, value)| (key == name).then_some(value.trim()));
    values.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "# Replication\r\nrole_x:no\r\nrole:slave\r\n";
        assert_eq!(field(text, "role"), Some("slave"));
        assert_eq!(field(text, "rol"), None);
    }
}
