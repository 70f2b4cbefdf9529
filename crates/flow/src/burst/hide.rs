//! Secrets stay out of whatever people see.

use super::Burst;
use crate::{
    activity::Step,
    graph::{Graph, Vertex},
    state::{Number, State, Work},
};
use lockwork_core::workflow::{NodeId, Value, Values};

/// What stands in the place of a secret.
pub const HIDDEN: &str = "(secret)";

impl Burst {
    /// `text` without the values that are secret now.
    pub(super) fn hide(&self, text: String) -> String {
        match self.graph.has_secrets() {
            false => text,
            true => without(text, &secrets(&self.graph, &self.state)),
        }
    }

    /// The outcome of an execution, unless a secret has decided it.
    pub(super) fn hide_way(&self, number: Number, outcome: &str) -> String {
        let told = self
            .vertex(number)
            .is_ok_and(|vertex| !vertex.tells.is_empty());
        match told && outcome != Step::DONE {
            true => HIDDEN.to_owned(),
            false => self.hide(outcome.to_owned()),
        }
    }
}

/// The state as others may see it: without the values that are secret, wherever they stand in it.
#[must_use]
pub fn shown(graph: &Graph, state: &State) -> State {
    if !graph.has_secrets() {
        return state.clone();
    }
    let secrets = secrets(graph, state);
    let mut shown = state.clone();
    blank(&mut shown.variables, |name| graph.is_secret(name));
    blank(&mut shown.input, |name| {
        graph.is_secret(&format!("input.{name}"))
    });
    blank(&mut shown.output, |name| {
        graph.is_secret(&format!("output.{name}"))
    });
    veil(graph, &mut shown);
    written_by_people(&mut shown, &mut |value| hide_in(value, &secrets));
    let texts = [&mut shown.correlation, &mut shown.name]
        .into_iter()
        .flatten();
    let failures = shown
        .incidents
        .iter_mut()
        .map(|incident| &mut incident.failure);
    let failures = failures.flat_map(|failure| [&mut failure.code, &mut failure.message]);
    texts
        .chain(failures)
        .for_each(|text| *text = without(std::mem::take(text), &secrets));
    shown
}

/// What is made of secrets, and what is to become one, does not look like one.
fn veil(graph: &Graph, state: &mut State) {
    let vertex = |node: &NodeId| graph.find(node).ok().and_then(|at| graph.vertex(at));
    let takes = |vertex: &Vertex| {
        vertex
            .into
            .as_ref()
            .is_some_and(|into| graph.is_secret(into))
    };
    let all = |values: &mut Values| blank(values, |_| true);
    for work in &mut state.queue {
        let context = state.contexts.get(&work.execution());
        let taken = context
            .and_then(|context| vertex(&context.node))
            .is_some_and(takes);
        if let (true, Work::Resume { input, .. }) = (taken, work) {
            all(input);
        }
    }
    let trigger = state.trigger.as_mut();
    let trigger = trigger.filter(|trigger| vertex(&trigger.node).is_some_and(takes));
    trigger
        .into_iter()
        .for_each(|trigger| all(&mut trigger.input));
    for context in state.contexts.values_mut() {
        let Some(vertex) = vertex(&context.node) else {
            continue;
        };
        if !vertex.tells.is_empty() && !context.data.is_null() {
            context.data = HIDDEN.into();
        }
        blank(&mut context.scope, |name| vertex.hidden.contains(name));
    }
}

/// Each value in a state that came from an author or a user. Ids and words of the engine are none of them.
fn written_by_people(state: &mut State, see: &mut impl FnMut(&mut Value)) {
    let State {
        variables,
        input,
        output,
        contexts,
        trigger,
        queue,
        bookmarks,
        ..
    } = state;
    let mut all = |values: &mut Values| values.values_mut().for_each(&mut *see);
    [variables, input, output].into_iter().for_each(&mut all);
    trigger
        .iter_mut()
        .for_each(|trigger| all(&mut trigger.input));
    for work in queue {
        if let Work::Resume { input, .. } = work {
            all(input);
        }
    }
    for context in contexts.values_mut() {
        context.scope.values_mut().for_each(&mut *see);
        see(&mut context.data);
        see(&mut context.tag);
    }
    bookmarks
        .iter_mut()
        .for_each(|bookmark| see(&mut bookmark.payload));
}

fn blank(values: &mut Values, is_secret: impl Fn(&str) -> bool) {
    let secret = values.iter_mut().filter(|(name, _)| is_secret(name));
    secret.for_each(|(_, value)| *value = Value::Null);
}

/// The texts in values that are secret now, the longest first.
fn secrets(graph: &Graph, state: &State) -> Vec<String> {
    let mut texts = Vec::new();
    let of = [
        ("", &state.variables),
        ("input.", &state.input),
        ("output.", &state.output),
    ];
    for (prefix, values) in of {
        let secret = values
            .iter()
            .filter(|(name, _)| graph.is_secret(&format!("{prefix}{name}")));
        secret.for_each(|(_, value)| texts_in(value, &mut texts));
    }
    texts.sort_unstable_by_key(|text| std::cmp::Reverse(text.len()));
    texts.dedup();
    texts
}

fn texts_in(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.is_empty() => {
            // As it stands in JSON, too.
            let escaped = Value::from(text.as_str()).to_string();
            let escaped = escaped.get(1..escaped.len() - 1).unwrap_or_default();
            texts.extend((escaped != text).then(|| escaped.to_owned()));
            texts.push(text.clone());
        }
        // A short number is everywhere: to hide it would hide the rest.
        Value::Number(number) if number.to_string().len() > 3 => texts.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| texts_in(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| texts_in(value, texts)),
        Value::String(_) | Value::Number(_) | Value::Null | Value::Bool(_) => {}
    }
}

fn without(text: String, secrets: &[String]) -> String {
    let found = secrets
        .iter()
        .filter(|secret| text.contains(secret.as_str()));
    let found: Vec<_> = found.collect();
    found
        .into_iter()
        .fold(text, |text, secret| text.replace(secret.as_str(), HIDDEN))
}

fn hide_in(json: &mut Value, secrets: &[String]) {
    match json {
        Value::String(text) => *text = without(std::mem::take(text), secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_in(item, secrets)),
        Value::Object(fields) => {
            let hidden = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                hide_in(&mut value, secrets);
                (without(key, secrets), value)
            });
            *fields = hidden.collect();
        }
        Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}
