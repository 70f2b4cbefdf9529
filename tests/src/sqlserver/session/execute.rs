//! Calls of procedures from a batch, and of text.

use super::{
    Session, Stop,
    procedures::{Given, Outputs},
    run::Flow,
    variables::Scope,
};
use crate::sqlserver::{
    sql::{
        Message,
        ast::{Argument, Expr, Name},
        parse, parse_parameters,
        value::Value,
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
        let Some(text) = text else {
            let text = "Procedure or function 'sp_executesql' expects parameter '@statement', which \
                        was not supplied.";
            return Err(Message::new(201, 16, 10, text).into());
        };
        if !text.is_null() && !matches!(text.kind, crate::sqlserver::sql::value::Type::NVarChar(_))
        {
            let text = "Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.";
            return Err(Message::new(214, 16, 2, text).into());
        }
        let declared = given
            .next()
            .and_then(|(_, it)| it.value)
            .and_then(|it| it.to_text());
        let declared = parse_parameters(&declared.unwrap_or_default())?;
        let mut scope = Scope::default();
        let mut outputs = Vec::new();
        for (name, kind, _) in &declared {
            scope.declare(name, *kind);
        }
        let mut values = Vec::new();
        for (number, (place, it)) in given.enumerate() {
            let name = it
                .name
                .clone()
                .or_else(|| declared.get(number).map(|it| it.0.clone()));
            let found = declared
                .iter()
                .find(|(other, ..)| Some(other) == name.as_ref());
            let Some((name, kind, _)) = found else {
                return Err(too_many("").into());
            };
            if it.output {
                outputs.push((place, name.clone()));
            }
            values.push((
                name.clone(),
                it.value.unwrap_or(Value::null(*kind)).convert(*kind)?,
            ));
        }
        if let Some((name, ..)) = declared
            .iter()
            .find(|(name, ..)| !values.iter().any(|(it, _)| it == name))
        {
            let list: Vec<&str> = declared.iter().map(|it| it.0.as_str()).collect();
            let text = format!(
                "The parameterized query '({}){}' expects the parameter '{name}', which was not \
                 supplied.",
                list.join(","),
                text.to_text().unwrap_or_default()
            );
            return Err(Message::new(8178, 16, 1, text).into());
        }
        let names: Vec<String> = declared.iter().map(|it| it.0.clone()).collect();
        let text = text.to_text().unwrap_or_default();
        scope.fill(values);
        let (status, scope) = self.nested(&text, scope, &names).await?;
        let outputs = outputs
            .into_iter()
            .filter_map(|(place, name)| Some((place, scope.get(&name)?.clone())));
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

pub(super) fn too_many(procedure: &str) -> Message {
    let text = format!("Procedure or function {procedure} has too many arguments specified.");
    Message::new(8144, 16, 2, text)
}
