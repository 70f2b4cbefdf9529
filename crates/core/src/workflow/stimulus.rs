//! Something that happened, and how it finds those who wait for it.

use super::{
    BookmarkId, Error, ErrorKind, ExecutionId, InstanceId, Result, Value, Values, canonical,
};
use serde::{Deserialize, Deserializer, Serialize, de};
use sha2::{Digest, Sha256};
use std::{fmt, str::FromStr};

/// What kind of thing happened, by the type of the activity that waits for it: `Event`, say.
///
/// The longest is as long as the longest id.
pub const MAX_NAME_BYTES: usize = 256;

/// The longest payload, in bytes of JSON: what is compared should be small, and what is delivered is input.
pub const MAX_PAYLOAD_BYTES: usize = 64 * 1024;

/// What says that two stimuli are the same: SHA-256 of name and payload, in upper-case hexadecimal.
///
/// The payload is written as compact JSON with the keys of each object in order, so that neither the order of
/// fields nor the program that wrote it matters; what is `null` deeper down counts as absent. Letters outside
/// of ASCII and those with a meaning in HTML are escaped as .NET does, so that a payload with one field
/// has the hash that Elsa gives it.
///
/// ```
/// use lockwork_core::workflow::StimulusHash;
/// use serde_json::json;
///
/// let shipped = StimulusHash::of("Event", &json!({"name": "OrderShipped", "depot": 7}), None)?;
/// let again = StimulusHash::of("Event", &json!({"depot": 7, "name": "OrderShipped"}), None)?;
/// assert_eq!(shipped, again);
/// # Ok::<(), lockwork_core::workflow::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StimulusHash([u8; 32]);

impl StimulusHash {
    /// That of a stimulus called `name` with a `payload`; with `only`, for one execution of an activity alone.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if the name is empty or longer than [`MAX_NAME_BYTES`], or the payload longer
    /// than [`MAX_PAYLOAD_BYTES`].
    pub fn of(name: &str, payload: &Value, only: Option<&ExecutionId>) -> Result<Self> {
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            let message = "the name of a stimulus has 1 to 256 bytes";
            return Err(Error::new(ErrorKind::Invalid, message).with("bytes", name.len()));
        }
        let mut text = name.to_owned();
        match payload {
            Value::Null => {}
            Value::String(payload) => text.extend(["|", payload.as_str()]),
            payload => {
                text.push('|');
                canonical::write(&mut text, payload);
            }
        }
        if text.len() - name.len() > MAX_PAYLOAD_BYTES {
            let message = "the payload of a stimulus has at most 65536 bytes of JSON: what is \
                           delivered and not compared goes into the input";
            return Err(Error::new(ErrorKind::Invalid, message).with("stimulus", name));
        }
        if let Some(only) = only {
            text.extend(["|", only.as_str()]);
        }
        Ok(Self(Sha256::digest(text.as_bytes()).into()))
    }
}

impl StimulusHash {
    /// Its first 128 bits.
    #[must_use]
    pub fn number(&self) -> u128 {
        let (first, _) = self.0.split_at(16);
        first
            .iter()
            .fold(0, |number, byte| number << 8 | u128::from(*byte))
    }
}

impl fmt::Display for StimulusHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Debug for StimulusHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for StimulusHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = || {
            let message = "the hash of a stimulus is 64 hexadecimal digits";
            Error::new(ErrorKind::Invalid, message)
        };
        let digits: Option<Vec<u8>> = text
            .chars()
            .map(|digit| digit.to_digit(16).and_then(|digit| digit.try_into().ok()))
            .collect();
        let digits = digits
            .filter(|digits| digits.len() == 64)
            .ok_or_else(refuse)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        }
        Ok(Self(bytes))
    }
}

impl Serialize for StimulusHash {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StimulusHash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// Something that happened: it starts those it triggers, resumes those who wait for it, and is kept for a while
/// if nobody does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Stimulus {
    /// Which bookmarks and triggers it fits.
    pub hash: StimulusHash,
    /// Which of those that fit it is for.
    #[serde(default)]
    pub to: Addressee,
    /// What is delivered.
    #[serde(default)]
    pub input: Values,
    /// Of several with one key, one counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Whether it is for those alone who wait for it now: if that is nobody, nobody gets it later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fleeting: bool,
}

impl Stimulus {
    /// For everybody who waits for `name` with this `payload`.
    ///
    /// # Errors
    /// As [`StimulusHash::of`].
    pub fn new(name: &str, payload: &Value) -> Result<Self> {
        Ok(Self::by_hash(StimulusHash::of(name, payload, None)?))
    }

    /// For everybody who waits for what has this hash.
    #[must_use]
    pub fn by_hash(hash: StimulusHash) -> Self {
        Self {
            hash,
            to: Addressee::default(),
            input: Values::new(),
            key: None,
            fleeting: false,
        }
    }

    /// For some of them.
    #[must_use]
    pub fn to(mut self, to: Addressee) -> Self {
        self.to = to;
        self
    }

    /// With something to deliver.
    #[must_use]
    pub fn input(mut self, input: Values) -> Self {
        self.input = input;
        self
    }

    /// Of several with one key, one counts.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// For those alone who wait for it now.
    #[must_use]
    pub const fn fleeting(mut self) -> Self {
        self.fleeting = true;
        self
    }
}

/// Which of those that a stimulus fits it is for. What is not said does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Addressee {
    /// This instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<InstanceId>,
    /// Instances with this correlation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
    /// This execution of an activity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionId>,
    /// This bookmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark: Option<BookmarkId>,
}

impl Addressee {
    /// Whether it is for some that exist already, so that it starts nothing.
    #[must_use]
    pub const fn is_certain(&self) -> bool {
        self.instance.is_some() || self.execution.is_some() || self.bookmark.is_some()
    }
}
