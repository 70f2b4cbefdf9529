//! Lengths of time as people write them: `90s`, `1h30m`, `250ms`, `2d`.

use lockwork_core::workflow::Value;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{fmt, str::FromStr, time::Duration};

/// A length of time in a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length(Duration);

const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

impl Length {
    /// In parts of a millisecond as long as it is, otherwise in whole ones.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        self.0
    }

    fn as_millis(self) -> u64 {
        self.0.as_millis().try_into().unwrap_or(u64::MAX)
    }
}

impl From<Duration> for Length {
    fn from(time: Duration) -> Self {
        let millis = time.as_millis().try_into().unwrap_or(u64::MAX);
        Self(Duration::from_millis(millis))
    }
}

impl From<Length> for Value {
    fn from(length: Length) -> Self {
        length.to_string().into()
    }
}

/// Why a text is no length of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotALength(String);

impl fmt::Display for NotALength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        write!(
            f,
            "`{text}` is no length of time: write 250ms, 90s, 1h30m or 2d"
        )
    }
}

impl std::error::Error for NotALength {}

impl FromStr for Length {
    type Err = NotALength;

    fn from_str(text: &str) -> Result<Self, NotALength> {
        let wrong = || NotALength(text.chars().take(40).collect());
        let (mut rest, mut units, mut millis) = (text.trim(), UNITS.iter(), 0_u64);
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, after) = rest.split_at(digits);
            let letters = after
                .find(|c: char| c.is_ascii_digit())
                .unwrap_or(after.len());
            let (unit, after) = after.split_at(letters);
            // From the largest to the smallest, each at most once.
            let (_, worth) = units.find(|(name, _)| *name == unit).ok_or_else(wrong)?;
            let part = number
                .parse::<u64>()
                .ok()
                .and_then(|n| n.checked_mul(*worth));
            millis = part
                .and_then(|part| millis.checked_add(part))
                .ok_or_else(wrong)?;
            rest = after;
        }
        Ok(Self(Duration::from_millis(millis)))
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.as_millis();
        if left == 0 {
            return f.write_str("0s");
        }
        for (unit, worth) in UNITS {
            if left >= worth {
                write!(f, "{}{unit}", left / worth)?;
                left %= worth;
            }
        }
        Ok(())
    }
}

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_as_people_write_them_and_written_the_same() {
        for text in ["250ms", "90s", "1h30m", "2d", "1d2h3m4s5ms", "0s"] {
            let length: Length = text.parse().unwrap();
            let again: Length = length.to_string().parse().unwrap();
            assert_eq!(length, again, "{text}");
        }
        assert_eq!("90s".parse::<Length>().unwrap().to_string(), "1m30s");
        assert_eq!(
            "1h".parse::<Length>().unwrap().as_duration(),
            Duration::from_secs(3600)
        );
    }

    #[test]
    fn what_is_no_length_is_refused_with_a_sentence() {
        for text in [
            "",
            "5",
            "s",
            "1x",
            "1s1s",
            "1s1h",
            "-1s",
            "1.5s",
            "99999999999999999999d",
        ] {
            let error = text.parse::<Length>().unwrap_err();
            assert!(error.to_string().contains("90s"), "{text}");
        }
    }
}
