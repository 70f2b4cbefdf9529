//! Who may ask what: keys, of which this node knows the hashes alone.

use lockwork_core::workflow::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use std::{collections::BTreeSet, fmt, str::FromStr};

/// What a key is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Looking.
    Read,
    /// Starting instances, telling them things, ending and retrying them.
    Run,
    /// Asking workflows on routes that they name.
    Call,
    /// Changing definitions.
    Define,
    /// Removing instances, breaking locks, pausing and ending nodes.
    Admin,
}

impl Scope {
    /// Each of them.
    pub const ALL: [Self; 5] = [Self::Read, Self::Run, Self::Call, Self::Define, Self::Admin];

    /// As files and problems name it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Call => "call",
            Self::Define => "define",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| {
            let message = "a key is good for `read`, `run`, `call`, `define` or `admin`";
            Error::new(ErrorKind::Invalid, message).with("found", text)
        })
    }
}

/// The keys that this node knows. Without any, whoever reaches it may ask anything: so it is reached from this machine
/// alone.
///
/// A key is drawn, never chosen, so that a plain hash of it tells nobody anything. In a file each has a line:
///
/// ```text
/// # name   scopes                     SHA-256 of the key
/// grafana  read                       5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03
/// shop     read,run,call              …
/// ops      read,run,call,define,admin …
/// ```
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<Known>);

#[derive(Clone)]
struct Known {
    name: String,
    scopes: BTreeSet<Scope>,
    hash: [u8; 32],
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut known = f.debug_struct("Known");
        known
            .field("name", &self.name)
            .field("scopes", &self.scopes);
        known.finish_non_exhaustive()
    }
}

impl Keys {
    /// None.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Those of a file, one in each line: see [above](Self).
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] with the number of the line that is wrong, and nothing of what is in it; also if there is no
    /// key in it, because whoever wants none says so by [`none`](Self::none).
    pub fn from_text(text: &str) -> Result<Self> {
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let known =
            lines.map(|(number, line)| known(line).map_err(|error| error.with("line", number + 1)));
        let known: Vec<_> = known.collect::<Result<_>>()?;
        if known.is_empty() {
            // Who names a file wants keys: an empty one must not mean that everybody may ask.
            let message =
                "there are no keys in this file: `lockwork keys new` writes a line for one";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        Ok(Self(known))
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Draws a key called `name`. Gives the key, which nobody knows yet, and the line for the file.
    #[must_use]
    pub fn draw(name: &str, scopes: &[Scope]) -> (String, String) {
        let key = format!("lw_{}", hexadecimal(&rand::random::<[u8; 32]>()));
        let scopes: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
        let hash = hexadecimal(&hash(&key));
        (key, format!("{name} {} {hash}", scopes.join(",")))
    }

    /// Whose key this is, and what it is good for.
    pub(crate) fn find(&self, key: &str) -> Option<Found<'_>> {
        let wanted = hash(key);
        // All are looked at, and all of each: how long that takes tells nothing.
        let found = self
            .0
            .iter()
            .fold(None, |found, known| match same(&known.hash, &wanted) {
                true => Some(known),
                false => found,
            })?;
        Some(Found(found))
    }
}

/// A key that this node knows.
pub(crate) struct Found<'k>(&'k Known);

impl Found<'_> {
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn is_good_for(&self, scope: Scope) -> bool {
        self.0.scopes.contains(&scope)
    }
}

fn known(line: &str) -> Result<Known> {
    let refuse = || {
        let message = "a line of a file of keys has a name, scopes with commas between them, and the SHA-256 of the key: \
                       `lockwork keys new` writes one";
        Error::new(ErrorKind::Invalid, message)
    };
    let mut words = line.split_whitespace();
    let (Some(name), Some(scopes), Some(hash), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(refuse());
    };
    let scopes = scopes.split(',').map(str::parse).collect::<Result<_>>()?;
    let hash = bytes(hash).ok_or_else(refuse)?;
    Ok(Known {
        name: name.to_owned(),
        scopes,
        hash,
    })
}

fn hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// In the same time, whatever they are.
fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let differs = one
        .iter()
        .zip(other)
        .fold(0, |all, (one, other)| all | (one ^ other));
    std::hint::black_box(differs) == 0
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_drawn_is_found_by_its_line_and_no_other_is() {
        let (key, line) = Keys::draw("shop", &[Scope::Read, Scope::Run]);
        let keys = Keys::from_text(&format!("# ours\n\n{line}\n")).unwrap();
        let found = keys.find(&key).unwrap();
        assert_eq!(found.name(), "shop");
        assert!(found.is_good_for(Scope::Run) && !found.is_good_for(Scope::Admin));
        assert!(keys.find("lw_0").is_none() && keys.find("").is_none());
        assert!(!line.contains(&key), "the key itself is written nowhere");
    }

    #[test]
    fn a_line_that_is_wrong_is_named_and_not_shown() {
        for line in ["shop read", "shop read abc", "shop fly 00", "a b c d"] {
            let error = Keys::from_text(&format!("# one\n{line}")).unwrap_err();
            assert!(error.to_string().contains("line=2"), "{error}");
        }
        let error = Keys::from_text("shop read my-secret-key").unwrap_err();
        assert!(!error.to_string().contains("my-secret"), "{error}");
    }

    #[test]
    fn a_file_without_keys_is_refused() {
        for text in ["", "\n\n", "# shop read 00\n"] {
            let error = Keys::from_text(text).unwrap_err();
            assert!(error.to_string().contains("no keys"), "{error}");
        }
    }

    #[test]
    fn hashes_are_not_shown_for_debugging() {
        let (_, line) = Keys::draw("shop", &Scope::ALL);
        let hash = line.split(' ').next_back().unwrap().to_owned();
        let keys = Keys::from_text(&line).unwrap();
        assert!(!format!("{keys:?}").contains(&hash[..8]));
    }
}
