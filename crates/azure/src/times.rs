//! The server's clock, as its answers tell it.

use azure_core::{
    http::headers::{HeaderName, Headers},
    time::{OffsetDateTime, parse_rfc7231},
};
use std::time::{Duration, SystemTime};

const DATE: HeaderName = HeaderName::from_static("date");

/// What the server's clock said when it answered, to the second.
pub(crate) fn date(headers: &Headers) -> Option<SystemTime> {
    let date = headers.get_optional_str(&DATE)?;
    parse_rfc7231(date).ok().and_then(system)
}

/// The same moment.
pub(crate) fn system(time: OffsetDateTime) -> Option<SystemTime> {
    let millis = u64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}

/// Milliseconds since 1970.
pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

/// The first token of a blob that was made when the server said `date`: the milliseconds of its clock.
///
/// The server tells whole seconds. Within the second ours decides, so that a blob that is removed and
/// made again right away begins higher than it ended, unless our clock is wrong by more than a second.
pub(crate) fn first_token(date: Option<SystemTime>, now: SystemTime) -> u64 {
    let ours = millis(now);
    match date.map(millis) {
        Some(told) => ours.clamp(told, told + 999),
        None => ours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
    }

    #[test]
    fn the_first_token_is_within_the_second_that_the_server_told() {
        assert_eq!(first_token(Some(at(5000)), at(5432)), 5432);
        assert_eq!(first_token(Some(at(5000)), at(900)), 5000);
        assert_eq!(first_token(Some(at(5000)), at(99_000)), 5999);
        assert_eq!(first_token(None, at(1234)), 1234);
    }

    #[test]
    fn the_date_of_an_answer_is_read() {
        let mut headers = Headers::new();
        headers.insert(DATE, "Thu, 01 Jan 1970 00:00:07 GMT");
        assert_eq!(date(&headers), Some(at(7000)));
        headers.insert(DATE, "yesterday");
        assert_eq!(date(&headers), None);
    }
}
