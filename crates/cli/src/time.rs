//! Lengths of time as people write and read them: `250ms`, `30s`, `5m`, `2h`, `1d`.

use lockwork::Wait;
use std::time::Duration;

const HOW: &str = "write a length of time such as 250ms, 30s, 5m, 2h or 1d";

/// Reads a length of time.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| HOW.to_owned())?;
    let seconds = |each: u64| number.checked_mul(each).map(Duration::from_secs);
    let duration = match unit {
        "" if number == 0 => Some(Duration::ZERO),
        "" => return Err(format!("{HOW}: {number} of what?")),
        "ms" => Some(Duration::from_millis(number)),
        "s" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(60 * 60),
        "d" => seconds(24 * 60 * 60),
        _ => None,
    };
    duration.ok_or_else(|| HOW.to_owned())
}

/// Reads how long to wait: a length of time, `no` or `forever`.
pub(crate) fn wait(text: &str) -> Result<Wait, String> {
    match text {
        "no" => Ok(Wait::No),
        "forever" => Ok(Wait::Forever),
        _ => duration(text)
            .map(Wait::For)
            .map_err(|how| format!("{how}; or no, or forever")),
    }
}

/// Roughly how long, in its two largest units.
pub(crate) fn rough(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, _, _) => format!("{hours}h {}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_a_number_and_a_unit() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(duration("1d"), Ok(Duration::from_secs(86400)));
        assert_eq!(duration("0"), Ok(Duration::ZERO));
    }

    #[test]
    fn anything_else_is_told_how_to_write_one() {
        for text in ["", "s", "30", "-1s", "1.5s", "3 s", "99999999999999999d"] {
            assert!(duration(text).unwrap_err().starts_with(HOW), "{text:?}");
        }
    }

    #[test]
    fn a_wait_may_be_none_and_endless() {
        assert_eq!(wait("no"), Ok(Wait::No));
        assert_eq!(wait("forever"), Ok(Wait::Forever));
        assert_eq!(wait("1s"), Ok(Wait::For(Duration::from_secs(1))));
        assert!(wait("never").unwrap_err().contains("forever"));
    }

    #[test]
    fn people_read_two_units() {
        assert_eq!(rough(Duration::from_secs(59)), "59s");
        assert_eq!(rough(Duration::from_secs(61)), "1m 1s");
        assert_eq!(rough(Duration::from_secs(7260)), "2h 1m");
        assert_eq!(rough(Duration::from_secs(90_000)), "1d 1h");
    }
}
