//! Patterns of paths: what a request has to ask for to be meant.

use lockwork_core::workflow::{Error, ErrorKind, Result};
use std::{fmt, str::FromStr};

/// The longest pattern, in bytes: it is compared with every request.
const LONGEST: usize = 512;

/// The most parts of a path.
const MOST: usize = 32;

/// The pattern of a path: `/orders/{id}` is any path of two parts whose first one is `orders`.
///
/// ```
/// use lockwork_flow::Route;
///
/// let route: Route = "/orders/{id}".parse()?;
/// assert_eq!(route.read(&["orders", "7"]), Some(vec!["7".to_owned()]));
/// assert_eq!(route.read(&["orders"]), None);
/// # Ok::<(), lockwork_flow::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Route(Vec<Part>);

/// What stands between two slashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    This(String),
    Any(String),
}

impl Route {
    /// What its parameters stand for in a path of these parts, in their order. Nothing, if it is another path.
    #[must_use]
    pub fn read(&self, path: &[impl AsRef<str>]) -> Option<Vec<String>> {
        if path.len() != self.0.len() {
            return None;
        }
        let mut values = Vec::new();
        for (part, found) in self.0.iter().zip(path) {
            match part {
                Part::This(text) if text == found.as_ref() => {}
                Part::This(_) => return None,
                Part::Any(_) => values.push(found.as_ref().to_owned()),
            }
        }
        Some(values)
    }

    /// The names of its parameters, in their order.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Any(name) => Some(name.as_str()),
            Part::This(_) => None,
        })
    }

    /// The same for all routes that mean the same paths, whatever their parameters are called: `/orders/{}`.
    #[must_use]
    pub fn shape(&self) -> String {
        let parts = self.0.iter().map(|part| match part {
            Part::This(text) => format!("/{text}"),
            Part::Any(_) => "/{}".to_owned(),
        });
        parts.collect()
    }

    /// Of two routes that mean one path, the one that says more of it comes first: by this, the lesser.
    #[must_use]
    pub fn vagueness(&self) -> Vec<bool> {
        let parts = self.0.iter();
        parts.map(|part| matches!(part, Part::Any(_))).collect()
    }
}

impl FromStr for Route {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.strip_prefix('/').filter(|_| text.len() <= LONGEST);
        let parts: Option<Vec<_>> = parts.and_then(|parts| parts.split('/').map(part).collect());
        let route = Self(parts.unwrap_or_default());
        let names: Vec<_> = route.parameters().collect();
        let twice = names.iter().enumerate();
        let twice = twice
            .into_iter()
            .any(|(at, name)| names[..at].contains(name));
        match twice || route.0.is_empty() || route.0.len() > MOST {
            false => Ok(route),
            true => {
                let message = "a path is something like `/orders/{id}`: up to 32 parts of letters, digits, `-`, `.`, `_` \
                               and `~`, or names in braces, none of them twice";
                Err(Error::new(ErrorKind::Invalid, message))
            }
        }
    }
}

fn part(text: &str) -> Option<Part> {
    let named = text
        .strip_prefix('{')
        .and_then(|name| name.strip_suffix('}'));
    if let Some(name) = named {
        let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let begins = name.starts_with(|sign: char| sign.is_ascii_alphabetic());
        return (begins && name.chars().all(is_name)).then(|| Part::Any(name.to_owned()));
    }
    // What RFC 3986 leaves unreserved: it has one way to be written.
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-._~".contains(sign);
    let fits = !text.is_empty() && text.chars().all(plain) && !is_step(text);
    fits.then(|| Part::This(text.to_owned()))
}

/// Whether a part of a path means another place, and no name.
#[must_use]
pub fn is_step(part: &str) -> bool {
    matches!(part, "." | "..")
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::This(text) => write!(f, "/{text}"),
            Part::Any(name) => write!(f, "/{{{name}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_has_two_ways_to_be_written_is_no_pattern() {
        for text in [
            "", "/", "orders", "/orders/", "//orders", "/a/../b", "/.", "/a%20b", "/a b", "/{}",
            "/{a-b}", "/{a}/{a}", "/x{a}", "/ä", "/a?b",
        ] {
            assert!(text.parse::<Route>().is_err(), "{text}");
        }
        assert!("/a".repeat(33).parse::<Route>().is_err());
        assert!(format!("/{}", "a".repeat(512)).parse::<Route>().is_err());
        for text in ["/a", "/orders/{id}/lines/{line_2}", "/.well-known/x~y"] {
            assert_eq!(text.parse::<Route>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn routes_that_mean_the_same_paths_have_one_shape() {
        let (one, other): (Route, Route) = ("/a/{b}".parse().unwrap(), "/a/{c}".parse().unwrap());
        assert_eq!(one.shape(), other.shape());
        let plain: Route = "/a/b".parse().unwrap();
        assert_ne!(one.shape(), plain.shape());
        assert!(plain.vagueness() < one.vagueness());
    }
}
