//! Calls of procedures from a batch, and of text.

use super::{
    Session, Stop,
    procedures::{Given, Outputs, missing},
    run::Flow,
    variables::Scope,
};
use crate::sqlserver::{
    sql::{
        Declared, Message,
        ast::{Argument, Expr, Name},
        parse, parse_parameters,
        value::{Type, Value},
    },
    wire::tokens::{Done, MORE},
};

/// How deep procedures may call one another.
const DEEPEST: u32 = 32;

impl Session {
    pub(super) async fn execute(
        &mut self,
        status: Option<&str>,
        procedure: &Name,
        arguments: &[Argument],
    ) -> Result<(), Stop> {
        let given = arguments.iter().map(|argument| {
            let value = argument.value.as_ref().map(|it| self.eval(it, None));
            Ok(Given {
                name: argument.name.clone(),
                value: value.transpose()?,
                output: argument.output,
            })
        });
        let given = given.collect::<Result<Vec<_>, Message>>()?;
        let (returned, outputs) = self.call_procedure(procedure, given).await?;
        for (place, value) in outputs {
            if let Some(Expr::Variable(name)) = &arguments[place].value {
                self.assign(name, &value)?;
            }
        }
        if let Some(status) = status {
            self.assign(status, &Value::int(returned))?;
        }
        if self.depth == 0 {
            self.out.return_status(returned);
            self.out.done(Done::Procedure, MORE, 0xe0, 0);
        }
        Ok(())
    }

    /// EXEC('…'): a batch of its own.
    pub(super) async fn execute_text(&mut self, text: &str) -> Result<(), Stop> {
        self.nested(text, Scope::default(), &[]).await.map(|_| ())
    }

    /// `sp_executesql`, with its parameters after the text.
    pub(super) async fn execute_sql(&mut self, given: Vec<Given>) -> Result<(i32, Outputs), Stop> {
        let mut given = given.into_iter().enumerate();
        let text = given.next().and_then(|(_, it)| it.value);
        let text = text.ok_or_else(|| missing("sp_executesql", "@statement"))?;
        if !text.is_null() && !matches!(text.kind, Type::NVarChar(_)) {
            let text = "Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.";
            return Err(Message::new(214, 16, 2, text).into());
        }
        let text = text.to_text().unwrap_or_default();
        let list = given.next().and_then(|(_, it)| it.value);
        let list = list.and_then(|it| it.to_text()).unwrap_or_default();
        let bound = Bound::new(&parse_parameters(&list)?, given)?;
        if let Some(name) = &bound.missing {
            let text = format!(
                "The parameterized query '({list}){text}' expects the parameter '{name}', which was \
                 not supplied."
            );
            return Err(Message::new(8178, 16, 1, text).into());
        }
        let (status, scope) = self.nested(&text, bound.scope, &bound.names).await?;
        let outputs = bound.outputs.into_iter();
        let outputs = outputs.filter_map(|(place, name)| Some((place, scope.get(&name)?.clone())));
        Ok((status, outputs.collect()))
    }

    /// Runs a text with variables of its own; its status, and the variables afterwards.
    async fn nested(
        &mut self,
        text: &str,
        scope: Scope,
        declared: &[String],
    ) -> Result<(i32, Scope), Stop> {
        if self.depth >= DEEPEST {
            let text = "Maximum stored procedure, function, trigger, or view nesting level exceeded \
                        (limit 32).";
            return Err(Message::new(217, 16, 1, text).into());
        }
        let statements = parse(text, declared)?;
        self.scopes.push(scope);
        self.depth += 1;
        let (no_count, xact_abort) = (self.no_count, self.xact_abort);
        let outcome = self.run_all(&statements).await;
        // What was set inside holds inside.
        (self.no_count, self.xact_abort) = (no_count, xact_abort);
        self.depth -= 1;
        let scope = self.scopes.pop().unwrap_or_default();
        match outcome? {
            Flow::Return(status) => Ok((status, scope)),
            _ => Ok((0, scope)),
        }
    }
}

/// The parameters of a text, and what they were given.
#[derive(Default)]
struct Bound {
    names: Vec<String>,
    scope: Scope,
    /// Where a parameter's value goes afterwards, by the place of the argument.
    outputs: Vec<(usize, String)>,
    /// One that was given nothing.
    missing: Option<String>,
}

impl Bound {
    fn new(
        declared: &[Declared],
        given: impl Iterator<Item = (usize, Given)>,
    ) -> Result<Self, Message> {
        let mut bound = Self::default();
        for (name, kind, _) in declared {
            bound.scope.declare(name, *kind);
            bound.names.push(name.clone());
        }
        let mut open = bound.names.clone();
        for (number, (place, it)) in given.enumerate() {
            let name = it.name.or_else(|| bound.names.get(number).cloned());
            let found = declared
                .iter()
                .find(|(other, ..)| Some(other) == name.as_ref());
            let (name, kind, _) = found.ok_or_else(|| too_many(""))?;
            if it.output {
                bound.outputs.push((place, name.clone()));
            }
            let value = it.value.unwrap_or(Value::null(*kind)).convert(*kind)?;
            bound.scope.fill(name, value);
            open.retain(|other| other != name);
        }
        bound.missing = open.into_iter().next();
        Ok(bound)
    }
}

pub(super) fn too_many(procedure: &str) -> Message {
    let text = format!("Procedure or function {procedure} has too many arguments specified.");
    Message::new(8144, 16, 2, text)
}
