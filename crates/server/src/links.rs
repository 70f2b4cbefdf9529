//! Links by which somebody without a key can resume one bookmark: a person with a mail, say.
//!
//! A link names the bookmark and the time it is good until, and is signed. It is good once, because a bookmark is.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as TEXT};
use hmac::{Hmac, KeyInit, Mac};
use lockwork_core::workflow::{BookmarkId, Error, ErrorKind, InstanceId, Result, Time};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fmt;

/// What links are signed with: the same on each node that shall take them.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// The least that is as good as drawn.
    const LEAST: usize = 32;

    /// One that nobody knows, until this process ends.
    #[must_use]
    pub fn drawn() -> Self {
        Self(rand::random())
    }

    /// From a text that nobody can guess, of 32 bytes at least.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if it is shorter.
    pub fn from_text(text: &str) -> Result<Self> {
        use sha2::Digest;
        let text = text.trim();
        if text.len() < Self::LEAST {
            let message = "a secret that links are signed with has 32 bytes at least: draw it, as by `openssl rand -hex 32`";
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        Ok(Self(Sha256::digest(text.as_bytes()).into()))
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&self.0);
        let mut mac = mac.expect("a key of any length will do");
        mac.update(text.as_bytes());
        mac
    }

    /// The text of a link.
    pub(crate) fn sign(&self, link: &Link) -> String {
        let text = TEXT.encode(serde_json::to_vec(link).unwrap_or_default());
        let mac = TEXT.encode(self.mac(&text).finalize().into_bytes());
        format!("{text}.{mac}")
    }

    /// What a link says, if it was signed with this and is still good.
    pub(crate) fn read(&self, text: &str, now: Time) -> Option<Link> {
        let (text, mac) = text.split_once('.')?;
        let mac = TEXT.decode(mac).ok()?;
        self.mac(text).verify_slice(&mac).ok()?;
        let link: Link = serde_json::from_slice(&TEXT.decode(text).ok()?).ok()?;
        (now < link.until).then_some(link)
    }
}

/// What a link says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Link {
    #[serde(rename = "i")]
    pub(crate) instance: InstanceId,
    #[serde(rename = "b")]
    pub(crate) bookmark: BookmarkId,
    #[serde(rename = "u")]
    pub(crate) until: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Link {
        Link {
            instance: InstanceId::new("i").unwrap(),
            bookmark: BookmarkId::new("i:1").unwrap(),
            until: Time::from_millis(1000),
        }
    }

    #[test]
    fn a_link_is_read_until_its_time_and_by_its_secret_alone() {
        let secret = Secret::from_text(&"x".repeat(32)).unwrap();
        let text = secret.sign(&link());
        assert_eq!(secret.read(&text, Time::from_millis(999)), Some(link()));
        assert_eq!(secret.read(&text, Time::from_millis(1000)), None);
        assert_eq!(Secret::drawn().read(&text, Time::from_millis(0)), None);
    }

    #[test]
    fn a_link_that_was_changed_anywhere_is_none() {
        let secret = Secret::drawn();
        let text = secret.sign(&link());
        for at in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            let Ok(changed) = String::from_utf8(changed) else {
                continue;
            };
            let read = secret.read(&changed, Time::from_millis(0));
            assert!(read.is_none_or(|read| read == link()), "{changed}");
        }
        for text in ["", ".", "a.b", "é.é"] {
            assert_eq!(secret.read(text, Time::from_millis(0)), None);
        }
    }

    #[test]
    fn a_short_secret_is_refused_and_none_is_shown() {
        assert!(Secret::from_text("short").is_err());
        assert_eq!(format!("{:?}", Secret::drawn()), "Secret(…)");
    }
}
