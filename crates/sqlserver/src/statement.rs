//! The texts: T-SQL for what rides in one round trip.
//!
//! Names and numbers are parameters, so that a text depends on nothing but what is done, and the
//! server compiles each once. The first parameter is always the principal.

use crate::keys::Key;
use lockwork_core::lock::Mode;
use std::{borrow::Cow, fmt::Write as _};
use tiberius::ToSql;

/// What the server says to one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// What `sp_getapplock` or `sp_releaseapplock` returned.
    pub(crate) code: i32,
    /// The token; of a permit its number.
    pub(crate) number: Option<i64>,
}

/// A parameter.
#[derive(Debug)]
enum Value {
    Text(String),
    Number(i64),
}

/// What rides in one round trip.
#[derive(Debug)]
pub(crate) struct Statement {
    text: String,
    values: Vec<Value>,
    things: usize,
    has_loop: bool,
    /// Where tokens come from, as it stands in a text.
    sequence: Option<String>,
}

/// How a lock is asked for in this mode.
pub(crate) const fn mode_text(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "Shared",
        Mode::Upgradeable => "Update",
        _ => "Exclusive",
    }
}

impl Statement {
    pub(crate) fn new(principal: &str, sequence: Option<&str>) -> Self {
        Self {
            text: String::new(),
            values: vec![Value::Text(principal.to_owned())],
            things: 0,
            has_loop: false,
            sequence: sequence.map(str::to_owned),
        }
    }

    /// How many things are said something to.
    pub(crate) const fn things(&self) -> usize {
        self.things
    }

    /// The whole text: every thing has a code and a number, which come back in one row behind the
    /// number of the session.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let declared = (0..self.things).map(|n| format!("@r{n} int, @t{n} bigint"));
        let mut declared: Vec<_> = declared.collect();
        if self.has_loop {
            declared.push("@i bigint, @left bigint, @slot nvarchar(255)".to_owned());
        }
        if !declared.is_empty() {
            let _ = writeln!(text, "DECLARE {};", declared.join(", "));
        }
        text.push_str(&self.text);
        text.push_str("SELECT CONVERT(int, @@SPID)");
        for n in 0..self.things {
            let _ = write!(text, ", @r{n}, @t{n}");
        }
        text.push(';');
        text
    }

    pub(crate) fn parameters(&self) -> Vec<&dyn ToSql> {
        let each = self.values.iter();
        each.map(|value| match value {
            Value::Text(text) => text as &dyn ToSql,
            Value::Number(number) => number as &dyn ToSql,
        })
        .collect()
    }

    /// Tries once.
    pub(crate) fn take(&mut self, resource: &str, mode: Mode) {
        self.wait(resource, mode, Cow::Borrowed("0"));
    }

    /// Waits for so many milliseconds.
    pub(crate) fn take_within(&mut self, resource: &str, mode: Mode, milliseconds: i64) {
        let timeout = self.value(Value::Number(milliseconds));
        self.wait(resource, mode, timeout.into());
    }

    fn wait(&mut self, resource: &str, mode: Mode, timeout: Cow<'_, str>) {
        let n = self.next();
        let resource = self.value(Value::Text(resource.to_owned()));
        let mode = mode_text(mode);
        let _ = writeln!(
            self.text,
            "EXEC @r{n} = sp_getapplock @Resource = {resource}, @LockMode = '{mode}', \
             @LockOwner = 'Session', @LockTimeout = {timeout}, @DbPrincipal = @P1;"
        );
        if let Some(sequence) = &self.sequence {
            let _ = writeln!(
                self.text,
                "IF @r{n} >= 0 SET @t{n} = NEXT VALUE FOR {sequence};"
            );
        }
    }

    /// Tries for one of `of` permits, from number `start` on, of those that this session has not.
    pub(crate) fn take_permit(&mut self, key: &Key, start: i64, of: i64) {
        self.has_loop = true;
        let n = self.next();
        let resource = self.value(Value::Text(format!("{}#", key.resource())));
        let start = self.value(Value::Number(start));
        let of = self.value(Value::Number(of));
        let _ = writeln!(
            self.text,
            "SELECT @i = {start}, @left = {of}, @r{n} = -1;\n\
             WHILE @left > 0 AND @r{n} < 0\n\
             BEGIN\n\
             SET @slot = {resource} + CONVERT(nvarchar(20), @i);\n\
             IF APPLOCK_MODE(@P1, @slot, 'Session') = 'NoLock'\n\
             EXEC @r{n} = sp_getapplock @Resource = @slot, @LockMode = 'Exclusive', \
             @LockOwner = 'Session', @LockTimeout = 0, @DbPrincipal = @P1;\n\
             IF @r{n} >= 0 SET @t{n} = @i ELSE SELECT @i = (@i + 1) % {of}, @left = @left - 1;\n\
             END;"
        );
    }

    /// Gives back once what must be held.
    pub(crate) fn give(&mut self, resource: &str) {
        let n = self.next();
        let resource = self.value(Value::Text(resource.to_owned()));
        let _ = writeln!(
            self.text,
            "IF APPLOCK_MODE(@P1, {resource}, 'Session') = 'NoLock' SET @r{n} = -999 ELSE\n\
             EXEC @r{n} = sp_releaseapplock @Resource = {resource}, @LockOwner = 'Session', \
             @DbPrincipal = @P1;"
        );
    }

    /// Gives back whatever is held, as often as it is held.
    pub(crate) fn drop_all(&mut self, resource: &str) {
        let n = self.next();
        let resource = self.value(Value::Text(resource.to_owned()));
        let _ = writeln!(
            self.text,
            "WHILE APPLOCK_MODE(@P1, {resource}, 'Session') <> 'NoLock'\n\
             EXEC @r{n} = sp_releaseapplock @Resource = {resource}, @LockOwner = 'Session', \
             @DbPrincipal = @P1;"
        );
    }

    /// Gives back the upgrade of an upgradeable reader, if it has one.
    pub(crate) fn drop_upgrade(&mut self, resource: &str) {
        let n = self.next();
        let resource = self.value(Value::Text(resource.to_owned()));
        let _ = writeln!(
            self.text,
            "IF APPLOCK_MODE(@P1, {resource}, 'Session') = 'Exclusive'\n\
             EXEC @r{n} = sp_releaseapplock @Resource = {resource}, @LockOwner = 'Session', \
             @DbPrincipal = @P1;"
        );
    }

    /// Gives back all permits that this session has, but for `mine`.
    pub(crate) fn drop_permits(&mut self, key: &Key, of: i64, mine: &[i64]) {
        self.has_loop = true;
        let n = self.next();
        let resource = self.value(Value::Text(format!("{}#", key.resource())));
        let of = self.value(Value::Number(of));
        let mine: String = mine.iter().map(|number| format!("{number},")).collect();
        let mine = self.value(Value::Text(format!(",{mine}")));
        let _ = writeln!(
            self.text,
            "SET @i = 0;\n\
             WHILE @i < {of}\n\
             BEGIN\n\
             SET @slot = {resource} + CONVERT(nvarchar(20), @i);\n\
             IF CHARINDEX(',' + CONVERT(nvarchar(20), @i) + ',', {mine}) = 0\n\
             AND APPLOCK_MODE(@P1, @slot, 'Session') <> 'NoLock'\n\
             EXEC @r{n} = sp_releaseapplock @Resource = @slot, @LockOwner = 'Session', \
             @DbPrincipal = @P1;\n\
             SET @i = @i + 1;\n\
             END;"
        );
    }

    /// Asks whether it could be had now: the code is 1 or 0.
    pub(crate) fn test(&mut self, resource: &str, mode: Mode) {
        let n = self.next();
        let resource = self.value(Value::Text(resource.to_owned()));
        let mode = mode_text(mode);
        let _ = writeln!(
            self.text,
            "SET @r{n} = APPLOCK_TEST(@P1, {resource}, '{mode}', 'Session');"
        );
    }

    fn next(&mut self) -> usize {
        self.things += 1;
        self.things - 1
    }

    /// The name of a new parameter.
    fn value(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("@P{}", self.values.len())
    }
}
