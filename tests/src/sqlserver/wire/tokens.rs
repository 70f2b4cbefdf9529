//! What an answer is made of.

use super::column::{COLLATION, put_type, put_value};
use crate::sqlserver::sql::{
    Message,
    value::{Type, Value},
};

pub(crate) const MORE: u16 = 1;
pub(crate) const ERROR: u16 = 2;
pub(crate) const COUNT: u16 = 0x10;
pub(crate) const ATTENTION: u16 = 0x20;

/// Which token ends a statement: in a batch, in a procedure, or the procedure itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Batch = 0xfd,
    Procedure = 0xfe,
    InProcedure = 0xff,
}

/// A column of a result.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Type,
}

/// An answer that is being written.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    bytes: Vec<u8>,
    /// Where the last token begins, if it ended a statement.
    last_done: Option<usize>,
}

impl Tokens {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn begin(&mut self, token: u8) {
        self.last_done = None;
        self.bytes.push(token);
    }

    fn sized(&mut self, token: u8, body: &[u8]) {
        self.begin(token);
        self.bytes.extend((body.len() as u16).to_le_bytes());
        self.bytes.extend(body);
    }

    /// An error, or a message that is none.
    pub(crate) fn message(&mut self, message: &Message, server: &str) {
        let mut body = Vec::new();
        body.extend(message.number.to_le_bytes());
        body.extend([message.state, message.class]);
        let text: Vec<u16> = message.text.encode_utf16().take(8000).collect();
        body.extend((text.len() as u16).to_le_bytes());
        body.extend(text.into_iter().flat_map(u16::to_le_bytes));
        put_short(&mut body, server);
        put_short(&mut body, &message.procedure);
        body.extend(message.line.to_le_bytes());
        self.sized(if message.class > 10 { 0xaa } else { 0xab }, &body);
    }

    /// A change of a setting the client keeps too.
    pub(crate) fn changed(&mut self, kind: u8, new: &str, old: &str) {
        let mut body = vec![kind];
        put_short(&mut body, new);
        put_short(&mut body, old);
        self.sized(0xe3, &body);
    }

    pub(crate) fn collation(&mut self) {
        let mut body = vec![7, 5];
        body.extend(COLLATION);
        body.push(0);
        self.sized(0xe3, &body);
    }

    /// A transaction began (8), was committed (9) or rolled back (10).
    pub(crate) fn transaction(&mut self, kind: u8, new: Option<u64>, old: Option<u64>) {
        let mut body = vec![kind];
        for descriptor in [new, old] {
            body.push(if descriptor.is_some() { 8 } else { 0 });
            body.extend(descriptor.into_iter().flat_map(u64::to_le_bytes));
        }
        self.sized(0xe3, &body);
    }

    /// The session was reset, as the header of the request asked.
    pub(crate) fn reset(&mut self) {
        self.sized(0xe3, &[18, 0, 0]);
    }

    pub(crate) fn login_ack(&mut self, program: &str, version: [u8; 4]) {
        let mut body = vec![1, 0x74, 0, 0, 4];
        put_short(&mut body, program);
        body.extend(version);
        self.sized(0xad, &body);
    }

    pub(crate) fn columns(&mut self, columns: &[Column]) {
        self.begin(0x81);
        self.bytes.extend((columns.len() as u16).to_le_bytes());
        for column in columns {
            self.bytes.extend(0_u32.to_le_bytes());
            self.bytes.extend(1_u16.to_le_bytes());
            put_type(&mut self.bytes, column.kind);
            put_short(&mut self.bytes, &column.name);
        }
    }

    pub(crate) fn row(&mut self, columns: &[Column], values: &[Value]) {
        self.begin(0xd1);
        for (column, value) in columns.iter().zip(values) {
            put_value(&mut self.bytes, column.kind, value);
        }
    }

    pub(crate) fn return_status(&mut self, status: i32) {
        self.begin(0x79);
        self.bytes.extend(status.to_le_bytes());
    }

    pub(crate) fn return_value(&mut self, place: usize, name: &str, value: &Value) {
        self.begin(0xac);
        self.bytes.extend((place as u16).to_le_bytes());
        put_short(&mut self.bytes, name);
        self.bytes.push(1);
        self.bytes.extend(0_u32.to_le_bytes());
        self.bytes.extend(1_u16.to_le_bytes());
        put_type(&mut self.bytes, value.kind);
        put_value(&mut self.bytes, value.kind, value);
    }

    pub(crate) fn done(&mut self, kind: Done, flags: u16, command: u16, rows: u64) {
        let at = self.bytes.len();
        self.begin(kind as u8);
        self.bytes.extend(flags.to_le_bytes());
        self.bytes.extend(command.to_le_bytes());
        self.bytes.extend(rows.to_le_bytes());
        self.last_done = Some(at);
    }

    /// The end of the answer: the last token says that no more follows, or one is added.
    pub(crate) fn finish(&mut self) {
        let last = self
            .last_done
            .filter(|at| self.bytes[*at] != Done::InProcedure as u8);
        match last {
            Some(at) => self.bytes[at + 1] &= !(MORE as u8),
            None => self.done(Done::Batch, 0, 0, 0),
        }
    }
}

fn put_short(out: &mut Vec<u8>, text: &str) {
    let units: Vec<u16> = text.encode_utf16().take(255).collect();
    out.push(units.len() as u8);
    out.extend(units.into_iter().flat_map(u16::to_le_bytes));
}
