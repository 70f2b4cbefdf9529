//! LIKE: `%`, `_` and `[…]`, without regard to case unless a collation has it.

/// Whether a text is like a pattern.
pub(super) fn matches(text: &str, pattern: &str, escape: Option<char>, exact: bool) -> bool {
    let chars = |text: &str| -> Vec<char> {
        match exact {
            true => text.chars().collect(),
            false => text.to_lowercase().chars().collect(),
        }
    };
    let (text, pattern) = (chars(text), chars(pattern));
    is_like(&text, &pattern, escape)
}

fn is_like(text: &[char], pattern: &[char], escape: Option<char>) -> bool {
    let Some((&first, rest)) = pattern.split_first() else {
        // Blanks at the end of the text do not count.
        return text.iter().all(|char| *char == ' ');
    };
    if Some(first) == escape {
        return match (rest.split_first(), text.split_first()) {
            (Some((wanted, pattern)), Some((found, text))) if wanted == found => {
                is_like(text, pattern, escape)
            }
            _ => false,
        };
    }
    match first {
        '%' => (0..=text.len()).any(|skipped| is_like(&text[skipped..], rest, escape)),
        '_' => text
            .split_first()
            .is_some_and(|(_, text)| is_like(text, rest, escape)),
        '[' => match (text.split_first(), class(rest)) {
            (Some((char, text)), Some((set, rest))) => {
                in_class(*char, set) && is_like(text, rest, escape)
            }
            _ => false,
        },
        wanted => text
            .split_first()
            .is_some_and(|(found, text)| *found == wanted && is_like(text, rest, escape)),
    }
}

/// What is between brackets, and what follows them.
fn class(pattern: &[char]) -> Option<(&[char], &[char])> {
    let end = pattern.iter().skip(1).position(|char| *char == ']')? + 1;
    Some((&pattern[..end], &pattern[end + 1..]))
}

fn in_class(char: char, set: &[char]) -> bool {
    let (negated, set) = match set {
        ['^', rest @ ..] => (true, rest),
        set => (false, set),
    };
    let mut found = false;
    let mut rest = set;
    while let Some((&first, after)) = rest.split_first() {
        rest = match after {
            ['-', last, after @ ..] => {
                found |= (first..=*last).contains(&char);
                after
            }
            _ => {
                found |= first == char;
                after
            }
        };
    }
    found != negated
}
