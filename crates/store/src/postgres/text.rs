//! What is compared at the server, in a form it has room for.

use super::errors::invalid;
use lockwork_core::workflow::{Result, StimulusHash, Time};
use std::borrow::Cow;

/// The longest text in an index. A row of one has 2704 bytes at most.
const LONGEST: usize = 1000;

/// A key that is compared and never read: one that is too long, or has what PostgreSQL keeps in no text, is known by
/// its hash.
pub(super) fn key(text: &str) -> Result<Cow<'_, str>> {
    let is_plain = text.len() <= LONGEST && !text.contains(['\0', '\u{1}']);
    if is_plain {
        return Ok(Cow::Borrowed(text));
    }
    let hash = StimulusHash::of("key", &text.into(), None)
        .map_err(|_| invalid("a key or a correlation has at most 65536 bytes"))?;
    Ok(Cow::Owned(format!("\u{1}{hash}")))
}

/// The same of one that may be there.
pub(super) fn some_key(text: Option<&str>) -> Result<Option<String>> {
    text.map(|text| key(text).map(Cow::into_owned)).transpose()
}

/// A text that is read again, without what PostgreSQL keeps in no text.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    match text.contains(['\0', '\u{1}']) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace('\u{1}', "\u{1}1").replace('\0', "\u{1}0")),
    }
}

/// The same as it was.
pub(super) fn unescaped(text: String) -> String {
    match text.contains('\u{1}') {
        false => text,
        true => text.replace("\u{1}0", "\0").replace("\u{1}1", "\u{1}"),
    }
}

/// By what an errand or a dead letter is found: as `store_name_v1` has it.
pub(super) fn name(id: &str) -> Result<Cow<'_, str>> {
    let id = escaped(id);
    if id.len() <= LONGEST {
        return Ok(id);
    }
    let hash = StimulusHash::of("id", &(*id).into(), None)
        .map_err(|_| invalid("the name of an errand has at most 65536 bytes"))?;
    Ok(Cow::Owned(format!("long/{hash}")))
}

/// The bytes of a hash.
pub(super) fn bytes(hash: &StimulusHash) -> Vec<u8> {
    let digits = hash.to_string().into_bytes();
    let value = |digit: &u8| char::from(*digit).to_digit(16).unwrap_or_default() as u8;
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | value(digit)))
        .collect()
}

/// The hash with these bytes.
pub(super) fn hash(bytes: &[u8]) -> Result<StimulusHash> {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    digits.parse()
}

pub(super) const fn millis(time: Time) -> i64 {
    time.as_millis()
}

/// Numbers that count are below 2^63 for as long as anything counts.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// How many at most.
pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// What nobody else draws.
pub(super) fn drawn() -> String {
    format!("{:032x}", rand::random::<u128>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwork_core::workflow::Value;

    #[test]
    fn a_hash_is_its_bytes_and_back() {
        let one = StimulusHash::of("Event", &Value::Null, None).expect("a hash");
        assert_eq!(bytes(&one).len(), 32);
        assert_eq!(hash(&bytes(&one)).expect("a hash"), one);
    }

    #[test]
    fn what_cannot_be_kept_comes_back() {
        for text in ["a", "\0", "\u{1}", "\u{1}0", "\0\u{1}1\0", "\u{1}\u{1}00"] {
            let kept = escaped(text).into_owned();
            assert!(!kept.contains('\0'));
            assert_eq!(unescaped(kept), text);
        }
    }

    #[test]
    fn keys_that_differ_stay_different() {
        let long = "x".repeat(5000);
        let keys = ["a", "\u{1}a", "a\0", "a\0\0", &long, &long[1..]];
        let mut seen: Vec<_> = keys.iter().map(|one| key(one).expect("a key")).collect();
        assert!(
            seen.iter()
                .all(|one| one.len() <= LONGEST && !one.contains('\0'))
        );
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), keys.len());
        assert_eq!(key("a").expect("a key"), "a");
    }
}
