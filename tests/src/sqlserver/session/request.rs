//! What a client asks for, from the message to the end of the answer.

use super::{Session, Stop, procedures::Given, variables::Scope};
use crate::sqlserver::{
    sql::{Message, ast::Name, parse},
    wire::{
        request::{Call, Parameter, Procedure, Transaction},
        tokens::{Done, ERROR, MORE},
    },
};

/// What becomes of the connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Stays,
    Closes,
    /// The request ended because the client said so.
    Cancelled,
}

impl Session {
    fn start(&mut self) {
        self.scopes = vec![Scope::default()];
        self.caught.clear();
        self.tries = 0;
        self.depth = 0;
    }

    /// Runs a batch.
    pub(crate) async fn batch(&mut self, text: &str) -> Outcome {
        self.start();
        let outcome = match parse(text, &[]) {
            Ok(statements) => self.run_all(&statements).await.map(|_| ()),
            Err(message) => Err(message.into()),
        };
        self.depth = 0;
        let outcome = self.ended(outcome);
        self.out.finish();
        outcome
    }

    /// Calls procedures, one after the other.
    pub(crate) async fn calls(&mut self, calls: Vec<Call>) -> Outcome {
        let last = calls.len().saturating_sub(1);
        for (number, call) in calls.into_iter().enumerate() {
            let more = if number < last { MORE } else { 0 };
            let outcome = self.call_remotely(call, more).await;
            if outcome != Outcome::Stays {
                return outcome;
            }
        }
        Outcome::Stays
    }

    async fn call_remotely(&mut self, call: Call, more: u16) -> Outcome {
        self.start();
        let name = match call.procedure {
            Procedure::Number(10) => "sp_executesql".into(),
            Procedure::Number(number) => format!("sp_procedure_{number}"),
            Procedure::Name(name) => name,
        };
        let names: Vec<String> = call.parameters.iter().map(|it| it.name.clone()).collect();
        let given = call.parameters.into_iter().map(given).collect();
        // What runs in it is in a procedure, so its statements end as such.
        self.depth = 1;
        let called = match procedure_name(&name) {
            Some(procedure) => self.call_procedure(&procedure, given).await,
            None => Err(Message::no_procedure(&name).into()),
        };
        self.depth = 0;
        let failed = called.is_err();
        let outcome = match called {
            Ok((status, outputs)) => {
                let outcome = self.ended(Ok(()));
                self.out.return_status(status);
                for (place, value) in outputs {
                    self.out.return_value(place, &names[place], &value);
                }
                outcome
            }
            Err(stop) => self.ended(Err(stop)),
        };
        let flags = more | if failed { ERROR } else { 0 };
        self.out.done(Done::Procedure, flags, 0xe0, 0);
        outcome
    }

    /// What is left to say at the end of a batch.
    fn ended(&mut self, outcome: Result<(), Stop>) -> Outcome {
        let message = match outcome {
            Ok(()) => {
                self.check_doomed();
                return Outcome::Stays;
            }
            Err(Stop::Over) => return Outcome::Closes,
            Err(Stop::Cancelled) => return Outcome::Cancelled,
            Err(Stop::Error(message)) => message,
        };
        self.last_error = message.number;
        self.say(&message);
        // Errors that end a batch take its transaction with them, those of its text do not.
        let aborts = message.class != 15 && !message.raised;
        if (self.xact_abort && aborts) || matches!(message.number, 245 | 241 | 248 | 529 | 8114) {
            self.abandon_transaction();
        }
        self.failed();
        match message.class >= 20 {
            true => Outcome::Closes,
            false => Outcome::Stays,
        }
    }

    fn check_doomed(&mut self) {
        if self.transaction_state() == -1 {
            let text = "Uncommittable transaction is detected at the end of the batch. The \
                        transaction is rolled back.";
            self.say(&Message::new(3998, 16, 1, text));
            self.abandon_transaction();
            self.failed();
        }
    }

    /// A request about the transaction.
    pub(crate) fn transact(&mut self, request: &Transaction) -> Outcome {
        self.start();
        let (outcome, again) = match request {
            Transaction::Begin => {
                self.begin();
                (Ok(()), false)
            }
            Transaction::Commit { again } => (self.commit(), *again),
            Transaction::Rollback { name, again } => {
                let name = Some(name.as_str()).filter(|name| !name.is_empty());
                (self.rollback(name), *again)
            }
            Transaction::Save { name } => (self.save(name), false),
        };
        if outcome.is_ok() && again {
            self.begin();
        }
        let outcome = self.ended(outcome);
        self.out.finish();
        outcome
    }

    /// As a new session, but for who and where it is: what the header of a request may ask for.
    pub(crate) fn reset(&mut self, keeps_transaction: bool) {
        if !keeps_transaction {
            self.abandon_transaction();
        }
        let id = self.id;
        let own = |owner: crate::sqlserver::locks::Owner| {
            owner.session == id && owner.transaction.is_none()
        };
        self.state().locks.release_all(own);
        while !self.earlier.is_empty() {
            self.revert();
        }
        self.no_count = false;
        self.xact_abort = false;
        self.lock_timeout = -1;
        self.deadlock_priority = 0;
        self.out.reset();
    }
}

fn given(parameter: Parameter) -> Given {
    let name = parameter.name.to_lowercase();
    Given {
        name: Some(name).filter(|name| !name.is_empty()),
        value: (!parameter.default).then_some(parameter.value),
        output: parameter.by_reference,
    }
}

/// A name as a client writes it in a call.
fn procedure_name(text: &str) -> Option<Name> {
    let parts: Vec<String> = text
        .split('.')
        .map(|part| part.trim_matches(['[', ']', '"']).to_owned())
        .collect();
    let known = (1..=4).contains(&parts.len()) && parts.last().is_some_and(|it| !it.is_empty());
    known.then_some(Name { parts })
}
