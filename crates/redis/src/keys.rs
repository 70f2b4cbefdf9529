//! Which key a lock has, and which lock a key is.

use lockwork_core::lock::{LockId, Name, Space};

/// The version of what is below and of `lock.lua`. Nodes whose versions differ do not exclude each
/// other: a change needs a way to look at both.
const FORMAT: &str = "1";

/// How keys are spelled.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    /// As ours, with this in front of all.
    Ours(String),
    /// As .NET's DistributedLock does: the name as it is.
    Theirs,
}

impl Keys {
    /// The key of a lock, written over what is in `key`.
    pub(crate) fn spell(&self, id: &LockId, key: &mut String) {
        key.clear();
        match self {
            Self::Ours(prefix) => spell(prefix, id, key),
            Self::Theirs => key.push_str(id.name.as_str()),
        }
    }
}

/// `PREFIX:1:{SPACE:NAME}`. What is in braces decides about the slot in a cluster, so all that belongs
/// to a lock is in one; the braces of a name are spelled differently, so they do not end it early.
fn spell(prefix: &str, id: &LockId, key: &mut String) {
    let (space, name) = (id.space.as_str(), id.name.as_str());
    for part in [prefix, ":", FORMAT, ":{", space, ":"] {
        key.push_str(part);
    }
    let mut rest = name;
    while let Some(at) = rest.find(['%', '{', '}']) {
        key.push_str(&rest[..at]);
        key.push_str(match rest.as_bytes()[at] {
            b'%' => "%25",
            b'{' => "%7B",
            _ => "%7D",
        });
        rest = &rest[at + 1..];
    }
    key.push_str(rest);
    key.push('}');
}

/// The key of the count that tokens of mutexes are taken from, where one script reaches all of them.
pub(crate) fn count(prefix: &str) -> String {
    format!("{prefix}:{FORMAT}:tokens")
}

/// The lock whose key this is, if it is one.
pub(crate) fn id_of(prefix: &str, key: &str) -> Option<LockId> {
    let inner = key.strip_prefix(prefix)?.strip_prefix(':')?;
    let inner = inner.strip_prefix(FORMAT)?.strip_prefix(":{")?;
    let (space, name) = inner.strip_suffix('}')?.split_once(':')?;
    let spaces = [Space::Mutex, Space::RwLock, Space::Semaphore];
    let space = spaces.into_iter().find(|known| known.as_str() == space)?;
    let name = name.replace("%7B", "{").replace("%7D", "}");
    Some(LockId::new(
        space,
        Name::new(&name.replace("%25", "%")).ok()?,
    ))
}

/// What the keys of all locks look like, as `SCAN` wants it: what has a meaning there is a plain letter.
pub(crate) fn pattern(prefix: &str) -> String {
    let mut pattern = String::with_capacity(prefix.len() + 8);
    for letter in prefix.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '^' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push(':');
    pattern.push_str(FORMAT);
    pattern.push_str(":{*}");
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(prefix: &str, id: &LockId) -> String {
        let mut key = "of another".to_owned();
        Keys::Ours(prefix.to_owned()).spell(id, &mut key);
        key
    }

    fn id(space: Space, name: &str) -> LockId {
        LockId::new(space, Name::new(name).expect("a name"))
    }

    #[test]
    fn the_key_of_a_name_never_changes() {
        let key = key_of("lockwork", &id(Space::Mutex, "invoices/2026-08"));
        assert_eq!(key, "lockwork:1:{mutex:invoices/2026-08}");
    }

    #[test]
    fn a_name_with_braces_has_a_key_with_one_pair() {
        let key = key_of("lockwork", &id(Space::RwLock, "a}b{c%7Dd"));
        assert_eq!(key, "lockwork:1:{rwlock:a%7Db%7Bc%257Dd}");
    }

    #[test]
    fn every_key_leads_back_to_its_lock() {
        for name in ["a", "}{", "%", "%7D", "%257D", "a:b", "ä\u{1F600}", " "] {
            for space in [Space::Mutex, Space::RwLock, Space::Semaphore] {
                let id = id(space, name);
                assert_eq!(id_of("p:q", &key_of("p:q", &id)), Some(id), "{name}");
            }
        }
    }

    #[test]
    fn a_prefix_in_a_pattern_is_taken_as_it_is() {
        assert_eq!(pattern("lockwork"), "lockwork:1:{*}");
        assert_eq!(pattern("a*[b]?\\"), "a\\*\\[b\\]\\?\\\\:1:{*}");
    }

    #[test]
    fn other_keys_are_no_locks() {
        for key in [
            "",
            "lockwork",
            "lockwork:2:{mutex:a}",
            "lockwork:1:{rwlock:a}:t",
            "lockwork:1:tokens",
        ] {
            assert_eq!(id_of("lockwork", key), None, "{key}");
        }
    }
}
