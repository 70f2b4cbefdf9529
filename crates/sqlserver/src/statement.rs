//! The texts: T-SQL for what rides in one round trip.
//!
//! Names and numbers are parameters, so that a text depends on nothing but what is done, and the
//! server compiles each once. The first parameter is always the principal.

use crate::keys::Key;
use lockwork_core::lock::{Mode, backend::session::Take};
use std::fmt::Write as _;
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

/// How a lock without a gate is asked for in this mode.
const fn mode_text(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "Shared",
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
    pub(crate) fn take(&mut self, take: &Take<Key>) {
        self.take_at_once(take, "0");
    }

    /// The same, waiting for a millisecond: who waits is told that it is busy by all servers.
    pub(crate) fn take_clearly(&mut self, take: &Take<Key>) {
        self.take_at_once(take, "1");
    }

    fn take_at_once(&mut self, take: &Take<Key>, time: &str) {
        let n = self.next();
        let resource = self.text_value(take.key.resource());
        match (take.key.gate(), take.mode) {
            (Some(gate), Mode::Upgradeable) => {
                let gate = self.text_value(gate);
                self.get(n, &gate, "Update", time);
            }
            (Some(gate), Mode::Read) => {
                let gate = self.text_value(gate);
                // A session that reads already would be let in before a writer that waits.
                let _ = writeln!(
                    self.text,
                    "IF APPLOCK_TEST(@P1, {gate}, 'Shared', 'Session') = 0 SET @r{n} = -1 ELSE"
                );
                self.get(n, &resource, "Shared", time);
            }
            (Some(gate), Mode::Write) if !take.upgrade => {
                let gate = self.text_value(gate);
                self.get(n, &gate, "Exclusive", time);
                self.get_behind(n, &gate, &resource, time);
            }
            (_, mode) => self.get(n, &resource, mode_text(mode), time),
        }
        self.token(n);
    }

    /// A further reader on a session that has the lock for others.
    pub(crate) fn read_beside(&mut self, key: &Key) {
        let n = self.next();
        let free = match key.gate() {
            None => "0".to_owned(),
            Some(gate) => {
                let gate = self.text_value(gate);
                format!("APPLOCK_TEST(@P1, {gate}, 'Shared', 'Session') - 1")
            }
        };
        let _ = writeln!(self.text, "SET @r{n} = {free};");
        self.token(n);
    }

    /// Waits for so many milliseconds.
    pub(crate) fn take_within(&mut self, take: &Take<Key>, milliseconds: i64) {
        let n = self.next();
        let resource = self.text_value(take.key.resource());
        let time = self.value(Value::Number(milliseconds));
        match (take.key.gate(), take.mode) {
            (Some(gate), Mode::Upgradeable) => {
                let gate = self.text_value(gate);
                self.get(n, &gate, "Update", &time);
            }
            (Some(gate), Mode::Write) => {
                let gate = self.text_value(gate);
                // Both together take no longer than was asked for.
                self.text
                    .push_str("DECLARE @began datetime2 = SYSUTCDATETIME(), @rest int;\n");
                self.get(n, &gate, "Exclusive", &time);
                let _ = writeln!(
                    self.text,
                    "SET @rest = {time} - DATEDIFF(MILLISECOND, @began, SYSUTCDATETIME());\n\
                     IF @rest < 0 SET @rest = 0;"
                );
                self.get_behind(n, &gate, &resource, "@rest");
            }
            (_, mode) => self.get(n, &resource, mode_text(mode), &time),
        }
        self.token(n);
    }

    fn get(&mut self, n: usize, resource: &str, mode: &str, time: &str) {
        let _ = writeln!(
            self.text,
            "EXEC @r{n} = sp_getapplock @Resource = {resource}, @LockMode = '{mode}', \
             @LockOwner = 'Session', @LockTimeout = {time}, @DbPrincipal = @P1;"
        );
    }

    /// The lock of a writer that has the gate, which it gives back if it does not get it.
    fn get_behind(&mut self, n: usize, gate: &str, resource: &str, time: &str) {
        let _ = writeln!(self.text, "IF @r{n} >= 0\nBEGIN");
        self.get(n, resource, "Exclusive", time);
        let _ = writeln!(
            self.text,
            "IF @r{n} < 0 EXEC sp_releaseapplock @Resource = {gate}, @LockOwner = 'Session', \
             @DbPrincipal = @P1;\nEND;"
        );
    }

    fn token(&mut self, n: usize) {
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
        let resource = self.text_value(resource);
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
        let resource = self.text_value(resource);
        let _ = writeln!(
            self.text,
            "WHILE APPLOCK_MODE(@P1, {resource}, 'Session') <> 'NoLock'\n\
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
    pub(crate) fn test(&mut self, take: &Take<Key>) {
        let n = self.next();
        let mode = mode_text(take.mode);
        let mut tests = Vec::new();
        if take.mode != Mode::Upgradeable || take.key.gate().is_none() {
            tests.push((take.key.resource(), mode));
        }
        match take.key.gate() {
            Some(gate) if take.mode == Mode::Upgradeable => tests.push((gate, "Update")),
            Some(gate) if !take.upgrade => tests.push((gate, mode)),
            _ => {}
        }
        let tests = tests.into_iter().map(|(resource, mode)| {
            let resource = self.text_value(resource);
            format!("APPLOCK_TEST(@P1, {resource}, '{mode}', 'Session')")
        });
        let tests = tests.collect::<Vec<_>>().join(" * ");
        let _ = writeln!(self.text, "SET @r{n} = {tests};");
    }

    fn text_value(&mut self, text: &str) -> String {
        self.value(Value::Text(text.to_owned()))
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
