//! Reading URLs: who is named there, and what was meant.

use url::Url;

/// The hosts of a URL and their ports, or the port that is usual; `None` if one has no such form.
///
/// ```
/// use lockwork_core::lock::hosts;
///
/// let url = "redis://localhost".parse().unwrap();
/// assert_eq!(hosts(&url, 6379), Some(vec![("localhost".to_owned(), 6379)]));
/// ```
#[must_use]
pub fn hosts(url: &Url, usual: u16) -> Option<Vec<(String, u16)>> {
    let host = url.host_str()?;
    if !host.contains("%2C") {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        return Some(vec![(host.to_owned(), url.port().unwrap_or(usual))]);
    }
    let escapes = [("%3A", ":"), ("%2C", ","), ("%5B", "["), ("%5D", "]")];
    let hosts = escapes
        .into_iter()
        .fold(host.to_owned(), |host, (from, to)| host.replace(from, to));
    hosts.split(',').map(|host| one_of(host, usual)).collect()
}

fn one_of(host: &str, usual: u16) -> Option<(String, u16)> {
    let (name, port) = match host.rsplit_once(':') {
        // The colons of an address in brackets are its own.
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()?),
        _ => (host, usual),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    (!name.is_empty()).then(|| (name.to_owned(), port))
}

/// Whether a password was written without escapes: its `@`, `/`, `?` or `#` then ended it, and the
/// rest of it looks like something else. No message may repeat what such a URL says.
///
/// ```
/// use lockwork_core::lock::is_torn;
///
/// assert!(is_torn(&"redis://app:1/2@localhost".parse().unwrap()));
/// assert!(!is_torn(&"redis://app:1%2F2@localhost/0?lease=5s".parse().unwrap()));
/// ```
#[must_use]
pub fn is_torn(url: &Url) -> bool {
    let rest = [Some(url.path()), url.query()];
    url.fragment().is_some() || rest.iter().flatten().any(|part| part.contains('@'))
}

/// What the percent signs in a part of a URL stand for; `None` if that is no text.
///
/// ```
/// use lockwork_core::lock::unescaped;
///
/// assert_eq!(unescaped("a%2Fb").as_deref(), Some("a/b"));
/// assert_eq!(unescaped("%f"), None);
/// ```
#[must_use]
pub fn unescaped(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = digit().zip(digit())?;
                u8::try_from(high * 16 + low).ok()?
            }
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
