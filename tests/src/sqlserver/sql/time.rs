//! Points in time: ticks of 100 ns since the first day of year 1, and how they are written.

use super::value::Type;
use std::time::{SystemTime, UNIX_EPOCH};

/// Ticks in a second.
pub(crate) const SECOND: i64 = 10_000_000;
/// Ticks in a day.
pub(crate) const DAY: i64 = 86_400 * SECOND;
/// Days from the first day of year 1 to the first of 1970.
const EPOCH: i64 = 719_162;

/// Now, in UTC.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    EPOCH * DAY + i64::try_from(since.as_nanos() / 100).unwrap_or(i64::MAX - EPOCH * DAY)
}

/// As a conversion to text writes it.
pub(crate) fn written(ticks: i64, kind: Type) -> String {
    let (year, month, day) = civil(ticks.div_euclid(DAY) - EPOCH);
    let rest = ticks.rem_euclid(DAY);
    let (seconds, fraction) = (rest / SECOND, rest % SECOND);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    match kind {
        Type::DateTime => format!(
            "{year:04}-{month:02}-{day:02} {time}.{:03}",
            fraction / 10_000
        ),
        _ => format!("{year:04}-{month:02}-{day:02} {time}.{fraction:07}"),
    }
}

/// What `written` wrote, or a part of it from the left.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (date, time) = text
        .trim()
        .split_once([' ', 'T'])
        .unwrap_or((text.trim(), ""));
    let mut parts = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    );
    let known = (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let days = known.then(|| days(year, month, day) + EPOCH)?;
    Some(days * DAY + clock(time)?)
}

/// The ticks of `hh:mm[:ss[.fraction]]`.
pub(crate) fn clock(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut seconds = 0;
    let mut count = 0;
    for part in whole.split(':') {
        seconds = seconds * 60 + part.parse::<i64>().ok().filter(|it| (0..60).contains(it))?;
        count += 1;
    }
    let seconds = match count {
        2 => seconds * 60,
        3 => seconds,
        _ => return None,
    };
    let digits = format!("{fraction:0<7}");
    Some(seconds * SECOND + digits.get(..7)?.parse::<i64>().ok()?)
}

/// How many boundaries of a part of a date lie between two points.
pub(crate) fn difference(part: &str, from: i64, to: i64) -> Option<i64> {
    let unit = match part.to_ascii_lowercase().as_str() {
        "day" | "dd" | "d" => DAY,
        "hour" | "hh" => 3600 * SECOND,
        "minute" | "mi" | "n" => 60 * SECOND,
        "second" | "ss" | "s" => SECOND,
        "millisecond" | "ms" => SECOND / 1000,
        "microsecond" | "mcs" => 10,
        "nanosecond" | "ns" => return Some((to - from) * 100),
        _ => return None,
    };
    Some(to.div_euclid(unit) - from.div_euclid(unit))
}

/// A number of such parts in ticks.
pub(crate) fn parts(part: &str, count: i64) -> Option<i64> {
    let unit = match part.to_ascii_lowercase().as_str() {
        "day" | "dd" | "d" => DAY,
        "hour" | "hh" => 3600 * SECOND,
        "minute" | "mi" | "n" => 60 * SECOND,
        "second" | "ss" | "s" => SECOND,
        "millisecond" | "ms" => SECOND / 1000,
        "microsecond" | "mcs" => 10,
        _ => return None,
    };
    count.checked_mul(unit)
}

/// Days since 1970 of a date of the Gregorian calendar.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date so many days after the first of 1970.
const fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}
