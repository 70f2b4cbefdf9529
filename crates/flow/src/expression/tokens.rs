//! Looks at an expression before the engine does: it would follow a long one until the stack is exhausted, and
//! multiply texts until the memory is.

use super::{Problem, engine};
use std::collections::BTreeSet;

/// Words and signs in one expression. The engine calls itself for each of them, if it has to.
const MAX_TOKENS: usize = 400;

/// Brackets inside of brackets. For these it calls itself a dozen times.
const MAX_LEVELS: usize = 32;

/// An expression as the engine is to see it.
pub(super) struct Scanned {
    pub(super) source: String,
    /// Whatever could be a name in it.
    pub(super) names: BTreeSet<String>,
    /// Whether it takes parts of lists. The engine does not tell the names of those.
    pub(super) slices: bool,
    /// How many values it joins to others, at most.
    pub(super) joins: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    Text,
    Sign,
}

/// One word or sign, with the space before it.
#[derive(Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    space: &'a str,
}

/// Reads `source`. What is no expression is left to the engine, which knows better what to say about it.
pub(super) fn scan(source: &str) -> Result<Scanned, Problem> {
    let mut rewriting = Rewriting::new();
    let (mut rest, mut count) = (source, 0);
    while let Some((token, after)) = next(rest) {
        count += 1;
        if count > MAX_TOKENS {
            let message = format!("an expression has at most {MAX_TOKENS} words and signs");
            return Err(Problem(message));
        }
        rewriting.take(token)?;
        if rewriting.levels.len() > MAX_LEVELS {
            let message = format!("brackets are nested more than {MAX_LEVELS} deep");
            return Err(Problem(message));
        }
        rest = after;
    }
    Ok(rewriting.done())
}

fn next(source: &str) -> Option<(Token<'_>, &str)> {
    let text = source.trim_start();
    let space = source.get(..source.len() - text.len())?;
    let first = text.chars().next()?;
    let (kind, end) = match first {
        '\'' | '"' => (Kind::Text, quoted(text, first)),
        '0'..='9' => (Kind::Number, number(text)),
        first if is_word(first) => (Kind::Word, until(text, |c| !is_word(c))),
        _ => (Kind::Sign, sign(text)),
    };
    let (text, rest) = text.split_at_checked(end)?;
    Some((Token { kind, text, space }, rest))
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

fn until(text: &str, end: impl Fn(char) -> bool) -> usize {
    text.find(end).unwrap_or(text.len())
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = true;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// `1`, `1_000`, `1.5`, `1e-5`; the dot of `1.x` is none of it.
fn number(text: &str) -> usize {
    let mut end = until(text, |c| !is_word(c));
    let digits = |from: usize| {
        text.get(from..)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if text.get(end..).is_some_and(|rest| rest.starts_with('.')) && digits(end + 1) {
        end += 1 + text
            .get(end + 1..)
            .map_or(0, |rest| until(rest, |c| !is_word(c)));
    }
    let read = text.get(..end).unwrap_or_default();
    let exponent = read.ends_with(['e', 'E']) && !read.starts_with("0x");
    if exponent
        && text
            .get(end..)
            .is_some_and(|rest| rest.starts_with(['+', '-']))
        && digits(end + 1)
    {
        end += 1 + text
            .get(end + 1..)
            .map_or(0, |rest| until(rest, |c| !is_word(c)));
    }
    end
}

fn sign(text: &str) -> usize {
    let two = ["**", "//", "==", "!=", "<=", ">="];
    match two.iter().any(|sign| text.starts_with(sign)) {
        true => 2,
        false => text.chars().next().map_or(1, char::len_utf8),
    }
}

/// Gives each `a * b` to a function that knows numbers only, and leaves the rest as it is.
struct Rewriting<'a> {
    out: Vec<&'a str>,
    /// The brackets around, from the outside to the inside, and the whole.
    levels: Vec<Level>,
    before: Option<Token<'a>>,
    names: Vec<&'a str>,
    slices: bool,
    /// Whether the name of a test comes next.
    tests: bool,
    /// Whether what came before is something that can be multiplied.
    operand: bool,
    joins: usize,
}

#[derive(Clone, Copy, Default)]
struct Level {
    /// Where in `out` the left side of a multiplication would begin.
    product: usize,
    /// Whether a multiplication has to be closed.
    open: bool,
    /// Whether it is the one of a list, or of a part of one.
    is_list: bool,
}

impl<'a> Rewriting<'a> {
    fn new() -> Self {
        Self {
            out: Vec::new(),
            levels: vec![Level::default()],
            before: None,
            names: Vec::new(),
            slices: false,
            tests: false,
            operand: false,
            joins: 0,
        }
    }

    fn done(mut self) -> Scanned {
        self.close();
        Scanned {
            source: self.out.concat(),
            names: self.names.into_iter().map(str::to_owned).collect(),
            slices: self.slices,
            joins: self.joins,
        }
    }

    fn take(&mut self, token: Token<'a>) -> Result<(), Problem> {
        match token.kind {
            Kind::Word => self.word(token)?,
            Kind::Number | Kind::Text => self.push(token, true),
            Kind::Sign => self.sign(token),
        }
        self.before = Some(token);
        Ok(())
    }

    fn word(&mut self, token: Token<'a>) -> Result<(), Problem> {
        let before = self.before.map(|token| token.text);
        match (before, token.text) {
            (Some("|"), name) if !engine::is_filter(name) => {
                return Err(Problem(format!("there is no filter called `{name}`")));
            }
            // Names, whatever they look like.
            (Some("." | "|"), _) => self.push(token, true),
            (_, "is") => {
                self.tests = true;
                self.push(token, false);
            }
            (Some("is"), "not") => self.push(token, false),
            _ if std::mem::take(&mut self.tests) => self.push(token, true),
            (_, "and" | "or" | "not" | "in" | "if" | "else") => self.between(token),
            (_, "true" | "false" | "none" | "True" | "False" | "None") => self.push(token, true),
            (_, name) => {
                self.names.push(name);
                self.push(token, true);
            }
        }
        Ok(())
    }

    fn sign(&mut self, token: Token<'a>) {
        match token.text {
            "(" | "[" | "{" => {
                self.push(token, false);
                self.levels.push(Level {
                    product: self.out.len(),
                    open: false,
                    is_list: token.text == "[",
                });
            }
            ")" | "]" | "}" => {
                self.close();
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                self.push(token, true);
            }
            "*" if self.operand => self.product(),
            "/" | "//" | "%" => {
                self.close();
                self.push(token, false);
            }
            // A sign of the number that follows, a part of its name, or an operator that comes first.
            "." | "|" | "**" | "*" => self.push(token, false),
            "+" | "-" if !self.operand => self.push(token, false),
            _ => self.between(token),
        }
        match token.text {
            "~" | "+" => self.joins += 1,
            ":" => self.slices |= self.levels.last().is_some_and(|level| level.is_list),
            // What came before was the name of an argument.
            "=" => drop(self.names.pop()),
            _ => {}
        }
    }

    fn push(&mut self, token: Token<'a>, operand: bool) {
        self.out.extend([token.space, token.text]);
        self.operand = operand;
    }

    /// Something between two values that comes after any multiplication.
    fn between(&mut self, token: Token<'a>) {
        self.close();
        self.push(token, false);
        let end = self.out.len();
        if let Some(level) = self.levels.last_mut() {
            level.product = end;
        }
    }

    fn product(&mut self) {
        self.close();
        if let Some(level) = self.levels.last_mut() {
            self.out.insert(level.product, "(");
            self.out.insert(level.product, engine::TIMES);
            self.out.push(",");
            level.open = true;
        }
        self.operand = false;
    }

    fn close(&mut self) {
        if let Some(level) = self.levels.last_mut()
            && std::mem::take(&mut level.open)
        {
            self.out.push(")");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(source: &str) -> String {
        scan(source).unwrap().source.replace(engine::TIMES, "times")
    }

    #[test]
    fn what_is_multiplied_is_given_to_a_function_and_the_rest_stays() {
        for (source, expected) in [
            ("a + b", "a + b"),
            ("a * b", "times(a, b)"),
            ("a*b*c", "times(times(a,b),c)"),
            ("a / b * c % d", "times( a / b, c) % d"),
            ("a + b * c - d", "a +times( b, c) - d"),
            ("-a * -b", "times(-a, -b)"),
            ("a - -b * c", "a -times( -b, c)"),
            ("a ** b * c ** d", "times(a ** b, c ** d)"),
            (
                "(a + b) * c[d * e](f * g).if|list",
                "times((a + b), c[times(d, e)](times(f, g)).if|list)",
            ),
            (
                "not a * b < c * d and e",
                "not times( a, b) <times( c, d) and e",
            ),
            ("x is not odd * 2", "times(x is not odd, 2)"),
            ("x is in y", "x is in y"),
            ("a * b if c else d * e", "times(a, b) if c elsetimes( d, e)"),
            ("'a * b\\' *' ~ \"*\"", "'a * b\\' *' ~ \"*\""),
            ("1.5e-3 * 2", "times(1.5e-3, 2)"),
            ("f(*args, k=a * b)", "f(*args, k=times(a, b))"),
            ("[a, b * c]", "[a,times( b, c)]"),
        ] {
            let spaced = |text: &str| text.replace(' ', "");
            assert_eq!(spaced(&rewritten(source)), spaced(expected), "{source}");
        }
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let found =
            scan("a.b[c:] ~ 'd' ~ f(g, h=i)|map(attribute='j') is not k(true) and {'l': m}")
                .unwrap();
        let names: Vec<_> = found.names.iter().map(String::as_str).collect();
        assert_eq!(names, ["a", "c", "f", "g", "i", "m"]);
        assert!(found.slices);
        assert!(!scan("[a] ~ {'b': c}").unwrap().slices);
    }

    #[test]
    fn what_is_no_expression_does_no_harm() {
        for source in [
            "", "*", "* *", ")", "(((", "a * ", "'", "\"\\", "| * |", "é * ß", "1.", "1e-", "{{",
            "\u{0}",
        ] {
            drop(scan(source));
        }
    }
}
