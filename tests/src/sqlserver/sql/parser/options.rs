//! SET: variables and settings.

use super::Parser;
use crate::sqlserver::sql::{
    Message,
    ast::{Kind, Switch},
    lexer,
};

/// Settings that are on or off and change nothing that this server does.
const IGNORED: [&str; 15] = [
    "ANSI_NULLS",
    "ANSI_NULL_DFLT_ON",
    "ANSI_PADDING",
    "ANSI_WARNINGS",
    "ANSI_DEFAULTS",
    "ARITHABORT",
    "ARITHIGNORE",
    "CONCAT_NULL_YIELDS_NULL",
    "CURSOR_CLOSE_ON_COMMIT",
    "FMTONLY",
    "IMPLICIT_TRANSACTIONS",
    "NOEXEC",
    "NUMERIC_ROUNDABORT",
    "QUOTED_IDENTIFIER",
    "REMOTE_PROC_TRANSACTIONS",
];

impl Parser {
    pub(super) fn set(&mut self) -> Result<Kind, Message> {
        self.bump();
        if matches!(self.peek(), lexer::Kind::Variable(_)) {
            return self.assign();
        }
        if self.accept("LOCK_TIMEOUT") {
            return Ok(Kind::LockTimeout(self.expression()?));
        }
        if self.accept("DEADLOCK_PRIORITY") {
            return self.deadlock_priority();
        }
        if self.accept_all(&["TRANSACTION", "ISOLATION", "LEVEL"]) {
            return self.isolation();
        }
        if self.accept("NOCOUNT") {
            return Ok(Kind::Switch(Switch::NoCount, self.on_or_off()?));
        }
        if self.accept("XACT_ABORT") {
            return Ok(Kind::Switch(Switch::XactAbort, self.on_or_off()?));
        }
        if self.accept("TEXTSIZE") || self.accept("ROWCOUNT") || self.accept("DATEFIRST") {
            self.whole()?;
            return Ok(Kind::Nothing);
        }
        if self.accept("LANGUAGE") || self.accept("DATEFORMAT") {
            self.name()?;
            return Ok(Kind::Nothing);
        }
        let mut one = false;
        loop {
            let known = IGNORED.iter().any(|name| self.accept(name));
            if !known {
                return Err(self.unknown_setting(one));
            }
            one = true;
            if !self.accept_symbol(",") {
                self.on_or_off()?;
                return Ok(Kind::Nothing);
            }
        }
    }

    fn unknown_setting(&self, after_comma: bool) -> Message {
        match self.peek() {
            lexer::Kind::Word(word) if !after_comma => {
                let text = format!("'{word}' is not a recognized SET option.");
                Message::new(195, 15, 7, text).at(self.line())
            }
            _ => self.unexpected(),
        }
    }

    fn on_or_off(&mut self) -> Result<bool, Message> {
        match self.accept("ON") {
            true => Ok(true),
            false => self.expect("OFF").map(|()| false),
        }
    }

    fn deadlock_priority(&mut self) -> Result<Kind, Message> {
        let named = [("LOW", -5), ("NORMAL", 0), ("HIGH", 5)];
        for (name, priority) in named {
            if self.accept(name) {
                return Ok(Kind::DeadlockPriority(priority));
            }
        }
        let priority = self.whole()?;
        match (-10..=10).contains(&priority) {
            true => Ok(Kind::DeadlockPriority(priority)),
            false => Err(Message::syntax(&priority.to_string()).at(self.line())),
        }
    }

    fn isolation(&mut self) -> Result<Kind, Message> {
        let levels: [&[&str]; 5] = [
            &["READ", "UNCOMMITTED"],
            &["READ", "COMMITTED"],
            &["REPEATABLE", "READ"],
            &["SNAPSHOT"],
            &["SERIALIZABLE"],
        ];
        match levels.iter().any(|level| self.accept_all(level)) {
            true => Ok(Kind::Nothing),
            false => Err(self.unexpected()),
        }
    }
}
