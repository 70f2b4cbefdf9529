//! Expressions and texts of a definition, made ready once and evaluated many times, with a budget.

mod engine;
mod tokens;

pub(crate) use engine::MAX_DEPTH;

use crate::burst::weight;
use engine::{ENGINE, MAX_SIZE, TIMES};
use lockwork_core::workflow::{Value, Values};
use minijinja::{Expression, value::Serde};
use std::{collections::BTreeSet, fmt};
use tokens::Scanned;

/// The longest expression or text, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The longest expression in a text that may have `}}` in it, so that nobody reads a long one again and again.
const MAX_BYTES_INSIDE: usize = 1024;

/// What values may take together, in bytes, if each stands wherever an expression joins two of them.
const MAX_JOINED: usize = 32 << 20;

/// Why something cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem(pub(crate) String);

impl Problem {
    fn of(error: &minijinja::Error) -> Self {
        let detail = error.detail().map(|detail| format!(": {detail}"));
        Self(format!("{}{}", error.kind(), detail.unwrap_or_default()))
    }

    fn too_large() -> Self {
        Self("what it gives is too large: keep it elsewhere, or take a part of it".to_owned())
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
    /// The names it asks for.
    names: BTreeSet<String>,
    /// The same with what they ask of them: `input.total`.
    paths: BTreeSet<String>,
}

enum Part {
    Plain(String),
    Expression {
        ready: Box<Expression<'static, 'static>>,
        scanned: Scanned,
    },
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
                Part::Expression { ready, scanned } => {
                    let mut asked = ready.undeclared_variables(nested);
                    // The engine does not see those of which a part is taken.
                    if !nested || scanned.slices {
                        asked.extend(scanned.names.iter().cloned());
                    }
                    asked
                }
            });
            asked.filter(|name| name != TIMES).collect()
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
        // Each that is joined to others is copied for each of them.
        let (size, values) = (
            known.values().map(weight).sum::<usize>(),
            minijinja::Value::from(Serde(known)),
        );
        if let ([part @ Part::Expression { .. }], false) = (self.parts.as_slice(), self.is_text) {
            return json(&part.evaluate(size, &values)?);
        }
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Plain(plain) => text.push_str(plain),
                Part::Expression { .. } => {
                    text.push_str(&part.evaluate(size, &values)?.to_string());
                }
            }
            if text.len() > MAX_SIZE {
                return Err(Problem::too_large());
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
        if at > MAX_BYTES_INSIDE {
            break;
        }
    }
    let unended = || Problem("an expression in a text begins with {{ and ends with }}".to_owned());
    Err(problem.unwrap_or_else(unended))
}

impl Part {
    fn evaluate(&self, size: usize, known: &minijinja::Value) -> Result<minijinja::Value, Problem> {
        let Self::Expression { ready, scanned } = self else {
            return Ok(minijinja::Value::UNDEFINED);
        };
        if size.saturating_mul(scanned.joins + 1) > MAX_JOINED {
            return Err(Problem::too_large());
        }
        let given = ready.eval(known.clone());
        let given = given.map_err(|error| Problem::of(&error))?;
        engine::fits(&given).map_err(|error| Problem::of(&error))?;
        Ok(given)
    }
}

/// Whether expressions know `name` by themselves.
pub(crate) fn is_global(name: &str) -> bool {
    ENGINE.globals().any(|(global, _)| global == name)
}

fn expression(source: &str) -> Result<Part, Problem> {
    if source.len() > MAX_BYTES {
        return Err(Problem::too_long());
    }
    let scanned = tokens::scan(source)?;
    let compiled = ENGINE.compile_expression_owned(scanned.source.clone());
    let compiled = compiled.map_err(|error| Problem::of(&error))?;
    Ok(Part::Expression {
        ready: Box::new(compiled),
        scanned,
    })
}

fn json(given: &minijinja::Value) -> Result<Value, Problem> {
    if given.is_undefined() {
        return Err(Problem("it gives nothing that is defined".to_owned()));
    }
    serde_json::to_value(given).map_err(|error| Problem(format!("it gives no JSON: {error}")))
}
