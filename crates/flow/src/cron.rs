//! What a clock shows, as `cron` writes it.

use jiff::{Span, Timestamp, civil::DateTime, tz::TimeZone};
use lockwork_core::workflow::Time;
use serde::{Deserialize, Serialize};

/// What a clock shows: minute, hour, day, month and weekday, and seconds before if there are six.
///
/// `*`, `*/5`, `1-5`, `1-5/2`, lists of these, names of months and weekdays, and `@daily` and its like. As in
/// `cron`, if neither day nor weekday is `*`, either will do. What a clock skips in spring comes right after; what it
/// shows twice in autumn comes once.
///
/// ```
/// use lockwork_flow::Cron;
/// use lockwork_core::workflow::Time;
///
/// let mondays = Cron::new("0 9 * * MON", Some("Europe/Berlin"))?;
/// let next = mondays.after(Time::from_millis(1_800_000_000_000));
/// assert_eq!(next, Some(Time::from_millis(1_800_259_200_000)), "2027-01-18T09:00:00+01:00");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Cron {
    source: String,
    zone: String,
    clock: TimeZone,
    seconds: Field,
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
}

#[derive(Serialize, Deserialize)]
struct Written {
    at: String,
    zone: String,
}

impl TryFrom<Written> for Cron {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        Self::new(&written.at, Some(&written.zone))
    }
}

impl From<Cron> for Written {
    fn from(cron: Cron) -> Self {
        Self {
            at: cron.source,
            zone: cron.zone,
        }
    }
}

/// Which numbers fit, one bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    fits: u64,
    any: bool,
}

impl Field {
    const fn has(self, number: i8) -> bool {
        number >= 0 && self.fits >> number & 1 == 1
    }
}

const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const SHORT: [(&str, &str); 6] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// After so many years without a fit there is none: February 29th comes within eight.
const YEARS: i16 = 9;

impl Cron {
    /// Reads what a clock in `zone` shall show; in UTC, if no zone is named.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn new(source: &str, zone: Option<&str>) -> Result<Self, String> {
        let zone = zone.unwrap_or("UTC");
        let clock = TimeZone::get(zone)
            .map_err(|_| format!("`{zone}` is no time zone: write Europe/Berlin, say, or UTC"))?;
        let short = SHORT.iter().find(|(name, _)| *name == source.trim());
        let fields: Vec<_> = short
            .map_or(source, |(_, long)| long)
            .split_whitespace()
            .collect();
        let (seconds, rest) = match fields.as_slice() {
            rest @ [_, _, _, _, _] => ("0", rest),
            [seconds, rest @ ..] if rest.len() == 5 => (*seconds, rest),
            _ => return Err(wrong(source, "it has five fields, or six with seconds")),
        };
        let [minutes, hours, days, months, weekdays] = rest else {
            return Err(wrong(source, "it has five fields, or six with seconds"));
        };
        let read = |text: &str, from, to, names: &[&str]| {
            field(text, from, to, names).map_err(|why| wrong(source, &why))
        };
        let cron = Self {
            seconds: read(seconds, 0, 59, &[])?,
            minutes: read(minutes, 0, 59, &[])?,
            hours: read(hours, 0, 23, &[])?,
            days: read(days, 1, 31, &[])?,
            months: read(months, 1, 12, &MONTHS)?,
            weekdays: read(weekdays, 0, 7, &WEEKDAYS)?,
            source: source.to_owned(),
            zone: zone.to_owned(),
            clock,
        };
        match cron.after(Time::from_millis(0)) {
            Some(_) => Ok(cron),
            None => Err(wrong(source, "there is no such day")),
        }
    }

    /// As it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whose clock.
    #[must_use]
    pub fn zone(&self) -> &str {
        &self.zone
    }

    /// The first moment after `time` at which the clock shows it.
    #[must_use]
    pub fn after(&self, time: Time) -> Option<Time> {
        let now = Timestamp::from_millisecond(time.as_millis()).ok()?;
        let shown = now.to_zoned(self.clock.clone()).datetime();
        let mut from = shown.with().subsec_nanosecond(0).build().ok()?;
        let last = from.year().checked_add(YEARS)?;
        loop {
            from = from.checked_add(Span::new().seconds(1)).ok()?;
            from = self.fit(from, last)?;
            // What is shown twice is taken the first time, which may have passed already.
            let at = self.clock.to_zoned(from).ok()?.timestamp();
            if at > now {
                return Some(Time::from_millis(at.as_millisecond()));
            }
        }
    }

    /// The first time not before `from` that fits, whether or not a clock ever shows it.
    fn fit(&self, mut from: DateTime, last: i16) -> Option<DateTime> {
        loop {
            if from.year() > last {
                return None;
            }
            let span = if !self.months.has(from.month()) {
                from = from.first_of_month().start_of_day_time();
                Span::new().months(1)
            } else if !self.day(from) {
                from = from.start_of_day_time();
                Span::new().days(1)
            } else if !self.hours.has(from.hour()) {
                from = from.with().minute(0).second(0).build().ok()?;
                Span::new().hours(1)
            } else if !self.minutes.has(from.minute()) {
                from = from.with().second(0).build().ok()?;
                Span::new().minutes(1)
            } else if !self.seconds.has(from.second()) {
                Span::new().seconds(1)
            } else {
                return Some(from);
            };
            from = from.checked_add(span).ok()?;
        }
    }

    fn day(&self, at: DateTime) -> bool {
        let weekday = at.weekday().to_sunday_zero_offset();
        let weekday = self.weekdays.has(weekday) || (weekday == 0 && self.weekdays.has(7));
        let day = self.days.has(at.day());
        match (self.days.any, self.weekdays.any) {
            (false, false) => day || weekday,
            _ => day && weekday,
        }
    }
}

/// The beginning of a day, as a clock would show it.
trait StartOfDay {
    fn start_of_day_time(self) -> DateTime;
}

impl StartOfDay for DateTime {
    fn start_of_day_time(self) -> DateTime {
        self.date().to_datetime(jiff::civil::Time::midnight())
    }
}

fn wrong(source: &str, why: &str) -> String {
    let shown: String = source.chars().take(60).collect();
    format!("`{shown}` is nothing a clock shows: {why}")
}

fn field(text: &str, from: u8, to: u8, names: &[&str]) -> Result<Field, String> {
    let mut fits = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, step.parse().ok().filter(|step| *step > 0)),
            None => (part, Some(1)),
        };
        let step: u8 = step.ok_or_else(|| format!("`{part}` has no step"))?;
        let (first, last) = bounds(range, part.contains('/'), from, to, names)?;
        fits |= (first..=last)
            .step_by(step.into())
            .fold(0, |fits, number| fits | 1 << number);
    }
    Ok(Field {
        fits,
        any: text == "*" || text == "?",
    })
}

fn bounds(
    range: &str,
    stepped: bool,
    from: u8,
    to: u8,
    names: &[&str],
) -> Result<(u8, u8), String> {
    let number = |text: &str| {
        let named = names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(text));
        let named = named
            .and_then(|at| u8::try_from(at).ok())
            .map(|at| at + from);
        let number = named.or_else(|| text.parse().ok());
        let number = number.filter(|number| (from..=to).contains(number));
        number.ok_or_else(|| format!("`{text}` is not between {from} and {to}"))
    };
    if range == "*" || range == "?" {
        return Ok((from, to));
    }
    let (first, last) = match range.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        // `5/15` is `5-59/15`.
        None if stepped => (number(range)?, to),
        None => (number(range)?, number(range)?),
    };
    match first <= last {
        true => Ok((first, last)),
        false => Err(format!("`{range}` ends before it begins")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(source: &str, zone: &str, after: &str) -> Option<String> {
        let cron = Cron::new(source, Some(zone)).unwrap();
        let after: Timestamp = after.parse().unwrap();
        let next = cron.after(Time::from_millis(after.as_millisecond()))?;
        Some(
            Timestamp::from_millisecond(next.as_millis())
                .unwrap()
                .to_string(),
        )
    }

    #[test]
    fn the_next_moment_is_the_first_after_that_fits() {
        let cases = [
            (
                "*/15 * * * *",
                "UTC",
                "2026-11-17T04:00:00Z",
                "2026-11-17T04:15:00Z",
            ),
            (
                "0 0 1 1 *",
                "UTC",
                "2026-11-17T04:00:00Z",
                "2027-01-01T00:00:00Z",
            ),
            (
                "0 0 29 2 *",
                "UTC",
                "2026-11-17T04:00:00Z",
                "2028-02-29T00:00:00Z",
            ),
            (
                "30 8 * * MON-FRI",
                "UTC",
                "2026-11-20T09:00:00Z",
                "2026-11-23T08:30:00Z",
            ),
            (
                "0 0 13 * 5",
                "UTC",
                "2026-11-17T00:00:00Z",
                "2026-11-20T00:00:00Z",
            ),
            (
                "*/10 * * * * *",
                "UTC",
                "2026-11-17T04:00:01Z",
                "2026-11-17T04:00:10Z",
            ),
            (
                "@daily",
                "Europe/Berlin",
                "2026-11-17T04:00:00Z",
                "2026-11-17T23:00:00Z",
            ),
            (
                "0 12 * * 7",
                "UTC",
                "2026-11-17T04:00:00Z",
                "2026-11-22T12:00:00Z",
            ),
        ];
        for (source, zone, after, expected) in cases {
            assert_eq!(
                next(source, zone, after).as_deref(),
                Some(expected),
                "{source} after {after}"
            );
        }
    }

    #[test]
    fn what_a_clock_skips_in_spring_comes_right_after() {
        let next = next("30 2 * * *", "Europe/Berlin", "2027-03-28T00:00:00Z");
        assert_eq!(next.as_deref(), Some("2027-03-28T01:30:00Z"));
    }

    #[test]
    fn what_a_clock_shows_twice_in_autumn_comes_once() {
        let first = next("30 2 * * *", "Europe/Berlin", "2026-10-24T23:00:00Z").unwrap();
        assert_eq!(first, "2026-10-25T00:30:00Z");
        let second = next("30 2 * * *", "Europe/Berlin", &first).unwrap();
        assert_eq!(second, "2026-10-26T01:30:00Z");
    }

    #[test]
    fn what_no_clock_shows_is_refused_with_a_sentence() {
        for source in [
            "",
            "* * * *",
            "61 * * * *",
            "* * * * FOO",
            "*/0 * * * *",
            "5-1 * * * *",
            "0 0 30 2 *",
        ] {
            assert!(
                Cron::new(source, None).unwrap_err().contains("clock"),
                "{source}"
            );
        }
        assert!(
            Cron::new("* * * * *", Some("Mars/Olympus"))
                .unwrap_err()
                .contains("time zone")
        );
    }
}
