//! Running statements.

use super::{Session, Stop};
use crate::sqlserver::sql::{
    Message,
    ast::{Cond, Kind, Statement, Switch},
    time,
};
use std::{future::Future, pin::Pin, time::Duration};

/// Where to go after a statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    Return(i32),
}

pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Result<Flow, Stop>> + Send + 'a>>;

/// `curcmd` of what is told apart by nobody.
pub(super) const SELECT: u16 = 0xc1;

impl Session {
    /// Runs statements. One that fails is told of here, unless it ends the batch.
    pub(super) fn run_all<'a>(&'a mut self, statements: &'a [Statement]) -> Running<'a> {
        Box::pin(async move {
            for statement in statements {
                match self.run(statement).await {
                    Ok(Flow::Next) => {}
                    Err(Stop::Error(message)) => {
                        let message = message.at(statement.line);
                        self.last_error = message.number;
                        let aborts = self.xact_abort && !message.raised;
                        if self.tries > 0 || aborts || message.ends_batch() {
                            return Err(Stop::Error(message));
                        }
                        self.say(&message);
                        self.failed();
                    }
                    other => return other,
                }
            }
            Ok(Flow::Next)
        })
    }

    async fn run(&mut self, statement: &Statement) -> Result<Flow, Stop> {
        match &statement.kind {
            Kind::If(cond, then, otherwise) => {
                if self.holds(cond, None)? == Some(true) {
                    return self.run_all(std::slice::from_ref(then)).await;
                }
                match otherwise {
                    Some(otherwise) => self.run_all(std::slice::from_ref(otherwise)).await,
                    None => Ok(Flow::Next),
                }
            }
            Kind::Block(body) => self.run_all(body).await,
            Kind::While(cond, body) => self.repeat(cond, body).await,
            Kind::Break => Ok(Flow::Break),
            Kind::Continue => Ok(Flow::Continue),
            Kind::Return(value) => {
                let status = value
                    .as_ref()
                    .map(|value| self.eval(value, None)?.integer());
                let status = status.transpose()?.flatten().unwrap_or(0);
                Ok(Flow::Return(i32::try_from(status).unwrap_or(0)))
            }
            Kind::Try(body, handler) => self.attempt(body, handler).await,
            Kind::Execute {
                status,
                procedure,
                arguments,
            } => {
                self.execute(status.as_deref(), procedure, arguments)
                    .await?;
                self.last_error = 0;
                Ok(Flow::Next)
            }
            Kind::ExecuteText(text) => {
                let text = self.eval(text, None)?.to_text().unwrap_or_default();
                self.execute_text(&text).await?;
                Ok(Flow::Next)
            }
            Kind::Wait(delay) => {
                self.wait(delay).await?;
                self.last_error = 0;
                Ok(Flow::Next)
            }
            kind => {
                self.run_plain(kind)?;
                self.last_error = 0;
                Ok(Flow::Next)
            }
        }
    }

    /// A statement that neither waits nor has others in it.
    fn run_plain(&mut self, kind: &Kind) -> Result<(), Stop> {
        match kind {
            Kind::Declare(variables) => {
                for (name, kind, value) in variables {
                    self.declare(name, *kind);
                    if let Some(value) = value {
                        let value = self.eval(value, None)?;
                        self.assign(name, &value)?;
                    }
                }
            }
            Kind::Set(name, value) => {
                let value = self.eval(value, None)?;
                self.assign(name, &value)?;
                self.row_count = 1;
            }
            Kind::Switch(Switch::NoCount, on) => self.no_count = *on,
            Kind::Switch(Switch::XactAbort, on) => self.xact_abort = *on,
            Kind::LockTimeout(value) => {
                let value = self.eval(value, None)?.integer()?.unwrap_or(-1);
                self.lock_timeout = value.max(-1);
            }
            Kind::DeadlockPriority(priority) => self.deadlock_priority = *priority,
            Kind::Select(select) => self.select(select)?,
            Kind::Throw(parts) => self.throw(parts.as_ref())?,
            Kind::RaiseError(text, class, state, arguments) => {
                self.raise_error(text, class, state, arguments)?;
            }
            Kind::Print(text) => {
                let text = self.eval(text, None)?.to_text();
                self.say(&Message::new(0, 0, 1, text.unwrap_or_else(|| " ".into())).at(1));
                self.row_count = 0;
            }
            Kind::BeginTransaction => self.begin(),
            Kind::Commit => self.commit()?,
            Kind::Rollback(name) => self.rollback(name.as_deref())?,
            Kind::Save(name) => self.save(name)?,
            Kind::Use(name) => self.use_database(name)?,
            Kind::Kill(session) => self.kill(*session)?,
            Kind::Shutdown => self.shutdown()?,
            Kind::ExecuteAs(name, login) => self.execute_as(name, *login)?,
            Kind::Revert => self.revert(),
            Kind::Define(definition) => self.define(definition)?,
            Kind::Table(statement) => self.change_table(statement)?,
            _ => {}
        }
        Ok(())
    }

    async fn repeat(&mut self, cond: &Cond, body: &Statement) -> Result<Flow, Stop> {
        while self.holds(cond, None)? == Some(true) {
            match self.run_all(std::slice::from_ref(body)).await? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                Flow::Return(status) => return Ok(Flow::Return(status)),
            }
            // A loop without an end must not be one for the whole server.
            tokio::task::yield_now().await;
        }
        Ok(Flow::Next)
    }

    async fn attempt(&mut self, body: &[Statement], handler: &[Statement]) -> Result<Flow, Stop> {
        let (depth, scopes) = (self.depth, self.scopes.len());
        self.tries += 1;
        let outcome = self.run_all(body).await;
        self.tries -= 1;
        let message = match outcome {
            // What closes a connection cannot be caught.
            Err(Stop::Error(message)) if message.class < 20 => message,
            other => return other,
        };
        self.depth = depth;
        self.scopes.truncate(scopes);
        if self.xact_abort {
            self.doom();
        }
        self.caught.push(message);
        let outcome = self.run_all(handler).await;
        self.caught.pop();
        outcome
    }

    async fn wait(&mut self, delay: &crate::sqlserver::sql::ast::Expr) -> Result<(), Stop> {
        if self.is_babelfish() {
            let text = "'WAITFOR' is not currently supported in Babelfish";
            return Err(Message::new(33557, 16, 1, text).into());
        }
        let text = self.eval(delay, None)?.to_text().unwrap_or_default();
        let ticks = time::clock(text.trim()).or_else(|| {
            let moment = time::parse(&text)?;
            Some(moment.rem_euclid(time::DAY))
        });
        let Some(ticks) = ticks else {
            let text = format!("Incorrect time syntax in time string '{text}' used with WAITFOR.");
            return Err(Message::new(148, 15, 1, text).into());
        };
        let waiting = self.waits_for("WAITFOR");
        tokio::time::sleep(Duration::from_micros(ticks.unsigned_abs() / 10)).await;
        drop(waiting);
        Ok(())
    }
}
