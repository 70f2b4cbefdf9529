//! Where a store or locks are, as people may read it: without passwords.

use lockwork::is_torn;
use reqwest::Url;

/// A URL for people. Of one that hides a password where none belongs, its scheme alone.
pub(crate) fn shown(url: &str) -> String {
    let scheme = url.split(':').next().unwrap_or_default();
    if let "sqlite" | "file" | "memory" = scheme {
        return path(url).to_owned();
    }
    let Ok(mut url) = Url::parse(url) else {
        return "…".to_owned();
    };
    // Options may be secrets too.
    let is_safe = !is_torn(&url) && url.set_password(None).is_ok();
    url.set_query(None);
    match is_safe {
        true => url.to_string(),
        false => format!("{scheme}://…"),
    }
}

/// Whether it is a store in a file, which processes of one machine share and nobody else.
pub(crate) fn is_file(store: &str) -> bool {
    store.starts_with("sqlite:")
}

/// The path of a URL of a file.
pub(crate) fn path(url: &str) -> &str {
    let (_, rest) = url.split_once(':').unwrap_or(("", url));
    let rest = rest.split('?').next().unwrap_or_default();
    rest.strip_prefix("//").unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for url in [
            "postgres://app:hunter2@db/lockwork?sslmode=require",
            "postgres://app:hunter2/x@db/lockwork",
            "redis://:hunter2@host",
            "postgres://app@db/x?password=hunter2",
            "azblob://account/container?sig=hunter2",
            "not a url hunter2",
        ] {
            assert!(!shown(url).contains("hunter2"), "{}", shown(url));
        }
        assert_eq!(shown("postgres://a:b@db/x"), "postgres://a@db/x");
    }

    #[test]
    fn a_file_is_shown_by_its_path() {
        assert_eq!(shown("sqlite:./a.db?busy=3s"), "./a.db");
        assert_eq!(shown("sqlite:///tmp/a.db"), "/tmp/a.db");
        assert_eq!(shown("file:./locks"), "./locks");
    }
}
