//! Expressions and texts of a definition, made ready once and evaluated many times, with a budget.

use lockwork_core::workflow::{Value, Values};
use minijinja::{Environment, Expression, UndefinedBehavior, value::Serde};
use std::{collections::BTreeSet, fmt, sync::LazyLock};

/// The longest expression or text, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The longest expression in a text that may have `}}` in it, so that nobody reads a long one again and again.
const MAX_BYTES_INSIDE: usize = 1024;

/// What one evaluation may cost, in instructions of the engine. A loop over ten thousand items is well within.
const FUEL: u64 = 200_000;

/// Knows nothing but its own functions, so one will do for everybody.
static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(engine);

fn engine() -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_fuel(Some(FUEL));
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine
}

/// Why something cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem(pub(crate) String);

impl Problem {
    fn of(error: &minijinja::Error) -> Self {
        let detail = error.detail().map(|detail| format!(": {detail}"));
        Self(format!("{}{}", error.kind(), detail.unwrap_or_default()))
    }

    fn too_long() -> Self {
        Self(format!("an expression has at most {MAX_BYTES} bytes"))
    }
}

/// An expression or a text that is ready to be evaluated.
pub(crate) struct Ready {
    parts: Vec<Part>,
    /// A text is always a text; an expression is what it gives.
    is_text: bool,
    /// The names it asks for, but for those of the engine.
    names: BTreeSet<String>,
    /// The same with what they ask of them: `input.total`.
    paths: BTreeSet<String>,
}

enum Part {
    Plain(String),
    Expression(Box<Expression<'static, 'static>>),
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready")
            .field("is_text", &self.is_text)
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl Ready {
    /// The expression `source`.
    pub(crate) fn expression(source: &str) -> Result<Self, Problem> {
        Ok(Self::of(vec![expression(source)?], false))
    }

    /// The text `source`, in which `{{ expressions }}` stand.
    pub(crate) fn text(source: &str) -> Result<Self, Problem> {
        if source.len() > MAX_BYTES {
            return Err(Problem::too_long());
        }
        let (mut parts, mut rest) = (Vec::new(), source);
        while let Some((plain, after)) = rest.split_once("{{") {
            let (inside, after) = inside(after)?;
            parts.push(Part::Plain(plain.to_owned()));
            parts.push(inside);
            rest = after;
        }
        parts.push(Part::Plain(rest.to_owned()));
        Ok(Self::of(parts, true))
    }

    fn of(parts: Vec<Part>, is_text: bool) -> Self {
        let asked = |nested| -> BTreeSet<String> {
            let asked = parts.iter().flat_map(|part| match part {
                Part::Plain(_) => Default::default(),
                Part::Expression(expression) => expression.undeclared_variables(nested),
            });
            asked.filter(|name| !is_global(name)).collect()
        };
        Self {
            names: asked(false),
            paths: asked(true),
            parts,
            is_text,
        }
    }

    /// The names it asks for.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The names it asks for, with what it asks of them.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// What it gives, if these are the values of its names. What is missing in `known` is not defined.
    pub(crate) fn evaluate(&self, known: &Values) -> Result<Value, Problem> {
        let known = minijinja::Value::from(Serde(known));
        if let ([Part::Expression(expression)], false) = (self.parts.as_slice(), self.is_text) {
            let given = expression
                .eval(known)
                .map_err(|error| Problem::of(&error))?;
            return json(&given);
        }
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Plain(plain) => text.push_str(plain),
                Part::Expression(expression) => {
                    let given = expression.eval(known.clone());
                    let given = given.map_err(|error| Problem::of(&error))?;
                    text.push_str(&given.to_string());
                }
            }
        }
        Ok(text.into())
    }
}

/// The expression with which `text` begins, and what follows its end. An expression may have `}}` in it: it ends
/// with the first that leaves something that can be read.
fn inside(text: &str) -> Result<(Part, &str), Problem> {
    let mut problem = None;
    for (at, end) in text.match_indices("}}") {
        let (inside, after) = (text.get(..at), text.get(at + end.len()..));
        match expression(inside.unwrap_or_default()) {
            Ok(part) => return Ok((part, after.unwrap_or_default())),
            Err(why) => problem = problem.or(Some(why)),
        }
        if problem.is_some() && at > MAX_BYTES_INSIDE {
            break;
        }
    }
    let unended = || Problem("an expression in a text begins with {{ and ends with }}".to_owned());
    Err(problem.unwrap_or_else(unended))
}

fn is_global(name: &str) -> bool {
    ENGINE.globals().any(|(global, _)| global == name)
}

fn expression(source: &str) -> Result<Part, Problem> {
    if source.len() > MAX_BYTES {
        return Err(Problem::too_long());
    }
    let compiled = ENGINE.compile_expression_owned(source.to_owned());
    let compiled = compiled.map_err(|error| Problem::of(&error))?;
    Ok(Part::Expression(Box::new(compiled)))
}

fn json(given: &minijinja::Value) -> Result<Value, Problem> {
    if given.is_undefined() {
        return Err(Problem("it gives nothing that is defined".to_owned()));
    }
    serde_json::to_value(given).map_err(|error| Problem(format!("it gives no JSON: {error}")))
}
