//! What definitions, instances and the rest are called.

use super::{Error, ErrorKind, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

/// The longest id, in bytes. A node's is a path of others, and may be longer: [`NodeId::MAX_BYTES`].
const MAX_BYTES: usize = 256;

/// What a number after the longest id of an instance takes.
const NUMBER: usize = 32;

fn check(what: &'static str, most: usize, slashes: bool, text: &str) -> Result<()> {
    let refuse = |why: &'static str| Err(Error::new(ErrorKind::Invalid, why).with("id of", what));
    if text.is_empty() {
        return refuse("an id is not empty");
    }
    if text.len() > most {
        return refuse("an id is too long: shorten it")
            .map_err(|error: Error| error.with("bytes", text.len()).with("at most", most));
    }
    if !slashes && text.contains(NodeId::BETWEEN) {
        return refuse("a `/` stands between the ids of activities, so it is in none of them")
            .map_err(|error: Error| error.with("id", text));
    }
    match text.char_indices().find(|(_, found)| found.is_control()) {
        None => Ok(()),
        Some((at, found)) => refuse("an id has no control characters: remove or encode it")
            .map_err(|error: Error| error.with("found", found.escape_unicode()).with("at", at)),
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $most:expr) => {
        id! { $(#[$doc])* $name, $what, $most, slashes: true }
    };
    ($(#[$doc:meta])* $name:ident, $what:literal, $most:expr, slashes: $slashes:literal) => {
        $(#[$doc])*
        ///
        /// Text without control characters, compared byte by byte; cheap to clone.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The longest one, in bytes.
            pub const MAX_BYTES: usize = $most;

            /// Checks `text` and makes an id of it.
            ///
            /// # Errors
            /// [`ErrorKind::Invalid`] if it is empty, too long or contains a control character.
            pub fn new(text: &str) -> Result<Self> {
                check($what, Self::MAX_BYTES, $slashes, text)?;
                Ok(Self(text.into()))
            }

            /// As text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Self::new(text)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                Self::new(&text).map_err(de::Error::custom)
            }
        }
    };
}

id! {
    /// A workflow, whatever its version.
    DefinitionId, "definition", MAX_BYTES
}
id! {
    /// One version of a workflow. It never changes, so whoever has read it once has read it.
    VersionId, "version", MAX_BYTES
}
id! {
    /// One run of a workflow.
    InstanceId, "instance", MAX_BYTES
}
id! {
    /// A point at which an instance waits.
    BookmarkId, "bookmark", MAX_BYTES + NUMBER
}
id! {
    /// One execution of an activity: the same activity in a loop has several.
    ExecutionId, "execution", MAX_BYTES + NUMBER
}
id! {
    /// An activity, as the author of a definition called it.
    ActivityId, "activity", MAX_BYTES, slashes: false
}
id! {
    /// Where an activity stands in its definition: the ids of those around it and its own, with `/` between
    /// them. The same in every build and on every node.
    NodeId, "node", 4096
}

impl NodeId {
    /// What stands between the ids of activities.
    const BETWEEN: char = '/';

    /// That of `activity` inside of this one.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if the path becomes too long.
    pub fn child(&self, activity: &ActivityId) -> Result<Self> {
        Self::new(&format!("{self}{}{activity}", Self::BETWEEN))
    }
}

impl InstanceId {
    /// The one for a number that nobody else has drawn.
    #[must_use]
    pub fn drawn(number: u128) -> Self {
        Self(format!("{number:032x}").into())
    }
}

impl ExecutionId {
    /// The one with this number in its instance.
    #[must_use]
    pub fn numbered(number: u64) -> Self {
        Self(number.to_string().into())
    }

    /// Its number in its instance.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}
