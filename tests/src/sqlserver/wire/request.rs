//! What a client asks for once it is logged in.

use super::{Cursor, Malformed, typed};
use crate::sqlserver::sql::value::Value;

/// A call of a procedure.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) procedure: Procedure,
    pub(crate) parameters: Vec<Parameter>,
}

/// Which one: some have a number.
#[derive(Debug)]
pub(crate) enum Procedure {
    Name(String),
    Number(u16),
}

/// What a procedure is given.
#[derive(Debug)]
pub(crate) struct Parameter {
    /// Empty if it is given by its place.
    pub(crate) name: String,
    pub(crate) by_reference: bool,
    pub(crate) default: bool,
    pub(crate) value: Value,
}

/// A request about the transaction of a session.
#[derive(Debug)]
pub(crate) enum Transaction {
    Begin,
    Commit { again: bool },
    Rollback { name: String, again: bool },
    Save { name: String },
}

/// The text of a batch.
pub(crate) fn batch(body: &[u8]) -> Result<String, Malformed> {
    let mut from = Cursor::new(body);
    skip_headers(&mut from)?;
    let bytes = from.rest();
    if !bytes.len().is_multiple_of(2) {
        return Err(Malformed);
    }
    Ok(String::from_utf16_lossy(&super::cursor::units(bytes)))
}

/// Calls of procedures: one message may have several.
pub(crate) fn calls(body: &[u8]) -> Result<Vec<Call>, Malformed> {
    let mut from = Cursor::new(body);
    skip_headers(&mut from)?;
    let mut calls = Vec::new();
    loop {
        calls.push(call(&mut from)?);
        if from.is_empty() {
            return Ok(calls);
        }
    }
}

fn call(from: &mut Cursor<'_>) -> Result<Call, Malformed> {
    let procedure = match from.u16()? {
        0xffff => Procedure::Number(from.u16()?),
        length => Procedure::Name(String::from_utf16_lossy(&from.units(length.into())?)),
    };
    from.u16()?; // options of recompiling and of metadata
    let mut parameters = Vec::new();
    while !from.is_empty() {
        let mut ahead = *from;
        // 0x80 or 0xff instead of the length of a name: another call follows.
        if matches!(ahead.u8()?, 0x80 | 0xff) {
            *from = ahead;
            break;
        }
        let name = from.short_text()?;
        let status = from.u8()?;
        let value = typed::read(from)?;
        let (by_reference, default) = (status & 1 != 0, status & 2 != 0);
        parameters.push(Parameter {
            name,
            by_reference,
            default,
            value,
        });
    }
    Ok(Call {
        procedure,
        parameters,
    })
}

/// A request to the transaction manager.
pub(crate) fn transaction(body: &[u8]) -> Result<Transaction, Malformed> {
    let mut from = Cursor::new(body);
    skip_headers(&mut from)?;
    match from.u16()? {
        5 => Ok(Transaction::Begin),
        7 => {
            from.short_text()?;
            let again = from.u8()? & 1 != 0;
            Ok(Transaction::Commit { again })
        }
        8 => {
            let name = from.short_text()?;
            let again = from.u8()? & 1 != 0;
            Ok(Transaction::Rollback { name, again })
        }
        9 => {
            let name = from.short_text()?;
            Ok(Transaction::Save { name })
        }
        _ => Err(Malformed),
    }
}

/// `ALL_HEADERS`: a client's idea of its transaction, which a session without MARS has no use for.
fn skip_headers(from: &mut Cursor<'_>) -> Result<(), Malformed> {
    let length = from.u32()? as usize;
    from.take(length.checked_sub(4).ok_or(Malformed)?)?;
    Ok(())
}
