//! A small file of settings: lines such as `store = "postgres://db/app"`, which are TOML.

use std::collections::BTreeMap;

/// What can be said there.
pub(crate) const KNOWN: [&str; 9] = [
    "store",
    "locks",
    "listen",
    "node",
    "keys",
    "secret-file",
    "definitions",
    "workflows-at",
    "drain",
];

/// Reads such a file.
///
/// # Errors
/// A sentence with the number of the line, and nothing of its value: that may be a password.
pub(crate) fn read(text: &str) -> Result<BTreeMap<&'static str, String>, String> {
    let mut settings = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let told = |why: &str| format!("line {}: {why}", number + 1);
        let (key, value) = setting(line).map_err(|why| told(&why))?;
        if settings.insert(key, value).is_some() {
            return Err(told(&format!("`{key}` is there twice")));
        }
    }
    Ok(settings)
}

fn setting(line: &str) -> Result<(&'static str, String), String> {
    let how = || "write something like store = \"postgres://db/app\"".to_owned();
    let (key, value) = line.split_once('=').ok_or_else(how)?;
    let key = key.trim().replace('_', "-");
    let known = KNOWN.into_iter().find(|known| *known == key);
    let known = known.ok_or_else(|| format!("known are {}", KNOWN.join(", ")))?;
    let value = value.trim();
    let quote = value.chars().next().filter(|first| "\"'".contains(*first));
    let quote = quote.ok_or_else(how)?;
    let (text, rest) = quoted(&value[1..], quote).ok_or_else(how)?;
    match rest.trim() {
        rest if rest.is_empty() || rest.starts_with('#') => Ok((known, text)),
        _ => Err(how()),
    }
}

/// What stands up to the quote, and what follows. Between double quotes a backslash takes the next sign as it is.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            _ if sign == quote => return Some((value, &text[at + 1..])),
            '\\' if quote == '"' => {
                let (_, next) = signs.next()?;
                matches!(next, '"' | '\\').then(|| value.push(next))?;
            }
            _ => value.push(sign),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_a_text_in_quotes() {
        let text = "# ours\n\nstore = \"postgres://a:b#c@db/x\" # there\nsecret_file='C:\\s'\nnode=\"a\\\"b\"";
        let read = read(text).unwrap();
        assert_eq!(read["store"], "postgres://a:b#c@db/x");
        assert_eq!(read["secret-file"], "C:\\s");
        assert_eq!(read["node"], "a\"b");
    }

    #[test]
    fn a_line_that_is_wrong_is_named_and_its_value_is_not() {
        for (line, hint) in [
            ("store", "something like"),
            ("store = hunter2", "something like"),
            ("store = \"hunter2", "something like"),
            ("store = \"a\" hunter2", "something like"),
            ("store = \"a\\n\"", "something like"),
            ("[hunter2]", "something like"),
            ("stroe = \"hunter2\"", "known are store"),
            ("listen = \"hunter2\"", "twice"),
        ] {
            let error = read(&format!("listen = \"a\"\n{line}")).unwrap_err();
            assert!(error.starts_with("line 2: "), "{error}");
            assert!(error.contains(hint), "{line}: {error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
