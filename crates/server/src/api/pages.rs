//! Lists that may be long, page by page.
//!
//! The store gives these whole; what is bounded is the answer. A page begins after what the last one ended with, by what
//! the list is ordered by: so nothing is missed and nothing comes twice when others are added or removed meanwhile.

use crate::problem::Problem;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as TEXT};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A page, if nobody says how long it is, and the longest.
const PAGE: usize = 100;
pub(crate) const LONGEST: usize = 1000;

/// Which page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paging {
    limit: Option<usize>,
    after: Option<String>,
}

/// How many are wanted.
pub(crate) fn limit(asked: Option<usize>, usual: usize) -> Result<usize, Problem> {
    match asked.unwrap_or(usual) {
        limit @ 1..=LONGEST => Ok(limit),
        _ => Err(Problem::invalid(format!("`limit` is 1 to {LONGEST}"))),
    }
}

impl Paging {
    /// The page of `all` in the order of their keys, which are different, and where the next one begins if there is one.
    pub(crate) fn of<T, K>(
        &self,
        all: Vec<T>,
        key: impl Fn(&T) -> K,
    ) -> Result<(Vec<T>, Option<String>), Problem>
    where
        K: Ord + Serialize + DeserializeOwned,
    {
        let limit = limit(self.limit, PAGE)?;
        let after = self.after.as_deref().map(read::<K>).transpose()?;
        let keyed = all.into_iter().map(|one| (key(&one), one));
        let mut rest: Vec<_> = keyed
            .filter(|(key, _)| after.as_ref().is_none_or(|after| key > after))
            .collect();
        rest.sort_by(|(one, _), (other, _)| one.cmp(other));
        let is_more = rest.len() > limit;
        rest.truncate(limit);
        let next = rest.last().filter(|_| is_more).map(|(key, _)| write(key));
        Ok((rest.into_iter().map(|(_, one)| one).collect(), next))
    }
}

fn write(key: &impl Serialize) -> String {
    TEXT.encode(serde_json::to_vec(key).unwrap_or_default())
}

fn read<K: DeserializeOwned>(text: &str) -> Result<K, Problem> {
    let bytes = TEXT.decode(text).ok();
    let key = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    key.ok_or_else(|| Problem::invalid("`after` is the `next` of the page before"))
}
